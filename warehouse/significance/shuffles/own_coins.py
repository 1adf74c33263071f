"""The coins of a pair alone, for the later shuffles of a long run: only units that differ have one.

The common coins of `coins.py` cost as much for a unit in which two systems agree as for any other. A pair of many
differing units therefore has coins of its own after the first FIRST shuffles. They depend on the seed, the stream and
the number of differing units: bits 0 to 59 of word k are the coins of the differing units 60k to 60k + 59, and the
other bits are not used. They are read twelve at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from warehouse.significance.draws import OWN_COINS, Draws
from warehouse.significance.paired import Integers, Places
from warehouse.significance.shuffles.coins import CHUNK
from warehouse.significance.shuffles.lookup import PackedColumns, add_up
from warehouse.significance.work import in_order

FIRST = 100_000
"""The number of shuffles that have the common coins, a multiple of CHUNK. A run of at most this many gives the same for
a pair alone as among other pairs. Changing it changes the results for a seed.
"""

DIFFERING = 1000
"""A pair that differs in at least this many units has coins of its own. Changing it changes the results for a seed."""

WIDTH = 12
"""The number of coins in one lookup. Tables of twelve coins still fit into the first cache, if sums have 32 bits."""

FIELDS = 5
"""The number of lookups for each random word."""

AT_ONCE = 4
"""The number of chunks that are summed together, so that each table is fetched into the cache once for all of them. Any
number gives the same sums.
"""


def memory(differing: int) -> int:
    """The approximate number of bytes that `sums_over_exchanged` holds at once, for at most two columns."""
    return 2 * -(-differing // WIDTH) * (8 << WIDTH) + 8 * 8 * AT_ONCE * CHUNK


def sums_over_exchanged(columns: Sequence[Integers], draws: Draws, threads: int = 1) -> Iterator[list[Integers]]:
    """For some chunks of shuffles at a time the sums of columns of shape (units,) over the units that change places,
    each of shape (shuffles in these chunks,). Threads divide the chunks among them; each holds its own memory.
    """
    differing = np.flatnonzero(np.any(columns, axis=0))
    packed = PackedColumns.of([column[differing] for column in columns])
    tables = packed.tables(WIDTH)

    def summed(chunks: Sequence[tuple[int, int]]) -> list[Integers]:
        sources = [draws.generator(chunk, OWN_COINS) for chunk, _ in chunks]
        sums = add_up(tables, _read(sources, len(tables[0])), len(chunks) * CHUNK)
        # Only the last chunk may be used in part.
        return packed.unpack([total[: sum(used for _, used in chunks)] for total in sums])

    chunks = draws.chunks(CHUNK)
    return in_order(summed, iter(lambda: list(islice(chunks, AT_ONCE)), []), threads)


def _read(sources: Sequence[np.random.Generator], rows: int) -> Iterator[tuple[int, Places]]:
    """The number of each row of tables, and the coins of its units in every shuffle."""
    words = np.empty((len(sources), CHUNK), dtype=np.int64)
    coins = np.empty_like(words)
    for row in range(rows):
        if row % FIELDS:
            np.right_shift(words, WIDTH, out=words)
        else:
            for source, part in zip(sources, words, strict=True):
                part[:] = source.bit_generator.random_raw(CHUNK).view(np.int64)
        np.bitwise_and(words, (1 << WIDTH) - 1, out=coins)
        yield row, coins.reshape(-1)
