"""Shuffling one pair of systems: sums over the units that change places, read from tables a few coins at a time.

A byte of coins says which of eight units change places, so one lookup in a table of 256 sums replaces eight additions.
Several sums, such as those of numerators and of denominators, are packed into one integer as far as they fit. The coins
are those of `coins.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from warehouse.significance.draws import Draws
from warehouse.significance.paired import Integers, Places
from warehouse.significance.shuffles import coins
from warehouse.significance.work import in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLES = 64 << 20
"""The size, in bytes, of tables that are kept. Larger tables are filled again for each block of coins."""

WORD = 62
"""The number of bits of an int64 that packed sums may use together."""

PackedSums: TypeAlias = "NDArray[np.signedinteger[Any]]"
"""Sums of words of packed columns, of 32 or 64 bits."""


class PackedColumns(Struct, frozen=True):
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

    def unpack(self, sums: Sequence[Integers]) -> list[Integers]:
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

    def tables(self, width: int, units: slice = slice(None)) -> list[PackedSums]:
        """For each word the sums over every subset of each `width` units in turn, of shape (units / width rounded up,
        2^width). They have 32 bits where the sums of the word fit into these: lookups in smaller tables are faster.
        """
        return [
            _subset_sums(word[units].astype(np.int32 if sum(widths) <= 32 else np.int64), width)
            for word, widths in zip(self.words, self.widths, strict=True)
        ]


def memory(units: int) -> int:
    """The approximate number of bytes that `sums_over_exchanged` holds at once, for at most two columns."""
    tables = min(_size(units), TABLES)
    return 2 * tables + min(coins.ROWS, coins.rows(units)) * coins.CHUNK + 16 * 8 * coins.CHUNK


def sums_over_exchanged(columns: Sequence[Integers], draws: Draws, threads: int = 1) -> Iterator[list[Integers]]:
    """For each chunk of shuffles the sums of columns of shape (units,) over the units that change places, each of shape
    (shuffles in the chunk,). Threads divide the chunks among them, or the units of a single chunk; each thread holds
    its own memory.
    """
    packed = PackedColumns.of(columns)
    units = int(columns[0].shape[0])
    kept = packed.tables(8) if _size(units) <= TABLES else None
    # Rows of coins without a differing unit are skipped.
    wanted = np.zeros(coins.rows(units), dtype=bool)
    for column in columns:
        wanted[np.flatnonzero(column) // 8] = True

    def looked_up(numbered: tuple[int, coins.Bytes]) -> list[Integers]:
        first, block = numbered
        stop = first + block.shape[0]
        rows = np.flatnonzero(wanted[first:stop]).tolist()
        tables = (
            [table[first:stop] for table in kept] if kept is not None else packed.tables(8, slice(8 * first, 8 * stop))
        )
        return add_up(tables, _read(block, rows), block.shape[1])

    def summed(numbered: tuple[int, int], sharing: int = 1) -> list[Integers]:
        chunk, used = numbered
        totals = [np.zeros(used, dtype=np.int64) for _ in packed.words]
        for part in in_order(looked_up, coins.blocks(units, draws, chunk, used), sharing):
            for total, of_part in zip(totals, part, strict=True):
                np.add(total, of_part, out=total)
        return packed.unpack(totals)

    if draws.shuffles <= coins.CHUNK:
        yield summed(next(draws.chunks(coins.CHUNK)), threads)
    else:
        yield from in_order(summed, draws.chunks(coins.CHUNK), threads)


def _read(block: coins.Bytes, rows: Sequence[int]) -> Iterator[tuple[int, Places]]:
    """Rows of coins as integers, each with its number."""
    place = np.empty(block.shape[1], dtype=np.intp)
    for row in rows:
        np.copyto(place, block[row])
        yield row, place


def add_up(tables: Sequence[PackedSums], places: Iterator[tuple[int, Places]], shuffles: int) -> list[Integers]:
    """For each table the sums, in every shuffle, of what is found in its rows. Given are the numbers of these rows and
    the place in each for every shuffle.
    """
    totals = [np.zeros(shuffles, dtype=table.dtype) for table in tables]
    looked_up = [np.empty_like(total) for total in totals]
    for row, place in places:
        for table, total, found in zip(tables, totals, looked_up, strict=True):
            # Other than the default, this mode does not copy the result once more; no place is out of range.
            np.take(table[row], place, out=found, mode="wrap")
            np.add(total, found, out=total)
    return [total.astype(np.int64, copy=False) for total in totals]


def _size(units: int) -> int:
    """The largest number of bytes of the tables for one column."""
    return coins.rows(units) * (8 << 8)


def _subset_sums(column: PackedSums, width: int) -> PackedSums:
    """One table of the numbers of a column. Units that the last row lacks count as zero."""
    rows = -(-column.shape[0] // width)
    padded = np.zeros((rows, width), dtype=column.dtype)
    padded.reshape(-1)[: column.shape[0]] = column
    table: PackedSums = np.zeros((rows, 1 << width), dtype=column.dtype)
    for bit in range(width):
        half = 1 << bit
        np.add(table[:, :half], padded[:, bit : bit + 1], out=table[:, half : 2 * half])
    return table
