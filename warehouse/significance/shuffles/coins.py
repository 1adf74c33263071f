"""The coins: which exchange units change places in which shuffle.

The coins depend only on the seed, the stream and the number of units. So all measures and all pairs of systems share
them, a pair that is tested alone has the same coins, and a longer run begins with the shuffles of a shorter one
("common coins"). `own_coins.py` has the exception, for very long runs of a pair.

Within a chunk of shuffles the coins are bytes: the byte in row r, column s holds the coins of the units 8r to 8r + 7 in
shuffle s, lowest bit first. A set bit means that the two systems change places.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from warehouse.significance.draws import COINS, Draws

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 10_000
"""The number of shuffles in a chunk, a multiple of 8; 9,999 shuffles need one chunk. Another size gives other coins for
a seed.
"""

ROWS = 384
"""Rows of coins held at once, a multiple of 3. Any number gives the same coins."""

Bytes: TypeAlias = "NDArray[np.uint8]"


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
