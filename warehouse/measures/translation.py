"""The measures of texts against references, over summed counts: BLEU, chrF and TER as sacreBLEU computes them.

A corpus has the value of its summed counts, which is not the mean of the values of its segments. Values are shares,
where sacreBLEU prints hundredths.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from warehouse.measures.expression import Call, Constant, Count, Expression, Operation, Operator
from warehouse.measures.formula import LinearForm, Ratio, ratio
from warehouse.measures.function import Function
from warehouse.measures.measure import SHARE, Measure, Parameter

ORDERS = (1, 2, 3, 4)
BLEU_COUNTS = ("sys", "ref", *(f"correct-{n}" for n in ORDERS), *(f"total-{n}" for n in ORDERS))
"""As sacreBLEU lists them: how long hypothesis and reference are, n-grams that match, and those of the hypothesis."""

CHARACTERS, WORDS = tuple(f"char-{n}" for n in range(1, 7)), ("word-1", "word-2")


def chrf_counts(orders: Sequence[str]) -> tuple[str, ...]:
    """As sacreBLEU lists them: for each order the n-grams of the hypothesis, of the reference, and those that match."""
    return tuple(f"{what}-{order}" for order in orders for what in ("hyp", "ref", "match"))


TER_COUNTS = ("edits", "length")
"""Edits, and words of the reference; with several references both are so many times what sacreBLEU has."""

TOKENIZERS = ("13a", "intl", "char", "zh", "none")
"""Those of sacreBLEU that need neither models nor other packages."""

ANY = "any"

_ONE = Constant(Fraction(1))


def _on(operator: Operator, *operands: Expression) -> Expression:
    return reduce(lambda left, right: Operation(left, operator, right), operands)


def _times(*factors: Expression) -> Expression:
    return _on("*", *factors)


def _plus(*terms: Expression) -> Expression:
    return _on("+", *terms)


def _over(above: Expression, below: Expression) -> Expression:
    return Operation(above, "/", below)


def _least(*them: Expression) -> Expression:
    return Call("min", them)


def _most(*them: Expression) -> Expression:
    return Call("max", them)


def _one_or_zero(count: Expression) -> Expression:
    """1 where there is any, else 0."""
    return _least(count, _ONE)


def _number(whole: int) -> Expression:
    return Constant(Fraction(whole))


def _precisions() -> list[Expression]:
    """The share of matches an order. One without a match counts as a half, the next such as a quarter, and so on, which
    is the smoothing of mteval-v13a and the default of sacreBLEU.
    """
    precisions: list[Expression] = []
    halved: Expression = _ONE
    for n in ORDERS:
        correct = Count(f"correct-{n}")
        halved = _times(halved, Operation(_number(2), "-", _one_or_zero(correct)))
        precisions.append(_over(_most(correct, _over(_ONE, halved)), _most(Count(f"total-{n}"), _ONE)))
    return precisions


def _brevity() -> Expression:
    """1, or less where hypotheses are shorter than references; 0 without any match."""
    penalty = Call("exp", (_least(_number(0), Operation(_ONE, "-", _over(Count("ref"), _most(Count("sys"), _ONE)))),))
    return _times(_one_or_zero(_plus(*(Count(f"correct-{n}") for n in ORDERS))), penalty)


def _bleu(tokenize: str) -> Function:
    """Of a corpus: all four orders count, so without any of the last the value is 0."""
    mean = Call("sqrt", (Call("sqrt", (_times(*_precisions()),)),))
    return Function(_times(_one_or_zero(Count(f"total-{ORDERS[-1]}")), _brevity(), mean))


def _bleu_of_segment(tokenize: str) -> Function:
    """Of a segment by itself: the orders count that it has n-grams of, as sacreBLEU's scores of sentences do it."""
    there = [_one_or_zero(Count(f"total-{n}")) for n in ORDERS]
    logarithms = (_times(own, Call("log", (share,))) for own, share in zip(there, _precisions(), strict=True))
    mean = Call("exp", (_over(_plus(*logarithms), _most(_plus(*there), _ONE)),))
    return Function(_times(_brevity(), mean))


def _chrf(orders: Sequence[str]) -> Function:
    """F with recall twice as important as precision, each the mean over the orders that both texts have."""
    both = [_times(*(_one_or_zero(Count(f"{what}-{order}")) for what in ("hyp", "ref"))) for order in orders]
    there = _most(_plus(*both), _ONE)

    def mean(of: str) -> Expression:
        shares = (_over(Count(f"match-{order}"), _most(Count(f"{of}-{order}"), _ONE)) for order in orders)
        return _over(_plus(*(_times(own, share) for own, share in zip(both, shares, strict=True))), there)

    precision, recall = mean("hyp"), mean("ref")
    matches = _plus(*(Count(f"match-{order}") for order in orders))
    weighted = _plus(_times(_number(4), precision), recall)
    # Without any match both are 0, and so is the value.
    below = _most(weighted, Operation(_ONE, "-", _one_or_zero(matches)))
    return Function(_over(_times(_number(5), precision, recall), below))


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
