"""The coins: which exchange units change places in which shuffle.

The coins depend on the seed, the stream and the number of units, and on nothing else. So they are the same for all
measures, for all pairs of systems and for the one pair asked for alone, and the first shuffles of a longer run are
those of a shorter one ("common coins"). Shuffles come in chunks of a fixed size, each with a generator of its own, so
that neither threads nor the amount of memory at hand change a result.

Within a chunk the coins are bytes: the byte in row r, column s holds the coins of the units 8r to 8r + 7 in shuffle s,
lowest bit first. A set bit means that the two systems change places.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

CHUNK = 10_000
"""Shuffles in a chunk, a multiple of 8; 9,999 need one. Part of what the seed means: another size gives other coins."""

ROWS = 384
"""Rows of coins held at once, a multiple of 3. Any number gives the same coins."""

Stream = int | tuple[int, ...]
"""What the caller sets apart beside the seed, such as a number for the test set: integers, none negative."""

Bytes = NDArray[np.uint8]

COINS, GROUPED, LABELS, RESAMPLES = range(4)
"""What a stream is used for, so that different kinds of draws never share their chance."""


def generator(seed: int, stream: Stream, chunk: int, purpose: int = COINS) -> np.random.Generator:
    """The source of chance for one chunk; `purpose` is one of those above.

    Raises ValueError where the seed or the stream is negative.
    """
    words = [seed, *(stream if isinstance(stream, tuple) else (stream,))]
    if min(words) < 0:
        raise ValueError(f"the seed and the stream are {words}, and none can be negative")
    spawn = (chunk,) if purpose == COINS else (chunk, purpose)
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(words, spawn_key=spawn)))


def chunks(shuffles: int, size: int = CHUNK) -> Iterator[tuple[int, int]]:
    """The number of each chunk and how many of its shuffles are used: all, but for the last."""
    for chunk, first in enumerate(range(0, shuffles, size)):
        yield chunk, min(size, shuffles - first)


def rows(units: int) -> int:
    """How many rows of bytes hold the coins of so many units."""
    return -(-units // 8)


def blocks(units: int, seed: int, stream: Stream, chunk: int, used: int) -> Iterator[tuple[int, Bytes]]:
    """The coins of one chunk, a few rows at a time: the first row's number and an array of shape (rows, used)."""
    source = generator(seed, stream, chunk)
    total = rows(units)
    for first in range(0, total, ROWS):
        height = min(ROWS, total - first)
        words = source.integers(0, 2**64, size=height * CHUNK // 8, dtype=np.uint64)
        # Little-endian words on every machine, so that the bytes are the same.
        yield first, words.astype("<u8", copy=False).view(np.uint8).reshape(height, CHUNK)[:, :used]
