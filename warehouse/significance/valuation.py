"""How a value is computed from sums of counts, in floating point and exactly, and arithmetic with exact values.

This module must not know where the sums come from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from math import isfinite

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Floats

ExactValue = Fraction | Decimal
"""A value that is either exact or has 60 digits."""

SUM_LIMIT = 2**53
"""The counts of two systems must sum to less than this, so that floating point holds all sums."""

_DIGITS = Context(prec=60)


class Valuation(Struct, frozen=True):
    """How a value is computed from sums of counts.

    `values` takes sums of shape (columns, any) and returns values of shape (any,) in floating point, NaN where
    undefined. `exactly` takes the sums of the columns and returns the value as a fraction or as a decimal number of 60
    digits, None where it is undefined. The two must agree to nine digits. `is_ratio` says that the value is the sum of
    the first of two columns over that of the second.
    """

    values: Callable[[Floats], Floats]
    exactly: Callable[[tuple[int, ...]], ExactValue | None]
    is_ratio: bool = False

    def or_zero(self, sums: Floats) -> Floats:
        """The values of sums of shape (columns, any), 0 where undefined; of shape (any), which may have dimensions."""
        flat = np.nan_to_num(self.values(sums.reshape(sums.shape[0], -1)))
        return flat.reshape(sums.shape[1:])

    def multiply(self, factor: Fraction) -> Valuation:
        """The value times a factor."""
        if factor == 1:
            return self
        floating = float(factor)

        def exactly(sums: tuple[int, ...]) -> ExactValue | None:
            exact = self.exactly(sums)
            return None if exact is None else times(exact, factor)

        return Valuation(lambda sums: floating * self.values(sums), exactly)

    @classmethod
    def average(cls, parts: Sequence[Valuation], columns: Sequence[int]) -> Valuation:
        """The mean of several values, each of so many columns, which stand behind one another."""
        starts = list(accumulate(columns, initial=0))
        places = [slice(start, stop) for start, stop in pairwise(starts)]

        def values(sums: Floats) -> Floats:
            of_parts = [part.values(sums[place]) for part, place in zip(parts, places, strict=True)]
            return np.asarray(sum(of_parts[1:], of_parts[0]) / len(parts))

        def exactly(sums: tuple[int, ...]) -> ExactValue | None:
            total: ExactValue = Fraction(0)
            for part, place in zip(parts, places, strict=True):
                exact = part.exactly(sums[place])
                if exact is None:
                    return None
                total = added(total, exact)
            return times(total, Fraction(1, len(parts)))

        return cls(values, exactly)


def _quotients(sums: Floats) -> Floats:
    without = np.full(sums.shape[1:], np.nan)
    return np.asarray(np.divide(sums[0], sums[1], out=without, where=sums[1] != 0), dtype=np.float64)


def _quotient(sums: tuple[int, ...]) -> Fraction | None:
    over, under = sums
    return Fraction(over, under) if under else None


RATIO = Valuation(_quotients, _quotient, is_ratio=True)
"""Numerators over denominators."""


def in_range(exact: ExactValue) -> bool:
    """Whether floating point has the value."""
    try:
        return isfinite(float(exact))
    except OverflowError:
        return False


def less(a: ExactValue, b: ExactValue) -> ExactValue:
    """a − b: exact where both are fractions, else with 60 digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    return _DIGITS.subtract(decimal(a), decimal(b))


def added(a: ExactValue, b: ExactValue) -> ExactValue:
    """a + b: exact where both are fractions, else with 60 digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    return _DIGITS.add(decimal(a), decimal(b))


def times(a: ExactValue, factor: Fraction) -> ExactValue:
    """a · factor: exact if a is a fraction, else with 60 digits."""
    return a * factor if isinstance(a, Fraction) else _DIGITS.multiply(a, decimal(factor))


def size(value: ExactValue) -> ExactValue:
    """The absolute value. Python's `abs` would round a decimal number to 28 digits."""
    return abs(value) if isinstance(value, Fraction) else value.copy_abs()


def decimal(value: ExactValue) -> Decimal:
    """The value with 60 digits."""
    if isinstance(value, Decimal):
        return value
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
