"""What a printed figure says about the unrounded value: the range of values that a rounding convention prints as this
figure.

Everything is exact: ranges have rational ends, and integer arithmetic decides whether counts lie in a range.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Literal

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Integers


class Printed(Struct, frozen=True):
    """A printed figure and its resolution, the value of one unit in its last digit: 0.79 has the resolution 0.01.

    Raises ValueError if the value is negative or is not a multiple of the resolution.
    """

    value: Decimal
    resolution: Decimal

    def __post_init__(self) -> None:
        if not (self.value.is_finite() and self.resolution.is_finite() and self.resolution > 0 and self.value >= 0):
            raise ValueError(f"a figure cannot be printed as {self.value} to {self.resolution}")
        if Fraction(self.value) % Fraction(self.resolution):
            raise ValueError(f"{self.value} is not a multiple of {self.resolution}, its last printed digit")


class Range(Struct, frozen=True):
    """The values from `low` to `high`; each end may be included or excluded. A range may be empty; `high` is above
    0.
    """

    low: Fraction
    high: Fraction
    with_low: bool
    with_high: bool

    def __contains__(self, value: Fraction) -> bool:
        above = value >= self.low if self.with_low else value > self.low
        below = value <= self.high if self.with_high else value < self.high
        return above and below

    def common(self, other: Range) -> Range:
        """The values in both ranges."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(
            low,
            high,
            all(range_.with_low for range_ in (self, other) if range_.low == low),
            all(range_.with_high for range_ in (self, other) if range_.high == high),
        )

    @property
    def largest_factor(self) -> int:
        """The largest number that a count is multiplied by in the two methods below."""
        ends = (self.low.numerator, self.low.denominator, self.high.numerator, self.high.denominator)
        return max(abs(factor) for factor in ends)

    def numerators(self, denominators: Integers) -> tuple[Integers, Integers]:
        """For each D the least and the greatest N with N / D in the range; least > greatest if there is no such N.

        D = 0 has no such N, since the ratio is undefined.
        """
        low, high = self.low, self.high
        least = least_integer(low.numerator * denominators, low.denominator, self.with_low)
        most = most_integer(high.numerator * denominators, high.denominator, self.with_high)
        return least, np.where(denominators > 0, most, least - 1)

    def denominators(self, numerators: Integers, limit: int) -> tuple[Integers, Integers]:
        """For each N ≥ 0 the least and the greatest D up to `limit` with N / D in the range; least > greatest if there
        is no such D.
        """
        low, high = self.low, self.high
        least = np.maximum(1, least_integer(high.denominator * numerators, high.numerator, self.with_high))
        if low.numerator <= 0:
            return least, np.full_like(least, limit)
        most = most_integer(low.denominator * numerators, low.numerator, self.with_low)
        return least, np.minimum(most, limit)


def least_integer(dividend: Integers, divisor: int, equal: bool) -> Integers:
    """The least integer that is ≥ dividend / divisor, or > it if `equal` is false."""
    return -(-dividend // divisor) if equal else dividend // divisor + 1


def most_integer(dividend: Integers, divisor: int, equal: bool) -> Integers:
    """The greatest integer that is ≤ dividend / divisor, or < it if `equal` is false."""
    return dividend // divisor if equal else -(-dividend // divisor) - 1


class Convention(Struct, frozen=True):
    """A rounding convention: cut the value to a multiple of `cut` if that is given, then round to the nearest multiple
    of the resolution.

    `ties` says where a value in the middle goes: up, or to the even multiple.
    """

    name: str
    meaning: str
    ties: Literal["up", "even"]
    cut: Fraction | None = None

    def before(self, printed: Printed) -> Range:
        """The range of values that this convention prints as this figure."""
        value, half = Fraction(printed.value), Fraction(printed.resolution) / 2
        even = self.ties == "even" and value / (2 * half) % 2 == 0
        nearest = Range(value - half, value + half, even or self.ties == "up", even)
        if self.cut is None:
            return nearest
        low, high = nearest.low / self.cut, nearest.high / self.cut
        first = ceil(low) if nearest.with_low else floor(low) + 1
        last = floor(high) if nearest.with_high else ceil(high) - 1
        return Range(first * self.cut, (last + 1) * self.cut, True, False)


CONVENTIONS = (
    Convention("half up", "to the nearest, halves up", "up"),
    Convention("half even", "to the nearest, halves to the even digit", "even"),
    Convention(
        "cut first",
        "cut to a tenth of a percent, then to the nearest, halves to the even digit, like the MUC-4 scorer",
        "even",
        Fraction(1, 1000),
    ),
)
"""The rounding conventions, in display order."""
