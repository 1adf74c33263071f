"""What a test of one pair of systems may use besides the sums: differences, samples, items that are right.

If the data do not have one of these, the error says why in a sentence. This module must not test anything.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct

from warehouse.significance.analytic import matched
from warehouse.significance.paired import Floats, Integers, quotients
from warehouse.significance.sums import Sums


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
        return matched.settled(measured.values_a[both], measured.values_b[both], measured.doubts[both])

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
        """The values of each system on the units where it has one, each of shape (its units,)."""
        a, b = self.paired.unit_values(0), self.paired.unit_values(1)
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
