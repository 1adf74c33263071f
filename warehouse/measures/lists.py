"""The values that can be computed from the ranked list of a system for a topic, as data: which items count, and how.

This module computes nothing. The SQL is in the store, and the names of the measures are in
`warehouse.measures.rankings`.
"""

from __future__ import annotations

from msgspec import Struct

from warehouse.measures.formula import Ratio


class ListValue(Struct, frozen=True):
    """One value of the ranked list of a system for a topic.

    Only the first `cutoff` places count, or all if it is None. `removed` leaves out items that were not judged, so that
    later items move up; otherwise they stay and count as not relevant.
    """

    cutoff: int | None = None
    removed: bool = False


class OfRelevant(ListValue, frozen=True):
    """A value that counts items as relevant if their grade is at least `rel`."""

    rel: int = 1


class AveragePrecision(OfRelevant, frozen=True):
    """The sum of the precisions at the places of the relevant items, divided by the number of relevant items."""


class PrecisionAt(OfRelevant, frozen=True):
    """The number of relevant items up to the cutoff, divided by the cutoff."""


class RecallAt(OfRelevant, frozen=True):
    """The number of relevant items up to the cutoff, divided by the number of relevant items."""


class RPrecision(OfRelevant, frozen=True):
    """The precision at place R, where R is the number of relevant items."""


class SuccessAt(OfRelevant, frozen=True):
    """1 if there is a relevant item up to the cutoff, else 0."""


class ReciprocalRank(OfRelevant, frozen=True):
    """1 divided by the place of the first relevant item."""


class BinaryPreference(OfRelevant, frozen=True):
    """How seldom judged nonrelevant items rank above relevant ones."""


class RankBiased(OfRelevant, frozen=True):
    """The expected relevance per place for a reader who continues to the next place with probability `persistence`."""

    persistence: float = 0.8


class CumulatedGain(ListValue, frozen=True):
    """The sum of gains, discounted by the logarithm of the place, divided by that of the best ranking. The gain is the
    grade, or 2^grade − 1 if `exponential` is set.
    """

    exponential: bool = False


class ExpectedReciprocalRank(ListValue, frozen=True):
    """The expected value of 1 / place where a reader stops. The reader stops at an item with probability (2^grade − 1)
    / 2^highest. If `highest` is None, it is the highest grade of the test set.
    """

    highest: int | None = None


class JudgedAt(ListValue, frozen=True):
    """The share of judged items among the items up to the cutoff."""


class ListMean(Ratio, frozen=True):
    """The mean over topics of a value of each list."""

    of: ListValue
