"""What exact tests of a pair stand on: their cost, the lattice of the sums, and listing for few units."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from typing import Literal

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance.arrays import Integers
from evalhouse.warehouse.significance.extreme import Extreme
from evalhouse.warehouse.significance.two_systems import Distinct

# === the cost of an exact test ========================================================================================
# The cost is known in advance. It decides whether the test is run by default, only on request, or not at all.

AFFORDABLE_OPERATIONS = 2e8
"""About a second of work: up to this many operations an exact test is run by default."""

AFFORDABLE_BYTES = 300_000_000
"""The largest memory, in bytes, of an exact test that is run by default."""

POSSIBLE_OPERATIONS = 1e10
"""About a minute of work: with more operations an exact test is refused."""

POSSIBLE_BYTES = 2_000_000_000
"""With more memory than this, in bytes, an exact test is refused."""

Way = Literal["identical", "binomial", "table", "halves", "listing", "transform", "combinations"]


class Cost(Struct, frozen=True):
    """The method of an exact test for a pair, and its cost. Both follow from the data alone.

    `way` is one of: identical (the systems do not differ, or not in their measure), binomial (all differences have one
    size), table (dynamic programme), halves or listing (enumeration), and transform (characteristic function). For a
    function of sums it is identical or combinations. An operation takes 2.5 to 8 nanoseconds.
    """

    way: Way
    operations: float
    bytes: int
    units: int
    distinct: int

    @property
    def affordable(self) -> bool:
        """Whether the test is cheap enough to be run by default."""
        return self.operations <= AFFORDABLE_OPERATIONS and self.bytes <= AFFORDABLE_BYTES

    @property
    def possible(self) -> bool:
        """Whether the test can be done at all."""
        return self.operations <= POSSIBLE_OPERATIONS and self.bytes <= POSSIBLE_BYTES

    def check(self) -> None:
        """Raises ValueError if the test is not possible."""
        if not self.possible:
            raise ValueError(
                f"the exact test would take about {self.operations:.0e} steps and {self.bytes / 1e9:.1f} GB"
            )


def affordable_together(costs: Iterable[Cost]) -> bool:
    """Whether several exact tests are together cheap enough to be run by default."""
    operations = 0.0
    for cost in costs:
        operations += cost.operations
        if operations > AFFORDABLE_OPERATIONS or not cost.affordable:
            return False
    return True


# === the lattice of signed sums =======================================================================================
# The differences of a pair of systems as whole steps on the smallest lattice that holds all their signed sums. With
# signs ε = ±1, u = Σ ε·(N_A − N_B) and v = Σ ε·(D_A − D_B) can only be u = across·X + slant·Y and v = down·Y, where X =
# Σ ε·x and Y = Σ ε·y are sums of small integers. Common factors are divided out, in any combination of u and v, and X
# and Y are made nearly uncorrelated, so a table over (X, Y) is as small as the data allow.


class Lattice(Struct, frozen=True, eq=False):
    """The steps x and y and the number of units with each, all of shape (distinct,); u = across·X + slant·Y and v =
    down·Y.

    x is never negative. This loses nothing, because a difference and its opposite have the same null distribution.
    `across` is 0 if all x are 0, and `down` is 0 if all y are 0.
    """

    x: Integers
    y: Integers
    count: Integers
    across: int
    slant: int
    down: int

    @classmethod
    def of(cls, distinct: Distinct) -> Lattice:
        """The lattice of the differences of two systems."""
        across, slant, down = _basis(distinct)
        y = distinct.denominator // down if down else np.zeros_like(distinct.denominator)
        x = (distinct.numerator - slant * y) // across if across else np.zeros_like(y)
        float_x, float_y = x.astype(np.float64), y.astype(np.float64)
        spread = float(distinct.count @ (float_y * float_y))
        if across and spread:
            shear = round(float(distinct.count @ (float_x * float_y)) / spread)
            x = x - shear * y
            slant += shear * across
        flip = np.where((x < 0) | ((x == 0) & (y < 0)), -1, 1)
        return cls(x * flip, y * flip, distinct.count, across, slant, down)

    @property
    def units(self) -> int:
        """How many units differ."""
        return int(self.count.sum())

    @property
    def top_x(self) -> int:
        """The largest X."""
        return int(self.count @ self.x)

    @property
    def top_y(self) -> int:
        """The sum of all y, the Y that goes with the largest X."""
        return int(self.count @ self.y)

    def least_x(self, y: int, extreme: Extreme, strict: bool) -> int | None:
        """The least X for which (X, Y = y) is at least as extreme as the observed difference, or more extreme if
        `strict`.

        None if there is no such X, because |v| would exceed the sum of all denominators.
        """
        v = self.down * y
        if abs(v) > extreme.denominators:
            return None
        least = extreme.least(v, strict) - self.slant * y
        if self.across:
            return -(-least // self.across)
        return 0 if least <= 0 else self.top_x + 1


def _basis(distinct: Distinct) -> tuple[int, int, int]:
    """across, slant and down: (across, 0) and (slant, down) generate all differences, by Euclid's algorithm."""
    across = slant = down = 0
    if not distinct.denominator.any():
        return int(np.gcd.reduce(distinct.numerator)), 0, 0
    for numerator, denominator in zip(distinct.numerator.tolist(), distinct.denominator.tolist(), strict=True):
        if across == 1 and down == 1:
            break
        a, c = numerator, denominator
        while c:
            quotient = down // c
            slant, down, a, c = a, c, slant - quotient * a, down - quotient * c
        across = gcd(across, a)
        if across:
            slant %= across
    if down < 0:
        slant, down = -slant, -down
    return across, slant, down


# === listing all exchanges ============================================================================================
# For few units with large or fractional counts. If all denominators are equal, the sums of each half of the units are
# listed separately and the two lists are combined; otherwise every exchange is listed. Exchanges are counted in
# integers.

MOST_UNITS = 20
"""Units listed at once: 2^20 sums."""

_PART = 1 << 16


def halves(lattice: Lattice, extreme: Extreme, strict: bool) -> Fraction:
    """The probability of an exchange at least as extreme as observed, or more so if `strict`; equal denominators only.

    It works for up to 2 · MOST_UNITS differing units and sorts a list of 2^(units / 2) sums.
    """
    x = np.repeat(lattice.x, lattice.count)
    least = lattice.least_x(0, extreme, strict)
    if least is None:
        return Fraction(0)
    first, second = np.sort(_sums(x[0::2])), np.sort(_sums(x[1::2]))
    # For each sum of the first half, how many sums of the second half reach the bound together with it.
    reached = second.size - np.searchsorted(second, least - first, side="left")
    return Fraction(int(reached.sum()), 1 << x.size)


def enumerate_exchanges(lattice: Lattice, extreme: Extreme, strict: bool) -> Fraction:
    """The same for any denominators and up to MOST_UNITS differing units."""
    x, y = np.repeat(lattice.x, lattice.count), np.repeat(lattice.y, lattice.count)
    sums_x, sums_y = _sums(x), _sums(y)
    values = np.unique(sums_y)
    bounds = []
    for value in values.tolist():
        least = lattice.least_x(value, extreme, strict)
        bounds.append(lattice.top_x + 1 if least is None else min(max(least, -lattice.top_x), lattice.top_x + 1))
    reached = 0
    limits = np.array(bounds)
    for start in range(0, sums_x.size, _PART):
        part = slice(start, start + _PART)
        reached += int(np.count_nonzero(sums_x[part] >= limits[np.searchsorted(values, sums_y[part])]))
    return Fraction(reached, 1 << x.size)


def _sums(steps: Integers) -> Integers:
    """Σ ε·step for all 2^steps choices of signs."""
    sums = np.zeros(1, dtype=np.int64)
    for step in steps.tolist():
        sums = np.concatenate((sums + step, sums - step))
    return sums
