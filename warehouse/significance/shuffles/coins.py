"""The coins of shuffles, and the sums over the exchange units that change places.

The coins depend only on the seed, the stream and the number of units. So all measures and all pairs of systems share
them ("common coins"), a pair that is tested alone has the same coins, and a longer run begins with the shuffles of a
shorter one. The exceptions are a pair's own coins in very long runs, and binomial draws, which stand for the coins of
equal units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from math import isqrt
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Integers, Narrow, Places, narrow
from evalhouse.warehouse.significance.draws import COINS, OWN_COINS, Draws, in_order

# === common coins =====================================================================================================
# Within a chunk of shuffles the coins are bytes: the byte in row r, column s holds the coins of the units 8r to 8r + 7
# in shuffle s, lowest bit first. A set bit means that the two systems change places. This layout must not change,
# because saved results depend on it.

CHUNK = 10_000
"""The number of shuffles in a chunk, a multiple of 8; 9,999 shuffles need one chunk. Another size gives other coins for
a seed.
"""

ROWS = 384
"""Rows of coins held at once, a multiple of 3. Any number gives the same coins."""

Bytes: TypeAlias = NDArray[np.uint8]


def rows(units: int) -> int:
    """The number of rows of bytes that hold the coins of `units` units."""
    return -(-units // 8)


def blocks(units: int, draws: Draws, chunk: int, used: int) -> Iterator[tuple[int, Bytes]]:
    """The coins of one chunk, a few rows at a time: the first row's number and an array of shape (rows, used)."""
    source = draws.generator(chunk, COINS)
    total = rows(units)
    for first in range(0, total, ROWS):
        height = min(ROWS, total - first)
        words = source.bit_generator.random_raw(height * CHUNK // 8)
        # Little-endian words on every machine, so that the bytes are the same.
        yield first, words.astype("<u8", copy=False).view(np.uint8).reshape(height, CHUNK)[:, :used]


# === one pair by table lookup =========================================================================================
# Sums over the units that change places, read from tables a few coins at a time. A byte of coins says which of eight
# units change places, so one lookup in a table of 256 sums replaces eight additions. Several sums, such as those of
# numerators and of denominators, are packed into one integer as far as they fit.

TABLES = 64 << 20
"""The size, in bytes, of tables that are kept. Larger tables are filled again for each block of coins."""

WORD = 62
"""The number of bits of an int64 that packed sums may use together."""

PackedSums: TypeAlias = NDArray[np.signedinteger[Any]]
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


def memory_of_lookup(units: int) -> int:
    """The approximate number of bytes that `sums_over_exchanged` holds at once, for at most two columns."""
    tables = min(_size(units), TABLES)
    return 2 * tables + min(ROWS, rows(units)) * CHUNK + 16 * 8 * CHUNK


def sums_over_exchanged(columns: Sequence[Integers], draws: Draws, threads: int = 1) -> Iterator[list[Integers]]:
    """For each chunk of shuffles the sums of columns of shape (units,) over the units that change places, each of shape
    (shuffles in the chunk,). Threads divide the chunks among them, or the units of a single chunk; each thread holds
    its own memory.
    """
    packed = PackedColumns.of(columns)
    units = int(columns[0].shape[0])
    kept = packed.tables(8) if _size(units) <= TABLES else None
    # Rows of coins without a differing unit are skipped.
    wanted = np.zeros(rows(units), dtype=bool)
    for column in columns:
        wanted[np.flatnonzero(column) // 8] = True

    def looked_up(numbered: tuple[int, Bytes]) -> list[Integers]:
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
        for part in in_order(looked_up, blocks(units, draws, chunk, used), sharing):
            for total, of_part in zip(totals, part, strict=True):
                np.add(total, of_part, out=total)
        return packed.unpack(totals)

    if draws.shuffles <= CHUNK:
        yield summed(next(draws.chunks(CHUNK)), threads)
    else:
        yield from in_order(summed, draws.chunks(CHUNK), threads)


def exchanged_units(units: int, draws: Draws, chunk: int, used: int) -> Iterator[tuple[int, Booleans]]:
    """Which units change places in the shuffles of one chunk, as in `sums_over_exchanged`, a few units at a time: the
    number of the first, and an array of shape (units, used).
    """
    for first, block in blocks(units, draws, chunk, used):
        for row, coins in enumerate(block, first):
            bits = np.unpackbits(coins[None], axis=0, bitorder="little", count=min(8, units - 8 * row))
            yield 8 * row, bits.astype(np.bool_)


def _read(block: Bytes, rows: Sequence[int]) -> Iterator[tuple[int, Places]]:
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
    return rows(units) * (8 << 8)


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


# === one pair with its own coins ======================================================================================
# For the later shuffles of a long run. The common coins cost as much for a unit in which two systems agree as for any
# other, so a pair of many differing units has coins of its own after the first COMMON_FIRST shuffles: only units that
# differ have one. These coins depend on the seed, the stream and the number of differing units: bits 0 to 59 of word k
# are the coins of the differing units 60k to 60k + 59, and the other bits are not used. They are read twelve at a time.

COMMON_FIRST = 100_000
"""The number of shuffles that have the common coins, a multiple of CHUNK. A run of at most this many gives the same for
a pair alone as among other pairs. Changing it changes the results for a seed.
"""

OWN_DIFFERING = 1000
"""A pair that differs in at least this many units has coins of its own. Changing it changes the results for a seed."""

OWN_WIDTH = 12
"""The number of coins in one lookup. Tables of twelve coins still fit into the first cache, if sums have 32 bits."""

OWN_FIELDS = 5
"""The number of lookups for each random word."""

CHUNKS_AT_ONCE = 4
"""The number of chunks that are summed together, so that each table is fetched into the cache once for all of them. Any
number gives the same sums.
"""


def memory_of_own_coins(differing: int) -> int:
    """The approximate number of bytes that `sums_with_own_coins` holds at once, for at most two columns."""
    return 2 * -(-differing // OWN_WIDTH) * (8 << OWN_WIDTH) + 8 * 8 * CHUNKS_AT_ONCE * CHUNK


def sums_with_own_coins(columns: Sequence[Integers], draws: Draws, threads: int = 1) -> Iterator[list[Integers]]:
    """For some chunks of shuffles at a time the sums of columns of shape (units,) over the units that change places,
    each of shape (shuffles in these chunks,). Threads divide the chunks among them; each holds its own memory.
    """
    differing = np.flatnonzero(np.any(columns, axis=0))
    packed = PackedColumns.of([column[differing] for column in columns])
    tables = packed.tables(OWN_WIDTH)

    def summed(chunks: Sequence[tuple[int, int]]) -> list[Integers]:
        sources = [draws.generator(chunk, OWN_COINS) for chunk, _ in chunks]
        sums = add_up(tables, _read_own(sources, len(tables[0])), len(chunks) * CHUNK)
        # Only the last chunk may be used in part.
        return packed.unpack([total[: sum(used for _, used in chunks)] for total in sums])

    chunks = draws.chunks(CHUNK)
    return in_order(summed, iter(lambda: list(islice(chunks, CHUNKS_AT_ONCE)), []), threads)


def _read_own(sources: Sequence[np.random.Generator], rows: int) -> Iterator[tuple[int, Places]]:
    """The number of each row of tables, and the coins of its units in every shuffle."""
    words = np.empty((len(sources), CHUNK), dtype=np.int64)
    coins = np.empty_like(words)
    for row in range(rows):
        if row % OWN_FIELDS:
            np.right_shift(words, OWN_WIDTH, out=words)
        else:
            for source, part in zip(sources, words, strict=True):
                part[:] = source.bit_generator.random_raw(CHUNK).view(np.int64)
        np.bitwise_and(words, (1 << OWN_WIDTH) - 1, out=coins)
        yield row, coins.reshape(-1)


# === all systems by matrix product ====================================================================================
# The signed sums of all systems in each shuffle: their counts times the coins. The product is exact because its sums
# are integers below 2^24 (float32) or 2^53 (float64).

Reals: TypeAlias = NDArray[np.floating[Any]]

SLICE = 1 << 17
"""The number of systems × shuffles computed at once: large enough that call overhead is small, and small enough for the
processor's cache. Threads do not help here, because the calls are too short to share the interpreter.
"""

SPREAD = 1 << 20
"""The number of coins that are expanded to numbers at once."""


class ReducedCounts(Struct, frozen=True, eq=False):
    """The counts of the systems, minus the smallest count of each unit, and divided by their greatest common divisor.

    This leaves the differences of pairs unchanged except for the factor `scale`. `rows` has the shape (systems, units);
    `reach` bounds the sum of a system over any set of units.
    """

    rows: Narrow
    scale: int
    reach: Integers

    @classmethod
    def of(cls, rows: Integers) -> ReducedCounts:
        """Reduces counts of shape (systems, units)."""
        reduced = rows - rows.min(axis=0)
        scale = int(np.gcd.reduce(reduced, axis=None)) or 1
        if scale > 1:
            reduced //= scale
        reach = reduced.sum(axis=1, dtype=np.int64)
        return cls(narrow(reduced), scale, reach)


class Slice(Struct, frozen=True):
    """The systems' signed sums in some shuffles: for each of `Shuffler.counts` an array of shape (systems,
    shuffles)."""

    sums: tuple[Reals, ...]
    shuffles: int


class Shuffler:
    """The distinct counts of some measures, and their matrix product with the coins."""

    def __init__(self, tables: Sequence[Integers | Sequence[Integers]]) -> None:
        """Takes one table of counts for each measure: columns of shape (systems, units).

        `places` says for each measure which of the distinct `counts` are its columns. Raises ValueError if there are no
        measures, or if they differ in the number of systems or units.
        """
        if not tables:
            raise ValueError("no measure to compare by")
        shapes = {rows.shape for table in tables for rows in table}
        if len(shapes) > 1:
            raise ValueError(f"the measures have different systems or units: shapes {sorted(shapes)}")
        self.counts: list[ReducedCounts] = []
        self.places: list[tuple[int, ...]] = []
        arrays: dict[bytes, int] = {}
        for table in tables:
            places = []
            for rows in table:
                key = _digest(rows)
                if key not in arrays:
                    arrays[key] = len(self.counts)
                    self.counts.append(ReducedCounts.of(rows))
                places.append(arrays[key])
            self.places.append(tuple(places))
        # A pair's sum is the difference of two sums, so it needs one more bit.
        reach = 2 * max(int(counts.reach.max()) for counts in self.counts)
        self.dtype: np.dtype[np.floating[Any]] | None = None
        if reach < 2**24:
            self.dtype = np.dtype(np.float32)
        elif reach < 2**53:
            self.dtype = np.dtype(np.float64)

    def slices(self, draws: Draws, shuffles: int | None = None) -> Iterator[Slice]:
        """The signed sums of every shuffle, in order, in slices of `shuffles` shuffles or, by default, as many as SLICE
        allows. It cannot be used if sums of counts exceed 2^53; `dtype` is None then.
        """
        dtype = self.dtype or np.dtype(np.float64)
        systems, units = self.counts[0].rows.shape
        table = np.empty((len(self.counts) * systems, units), dtype=dtype)
        for index, counted in enumerate(self.counts):
            table[index * systems : (index + 1) * systems] = counted.rows
        differing: Booleans = np.any(table, axis=0)
        whole = table.sum(axis=1, dtype=np.float64).astype(dtype)[:, None]
        width = max(64, min(CHUNK, SLICE // systems) // 8 * 8)
        height = max(1, SPREAD // (8 * width))
        for chunk, used in draws.chunks(CHUNK):
            product = np.zeros((table.shape[0], used), dtype=dtype)
            for first, block in blocks(units, draws, chunk, used):
                for row in range(0, block.shape[0], height):
                    coins_here = block[row : row + height]
                    start = 8 * (first + row)
                    here = np.flatnonzero(differing[start : start + 8 * coins_here.shape[0]])
                    if not here.size:
                        continue
                    counts = table[:, start + here]
                    for left in range(0, used, width):
                        right = left + width
                        spread = np.unpackbits(coins_here[:, left:right], axis=0, bitorder="little")
                        if here.size < spread.shape[0]:
                            spread = spread[here]
                        product[:, left:right] += counts @ spread.astype(dtype)
            product *= -2
            product += whole
            for left, right in _spans(used, shuffles or width):
                part = product[:, left:right]
                sums = tuple(part[index * systems : (index + 1) * systems] for index in range(len(self.counts)))
                yield Slice(sums, int(part.shape[1]))


def _digest(rows: Integers) -> bytes:
    """A digest that is the same for the same counts. Keeping the counts would take one more copy of each column."""
    digest = blake2b(digest_size=32)
    for row in rows:
        digest.update(np.ascontiguousarray(row).data)
    return digest.digest()


def _spans(used: int, width: int) -> Iterator[tuple[int, int]]:
    """Where slices begin and end: whole words as long as there are any, then the rest."""
    whole = used // 8 * 8
    for left in range(0, whole, width):
        yield left, min(left + width, whole)
    if whole < used:
        yield whole, used


# === binomial draws ===================================================================================================
# One table lookup per draw instead of single coins. A draw inverts the distribution function by guide tables (Chen &
# Asau 1974; Devroye 1986, section III.2.4): its first bits mostly leave one number of heads; where they do not, 64 bits
# in all decide. Up to a million coins a draw costs about the same; from ten million on the first bits hardly ever
# decide. This part must not know what the coins are for.

MANY_COINS = 4096
"""From this many coins on, tables have sixteen bits instead of eleven. Changing this, or the order in which bits are
drawn, changes the results for a seed.
"""

OPEN = -1
"""The entry of a guide table if its bits leave more than one possible number of heads."""


def guide_bits(count: int) -> int:
    """The number of bits that are looked up for `count` coins."""
    return 11 if count < MANY_COINS else 16


def memory_of_tables(count: int) -> int:
    """The approximate size, in bytes, of the tables for `count` coins."""
    return 8 * ((1 << guide_bits(count)) + min(count, 10 * isqrt(count) + 10))


def weights(count: int, reach: int) -> tuple[int, NDArray[np.float64]]:
    """The probability of each number of heads relative to the middle one, for numbers up to `reach` away from it: the
    lowest number, and the relative probabilities from there on.
    """
    middle = count // 2
    more = np.arange(middle, min(count, middle + reach), dtype=np.float64)
    upper = np.concatenate(([1.0], np.cumprod((count - more) / (more + 1))))
    # k and count − k are equally likely, so the lower half is the upper half reversed.
    lower = upper[1 + count % 2 :][::-1]
    return middle - len(lower), np.concatenate((lower, upper))


class BinomialTable(Struct, frozen=True, eq=False):
    """The distribution of the number of heads among a number of coins, as a lookup table.

    `edges` has 2^64 · P(heads ≤ lowest + i) in ascending order, as far as it is below 2^64. For the first `bits` bits
    of a 64-bit number, `guide` has the number of edges that are at most that number, or OPEN if these bits do not
    determine it.
    """

    lowest: int
    edges: NDArray[np.uint64]
    guide: NDArray[np.int64]

    @classmethod
    def of(cls, count: int) -> BinomialTable:
        """The table for `count` coins. Raises ValueError for fewer than one coin."""
        if count < 1:
            raise ValueError(f"heads among {count} coins")
        # Ten standard deviations to each side; the probability beyond is below 2^-64.
        lowest, likely = weights(count, 5 * isqrt(count) + 5)
        sums = np.cumsum(likely)
        shares = sums / sums[-1]
        edges = np.ldexp(shares[shares < 1], 64).astype(np.uint64)
        bits = guide_bits(count)
        inside = np.bincount((edges >> np.uint64(64 - bits)).astype(np.intp), minlength=1 << bits)
        guide = np.where(inside > 0, OPEN, np.cumsum(inside))
        return cls(lowest, edges, guide)

    @property
    def bits(self) -> int:
        """The number of bits that are looked up."""
        return len(self.guide).bit_length() - 1

    def draw(self, source: np.random.Generator, size: int) -> NDArray[np.int64]:
        """Draws of shape (size,). Raises ValueError if `size` is not a multiple of 4."""
        if size % 4:
            raise ValueError(f"{size} draws, and four come at a time")
        words = source.bit_generator.random_raw(size // 4)
        # Little-endian words on every machine, so that the parts are the same.
        first = words.astype("<u8", copy=False).view("<u2")
        # This is the only mode that neither checks nor copies; no index is out of range.
        draws = np.take(self.guide, (first >> (16 - self.bits)).astype(np.intp), mode="clip")
        undecided = np.flatnonzero(draws == OPEN)
        if undecided.size:
            rest = source.bit_generator.random_raw(undecided.size) >> np.uint64(16)
            whole = (first[undecided].astype(np.uint64) << np.uint64(48)) | rest
            draws[undecided] = np.searchsorted(self.edges, whole, side="right")
        draws += self.lowest
        return draws
