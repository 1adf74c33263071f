"""What a test of one pair of systems may use besides the sums: distinct differences, samples, items that are right.

If the data do not have one of these, the error says why in a sentence. This module must not test anything.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance import matched
from evalhouse.warehouse.significance.arrays import Floats, Integers, quotients
from evalhouse.warehouse.significance.sums import Sums

# === distinct differences =============================================================================================
# A fair coin turns a difference into its opposite, so a difference and its opposite have the same null distribution,
# and units with the same difference can be counted instead of listed: a million items scored 0 or 1 are one difference.


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
            kinds, keys = _rank_keys(keys)
        if width >= 2**62 // kinds:
            width, row = _rank_keys(row)
            lowest = 0
        keys = keys * width + (row - lowest)
        kinds *= width
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return table[:, first], counts.astype(np.int64)


def _rank_keys(keys: Integers) -> tuple[int, Integers]:
    """How many different keys there are, and the rank of each."""
    distinct, ranks = np.unique(keys, return_inverse=True)
    return len(distinct), ranks.reshape(-1).astype(np.int64)


# === what else a pair has =============================================================================================


class Unrounded(Struct, frozen=True, eq=False):
    """The values of two systems before their numerators were rounded, and a bound on the error of their difference on
    each unit; all of shape (units,).
    """

    values_a: Floats
    values_b: Floats
    doubts: Floats


class TwoSystems(Struct, frozen=True, eq=False):
    """Two systems on the same units, and what is known of the measure.

    `factor` is the constant factor of a ratio, `averaged` says that the measure is a mean over documents, and
    `proportion` that it is a share of counted items. `unrounded` is given if the numerators are rounded.
    """

    paired: Sums
    factor: Fraction
    averaged: bool
    proportion: bool
    unrounded: Unrounded | None = None

    def differences(self) -> Integers | Floats:
        """The input of a matched-pair test: the difference on each unit, of shape (units,).

        For a mean over documents these are the documents on which both systems have a value. Differences that only
        rounding distinguishes are made equal. Raises ValueError if denominators differ.
        """
        paired = self._ratio
        if not self.averaged:
            differences, both = matched.differences(paired), np.ones(paired.units, dtype=np.bool_)
        else:
            differences, (under_a, under_b) = paired.numerators[0] - paired.numerators[1], paired.denominators
            both = (under_a == under_b) & (under_a > 0)
        if self.unrounded is None:
            return differences[both]
        measured = self.unrounded
        return matched.settle_ties(measured.values_a[both], measured.values_b[both], measured.doubts[both])

    def right_alone(self) -> tuple[int, int]:
        """The number of items that only the first system has right, and the number that only the second has right.

        Raises ValueError if some items are partly right.
        """
        paired = self._ratio
        differences = matched.differences(paired)
        largest = int(paired.numerators.max(initial=0))
        for numerator in paired.numerators:
            if not np.isin(numerator, (0, largest)).all():
                raise ValueError(
                    "it needs items that are right or wrong, and some are partly right; exchange by document or unit "
                    "may help"
                )
        return int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))

    def samples(self) -> tuple[Floats, Floats]:
        """The values of each system on the units where it has one, each of shape (its units,).

        Raises ValueError where the systems differ, but single units are all alike, as they are to a correlation.
        """
        a, b = self.paired.unit_values(0), self.paired.unit_values(1)
        if self.paired.is_function and self.paired.exactly(0) != self.paired.exactly(1):
            known = np.concatenate((a, b))[~np.isnan(np.concatenate((a, b)))]
            if known.size and known.min() == known.max():
                raise ValueError("it needs values of single units that differ, and all of them are the same")
        if self.unrounded is not None:
            a = quotients(self.unrounded.values_a, self._ratio.denominators[0])
            b = quotients(self.unrounded.values_b, self._ratio.denominators[1])
        return a[~np.isnan(a)], b[~np.isnan(b)]

    def proportions(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The number of items that each system has right, and its number of items. Raises ValueError for measures that
        do not count items.
        """
        if not self.proportion or self.averaged:
            raise ValueError(
                "it needs a share of counted items, as recall and precision are, or values that are 0 or 1"
            )
        (over_a, under_a), (over_b, under_b) = self._ratio.totals(0), self._ratio.totals(1)
        return (self._hits(over_a), under_a), (self._hits(over_b), under_b)

    def _hits(self, numerator: int) -> int:
        hits = self.factor * numerator
        if hits.denominator != 1:
            raise ValueError(f"it needs whole items, and partial credit makes them {float(hits)}; write partial=0")
        return int(hits)

    @property
    def _ratio(self) -> Sums:
        if self.paired.is_function:
            raise ValueError("it needs a ratio of sums")
        return self.paired
