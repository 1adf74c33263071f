"""Resamples: how often each unit is drawn in each resample, and sums over the drawn units.

Resamples come in chunks, each with a random generator of its own. Sums are exact, because columns are integers so small
that floating point holds every sum over a resample. So neither the number of threads nor the other systems can change a
digit.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log2
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from warehouse.significance.distinct import distinct_columns
from warehouse.significance.draws import RESAMPLES, Draws
from warehouse.significance.paired import Floats, Integers, narrowed
from warehouse.significance.work import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def resampled(units: int, draws: Draws, threads: int = 1) -> Iterator[Floats]:
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
        chunks = resampled(units, draws, threads)
        if units * draws.shuffles <= READY:
            return cls(np.ones(units, dtype=np.int64), (np.concatenate(list(chunks)),))
        return cls(np.ones(units, dtype=np.int64), tuple(counts.astype(np.uint16) for counts in chunks))

    @classmethod
    def of_kinds(cls, times: Integers, draws: Draws) -> Resamples:
        """Resamples of units that are counted by kind."""
        if len(times) * draws.shuffles > KEPT_COUNTS:
            return cls(times, DrawnAgain(times, draws))
        return cls(times, tuple(map(narrowed, resampled_kinds(times, draws))))

    @property
    def size(self) -> int:
        """How many resamples there are."""
        if isinstance(self.chunks, DrawnAgain):
            return self.chunks.draws.shuffles
        return sum(counts.shape[0] for counts in self.chunks)

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
