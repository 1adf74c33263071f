"""The sums of one statistic in each exchange unit, as significance tests take them.

`RatioSums` are numerators and denominators as whole numbers, `FunctionSums` the counts of a measure that is not a
ratio, and `Orders` the confidences of one that is not computed from sums. All tell a system's value and its values unit
by unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from math import ceil, frexp, lcm
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from grammar.value import replace, value
from warehouse.measures import Function, Ranking, Ratio, Statistic
from warehouse.measures.expression import Exact
from warehouse.measures.formula import LinearForm, combined, integers
from warehouse.measures.function import rounded
from warehouse.query.comparison.observations import Observations
from warehouse.significance.areas import Ranked
from warehouse.significance.paired import SUM_LIMIT, Booleans, Floats, Integers, Many, narrowed
from warehouse.significance.valuation import ManyCounts, ManySystems, Valuation

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMMON = 2**20
"""The largest common denominator that the values of documents are put over."""

_OFF = 2.0**-51
"""The relative error of a value that is not a whole number: a few roundings of floating point."""

_UNEVEN = 2**8
"""Where a system's values are so many times those of another, common fixed point leaves the other too few digits."""

Numbers = TypeVar("Numbers", Integers, Floats)

AT_ONCE = 2**17
"""Pairs × exchange units compared at once."""


@value
class RoundedFrom:
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


@value
class RatioSums:
    """Numerator and denominator of a statistic, of shape (systems, exchange units).

    A system's value is `factor` · ΣN / ΣD. Numerator sums that differ by no more than `slack` are ties. `measured` is
    there where numerators are rounded. `counted` says of each system that its documents are right or wrong, 1 or 0.
    `is_total` says that the value is not a mean but a total: each observation has the denominator 1, and the factor is
    how many there are.
    """

    numerators: Integers
    denominators: Integers
    factor: Fraction
    slack: int
    known: Booleans
    counted: Booleans
    measured: RoundedFrom | None = None
    is_total: bool = False

    def exact_value(self, system: int) -> Fraction | None:
        """The value of a system, None where it is undefined or a count is unknown."""
        under = int(self.denominators[system].sum())
        if not under or not self.known[system]:
            return None
        over = Fraction(int(self.numerators[system].sum()))
        if self.measured is not None:
            over += Fraction(float(self.measured.rest[system]))
        return self.factor * over / under

    def unit_values(self, system: int) -> Floats:
        """A system's value on each exchange unit, but for the factor; NaN where it has none."""
        over: Integers | Floats = self.numerators[system]
        if self.measured is not None:
            over = self.measured.in_units(system)
        under = self.denominators[system]
        without = np.full(over.shape, np.nan)
        return np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)

    def own_values(self, system: int) -> Floats:
        """A system's value on each exchange unit by itself; NaN where it has none."""
        if self.is_total:
            return np.asarray(self.numerators[system] * float(self.factor / int(self.denominators[system].sum())))
        return self.unit_values(system) * float(self.factor)

    def influences(self, system: int) -> Floats:
        """What each exchange unit adds to a system's value, to first order and but for the factor: (N − R·D) / ΣD."""
        under = self.denominators[system].astype(np.float64)
        over = self.numerators[system] if self.measured is None else self.measured.in_units(system)
        total = under.sum()
        return np.asarray((over - under * (over.sum() / total)) / total, dtype=np.float64)

    def resample(self, system: int, counts: Floats) -> Floats:
        """A system's value when each exchange unit counts so often, for counts of shape (any, exchange units)."""
        over, under = counts @ self.numerators[system], counts @ self.denominators[system]
        without = np.full(over.shape, np.nan)
        return float(self.factor) * np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        if self.measured is None:
            return _differing(_as_one(self.numerators, self.denominators), pairs)
        return _differing((self.measured.values, narrowed(self.denominators)), pairs)

    def only(self, places: Sequence[int]) -> RatioSums:
        """Those of some systems."""
        some = np.array(places, dtype=np.intp)
        measured = self.measured
        if measured is not None:
            measured = replace(
                measured, values=measured.values[some], doubts=measured.doubts[some], rest=measured.rest[some]
            )
        return replace(
            self,
            numerators=self.numerators[some],
            denominators=self.denominators[some],
            known=self.known[some],
            counted=self.counted[some],
            measured=measured,
        )

    @property
    def uneven(self) -> bool:
        """Whether the values of one system are so large that those of another have too few digits beside them."""
        if self.measured is None:
            return False
        sizes = np.abs(self.measured.values).sum(axis=1)
        return float(sizes.max()) > _UNEVEN * float(sizes[sizes > 0].min())

    def refined(self, places: Sequence[int]) -> RatioSums:
        """Those of some systems, in fixed point as fine as their own values allow."""
        some = self.only(places)
        if some.measured is None:
            return some
        values, doubts = some.measured.values, some.measured.doubts
        over, unit, rest = _fixed(values)
        slack = _slack(values.shape[1], doubts, unit) if some.slack and rest is not None else 0
        measured = None if rest is None else RoundedFrom(values, doubts, rest, unit)
        factor = some.factor / some.measured.unit * unit
        return replace(some, numerators=over, factor=factor, slack=slack, measured=measured)

    def with_raised(self, amount: Fraction) -> RatioSums:
        """Those of the systems, and behind them those of the same systems, the value of each higher by `amount`.

        Raises OverflowError where the numbers have too many digits.
        """
        twice = replace(self.only([*range(len(self.known))] * 2), counted=np.zeros(2 * len(self.known), dtype=np.bool_))
        if self.measured is not None:
            by = float(amount * self.measured.unit / self.factor)
            values, doubts = _raised(self.measured, self.denominators, by)
            over, unit, rest = _fixed(values)
            slack = 0 if rest is None else _slack(values.shape[1], doubts, unit)
            measured = None if rest is None else RoundedFrom(values, doubts, rest, unit)
            return replace(
                twice, numerators=over, factor=self.factor / self.measured.unit * unit, slack=slack, measured=measured
            )
        step = amount / self.factor
        reach = np.abs(self.numerators).sum(axis=1).max(initial=0), self.denominators.sum(axis=1).max(initial=0)
        if int(reach[0]) * step.denominator + int(reach[1]) * abs(step.numerator) >= SUM_LIMIT:
            raise OverflowError("too many digits")
        plain = self.numerators * step.denominator
        return replace(
            twice,
            numerators=np.concatenate((plain, plain + self.denominators * step.numerator)),
            factor=self.factor / step.denominator,
            slack=self.slack * step.denominator,
        )


def _raised(measured: RoundedFrom, denominators: Integers, by: float) -> tuple[Floats, Floats]:
    """Values, and behind them values higher by so much for each denominator; and by how much each may be off."""
    higher = measured.values + by * denominators
    doubts = measured.doubts + _OFF * np.abs(higher)
    return np.concatenate((measured.values, higher)), np.concatenate((measured.doubts, doubts))


@value
class FunctionSums:
    """The counts that a function of sums is computed from, of shape (systems, columns, exchange units)."""

    valuation: Valuation
    counts: Integers
    known: Booleans

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
        return self.values(self.counts[system].astype(np.float64))

    def own_values(self, system: int) -> Floats:
        """A system's value on each exchange unit by itself; NaN where it has none."""
        return self.unit_values(system)

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        return _differing([narrowed(column) for column in self.counts.transpose(1, 0, 2)], pairs)

    def only(self, places: Sequence[int]) -> FunctionSums:
        """Those of some systems."""
        some = np.array(places, dtype=np.intp)
        return replace(self, counts=self.counts[some], known=self.known[some])


@value
class Orders:
    """The confidences that areas are computed from, on the documents that are relevant or not."""

    ranked: Ranked

    @property
    def factor(self) -> Fraction:
        """What the difference of a pair's exchanges, a mean over exchange units, is multiplied by."""
        return Fraction(self.ranked.units, 4 * self.ranked.orders)

    def exact_value(self, system: int) -> Fraction | None:
        """The value of a system, None where it is undefined."""
        return self.ranked.area(system)

    def unit_values(self, system: int) -> Floats:
        """NaN: an order has no value unit by unit."""
        return np.full(self.ranked.units, np.nan)

    def own_values(self, system: int) -> Floats:
        """NaN, as there are none."""
        return self.unit_values(system)

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        return [self.ranked.differing(a, b) for a, b in pairs]

    def only(self, places: Sequence[int]) -> Orders:
        """Those of some systems."""
        return Orders(self.ranked.only(np.array(places, dtype=np.intp)))


Additive = RatioSums | FunctionSums
"""What follows from sums over exchange units."""

Sums = Additive | Orders


def systems_of(sums: Additive, rows: Sequence[int] | None = None) -> ManySystems:
    """The sums of all systems, or of some, as statistics take them. A single system is paired with itself."""
    places = list(range(len(sums.known)) if rows is None else rows)
    places = places * 2 if len(places) == 1 else places
    if isinstance(sums, FunctionSums):
        return ManyCounts(sums.counts[places], sums.valuation)
    return Many(sums.numerators[places], sums.denominators[places], sums.slack)


def sums(observations: Observations, statistic: Statistic) -> Sums:
    """What tests take of a statistic. Raises ValueError for one that observations do not give."""
    if isinstance(statistic.computation, Ranking) and observations.confidences is not None:
        return _orders(observations, statistic.computation, observations.confidences)
    return additive(observations, statistic)


def additive(observations: Observations, statistic: Statistic) -> Additive:
    """The sums of a statistic over each exchange unit. Raises ValueError for one that is not computed from sums."""
    known = np.ones(len(observations.systems), dtype=np.bool_)
    if observations.values is not None:
        everything = np.ones(observations.values.shape, dtype=np.bool_)
        return _of_values(observations, observations.values, everything, Fraction(1), known)
    for column in statistic.columns:
        known &= observations.known[column].all(axis=1)
    if statistic.averaged:
        return _averaged(observations, statistic, known)
    match statistic.computation:
        case Ratio() as ratio:
            over, under = ratio.read(observations.counts)
            return _ratios(observations, over, under, ratio.factor, known)
        case Function() as function if (total := function.total) is not None:
            return _of_total(observations, total, known)
        case Function() as function:
            counts = [_clustered(observations, observations.counts[column]) for column in function.columns]
            return FunctionSums(_valuation(function), np.stack(counts, axis=1), known)
    raise ValueError(f"{statistic.label} is not computed from sums")


def _of_total(observations: Observations, total: LinearForm, known: Booleans) -> RatioSums:
    """A total as a ratio, so that it is compared exactly: the mean over the observations, as many times."""
    form, factor = integers(total)
    over = combined(form, observations.counts)
    summed = _ratios(observations, over, np.ones_like(over), factor * observations.cluster.size, known)
    return replace(summed, is_total=True)


def _valuation(function: Function) -> Valuation:
    """A function as tests take it."""

    def values(sums: Floats) -> Floats:
        return function.values(dict(zip(function.columns, sums, strict=True)))

    return Valuation(values, function.exact)


def _orders(observations: Observations, ranking: Ranking, confidences: Floats) -> Orders:
    """The confidences on the documents that should be above or below others."""
    cells = {cell: counts.any(axis=0) for cell, counts in observations.counts.items()}
    labels = np.select([cells["a"] | cells["c"], cells["x"] | cells["y"]], ["relevant", "optional"], "nonrelevant")
    above, below = ranking.sides(labels)
    either = above | below
    cluster = np.unique(observations.cluster[either], return_inverse=True)[1].reshape(-1)
    return Orders(Ranked(confidences[:, either], above[either], cluster))


def run_sums(observations: Observations, statistic: Statistic, common: int) -> Additive:
    """The sums of the runs of one system: what each contributes to their average, put over `common`, or over a multiple
    of it that all numbers of runs of an observation divide.
    """
    runs = np.maximum(observations.present.sum(axis=0), 1)
    common = lcm(common, *np.unique(runs).tolist())
    weights = np.where(observations.present, common // runs, 0)
    if observations.values is None:
        weighted = {name: grid * weights for name, grid in observations.counts.items()}
        summed = additive(replace(observations, counts=weighted), statistic)
        if isinstance(summed, RatioSums) and summed.is_total:
            # Each run has the denominator 1 of its own, so that all together have as many.
            return replace(summed, factor=summed.factor * len(summed.known))
        return summed
    over, unit, _ = _fixed(observations.values)
    spare = max(0, int(np.abs(over).sum(axis=1).max(initial=0)).bit_length() + common.bit_length() - 58)
    known = np.ones(len(over), dtype=np.bool_)
    return _ratios(observations, (over >> spare) * weights, weights, unit * 2**spare, known)


def added(runs: Additive) -> Additive:
    """The sums of a system from those of its runs."""
    known = np.array([bool(runs.known.all())])
    if isinstance(runs, FunctionSums):
        return replace(runs, counts=runs.counts.sum(axis=0, keepdims=True), known=known)
    over, under = runs.numerators.sum(axis=0, keepdims=True), runs.denominators.sum(axis=0, keepdims=True)
    counted = np.zeros(1, dtype=np.bool_)
    return replace(runs, numerators=over, denominators=under, known=known, slack=0, counted=counted, measured=None)


def present_units(observations: Observations) -> Booleans:
    """Which systems have anything in each exchange unit, of shape (systems, exchange units)."""
    return np.asarray(_clustered(observations, observations.present.astype(np.int64)) > 0)


def _differing(tables: Sequence[NDArray[Any]], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """In how many exchange units the two systems of each pair differ, in any table of shape (systems, units)."""
    counts: list[int] = []
    at_once = max(1, AT_ONCE // max(tables[0].shape[1], 1))
    for first, of_first in groupby(pairs, key=itemgetter(0)):
        others = [other for _, other in of_first]
        for start in range(0, len(others), at_once):
            some = others[start : start + at_once]
            # Systems that follow one another are compared where they are, others are copied.
            following = some[-1] - some[0] + 1 == len(some) and some == sorted(some)
            chosen = slice(some[0], some[-1] + 1) if following else some
            unlike = tables[0][chosen] != tables[0][first]
            for table in tables[1:]:
                unlike |= table[chosen] != table[first]
            counts += np.count_nonzero(unlike, axis=1).tolist()
    return counts


def _as_one(over: Integers, under: Integers) -> tuple[NDArray[Any], ...]:
    """Two tables as one that differs where either does, if the numbers leave room: pairs are so many that a copy in a
    smaller type is soon repaid.
    """
    least, low = int(over.min(initial=0)), int(under.min(initial=0))
    width = int(under.max(initial=0)) - low + 1
    most = (int(over.max(initial=0)) - least + 1) * width
    if most >= 2**31:
        return narrowed(over), narrowed(under)
    one = np.empty(over.shape, dtype=np.min_scalar_type(most))
    for row, of_over, of_under in zip(one, over, under, strict=True):
        row[:] = (of_over - least) * width + (of_under - low)
    return (one,)


def _averaged(observations: Observations, statistic: Statistic, known: Booleans) -> RatioSums:
    """The mean over documents as a ratio: the values of the documents in fixed point over how many have one."""
    factor = Fraction(1)
    if isinstance(statistic.computation, Ratio):
        factor = statistic.computation.factor
        over, under = statistic.computation.read(observations.counts)
        defined = under != 0
        common = lcm(*(int(denominator) for denominator in np.unique(under) if denominator)) if defined.any() else 1
        if common <= _COMMON:
            whole = np.where(defined, over * (common // np.where(defined, under, 1)), 0)
            return _ratios(observations, whole, defined.astype(np.int64), factor / common, known)
        values = np.divide(over, under, out=np.zeros(over.shape), where=defined)
    elif isinstance(statistic.computation, Function):
        undefined_as_nan = statistic.computation.values(_floats(observations.counts, statistic.columns))
        defined = ~np.isnan(undefined_as_nan)
        values = np.where(defined, undefined_as_nan, 0.0)
    else:
        raise ValueError(f"{statistic.label} has no value for single documents")
    return _of_values(observations, values, defined, factor, known)


def _of_values(
    observations: Observations, values: Floats, defined: Booleans, factor: Fraction, known: Booleans
) -> RatioSums:
    """The mean of the values that are defined, but for a factor; both have the shape (systems, observations)."""
    alike = bool((defined == defined[0]).all())
    counted = np.asarray((defined & np.isin(values, (0.0, 1.0))).all(axis=1))
    over, unit, rest = _fixed(values)
    under = _clustered(observations, defined.astype(np.int64))
    plain = RatioSums(_clustered(observations, over), under, factor * unit, 0, known, counted)
    if rest is None:
        return plain
    fractional = np.where(values == np.rint(values), 0.0, np.abs(values))
    doubts = np.asarray(
        _OFF * _clustered(observations, fractional) * np.bincount(observations.cluster), dtype=np.float64
    )
    slack = _slack(values.shape[1], doubts, unit) if alike else 0
    return replace(plain, slack=slack, measured=RoundedFrom(_clustered(observations, values), doubts, rest, unit))


def _floats(counts: Mapping[str, Integers], columns: tuple[str, ...]) -> dict[str, Floats]:
    return {column: counts[column].astype(np.float64) for column in columns}


def _ratios(
    observations: Observations, over: Integers, under: Integers, factor: Fraction, known: Booleans
) -> RatioSums:
    numerators, denominators = _clustered(observations, over), _clustered(observations, under)
    return RatioSums(numerators, denominators, factor, 0, known, np.zeros(len(known), dtype=np.bool_))


def _clustered(observations: Observations, counts: Numbers) -> Numbers:
    """Counts of shape (systems, observations) summed over the observations of each exchange unit."""
    if observations.units == observations.cluster.size:
        in_order = bool((np.diff(observations.cluster) > 0).all())
        return counts if in_order else counts[:, np.argsort(observations.cluster)]
    order = np.argsort(observations.cluster, kind="stable")
    edges = np.flatnonzero(np.diff(observations.cluster[order], prepend=-1))
    return np.asarray(np.add.reduceat(counts[:, order], edges, axis=1), dtype=counts.dtype)


def _fixed(values: Floats) -> tuple[Integers, Fraction, Floats | None]:
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
    places = 57 - frexp(largest)[1]
    scaled = np.ldexp(values, places)
    whole = np.rint(scaled)
    return whole.astype(np.int64), Fraction(2) ** -places, (scaled - whole).sum(axis=1)


def _slack(observations: int, doubts: Floats, unit: Fraction) -> int:
    """By how much equal sums may differ after an exchange: rounding moves each difference by up to 1, which exchanged
    counts twice, and so do doubts of shape (systems, any)."""
    return 2 * observations + ceil(4 * Fraction(float(doubts.sum(axis=1).max())) / unit)
