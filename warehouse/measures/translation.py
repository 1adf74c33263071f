"""The measures of texts against references, over summed counts: BLEU, chrF and TER as sacreBLEU computes them.

A corpus has the value of its summed counts, which is not the mean of the values of its segments. Values are shares
between 0 and 1, while sacreBLEU prints them times 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from evalhouse.warehouse.measures.forms import (
    Call,
    Constant,
    Count,
    Expression,
    Function,
    LinearForm,
    Operation,
    Operator,
    Ratio,
    divide,
    ratio,
)
from evalhouse.warehouse.measures.measure import SHARE, Measure, Parameter

ORDERS = (1, 2, 3, 4)
BLEU_COUNTS = ("sys", "ref", *(f"correct-{n}" for n in ORDERS), *(f"total-{n}" for n in ORDERS))
"""The counts of BLEU in the order of sacreBLEU: lengths of hypothesis and reference, matching n-grams, and n-grams of
the hypothesis.
"""

CHARACTERS, WORDS = tuple(f"char-{n}" for n in range(1, 7)), ("word-1", "word-2")


def chrf_counts(orders: Sequence[str]) -> tuple[str, ...]:
    """The counts of chrF in the order of sacreBLEU: for each n-gram order the n-grams of the hypothesis, those of the
    reference, and those that match.
    """
    return tuple(f"{what}-{order}" for order in orders for what in ("hyp", "ref", "match"))


TER_COUNTS = ("edits", "length")
"""Edits, and words of the reference. With n references both are n times the numbers of sacreBLEU."""

UNANSWERED = (
    *((count, count) for count in ("ref", *(f"ref-{order}" for order in (*CHARACTERS, *WORDS)), "length")),
    ("edits", "length"),
)
"""The counts of a segment without a translation that are not 0: those of the reference, each word of which is to be
inserted.
"""

TOKENIZERS = ("13a", "intl", "char", "zh", "none")
"""The tokenizers of sacreBLEU that need neither models nor other packages."""

ANY = "any"

_ONE = Constant(Fraction(1))


def _on(operator: Operator, *operands: Expression) -> Expression:
    return reduce(lambda left, right: Operation(left, operator, right), operands)


def _times(*factors: Expression) -> Expression:
    return _on("*", *factors)


def _plus(*terms: Expression) -> Expression:
    return _on("+", *terms)


def _least(*them: Expression) -> Expression:
    return Call("min", them)


def _most(*them: Expression) -> Expression:
    return Call("max", them)


def _one_or_zero(count: Expression) -> Expression:
    """1 if the count is positive, else 0."""
    return _least(count, _ONE)


def _number(whole: int) -> Expression:
    return Constant(Fraction(whole))


def _precisions() -> list[Expression]:
    """The precision of each n-gram order. The first order without a match counts as if it had half a match, the next
    one a quarter, and so on. This is the smoothing of mteval-v13a and the default of sacreBLEU.
    """
    precisions: list[Expression] = []
    halved: Expression = _ONE
    for n in ORDERS:
        correct = Count(f"correct-{n}")
        halved = _times(halved, Operation(_number(2), "-", _one_or_zero(correct)))
        precisions.append(divide(_most(correct, divide(_ONE, halved)), _most(Count(f"total-{n}"), _ONE)))
    return precisions


def _brevity() -> Expression:
    """The brevity penalty: 1, or less if hypotheses are shorter than references; 0 if nothing matches."""
    penalty = Call("exp", (_least(_number(0), Operation(_ONE, "-", divide(Count("ref"), _most(Count("sys"), _ONE)))),))
    return _times(_one_or_zero(_plus(*(Count(f"correct-{n}") for n in ORDERS))), penalty)


def _bleu(tokenize: str) -> Function:
    """BLEU of a corpus. All four n-gram orders count, so the value is 0 if there are no 4-grams."""
    mean = Call("sqrt", (Call("sqrt", (_times(*_precisions()),)),))
    return Function(_times(_one_or_zero(Count(f"total-{ORDERS[-1]}")), _brevity(), mean))


def _bleu_of_segment(tokenize: str) -> Function:
    """BLEU of a single segment. Only the orders of which it has n-grams count, as in sacreBLEU's sentence scores."""
    there = [_one_or_zero(Count(f"total-{n}")) for n in ORDERS]
    logarithms = (_times(own, Call("log", (share,))) for own, share in zip(there, _precisions(), strict=True))
    mean = Call("exp", (divide(_plus(*logarithms), _most(_plus(*there), _ONE)),))
    return Function(_times(_brevity(), mean))


def _chrf(orders: Sequence[str]) -> Function:
    """F with recall weighted twice as much as precision; each is the mean over the n-gram orders that both texts
    have.
    """
    both = [_times(*(_one_or_zero(Count(f"{what}-{order}")) for what in ("hyp", "ref"))) for order in orders]
    there = _most(_plus(*both), _ONE)

    def mean(of: str) -> Expression:
        shares = (divide(Count(f"match-{order}"), _most(Count(f"{of}-{order}"), _ONE)) for order in orders)
        return divide(_plus(*(_times(own, share) for own, share in zip(both, shares, strict=True))), there)

    precision, recall = mean("hyp"), mean("ref")
    matches = _plus(*(Count(f"match-{order}") for order in orders))
    weighted = _plus(_times(_number(4), precision), recall)
    # If nothing matches, precision and recall are 0, and so is the value.
    below = _most(weighted, Operation(_ONE, "-", _one_or_zero(matches)))
    return Function(divide(_times(_number(5), precision, recall), below))


def _ter() -> Ratio:
    return ratio(LinearForm.of("edits"), LinearForm.of("length"))


TRANSLATION = (
    Measure(
        "BLEU",
        "counts",
        "brevity penalty · (p1·p2·p3·p4)^¼ with p the share of n-grams that match, over all segments, smoothed where "
        "none does",
        "Papineni et al. 2002; Post 2018 (sacreBLEU)",
        _bleu,
        (Parameter("tokenize", ANY, "how the texts were split into words", (ANY, *TOKENIZERS)),),
        within=SHARE,
        alone=_bleu_of_segment,
        needs=BLEU_COUNTS,
        family="BLEU",
    ),
    Measure(
        "chrF",
        "counts",
        "F(beta=2) of the mean precision and the mean recall of n-grams of 1 to 6 characters, over all segments",
        "Popović 2015; Post 2018 (sacreBLEU)",
        lambda: _chrf(CHARACTERS),
        within=SHARE,
        needs=chrf_counts(CHARACTERS),
        also=("chrF2",),
        family="chrF",
    ),
    Measure(
        "chrF2++",
        "counts",
        "chrF with n-grams of 1 and 2 words as well as characters",
        "Popović 2017; Post 2018 (sacreBLEU)",
        lambda: _chrf((*CHARACTERS, *WORDS)),
        within=SHARE,
        needs=chrf_counts((*CHARACTERS, *WORDS)),
        also=("chrF++",),
        family="chrF2++",
    ),
    Measure(
        "TER",
        "counts",
        "edits / words of the reference, over all segments",
        "Snover et al. 2006; Post 2018 (sacreBLEU)",
        _ter,
        lower_is_better=True,
        needs=TER_COUNTS,
        family="TER",
    ),
)
