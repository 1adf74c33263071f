"""Compare systems over several test sets as Demšar (2006) does: mean ranks, Friedman's test, and for pairs Wilcoxon's
signed-rank test with Holm's adjustment or Nemenyi's critical difference.

Each test set counts as one observation of every system, whatever its size. This module must not know the names of
systems or test sets.
"""

from __future__ import annotations

from math import erf, pi, sqrt

import numpy as np
from msgspec import Struct

from warehouse.significance.analytic.beta import chi_square_tail
from warehouse.significance.analytic.matched import wilcoxon
from warehouse.significance.multiple import holm
from warehouse.significance.paired import Booleans, Floats


class Friedman(Struct, frozen=True):
    """Friedman's statistic, corrected for ties, its degrees of freedom and its p by the chi-square distribution."""

    statistic: float
    degrees: int
    p: float


def ranks(values: Floats) -> Floats:
    """The rank of each system on each test set, 1 for the highest value; ties share their mean rank. Both arrays have
    the shape (systems, test sets).
    """
    above = (values[None, :, :] > values[:, None, :]).sum(axis=1)
    equal = (values[None, :, :] == values[:, None, :]).sum(axis=1)
    return np.asarray(above + (equal + 1) / 2, dtype=np.float64)


def friedman(values: Floats) -> Friedman:
    """Friedman's (1937) test of the hypothesis that all systems are equally good, on values of shape (systems, test
    sets).

    Raises ValueError for fewer than two systems or test sets. If all systems tie on all test sets, the statistic is 0.
    """
    systems, test_sets = values.shape
    if systems < 2 or test_sets < 2:
        raise ValueError(f"Friedman's test needs at least two systems and two test sets, not {systems} and {test_sets}")
    of_systems = ranks(values)
    middle = (systems + 1) / 2
    between = test_sets * float(((of_systems.mean(axis=1) - middle) ** 2).sum())
    within = float(((of_systems - middle) ** 2).sum()) / (test_sets * (systems - 1))
    statistic = between / within if within > 0 else 0.0
    return Friedman(statistic, systems - 1, chi_square_tail(statistic, systems - 1))


def wilcoxon_holm(values: Floats, level: float) -> Booleans:
    """Which system is better than which by Wilcoxon's signed-rank test over the test sets, two-sided and adjusted by
    Holm over all pairs; of shape (systems, systems).
    """
    systems = len(values)
    first, second = np.triu_indices(systems, 1)
    differences = values[first] - values[second]
    significant = holm([wilcoxon(of_pair).p for of_pair in differences]) <= level
    # One-sided p is at most 1/2 for the system with the larger rank sum.
    ahead = np.array([wilcoxon(of_pair, "one-sided").p <= 0.5 for of_pair in differences])
    better = np.zeros((systems, systems), dtype=np.bool_)
    better[first, second] = significant & ahead
    better[second, first] = significant & ~ahead
    return better


def critical_difference(systems: int, test_sets: int, level: float) -> float:
    """The difference of mean ranks that is significant for all pairs simultaneously (Nemenyi 1963; Demšar 2006, section
    3.2.2): q·√(k(k + 1) / 6N), where q is the quantile of the studentized range divided by √2.
    """
    return range_quantile(level, systems) / sqrt(2) * sqrt(systems * (systems + 1) / (6 * test_sets))


def better_by(mean_ranks: Floats, difference: float) -> Booleans:
    """Which system is better than which: entry [a, b] says whether the mean rank of a is lower than that of b by at
    least `difference`; of shape (systems, systems).
    """
    # Mean ranks are multiples of 1 / 2N, which floating point does not hold exactly.
    return np.asarray(mean_ranks[None, :] - mean_ranks[:, None] >= difference * (1 - 1e-12))


# --- distributions ----------------------------------------------------------------------------------------------------


def range_quantile(tail: float, systems: int) -> float:
    """The value that the range of `systems` standard normal variables exceeds with probability `tail`: the upper
    quantile of the studentized range with infinitely many degrees of freedom.
    """
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _range_tail(middle, systems) > tail else (low, middle)
    return (low + high) / 2


def _range_tail(width: float, systems: int) -> float:
    """The probability of a range above `width`: 1 − k∫φ(z)·(Φ(z) − Φ(z − w))^(k − 1) dz, by the trapezium rule, which
    converges faster than any power of the step for such functions.
    """
    z = np.linspace(-9.0, 9.0 + min(width, 9.0), 1201)
    upper, lower = _normal(z), _normal(z - width)
    density = np.exp(-z * z / 2) / sqrt(2 * pi)
    integrand = systems * density * np.clip(upper - lower, 0.0, 1.0) ** (systems - 1)
    return 1.0 - float(integrand.sum() * (z[1] - z[0]))


def _normal(z: Floats) -> Floats:
    """The normal distribution function."""
    return np.array([0.5 * (1 + erf(float(value) / sqrt(2))) for value in z])
