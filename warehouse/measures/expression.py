"""Arithmetic over summed counts: what a user's own measure computes.

Most such measures are ratios of linear forms in disguise, and `as_ratio` finds out; the others are evaluated on the
sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from warehouse.measures.formula import LinearForm, Ratio, ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Operator = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Constant:
    value: Fraction


@dataclass(frozen=True, slots=True)
class Count:
    """The sum of a column over all rows."""

    column: str


@dataclass(frozen=True, slots=True)
class Operation:
    left: Expression
    operator: Operator
    right: Expression


Expression = Constant | Count | Operation


def of_ratio(found: Ratio) -> Expression:
    """The expression of a ratio: factor · N / D."""
    over, under = (_of_form(form) for form in (found.numerator, found.denominator))
    return Operation(Operation(Constant(found.factor), "*", over), "/", under)


def _of_form(form: tuple[tuple[str, int], ...]) -> Expression:
    total: Expression | None = None
    for column, coefficient in form:
        term: Expression = Count(column)
        if coefficient != 1:
            term = Operation(Constant(Fraction(coefficient)), "*", term)
        total = term if total is None else Operation(total, "+", term)
    return total or Constant(Fraction(0))


def columns(expression: Expression) -> tuple[str, ...]:
    """The columns an expression needs, each once, from left to right."""
    match expression:
        case Constant():
            return ()
        case Count(column):
            return (column,)
        case Operation(left, _, right):
            return tuple(dict.fromkeys(columns(left) + columns(right)))


def exact(expression: Expression, sums: Mapping[str, int] | Mapping[str, Fraction]) -> Fraction | None:
    """The value for some sums, None where it divides by 0."""
    match expression:
        case Constant(value):
            return value
        case Count(column):
            return Fraction(sums[column])
        case Operation(left, operator, right):
            a, b = exact(left, sums), exact(right, sums)
            if a is None or b is None or (operator == "/" and b == 0):
                return None
            return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b


def evaluate(expression: Expression, sums: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The values for arrays of sums, of one shape, in floating point; NaN where it divides by 0."""
    import numpy as np

    match expression:
        case Constant(value):
            return np.full(np.shape(next(iter(sums.values()))), float(value))
        case Count(column):
            return sums[column]
        case Operation(left, operator, right):
            a, b = evaluate(left, sums), evaluate(right, sums)
            if operator == "/":
                undefined = np.full(np.shape(a), np.nan)
                return np.asarray(np.divide(a, b, out=undefined, where=b != 0), dtype=np.float64)
            combined = a + b if operator == "+" else a - b if operator == "-" else a * b
            return np.asarray(combined, dtype=np.float64)


# --- ratios in disguise -----------------------------------------------------------------------------------------------

_Polynomial = dict[tuple[str, ...], Fraction]
"""Coefficients by monomial, a monomial being its columns in order; () is the constant."""

_MOST_TERMS = 64
"""An expression that grows beyond this is no ratio worth looking for."""


def as_ratio(expression: Expression) -> Ratio | None:
    """The ratio of two linear forms that an expression is, or None.

    The denominator must have no negative coefficient, so that it cannot be negative for any counts.
    """
    fraction = _fraction(expression)
    if fraction is None:
        return None
    over, under = (_linear(polynomial) for polynomial in fraction)
    if over is None or under is None or not over.terms or not under.terms:
        return None
    if all(coefficient < 0 for _, coefficient in under.terms):
        over, under = -1 * over, -1 * under
    return ratio(over, under) if all(coefficient > 0 for _, coefficient in under.terms) else None


def _linear(polynomial: _Polynomial) -> LinearForm | None:
    """The linear form that a polynomial is, without a constant, or None."""
    if any(len(monomial) != 1 for monomial in polynomial):
        return None
    return LinearForm(tuple((monomial[0], coefficient) for monomial, coefficient in polynomial.items()))


def _fraction(expression: Expression) -> tuple[_Polynomial, _Polynomial] | None:
    """Numerator and denominator of an expression, or None where it grows too large or divides by nothing."""
    match expression:
        case Constant(value):
            return ({(): value} if value else {}), {(): Fraction(1)}
        case Count(column):
            return {(column,): Fraction(1)}, {(): Fraction(1)}
        case Operation(left, operator, right):
            a, b = _fraction(left), _fraction(right)
            if a is None or b is None:
                return None
            return _combined(a, operator, b)


def _combined(
    a: tuple[_Polynomial, _Polynomial], operator: Operator, b: tuple[_Polynomial, _Polynomial]
) -> tuple[_Polynomial, _Polynomial] | None:
    (over_a, under_a), (over_b, under_b) = a, b
    if operator == "/":
        if not over_b:
            return None
        over_b, under_b, operator = under_b, over_b, "*"
    if operator == "*":
        over, under = _times(over_a, over_b), _times(under_a, under_b)
        if over_a == under_b:
            over, under = over_b, under_a
        elif over_b == under_a:
            over, under = over_a, under_b
    else:
        sign = Fraction(1 if operator == "+" else -1)
        if under_a == under_b:
            over, under = _plus(over_a, over_b, sign), under_a
        else:
            over = _plus(_times(over_a, under_b), _times(over_b, under_a), sign)
            under = _times(under_a, under_b)
    return None if max(len(over), len(under)) > _MOST_TERMS else (over, under)


def _plus(a: _Polynomial, b: _Polynomial, sign: Fraction) -> _Polynomial:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _times(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    product: _Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            monomial = tuple(sorted(left + right))
            product[monomial] = product.get(monomial, Fraction(0)) + x * y
    return {monomial: coefficient for monomial, coefficient in product.items() if coefficient}
