"""Tests that treat the results of two systems as independent samples: two-sample t, z and chi-square.

Results of two systems on the same test set are not independent, and if they are positively correlated these tests miss
differences that are there (Yeh 2000, section 2). They are provided for comparison only, and callers should say so.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from warehouse.significance.analytic.beta import chi_square_tail, normal_tail
from warehouse.significance.analytic.matched import from_t, scaled
from warehouse.significance.outcome import Outcome, Sides, check_sides

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def two_sample_t(values_a: ArrayLike, values_b: ArrayLike, sides: Sides = "two-sided") -> Outcome:
    """Student's t test of two samples of equal variance, each of shape (its units,) (Student 1908, Biometrika 6, 1-25);
    the statistic is t.

    Raises ValueError for fewer than three values in all or none in one sample, and where neither sample has any
    variance but the means differ.
    """
    check_sides(sides)
    together = scaled(np.concatenate((np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64))))
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
