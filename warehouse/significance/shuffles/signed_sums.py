"""The signed sums of all systems in each shuffle, by one matrix product of their counts with the coins.

The product is exact because its sums are integers below 2^24 (float32) or 2^53 (float64).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Integers, Narrow, narrowed
from warehouse.significance.shuffles import coins

if TYPE_CHECKING:
    from numpy.typing import NDArray

Reals: TypeAlias = "NDArray[np.floating[Any]]"

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
        return cls(narrowed(reduced), scale, reach)


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
        width = max(64, min(coins.CHUNK, SLICE // systems) // 8 * 8)
        height = max(1, SPREAD // (8 * width))
        for chunk, used in draws.chunks(coins.CHUNK):
            product = np.zeros((table.shape[0], used), dtype=dtype)
            for first, block in coins.blocks(units, draws, chunk, used):
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
