"""All contingency tables of a key whose recall, precision, F and fallout agree with printed figures.

Everything is exact: ranges have rational ends, and integer arithmetic decides whether counts lie in a range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from typing import Literal

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.filtering.generality import KeyCounts
from evalhouse.warehouse.significance.arrays import Integers

# === ranges of printed figures ========================================================================================
# What a printed figure says about the unrounded value: the range of values that a rounding convention prints as this
# figure.


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


# === the search for tables ============================================================================================
# The key fixes how many documents are relevant (r = a + c), optional (o = x + y) and nonrelevant (n = b + d), so a
# table is three integers: a, x and b. For given x and s = a + x every range allows an interval of b, and for given x
# only an interval of s can succeed. So the search tries pairs of x and s. It is given ranges and must not know what was
# printed.

MOST_PAIRS = 30_000_000
"""More pairs of x and s than this are not tried."""

_BLOCK = 1 << 18
"""Pairs tried at once."""


class Bounds(Struct, frozen=True):
    """The lowest and the highest count of a cell among the solutions."""

    low: int
    high: int


class Harmonic(Struct, frozen=True):
    """Limits of a weighted harmonic mean of recall and precision, with integer weights v and w and with s = a + x:

        (v + w)·s / (v·(r + x) + w·(s + b))

    Recall has w = 0, precision v = 0, and F has v / w = β² (van Rijsbergen 1979). It grows with s and falls with b.
    """

    v: int
    w: int
    limits: Range

    @property
    def largest_factor(self) -> int:
        """The largest number that a document count is multiplied by."""
        return self.limits.largest_factor * (self.v + self.w)

    def of_yes(self, key: KeyCounts, x: Integers, b: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
        """For each x the least and the greatest s that some b within the bounds allows. Recall does not depend on b."""
        v, w, low, high = self.v, self.w, self.limits.low, self.limits.high
        least, most = x, x + key.relevant
        growth = low.denominator * (v + w) - low.numerator * w
        if growth > 0:
            reached = low.numerator * (v * (key.relevant + x) + w * b[0])
            least = np.maximum(least, least_integer(reached, growth, self.limits.with_low))
        growth = high.denominator * (v + w) - high.numerator * w
        if growth > 0:
            reached = high.numerator * (v * (key.relevant + x) + w * b[1])
            most = np.minimum(most, most_integer(reached, growth, self.limits.with_high))
        # The ratio is undefined if its denominator is 0.
        return least, np.where(v * (key.relevant + x) + w * (most + b[1]) > 0, most, least - 1)

    def of_b(self, key: KeyCounts, x: Integers, yes: Integers) -> tuple[Integers, Integers]:
        """For each x and s the least and the greatest b within the limits; only for w > 0."""
        fixed = self.v * (key.relevant + x) + self.w * yes
        least, most = self.limits.denominators((self.v + self.w) * yes, limit=(self.v + self.w) * key.documents)
        return least_integer(least - fixed, self.w, True), most_integer(most - fixed, self.w, True)


class Limits(Struct, frozen=True):
    """The ranges in which the ratios must lie. A ratio without limits does not appear."""

    fallout: Range | None
    harmonic: tuple[Harmonic, ...]

    def check(self, key: KeyCounts) -> None:
        """Raises ValueError if a product would not fit into 64 bits."""
        factors = [self.fallout.largest_factor] if self.fallout else [1]
        factors += [harmonic.largest_factor for harmonic in self.harmonic]
        if max(factors) * (key.documents + 1) >= 2**62:
            raise ValueError(f"the ends of the ranges have too many digits to be tried on {key.documents} documents")

    def of_b(self, key: KeyCounts, x: Integers) -> tuple[Integers, Integers]:
        """For each x the least and the greatest b that the limits of fallout, b / (n + o − x), allow."""
        low, high = np.zeros_like(x), np.full_like(x, key.nonrelevant)
        if self.fallout is None:
            return low, high
        least, most = self.fallout.numerators(key.nonrelevant + key.optional - x)
        return np.maximum(low, least), np.minimum(high, most)


class Tables(Struct, frozen=True):
    """The number of tables and the bounds of a, x and b among them; bounds are None if there are no tables."""

    count: int
    a: Bounds | None = None
    x: Bounds | None = None
    b: Bounds | None = None

    def merged(self, other: Tables) -> Tables:
        """The two results together. A table in both is counted twice."""
        return Tables(self.count + other.count, _hull(self.a, other.a), _hull(self.x, other.x), _hull(self.b, other.b))

    def cells(self, key: KeyCounts) -> Mapping[str, Bounds]:
        """The bounds of all six cells. The key determines c, d and y from a, b and x."""
        if self.a is None or self.x is None or self.b is None:
            return {}
        return {
            "a": self.a,
            "b": self.b,
            "c": Bounds(key.relevant - self.a.high, key.relevant - self.a.low),
            "d": Bounds(key.nonrelevant - self.b.high, key.nonrelevant - self.b.low),
            "x": self.x,
            "y": Bounds(key.optional - self.x.high, key.optional - self.x.low),
        }


def _hull(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if one is None or other is None:
        return one or other
    return Bounds(min(one.low, other.low), max(one.high, other.high))


def tables(key: KeyCounts, limits: Limits) -> Tables:
    """All tables whose ratios lie within the limits. A ratio whose denominator is 0 lies within no limits.

    Raises ValueError if there are too many documents, or if the ends of the ranges have too many digits, to try all
    tables.
    """
    limits.check(key)
    return reduce(Tables.merged, _blocks(key, limits), Tables(0))


def _blocks(key: KeyCounts, limits: Limits) -> Iterator[Tables]:
    every_x = np.arange(key.optional + 1)
    lows, highs = limits.of_b(key, every_x)
    for x, yes in _pairs(key, limits, every_x, (lows, highs)):
        low, high = lows[x], highs[x]
        for harmonic in limits.harmonic:
            if harmonic.w:
                least, most = harmonic.of_b(key, x, yes)
                low, high = np.maximum(low, least), np.minimum(high, most)
        kept = low <= high
        if kept.any():
            x, yes, low, high = x[kept], yes[kept], low[kept], high[kept]
            count = int((high - low + 1).sum())
            yield Tables(count, _bounds(yes - x), _bounds(x), Bounds(int(low.min()), int(high.max())))


def _pairs(
    key: KeyCounts, limits: Limits, x: Integers, b: tuple[Integers, Integers]
) -> Iterator[tuple[Integers, Integers]]:
    """Blocks of pairs of x and s = a + x that may have a b within the bounds; both arrays have the shape (pairs,)."""
    least, most = x, np.where(b[0] <= b[1], x + key.relevant, x - 1)
    for harmonic in limits.harmonic:
        lowest, highest = harmonic.of_yes(key, x, b)
        least, most = np.maximum(least, lowest), np.minimum(most, highest)
    widths = np.maximum(most - least + 1, 0)
    ends = np.cumsum(widths)
    total = int(ends[-1])
    if total > MOST_PAIRS:
        raise ValueError(
            f"{key.documents:,} documents leave {total:,} pairs of a and x to try; at most {MOST_PAIRS:,} are allowed"
        )
    for first in range(0, total, _BLOCK):
        place = np.arange(first, min(first + _BLOCK, total))
        row = np.searchsorted(ends, place, side="right")
        yield x[row], (least - ends + widths)[row] + place


def _bounds(counts: Integers) -> Bounds:
    return Bounds(int(counts.min()), int(counts.max()))
