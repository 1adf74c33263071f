"""Arithmetic over summed counts, for measures that are not written as a ratio of two linear forms.

An expression is evaluated in three ways: exactly (`exact`), in floating point over arrays (`evaluate`), and as SQL that
the query compiler writes. This module must not know which measures exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from math import isqrt
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from warehouse.measures.formula import Ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Operator = Literal["+", "-", "*", "/"]
FunctionName = Literal["sqrt", "log", "exp", "min", "max", "abs"]

DIGITS = 60
"""The number of digits of an irrational value."""

_CONTEXT = Context(prec=DIGITS + 10, traps=[])
"""Computes with ten more digits than are returned. Overflow and undefined results give a number that is not finite
instead of an error.
"""


class Constant(Struct, frozen=True):
    """A rational number."""

    value: Fraction


class Count(Struct, frozen=True):
    """The sum of a column over all rows."""

    column: str


class Operation(Struct, frozen=True):
    """Two expressions joined by an operator."""

    left: Expression
    operator: Operator
    right: Expression


class Call(Struct, frozen=True):
    """A function of one or more expressions; `log` is the natural logarithm."""

    function: FunctionName
    arguments: tuple[Expression, ...]


Expression = Constant | Count | Operation | Call


def of_ratio(ratio: Ratio) -> Expression:
    """The expression of a ratio: factor · N / D."""
    over, under = (of_form(form) for form in (ratio.numerator, ratio.denominator))
    return Operation(Operation(Constant(ratio.factor), "*", over), "/", under)


def of_form(terms: Sequence[tuple[str, Fraction | int]]) -> Expression:
    """The expression of a linear form, given as its columns with their coefficients."""
    total: Expression | None = None
    for column, coefficient in terms:
        term: Expression = Count(column)
        if coefficient != 1:
            term = Operation(Constant(Fraction(coefficient)), "*", term)
        total = term if total is None else Operation(total, "+", term)
    return total or Constant(Fraction(0))


def columns(expression: Expression) -> tuple[str, ...]:
    """The columns that an expression needs, each once, from left to right."""
    match expression:
        case Constant():
            return ()
        case Count(column):
            return (column,)
        case Operation(left, _, right):
            return tuple(dict.fromkeys(columns(left) + columns(right)))
        case Call(_, arguments):
            return tuple(dict.fromkeys(column for argument in arguments for column in columns(argument)))


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with other names for its columns."""
    match expression:
        case Count(column):
            return Count(names[column])
        case Operation(left, operator, right):
            return Operation(renamed(left, names), operator, renamed(right, names))
        case Call(function, arguments):
            return Call(function, tuple(renamed(argument, names) for argument in arguments))
        case Constant():
            return expression


def has_calls(expression: Expression) -> bool:
    """Whether the expression calls a function."""
    match expression:
        case Operation(left, _, right):
            return has_calls(left) or has_calls(right)
        case Call():
            return True
        case Constant() | Count():
            return False


def degree(expression: Expression) -> Fraction:
    """The largest degree with which an expression grows with its counts: 0 for a share, 1 for a value that doubles if
    all counts double (2·a − b).
    """
    match expression:
        case Constant():
            return Fraction(0)
        case Count():
            return Fraction(1)
        case Operation(left, operator, right):
            return _combined_degree(degree(left), operator, degree(right))
        case Call(function, arguments):
            return _called_degree(function, [degree(argument) for argument in arguments])


def _combined_degree(left: Fraction, operator: Operator, right: Fraction) -> Fraction:
    match operator:
        case "*":
            return left + right
        case "/":
            return left - right
        case "+" | "-":
            return max(left, right)


def _called_degree(function: FunctionName, degrees: Sequence[Fraction]) -> Fraction:
    match function:
        case "min":
            return min(degrees)
        case "abs" | "max":
            return max(degrees)
        case "sqrt":
            return degrees[0] / 2
        case "log" | "exp":
            return Fraction(0)


def divided(expression: Expression, scale: int) -> Expression:
    """The expression with each of its counts divided by a scale."""
    match expression:
        case Count():
            return Operation(expression, "/", Constant(Fraction(scale)))
        case Operation(left, operator, right):
            return Operation(divided(left, scale), operator, divided(right, scale))
        case Call(function, arguments):
            return Call(function, tuple(divided(argument, scale) for argument in arguments))
        case Constant():
            return expression


# --- exactly ----------------------------------------------------------------------------------------------------------

Exact = Fraction | Decimal
"""A rational value exactly, an irrational one to DIGITS digits."""


def exact(expression: Expression, sums: Mapping[str, int] | Mapping[str, Fraction]) -> Exact | None:
    """The value for the given sums by column: a Fraction, or a Decimal of DIGITS digits if roots, logarithms or powers
    of e are involved. None where it is undefined.
    """
    value = _exact(expression, sums)
    return Context(prec=DIGITS, traps=[]).plus(value) if isinstance(value, Decimal) else value


def _exact(expression: Expression, sums: Mapping[str, int] | Mapping[str, Fraction]) -> Exact | None:
    match expression:
        case Constant(value):
            return value
        case Count(column):
            return Fraction(sums[column])
        case Operation(left, operator, right):
            return _finite(_combined_exactly(_exact(left, sums), operator, _exact(right, sums)))
        case Call(function, arguments):
            values = [_exact(argument, sums) for argument in arguments]
            known = [value for value in values if value is not None]
            return _finite(_called_exactly(function, known)) if len(known) == len(values) else None


def _finite(value: Exact | None) -> Exact | None:
    """The value, or None if it is infinite or not a number."""
    return None if isinstance(value, Decimal) and not value.is_finite() else value


def _combined_exactly(a: Exact | None, operator: Operator, b: Exact | None) -> Exact | None:
    if a is None or b is None or (operator == "/" and b == 0):
        return None
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b
    by_operator = {"+": _CONTEXT.add, "-": _CONTEXT.subtract, "*": _CONTEXT.multiply, "/": _CONTEXT.divide}
    return by_operator[operator](_decimal(a), _decimal(b))


def _called_exactly(function: FunctionName, values: Sequence[Exact]) -> Exact | None:
    value = values[0]
    match function:
        case "abs":
            return abs(value) if isinstance(value, Fraction) else _CONTEXT.abs(value)
        case "min":
            return min(values, key=lambda value: Fraction(value))
        case "max":
            return max(values, key=lambda value: Fraction(value))
        case "sqrt":
            return _root(value) if value >= 0 else None
        case "log":
            return None if value <= 0 else Fraction(0) if value == 1 else _CONTEXT.ln(_decimal(value))
        case "exp":
            return Fraction(1) if value == 0 else _CONTEXT.exp(_decimal(value))


def _root(value: Exact) -> Exact:
    if isinstance(value, Fraction):
        over, under = isqrt(value.numerator), isqrt(value.denominator)
        if over * over == value.numerator and under * under == value.denominator:
            return Fraction(over, under)
    return _CONTEXT.sqrt(_decimal(value))


def _decimal(value: Exact) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


# --- in floating point ------------------------------------------------------------------------------------------------


def evaluate(expression: Expression, sums: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The values in floating point for arrays of sums by column, all of one shape; NaN where undefined."""
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
        case Call(function, arguments):
            return _called(function, [evaluate(argument, sums) for argument in arguments])


def _called(function: FunctionName, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    import numpy as np

    by_name: dict[str, Any] = {"sqrt": np.sqrt, "log": np.log, "exp": np.exp, "abs": np.abs}
    with np.errstate(all="ignore"):
        if function in ("min", "max"):
            result = reduce(np.minimum if function == "min" else np.maximum, values)
        else:
            result = by_name[function](values[0])
    return np.where(np.isfinite(result), result, np.nan)
