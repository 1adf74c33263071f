"""The input of a significance test if the measure is a function of summed counts but not a ratio of sums.

This is the counterpart of `paired`: counts in several columns, and a `Valuation` that turns their sums into values, in
floating point and exactly. `ExtremeFunction` decides whether exchanged systems differ at least as much as the observed
ones, as `Extreme` does for ratios. This module must not draw random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from math import sqrt

import numpy as np

from grammar.value import value
from warehouse.significance.outcome import Sides, check_sides
from warehouse.significance.paired import Booleans, Floats, Integers, Many

ExactValue = Fraction | Decimal
"""A value that is either exact or has 60 digits."""

DOUBT = 1e-9
"""Comparisons closer than this share of the larger value are decided exactly."""

TIE = Decimal("1e-50")
"""Differences of values with 60 digits that are closer than this share of the larger value are ties."""

SUM_LIMIT = 2**53
"""The counts of two systems must sum to less than this, so that floating point holds all sums."""

_DIGITS = Context(prec=60)


@value
class Valuation:
    """How a value is computed from sums of counts.

    `values` takes sums of shape (columns, any) and returns values of shape (any,) in floating point, NaN where
    undefined. `exactly` takes the sums of the columns and returns the value as a fraction or as a decimal number of 60
    digits, None where it is undefined. The two must agree to nine digits.
    """

    values: Callable[[Floats], Floats]
    exactly: Callable[[tuple[int, ...]], ExactValue | None]

    def or_zero(self, sums: Floats) -> Floats:
        """The values of sums of shape (columns, any), 0 where undefined; of shape (any), which may have dimensions."""
        flat = np.nan_to_num(self.values(sums.reshape(sums.shape[0], -1)))
        return flat.reshape(sums.shape[1:])


@value(eq=False)
class PairedCounts:
    """Two systems on the same exchange units, with counts of shape (columns, units).

    Raises ValueError if the shapes differ, if the counts sum to 2^53 or more, and if the value of a system is
    undefined.
    """

    counts_a: Integers
    counts_b: Integers
    valuation: Valuation

    def __post_init__(self) -> None:
        if self.counts_a.ndim != 2 or self.counts_a.shape != self.counts_b.shape:
            raise ValueError(f"the counts have the shapes {self.counts_a.shape} and {self.counts_b.shape}")
        if int(np.abs(self.counts_a).sum()) + int(np.abs(self.counts_b).sum()) >= SUM_LIMIT:
            raise ValueError("the counts sum to 2^53 or more")
        _ = self.observed

    @property
    def observed(self) -> tuple[ExactValue, ExactValue]:
        """The values of the two systems."""
        first, second = (self.valuation.exactly(_sums(counts)) for counts in (self.counts_a, self.counts_b))
        if first is None or second is None:
            raise ValueError("the measure of a system is undefined")
        return first, second

    @property
    def totals(self) -> Integers:
        """The sums of both systems together, of shape (columns,)."""
        totals: Integers = (self.counts_a + self.counts_b).sum(axis=1)
        return totals

    @property
    def many(self) -> ManyCounts:
        """The two as systems 0 and 1."""
        return ManyCounts(np.stack((self.counts_a, self.counts_b)), self.valuation)

    def unit_values(self) -> tuple[Floats, Floats]:
        """The value of each system on each unit, of shape (units,); NaN where it has none."""
        a, b = (self.valuation.values(counts.astype(np.float64)) for counts in (self.counts_a, self.counts_b))
        return a, b


@value(eq=False)
class ManyCounts:
    """Two or more systems on the same exchange units, with counts of shape (systems, columns, units).

    It has the same methods as `Many` for ratios. Raises ValueError for fewer than two systems.
    """

    counts: Integers
    valuation: Valuation

    def __post_init__(self) -> None:
        if self.counts.ndim != 3 or self.systems < 2:
            raise ValueError(
                f"a comparison needs counts of at least two systems, and has the shape {self.counts.shape}"
            )

    @property
    def systems(self) -> int:
        """How many systems there are."""
        return int(self.counts.shape[0])

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.counts.shape[2])

    @property
    def columns(self) -> Integers:
        """The counts column by column, of shape (columns, systems, units)."""
        return self.counts.transpose(1, 0, 2)

    @property
    def tie(self) -> float:
        """Nothing is rounded, so only equal differences tie."""
        return 0.0

    def pair(self, a: int, b: int) -> PairedCounts:
        """The two systems of rows a and b. Raises ValueError if the value of one of them is undefined."""
        return PairedCounts(self.counts[a], self.counts[b], self.valuation)

    def value(self, sums: Integers | Floats) -> Floats:
        """The values for sums of shape (columns, any), 0 where undefined; of shape (any)."""
        return self.valuation.or_zero(sums.astype(np.float64))

    def values(self) -> Floats:
        """The value of each system, of shape (systems,), rounded once; 0 where it is undefined."""
        return np.array([float(self.valuation.exactly(_sums(counts)) or 0) for counts in self.counts])

    def spread(self, a: int, b: int) -> float:
        """The first-order standard deviation of the null distribution of a pair's difference: the root of the sum of
        the squared contributions of units.
        """
        totals = (self.counts[a] + self.counts[b]).sum(axis=1, keepdims=True)
        differences = self.counts[a] - self.counts[b]
        alone = self.value((totals + differences) / 2) - self.value((totals - differences) / 2)
        return sqrt(float(alone @ alone))


ManySystems = Many | ManyCounts
"""Systems whose measure is a ratio of sums, or any function of them."""


@value(eq=False)
class ExtremeFunction:
    """The observed difference of two systems, and the sums that an exchange does not change.

    Comparisons are made in floating point where that is safe, and with exact values if the two sides are closer than
    DOUBT. The value of a pseudo system counts as 0 if it is undefined.
    """

    valuation: Valuation
    totals: Integers
    least: ExactValue
    two_sided: bool

    @classmethod
    def of(cls, paired: PairedCounts, sides: Sides = "two-sided") -> ExtremeFunction:
        """The observed difference of two systems."""
        check_sides(sides)
        difference = _less(*paired.observed)
        two_sided = sides == "two-sided"
        return cls(paired.valuation, paired.totals, _size(difference) if two_sided else difference, two_sided)

    def contains(self, sums: Floats) -> Booleans:
        """Whether each exchange is at least as extreme as the observed data, of shape (any,), given the sums of the
        first pseudo system, of shape (columns, any).
        """
        a = self.valuation.or_zero(sums)
        b = self.valuation.or_zero(self.totals[:, None] - sums)
        differences = np.abs(a - b) if self.two_sided else a - b
        least = float(self.least)
        doubt = DOUBT * np.maximum(np.maximum(np.abs(a), np.abs(b)), abs(least))
        answer: Booleans = differences > least + doubt
        doubtful = np.flatnonzero(np.abs(differences - least) <= doubt)
        if doubtful.size:
            distinct, which = np.unique(sums[:, doubtful], axis=1, return_inverse=True)
            decided = np.array([self._decides(column) for column in distinct.T.astype(np.int64)])
            answer[doubtful] = decided[which.reshape(-1)]
        return answer

    def _decides(self, sums: Integers) -> bool:
        a = self.valuation.exactly(tuple(sums.tolist())) or Fraction(0)
        b = self.valuation.exactly(tuple((self.totals - sums).tolist())) or Fraction(0)
        difference = _size(_less(a, b)) if self.two_sided else _less(a, b)
        beyond = _less(difference, self.least)
        if isinstance(beyond, Fraction):
            return beyond >= 0
        return beyond >= -TIE * max(_decimal(_size(value)) for value in (a, b, self.least))


def _sums(counts: Integers) -> tuple[int, ...]:
    """The sums of counts of shape (columns, units)."""
    return tuple(counts.sum(axis=1).tolist())


def _less(a: ExactValue, b: ExactValue) -> ExactValue:
    """a − b: exact where both are fractions, else with 60 digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    return _DIGITS.subtract(_decimal(a), _decimal(b))


def added(a: ExactValue, b: ExactValue) -> ExactValue:
    """a + b: exact where both are fractions, else with 60 digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    return _DIGITS.add(_decimal(a), _decimal(b))


def times(a: ExactValue, factor: Fraction) -> ExactValue:
    """a · factor: exact if a is a fraction, else with 60 digits."""
    return a * factor if isinstance(a, Fraction) else _DIGITS.multiply(a, _decimal(factor))


def _size(value: ExactValue) -> ExactValue:
    """The absolute value. Python's `abs` would round a decimal number to 28 digits."""
    return abs(value) if isinstance(value, Fraction) else value.copy_abs()


def _decimal(value: ExactValue) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
