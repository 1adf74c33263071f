"""Approximate randomization of any function of summed counts, for measures that are no ratio of linear forms.

The coins are those of `randomization`, so such a measure meets the same shuffles as the others. Its values are floating
point; wherever they leave a doubt whether a shuffle ties with what was observed, the caller's exact function decides.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from warehouse.significance.bootstrap import resampled
from warehouse.significance.outcome import Outcome, Sides, approximate, check_shuffles, check_sides
from warehouse.significance.paired import Integers
from warehouse.significance.parallel import in_order
from warehouse.significance.shuffles import coins
from warehouse.significance.shuffles.coins import Stream
from warehouse.significance.shuffles.randomization import Tick

Values = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From sums of shape (columns, shuffles) to values of shape (shuffles,), NaN where undefined."""

Exact = Callable[[tuple[int, ...]], Fraction | None]
"""From the sums of the columns to the value, None where it is undefined."""

DOUBT = 1e-9
"""Differences nearer than this share of the larger value are decided exactly."""

_EXACT_SUMS = 2**53


def pair(
    counts_a: Integers,
    counts_b: Integers,
    values: Values,
    exact: Exact,
    shuffles: int,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
    tick: Tick | None = None,
    threads: int = 1,
) -> Outcome:
    """Randomization of two systems whose counts have the shape (columns, units).

    A pseudo system whose value is undefined counts with 0. Raises ValueError where the value of a system is undefined,
    and where the sums are too large to be exact in floating point.
    """
    check_shuffles(shuffles)
    check_sides(sides)
    totals = (counts_a + counts_b).sum(axis=1)
    if int(np.abs(counts_a).sum()) + int(np.abs(counts_b).sum()) >= _EXACT_SUMS:
        raise ValueError("the counts sum to 2^53 or more")
    observed = [exact(tuple(int(total) for total in counts.sum(axis=1))) for counts in (counts_a, counts_b)]
    first, second = observed
    if first is None or second is None:
        raise ValueError("the measure of a system is undefined")
    difference = first - second
    differing = (counts_a != counts_b).any(axis=0)
    if not differing.any():
        return approximate(shuffles, shuffles)
    decider = _Decider(values, exact, difference, totals, sides)
    # Of shape (units, columns): what the first system loses where a unit changes places.
    losses = (counts_a - counts_b).T.astype(np.float64)
    start = counts_a.sum(axis=1).astype(np.float64)[:, None]
    units = losses.shape[0]

    def shuffled(numbered: tuple[int, int]) -> tuple[int, int]:
        chunk, used = numbered
        lost = np.zeros((losses.shape[1], used))
        for row, block in coins.blocks(units, seed, stream, chunk, used):
            for place, line in enumerate(block):
                eight = losses[8 * (row + place) : 8 * (row + place) + 8]
                bits = np.unpackbits(line[None, :], axis=0, count=len(eight), bitorder="little")
                lost += eight.T @ bits
        return decider.count(start - lost), used

    nge = done = 0
    for reached, used in in_order(shuffled, coins.chunks(shuffles), threads):
        nge += reached
        done += used
        if tick is not None:
            tick(done)
    return approximate(nge, shuffles)


def interval(
    counts_a: Integers,
    counts_b: Integers,
    values: Values,
    resamples: int = 2000,
    seed: int = 1992,
    stream: Stream = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """The percentile bootstrap interval of the difference, over the resamples of `bootstrap`; undefined values count
    0.
    """
    units = counts_a.shape[1]
    differences = []
    for drawn in resampled(units, None, resamples, seed, stream):
        a, b = (np.nan_to_num(values(counts.astype(np.float64) @ drawn.T)) for counts in (counts_a, counts_b))
        differences.append(a - b)
    low, high = np.quantile(np.concatenate(differences), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


class _Decider:
    """Counts the shuffles that are at least as extreme as what was observed, given the sums of the first pseudo
    system.
    """

    def __init__(self, values: Values, exact: Exact, difference: Fraction, totals: Integers, sides: Sides) -> None:
        self.values = values
        self.exact = exact
        self.two_sided = sides == "two-sided"
        self.least = abs(difference) if self.two_sided else difference
        self.totals = totals

    def count(self, sums: NDArray[np.float64]) -> int:
        """Of sums of shape (columns, shuffles)."""
        a = np.nan_to_num(self.values(sums))
        b = np.nan_to_num(self.values(self.totals[:, None] - sums))
        found = np.abs(a - b) if self.two_sided else a - b
        least = float(self.least)
        doubt = DOUBT * np.maximum(np.maximum(np.abs(a), np.abs(b)), abs(least))
        clear = np.count_nonzero(found > least + doubt)
        near = np.flatnonzero(np.abs(found - least) <= doubt)
        if not near.size:
            return int(clear)
        distinct, times = np.unique(sums[:, near], axis=1, return_counts=True)
        ties = sum(
            int(count)
            for column, count in zip(distinct.T, times, strict=True)
            if self._extreme(column.astype(np.int64))
        )
        return int(clear) + ties

    def _extreme(self, sums: Integers) -> bool:
        a = self.exact(tuple(int(each) for each in sums)) or Fraction(0)
        b = self.exact(tuple(int(each) for each in self.totals - sums)) or Fraction(0)
        return (abs(a - b) if self.two_sided else a - b) >= self.least
