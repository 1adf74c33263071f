"""Tests without exchange units: of independent samples, and of whole test sets.

This module must not know the names of systems or test sets.
"""

from __future__ import annotations

from math import erf, pi, sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.distributions import chi_square_tail, normal_tail
from evalhouse.warehouse.significance.draws import Outcome, Sides, check_sides
from evalhouse.warehouse.significance.matched import from_t, scale_values, wilcoxon
from evalhouse.warehouse.significance.multiple import holm

# === tests of independent samples =====================================================================================
# Two-sample t, z and chi-square, for comparison only; callers should say so. Results of two systems on the same test
# set are not independent, and if they are positively correlated these tests miss differences that are there (Yeh 2000,
# section 2).


def two_sample_t(values_a: ArrayLike, values_b: ArrayLike, sides: Sides = "two-sided") -> Outcome:
    """Student's t test of two samples of equal variance, each of shape (its units,) (Student 1908, Biometrika 6, 1-25);
    the statistic is t.

    Raises ValueError for fewer than three values in all or none in one sample, and where neither sample has any
    variance but the means differ.
    """
    check_sides(sides)
    together = scale_values(
        np.concatenate((np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)))
    )
    a, b = together[: np.size(values_a)], together[np.size(values_a) :]
    degrees = a.size + b.size - 2
    if not a.size or not b.size or degrees < 1:
        raise ValueError(f"a two-sample t test needs at least three values in two samples, not {a.size} and {b.size}")
    difference = float(a.mean() - b.mean())
    pooled = float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / degrees
    if a.min() == a.max() and b.min() == b.max():
        # Equal means have t = 0, whatever rounding errors suggest.
        if a[0] == b[0]:
            return Outcome(1.0, "analytic", statistic=0.0)
        raise ValueError("each system has the same value in every unit, so there is no variance to divide by")
    return from_t(difference / sqrt(pooled * (1 / a.size + 1 / b.size)), degrees, sides)


def z(hits_a: int, units_a: int, hits_b: int, units_b: int, sides: Sides = "two-sided") -> Outcome:
    """The z test of two proportions, hits / units, with a pooled variance; the statistic is z.

    Raises ValueError unless 0 ≤ hits ≤ units and units > 0 for both systems.
    """
    check_sides(sides)
    for hits, units in ((hits_a, units_a), (hits_b, units_b)):
        if units < 1 or not 0 <= hits <= units:
            raise ValueError(f"{hits} of {units} is not a proportion")
    share = (hits_a + hits_b) / (units_a + units_b)
    difference = hits_a / units_a - hits_b / units_b
    if hits_a * units_b == hits_b * units_a:
        # This includes the case that all or none are hits, where the variance is 0.
        return Outcome(1.0 if sides == "two-sided" or share in (0, 1) else 0.5, "analytic", statistic=0.0)
    statistic = difference / sqrt(share * (1 - share) * (1 / units_a + 1 / units_b))
    p = 2 * normal_tail(abs(statistic)) if sides == "two-sided" else normal_tail(statistic)
    return Outcome(p, "analytic", statistic=statistic)


def chi_square(
    relevant_a: int, spurious_a: int, relevant_b: int, spurious_b: int, sides: Sides = "two-sided"
) -> Outcome:
    """Pearson's chi-square of a 2 × 2 table of relevant and spurious answers, without Yates's correction.

    The statistic is χ² with one degree of freedom (Yeh 2000, COLING, section 2.2, for precision); the one-sided p is
    half of the two-sided p if the first system has the larger share of relevant answers, and 1 minus that half
    otherwise. A table with an empty row or column shows no difference. Raises ValueError for negative numbers.
    """
    check_sides(sides)
    if min(relevant_a, spurious_a, relevant_b, spurious_b) < 0:
        raise ValueError("numbers of answers cannot be negative")
    rows = (relevant_a + spurious_a, relevant_b + spurious_b)
    columns = (relevant_a + relevant_b, spurious_a + spurious_b)
    if 0 in (*rows, *columns):
        return Outcome(1.0, "analytic", statistic=0.0)
    cross = relevant_a * spurious_b - relevant_b * spurious_a
    statistic = cross * cross * (rows[0] + rows[1]) / (rows[0] * rows[1] * columns[0] * columns[1])
    p = chi_square_tail(statistic)
    if sides == "one-sided":
        p = p / 2 if cross >= 0 else 1 - p / 2
    return Outcome(p, "analytic", statistic=statistic)


# === tests over test sets =============================================================================================
# Systems over several test sets as Demšar (2006) compares them: mean ranks, Friedman's test, and for pairs Wilcoxon's
# signed-rank test with Holm's adjustment or Nemenyi's critical difference. Each test set counts as one observation of
# every system, whatever its size.


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
