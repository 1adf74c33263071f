"""Whether two systems differ by more than the replicates of one system differ among each other.

The replicates of both systems (seeds, epochs, folds) are divided anew into groups as large as they were, which is the
permutation test of two samples (Fisher 1935; Noreen 1989, chapter 2). The documents stay as they are: nothing is said
of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import comb

import numpy as np

from warehouse.significance.draws import LABELS, RESAMPLES, Draws
from warehouse.significance.outcome import Outcome, Sides, approximate, check_sides
from warehouse.significance.paired import Floats

MOST_DIVISIONS = 1_000_000
"""Up to so many ways to divide the replicates, all are gone through."""

TIE = 1e-12
"""Differences nearer than this share of the largest value count as ties."""

CHUNK = 2048
"""Shuffles in a chunk. Part of what the seed means."""


def divisions(replicates_a: int, replicates_b: int) -> int:
    """In how many ways the replicates of two systems can be divided into groups as large as they were."""
    return comb(replicates_a + replicates_b, replicates_a)


def smallest(replicates_a: int, replicates_b: int, sides: Sides) -> float:
    """The smallest level that so many replicates can reach: the division opposite to the observed one is as extreme,
    where there is one."""
    return (2 if sides == "two-sided" and replicates_a == replicates_b else 1) / divisions(replicates_a, replicates_b)


def replicate_test(
    values_a: Sequence[float], values_b: Sequence[float], draws: Draws | None = None, sides: Sides = "two-sided"
) -> Outcome:
    """The significance level of the difference of the means of two systems' replicates, each of shape (replicates,).

    Without `draws` every division is counted, and p is the share of those whose difference is at least the observed
    one. The statistic is the observed difference. Raises ValueError for a system without replicates and for more
    divisions than can be counted.
    """
    check_sides(sides)
    if not len(values_a) or not len(values_b):
        raise ValueError("a system has no replicate")
    values = np.array([*values_a, *values_b], dtype=np.float64)
    first = len(values_a)
    observed = float(values[:first].mean() - values[first:].mean())
    least = (abs(observed) if sides == "two-sided" else observed) - TIE * float(np.abs(values).max())

    def extreme(sums: Floats) -> int:
        differences = sums / first - (values.sum() - sums) / (len(values) - first)
        return int(np.count_nonzero((np.abs(differences) if sides == "two-sided" else differences) >= least))

    if draws is not None:
        nge = 0
        for chunk, used in draws.chunks(CHUNK):
            source = draws.generator(chunk, LABELS)
            order = np.argsort(source.random((CHUNK, len(values)))[:used], axis=1)[:, :first]
            nge += extreme(values[order].sum(axis=1))
        return approximate(nge, draws.shuffles)
    ways = divisions(first, len(values) - first)
    if ways > MOST_DIVISIONS:
        raise ValueError(f"the replicates can be divided in {ways:,} ways, too many to go through")
    chosen = np.fromiter(chain.from_iterable(combinations(range(len(values)), first)), dtype=np.intp)
    return Outcome(extreme(values[chosen.reshape(ways, first)].sum(axis=1)) / ways, "exact", statistic=observed)


def replicate_interval(
    values_a: Sequence[float], values_b: Sequence[float], draws: Draws, level: float = 0.95
) -> tuple[float, float]:
    """The percentile bootstrap interval of the difference of the means, over the replicates of each system by itself
    (Efron & Tibshirani 1993, chapter 13)."""
    source = draws.generator(0, RESAMPLES)
    means = []
    for values in (np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)):
        means.append(values[source.integers(0, len(values), (draws.shuffles, len(values)))].mean(axis=1))
    low, high = np.quantile(means[0] - means[1], ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)
