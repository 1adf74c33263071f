"""The quantities that have an interval: the values of systems, and the differences of pairs of systems.

Both provide the influence of each unit, and their deviations and values in resamples. A pair is put into a fixed order
before anything is computed. So the result is the same to the last digit, except for its sign, whichever system was
named first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from warehouse.significance.bootstrap.bootstrap_t import Student, near_student
from warehouse.significance.bootstrap.percentiles import SystemValues
from warehouse.significance.bootstrap.resamples import Resamples, kinds, whole
from warehouse.significance.bootstrap.standard_errors import (
    Resampled,
    Smooth,
    functions,
    of_differences,
    ratio_influences,
    ratios,
)
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats, Integers, Places
from warehouse.significance.sums import Sums

UNSTEADY = 0.01
"""A sum of denominators may be treated as a known number if its variance is no larger than this share of its square."""

Supply = Callable[[int, Draws], Resamples]
"""A function that gives the resamples of a number of units."""


class SystemEstimates(Struct, frozen=True, eq=False, dict=True):
    """The values of systems. `times` says how many units each column of their counts represents."""

    many: Sums
    times: Integers

    @property
    def size(self) -> int:
        """How many estimates there are."""
        return self.many.systems

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.times.sum())

    @property
    def degrees(self) -> int:
        """The degrees of freedom of a standard error."""
        return self.units - 1

    @property
    def signs(self) -> Floats:
        """−1 for a difference taken in reverse order, else 1; of shape (size,)."""
        return np.ones(self.size)

    @property
    def values(self) -> Floats:
        """The observed values, of shape (size,)."""
        return self.many.values()

    @cached_property
    def systems(self) -> Smooth:
        """The values of the systems as functions of sums."""
        if self.many.is_function:
            return functions(self.many.counts, self.many.valuation.values, self.times)
        return ratios(self.many.numerators, self.many.denominators, self.times)

    @cached_property
    def of_systems(self) -> Floats:
        """The influence of each unit on each system's value, of shape (systems, units). Where no resamples are needed
        it is all that is computed.
        """
        if self.many.is_ratio:
            return ratio_influences(self.many.numerators, self.many.denominators, self.times)
        assert self.systems.influences is not None
        return self.systems.influences

    def influences(self, places: Places) -> Floats:
        """The influence of each unit on some of the estimates, of shape (places, units)."""
        return np.asarray(self.of_systems[places])

    @cached_property
    def steady(self) -> Booleans:
        """Which systems have denominators that vary so little that their sum may be treated as a known number, of shape
        (systems,). It is false for functions that are not ratios.
        """
        if self.many.is_function:
            return np.zeros(self.many.systems, dtype=np.bool_)
        squares = np.empty(self.many.systems)
        for place, row in enumerate(self.many.denominators):
            unders = row.astype(np.float64)
            squares[place] = (unders * unders * self.times).sum() / (unders * self.times).sum() ** 2
        return np.asarray(squares - 1 / self.units <= UNSTEADY)

    def near_normal(self, places: Places, influences: Floats, student: Student, tail: float) -> Booleans:
        """Which of the estimates with these influences are close enough to Student's t at the tail probability
        `tail`.
        """
        return near_student(influences, self.times, student, tail) & self.steady[places]

    def half_steps(self) -> Floats:
        """Half of the smallest step by which an estimate can change, or 0 if there is no smallest step; of shape
        (size,).
        """
        return np.zeros(self.size)

    def deviates(self, places: Places, drawn: OverResamples) -> tuple[Floats, Floats]:
        """The deviations of some of the estimates from the observed ones in each resample, NaN where undefined, and
        their variances there; both of shape (places, resamples).
        """
        return drawn.systems.deviations[places], drawn.variances[places]

    def of_values(self, values: Floats, places: Places) -> Floats:
        """Some of the estimates, computed from values of the systems of shape (systems, any)."""
        return values[places]

    def by_kind(self, place: int) -> SystemEstimates:
        """One of the estimates, with its units grouped by kind."""
        alone, times = _by_kind(self.many, [place, place])
        return SystemEstimates(alone, times)

    def over(self, supply: Supply, draws: Draws) -> OverResamples:
        """The estimates in resamples where units are drawn one by one."""
        return OverResamples(self, supply(self.units, draws))

    def over_kinds(self, draws: Draws) -> OverResamples:
        """The estimates in resamples where units are counted by kind."""
        return OverResamples(self, Resamples.of_kinds(self.times, draws))


class CountedByKind(SystemEstimates, frozen=True):
    """The value of one system with few kinds of units. The number of units of each kind is drawn, not each unit."""

    @classmethod
    def of(cls, many: Sums) -> CountedByKind:
        """The value of the first system; `many` has all units one by one."""
        return cls(*_by_kind(many, [0, 0]))

    @property
    def values(self) -> Floats:
        sums = np.stack([(column * self.times).sum(axis=1) for column in self.many.columns])
        if self.many.is_function:
            return self.many.valuation.values(sums.astype(np.float64))
        return np.asarray(sums[0] / sums[1], dtype=np.float64)

    def over(self, supply: Supply, draws: Draws) -> OverResamples:
        return self.over_kinds(draws)


class Differences(SystemEstimates, frozen=True, eq=False, dict=True):
    """The differences of pairs of systems, `first` minus `second`, given by their places. `turned` says which pairs
    were named in the opposite order.
    """

    first: Places
    second: Places
    turned: Booleans

    @classmethod
    def of(cls, many: Sums, pairs: Sequence[tuple[int, int]], ranks: Sequence[int] | None = None) -> Differences:
        """The differences of pairs of systems; `ranks` decides which of two systems comes first; without it their
        values do.
        """
        keys = (
            [_key(np.stack(rows)) for rows in zip(*many.columns, strict=True)]
            if ranks is None
            else [(-r,) for r in ranks]
        )
        turned = np.array([keys[a] < keys[b] for a, b in pairs], dtype=np.bool_)
        ordered = [(b, a) if turn else (a, b) for (a, b), turn in zip(pairs, turned.tolist(), strict=True)]
        first, second = np.array(ordered, dtype=np.intp).reshape(-1, 2).T
        return cls(many, np.ones(many.units, dtype=np.int64), first, second, turned)

    @property
    def size(self) -> int:
        return len(self.first)

    @property
    def signs(self) -> Floats:
        return np.where(self.turned, -1.0, 1.0)

    @property
    def values(self) -> Floats:
        values = self.many.values()
        return np.asarray(values[self.first] - values[self.second])

    @cached_property
    def flat(self) -> Booleans:
        """Which pairs have equal denominators in every unit, so that their difference is itself a ratio."""
        if self.many.is_function:
            return np.zeros(self.size, dtype=np.bool_)
        alike: dict[bytes, int] = {}
        groups = np.array([alike.setdefault(row.tobytes(), len(alike)) for row in self.many.denominators])
        return np.asarray(groups[self.first] == groups[self.second])

    def influences(self, places: Places) -> Floats:
        influences = self.of_systems
        return np.asarray(influences[self.first[places]] - influences[self.second[places]])

    def near_normal(self, places: Places, influences: Floats, student: Student, tail: float) -> Booleans:
        steady = self.steady[self.first[places]] & self.steady[self.second[places]]
        return near_student(influences, self.times, student, tail) & steady

    def half_steps(self) -> Floats:
        """For items that are right or wrong this is half an item, the continuity correction of a sign test (Edwards
        1948).
        """
        steps = np.zeros(self.size)
        if self.many.is_ratio:
            numerators = self.many.numerators
            bottoms = (self.many.denominators * self.times).sum(axis=1).tolist()
            for place in np.flatnonzero(self.flat).tolist():
                first, second = int(self.first[place]), int(self.second[place])
                differences = np.abs(numerators[first] - numerators[second])
                # If one unit differs by 1, the smallest step cannot be larger than 1.
                common = 1 if (differences == 1).any() else int(np.gcd.reduce(differences))
                steps[place] = common / (2 * bottoms[first])
        return steps

    def deviates(self, places: Places, drawn: OverResamples) -> tuple[Floats, Floats]:
        flat, shape = self.flat[places], (len(places), drawn.resamples.size)
        deviations, variances = np.empty(shape), np.empty(shape)
        if flat.any():
            alone = Resampled.of(self._ratios(places[flat]), drawn.resamples)
            deviations[flat], variances[flat] = alone.deviations, alone.variances()
        if not flat.all():
            first, second = self.first[places[~flat]], self.second[places[~flat]]
            deviations[~flat], variances[~flat] = of_differences(drawn.systems, drawn.variances, first, second)
        return deviations, variances

    def of_values(self, values: Floats, places: Places) -> Floats:
        return np.asarray(values[self.first[places]] - values[self.second[places]])

    def by_kind(self, place: int) -> Differences:
        alone, times = _by_kind(self.many, [int(self.first[place]), int(self.second[place])])
        first, second = np.array([[0], [1]], dtype=np.intp)
        return Differences(alone, times, first, second, self.turned[place : place + 1])

    def _ratios(self, places: Places) -> Smooth:
        """The differences of pairs with equal denominators, as ratios."""
        assert self.many.is_ratio
        first, second = self.first[places], self.second[places]
        numerators = self.many.numerators[first] - self.many.numerators[second]
        return ratios(numerators, self.many.denominators[first], self.times)


class OverResamples(Struct, frozen=True, eq=False, dict=True):
    """The systems of some estimates in resamples. Each property is computed only when it is first used."""

    estimates: SystemEstimates
    resamples: Resamples

    def deviates(self, places: Places) -> tuple[Floats, Floats]:
        """The deviations of some of the estimates from the observed ones in each resample, and their variances
        there.
        """
        return self.estimates.deviates(places, self)

    @cached_property
    def systems(self) -> Resampled:
        """The deviations of the systems, and their gradients."""
        return Resampled.of(self.estimates.systems, self.resamples)

    @cached_property
    def variances(self) -> Floats:
        """The variances of the systems, of shape (systems, resamples)."""
        return self.systems.variances()

    @cached_property
    def values(self) -> SystemValues:
        """The values of the systems."""
        return SystemValues.of(self.estimates.many, self.resamples)

    @property
    def moved(self) -> Floats:
        """The sums of the influences on each system over each resample, of shape (systems, resamples)."""
        columns, worth = whole(self.estimates.of_systems, self.estimates.units)
        return np.asarray(self.resamples.sums(columns) * worth[:, None])


def standard_errors(influences: Floats, times: Integers) -> Floats:
    """The standard errors that follow from influences of shape (any, units). They do not depend on the order of the
    units.
    """
    scaled, worth = whole(influences, int(times.sum()), factors=2)
    return np.asarray(np.sqrt((scaled * scaled * times).sum(axis=1)) * worth)


def _by_kind(many: Sums, places: Sequence[int]) -> tuple[Sums, Integers]:
    """Some systems with their units grouped by kind, and the number of units of each kind. The other systems are left
    out.
    """
    columns = many.only(places).table
    table, times = kinds(columns.reshape(-1, columns.shape[2]))
    columns = table.reshape(*columns.shape[:2], -1)
    if many.is_function:
        return Sums.of_counts(columns.transpose(1, 0, 2), many.valuation), times
    return Sums.of_ratios(columns[0], columns[1]), times


def _key(rows: Integers) -> tuple[int, ...]:
    """A key that distinguishes systems with columns of shape (columns, units) and does not depend on the order of the
    units. Sums that are too large wrap around; the key still distinguishes systems then.
    """
    return (*rows.sum(axis=1).tolist(), *(rows * rows).sum(axis=1).tolist())
