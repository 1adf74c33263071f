"""Tests on the differences of matched pairs: sign, Wilcoxon, t and McNemar.

They use one number per unit, the value of the first system minus that of the second. So they need a measure whose
denominator is the same for both systems in every unit (Yeh 2000, section 3.2); `differences` checks that. The sign and
Wilcoxon tests ignore units without a difference. If no unit differs, p is 1.
"""

from __future__ import annotations

from math import frexp, ldexp, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalhouse.warehouse.significance.arrays import Floats, Integers
from evalhouse.warehouse.significance.distributions import binomial_tail, normal_tail, t_tail
from evalhouse.warehouse.significance.draws import Outcome, Sides, check_sides
from evalhouse.warehouse.significance.sums import Sums

EXACT_UNITS = 1000
"""Up to this many units that differ, Wilcoxon's distribution is exact, with ties or without. The number of ways of
choosing signs, 2**1000, still fits into a double."""


def differences(paired: Sums) -> Integers:
    """The numerators of the first system minus those of the second, of shape (units,).

    Since the denominators are equal, the sum of these is proportional to the difference of the measures. Raises
    ValueError if the denominators differ in a unit.
    """
    numerator, denominator = paired.differences()
    if denominator.any():
        raise ValueError("a matched-pair test needs equal denominators in every unit, and the denominators differ")
    return numerator


def settle_ties(values_a: Floats, values_b: Floats, doubts: Floats) -> Floats:
    """The differences of rounded values, where differences that only rounding distinguishes are made equal; all arrays
    have the shape (units,).

    `doubts` bounds the error of each difference; it is ignored where the two values are equal. Neighbours in the order
    of absolute size are ties if they differ by no more than the sum of their doubts. Differences tied to 0 become 0.
    """
    differences = values_a - values_b
    sizes, doubts = np.abs(differences), np.where(differences == 0, 0.0, doubts)
    order = np.argsort(sizes, kind="stable")
    ranked, off = np.append(0.0, sizes[order]), np.append(0.0, doubts[order])
    new = np.append(True, np.diff(ranked) > off[1:] + off[:-1])
    tied = np.empty_like(sizes)
    tied[order] = ranked[new][np.cumsum(new) - 1][1:]
    return np.asarray(np.copysign(tied, differences), dtype=np.float64)


def sign(differences: ArrayLike, sides: Sides = "two-sided") -> Outcome:
    """The sign test of differences of shape (units,): exact, by the binomial distribution of wins among the units that
    differ (Conover 1999, Practical nonparametric statistics, section 3.4). The statistic is the number of units in
    which the first system is ahead.
    """
    values = _values(differences)
    return _binomial(int(np.count_nonzero(values > 0)), int(np.count_nonzero(values < 0)), sides)


def mcnemar(only_first: int, only_second: int, sides: Sides = "two-sided") -> Outcome:
    """McNemar's test, exact: items that only the first system has right against those that only the second has (McNemar
    1947, Psychometrika 12, 153-157). The statistic is the first of the two numbers. Raises ValueError where one is
    negative.
    """
    if only_first < 0 or only_second < 0:
        raise ValueError(f"numbers of items cannot be negative: {only_first}, {only_second}")
    return _binomial(only_first, only_second, sides)


def wilcoxon(differences: ArrayLike, sides: Sides = "two-sided") -> Outcome:
    """Wilcoxon's signed-rank test of differences of shape (units,) (Wilcoxon 1945, Biometrics Bulletin 1, 80-83).

    Zeros are left out and ties share their mean rank. Given these ranks every choice of signs is counted where at most
    EXACT_UNITS units differ; otherwise p is that of the normal approximation, its variance corrected for ties, without
    correction for continuity (as in scipy.stats.wilcoxon). The statistic is the smaller of the two rank sums, one-sided
    that of the units in which the first system is ahead.
    """
    check_sides(sides)
    values = _values(differences)
    values = values[values != 0]
    units = int(values.size)
    if not units:
        return Outcome(1.0, "exact", statistic=0.0)
    _, place, ties = np.unique(np.abs(values), return_inverse=True, return_counts=True)
    doubled = (2 * np.cumsum(ties) - ties + 1)[place]  # twice the mean ranks, which are whole or half
    wins = int(doubled[values > 0].sum())
    total = units * (units + 1)
    upper = wins if sides == "one-sided" else max(wins, total - wins)
    statistic = wins / 2 if sides == "one-sided" else (total - upper) / 2
    if units <= EXACT_UNITS:
        p = _signed_sum_tail(doubled, upper)
        return Outcome(p if sides == "one-sided" else min(1.0, 2 * p), "exact", statistic=statistic)
    float_ties = ties.astype(np.float64)
    variance = units * (units + 1) * (2 * units + 1) / 24 - float((float_ties**3 - float_ties).sum()) / 48
    p = normal_tail((upper / 2 - total / 4) / sqrt(variance))
    return Outcome(p if sides == "one-sided" else min(1.0, 2 * p), "analytic", statistic=statistic)


def t(differences: ArrayLike, sides: Sides = "two-sided") -> Outcome:
    """Student's t test of differences of shape (units,) with units − 1 degrees of freedom (Student 1908, Biometrika 6,
    1-25); the statistic is t.

    Raises ValueError for fewer than two units, and for a difference that is the same in every unit and not 0: it has no
    variance to divide by.
    """
    check_sides(sides)
    values = scale_values(_values(differences).astype(np.float64))
    if values.size < 2:
        raise ValueError(f"a t test needs at least two units, not {values.size}")
    mean = float(values.mean())
    if not values.any():
        return Outcome(1.0, "analytic", statistic=0.0)
    if values.min() == values.max():
        raise ValueError("the difference is the same in every unit, so there is no variance to divide by")
    return from_t(mean / (float(values.std(ddof=1)) / sqrt(values.size)), values.size - 1, sides)


def scale_values(values: Floats) -> Floats:
    """Values times the power of two that brings the largest near 1, because squares of very small values would
    underflow to 0. This changes no digit of the values, and it does not change t.
    """
    return np.asarray(np.ldexp(values, -frexp(float(np.abs(values).max(initial=0.0)))[1]), dtype=np.float64)


def from_t(statistic: float, degrees: float, sides: Sides) -> Outcome:
    """The outcome for a t statistic with `degrees` degrees of freedom."""
    p = t_tail(statistic, degrees) if sides == "one-sided" else 2 * t_tail(abs(statistic), degrees)
    return Outcome(min(1.0, p), "analytic", statistic=statistic)


def _values(differences: ArrayLike) -> NDArray[Any]:
    values = np.asarray(differences)
    if values.ndim != 1:
        raise ValueError(f"differences have {values.ndim} dimensions and need 1")
    if not np.isfinite(values).all():
        raise ValueError("a difference is not a number")
    return values


def _binomial(wins: int, losses: int, sides: Sides) -> Outcome:
    check_sides(sides)
    units = wins + losses
    if sides == "one-sided":
        return Outcome(binomial_tail(wins, units), "exact", statistic=float(wins))
    p = min(1.0, 2 * binomial_tail(max(wins, losses), units))
    return Outcome(p, "exact", statistic=float(wins))


def _signed_sum_tail(sizes: NDArray[np.int64], least: int) -> float:
    """The probability that the sum of the sizes, of shape (units,), is at least `least` if a fair coin decides for each
    size whether it counts.

    Counted are the ways to a sum of at most Σ sizes − least, which are as many: the other sides of the coins. They are
    whole numbers, exact up to 2**53; beyond, additions of positive numbers lose at most `units` roundings.
    """
    step = int(np.gcd.reduce(sizes))
    most = (int(sizes.sum()) - least) // step
    ways, reached = np.zeros(most + 1), 0
    ways[0] = 1.0
    for size in np.sort(sizes // step).tolist():
        reached = min(reached + size, most)
        ways[size : reached + 1] += ways[: max(reached + 1 - size, 0)]
    return ldexp(float(ways.sum()), -len(sizes))
