"""How many of so many fair coins are heads, drawn again and again: one look into a table a draw, not a coin each.

A draw inverts the distribution function, by guide tables (Chen & Asau 1974; Devroye 1986, section III.2.4): its first
bits mostly leave one number of heads; where they do not, 64 bits in all decide. Up to a million coins a draw costs
about the same; from ten million on the first bits hardly ever decide. Nothing here knows what the coins are for.
"""

from __future__ import annotations

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from grammar.value import value

MANY_COINS = 4096
"""From so many coins on, tables are made for sixteen bits and not for eleven. Part of what a seed means, as is the
order in which bits are drawn."""

OPEN = -1
"""What a guide says where its bits leave more than one number of heads."""


def guide_bits(count: int) -> int:
    """How many bits are looked up for so many coins."""
    return 11 if count < MANY_COINS else 16


def memory(count: int) -> int:
    """About how many bytes the tables for so many coins take."""
    return 8 * ((1 << guide_bits(count)) + min(count, 10 * isqrt(count) + 10))


def weights(count: int, reach: int) -> tuple[int, NDArray[np.float64]]:
    """How likely each number of heads is beside the middle one, up to so many from it: the lowest, and one a number."""
    middle = count // 2
    more = np.arange(middle, min(count, middle + reach), dtype=np.float64)
    upper = np.concatenate(([1.0], np.cumprod((count - more) / (more + 1))))
    # k and count − k are as likely, so the lower half is the upper one turned around.
    lower = upper[1 + count % 2 :][::-1]
    return middle - len(lower), np.concatenate((lower, upper))


@value(eq=False)
class BinomialTable:
    """The distribution of the heads among a number of coins.

    `edges` are 2^64 · P(heads ≤ lowest + i) in ascending order, those below 2^64. At the place of the first `bits` bits
    of a number of 64, `guide` has how many edges are at most that number, or OPEN.
    """

    lowest: int
    edges: NDArray[np.uint64]
    guide: NDArray[np.int64]

    @classmethod
    def of(cls, count: int) -> BinomialTable:
        """The heads among so many coins. Raises ValueError for fewer than one."""
        if count < 1:
            raise ValueError(f"heads among {count} coins")
        # Ten standard deviations to each side; what is beyond has a probability below 2^-64.
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
        """How many bits are looked up."""
        return len(self.guide).bit_length() - 1

    def draw(self, source: np.random.Generator, size: int) -> NDArray[np.int64]:
        """So many draws, of shape (size,). Raises ValueError for a size that is no multiple of 4."""
        if size % 4:
            raise ValueError(f"{size} draws, and four come at a time")
        words = source.bit_generator.random_raw(size // 4)
        # Little-endian words on every machine, so that the parts are the same.
        first = words.astype("<u8", copy=False).view("<u2")
        # The one mode that neither checks nor copies; no index is out of range.
        draws = np.take(self.guide, (first >> (16 - self.bits)).astype(np.intp), mode="clip")
        undecided = np.flatnonzero(draws == OPEN)
        if undecided.size:
            rest = source.bit_generator.random_raw(undecided.size) >> np.uint64(16)
            whole = (first[undecided].astype(np.uint64) << np.uint64(48)) | rest
            draws[undecided] = np.searchsorted(self.edges, whole, side="right")
        draws += self.lowest
        return draws
