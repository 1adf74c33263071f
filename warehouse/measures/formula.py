"""A measure as data: a ratio of two linear forms over additive counts.

One definition is evaluated in two ways. SQL sums the forms in the database (`warehouse.query.compile` writes them), and
numpy sums them over the rows that a randomization exchanges. Coefficients are exact: fractions in a written formula,
integers in a Ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    # numpy is imported only where arrays are read: a score that SQL sums does not need it, and importing it takes a
    # third of the start-up time.
    import numpy as np
    from numpy.typing import NDArray

    Counts = Mapping[str, NDArray[np.int64]]


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

    numerator: tuple[tuple[str, int], ...]
    denominator: tuple[tuple[str, int], ...]
    factor: Fraction

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that either form needs, each once, numerator first."""
        return tuple(dict.fromkeys(column for column, _ in self.numerator + self.denominator))

    @property
    def forms(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """The forms whose sums `value` takes: numerator and denominator."""
        return self.numerator, self.denominator

    def value(self, sums: Sequence[int]) -> float | None:
        """The value for the two sums, correctly rounded; None where the denominator is 0."""
        numerator, denominator = sums
        if denominator == 0:
            return None
        return (self.factor.numerator * numerator) / (self.factor.denominator * denominator)

    def renamed(self, names: Mapping[str, str]) -> Ratio:
        """The same ratio over renamed columns."""
        over, under = (tuple((names[column], by) for column, by in form) for form in self.forms)
        return Ratio(over, under, self.factor)

    def read(self, counts: Counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """N and D for each entry of the counts. `counts` maps columns to arrays, all of one shape.

        Raises OverflowError if coefficients are so large that a sum would not fit into 64 bits.
        """
        return combined(self.numerator, counts), combined(self.denominator, counts)


def ratio(numerator: LinearForm, denominator: LinearForm) -> Ratio:
    """The ratio of two forms, with coefficients reduced to the smallest integers."""
    over, above = integers(numerator)
    under, below = integers(denominator)
    return Ratio(over, under, above / below)


def integers(form: LinearForm) -> tuple[tuple[tuple[str, int], ...], Fraction]:
    """The form with coprime integer coefficients, and the factor that leads back to it."""
    common = lcm(*(coefficient.denominator for _, coefficient in form.terms))
    whole = [(column, int(coefficient * common)) for column, coefficient in form.terms]
    divisor = gcd(*(coefficient for _, coefficient in whole))
    return tuple((column, coefficient // divisor) for column, coefficient in whole), Fraction(divisor, common)


def combined(form: tuple[tuple[str, int], ...], counts: Counts) -> NDArray[np.int64]:
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
