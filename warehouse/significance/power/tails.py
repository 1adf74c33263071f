"""The exact p of many samples at once, or a close approximation: by enumeration for few units, and for many units by
the moments of the distribution that fair coins give to a sum of differences.

That distribution is symmetric and its fourth cumulant is −2·Σd⁴, so Edgeworth's first term suffices from about a dozen
units on. If all differences are multiples of a step, a continuity correction of half the distance between neighbouring
sums is applied.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, erfc, sqrt

import numpy as np

from warehouse.significance.outcome import Sides
from warehouse.significance.paired import Floats, Integers

ENUMERATED = 12
"""If no more units than this differ in a sample, all its exchanges are counted."""

PATTERNS: Floats = np.where((np.arange(2 ** (ENUMERATED - 1))[:, None] >> np.arange(ENUMERATED)) & 1, -1.0, 1.0)
"""All exchanges of ENUMERATED units up to reversal, as signs of shape (exchanges, units). For fewer units each exchange
occurs equally often.
"""

_COUNTED = 1000
"""For up to this many units with differences of one size, exchanges are counted."""

_erfc = np.frompyfunc(erfc, 1, 1)


def normal_levels(standardized: Floats, kurtosis: Floats | float, step: Floats | float, sides: Sides) -> Floats:
    """p of differences that are given in standard deviations under exchanges. `kurtosis` is Σd⁴ / (Σd²)², and `step` is
    half of the distance between neighbouring values in the same units; all arrays have one shape.
    """
    z = (np.abs(standardized) if sides == "two-sided" else standardized) - step
    tail = np.asarray(_erfc(z / sqrt(2)), dtype=np.float64) / 2
    tail -= np.exp(-z * z / 2) / sqrt(2 * np.pi) * (kurtosis / 12) * (z**3 - 3 * z)
    if sides == "two-sided":
        tail *= 2
    return np.clip(tail, 0.0, 1.0)


def binomial_levels(ahead: Integers, differing: Integers, sides: Sides) -> Floats:
    """p if one system is better in `ahead` of the `differing` units and all differences have one size; arrays of one
    shape.
    """
    most = np.maximum(ahead, differing - ahead) if sides == "two-sided" else ahead
    many = np.maximum(differing, 1)
    levels = normal_levels((2 * most - differing) / np.sqrt(many), 1 / many, 1 / np.sqrt(many), "one-sided")
    for units in np.unique(differing[differing <= _COUNTED]).tolist():
        here = differing == units
        levels[here] = _tails(units)[most[here]]
    return np.minimum(1.0, 2 * levels) if sides == "two-sided" else levels


@lru_cache(maxsize=_COUNTED + 1)
def _tails(units: int) -> Floats:
    """The probability of at least 0, 1, … heads among `units` fair coins."""
    ways, total = [], 0
    for ahead in range(units, -1, -1):
        total += comb(units, ahead)
        ways.append(total)
    return np.array([count / 2**units for count in reversed(ways)])
