"""The values that can be computed from the ranked list of a system for a topic, as data: which items count, and how.

This module computes nothing. The SQL is in the store, and the names of the measures are in
`warehouse.measures.rankings`.
"""

from __future__ import annotations

from grammar.value import value
from warehouse.measures.formula import Ratio


@value
class ListValue:
    """One value of the ranked list of a system for a topic.

    Only the first `cutoff` places count, or all if it is None. `removed` leaves out items that were not judged, so that
    later items move up; otherwise they stay and count as not relevant.
    """

    cutoff: int | None = None
    removed: bool = False


@value
class OfRelevant(ListValue):
    """A value that counts items as relevant if their grade is at least `rel`."""

    rel: int = 1


@value
class AveragePrecision(OfRelevant):
    """The sum of the precisions at the places of the relevant items, divided by the number of relevant items."""


@value
class PrecisionAt(OfRelevant):
    """The number of relevant items up to the cutoff, divided by the cutoff."""


@value
class RecallAt(OfRelevant):
    """The number of relevant items up to the cutoff, divided by the number of relevant items."""


@value
class RPrecision(OfRelevant):
    """The precision at place R, where R is the number of relevant items."""


@value
class SuccessAt(OfRelevant):
    """1 if there is a relevant item up to the cutoff, else 0."""


@value
class ReciprocalRank(OfRelevant):
    """1 divided by the place of the first relevant item."""


@value
class BinaryPreference(OfRelevant):
    """How seldom judged nonrelevant items rank above relevant ones."""


@value
class RankBiased(OfRelevant):
    """The expected relevance per place for a reader who continues to the next place with probability `persistence`."""

    persistence: float = 0.8


@value
class CumulatedGain(ListValue):
    """The sum of gains, discounted by the logarithm of the place, divided by that of the best ranking. The gain is the
    grade, or 2^grade − 1 if `exponential` is set.
    """

    exponential: bool = False


@value
class ExpectedReciprocalRank(ListValue):
    """The expected value of 1 / place where a reader stops. The reader stops at an item with probability (2^grade − 1)
    / 2^highest. If `highest` is None, it is the highest grade of the test set.
    """

    highest: int | None = None


@value
class JudgedAt(ListValue):
    """The share of judged items among the items up to the cutoff."""


@value
class ListMean(Ratio):
    """The mean over topics of a value of each list."""

    of: ListValue
