"""What each exchange unit contributes to the difference of two systems, so that the contributions add up to it.

For a ratio N / D the difference is parted between numerators and denominators as Kitagawa (1955) parts a difference of
rates, which is the Shapley value of the two: what a unit adds to the numerator counts with the mean of 1 / D, what it
adds to the denominator with the mean of N times the difference of 1 / D. For other functions of sums each count has the
mean of its derivative on the way from the sums of one system to those of the other, as Aumann and Shapley (1974) price
goods. Either way a unit in which the systems do not differ contributes nothing, and where all denominators are equal a
unit contributes its difference over the number of units.
"""

from __future__ import annotations

from math import pi

import numpy as np

from warehouse.significance.bootstrap.standard_errors import numerical_gradient
from warehouse.significance.paired import Floats, Many
from warehouse.significance.valuation import ManyCounts, ManySystems

NODES = 1025
"""At how many places of the way derivatives are taken."""

REACH = 3.2
"""How near the ends of the way the first and the last place are: at exp(−π sinh 3.2), a share of about 10⁻¹⁷."""


def contributions(two: ManySystems) -> Floats:
    """What each unit adds to the value of the first system less that of the second, but for the factor of a ratio; of
    shape (units,). They sum to that difference but for rounding. Raises ValueError for other than two systems.
    """
    if two.systems != 2:
        raise ValueError(f"a difference needs two systems, not {two.systems}")
    return _of_function(two) if isinstance(two, ManyCounts) else _of_ratio(two)


def _of_ratio(two: Many) -> Floats:
    """(ΔN · (D_A + D_B) − ΔD · (N_A + N_B)) / (2 · D_A · D_B)."""
    over = [int(row.sum()) for row in two.numerators]
    under = [int(row.sum()) for row in two.denominators]
    by_numerator = (under[0] + under[1]) / (2 * under[0] * under[1])
    by_denominator = (over[0] + over[1]) / (2 * under[0] * under[1])
    more, longer = two.numerators[0] - two.numerators[1], two.denominators[0] - two.denominators[1]
    return np.asarray(more * by_numerator - longer * by_denominator, dtype=np.float64)


def _of_function(two: ManyCounts) -> Floats:
    sums = two.counts.sum(axis=2).astype(np.float64)
    way = sums[0] - sums[1]
    prices = _mean_gradient(two, sums[1], way)
    first, second = two.values()
    # What the sum over places leaves over, as where a function has a corner, goes with the counts that differ.
    weights = way / np.maximum(np.maximum(np.abs(sums[0]), np.abs(sums[1])), 1.0) ** 2
    scale = float(weights @ way)
    if scale:
        prices = prices + weights * ((first - second - float(prices @ way)) / scale)
    return np.asarray(prices @ (two.counts[0] - two.counts[1]).astype(np.float64), dtype=np.float64)


def _mean_gradient(two: ManyCounts, start: Floats, way: Floats) -> Floats:
    """The mean of the gradient on a straight way, of shape (columns,), by the double exponential rule (Takahasi and
    Mori 1974), which does not mind a root or a logarithm that is steep at an end."""

    def value(sums: Floats) -> Floats:
        return two.valuation.values(sums[0])[None]

    places = np.linspace(-REACH, REACH, NODES)
    share = 1 / (1 + np.exp(-pi * np.sinh(places)))
    weights = np.cosh(places) * share * (1 - share)
    sums = start[:, None] + way[:, None] * share
    gradient = numerical_gradient(value, sums[None], two.units)[0]
    weights = np.where(np.isfinite(gradient).all(axis=0), weights, 0.0)
    if not weights.any():
        return np.zeros_like(start)
    return to_digits((np.where(weights > 0, gradient, 0.0) @ weights) / weights.sum())


DIGITS = 8
"""So many digits of a derivative by differences are the same on every processor."""


def to_digits(derivatives: Floats) -> Floats:
    """Derivatives to DIGITS significant digits, so that no later digit of what follows depends on the processor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(derivatives)))
        known = np.abs(places) < 300
        scale = 10.0 ** np.where(known, places, 0.0)
    return np.asarray(np.where(known, np.rint(derivatives * scale) / scale, derivatives), dtype=np.float64)
