"""Whether two systems differ by more than the runs of one system differ among each other.

The runs of both systems (seeds, epochs, folds) are divided anew into groups as large as they were, which is the
permutation test of two samples (Fisher 1935; Noreen 1989, chapter 2). The documents stay as they are: nothing is said
of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from warehouse.significance.outcome import Outcome, Sides, approximate, check_shuffles, check_sides
from warehouse.significance.paired import Floats
from warehouse.significance.shuffles import coins
from warehouse.significance.shuffles.coins import Stream

MOST_DIVISIONS = 1_000_000
"""Up to so many ways to divide the runs, all are gone through."""

TIE = 1e-12
"""Differences nearer than this share of the largest value count as ties."""

CHUNK = 2048
"""Shuffles in a chunk. Part of what the seed means."""


def divisions(runs_a: int, runs_b: int) -> int:
    """In how many ways the runs of two systems can be divided into groups as large as they were."""
    return comb(runs_a + runs_b, runs_a)


def smallest(runs_a: int, runs_b: int, sides: Sides) -> float:
    """The smallest level that so many runs can reach: the division opposite to the observed one is as extreme, where
    there is one."""
    return (2 if sides == "two-sided" and runs_a == runs_b else 1) / divisions(runs_a, runs_b)


def pair(
    values_a: Sequence[float],
    values_b: Sequence[float],
    shuffles: int | None = None,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
) -> Outcome:
    """The significance level of the difference of the means of two systems' runs, each of shape (runs,).

    Without `shuffles` every division is counted, and p is the share of those whose difference is at least the observed
    one. The statistic is the observed difference. Raises ValueError for a system without runs, for fewer than one
    shuffle, and for more divisions than can be counted.
    """
    check_sides(sides)
    if not len(values_a) or not len(values_b):
        raise ValueError("a system has no run")
    values = np.array([*values_a, *values_b], dtype=np.float64)
    first = len(values_a)
    observed = float(values[:first].mean() - values[first:].mean())
    least = (abs(observed) if sides == "two-sided" else observed) - TIE * float(np.abs(values).max())

    def extreme(sums: Floats) -> int:
        differences = sums / first - (values.sum() - sums) / (len(values) - first)
        return int(np.count_nonzero((np.abs(differences) if sides == "two-sided" else differences) >= least))

    if shuffles is not None:
        check_shuffles(shuffles)
        nge = 0
        for chunk, used in coins.chunks(shuffles, CHUNK):
            source = coins.generator(seed, stream, chunk, purpose=coins.LABELS)
            order = np.argsort(source.random((CHUNK, len(values)))[:used], axis=1)[:, :first]
            nge += extreme(values[order].sum(axis=1))
        return approximate(nge, shuffles)
    ways = divisions(first, len(values) - first)
    if ways > MOST_DIVISIONS:
        raise ValueError(f"the runs can be divided in {ways:,} ways, too many to go through")
    chosen = np.fromiter((run for some in combinations(range(len(values)), first) for run in some), dtype=np.intp)
    return Outcome(extreme(values[chosen.reshape(ways, first)].sum(axis=1)) / ways, "exact", statistic=observed)


def interval(
    values_a: Sequence[float],
    values_b: Sequence[float],
    resamples: int = 2000,
    seed: int = 1992,
    stream: Stream = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """The percentile bootstrap interval of the difference of the means, over the runs of each system by itself."""
    check_shuffles(resamples)
    source = coins.generator(seed, stream, 0, purpose=coins.RESAMPLES)
    means = []
    for values in (np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)):
        means.append(values[source.integers(0, len(values), (resamples, len(values)))].mean(axis=1))
    low, high = np.quantile(means[0] - means[1], ((1 - level) / 2, (1 + level) / 2))
    return float(low), float(high)
