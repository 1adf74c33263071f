"""The differences of a pair of systems as whole steps on the smallest lattice that holds all their signed sums.

With signs ε = ±1, u = Σ ε·(N_A − N_B) and v = Σ ε·(D_A − D_B) can only be u = across·X + slant·Y and v = down·Y, where
X = Σ ε·x and Y = Σ ε·y are sums of small integers. Common factors are divided out, in any combination of u and v, and X
and Y are made nearly uncorrelated. So a table over (X, Y) is as small as the data allow.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from msgspec import Struct

from warehouse.significance.distinct import Distinct
from warehouse.significance.extreme import Extreme
from warehouse.significance.paired import Integers


class Lattice(Struct, frozen=True, eq=False):
    """The steps x and y and the number of units with each, all of shape (distinct,). The module docstring defines the
    other fields.

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
