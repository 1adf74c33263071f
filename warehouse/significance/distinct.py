"""The distinct differences between two systems, up to sign, and how many units have each.

A fair coin turns a difference into its opposite, so a difference and its opposite have the same null distribution, and
units with the same difference can be counted instead of listed: a million items scored 0 or 1 are one difference.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Integers
from warehouse.significance.sums import Sums


class Distinct(Struct, frozen=True, eq=False):
    """Differences of numerator and denominator with the number of units, each of shape (distinct,); none is (0, 0).

    In each the numerator is positive, or it is 0 and the denominator positive.
    """

    numerator: Integers
    denominator: Integers
    count: Integers

    @classmethod
    def of(cls, paired: Sums) -> Distinct:
        """The differences of two systems; those of units that do not differ are left out."""
        return cls.of_differences(*paired.differences())

    @classmethod
    def of_differences(cls, numerator: Integers, denominator: Integers) -> Distinct:
        """The same for differences of shape (units,)."""
        flip = np.where((numerator < 0) | ((numerator == 0) & (denominator < 0)), -1, 1)
        numerator, denominator = numerator * flip, denominator * flip
        if not numerator.size:
            return cls(numerator, denominator, numerator)
        lowest = int(denominator.min())
        width = int(denominator.max()) - lowest + 1
        cells = (int(numerator.max()) + 1) * width
        if cells < 2**62:
            keys = numerator * width + (denominator - lowest)
            if cells <= 4 * keys.size + 1024:
                counts = np.bincount(keys, minlength=cells)
                keys = np.flatnonzero(counts)
                counts = counts[keys]
            else:
                keys, counts = np.unique(keys, return_counts=True)
            numerator, denominator = keys // width, keys % width + lowest
        else:
            columns, counts = np.unique(np.stack((numerator, denominator)), axis=1, return_counts=True)
            numerator, denominator = columns
        differ = (numerator != 0) | (denominator != 0)
        return cls(numerator[differ], denominator[differ], counts[differ].astype(np.int64))

    @property
    def size(self) -> int:
        """How many distinct differences there are."""
        return int(self.count.shape[0])

    @property
    def units(self) -> int:
        """How many units differ."""
        return int(self.count.sum())


def distinct_columns(table: Integers) -> tuple[Integers, Integers]:
    """The distinct columns of a table of shape (rows, units), in lexicographic order, and the number of units with
    each.

    The result is that of numpy's `unique` with axis=1, which compares columns byte by byte and takes a hundred times as
    long.
    """
    keys = np.zeros(table.shape[1], dtype=np.int64)
    kinds = 1
    for row in table:
        lowest = int(row.min(initial=0))
        width = int(row.max(initial=0)) - lowest + 1
        if width >= 2**62 // kinds:
            kinds, keys = _ranked(keys)
        if width >= 2**62 // kinds:
            width, row = _ranked(row)
            lowest = 0
        keys = keys * width + (row - lowest)
        kinds *= width
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return table[:, first], counts.astype(np.int64)


def _ranked(keys: Integers) -> tuple[int, Integers]:
    """How many different keys there are, and the rank of each."""
    distinct, ranks = np.unique(keys, return_inverse=True)
    return len(distinct), ranks.reshape(-1).astype(np.int64)
