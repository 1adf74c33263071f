"""Shuffling one pair of systems: sums over the units that change places, read from tables a few coins at a time.

A byte of coins says which of eight units change places, so one lookup in a table of 256 sums replaces eight additions.
Several sums, such as those of numerators and of denominators, are packed into one int64 as far as they fit. For long
runs the coins are read twelve at a time: the tables are sixteen times as large, and a third fewer lookups are needed.
In both cases the coins are those of `coins.py`, so the sums are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from grammar.value import value
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Integers
from warehouse.significance.shuffles import coins
from warehouse.significance.work import in_order

LONG_RUN = 100_000
"""From this many shuffles on the tables have twelve bits. For fewer shuffles, filling them costs more than they save.
"""

TABLES = 64 << 20
"""The size, in bytes, of tables that are kept. Larger tables have eight bits and are filled again for each block of
coins.
"""


WORD = 62
"""The number of bits of an int64 that packed sums may use together."""


@value
class PackedColumns:
    """Several columns of integers, each of shape (units,), whose sums over the exchanged units are needed. As many
    columns as fit are packed into one int64: the first in the lowest bits, each next one shifted by the width of those
    before it.

    `words` has the packed numbers, and `widths` the number of bits of each column, word by word.
    """

    words: list[Integers]
    widths: list[list[int]]

    @classmethod
    def of(cls, columns: Sequence[Integers]) -> PackedColumns:
        """Packs the columns in their order."""
        packed, used = cls([], []), WORD
        for column in columns:
            width = int(np.abs(column).sum()).bit_length() + 1
            if used + width > WORD:
                packed.words.append(column)
                packed.widths.append([])
                used = 0
            else:
                packed.words[-1] = packed.words[-1] + (column << used)
            packed.widths[-1].append(width)
            used += width
        return packed

    def unpack(self, sums: list[Integers]) -> list[Integers]:
        """The sums of the columns, from the sums of the words."""
        apart = []
        for word, widths in zip(sums, self.widths, strict=True):
            rest = word
            for width in widths[:-1]:
                lowest = (rest << (64 - width)) >> (64 - width)
                rest = (rest - lowest) >> width
                apart.append(lowest)
            apart.append(rest)
        return apart


def bits(units: int, shuffles: int) -> int:
    """The number of coins in one table lookup: 8 or 12."""
    return 12 if shuffles >= LONG_RUN and _size(units, 12) <= TABLES else 8


def memory(units: int, shuffles: int) -> int:
    """The approximate number of bytes that `sums_over_exchanged` holds at once, for at most two columns."""
    tables = min(_size(units, bits(units, shuffles)), TABLES)
    return 2 * tables + min(coins.ROWS, coins.rows(units)) * coins.CHUNK + 16 * 8 * coins.CHUNK


def sums_over_exchanged(columns: Sequence[Integers], draws: Draws, threads: int = 1) -> Iterator[list[Integers]]:
    """For each chunk of shuffles the sums of columns of shape (units,) over the units that change places, each of shape
    (shuffles in the chunk,). Threads divide the chunks among them, or the units of a single chunk; each thread holds
    its own memory.
    """
    packed = PackedColumns.of(columns)
    return map(packed.unpack, _sums_over_exchanged(packed.words, draws, threads))


def _sums_over_exchanged(columns: Sequence[Integers], draws: Draws, threads: int) -> Iterator[list[Integers]]:
    units = int(columns[0].shape[0])
    width = bits(units, draws.shuffles)
    kept = [_tables(column, width) for column in columns] if _size(units, width) <= TABLES else None
    # Rows of coins without a differing unit are skipped.
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
            # Every block but the last has a multiple of three rows, so that groups of twelve bits begin with the block.
            tables = [table[8 * first // width :] for table in kept]
        place = np.empty(used, dtype=np.intp)
        looked = np.empty(used, dtype=np.int64)
        for row, index in _indices(block, width, wanted[first:stop]):
            np.copyto(place, index)
            for table, total in zip(tables, totals, strict=True):
                # This is the only mode that neither checks nor copies; no index is out of range.
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
    """The numbers of the tables, and the index into each table for every shuffle."""
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
