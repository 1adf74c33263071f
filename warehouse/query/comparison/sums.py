"""The sums of one statistic in each exchange unit, as significance tests take them.

`RatioSums` are numerators and denominators as whole numbers, `FunctionSums` the counts of a measure that is not a
ratio. Both tell a system's value and its values unit by unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import frexp, lcm
from operator import itemgetter

import numpy as np

from warehouse.measures import Function, Ratio, Statistic
from warehouse.measures.expression import Exact
from warehouse.measures.function import rounded
from warehouse.query.comparison.observations import Booleans, Floats, Integers, Observations
from warehouse.significance.valuation import Valuation

_COMMON = 2**20
"""The largest common denominator that the values of documents are put over."""

AT_ONCE = 2**17
"""Pairs × exchange units compared at once."""


@dataclass(frozen=True, slots=True)
class RatioSums:
    """Numerator and denominator of a statistic, of shape (systems, exchange units).

    A system's value is `factor` · ΣN / ΣD. Numerator sums that differ by no more than `slack` are ties.
    """

    numerators: Integers
    denominators: Integers
    factor: Fraction
    slack: int
    known: Booleans

    def exact_value(self, system: int) -> Fraction | None:
        """The value of a system, None where it is undefined or a count is unknown."""
        under = int(self.denominators[system].sum())
        if not under or not self.known[system]:
            return None
        return self.factor * Fraction(int(self.numerators[system].sum()), under)

    def unit_values(self, system: int) -> Floats:
        """A system's value on each exchange unit, but for the factor; NaN where it has none."""
        over, under = self.numerators[system], self.denominators[system]
        without = np.full(over.shape, np.nan)
        return np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)

    def resample(self, system: int, counts: Floats) -> Floats:
        """A system's value when each exchange unit counts so often, for counts of shape (any, exchange units)."""
        over, under = counts @ self.numerators[system], counts @ self.denominators[system]
        without = np.full(over.shape, np.nan)
        return float(self.factor) * np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        return _differing((self.numerators, self.denominators), pairs)


@dataclass(frozen=True, slots=True)
class FunctionSums:
    """The counts that a function of sums is computed from, of shape (systems, columns, exchange units).

    `of_units` are the values on each exchange unit, of shape (systems, exchange units), where they are not those of the
    function.
    """

    valuation: Valuation
    counts: Integers
    known: Booleans
    of_units: Floats | None = None

    def exact_value(self, system: int) -> Fraction | None:
        """The value of a system, None where it is undefined or a count is unknown."""
        if not self.known[system]:
            return None
        value = self.exactly(tuple(int(total) for total in self.counts[system].sum(axis=1)))
        return None if value is None or rounded(value) is None else Fraction(value)

    def exactly(self, sums: tuple[int, ...]) -> Exact | None:
        """The value for sums of the columns."""
        return self.valuation.exactly(sums)

    def values(self, sums: Floats) -> Floats:
        """The values for sums of shape (columns, any), in floating point; NaN where undefined."""
        return self.valuation.values(sums)

    def resample(self, system: int, counts: Floats) -> Floats:
        """A system's value when each exchange unit counts so often, for counts of shape (any, exchange units)."""
        return self.values(self.counts[system].astype(np.float64) @ counts.T)

    def unit_values(self, system: int) -> Floats:
        """A system's value on each exchange unit; NaN where it has none."""
        if self.of_units is not None:
            return np.asarray(self.of_units[system])
        return self.values(self.counts[system].astype(np.float64))

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        return _differing(tuple(self.counts.transpose(1, 0, 2)), pairs)


Sums = RatioSums | FunctionSums


def sums(seen: Observations, statistic: Statistic) -> Sums:
    """The sums of a statistic over each exchange unit. Raises ValueError for one that does not follow from sums."""
    if seen.values is not None:
        over, unit, slack = _fixed(seen.values)
        known = np.ones(len(over), dtype=np.bool_)
        return _ratios(seen, over, np.ones_like(over), unit, slack, known)
    known = np.ones(len(seen.systems), dtype=np.bool_)
    for column in statistic.columns:
        known &= seen.known[column].all(axis=1)
    if statistic.averaged:
        return _averaged(seen, statistic, known)
    match statistic.computation:
        case Ratio() as ratio:
            over, under = ratio.read(seen.counts)
            return _ratios(seen, over, under, ratio.factor, 0, known)
        case Function() as function:
            counts = np.stack([_clustered(seen, seen.counts[column]) for column in function.columns], axis=1)
            return FunctionSums(_valuation(function), counts, known)
    raise ValueError(f"{statistic.label} does not follow from sums")


def _valuation(function: Function) -> Valuation:
    """A function as tests take it."""

    def values(sums: Floats) -> Floats:
        return function.values(dict(zip(function.columns, sums, strict=True)))

    return Valuation(values, function.exact)


def _differing(tables: Sequence[Integers], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """In how many exchange units the two systems of each pair differ, in any table of shape (systems, units)."""
    counts: list[int] = []
    at_once = max(1, AT_ONCE // max(tables[0].shape[1], 1))
    for first, of_first in groupby(pairs, key=itemgetter(0)):
        others = [other for _, other in of_first]
        for start in range(0, len(others), at_once):
            some = others[start : start + at_once]
            unlike = np.zeros((len(some), tables[0].shape[1]), dtype=np.bool_)
            for table in tables:
                unlike |= table[some] != table[first]
            counts += np.count_nonzero(unlike, axis=1).tolist()
    return counts


def _averaged(seen: Observations, statistic: Statistic, known: Booleans) -> RatioSums:
    """The mean over documents as a ratio: the values of the documents in fixed point over how many have one."""
    factor = Fraction(1)
    if isinstance(statistic.computation, Ratio):
        factor = statistic.computation.factor
        over, under = statistic.computation.read(seen.counts)
        defined = under != 0
        common = lcm(*(int(denominator) for denominator in np.unique(under) if denominator)) if defined.any() else 1
        if common <= _COMMON:
            whole = np.where(defined, over * (common // np.where(defined, under, 1)), 0)
            return _ratios(seen, whole, defined.astype(np.int64), factor / common, 0, known)
        values = np.divide(over, under, out=np.zeros(over.shape), where=defined)
    elif isinstance(statistic.computation, Function):
        undefined_as_nan = statistic.computation.values(_floats(seen.counts, statistic.columns))
        defined = ~np.isnan(undefined_as_nan)
        values = np.where(defined, undefined_as_nan, 0.0)
    else:
        raise ValueError(f"{statistic.label} has no value document by document")
    fine, unit, slack = _fixed(values)
    alike = bool((defined == defined[0]).all())
    return _ratios(seen, fine, defined.astype(np.int64), factor * unit, slack if alike else 0, known)


def _floats(counts: Mapping[str, Integers], columns: tuple[str, ...]) -> dict[str, Floats]:
    return {column: counts[column].astype(np.float64) for column in columns}


def _ratios(
    seen: Observations, over: Integers, under: Integers, factor: Fraction, slack: int, known: Booleans
) -> RatioSums:
    return RatioSums(_clustered(seen, over), _clustered(seen, under), factor, slack, known)


def _clustered(seen: Observations, counts: Integers) -> Integers:
    """Counts of shape (systems, observations) summed over the observations of each exchange unit."""
    if seen.units == seen.cluster.size:
        return counts[:, np.argsort(seen.cluster)]
    order = np.argsort(seen.cluster, kind="stable")
    edges = np.flatnonzero(np.diff(seen.cluster[order], prepend=-1))
    return np.asarray(np.add.reduceat(counts[:, order], edges, axis=1), dtype=np.int64)


def _fixed(values: Floats) -> tuple[Integers, Fraction, int]:
    """Values as whole numbers, the worth of one, and by how much sums that are equal may differ.

    Decimals of up to nine places are kept exactly. Other values are rounded to the finest power of two at which the
    sums of a system stay below 2^58.
    """
    largest = float(np.abs(values).sum(axis=1).max(initial=0.0))
    for digits in range(10):
        scaled = values * 10**digits
        if largest * 10**digits < 2**50 and (np.rint(scaled) / 10**digits == values).all():
            return np.rint(scaled).astype(np.int64), Fraction(1, 10**digits), 0
    places = 57 - frexp(largest)[1]
    return np.rint(np.ldexp(values, places)).astype(np.int64), Fraction(2) ** -places, values.shape[1]
