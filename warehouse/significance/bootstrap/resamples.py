"""Resamples: how often each unit is drawn in each resample, sums over the drawn units, and intervals.

Resamples come in chunks, each with a random generator of its own. Sums are exact, because columns are integers so
small that floating point holds every sum over a resample. So neither the number of threads nor the other systems can
change a digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor, log2
from statistics import NormalDist
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Floats, Integers, narrow
from evalhouse.warehouse.significance.draws import RESAMPLES, Draws, in_order
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.two_systems import distinct_columns

# === drawing units ====================================================================================================

FOR_INTERVALS = Draws(2000)
"""The default resamples of an interval."""

VERY_MANY_UNITS = 20_000
"""From this many units on, units are not drawn one by one; they are counted by kind, or nothing is drawn."""

CHUNK = 256
"""The number of resamples in a chunk. Changing it changes the results for a seed."""

READY = 1 << 21
"""Up to this many counts are kept in one array, as the floating-point numbers that matrix products need."""

KEPT_COUNTS = 1 << 27
"""Up to this many counts of kinds are kept. More are drawn anew each time, which takes longer but no memory."""

BITS = 52
"""Integers up to this many bits, sums included, are exact in floating point."""


def resample_units(units: int, draws: Draws, threads: int = 1) -> Iterator[Floats]:
    """For each chunk, how often each unit is drawn in each resample, of shape (resamples in the chunk, units)."""

    def of_chunk(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        drawn = draws.generator(chunk, RESAMPLES).integers(0, units, size=(CHUNK, units), dtype=np.int64)[:used]
        drawn += np.arange(used)[:, None] * units
        return np.bincount(drawn.reshape(-1), minlength=used * units).reshape(used, units).astype(np.float64)

    return in_order(of_chunk, draws.chunks(CHUNK), threads)


def resampled_kinds(times: Integers, draws: Draws) -> Iterator[Integers]:
    """How many units of each kind are drawn in each resample, some resamples at a time; `times` is the number of units
    of each kind.
    """
    units, at_once = int(times.sum()), max(1, READY // max(len(times), 1))
    for chunk, used in draws.chunks(CHUNK):
        source = draws.generator(chunk, RESAMPLES)
        for first in range(0, used, at_once):
            # The resamples of a chunk are drawn one after another, so that parts of it are the same.
            yield source.multinomial(units, times / units, size=min(at_once, used - first))


class DrawnAgain(Struct, frozen=True, eq=False):
    """The resamples of very many kinds of units. They are not kept, but drawn anew each time they are needed."""

    times: Integers
    draws: Draws

    def __iter__(self) -> Iterator[Integers]:
        return resampled_kinds(self.times, self.draws)


class Resamples(Struct, frozen=True, eq=False):
    """How often each unit, or each kind of units, is drawn in each resample.

    `times` is the number of units of each kind, and `chunks` has how often they were drawn. If there are few numbers,
    they are in one chunk.
    """

    times: Integers
    chunks: tuple[NDArray[Any], ...] | DrawnAgain

    @classmethod
    def of_units(cls, units: int, draws: Draws, threads: int = 1) -> Resamples:
        """Resamples of units that are drawn one by one."""
        chunks = resample_units(units, draws, threads)
        if units * draws.shuffles <= READY:
            return cls(np.ones(units, dtype=np.int64), (np.concatenate(list(chunks)),))
        return cls(np.ones(units, dtype=np.int64), tuple(counts.astype(np.uint16) for counts in chunks))

    @classmethod
    def of_kinds(cls, times: Integers, draws: Draws) -> Resamples:
        """Resamples of units that are counted by kind."""
        if len(times) * draws.shuffles > KEPT_COUNTS:
            return cls(times, DrawnAgain(times, draws))
        return cls(times, tuple(map(narrow, resampled_kinds(times, draws))))

    @property
    def size(self) -> int:
        """How many resamples there are."""
        if isinstance(self.chunks, DrawnAgain):
            return self.chunks.draws.shuffles
        return sum(counts.shape[0] for counts in self.chunks)

    def blocks(self, most: int) -> Iterator[tuple[int, Floats]]:
        """How often each unit is drawn, some resamples at a time with the number of the first, of shape (resamples,
        units); a block has at most so many counts, if a single resample has no more.
        """
        done = 0
        for chunk in self.chunks:
            at_once = max(1, most // max(chunk.shape[1], 1))
            for first in range(0, chunk.shape[0], at_once):
                block = chunk[first : first + at_once].astype(np.float64, copy=False)
                yield done + first, block
            done += chunk.shape[0]

    def sums(self, columns: Integers | Floats) -> Floats:
        """The sums of columns of shape (any, units) over each resample, of shape (any, resamples)."""
        factors = np.ascontiguousarray(columns, dtype=np.float64)
        if isinstance(self.chunks, tuple) and len(self.chunks) == 1:
            return np.asarray(factors @ self.chunks[0].astype(np.float64, copy=False).T)
        sums, done = np.empty((columns.shape[0], self.size)), 0
        for counts in self.chunks:
            sums[:, done : done + counts.shape[0]] = factors @ counts.astype(np.float64).T
            done += counts.shape[0]
        return sums


def kinds(columns: Integers) -> tuple[Integers, Integers]:
    """The distinct units of columns of shape (any, units), sorted by their counts, and the number of units of each
    kind.
    """
    return distinct_columns(columns)


def whole(columns: Floats | Integers, units: int, factors: int = 1) -> tuple[Floats, Floats]:
    """Columns of shape (any, units) as integers, and the unit of each column, a power of two.

    Sums over `units` units of products of `factors` such numbers are exact. Columns that are already small integers are
    kept.
    """
    bits = floor((BITS - log2(max(units, 2))) / factors)
    columns = columns.astype(np.float64, copy=False)
    exponents = np.frexp(np.maximum(columns.max(axis=1, initial=0.0), -columns.min(axis=1, initial=0.0)))[1]
    already = (columns == np.rint(columns)).all(axis=1)
    # Small integers need no scale; other columns use all available bits.
    shifts = np.where(already & (exponents <= bits), 0, bits - exponents)
    if not shifts.any():
        return columns, np.ones(len(columns))
    scaled = np.rint(np.ldexp(columns, shifts[:, None]))
    return scaled, np.ldexp(1.0, -shifts)


# === percentile and BCa intervals =====================================================================================
# Intervals between two resampled values (Efron & Tibshirani 1993, chapters 13 and 14).

TIE = 1e-12
"""Values whose relative distance from the observed value is smaller than this count as equal to it."""

NORMAL = NormalDist()


class SystemValues(Struct, frozen=True, eq=False):
    """The values of systems: observed, of shape (systems,), in each resample, of shape (systems, resamples), and with
    one unit of each kind left out, of shape (systems, units); NaN where undefined."""

    observed: Floats
    resampled: Floats
    without_one: Callable[[], Floats]

    @classmethod
    def of(cls, many: Sums, resamples: Resamples) -> SystemValues:
        """The values of all systems."""
        columns = many.table
        systems, units = many.systems, many.units
        scaled, worth = whole(columns.reshape(-1, units), int(resamples.times.sum()))

        def value(sums: Floats) -> Floats:
            return _values(many, (sums * worth[:, None]).reshape(len(columns), systems, -1))

        observed = (scaled * resamples.times).sum(axis=1, keepdims=True)
        return cls(value(observed)[:, 0], value(resamples.sums(scaled)), lambda: value(observed - scaled))


def _values(many: Sums, sums: Floats) -> Floats:
    """The values for sums of shape (columns, systems, any), NaN where undefined."""
    if many.is_function:
        return many.valuation.values(sums.reshape(sums.shape[0], -1)).reshape(sums.shape[1:])
    without = np.full(sums.shape[1:], np.nan)
    return np.asarray(np.divide(sums[0], sums[1], out=without, where=sums[1] > 0))


def between(resampled: Floats, tails: tuple[float, float]) -> tuple[float, float]:
    """The resampled values that leave the given tails on both sides. `resampled` must be sorted and without undefined
    values; the limits are NaN if it is empty.

    For a tail of α the limit is the ⌊α·(n + 1)⌋-th of n values, counted from that end, and at least the first.
    """
    if not len(resampled):
        return float("nan"), float("nan")
    low, high = (min(max(1, int(tail * (len(resampled) + 1))), len(resampled)) for tail in tails)
    return float(resampled[low - 1]), float(resampled[len(resampled) - high])


def corrected_tails(
    resampled: Floats, observed: float, without_one: Floats, times: Integers, tails: tuple[float, float]
) -> tuple[float, float]:
    """The tails that a BCa interval leaves to both sides (Efron & Tibshirani 1993, section 14.3).

    `without_one` has, for each kind of unit, the value with one unit of that kind left out; `times` has the number of
    units of each kind.
    """
    near = TIE * max(abs(observed), 1e-300)
    ties = int(np.count_nonzero(np.abs(resampled - observed) <= near))
    below = (int(np.count_nonzero(resampled < observed - near)) + ties / 2) / max(len(resampled), 1)
    if not 0 < below < 1:
        return tails
    bias = NORMAL.inv_cdf(below)
    mean = float((np.nan_to_num(without_one) * times).sum()) / int(times.sum())
    influence = np.where(np.isnan(without_one), 0.0, mean - without_one)
    squares = float((influence**2 * times).sum())
    acceleration = float((influence**3 * times).sum()) / (6 * squares**1.5) if squares > 0 else 0.0

    def share(tail: float) -> float:
        z = NORMAL.inv_cdf(tail)
        return NORMAL.cdf(bias + (bias + z) / max(1 - acceleration * (bias + z), 1e-12))

    low, high = tails
    return share(low), 1 - share(1 - high)
