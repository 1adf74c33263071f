"""Draws from a binomial distribution of fair coins, with one table lookup per draw instead of single coins.

A draw inverts the distribution function, by guide tables (Chen & Asau 1974; Devroye 1986, section III.2.4): its first
bits mostly leave one number of heads; where they do not, 64 bits in all decide. Up to a million coins a draw costs
about the same; from ten million on the first bits hardly ever decide. This module must not know what the coins are for.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

MANY_COINS = 4096
"""From this many coins on, tables have sixteen bits instead of eleven. Changing this, or the order in which bits are
drawn, changes the results for a seed.
"""

OPEN = -1
"""The entry of a guide table if its bits leave more than one possible number of heads."""


def guide_bits(count: int) -> int:
    """The number of bits that are looked up for `count` coins."""
    return 11 if count < MANY_COINS else 16


def memory(count: int) -> int:
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
