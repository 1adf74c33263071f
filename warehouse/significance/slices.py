"""Where a difference comes from: the contribution of each exchange unit, and tests of slices of the units.

Each slice is tested, alone and adjusted for all slices. Another test asks whether the difference varies between
slices, and shrunken estimates avoid overestimating the largest differences. This module must not know the names of
slices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from math import ceil, log2, pi
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import gradient_of
from evalhouse.warehouse.significance.draws import ALONE, PERMUTED, SLICES, Draws, Work, in_order
from evalhouse.warehouse.significance.shuffles.coins import PackedColumns, rows
from evalhouse.warehouse.significance.shuffles.studentized import steady
from evalhouse.warehouse.significance.standardized import (
    NOTHING_VARIES,
    RatioPairs,
    centred,
    near_ratio,
    residuals,
    square_of_clumps,
    whole,
)
from evalhouse.warehouse.significance.standardized import ROUNDING as ROUNDING_OF_SUMS
from evalhouse.warehouse.significance.sums import Sums

# === contributions of units ===========================================================================================
# The contributions of the units add up to the difference. For a ratio N / D the difference is divided between
# numerators and denominators as Kitagawa (1955) decomposes a difference of rates, which is the Shapley value of the
# two: what a unit adds to the numerator is multiplied by the mean of 1 / D, and what it adds to the denominator by the
# mean of N times the difference of 1 / D. For other functions of sums each count is multiplied by the mean of its
# derivative on the straight line from the sums of one system to those of the other (Aumann and Shapley 1974). A unit in
# which the systems do not differ contributes 0; if all denominators are equal, a unit contributes its difference
# divided by the number of units.

NODES = 1025
"""The number of points on the line at which derivatives are taken."""

REACH = 3.2
"""Sets how near the first and the last point are to the ends of the line: at exp(−π sinh 3.2), a share of about 10⁻¹⁷.
"""


def contributions(two: Sums) -> Floats:
    """The contribution of each unit to the value of the first system minus that of the second, of shape (units,),
    without the constant factor of a ratio. The contributions sum to the difference up to rounding. Raises ValueError
    unless there are exactly two systems.
    """
    if two.systems != 2:
        raise ValueError(f"a difference needs two systems, not {two.systems}")
    return _of_function(two) if two.is_function else _of_ratio(two)


def _of_ratio(two: Sums) -> Floats:
    """(ΔN · (D_A + D_B) − ΔD · (N_A + N_B)) / (2 · D_A · D_B)."""
    over = [int(row.sum()) for row in two.numerators]
    under = [int(row.sum()) for row in two.denominators]
    by_numerator = (under[0] + under[1]) / (2 * under[0] * under[1])
    by_denominator = (over[0] + over[1]) / (2 * under[0] * under[1])
    more, longer = two.numerators[0] - two.numerators[1], two.denominators[0] - two.denominators[1]
    return np.asarray(more * by_numerator - longer * by_denominator, dtype=np.float64)


def _of_function(two: Sums) -> Floats:
    sums = two.counts.sum(axis=2).astype(np.float64)
    way = sums[0] - sums[1]
    prices = _mean_gradient(two, sums[1], way)
    first, second = two.values()
    # If the quadrature leaves a remainder, for example where a function has a corner, it is shared among the counts
    # that differ.
    weights = way / np.maximum(np.maximum(np.abs(sums[0]), np.abs(sums[1])), 1.0) ** 2
    scale = float(weights @ way)
    if scale:
        prices = prices + weights * ((first - second - float(prices @ way)) / scale)
    return np.asarray(prices @ (two.counts[0] - two.counts[1]).astype(np.float64), dtype=np.float64)


def _mean_gradient(two: Sums, start: Floats, way: Floats) -> Floats:
    """The mean of the gradient on a straight line, of shape (columns,), by the double exponential rule (Takahasi and
    Mori 1974), which stays accurate if a root or a logarithm is steep at an end.
    """
    places = np.linspace(-REACH, REACH, NODES)
    share = 1 / (1 + np.exp(-pi * np.sinh(places)))
    weights = np.cosh(places) * share * (1 - share)
    sums = start[:, None] + way[:, None] * share
    gradient = gradient_of(two.valuation, sums[None], two.units)[0]
    weights = np.where(np.isfinite(gradient).all(axis=0), weights, 0.0)
    if not weights.any():
        return np.zeros_like(start)
    return to_digits((np.where(weights > 0, gradient, 0.0) @ weights) / weights.sum())


DIGITS = 8
"""The number of digits of a numerical derivative that are the same on every processor."""


def to_digits(derivatives: Floats) -> Floats:
    """Rounds derivatives to DIGITS significant digits, so that results computed from them do not depend on the
    processor.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(derivatives)))
        known = np.abs(places) < 300
        scale = 10.0 ** np.where(known, places, 0.0)
    return np.asarray(np.where(known, np.rint(derivatives * scale) / scale, derivatives), dtype=np.float64)


# === slices of units ==================================================================================================
# Systems are exchanged within a slice as in the whole test set (Chinchor 1992). All slices that contain a unit, or a
# part of it, use the same coin for it, so the maximum over slices has its distribution under common exchanges, and
# p-values are adjusted by the step-down maximum (Westfall & Young 1993). Slices may overlap.

TIE = 1e-9
"""Statistics whose relative difference is smaller than this count as ties, as for all pairs of systems."""

ROUNDING, DERIVED = 1e-12, 1e-7
"""A difference that is a smaller share of its two terms than this counts as rounding error; the second value is for
numerical derivatives.
"""

CHUNK = 128
"""The number of shuffles in a chunk. Changing it changes the results for a seed."""

AT_ONCE = 1 << 11
"""The number of parts of units whose coins are processed together; they fit into the cache."""

MOST_EXACT = 13
"""Up to this many differing units all exchanges are counted; they are fewer than the usual number of shuffles."""

PRIOR, PRIOR_OF_TEST = 10.0, 4.0
"""The weight, in units, of the variance within all slices of a partition against the variance within one slice: for
estimates, and for the test of whether the difference varies.
"""


class Partition(Struct, frozen=True, eq=False):
    """Which slice of a partition each observation is in, from 0 to `slices` − 1."""

    place: Places
    slices: int


class SliceTests(Struct, frozen=True, eq=False):
    """The p-values of all slices, of shape (slices,), NaN for a slice that was not tested. `shuffles` is None if all
    exchanges were counted.
    """

    p: Floats
    adjusted: Floats
    shuffles: int | None


def fewest(level: float) -> int:
    """The smallest number n of units for which a slice can reach this level: at least 2 of its 2^n exchanges are as
    extreme as the observed one.
    """
    return ceil(1 - log2(level))


# --- values and errors ------------------------------------------------------------------------------------------------


def sums_of(columns: Integers, partition: Partition) -> Integers:
    """The sums of columns of shape (columns, systems, observations) in each slice."""
    order = np.argsort(partition.place, kind="stable")
    starts = np.searchsorted(partition.place[order], np.arange(partition.slices))
    return np.asarray(np.add.reduceat(columns[:, :, order], starts, axis=2), dtype=np.int64)


def units_of(partition: Partition, unit: Places) -> Integers:
    """The number of exchange units with a part in each slice."""
    count = int(unit.max(initial=-1)) + 1
    if count == len(unit):
        return np.bincount(partition.place, minlength=partition.slices)
    parts = np.unique(partition.place * count + unit)
    return np.bincount(parts // max(count, 1), minlength=partition.slices)


def variances(two: Sums, partition: Partition, unit: Places) -> Floats:
    """The first-order variance of the difference in each slice, of shape (slices,), without the squared factor of a
    ratio.

    A small slice gives a poor estimate of its own variance. So the result is the weighted mean of its own variance,
    with the weight of its units minus one, and of the variance of a unit over all slices, with the weight PRIOR.
    """
    moved = _influences(two, partition)
    wide = int(unit.max(initial=0)) + 1
    parts, of_part = np.unique(partition.place * wide + unit, return_inverse=True)
    of_unit = np.bincount(of_part.reshape(-1), weights=moved)
    place = parts // wide
    count = np.bincount(place, minlength=partition.slices).astype(np.float64)
    mean = np.bincount(place, weights=of_unit, minlength=partition.slices) / count
    squares = np.bincount(place, weights=(of_unit - mean[place]) ** 2, minlength=partition.slices) * count**2
    known = np.isfinite(squares)
    spare = (count[known] - 1).sum()
    # If each slice is one unit, the variance between units within a slice is unknown.
    pooled = squares[known].sum() / spare if spare else np.nan
    return np.asarray((squares + PRIOR * pooled) / (count - 1 + PRIOR) / count, dtype=np.float64)


def _influences(two: Sums, partition: Partition) -> Floats:
    """The first-order influence of each observation on the difference in its slice; NaN where it is undefined."""
    totals = sums_of(two.table, partition).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if two.is_ratio:
            over, under = totals
            expected = (over / under)[:, partition.place] * two.denominators
            below = under[:, partition.place]
            return _without_noise(
                (two.numerators - expected) / below, (np.abs(two.numerators) + np.abs(expected)) / below, ROUNDING
            )
        gradient = to_digits(gradient_of(two.valuation, totals.transpose(1, 0, 2), two.units))
    moved = gradient[:, :, partition.place] * two.counts
    return _without_noise(moved.sum(axis=1), np.abs(moved).sum(axis=1), DERIVED)


def _without_noise(alone: Floats, made_of: Floats, digits: float) -> Floats:
    """The first system minus the second, set to 0 where it is only rounding error: no larger than the share `digits` of
    the terms.
    """
    moved = alone[0] - alone[1]
    return np.asarray(np.where(np.abs(moved) <= digits * made_of.sum(axis=0), 0.0, moved))


def influences(two: Sums) -> Floats:
    """The first-order influence of each observation on the whole difference, without the factor of a ratio."""
    return _influences(two, Partition(np.zeros(two.units, dtype=np.intp), 1))


def shrunken(differences: Floats, squared_errors: Floats, whole: float) -> Floats:
    """The differences in the slices of a partition, shrunken towards the whole difference according to their sampling
    variance (Efron & Morris 1975). The variance between slices is estimated by moments (DerSimonian & Laird 1986).

    Such an estimate is not biased by selecting the slice with the largest difference (Efron 2011). It is NaN where a
    difference is NaN.
    """
    known = np.isfinite(differences) & np.isfinite(squared_errors)
    found = np.full(differences.shape, np.nan)
    if not known.any():
        return found
    apart, errors = differences[known] - whole, squared_errors[known]
    if not (errors > 0).all():
        # Nothing varies within slices, so the variance between them is not due to chance.
        found[known] = differences[known]
        return found
    weights = 1 / errors
    spare = weights.sum() - (weights**2).sum() / weights.sum()
    excess = float((weights * apart**2).sum()) - (len(apart) - 1)
    between = max(0.0, excess / spare) if len(apart) > 1 and spare > 0 else 0.0
    found[known] = whole + apart * between / (between + errors)
    return found


# --- tests of slices --------------------------------------------------------------------------------------------------


def slice_tests(
    two: Sums,
    unit: Places,
    partitions: Sequence[Partition],
    tested: Booleans,
    draws: Draws,
    exact: bool = False,
    work: Work = ALONE,
    studentized: bool = False,
) -> SliceTests:
    """The p-value of each slice of all partitions, in order, and the p-values adjusted over all slices that are
    `tested`.

    `unit` is the exchange unit of each observation. With `exact` all exchanges are counted if few units differ. With
    `studentized` the difference in a slice is divided by its standard error after every exchange, which only ratios
    have here; where denominators are equal in all units that is the same test. Raises ValueError for other functions.
    """
    if studentized and not two.is_ratio:
        raise ValueError("slices of a function of sums are not studentized")
    exchange = _Exchange.of(two, unit, partitions, tested if studentized else None)
    p = np.full(len(tested), np.nan)
    adjusted = p.copy()
    chosen = np.flatnonzero(tested)
    exactly = exact and len(exchange.differing) <= MOST_EXACT
    if not chosen.size:
        return SliceTests(p, adjusted, None if exactly else draws.shuffles)
    order = chosen[np.argsort(-exchange.observed[chosen], kind="stable")]
    bounds = (exchange.observed - TIE * np.maximum(exchange.observed, 1.0))[order, None]
    own, largest = np.zeros(len(order), dtype=np.int64), np.zeros(len(order), dtype=np.int64)
    done = 0
    for block in exchange.statistics(
        _every(exchange.differing) if exactly else _draw_coins(exchange.units, draws), work
    ):
        here = block[order]
        own += np.count_nonzero(here >= bounds, axis=1)
        # The largest of this slice's statistic and of the statistics of slices with smaller observed ones.
        np.maximum.accumulate(here[::-1], axis=0, out=here[::-1])
        largest += np.count_nonzero(here >= bounds, axis=1)
        done += block.shape[1]
        work.progress(done / draws.shuffles if not exactly else 1.0)
    if exactly:
        p[order], adjusted[order] = own / done, np.maximum.accumulate(largest / done)
        return SliceTests(p, adjusted, None)
    p[order] = (own + 1) / (done + 1)
    adjusted[order] = np.maximum.accumulate((largest + 1) / (done + 1))
    return SliceTests(p, adjusted, done)


Bits: TypeAlias = NDArray[np.uint8]
Coins = Callable[[Places], Bits]
"""The coins of some units in a chunk of shuffles, of shape (units, shuffles)."""


def _draw_coins(units: int, draws: Draws) -> Iterator[Callable[[], Coins]]:
    """Coins that depend only on the seed, the stream and the number of units."""

    def of_chunk(chunk: int, used: int) -> Coins:
        words = draws.generator(chunk, SLICES).integers(0, 2**64, size=rows(units) * CHUNK // 8, dtype=np.uint64)
        packed = words.astype("<u8", copy=False).view(np.uint8).reshape(rows(units), CHUNK)[:, :used]
        return lambda places: (packed[places >> 3] >> (places & 7).astype(np.uint8)[:, None]) & np.uint8(1)

    for chunk, used in draws.chunks(CHUNK):
        yield partial(of_chunk, chunk, used)


def _every(differing: Places) -> Iterator[Callable[[], Coins]]:
    """All exchanges of the differing units."""

    def of_chunk(numbers: Places) -> Coins:
        return lambda places: ((numbers >> np.searchsorted(differing, places)[:, None]) & 1).astype(np.uint8)

    every = 1 << len(differing)
    for start in range(0, every, CHUNK):
        yield partial(of_chunk, np.arange(start, min(start + CHUNK, every)))


class _Exchange(Struct, frozen=True, eq=False):
    """The data of exchanges: the parts of units that differ, sorted by the cells from which all slices are built.

    `differences` has the shape (columns, parts). The columns are those of the counts, which all partitions share; where
    the statistic is studentized, each partition has one of its own after these. `cells` has the first part of each
    cell. `slices` has, for each partition, its columns, the order of its cells, which of these begin a slice, and
    which slice that is.
    """

    units: int
    differing: Places
    unit: Places
    differences: Integers
    packed: PackedColumns
    cells: Places
    slices: tuple[tuple[Places, Places, Places, Places], ...]
    statistic: _Difference | _Student

    @classmethod
    def of(
        cls, two: Sums, unit: Places, partitions: Sequence[Partition], studentized: Booleans | None = None
    ) -> _Exchange:
        """The exchanges of two systems; `studentized` says for which slices, where the statistic is to be that."""
        columns = two.table
        differences = columns[:, 0] - columns[:, 1]
        differ = np.flatnonzero(differences.any(axis=0))
        cell = np.zeros(len(differ), dtype=np.intp)
        for partition in partitions:
            cell = np.unique(cell * partition.slices + partition.place[differ], return_inverse=True)[1].reshape(-1)
        units = int(unit.max(initial=-1)) + 1
        parts, first, of_part = np.unique(cell * units + unit[differ], return_index=True, return_inverse=True)
        summed = np.zeros((len(columns), len(parts)), dtype=np.int64)
        for column, sums in zip(differences[:, differ], summed, strict=True):
            np.add.at(sums, of_part.reshape(-1), column)
        starts = np.searchsorted(parts // units, np.arange(int(cell.max(initial=-1)) + 1))
        statistic: _Difference | _Student
        if studentized is None or steady(two):
            statistic, own = _Difference.of(two, differences, differ, unit, partitions), summed[:0]
            statistic = statistic if studentized is None else statistic.limited(unit, partitions, studentized)
        else:
            statistic, own = _Student.of(two, unit, partitions, studentized, differ[first])
        of_cell = differ[first[starts]] if len(starts) else differ
        slices, begun = [], 0
        for number, partition in enumerate(partitions):
            place = partition.place[of_cell]
            order = np.argsort(place, kind="stable")
            begin = np.flatnonzero(np.diff(place[order], prepend=-1))
            last = [len(summed) + number] if len(own) else []
            chosen = np.array([*range(len(summed)), *last], dtype=np.intp)
            slices.append((chosen, order, begin, begun + place[order][begin]))
            begun += partition.slices
        exchanged = np.concatenate((summed, own))
        return cls(
            units,
            np.unique(unit[differ]),
            parts % units if units else parts,
            exchanged,
            PackedColumns.of(list(exchanged)),
            starts,
            tuple(slices),
            statistic,
        )

    @property
    def observed(self) -> Floats:
        """The observed statistics of all slices, of shape (slices,)."""
        return self.statistic.observed

    def statistics(self, chunks: Iterator[Callable[[], Coins]], work: Work) -> Iterator[Floats]:
        """The statistics of all slices in chunks of exchanges, of shape (slices, exchanges)."""
        return in_order(self._statistics, chunks, work.threads)

    def _statistics(self, chunk: Callable[[], Coins]) -> Floats:
        coins = chunk()
        used = coins(self.unit[:1]).shape[1] if len(self.unit) else 1
        packed = [np.zeros((len(self.cells), used), dtype=np.int64) for _ in self.packed.words]
        for start in range(0, len(self.unit), AT_ONCE):
            stop = min(start + AT_ONCE, len(self.unit))
            bits = coins(self.unit[start:stop])
            first = int(np.searchsorted(self.cells, start, side="right")) - 1
            last = int(np.searchsorted(self.cells, stop))
            edges = np.maximum(self.cells[first:last] - start, 0)
            for word, sums in zip(self.packed.words, packed, strict=True):
                sums[first:last] += np.add.reduceat(bits * word[start:stop, None], edges, axis=0)
        # An exchange changes the difference twice: the first system loses its own counts and gets those of the second.
        whole = self._of_slices(self.differences[:, :, None], self.cells)
        return self.statistic.after(whole - 2 * self._of_slices(np.stack(self.packed.unpack(packed))))

    def _of_slices(self, columns: Integers, cells: Places | None = None) -> Floats:
        """The sums of the columns of each slice, of shape (columns of a slice, slices, any), from those of cells, or of
        the parts of which cells begin at `cells`.
        """
        if cells is not None and len(cells):
            columns = np.add.reduceat(columns, cells, axis=1)
        found = np.zeros((len(self.slices[0][0]), len(self.observed), columns.shape[2]))
        for chosen, order, begin, slices in self.slices:
            if len(begin):
                found[:, slices] = np.add.reduceat(columns[chosen[:, None], order], begin, axis=1)
        return found


class _Difference(Struct, frozen=True, eq=False):
    """The difference in a slice over its first-order standard deviation in exchanges, which no exchange changes.

    `totals` has the sums of both systems in each slice, of shape (columns, slices); `scale` the inverse of the standard
    deviation, of shape (slices,).
    """

    two: Sums
    totals: Floats
    scale: Floats
    observed: Floats

    @classmethod
    def of(
        cls, two: Sums, differences: Integers, differ: Places, unit: Places, partitions: Sequence[Partition]
    ) -> _Difference:
        totals, spreads, observed = [], [], []
        for partition in partitions:
            sums = sums_of(two.table, partition).astype(np.float64)
            totals.append(sums.sum(axis=1))
            observed.append(np.abs(two.value(sums[:, 0]) - two.value(sums[:, 1])))
            spreads.append(_spread(two, totals[-1], differences[:, differ], partition.place[differ], unit[differ]))
        spread = np.concatenate(spreads)
        # A function may be flat at the observed sums, but not at the sums after exchanges.
        scale = np.divide(1.0, spread, out=np.ones_like(spread), where=spread > 0)
        return cls(two, np.concatenate(totals, axis=1), scale, np.concatenate(observed) * scale)

    def limited(self, unit: Places, partitions: Sequence[Partition], tested: Booleans) -> _Difference:
        """The same, where each observed statistic counts as no more than the units of a tested slice can tell. With
        equal denominators it is t, which exchanges divide by the same standard error.
        """
        most, begun = np.full(len(tested), np.inf), 0
        for partition in partitions:
            _, ends, table = _table_of(self.two, partition, unit)
            for place, (start, end) in enumerate(pairwise(ends), start=begun):
                if tested[place]:
                    columns = tuple(table[start:end].transpose(1, 2, 0))
                    most[place] = square_of_clumps(replace(self.two, columns=columns))
            begun += partition.slices
        return replace(self, observed=np.minimum(self.observed, np.sqrt(most)))

    def after(self, signed: Floats) -> Floats:
        """The statistics, of shape (slices, exchanges), where the first system's sums minus the second's are `signed`,
        of shape (columns, slices, exchanges).
        """
        totals, flat = self.totals[:, :, None], (len(self.totals), -1)
        first = self.two.value(((totals + signed) / 2).reshape(flat))
        second = self.two.value(((totals - signed) / 2).reshape(flat))
        return np.asarray(np.abs(first - second).reshape(signed.shape[1:]) * self.scale[:, None])


SQUARES = 2.0**45
"""Squared residuals are kept as whole numbers that sum to less than this."""


def _table_of(two: Sums, partition: Partition, unit: Places) -> tuple[Places, list[int], Integers]:
    """The counts of two systems in each part of a unit, of shape (parts, columns, 2), sorted by slice: the keys of the
    parts, and where each slice begins and ends.
    """
    wide = int(unit.max(initial=-1)) + 1
    keys, of_part = np.unique(partition.place * wide + unit, return_inverse=True)
    table = np.zeros((len(keys), *two.table.shape[:2]), dtype=np.int64)
    np.add.at(table, of_part.reshape(-1), two.table.transpose(2, 0, 1))
    return keys, np.searchsorted(keys, wide * np.arange(partition.slices + 1)).tolist(), table


class _Student(Struct, frozen=True, eq=False):
    """The difference in a slice over its standard error, recomputed after every exchange, as in `RatioPairs`: each
    slice is a pair of systems of its own.

    The numerators of a slice are centred: `times` N less `less` D. `worth` is the value of one in the column of squared
    residuals. All have the shape (slices,).
    """

    pairs: RatioPairs
    times: Floats
    less: Floats
    worth: Floats

    @classmethod
    def of(
        cls, two: Sums, unit: Places, partitions: Sequence[Partition], tested: Booleans, parts: Places
    ) -> tuple[_Student, Integers]:
        """The statistic for the slices that are tested, 0 for others, and the difference of the squared residuals of
        each part in each partition, of shape (partitions, parts). `parts` has an observation of each part. A unit that
        has several parts in a slice has its squares in the first of them.
        """
        wide = int(unit.max(initial=-1)) + 1
        of_slices: list[RatioPairs] = []
        times, less, worth = np.ones(len(tested)), np.zeros(len(tested)), np.zeros(len(tested))
        own = np.zeros((len(partitions), len(parts)), dtype=np.int64)
        begun = 0
        for number, partition in enumerate(partitions):
            keys, ends, table = _table_of(two, partition, unit)
            squares = np.zeros(len(keys))
            rounding = ROUNDING_OF_SUMS + len(keys) * partition.slices / SQUARES
            for place, (start, end) in enumerate(pairwise(ends), start=begun):
                if not tested[place]:
                    of_slices.append(NOTHING_VARIES)
                    continue
                alone = replace(two, columns=tuple(table[start:end].transpose(1, 2, 0)))
                times[place], less[place] = near_ratio(alone)
                of_slices.append(RatioPairs.alone(alone, rounding))
                apart, together = residuals(centred(alone))
                worth[place] = float(np.abs(apart * together).sum())
                squares[start:end] = apart * together / (worth[place] or 1.0)
            rounded, one = whole(squares[None], SQUARES)
            worth[begun : begun + partition.slices] *= one
            present, at = np.unique(partition.place[parts] * wide + unit[parts], return_index=True)
            own[number, at] = rounded[0, np.searchsorted(keys, present)]
            begun += partition.slices
        return cls(RatioPairs.joined(of_slices), times, less, worth), own

    @property
    def observed(self) -> Floats:
        return np.abs(self.pairs.observed)

    def after(self, signed: Floats) -> Floats:
        """As that of `_Difference`; the columns are N, D and the squared residuals."""
        n, d, squares = signed
        centred = self.times[:, None] * n - self.less[:, None] * d
        return self.pairs.statistics(centred, d, squares * self.worth[:, None], two_sided=True)


def _spread(two: Sums, totals: Floats, differences: Integers, place: Places, unit: Places) -> Floats:
    """The first-order standard deviation of the difference in each slice under exchange: the root of the sum of the
    squared contributions of all parts of units.
    """
    wide = int(unit.max(initial=0)) + 1
    parts, of_part = np.unique(place * wide + unit, return_inverse=True)
    of_parts = np.stack(
        [np.bincount(of_part.reshape(-1), weights=column, minlength=len(parts)) for column in differences]
    )
    slices = totals.shape[1]
    whole = totals[:, parts // wide]
    alone = two.value((whole + of_parts) / 2) - two.value((whole - of_parts) / 2)
    return np.sqrt(np.bincount(parts // wide, weights=alone**2, minlength=slices))


# --- whether the difference varies ------------------------------------------------------------------------------------


def heterogeneity(
    moved: Floats, partitions: Sequence[Partition], draws: Draws, within: Places | None = None, work: Work = ALONE
) -> list[float | None]:
    """For each partition, the p-value of a permutation test of whether the influences of units differ between its
    slices. Slices are permuted among all units, or among the units of each group in `within`. The result is None if
    there is only one slice, and if each slice is one unit.

    The statistic is the sum of squares between slices, each divided by its own variance (Welch 1951). So slices that
    differ only in variance are called different hardly more often than the level (Pauly, Brunner & Konietschke 2015).
    """
    scale = float(np.abs(moved).max(initial=0.0))
    if not scale:
        return [1.0 if _Between.of(partition).can_vary else None for partition in partitions]
    # Equal statistics are ties, whatever their last digits.
    moved = np.round(moved / scale, 12)
    # With this many units one permutation is made at a time.
    many = within is None and len(moved) >= MANY
    if many:
        chosen = draws.generator(0, PERMUTED).permutation(len(moved))
        moved, partitions = moved[chosen], [Partition(of.place[chosen], of.slices) for of in partitions]
    distinct, counts = np.unique(moved, return_counts=True)
    rarest = np.argsort(counts, kind="stable")
    few = within is None and len(distinct) <= FEW_KINDS
    between = [_Between.of(partition) for partition in partitions]
    observed = [float(of.statistic_of(moved)) for of in between]
    bounds = [of - TIE * max(of, 1.0) for of in observed]
    groups_of = np.zeros(0, dtype=np.intp) if within is None else within
    groups = None if within is None else np.argsort(within, kind="stable")
    ring = np.tile(moved, 2) if many else moved

    def reached(numbered: tuple[int, int]) -> Integers:
        chunk, used = numbered
        source = draws.generator(chunk + 1, PERMUTED)
        nge = np.zeros(len(between), dtype=np.int64)
        if few:
            for place, of in enumerate(between):
                sums, squares = _deal_units(source, of.sizes, distinct[rarest], counts[rarest], used)
                nge[place] = np.count_nonzero(of.statistic(sums, squares) >= bounds[place])
            return nge
        together = 1 if many else max(1, MOVED_AT_ONCE // len(moved))
        for first in range(0, used, together):
            times = min(together, used - first)
            if many:
                start = int(source.integers(len(moved)))
                permuted = ring[None, start : start + len(moved)]
            elif groups is None:
                permuted = source.permuted(np.tile(moved, (times, 1)), axis=1)
            else:
                permuted = np.empty((times, len(moved)))
                permuted[:, groups] = moved[np.argsort(groups_of + source.random((times, len(moved))), axis=1)]
            nge += [
                np.count_nonzero(of.statistic_of(permuted) >= bound) for of, bound in zip(between, bounds, strict=True)
            ]
        return nge

    total = np.zeros(len(between), dtype=np.int64)
    for chunk in in_order(reached, draws.chunks(CHUNK), work.threads):
        total += chunk
    levels = ((total + 1) / (draws.shuffles + 1)).tolist()
    return [level if of.can_vary else None for of, level in zip(between, levels, strict=True)]


class _Between(Struct, frozen=True, eq=False):
    """The differences between the slices of a partition. Its units are sorted by `order`, and each slice begins at one
    of the `edges`.
    """

    sizes: Integers
    order: Places
    edges: Places

    @classmethod
    def of(cls, partition: Partition) -> _Between:
        sizes = np.bincount(partition.place, minlength=partition.slices)
        return cls(sizes, np.argsort(partition.place, kind="stable"), np.cumsum(sizes) - sizes)

    @property
    def can_vary(self) -> bool:
        """Whether there are several slices, at least one of which has enough units to estimate a variance."""
        return len(self.sizes) > 1 and int(self.sizes.max()) > 1

    def statistic_of(self, moved: Floats) -> Floats:
        """The statistic for influences of units of shape (…, units), scaled so that the largest is 1."""
        in_slices = moved[..., self.order]
        sums, squares = (np.add.reduceat(of, self.edges, axis=-1) for of in (in_slices, in_slices**2))
        return self.statistic(sums, squares)

    def statistic(self, sums: Floats, squares: Floats) -> Floats:
        """The statistic for the sums and the sums of squares of slices, both of shape (…, slices). The variance over
        all slices is added to that of each slice with the weight of PRIOR_OF_TEST units, which steadies small slices.
        """
        spare = max(int(self.sizes.sum()) - len(self.sizes), 1)
        within = np.maximum(squares - sums**2 / self.sizes, 0.0)
        pooled = within.sum(axis=-1, keepdims=True) / spare
        variance = (within + PRIOR_OF_TEST * pooled) / (self.sizes - 1 + PRIOR_OF_TEST)
        weights = self.sizes / np.maximum(variance, TIE)
        means = sums / self.sizes
        centre = (weights * means).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)
        return np.asarray((weights * (means - centre) ** 2).sum(axis=-1))


MOVED_AT_ONCE = 1 << 14
"""The number of units × permutations computed at once; from MANY units on it is one permutation."""

MANY = 1 << 14
"""From this many units on, units are put into a random order once and then only rotated. The rotations are a group too,
so a test over them is as exact as over all permutations (Koning & Hemerik 2024) and takes a tenth of the time.
"""

FEW_KINDS = 16
"""If units are of no more kinds than this, they are dealt out kind by kind, which does not take longer with more units.
"""


def _deal_units(
    source: np.random.Generator, sizes: Integers, kinds: Floats, counts: Integers, times: int
) -> tuple[Floats, Floats]:
    """The sums and the sums of squares of slices of these sizes if units of some kinds are dealt to them at random;
    both of shape (times, slices).
    """
    room = np.tile(sizes, (times, 1))
    sums, squares = np.zeros((times, len(sizes))), np.zeros((times, len(sizes)))
    for kind, count in zip(kinds[:-1], counts[:-1], strict=True):
        # Slice by slice: how many of the remaining units of this kind fall into the slice.
        left = np.full(times, count)
        behind = room.sum(axis=1)
        for place in range(len(sizes)):
            behind = behind - room[:, place]
            got = source.hypergeometric(left, room[:, place] + behind - left, room[:, place]) if times else left
            sums[:, place] += kind * got
            squares[:, place] += kind**2 * got
            left = left - got
            room[:, place] -= got
    return sums + kinds[-1] * room, squares + kinds[-1] ** 2 * room
