"""Shuffling one pair of systems: sums over the units that change places, read from tables a few coins at a time.

A byte of coins says which of eight units change places, so one look into a table of 256 sums replaces eight additions.
Both sums, of numerators and of denominators, travel in one int64 where they fit. For long runs the coins are read
twelve at a time: the tables are sixteen times as large, and a third fewer looks are needed. The coins are those of
`coins.py` either way, and so are the sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Integers
from warehouse.significance.shuffles import coins
from warehouse.significance.work import in_order

LONG_RUN = 100_000
"""From this many shuffles on the tables have twelve bits: before, filling them costs more than they save."""

TABLES = 64 << 20
"""Bytes of tables kept. Larger ones have eight bits and are filled anew for each block of coins."""


@dataclass(frozen=True, slots=True)
class PackedSums:
    """Two numbers a unit, each of shape (units,), whose sums over the units that change places are wanted.

    Where `shift` is not None the two travel as one, first · 2^shift + second.
    """

    first: Integers
    second: Integers
    shift: int | None

    @classmethod
    def of(cls, first: Integers, second: Integers) -> PackedSums:
        """Packs the two where the sums over any of the units fit into 63 bits together."""
        shift = int(np.abs(second).sum()).bit_length() + 1
        fits = int(np.abs(first).sum()).bit_length() + shift <= 62
        return cls(first, second, shift if fits else None)

    def columns(self) -> list[Integers]:
        """The numbers to add up, one array of shape (units,) each."""
        if self.shift is None:
            return [self.first, self.second]
        return [(self.first << self.shift) + self.second]

    def unpack(self, sums: list[Integers]) -> tuple[Integers, Integers]:
        """The two sums from those over `columns`."""
        if self.shift is None:
            return sums[0], sums[1]
        second = (sums[0] << (64 - self.shift)) >> (64 - self.shift)
        return (sums[0] - second) >> self.shift, second


def bits(units: int, shuffles: int) -> int:
    """How many coins a look into a table takes: 8 or 12."""
    return 12 if shuffles >= LONG_RUN and _size(units, 12) <= TABLES else 8


def memory(units: int, shuffles: int) -> int:
    """About how many bytes `shuffled` holds at once, at most two columns included."""
    tables = min(_size(units, bits(units, shuffles)), TABLES)
    return 2 * tables + min(coins.ROWS, coins.rows(units)) * coins.CHUNK + 16 * 8 * coins.CHUNK


def shuffled(sums: PackedSums, draws: Draws, threads: int = 1) -> Iterator[tuple[Integers, Integers]]:
    """`sums_over_exchanged` of the two numbers."""
    return map(sums.unpack, sums_over_exchanged(sums.columns(), draws, threads))


def sums_over_exchanged(columns: Sequence[Integers], draws: Draws, threads: int = 1) -> Iterator[list[Integers]]:
    """For each chunk of shuffles the sums of columns of shape (units,) over the units that change places, each of shape
    (shuffles in the chunk,). Threads share out the chunks, or the units of a single one; each holds what it works on.
    """
    units = int(columns[0].shape[0])
    width = bits(units, draws.shuffles)
    kept = [_tables(column, width) for column in columns] if _size(units, width) <= TABLES else None
    # Rows of coins without a differing unit need not be looked at.
    wanted = np.zeros(coins.rows(units), dtype=bool)
    for column in columns:
        wanted[np.flatnonzero(column) // 8] = True

    def looked_up(numbered: tuple[int, coins.Bytes]) -> list[Integers]:
        first, block = numbered
        used, stop = block.shape[1], first + block.shape[0]
        totals = [np.zeros(used, dtype=np.int64) for _ in columns]
        if not wanted[first:stop].any():
            return totals
        if kept is None:
            tables = [_tables(column[8 * first : 8 * stop], width) for column in columns]
        else:
            # A block that is not the last has a multiple of three rows, so that twelve bits start where it starts.
            tables = [table[8 * first // width :] for table in kept]
        place = np.empty(used, dtype=np.intp)
        looked = np.empty(used, dtype=np.int64)
        for row, index in _indices(block, width, wanted[first:stop]):
            np.copyto(place, index)
            for table, total in zip(tables, totals, strict=True):
                # The one mode that neither checks nor copies; no index is out of range.
                np.take(table[row], place, out=looked, mode="clip")
                np.add(total, looked, out=total)
        return totals

    def summed(numbered: tuple[int, int], sharing: int = 1) -> list[Integers]:
        chunk, used = numbered
        totals = [np.zeros(used, dtype=np.int64) for _ in columns]
        for part in in_order(looked_up, coins.blocks(units, draws, chunk, used), sharing):
            for total, of_part in zip(totals, part, strict=True):
                np.add(total, of_part, out=total)
        return totals

    if draws.shuffles <= coins.CHUNK:
        yield summed(next(draws.chunks(coins.CHUNK)), threads)
    else:
        yield from in_order(summed, draws.chunks(coins.CHUNK), threads)


def _size(units: int, width: int) -> int:
    """Bytes of the tables for one column."""
    return -(-units // width) * (8 << width)


def _tables(column: Integers, width: int) -> Integers:
    """Sums over every subset of each `width` units in turn, of shape (coins / width rounded up, 2^width); coins come in
    whole bytes."""
    units = int(column.shape[0])
    positions = -(-8 * coins.rows(units) // width)
    padded: Integers = np.zeros((positions, width), dtype=np.int64)
    padded.reshape(-1)[:units] = column
    table: Integers = np.zeros((positions, 1 << width), dtype=np.int64)
    for bit in range(width):
        half = 1 << bit
        np.add(table[:, :half], padded[:, bit : bit + 1], out=table[:, half : 2 * half])
    return table


def _indices(
    block: coins.Bytes, width: int, wanted: Booleans
) -> Iterator[tuple[int, NDArray[np.uint8] | NDArray[np.uint16]]]:
    """The tables to look into, and where in each for every shuffle."""
    if width == 8:
        for row in np.flatnonzero(wanted).tolist():
            yield row, block[row]
        return
    # Three bytes are two times twelve bits.
    for row in range(0, block.shape[0], 3):
        if not wanted[row : row + 3].any():
            continue
        low = block[row].astype(np.uint16)
        if row + 1 == block.shape[0]:
            yield 2 * row // 3, low
            continue
        middle = block[row + 1].astype(np.uint16)
        yield 2 * row // 3, low | ((middle & 15) << 8)
        high = middle >> 4
        if row + 2 < block.shape[0]:
            high |= block[row + 2].astype(np.uint16) << 4
        if 2 * row // 3 + 1 < -(-8 * block.shape[0] // 12):
            yield 2 * row // 3 + 1, high
