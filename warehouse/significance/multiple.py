"""Many comparisons at once: adjusted significance levels, and two tests of a whole family of pairs.

`bonferroni`, `holm` and `benjamini_hochberg` need only the levels. `westfall_young` uses that all pairs are shuffled
with the same coins, and `tukey` permutes the systems' labels instead of exchanging pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from warehouse.significance.extreme import Extreme
from warehouse.significance.outcome import Sides, check_shuffles, check_sides
from warehouse.significance.paired import Floats, Integers, Many
from warehouse.significance.parallel import in_order
from warehouse.significance.shuffles import coins
from warehouse.significance.shuffles.all_pairs import Shuffler, Slice
from warehouse.significance.shuffles.coins import Stream
from warehouse.significance.shuffles.randomization import Tick

TIE = 1e-9
"""Statistics of different pairs that differ by less than this share count as ties: rounding must not break them."""

LABELS_CHUNK = 2048
"""Shuffles in a chunk of permuted labels. Part of what the seed means."""

Levels = Sequence[float | None] | NDArray[np.float64]


def bonferroni(levels: Levels) -> Floats:
    """Each level times the number of levels, at most 1; of shape (m,). None and nan give nan and are not counted."""
    known, adjusted = _known(levels)
    adjusted[known] = np.minimum(adjusted[known] * np.count_nonzero(known), 1.0)
    return adjusted


def holm(levels: Levels) -> Floats:
    """Holm's step-down adjustment (Holm 1979): of shape (m,), never above Bonferroni's. None and nan as there."""
    known, adjusted = _known(levels)
    order = np.argsort(adjusted[known], kind="stable")
    left = np.arange(order.size, 0, -1)
    stepped = np.maximum.accumulate(adjusted[known][order] * left)
    adjusted[np.flatnonzero(known)[order]] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(levels: Levels) -> Floats:
    """The false discovery rate adjustment (Benjamini & Hochberg 1995): of shape (m,). None and nan as above."""
    known, adjusted = _known(levels)
    order = np.argsort(adjusted[known], kind="stable")
    rank = np.arange(1, order.size + 1)
    stepped = np.minimum.accumulate((adjusted[known][order] * order.size / rank)[::-1])[::-1]
    adjusted[np.flatnonzero(known)[order]] = np.minimum(stepped, 1.0)
    return adjusted


def westfall_young(
    many: Many,
    pairs: Sequence[tuple[int, int]],
    shuffles: int,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
    tick: Tick | None = None,
) -> Floats:
    """Levels adjusted by the step-down maximum of statistics, of shape (pairs,) (Westfall & Young 1993).

    The coins are those of `randomization`, so that the statistics keep their dependence. A pair's statistic is its
    difference divided by the standard deviation of its null distribution to first order, 2·√Σ(S_D·ΔN − S_N·ΔD)² / S_D²,
    so that pairs of unlike systems weigh the same; for equal denominators that is the order of the t statistics. An
    adjusted level is never below the pair's own (nge + 1) / (shuffles + 1), and one pair's is that. Strong control
    needs that the joint distribution of the differences is symmetric where the systems do not differ. Raises ValueError
    for pairs that are not two of the systems.
    """
    check_sides(sides)
    check_shuffles(shuffles)
    for a, b in pairs:
        if a == b or not (0 <= a < many.systems and 0 <= b < many.systems):
            raise ValueError(f"systems {a} and {b} are no pair of {many.systems} systems")
    if not pairs:
        return np.zeros(0)
    family = _Family(many, pairs, sides)
    order = np.argsort(-family.observed, kind="stable")
    reached = np.zeros(len(pairs), dtype=np.int64)
    done = 0
    for part in family.shuffler.slices(shuffles, seed, stream):
        statistics = family.statistics(part)[order]
        # The largest of this pair's statistic and of those that were observed to be smaller.
        largest = np.maximum.accumulate(statistics[::-1], axis=0)[::-1]
        reached[order] += np.count_nonzero(largest >= family.bounds[order][:, None], axis=1)
        done += part.shuffles
        if tick is not None:
            tick(done)
    levels = (reached + 1.0) / (shuffles + 1)
    levels[order] = np.maximum.accumulate(levels[order])
    return levels


def tukey(
    many: Many,
    shuffles: int,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
    tick: Tick | None = None,
    threads: int = 1,
) -> Integers:
    """Randomized Tukey HSD (Carterette 2012): nge of every pair, of shape (systems, systems).

    In each unit the systems' tuples are permuted at random; nge counts the shuffles whose largest difference between
    two pseudo systems is at least that of the pair, and p = (nge + 1) / (shuffles + 1) holds for the whole family.
    One-sided, entry [a, b] counts against the signed difference of a less b, the largest difference being also the
    largest signed one. The diagonal is `shuffles`. Differences within 1e-9 of each other's size count as ties.
    """
    check_sides(sides)
    check_shuffles(shuffles)
    values = many.values()
    observed = values[:, None] - values[None, :]
    if sides == "two-sided":
        observed = np.abs(observed)
    bounds = observed - TIE * np.abs(observed) - _slack(many)
    nge = np.zeros((many.systems, many.systems), dtype=np.int64)
    labels = np.tile(np.arange(many.systems), (LABELS_CHUNK, 1))

    def ranged(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        source = coins.generator(seed, stream, chunk, purpose=coins.LABELS)
        tops = np.zeros((LABELS_CHUNK, many.systems), dtype=np.int64)
        bottoms = np.zeros_like(tops)
        for numerators, denominators in zip(many.numerators.T, many.denominators.T, strict=True):
            permuted = source.permuted(labels, axis=1)
            tops += numerators[permuted]
            bottoms += denominators[permuted]
        tops, bottoms = tops[:used], bottoms[:used]
        pseudo = np.divide(tops, bottoms, out=np.zeros(tops.shape), where=bottoms > 0)
        return np.sort(pseudo.max(axis=1) - pseudo.min(axis=1))

    done = 0
    for ranges in in_order(ranged, coins.chunks(shuffles, LABELS_CHUNK), threads):
        nge += len(ranges) - np.searchsorted(ranges, bounds, side="left")
        done += len(ranges)
        if tick is not None:
            tick(done)
    nge[np.arange(many.systems), np.arange(many.systems)] = shuffles
    return nge


class _Family:
    """The standardized statistics of some pairs."""

    __slots__ = ("a", "b", "bounds", "many", "observed", "scale", "seen", "shuffler", "two_sided")

    def __init__(self, many: Many, pairs: Sequence[tuple[int, int]], sides: Sides) -> None:
        self.many = many
        self.two_sided = sides == "two-sided"
        self.shuffler = Shuffler([many])
        self.a, self.b = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
        self.seen = [Extreme.of(many.pair(a, b), sides) for a, b in pairs]
        spreads = np.array([_spread(many, seen, a, b) for seen, (a, b) in zip(self.seen, pairs, strict=True)])
        # Systems that nowhere differ have the statistic 0 in every shuffle.
        self.scale = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=spreads > 0)
        values = many.values()
        difference = values[self.a] - values[self.b]
        self.observed = (np.abs(difference) if self.two_sided else difference) * self.scale
        self.bounds = self.observed - TIE * np.maximum(np.abs(self.observed), 1.0) - _slack(many) * self.scale

    def statistics(self, part: Slice) -> Floats:
        """Of shape (pairs, shuffles)."""
        top, bottom = self.shuffler.places[0]
        tops, bottoms = part.sums[top].astype(np.float64), part.sums[bottom].astype(np.float64)
        scales = self.shuffler.counts[top].scale, self.shuffler.counts[bottom].scale
        found = np.empty((len(self.seen), part.shuffles))
        for row, (seen, a, b) in enumerate(zip(self.seen, self.a.tolist(), self.b.tolist(), strict=True)):
            found[row] = seen.difference(scales[0] * (tops[a] - tops[b]), scales[1] * (bottoms[a] - bottoms[b]))
        if self.two_sided:
            np.abs(found, out=found)
        found *= self.scale[:, None]
        return found


def _spread(many: Many, seen: Extreme, a: int, b: int) -> float:
    """The standard deviation of a pair's null distribution to first order."""
    numerator = (many.numerators[a] - many.numerators[b]).astype(np.float64)
    denominator = (many.denominators[a] - many.denominators[b]).astype(np.float64)
    scores = numerator - denominator * (seen.numerators / seen.denominators)
    return 2 * sqrt(float(scores @ scores)) / seen.denominators


def _slack(many: Many) -> float:
    """By how much differences that count as ties may differ; slack is for systems of the same denominators."""
    return 2 * many.slack / int(many.denominators[0].sum()) if many.slack else 0.0


def _known(levels: Levels) -> tuple[NDArray[np.bool_], Floats]:
    array = np.array([np.nan if level is None else level for level in levels], dtype=np.float64)
    known: NDArray[np.bool_] = ~np.isnan(array)
    if ((array[known] < 0) | (array[known] > 1)).any():
        raise ValueError("a significance level is not between 0 and 1")
    return known, array
