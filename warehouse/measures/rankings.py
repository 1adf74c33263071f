"""The measures of rankings: how good a run is for a topic, given judgments of the items that it ranks.

Each value is computed topic by topic, and the measure is the mean over topics. Names are those of ir_measures
(MacAvaney, Macdonald and Ounis 2022), values those of trec_eval where it has the measure. This module describes the
measures as data and computes nothing; the SQL that computes them is in the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.measures.forms import Summary
from evalhouse.warehouse.measures.measure import CUTOFF, SHARE, Measure, Parameter, Setting
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


class Retrieved(ListValue, frozen=True):
    """The number of items in the list; with `rel`, of those whose grade is at least that."""

    rel: int | None = None


class RelevantInAll(OfRelevant, frozen=True):
    """The number of relevant items that the topic has."""


class JudgedNonrelevant(OfRelevant, frozen=True):
    """The number of items in the list that were judged and are not relevant."""


class Topics(ListValue, frozen=True):
    """1 for each topic."""


class SetPrecision(OfRelevant, frozen=True):
    """The share of relevant items among all items of the list; if `relative`, over the highest that is possible."""

    relative: bool = False


class SetRecall(OfRelevant, frozen=True):
    """The share of the relevant items that are in the list."""


class SetF(OfRelevant, frozen=True):
    """(weight + 1) · precision · recall / (recall + weight · precision) of the list as a set."""

    weight: float = 1.0


class SetAveragePrecision(OfRelevant, frozen=True):
    """Precision times recall of the list as a set."""


class RelativePrecisionAt(OfRelevant, frozen=True):
    """The number of relevant items up to the cutoff, over the highest that is possible."""


class InterpolatedPrecision(OfRelevant, frozen=True):
    """The mean, over some shares of recall, of the highest precision at any place with at least this recall. A share of
    the relevant items is rounded to the `nearest` number of items, or up.
    """

    recalls: tuple[float, ...] = ()
    nearest: bool = False


class PrecisionAtTimesR(OfRelevant, frozen=True):
    """The precision at the place that is `times` the number of relevant items."""

    times: float = 1.0


class InferredPrecision(OfRelevant, frozen=True):
    """Average precision that is estimated where only a sample of a pool was judged. Items of the pool that were not
    judged have a grade below 0.
    """


class LogOfPrecision(OfRelevant, frozen=True):
    """The logarithm of the average precision, which counts as at least `LOWEST_OF_GEOMETRIC_MEANS`."""


class LogOfPreference(OfRelevant, frozen=True):
    """The logarithm of the binary preference, which counts as at least `LOWEST_OF_GEOMETRIC_MEANS`."""


class GainBeforeRelevant(OfRelevant, frozen=True):
    """The mean over relevant items of 1 / log2(2 + items above that are not relevant)."""


class GainBehindIdeal(ListValue, frozen=True):
    """Σ grade / log2(2 + what the best ranking has gained − what this one has), over the sum of all grades."""


class CumulatedGainAtRelevant(ListValue, frozen=True):
    """The mean over relevant items of the cumulated gain at their place over that of the best ranking. Those that are
    not in the list have the place of its end.
    """


class CumulatedGainAtLevels(ListValue, frozen=True):
    """The mean of the cumulated gain over that of the best ranking, at the places where the best ranking ends a grade,
    and at the end of the list where it goes on.
    """


class RankBiasedResidual(ListValue, frozen=True):
    """What rank-biased precision could gain if all items without a judgment were relevant."""

    persistence: float = 0.9


class UnjudgedAt(ListValue, frozen=True):
    """The number of items without a judgment up to the cutoff, divided by the cutoff."""


class WorthOfSet(OfRelevant, frozen=True):
    """What the list is worth as a set, from the worth of a relevant item in it, of another, and of a missing one."""

    relevant: float = 1.0
    other: float = -1.0
    missing: float = 0.0


class Reader(ListValue, frozen=True):
    """The mean gain of a reader who goes from place to place, each time with the chance `goes_on` (Moffat, Thomas and
    Scholer 2013, C/W/L), up to place `DEEPEST_PLACE`. The gain is the grade, from `lowest` as 0 to `highest` as 1; if
    `highest` is None, it is the highest grade of the test set.

    `goes_on` is named like the measure. It may depend on what the reader wants in all (`wanted`), or on `persistence`.
    """

    goes_on: str = ""
    wanted: float = 1.0
    persistence: float = 0.9
    lowest: int = 0
    highest: int | None = None


DEEPEST_PLACE = 1_000


class ListSummary(Summary, frozen=True):
    """What stands for the values of all lists of a system, which is their mean unless `taken` says otherwise."""

    of: ListValue = ListValue()


# === the measures by name =============================================================================================

LARGEST_CUTOFF = 1_000_000

LOWEST_OF_GEOMETRIC_MEANS = 1e-5
"""What the value of a topic counts as at least in a geometric mean, as in trec_eval."""

ELEVEN = tuple(tenth / 10 for tenth in range(11))
"""The shares of recall whose mean precision trec_eval prints."""

K = Parameter(
    CUTOFF,
    None,
    "the number of places that count",
    lowest=Decimal(1),
    highest=Decimal(LARGEST_CUTOFF),
    whole=True,
    optional=True,
    also={"cutoff": {}},
)
REL = Parameter(
    "rel", Decimal(1), "the lowest grade that is relevant", lowest=Decimal(1), highest=Decimal(10_000), whole=True
)
UNJUDGED = Parameter(
    "unjudged",
    "nonrelevant",
    "what happens to items without a judgment: they count as nonrelevant, or are removed",
    ("nonrelevant", "removed"),
    also={"judged_only": {"true": "removed", "false": "nonrelevant"}},
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


def _set_precision(rel: Decimal, unjudged: str, relative: str) -> SetPrecision:
    return SetPrecision(rel=int(rel), removed=unjudged == "removed", relative=relative == "true")


def _set_f(beta: Decimal, rel: Decimal, unjudged: str) -> SetF:
    return SetF(rel=int(rel), removed=unjudged == "removed", weight=float(beta))


def _retrieved(rel: Decimal | None = None) -> Retrieved:
    return Retrieved(rel=_whole(rel))


def _interpolated(rel: Decimal, unjudged: str, rounding: str, k: Decimal | None = None) -> InterpolatedPrecision:
    recalls = ELEVEN if k is None else (float(k),)
    removed, nearest = unjudged == "removed", rounding == "nearest"
    return InterpolatedPrecision(rel=int(rel), removed=removed, recalls=recalls, nearest=nearest)


def _times_r(rel: Decimal, k: Decimal | None = None) -> PrecisionAtTimesR:
    return PrecisionAtTimesR(rel=int(rel), times=1.0 if k is None else float(k))


def _worth_of_set(a: Decimal, b: Decimal, c: Decimal, rel: Decimal) -> WorthOfSet:
    return WorthOfSet(rel=int(rel), relevant=float(a), other=float(b), missing=float(c))


def _unjudged_at(k: Decimal | None = None) -> UnjudgedAt:
    return UnjudgedAt(cutoff=_whole(k))


def _residual(p: Decimal) -> RankBiasedResidual:
    return RankBiasedResidual(persistence=float(p))


def _reader(goes_on: str) -> Callable[..., Reader]:
    def formula(min_rel: Decimal, max_rel: Decimal | None = None, **settings: Decimal) -> Reader:
        return Reader(
            cutoff=_whole(settings.get(CUTOFF)),
            goes_on=goes_on,
            wanted=float(settings.get("T", 1)),
            persistence=float(settings.get("p", 0)),
            lowest=int(min_rel),
            highest=_whole(max_rel),
        )

    return formula


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
    spelt: Mapping[str, Mapping[str, Setting]] | None = None,
    taken: Literal["mean", "sum", "geometric mean"] = "mean",
    within: tuple[float, float] | None = SHARE,
    lower_is_better: bool = False,
) -> Measure:
    mean = mean_of_values()

    def summed_up(**settings: Any) -> ListSummary:
        return ListSummary(mean.numerator, mean.denominator, mean.factor, taken, formula(**settings))

    return Measure(
        name,
        "rankings",
        meaning,
        source,
        summed_up,
        parameters,
        steady=taken != "geometric mean",
        within=within,
        lower_is_better=lower_is_better,
        also=also,
        shown=shown,
        spelt=spelt or {},
    )


_NEEDED = replace(K, optional=False)
_RECALL = Parameter(
    CUTOFF,
    None,
    "the share of the relevant items that are found",
    lowest=Decimal(0),
    highest=Decimal(1),
    also={"recall": {}},
)
ROUNDING = Parameter(
    "rounding",
    "up",
    "how a share of the relevant items is rounded to a number: up as in trec_eval 9, or to the nearest as in 10",
    ("up", "nearest"),
)
_TIMES = Parameter(
    CUTOFF, None, "how many times the number of relevant items the place is", above=Decimal(0), highest=Decimal(100)
)
_OWN_REL = Parameter(
    "rel",
    None,
    "the lowest grade that is counted; without it, all items are",
    lowest=Decimal(1),
    highest=Decimal(10_000),
    whole=True,
    optional=True,
)
_RELATIVE = Parameter(
    "relative", "false", "whether it is divided by the highest value that is possible", ("false", "true")
)
_WEIGHT = Parameter("beta", Decimal(1), "the weight of precision", above=Decimal(0), highest=Decimal(1_000))
_RESIDUAL = replace(PERSISTENCE, default=Decimal("0.9"))


_WANTED = Parameter("T", Decimal(1), "how much gain the reader wants", above=Decimal(0), highest=Decimal(1_000))
_MIN_REL = Parameter(
    "min_rel", Decimal(0), "the grade without gain", lowest=Decimal(0), highest=Decimal(1_000), whole=True
)
_MAX_REL = replace(HIGHEST, name="max_rel", meaning="the grade with the gain 1; by default the highest of the test set")


def _worth(name: str, of: str, default: int) -> Parameter:
    return Parameter(name, Decimal(default), f"the worth of {of}", lowest=Decimal(-10_000), highest=Decimal(10_000))


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
        also=("hit_rate", "Hits", "HR"),
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
    _measure(
        "SetP",
        "relevant items in the list / all items in the list",
        "trec_eval set_P, set_relative_P",
        _set_precision,
        REL, UNJUDGED, _RELATIVE,
        also=("set_P",),
    ),
    _measure(
        "SetRelP",
        "relevant items in the list / as many as could be in it",
        "trec_eval set_relative_P",
        lambda rel, unjudged: SetPrecision(rel=int(rel), removed=unjudged == "removed", relative=True),
        REL, UNJUDGED,
        also=("set_relative_P",),
    ),
    _measure(
        "SetR",
        "relevant items in the list / all relevant ones",
        "trec_eval set_recall",
        _of_relevant(SetRecall),
        REL,
        also=("set_recall",),
    ),
    _measure(
        "SetF",
        "(β + 1) · SetP · SetR / (SetR + β · SetP)",
        "trec_eval set_F",
        _set_f,
        _WEIGHT, REL, UNJUDGED,
        also=("set_F",),
    ),
    _measure(
        "SetAP",
        "SetP · SetR",
        "trec_eval set_map",
        _of_relevant(SetAveragePrecision),
        REL, UNJUDGED,
        also=("set_map",),
    ),
    _measure(
        "relative_P",
        "relevant items among the first k / the smaller of k and all relevant ones",
        "trec_eval relative_P",
        _of_relevant(RelativePrecisionAt),
        _NEEDED, REL,
    ),
    _measure(
        "IPrec",
        "the highest precision where at least the share k of the relevant items is found",
        "trec_eval iprec_at_recall",
        _interpolated,
        _RECALL, REL, UNJUDGED, ROUNDING,
        also=("iprec_at_recall",),
        spelt={"iprec_at_recall": {"rounding": "nearest"}},
    ),
    _measure(
        "11pt_avg",
        "the mean of IPrec@0, IPrec@0.1, … IPrec@1",
        "trec_eval 11pt_avg",
        _interpolated,
        REL, UNJUDGED, replace(ROUNDING, default="nearest"),
    ),
    _measure(
        "Rprec_mult",
        "precision at place k · R, where R is the number of relevant items",
        "trec_eval Rprec_mult",
        _times_r,
        _TIMES, REL,
    ),
    _measure(
        "infAP",
        "AP, estimated where a sample of the pool was judged; others of the pool have a grade below 0",
        "Yilmaz and Aslam 2006; trec_eval infAP",
        _of_relevant(InferredPrecision),
        REL,
    ),
    _measure(
        "GMAP",
        "the geometric mean over topics of AP, each at least 0.00001",
        "Robertson 2006; trec_eval gm_map",
        _of_relevant(LogOfPrecision),
        REL,
        also=("gm_map",),
        taken="geometric mean",
    ),
    _measure(
        "gm_bpref",
        "the geometric mean over topics of Bpref, each at least 0.00001",
        "trec_eval gm_bpref",
        _of_relevant(LogOfPreference),
        REL,
        taken="geometric mean",
    ),
    _measure(
        "binG",
        "Σ 1 / log2(2 + other items above) over relevant items / all relevant ones",
        "trec_eval binG",
        _of_relevant(GainBeforeRelevant),
        REL,
    ),
    _measure(
        "normalized-gain",
        "Σ gain / log2(2 + gain of the best order − gain so far) / all gain",
        "trec_eval G",
        GainBehindIdeal,
        also=("G",),
    ),
    _measure(
        "ndcg_rel",
        "the mean over relevant items of nDCG at their places",
        "trec_eval ndcg_rel",
        CumulatedGainAtRelevant,
    ),
    _measure(
        "Rndcg",
        "the mean of nDCG at the places where the grade of the best order changes",
        "trec_eval Rndcg",
        CumulatedGainAtLevels,
    ),
    _measure(
        "rbp_resid",
        "what RBP would gain if all items without a judgment were relevant",
        "Moffat and Zobel 2008; trec_eval rbp_resid",
        _residual,
        _RESIDUAL,
        lower_is_better=True,
    ),
    _measure(
        "unj",
        "items without a judgment among the first k / k",
        "trec_eval unj",
        _unjudged_at,
        _NEEDED,
        lower_is_better=True,
    ),
    _measure(
        "utility",
        "a · relevant items in the list + b · others in it + c · relevant ones that are missing",
        "trec_eval utility",
        _worth_of_set,
        _worth("a", "a relevant item", 1), _worth("b", "another item", -1), _worth("c", "a missing item", 0), REL,
        within=None,
    ),
    _measure(
        "NumQ",
        "the number of topics",
        "trec_eval num_q",
        Topics,
        also=("num_q",),
        taken="sum",
        within=None,
    ),
    _measure(
        "NumRet",
        "the number of items in the lists of all topics",
        "trec_eval num_ret",
        _retrieved,
        _OWN_REL,
        also=("num_ret",),
        taken="sum",
        within=None,
    ),
    _measure(
        "NumRel",
        "the number of relevant items of all topics",
        "trec_eval num_rel",
        _of_relevant(RelevantInAll),
        REL,
        also=("num_rel",),
        taken="sum",
        within=None,
    ),
    _measure(
        "NumRelRet",
        "the number of relevant items in the lists of all topics",
        "trec_eval num_rel_ret",
        _retrieved,
        REL,
        also=("num_rel_ret",),
        taken="sum",
        within=None,
    ),
    _measure(
        "num_nonrel_judged_ret",
        "the number of items in the lists of all topics that were judged and are not relevant",
        "trec_eval num_nonrel_judged_ret",
        _of_relevant(JudgedNonrelevant),
        REL,
        taken="sum",
        within=None,
        lower_is_better=True,
    ),
    *(
        _measure(name, meaning, f"{source}; ir_measures {name}", _reader(name), *more, _MIN_REL, _MAX_REL)
        for name, meaning, source, more in (
            ("INST", "mean gain of a reader who wants T, less as it is found", "Bailey and others 2015", (_WANTED,)),
            ("INSQ", "mean gain of a reader who wants T", "Moffat, Scholer and Thomas 2012", (_WANTED,)),
            ("BPM", "mean gain up to where T is found, or k", "Zhang and others 2017", (_NEEDED, _WANTED)),
            ("SDCG", "DCG@k over that of k items of the highest grade", "Järvelin and Kekäläinen 2002", (_NEEDED,)),
            ("NERR8", "mean gain up to k of a reader who stops by gain", "Azzopardi and others 2021", (_NEEDED,)),
            ("NERR9", "NERR8 with a discount by place", "Azzopardi and others 2021", (_NEEDED,)),
            ("NERR10", "NERR8 without k, with the patience of RBP", "Azzopardi and others 2021", (_RESIDUAL,)),
            ("NERR11", "NERR8 without k, with the patience of INSQ", "Azzopardi and others 2021", (_WANTED,)),
        )
    ),
)  # fmt: skip
"""In display order."""


CUT = re.compile(r"(.+?)[@_]([0-9]+(?:\.[0-9]+)?)")
"""A cutoff in a name: P@10 and IPrec@0.5, or P_10 as trec_eval writes it."""


def without_cutoff(name: str) -> tuple[str, Decimal | None]:
    """The name of a measure and its cutoff, None if there is no cutoff: P and 10 for P@10."""
    cut = CUT.fullmatch(name)
    return (cut[1], Decimal(cut[2])) if cut else (name, None)
