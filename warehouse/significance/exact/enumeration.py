"""The exact significance level by listing sums, for few units with large or fractional counts.

If all denominators are equal, the sums of each half of the units are listed separately and the two lists are combined;
otherwise every exchange is listed. Exchanges are counted in integers.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from warehouse.significance.exact.lattice import Lattice
from warehouse.significance.extreme import Extreme
from warehouse.significance.paired import Integers

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


def listed(lattice: Lattice, extreme: Extreme, strict: bool) -> Fraction:
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
