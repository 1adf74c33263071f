"""Tests whether two systems differ by more than the replicates of one system differ among each other.

The replicates of both systems (seeds, epochs, folds) are redistributed into two groups of the original sizes. This is
the permutation test of two samples (Fisher 1935; Noreen 1989, chapter 2) for the difference of their means or Welch's
t. The documents are fixed, so the result does not generalize to other documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb, inf, isfinite, isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits, IntervalPlan
from evalhouse.warehouse.significance.bootstrap.resamples import between
from evalhouse.warehouse.significance.distributions import t_quantile
from evalhouse.warehouse.significance.draws import LABELS, RESAMPLES, Draws, Outcome, Sides, approximate, check_sides

MOST_DIVISIONS = 1_000_000
"""Up to this many ways to divide the replicates, all are enumerated."""

TIE = 1e-12
"""Differences that differ by less than this share of the largest value count as ties."""

CHUNK = 2048
"""The number of shuffles in a chunk. Changing it changes the results for a seed."""


def divisions(replicates_a: int, replicates_b: int) -> int:
    """The number of ways to divide the replicates of two systems into groups of the original sizes."""
    return comb(replicates_a + replicates_b, replicates_a)


def smallest(replicates_a: int, replicates_b: int, sides: Sides) -> float:
    """The smallest p that these numbers of replicates can reach. The opposite of the observed division is as extreme as
    the observed one, if it exists.
    """
    return (2 if sides == "two-sided" and replicates_a == replicates_b else 1) / divisions(replicates_a, replicates_b)


def replicate_test(
    values_a: Sequence[float],
    values_b: Sequence[float],
    draws: Draws | None = None,
    sides: Sides = "two-sided",
    studentized: bool = False,
) -> Outcome:
    """The p-value of the difference of the means of two systems' replicates, each of shape (replicates,).

    Without `draws` every division is counted, and p is the share of those whose difference is at least the observed
    one. The statistic is the observed difference; with `studentized` it is Welch's t, recomputed in every division, so
    that the replicates of one system may vary more than those of the other (Janssen 1997, Statistics & Probability
    Letters 36, 9-21). A division in which nothing varies then counts as extreme.

    Raises ValueError for a system without replicates, studentized for one with a single replicate, and for more
    divisions than can be counted.
    """
    check_sides(sides)
    if not len(values_a) or not len(values_b):
        raise ValueError("a system has no replicates")
    if studentized and min(len(values_a), len(values_b)) == 1:
        raise ValueError("a system has only one replicate, so its variation is unknown")
    values = np.array([*values_a, *values_b], dtype=np.float64)
    first = len(values_a)
    statistics = _welch if studentized else _differences
    observed = float(statistics(values, np.arange(first)[None])[0])
    if isnan(observed):
        observed = inf * float(np.sign(values[0] - values[first])) if values[0] != values[first] else 0.0
    size = abs(observed) if studentized else float(np.abs(values).max())
    least = (abs(observed) if sides == "two-sided" else observed) - (TIE * size if isfinite(size) else 0.0)

    def extreme(chosen: NDArray[np.intp]) -> int:
        found = statistics(values, chosen)
        # "not below" also counts divisions whose statistic is NaN.
        return int(np.count_nonzero(~((np.abs(found) if sides == "two-sided" else found) < least)))

    if draws is not None:
        nge = 0
        for chunk, used in draws.chunks(CHUNK):
            source = draws.generator(chunk, LABELS)
            nge += extreme(np.argsort(source.random((CHUNK, len(values)))[:used], axis=1)[:, :first])
        return approximate(nge, draws.shuffles)
    ways = divisions(first, len(values) - first)
    if ways > MOST_DIVISIONS:
        raise ValueError(f"the replicates can be divided in {ways:,} ways, too many to go through")
    chosen = np.fromiter(chain.from_iterable(combinations(range(len(values)), first)), dtype=np.intp)
    return Outcome(extreme(chosen.reshape(ways, first)) / ways, "exact", statistic=observed)


def _differences(values: Floats, chosen: NDArray[np.intp]) -> Floats:
    """The mean of the values at the chosen places, of shape (any, first), minus the mean of the others."""
    sums, first = values[chosen].sum(axis=1), chosen.shape[1]
    return np.asarray(sums / first - (values.sum() - sums) / (len(values) - first), dtype=np.float64)


def _welch(values: Floats, chosen: NDArray[np.intp]) -> Floats:
    """Welch's t of the same groups (Welch 1938); NaN where nothing varies."""
    size = float(np.abs(values).max())
    values = values - values.mean()
    values[np.abs(values) <= TIE * size] = 0
    first, second = chosen.shape[1], len(values) - chosen.shape[1]
    squares = (values**2)[chosen].sum(axis=1)
    sums = values[chosen].sum(axis=1)
    of_first = (squares - sums**2 / first) / (first * (first - 1))
    rest, left = (values**2).sum() - squares, values.sum() - sums
    of_second = (rest - left**2 / second) / (second * (second - 1))
    variance = of_first + of_second
    varies = variance > TIE * float((values**2).sum())
    error = np.sqrt(variance, out=np.ones_like(variance), where=varies)
    return np.asarray(np.divide(_differences(values, chosen), error, out=np.full_like(error, np.nan), where=varies))


def replicate_intervals(
    values: Sequence[Sequence[float]], pairs: Sequence[tuple[int, int]], plan: IntervalPlan, draws: Draws
) -> ConfidenceLimits:
    """The intervals of the differences of the means of systems, from the values of their replicates.

    Studentized intervals are Welch's (1947): the standard error uses the variance of each system's replicates and is
    multiplied by Student's t with the combined degrees of freedom. Other intervals lie between percentiles of
    differences of means, where the replicates of each system are resampled separately (Efron & Tibshirani 1993, chapter
    13). For any family of pairs the level is divided among its members.
    """
    share = plan.level if plan.family == "each" else plan.level / (plan.among or len(pairs))
    tail = share / 2 if plan.bounds == "both" else share
    found = np.array([_interval(values[a], values[b], plan, tail, draws) for a, b in pairs]).reshape(-1, 3).T
    none = np.full(len(pairs), np.nan)
    low = none if plan.bounds == "upper" else found[0]
    high = none if plan.bounds == "lower" else found[1]
    nothing = np.zeros(len(pairs), dtype=np.int64)
    drawn = 0 if plan.kind.studentizes else draws.shuffles
    return ConfidenceLimits(low, high, found[2], nothing, nothing, nothing.astype(np.bool_), drawn)


def _interval(
    values_a: Sequence[float], values_b: Sequence[float], plan: IntervalPlan, tail: float, draws: Draws
) -> tuple[float, float, float]:
    """Both limits and the standard error. If the two systems are swapped, only the signs change."""
    if tuple(values_a) < tuple(values_b):
        low, high, error = _interval(values_b, values_a, plan, tail, draws)
        return -high, -low, error
    first, second = (np.asarray(values, dtype=np.float64) for values in (values_a, values_b))
    parts = [float(of.var(ddof=1)) / len(of) if len(of) > 1 else np.nan for of in (first, second)]
    error = sqrt(sum(parts))
    if plan.kind.studentizes:
        if not error > 0:
            return np.nan, np.nan, error
        degrees = sum(parts) ** 2 / sum(
            part**2 / (len(of) - 1) for part, of in zip(parts, (first, second), strict=True)
        )
        difference, half = float(first.mean() - second.mean()), t_quantile(tail, degrees) * error
        return difference - half, difference + half, error
    source = draws.generator(0, RESAMPLES)
    means = [of[source.integers(0, len(of), (draws.shuffles, len(of)))].mean(axis=1) for of in (first, second)]
    return *between(np.sort(means[0] - means[1]), (tail, tail)), error
