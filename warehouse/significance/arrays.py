"""The arrays that tests take and give back, and values in floating point as whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, frexp
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

# === arrays by their types ============================================================================================

Integers: TypeAlias = NDArray[np.int64]
Narrow: TypeAlias = NDArray[np.signedinteger[Any]]
Floats: TypeAlias = NDArray[np.float64]
Booleans: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]

SUM_LIMIT = 2**60
"""Numerators and denominators of a system must each sum to less than this in absolute value, so that int64 holds all
sums."""


def narrow(rows: Integers) -> Narrow:
    """Counts in the smallest signed type that holds them, for work that only compares or copies them."""
    low, high = int(rows.min(initial=0)), int(rows.max(initial=0))
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return rows.astype(kind)
    return rows


def quotients(over: Integers | Floats, under: Integers) -> Floats:
    """over / under, both of one shape; NaN where the divisor is 0."""
    without = np.full(over.shape, np.nan)
    return np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)


# === many columns =====================================================================================================

MANY_COLUMNS = 40
"""With more columns than this, the products of each with each would take too long, and variances are computed from what
each unit adds.
"""


class Sparse(Struct, frozen=True, eq=False):
    """The columns of a system, of which each unit has few that are not 0: for each of the first, second … of a unit the
    places of the columns and their counts, of shape (units,).
    """

    places: tuple[Places, ...]
    counts: tuple[Floats, ...]
    units: int

    @classmethod
    def of(cls, columns: Floats) -> Sparse:
        """The columns of shape (columns, units)."""
        unit, place = np.nonzero(columns.T)
        nth = np.arange(len(unit)) - np.searchsorted(unit, unit)
        most = int(nth.max(initial=-1)) + 1
        places, counts = np.zeros((most, columns.shape[1]), dtype=np.intp), np.zeros((most, columns.shape[1]))
        places[nth, unit], counts[nth, unit] = place, columns[place, unit]
        return cls(tuple(places), tuple(counts), columns.shape[1])

    def part(self, units: slice) -> Sparse:
        """Those of some units."""
        counts = tuple(count[units] for count in self.counts)
        return Sparse(tuple(place[units] for place in self.places), counts, len(range(*units.indices(self.units))))

    def times(self, gradients: Floats) -> Floats:
        """The products of gradients of shape (columns, any) with the counts of each unit, of shape (units, any)."""
        products = np.zeros((self.units, gradients.shape[1]))
        for place, count in zip(self.places, self.counts, strict=True):
            products += gradients[place] * count[:, None]
        return products


# === fixed point ======================================================================================================
# Tests add and compare whole numbers exactly, so values are put over a common unit: what one is worth, what rounding
# took, and by how much equal sums may differ.

OFF = 2.0**-51
"""The relative error of a value that is not a whole number: a few roundings of floating point."""

SMALLEST_PLACES = 1074
"""The smallest number above 0 in floating point is two to minus this power."""

_UNEVEN = 2**8
"""Where a system's values are so many times those of another, common fixed point leaves the other too few digits."""


def in_parts(factor: Fraction) -> tuple[float, int]:
    """A factor as a number near 1 and an exponent of two: where the factor is very small, its product with another
    small number is 0, though that by which the product is divided or multiplied then would bring it back.
    """
    exponent = factor.numerator.bit_length() - factor.denominator.bit_length()
    return float(factor / Fraction(2) ** exponent), exponent


class RoundedFrom(Struct, frozen=True, eq=False):
    """Values in floating point that numerators were rounded from, a numerator being so many times `unit`, a power of 2.

    `values` are their sums in each exchange unit, and `doubts` by how much each may be off, both of shape (systems,
    exchange units); `rest` is what rounding took from the sum of each system's numerators.
    """

    values: Floats
    doubts: Floats
    rest: Floats
    unit: Fraction

    def in_units(self, system: int) -> Floats:
        """What the numerators of a system were rounded from."""
        places = self.unit.denominator.bit_length() - self.unit.numerator.bit_length()
        return np.asarray(np.ldexp(self.values[system], places))

    def only(self, places: Places) -> RoundedFrom:
        """Those of some systems."""
        return replace(self, values=self.values[places], doubts=self.doubts[places], rest=self.rest[places])

    @property
    def uneven(self) -> bool:
        """Whether the values of one system are so large that those of another have too few digits beside them."""
        sizes = np.abs(self.values).sum(axis=1)
        return float(sizes.max()) > _UNEVEN * float(sizes[sizes > 0].min())

    def with_raised(self, denominators: Integers, by: float) -> tuple[Floats, Floats]:
        """Values, and behind them values higher by so much for each denominator; and by how much each may be off."""
        higher = self.values + by * denominators
        doubts = self.doubts + OFF * np.abs(higher)
        return np.concatenate((self.values, higher)), np.concatenate((self.doubts, doubts))

    def with_multiplied(self, factors: Sequence[float]) -> tuple[Floats, Floats]:
        """Values multiplied by each factor, one after the other; and by how much each may be off."""
        values = np.concatenate([self.values * factor for factor in factors])
        doubts = np.concatenate([self.doubts * abs(factor) for factor in factors])
        return values, doubts + OFF * np.abs(values)


def to_fixed_point(values: Floats) -> tuple[Integers, Fraction, Floats | None]:
    """Values of shape (systems, any) as whole numbers, the worth of one, and what rounding took from the sum of each
    system, so many times that; None where it took nothing.

    Decimals of up to nine places are kept exactly. Other values are rounded to the finest power of two at which the
    sums of a system stay below 2^58.
    """
    largest = float(np.abs(values).sum(axis=1).max(initial=0.0))
    for digits in range(10):
        scaled = values * 10**digits
        if largest * 10**digits < 2**50 and (np.rint(scaled) / 10**digits == values).all():
            return np.rint(scaled).astype(np.int64), Fraction(1, 10**digits), None
    # All numbers in floating point are whole at the worth of the smallest one, and that of anything finer is 0.
    places = min(57 - frexp(largest)[1], SMALLEST_PLACES)
    scaled = np.ldexp(values, places)
    whole = np.rint(scaled)
    return whole.astype(np.int64), Fraction(2) ** -places, (scaled - whole).sum(axis=1)


def slack_of(observations: int, doubts: Floats, unit: Fraction) -> int:
    """By how much equal sums may differ after an exchange: rounding moves each difference by up to 1, which exchanged
    counts twice, and so do doubts of shape (systems, any)."""
    return 2 * observations + ceil(4 * Fraction(float(doubts.sum(axis=1).max())) / unit)
