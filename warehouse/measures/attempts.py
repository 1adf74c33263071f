"""The measures of samples that were attempted several times: the probability that at least one of k attempts passes, or
that all k pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from warehouse.measures.expression import Constant, Count, Expression, Operation
from warehouse.measures.function import Function
from warehouse.measures.measure import SHARE, Measure, Parameter, Setting

MOST_DRAWS = 1000

DRAWS = Parameter(
    "k", Decimal(1), "the number of draws", lowest=Decimal(1), highest=Decimal(MOST_DRAWS), whole=True, up_to="attempts"
)
COLUMNS = ("attempts", "passed")

_ATTEMPTS, _PASSED = map(Count, COLUMNS)


def _chosen(of: Expression, k: Setting) -> Expression:
    """C(of, k) / C(attempts, k) as a product of k quotients; undefined if there are fewer than k attempts."""
    return _product([_over(_less(of, draw), _less(_ATTEMPTS, draw)) for draw in range(int(k))])


def _product(factors: Sequence[Expression]) -> Expression:
    """The product, built from two halves, so that the nesting depth is the logarithm of the number of factors."""
    if len(factors) == 1:
        return factors[0]
    half = len(factors) // 2
    return Operation(_product(factors[:half]), "*", _product(factors[half:]))


def _less(of: Expression, draws: int) -> Expression:
    return Operation(of, "-", Constant(Fraction(draws))) if draws else of


def _over(above: Expression, below: Expression) -> Expression:
    return Operation(above, "/", below)


def _pass(k: Setting) -> Function:
    failed = Operation(_ATTEMPTS, "-", _PASSED)
    return Function(Operation(Constant(Fraction(1)), "-", _chosen(failed, k)))


def _every(k: Setting) -> Function:
    return Function(_chosen(_PASSED, k))


ATTEMPTS = (
    Measure(
        "pass",
        "counts",
        "1 − C(n−c, k) / C(n, k) for n attempts of which c passed, averaged over documents: the chance that any "
        "of k passes",
        "Chen et al. 2021",
        _pass,
        (DRAWS,),
        shown=("k",),
        within=SHARE,
        needs=COLUMNS,
        by_document=True,
    ),
    Measure(
        "every",
        "counts",
        "C(c, k) / C(n, k), averaged over documents: the chance that all of k pass",
        "Yao et al. 2024",
        _every,
        (DRAWS,),
        shown=("k",),
        within=SHARE,
        needs=COLUMNS,
        by_document=True,
    ),
)
