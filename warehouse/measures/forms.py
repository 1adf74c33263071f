"""The forms of a measure, as data: ratios of linear forms, expressions and functions of summed counts, rankings.

One definition is evaluated in two ways: SQL sums the forms in the database, and numpy sums them over the rows that a
randomization exchanges. Coefficients are exact: fractions in a written formula, integers in a Ratio. This module must
not know which measures exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from math import exp, fsum, gcd, inf, isfinite, isqrt, lcm
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# === ratios of linear forms ===========================================================================================

if TYPE_CHECKING:
    # numpy is imported only where arrays are read: a score that SQL sums does not need it, and importing it takes a
    # third of the start-up time.

    Counts = Mapping[str, NDArray[np.int64]]


Form = tuple[tuple[str, int], ...]
"""A linear form with integer coefficients: its columns with them."""


class LinearForm(Struct, frozen=True):
    """A linear form over columns: LinearForm({"correct": 1, "partial": ½}) is correct + ½·partial."""

    terms: tuple[tuple[str, Fraction], ...]

    @classmethod
    def of(cls, *columns: str) -> LinearForm:
        """The plain sum of some columns."""
        return cls(tuple((column, Fraction(1)) for column in columns))

    def __add__(self, other: LinearForm) -> LinearForm:
        sums = dict(self.terms)
        for column, coefficient in other.terms:
            sums[column] = sums.get(column, Fraction(0)) + coefficient
        return LinearForm(tuple((column, coefficient) for column, coefficient in sums.items() if coefficient))

    def __rmul__(self, factor: Fraction | int) -> LinearForm:
        return LinearForm(
            tuple((column, factor * coefficient) for column, coefficient in self.terms if factor * coefficient)
        )


class Ratio(Struct, frozen=True):
    """factor · ΣN / ΣD, where N and D are linear forms over the columns with integer coefficients."""

    numerator: Form
    denominator: Form
    factor: Fraction

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that either form needs, each once, numerator first."""
        return tuple(dict.fromkeys(column for column, _ in self.numerator + self.denominator))

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms whose sums `value` takes: numerator and denominator."""
        return self.numerator, self.denominator

    def value(self, sums: Sequence[int]) -> float | None:
        """The value for the two sums, correctly rounded; None where the denominator is 0."""
        numerator, denominator = sums
        if denominator == 0:
            return None
        return (self.factor.numerator * numerator) / (self.factor.denominator * denominator)

    def exact(self, sums: Sequence[int | Fraction]) -> Fraction | None:
        """The value for the two sums; None where the denominator is 0."""
        numerator, denominator = sums
        return self.factor * Fraction(numerator, denominator) if denominator else None

    def renamed(self, names: Mapping[str, str]) -> Ratio:
        """The same ratio over renamed columns."""
        over, under = (tuple((names[column], by) for column, by in form) for form in self.forms)
        return Ratio(over, under, self.factor)

    def read(self, counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """N and D for each entry of the counts. `counts` maps columns to arrays, all of one shape.

        Raises OverflowError if coefficients are so large that a sum would not fit into 64 bits.
        """
        return evaluate_form(self.numerator, counts), evaluate_form(self.denominator, counts)


class Summary(Ratio, frozen=True):
    """What stands for the values of all documents together: their mean, their sum, or what `exp` makes of a mean of
    logarithms, the geometric mean.
    """

    taken: Literal["mean", "sum", "geometric mean"] = "mean"

    @property
    def in_counts(self) -> bool:
        """Whether the value grows with the number of documents."""
        return self.taken == "sum"

    def of_one(self, value: float) -> float:
        """What a document by itself has: its value, or what `exp` makes of a logarithm."""
        return exp(value) if self.taken == "geometric mean" else value

    def of_values(self, total: Fraction, number: int) -> Exact | None:
        """What stands for values of this sum; None where there are none."""
        if not number:
            return None
        match self.taken:
            case "sum":
                return total
            case "geometric mean":
                return _call_exactly("exp", (total / number,))
        return total / number


def ratio(numerator: LinearForm, denominator: LinearForm) -> Ratio:
    """The ratio of two forms, with coefficients reduced to the smallest integers."""
    over, above = integers(numerator)
    under, below = integers(denominator)
    return Ratio(over, under, above / below)


def integers(form: LinearForm) -> tuple[Form, Fraction]:
    """The form with coprime integer coefficients, and the factor that leads back to it."""
    common = lcm(*(coefficient.denominator for _, coefficient in form.terms))
    whole = [(column, int(coefficient * common)) for column, coefficient in form.terms]
    divisor = gcd(*(coefficient for _, coefficient in whole))
    return tuple((column, coefficient // divisor) for column, coefficient in whole), Fraction(divisor, common)


def evaluate_form(form: Form, counts: Counts) -> NDArray[np.int64]:
    """The value of a form for each entry of the counts by column. Raises OverflowError if a sum would not fit into 64
    bits.
    """
    import numpy as np

    bound = sum(abs(coefficient) * int(np.abs(counts[column]).sum(dtype=np.int64)) for column, coefficient in form)
    if bound >= 2**62:
        raise OverflowError("a sum would not fit 64 bits")
    total = np.zeros(np.shape(next(iter(counts.values()))), dtype=np.int64)
    for column, coefficient in form:
        total += np.int64(coefficient) * counts[column]
    return total


# === expressions over summed counts ===================================================================================
# For measures that are not written as a ratio of two linear forms. An expression is evaluated in three ways: exactly
# (`exact`), in floating point over arrays (`evaluate`), and as SQL, which the query compiler writes.

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


def divide(above: Expression, below: Expression) -> Expression:
    """The quotient of two expressions."""
    return Operation(above, "/", below)


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


def rename_columns(expression: Expression, names: Mapping[str, str]) -> Expression:
    """The expression with other names for its columns."""
    return substitute(expression, {column: Count(names[column]) for column in columns(expression)})


def substitute(expression: Expression, parts: Mapping[str, Expression]) -> Expression:
    """The expression with expressions in place of some of its columns."""
    match expression:
        case Count(column):
            return parts.get(column, expression)
        case Operation(left, operator, right):
            return Operation(substitute(left, parts), operator, substitute(right, parts))
        case Call(function, arguments):
            return Call(function, tuple(substitute(argument, parts) for argument in arguments))
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
            return _combine_degrees(degree(left), operator, degree(right))
        case Call(function, arguments):
            return _call_degree(function, [degree(argument) for argument in arguments])


def _combine_degrees(left: Fraction, operator: Operator, right: Fraction) -> Fraction:
    match operator:
        case "*":
            return left + right
        case "/":
            return left - right
        case "+" | "-":
            return max(left, right)


def _call_degree(function: FunctionName, degrees: Sequence[Fraction]) -> Fraction:
    match function:
        case "min":
            return min(degrees)
        case "abs" | "max":
            return max(degrees)
        case "sqrt":
            return degrees[0] / 2
        case "log" | "exp":
            return Fraction(0)


def divide_counts(expression: Expression, scale: int) -> Expression:
    """The expression with each of its counts divided by a scale."""
    match expression:
        case Count():
            return Operation(expression, "/", Constant(Fraction(scale)))
        case Operation(left, operator, right):
            return Operation(divide_counts(left, scale), operator, divide_counts(right, scale))
        case Call(function, arguments):
            return Call(function, tuple(divide_counts(argument, scale) for argument in arguments))
        case Constant():
            return expression


# --- exactly ----------------------------------------------------------------------------------------------------------

Exact = Fraction | Decimal
"""A rational value exactly, an irrational one to DIGITS digits."""


def exact(expression: Expression, sums: Mapping[str, int | Fraction]) -> Exact | None:
    """The value for the given sums by column: a Fraction, or a Decimal of DIGITS digits if roots, logarithms or powers
    of e are involved. None where it is undefined.
    """
    return round_exact(_exact(expression, sums))


def round_exact(value: Exact | None) -> Exact | None:
    """The value with DIGITS digits, unless it is a fraction."""
    return Context(prec=DIGITS, traps=[]).plus(value) if isinstance(value, Decimal) else value


def _exact(expression: Expression, sums: Mapping[str, int | Fraction]) -> Exact | None:
    match expression:
        case Constant(value):
            return value
        case Count(column):
            return Fraction(sums[column])
        case Operation(left, operator, right):
            return _finite(combine_exactly(_exact(left, sums), operator, _exact(right, sums)))
        case Call(function, arguments):
            values = [_exact(argument, sums) for argument in arguments]
            known = [value for value in values if value is not None]
            return _finite(_call_exactly(function, known)) if len(known) == len(values) else None


def _finite(value: Exact | None) -> Exact | None:
    """The value, or None if it is infinite or not a number."""
    return None if isinstance(value, Decimal) and not value.is_finite() else value


def combine_exactly(a: Exact | None, operator: Operator, b: Exact | None) -> Exact | None:
    """Two values joined by an operator, irrational ones with more digits than DIGITS; None where that is undefined."""
    if a is None or b is None or (operator == "/" and b == 0):
        return None
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b if operator == "+" else a - b if operator == "-" else a * b if operator == "*" else a / b
    by_operator = {"+": _CONTEXT.add, "-": _CONTEXT.subtract, "*": _CONTEXT.multiply, "/": _CONTEXT.divide}
    return by_operator[operator](_decimal(a), _decimal(b))


def _call_exactly(function: FunctionName, values: Sequence[Exact]) -> Exact | None:
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
            return _call(function, [evaluate(argument, sums) for argument in arguments])


def _call(function: FunctionName, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    import numpy as np

    by_name: dict[str, Any] = {"sqrt": np.sqrt, "log": np.log, "exp": np.exp, "abs": np.abs}
    with np.errstate(all="ignore"):
        if function in ("min", "max"):
            result = reduce(np.minimum if function == "min" else np.maximum, values)
        else:
            result = by_name[function](values[0])
    return np.where(np.isfinite(result), result, np.nan)


# === ratios written as expressions ====================================================================================
# Recognizes expressions that are equal to a ratio of linear forms, such as 2·P·R / (P + R), so that they are tested
# exactly like a ratio; and totals such as 2·a − b, which are linear forms themselves.

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
            return _combine(a, operator, b)


def _combine(
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


# === functions and rankings ===========================================================================================
# Measures that are not a ratio of two linear forms: functions of summed counts, such as MCC and measures that users
# define, measures of the order in which confidence ranks documents, and of confidences as probabilities.


def to_float(value: Exact | None) -> float | None:
    """The value as a float; None if it is undefined or out of range."""
    try:
        number = inf if value is None else float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


class Function(Struct, frozen=True):
    """A measure that is an expression over the sums of its columns."""

    expression: Expression

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is computed from, each once, in the order in which `value` takes their sums."""
        return columns(self.expression)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms whose sums `value` takes: each column by itself."""
        return tuple(((column, 1),) for column in self.columns)

    @property
    def total(self) -> LinearForm | None:
        """The linear form that equals this function, as for a utility; None if there is none."""
        return as_total(self.expression)

    @property
    def in_counts(self) -> bool:
        """Whether the value grows with the counts, so that it is a number and not a share."""
        return degree(self.expression) > 0

    def renamed(self, names: Mapping[str, str]) -> Function:
        """The same function over renamed columns."""
        return Function(rename_columns(self.expression, names))

    def over(self, scale: int) -> Function:
        """The same function for sums that were multiplied by `scale`."""
        return Function(divide_counts(self.expression, scale))

    def exact(self, sums: Sequence[int | Fraction]) -> Exact | None:
        """The value for sums of the columns; None where it is undefined."""
        return exact(self.expression, dict(zip(self.columns, sums, strict=True)))

    def value(self, sums: Sequence[int]) -> float | None:
        """The value for sums of the columns, rounded once; None where it is undefined."""
        return to_float(self.exact(sums))

    def values(self, sums: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """The values for arrays of sums by column, in floating point; NaN where undefined."""
        return evaluate(self.expression, sums)


class Ranking(Struct, frozen=True):
    """A measure of the order in which a system's confidences rank documents.

    `value` takes confidences and labels, both of shape (documents,), and returns a number, or None where it is
    undefined. `sides` takes labels and returns two masks of the same shape: the documents that should rank above, and
    those that should rank below.
    """

    value: Callable[[NDArray[np.float64], NDArray[np.str_]], float | None]
    sides: Callable[[NDArray[np.str_]], tuple[NDArray[np.bool_], NDArray[np.bool_]]]


class Probabilities(Struct, frozen=True):
    """A measure of a system's confidences as probabilities that documents are relevant.

    `of_documents` takes confidences and which documents are relevant, and returns a value for each; the measure is
    their mean or, where they are put into `bins`, the sum of the sizes of the bins' sums over the number of documents.
    All arrays have the shape of the confidences. `sides` is as for a ranking: other documents do not count.
    """

    of_documents: Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]
    sides: Callable[[NDArray[np.str_]], tuple[NDArray[np.bool_], NDArray[np.bool_]]]
    bins: int = 0
    bin_of: Callable[[NDArray[np.float64]], NDArray[np.intp]] | None = None

    def value(self, confidence: NDArray[np.float64], label: NDArray[np.str_]) -> float | None:
        """The value for confidences and labels of shape (documents,); None where one is no probability."""
        import numpy as np

        relevant, nonrelevant = self.sides(label)
        judged = relevant | nonrelevant
        confidence, relevant = confidence[judged], relevant[judged]
        if not confidence.size or not are_probabilities(confidence).all():
            return None
        of_documents = self.of_documents(confidence, relevant)
        if self.bin_of is None:
            return fsum(of_documents.tolist()) / confidence.size
        places = self.bin_of(confidence)
        sums = (fsum(of_documents[places == place].tolist()) for place in np.unique(places))
        return fsum(abs(total) for total in sums) / confidence.size


def are_probabilities(confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which confidences are there and between 0 and 1."""
    return (confidence >= 0) & (confidence <= 1)


# === numbers beside true ones =========================================================================================
# Measures of numbers that a system predicts, each beside the true one.

MOMENTS = (
    *("documents", "truths", "predictions", "squares of truths", "squares of predictions"),
    *("products", "squares of errors"),
)
"""The sums that functions are of. True numbers and predictions may each be less a constant, but not the errors."""


class OfNumbers(Struct, frozen=True, kw_only=True):
    """How a measure follows from the true and the predicted numbers of all documents. `standardized` says that a
    system's predictions are exchanged as its z-scores, which changes the value of no correlation.
    """

    standardized: bool = False


class MeanDistance(OfNumbers, frozen=True):
    """The mean of the absolute differences."""


class OfMoments(OfNumbers, frozen=True):
    """A function of sums over documents, those named in MOMENTS."""

    function: Function


class OfRanks(OfNumbers, frozen=True):
    """A correlation of the ranks of predictions with the ranks of the true numbers: of the ranks themselves (Spearman),
    or of how pairs of documents are ordered (Kendall's tau-b).
    """

    by_pairs: bool
