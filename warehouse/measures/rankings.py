"""The measures of rankings: how good a run is for a topic, given judgments of the items that it ranks.

Each value is computed topic by topic, and the measure is the mean over topics. Names are those of ir_measures
(MacAvaney, Macdonald and Ounis 2022), values those of trec_eval where it has the measure. This module describes the
measures as data and computes nothing; the SQL that computes them is in the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.measures.forms import Ratio
from evalhouse.warehouse.measures.measure import CUTOFF, SHARE, Measure, Parameter
from evalhouse.warehouse.measures.values import mean_of_values

# === values of a ranked list ==========================================================================================
# Which items of the ranked list for a topic count, and how.


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


# === the measures by name =============================================================================================

LARGEST_CUTOFF = 1_000_000

K = Parameter(
    CUTOFF,
    None,
    "the number of places that count",
    lowest=Decimal(1),
    highest=Decimal(LARGEST_CUTOFF),
    whole=True,
    optional=True,
)
REL = Parameter(
    "rel", Decimal(1), "the lowest grade that is relevant", lowest=Decimal(1), highest=Decimal(10_000), whole=True
)
UNJUDGED = Parameter(
    "unjudged",
    "nonrelevant",
    "what happens to items without a judgment: they count as nonrelevant, or are removed",
    ("nonrelevant", "removed"),
)
DCG = Parameter("dcg", "log2", "whether the gain is the grade, or 2^grade − 1", ("log2", "exp-log2"))
HIGHEST = Parameter(
    "max",
    None,
    "the highest possible grade; by default the highest of the test set",
    lowest=Decimal(1),
    highest=Decimal(1_000),
    whole=True,
    optional=True,
)
PERSISTENCE = Parameter(
    "p", Decimal("0.8"), "the chance that the reader goes on", lowest=Decimal("0.0001"), highest=Decimal("0.9999")
)


def _whole(number: Decimal | None) -> int | None:
    return None if number is None else int(number)


def _of_relevant(kind: type[OfRelevant]) -> Callable[..., OfRelevant]:
    def formula(rel: Decimal, unjudged: str = "nonrelevant", k: Decimal | None = None) -> OfRelevant:
        return kind(cutoff=_whole(k), removed=unjudged == "removed", rel=int(rel))

    return formula


def _rank_biased(p: Decimal, rel: Decimal, unjudged: str, k: Decimal | None = None) -> RankBiased:
    return RankBiased(cutoff=_whole(k), removed=unjudged == "removed", rel=int(rel), persistence=float(p))


def _gain(dcg: str, unjudged: str, k: Decimal | None = None) -> CumulatedGain:
    return CumulatedGain(cutoff=_whole(k), removed=unjudged == "removed", exponential=dcg == "exp-log2")


def _expected_reciprocal_rank(
    unjudged: str, k: Decimal | None = None, max: Decimal | None = None
) -> ExpectedReciprocalRank:
    return ExpectedReciprocalRank(cutoff=_whole(k), removed=unjudged == "removed", highest=_whole(max))


def _judged_at(k: Decimal | None = None) -> JudgedAt:
    return JudgedAt(cutoff=_whole(k))


def _measure(
    name: str,
    meaning: str,
    source: str,
    formula: Callable[..., ListValue],
    *parameters: Parameter,
    also: tuple[str, ...] = (),
    shown: tuple[str, ...] = (),
    spelt: Mapping[str, Mapping[str, Decimal]] | None = None,
) -> Measure:
    mean = mean_of_values()

    def averaged(**settings: Any) -> ListMean:
        return ListMean(mean.numerator, mean.denominator, mean.factor, formula(**settings))

    return Measure(
        name,
        "rankings",
        meaning,
        source,
        averaged,
        parameters,
        steady=True,
        within=SHARE,
        also=also,
        shown=shown,
        spelt=spelt or {},
    )


_NEEDED = replace(K, optional=False)
_BUCKLEY = "Buckley and Voorhees 2005"

RANKINGS = (
    _measure(
        "AP",
        "Σ (relevant so far / place) over relevant items / all relevant ones",
        f"{_BUCKLEY}; trec_eval map, map_cut",
        _of_relevant(AveragePrecision),
        K, REL, UNJUDGED,
        also=("MAP", "map_cut"),
    ),
    _measure(
        "nDCG",
        "Σ gain / log2(place + 1), over that of the best order",
        "Järvelin and Kekäläinen 2002; trec_eval ndcg, ndcg_cut; exp-log2: Burges and others 2005",
        _gain,
        K, DCG, UNJUDGED,
        also=("ndcg_cut",),
    ),
    _measure(
        "P",
        "relevant items among the first k / k",
        f"{_BUCKLEY}; trec_eval P",
        _of_relevant(PrecisionAt),
        _NEEDED, REL, UNJUDGED,
        also=("Precision",),
    ),
    _measure(
        "R",
        "relevant items among the first k / all relevant ones",
        f"{_BUCKLEY}; trec_eval recall",
        _of_relevant(RecallAt),
        _NEEDED, REL, UNJUDGED,
        also=("Recall",),
    ),
    _measure(
        "RR",
        "1 / place of the first relevant item, or 0 if there are none",
        "Kantor and Voorhees 2000; trec_eval recip_rank",
        _of_relevant(ReciprocalRank),
        K, REL, UNJUDGED,
        also=("MRR", "recip_rank"),
    ),
    _measure(
        "Rprec",
        "relevant items among the first R / R, where R is the number of relevant items",
        f"{_BUCKLEY}; trec_eval Rprec",
        _of_relevant(RPrecision),
        REL, UNJUDGED,
    ),
    _measure(
        "Bpref",
        "Σ (1 − nonrelevant above, at most R / the smaller of R and all nonrelevant) / R",
        "Buckley and Voorhees 2004; trec_eval bpref",
        _of_relevant(BinaryPreference),
        REL,
    ),
    _measure(
        "Success",
        "1 if a relevant item is among the first k, else 0",
        "trec_eval success",
        _of_relevant(SuccessAt),
        _NEEDED, REL, UNJUDGED,
    ),
    _measure(
        "Judged",
        "judged items among the first k / all items among the first k",
        "ir_measures Judged",
        _judged_at,
        K,
    ),
    _measure(
        "ERR",
        "Σ (chance of stopping there) / place, an item stopping with (2^grade − 1) / 2^max",
        "Chapelle, Metzler, Zhang and Grinspan 2009",
        _expected_reciprocal_rank,
        K, HIGHEST, UNJUDGED,
    ),
    _measure(
        "RBP",
        "(1 − p) · Σ p^(place − 1) over relevant items",
        "Moffat and Zobel 2008; trec_eval rbp with p=0.9",
        _rank_biased,
        K, PERSISTENCE, REL, UNJUDGED,
        shown=("p",),
        spelt={"rbp": {"p": Decimal("0.9")}},
    ),
)  # fmt: skip
"""In display order."""


CUT = re.compile(r"(.+?)[@_]([0-9]+)")
"""A cutoff in a name: P@10, or P_10 as trec_eval writes it."""


def without_cutoff(name: str) -> tuple[str, Decimal | None]:
    """The name of a measure and its cutoff, None if there is no cutoff: P and 10 for P@10."""
    cut = CUT.fullmatch(name)
    return (cut[1], Decimal(cut[2])) if cut else (name, None)
