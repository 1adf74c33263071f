"""All contingency tables of a key whose recall, precision, F and fallout lie in given ranges.

The key fixes how many documents are relevant (r = a + c), optional (o = x + y) and nonrelevant (n = b + d), so a table
is three integers: a, x and b. For given x and s = a + x every range allows an interval of b, and for given x only an
interval of s can succeed. So the search tries pairs of x and s. All comparisons are in integers. This module must not
know what was printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np
from msgspec import Struct

from warehouse.filtering.generality import KeyCounts
from warehouse.filtering.rounding import Range, least_integer, most_integer
from warehouse.significance.paired import Integers

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
