"""What can be computed of the ranked list of a system and topic, as data: which items count, and how. The SQL that
computes it stands in the store, and the names that it goes by are in `warehouse.measures.rankings`.
"""

from __future__ import annotations

from grammar.value import value
from warehouse.measures.formula import Ratio


@value
class ListValue:
    """What is computed of the ranked list of a system and topic.

    Only the first `cutoff` places count, all where it is None. `removed` leaves out what was not judged, so that the
    items behind it move up; else it stays, and is not relevant.
    """

    cutoff: int | None = None
    removed: bool = False


@value
class OfRelevant(ListValue):
    """What counts items whose grade is at least `rel`."""

    rel: int = 1


@value
class AveragePrecision(OfRelevant):
    """The sum of the precisions at the places of the relevant items, over how many relevant ones there are."""


@value
class PrecisionAt(OfRelevant):
    """Relevant items among the first, over the cutoff."""


@value
class RecallAt(OfRelevant):
    """Relevant items among the first, over how many there are."""


@value
class RPrecision(OfRelevant):
    """Relevant items among as many as there are relevant ones, over these."""


@value
class SuccessAt(OfRelevant):
    """1 where a relevant item is among the first, else 0."""


@value
class ReciprocalRank(OfRelevant):
    """1 over the place of the first relevant item."""


@value
class BinaryPreference(OfRelevant):
    """How seldom judged items that are not relevant stand above relevant ones."""


@value
class RankBiased(OfRelevant):
    """What a reader finds who goes on to the next place with the chance `persistence`."""

    persistence: float = 0.8


@value
class CumulatedGain(ListValue):
    """Gains, discounted by the logarithm of the place, over those of the best ranking. The gain is the grade, or with
    `exponential` 2^grade − 1.
    """

    exponential: bool = False


@value
class ExpectedReciprocalRank(ListValue):
    """1 over the place where a reader stops, on average, who stops at an item with the chance
    (2^grade − 1) / 2^highest; `highest` is that of the test set where it is None.
    """

    highest: int | None = None


@value
class JudgedAt(ListValue):
    """Judged items among the first, over how many items there are among them."""


@value
class ListMean(Ratio):
    """The mean over topics of what is computed of each list."""

    of: ListValue
