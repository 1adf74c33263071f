"""The contribution of each exchange unit to the difference of two systems. The contributions add up to the difference.

For a ratio N / D the difference is divided between numerators and denominators as Kitagawa (1955) decomposes a
difference of rates; this is the Shapley value of the two. What a unit adds to the numerator is multiplied by the mean
of 1 / D, and what it adds to the denominator by the mean of N times the difference of 1 / D. For other functions of
sums each count is multiplied by the mean of its derivative on the straight line from the sums of one system to those of
the other (Aumann and Shapley 1974). In both cases a unit in which the systems do not differ contributes 0. If all
denominators are equal, a unit contributes its difference divided by the number of units.
"""

from __future__ import annotations

from math import pi

import numpy as np

from warehouse.significance.bootstrap.standard_errors import numerical_gradient
from warehouse.significance.paired import Floats
from warehouse.significance.sums import Sums

NODES = 1025
"""The number of points on the line at which derivatives are taken."""

REACH = 3.2
"""Sets how near the first and the last point are to the ends of the line: at exp(−π sinh 3.2), a share of about 10⁻¹⁷.
"""


def contributions(two: Sums) -> Floats:
    """The contribution of each unit to the value of the first system minus that of the second, of shape (units,),
    without the constant factor of a ratio. The contributions sum to the difference up to rounding. Raises ValueError
    unless there are exactly two systems.
    """
    if two.systems != 2:
        raise ValueError(f"a difference needs two systems, not {two.systems}")
    return _of_function(two) if two.is_function else _of_ratio(two)


def _of_ratio(two: Sums) -> Floats:
    """(ΔN · (D_A + D_B) − ΔD · (N_A + N_B)) / (2 · D_A · D_B)."""
    over = [int(row.sum()) for row in two.numerators]
    under = [int(row.sum()) for row in two.denominators]
    by_numerator = (under[0] + under[1]) / (2 * under[0] * under[1])
    by_denominator = (over[0] + over[1]) / (2 * under[0] * under[1])
    more, longer = two.numerators[0] - two.numerators[1], two.denominators[0] - two.denominators[1]
    return np.asarray(more * by_numerator - longer * by_denominator, dtype=np.float64)


def _of_function(two: Sums) -> Floats:
    sums = two.counts.sum(axis=2).astype(np.float64)
    way = sums[0] - sums[1]
    prices = _mean_gradient(two, sums[1], way)
    first, second = two.values()
    # If the quadrature leaves a remainder, for example where a function has a corner, it is shared among the counts
    # that differ.
    weights = way / np.maximum(np.maximum(np.abs(sums[0]), np.abs(sums[1])), 1.0) ** 2
    scale = float(weights @ way)
    if scale:
        prices = prices + weights * ((first - second - float(prices @ way)) / scale)
    return np.asarray(prices @ (two.counts[0] - two.counts[1]).astype(np.float64), dtype=np.float64)


def _mean_gradient(two: Sums, start: Floats, way: Floats) -> Floats:
    """The mean of the gradient on a straight line, of shape (columns,), by the double exponential rule (Takahasi and
    Mori 1974), which stays accurate if a root or a logarithm is steep at an end.
    """

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
"""The number of digits of a numerical derivative that are the same on every processor."""


def to_digits(derivatives: Floats) -> Floats:
    """Rounds derivatives to DIGITS significant digits, so that results computed from them do not depend on the
    processor.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(derivatives)))
        known = np.abs(places) < 300
        scale = 10.0 ** np.where(known, places, 0.0)
    return np.asarray(np.where(known, np.rint(derivatives * scale) / scale, derivatives), dtype=np.float64)
