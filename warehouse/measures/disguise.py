"""Recognize expressions that are equal to a ratio of linear forms, such as 2·P·R / (P + R), so that they are tested
exactly like a ratio; and totals such as 2·a − b, which are linear forms themselves.
"""

from __future__ import annotations

from fractions import Fraction

from warehouse.measures.expression import Call, Constant, Count, Expression, Operation, Operator
from warehouse.measures.formula import LinearForm, Ratio, ratio

_Polynomial = dict[tuple[str, ...], Fraction]
"""Coefficients by monomial. A monomial is the tuple of its columns in order; () is the constant."""

_MOST_TERMS = 64
"""The search for a ratio stops when a polynomial has more terms than this."""


def as_ratio(expression: Expression) -> Ratio | None:
    """The ratio of two linear forms that equals the expression, or None if there is none.

    The denominator may not have a negative coefficient, so that it is never negative for any counts.
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


def as_total(expression: Expression) -> LinearForm | None:
    """The linear form without a constant that equals the expression; None if there is none, or if the expression is
    always 0.
    """
    fraction = _fraction(expression)
    if fraction is None or set(fraction[1]) != {()}:
        return None
    form = _linear(fraction[0])
    return 1 / fraction[1][()] * form if form is not None and form.terms else None


def _linear(polynomial: _Polynomial) -> LinearForm | None:
    """The linear form without a constant that equals the polynomial, or None."""
    if any(len(monomial) != 1 for monomial in polynomial):
        return None
    return LinearForm(tuple((monomial[0], coefficient) for monomial, coefficient in polynomial.items() if coefficient))


def _fraction(expression: Expression) -> tuple[_Polynomial, _Polynomial] | None:
    """Numerator and denominator of an expression; None if a polynomial grows too large, or if the expression divides by
    0.
    """
    match expression:
        case Constant(value):
            return ({(): value} if value else {}), {(): Fraction(1)}
        case Count(column):
            return {(column,): Fraction(1)}, {(): Fraction(1)}
        case Call():
            return None
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
