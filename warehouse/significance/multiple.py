"""Many comparisons at once: adjusted p-values, and two tests of a whole family of pairs.

`bonferroni`, `holm` and `benjamini_hochberg` need only the p-values. `westfall_young` relies on all pairs being
shuffled with the same coins, and `tukey` permutes the systems' labels instead of exchanging pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.draws import ALONE, LABELS, Draws, Sides, Work, check_sides, in_order
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.coins import Shuffler, Slice
from evalhouse.warehouse.significance.sums import Sums

MAXIMUM_TIE = 1e-9
"""Statistics of different pairs whose relative difference is smaller than this count as ties, so that rounding does not
break ties.
"""

LABELS_CHUNK = 2048
"""The number of shuffles in a chunk of permuted labels. Changing it changes the results for a seed."""

AT_ONCE = 1 << 20
"""The number of pairs × shuffles whose statistics are computed at once; they fit into the processor's cache."""

Levels: TypeAlias = Sequence[float | None] | NDArray[np.float64]


def bonferroni(levels: Levels) -> Floats:
    """Each level times the number of levels, at most 1; of shape (m,) (Dunn 1961, Journal of the American Statistical
    Association 56, 52-64). None and nan, for a test that was not possible, give nan and are not counted.
    """
    known, adjusted = _known_levels(levels)
    adjusted[known] = np.minimum(adjusted[known] * np.count_nonzero(known), 1.0)
    return adjusted


def holm(levels: Levels) -> Floats:
    """Holm's step-down adjustment (Holm 1979, Scandinavian Journal of Statistics 6, 65-70): of shape (m,), never above
    Bonferroni's. None and nan as there.
    """
    known, adjusted = _known_levels(levels)
    order = np.argsort(adjusted[known], kind="stable")
    left = np.arange(order.size, 0, -1)
    stepped = np.maximum.accumulate(adjusted[known][order] * left)
    adjusted[np.flatnonzero(known)[order]] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(levels: Levels) -> Floats:
    """The false discovery rate adjustment (Benjamini & Hochberg 1995, Journal of the Royal Statistical Society B 57,
    289-300): of shape (m,). None and nan as above.
    """
    known, adjusted = _known_levels(levels)
    order = np.argsort(adjusted[known], kind="stable")
    rank = np.arange(1, order.size + 1)
    stepped = np.minimum.accumulate((adjusted[known][order] * order.size / rank)[::-1])[::-1]
    adjusted[np.flatnonzero(known)[order]] = np.minimum(stepped, 1.0)
    return adjusted


def westfall_young(
    many: Sums, pairs: Sequence[tuple[int, int]], draws: Draws, sides: Sides = "two-sided", work: Work = ALONE
) -> Floats:
    """Levels adjusted by the step-down maximum of statistics, of shape (pairs,), in the order of the pairs (Westfall &
    Young 1993, Resampling-based multiple testing).

    An adjusted level is never below the pair's own (nge + 1) / (shuffles + 1); with a single pair it is equal to that.
    Strong control requires that the joint distribution of the differences is symmetric for systems that do not differ.
    Raises ValueError for pairs that are not two of the systems.
    """
    check_sides(sides)
    if not pairs:
        return np.zeros(0)
    family = SpreadFamily(many, pairs, sides)
    reached = count_reached_by_largest(family, draws, work)
    return step_down(family, (reached + 1.0) / (draws.shuffles + 1))


class Family(Protocol):
    """The statistics of some pairs: the observed ones and the values that a shuffle must reach, of shape (pairs,), and
    those of common shuffles.
    """

    observed: Floats
    bounds: Floats

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """For one block of shuffles after another, the statistics of the pairs in this order, in parts of shape
        (some pairs, shuffles). Each part is new, and the caller may change it.
        """


def count_reached_by_largest(family: Family, draws: Draws, work: Work = ALONE) -> Integers:
    """The number of shuffles in which the largest statistic of a pair and of all pairs behind it reaches the pair's
    observed statistic, of shape (pairs,).

    The coins are those of randomization, so that the statistics keep their dependence. The pairs behind a pair are
    those with a smaller observed statistic.
    """
    order = _order(family)[::-1]
    reached = np.zeros(len(order), dtype=np.int64)
    done = 0
    for block in family.blocks(draws, order):
        # From the smallest observed statistic on: the largest of the pairs so far, in each shuffle.
        largest, first = np.array([-np.inf]), 0
        for part in block:
            np.maximum(part[0], largest, out=part[0])
            so_far = np.maximum.accumulate(part, axis=0)
            pairs = order[first : first + len(part)]
            reached[pairs] += np.count_nonzero(so_far >= family.bounds[pairs][:, None], axis=1)
            largest, first = so_far[-1], first + len(part)
        done += len(largest)
        work.progress(done / draws.shuffles)
    return reached


def step_down(family: Family, levels: Floats) -> Floats:
    """Levels of shape (pairs,), made monotone: no level is below that of a pair with a larger observed statistic."""
    order = _order(family)
    stepped = np.empty_like(levels)
    stepped[order] = np.maximum.accumulate(levels[order])
    return stepped


def _order(family: Family) -> Places:
    """The pairs from the largest observed statistic to the smallest."""
    return np.argsort(-family.observed, kind="stable")


def tukey(many: Sums, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Integers:
    """Randomized Tukey HSD (Carterette 2012, ACM Transactions on Information Systems 30, 4:1-34): nge of every pair, of
    shape (systems, systems).

    In each unit the systems' tuples are permuted at random; nge counts the shuffles whose largest difference between
    two pseudo systems is at least that of the pair, and p = (nge + 1) / (shuffles + 1) holds for the whole family.
    One-sided, entry [a, b] is compared with the signed difference of a minus b; the largest difference is also the
    largest signed difference. The diagonal is the number of shuffles. Differences within 1e-9 of each other's size
    count as ties.
    """
    check_sides(sides)
    values = many.values()
    observed = values[:, None] - values[None, :]
    if sides == "two-sided":
        observed = np.abs(observed)
    bounds = observed - MAXIMUM_TIE * np.abs(observed) - many.tie
    nge = np.zeros((many.systems, many.systems), dtype=np.int64)
    labels = np.tile(np.arange(many.systems), (LABELS_CHUNK, 1))
    units = many.table.transpose(2, 0, 1)

    def ranged(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        source = draws.generator(chunk, LABELS)
        sums = np.zeros((units.shape[1], LABELS_CHUNK, many.systems), dtype=np.int64)
        for columns in units:
            permuted = source.permuted(labels, axis=1)
            for total, counts in zip(sums, columns, strict=True):
                total += counts[permuted]
        pseudo = many.value(sums[:, :used])
        return np.sort(pseudo.max(axis=1) - pseudo.min(axis=1))

    done = 0
    for ranges in in_order(ranged, draws.chunks(LABELS_CHUNK), work.threads):
        nge += len(ranges) - np.searchsorted(ranges, bounds, side="left")
        done += len(ranges)
        work.progress(done / draws.shuffles)
    nge[np.arange(many.systems), np.arange(many.systems)] = draws.shuffles
    return nge


class SpreadFamily:
    """Differences divided by `spread`, the first-order standard deviation of their null distribution, so that all pairs
    have the same weight. For equal denominators they have the same order as t statistics.
    """

    def __init__(self, many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> None:
        for a, b in pairs:
            if a == b or not (0 <= a < many.systems and 0 <= b < many.systems):
                raise ValueError(f"systems {a} and {b} are not a pair of {many.systems} systems")
        columns = many.table
        self.many, self.pairs = many, len(pairs)
        self.two_sided = sides == "two-sided"
        self.shuffler = Shuffler([columns])
        self.totals = columns.sum(axis=2).astype(np.float64)
        # Values that a pair shares with the reversed pair are computed once.
        first, second = np.array(pairs, dtype=np.intp).T
        ordered = np.stack((np.minimum(first, second), np.maximum(first, second)), axis=1)
        self.once, place = np.unique(ordered, axis=0, return_inverse=True)
        self.place, self.turned = place.reshape(-1), first > second
        spreads = np.array([many.spread(a, b) for a, b in self.once])[self.place]
        # Systems that differ in no unit have the statistic 0 in every shuffle.
        self.scale = np.divide(1.0, spreads, out=np.zeros_like(spreads), where=spreads > 0)
        values = many.values()
        differences = values[first] - values[second]
        self.observed = (np.abs(differences) if self.two_sided else differences) * self.scale
        self.bounds = self.observed - MAXIMUM_TIE * np.maximum(np.abs(self.observed), 1.0) - many.tie * self.scale

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """The statistics of all pairs at once, for as many shuffles as the processor's cache holds."""
        for part in self.shuffler.slices(draws, max(8, AT_ONCE // self.pairs // 8 * 8)):
            yield (self._statistics(part)[order],)

    def _statistics(self, part: Slice) -> Floats:
        counts = [self.shuffler.counts[place] for place in self.shuffler.places[0]]
        sums = [part.sums[place].astype(np.float64) for place in self.shuffler.places[0]]
        once = np.empty((len(self.once), part.shuffles))
        starts = np.flatnonzero(np.diff(self.once[:, 0], prepend=-1))
        for rows in map(slice, starts, (*starts[1:], len(self.once))):
            a, others = self.once[rows.start, 0], self.once[rows, 1]
            totals = (self.totals[:, a, None] + self.totals[:, others])[:, :, None]
            # The difference of the first pseudo system from each other one, column by column.
            more = np.stack([of.scale * (signed[a] - signed[others]) for of, signed in zip(counts, sums, strict=True)])
            flat = (len(counts), -1)
            once[rows] = (
                self.many.value(((totals + more) / 2).reshape(flat))
                - self.many.value(((totals - more) / 2).reshape(flat))
            ).reshape(len(others), part.shuffles)
        statistics = once[self.place]
        if self.two_sided:
            np.abs(statistics, out=statistics)
        elif self.turned.any():
            np.negative(statistics, out=statistics, where=self.turned[:, None])
        statistics *= self.scale[:, None]
        return statistics


class FamilyOfPairs:
    """Pairs with counts of their own, which are not in a common unit: the family of each pair alone, over the same
    coins. They are made again in each chunk of shuffles, so that the counts and statistics of one pair are held at a
    time.
    """

    def __init__(self, alone: Callable[[int], Family], pairs: int) -> None:
        self._alone = alone
        self.observed, self.bounds = np.empty((2, pairs))
        for place in range(pairs):
            family = alone(place)
            [self.observed[place]], [self.bounds[place]] = family.observed, family.bounds

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """The statistics of one pair after another, for a chunk of shuffles."""
        for chunk, used in draws.chunks(coins.CHUNK):
            part = replace(draws, shuffles=used, before=chunk * coins.CHUNK)
            yield (self._of_pair(place, part) for place in order)

    def _of_pair(self, place: int, draws: Draws) -> Floats:
        blocks = self._alone(place).blocks(draws, np.zeros(1, dtype=np.intp))
        return np.concatenate([statistics for block in blocks for statistics in block], axis=1)


def _known_levels(levels: Levels) -> tuple[Booleans, Floats]:
    array = np.array([np.nan if level is None else level for level in levels], dtype=np.float64)
    known: Booleans = ~np.isnan(array)
    if ((array[known] < 0) | (array[known] > 1)).any():
        raise ValueError("a significance level is not between 0 and 1")
    return known, array
