"""The quantities that have a bootstrap interval: values of systems, differences of pairs, and averages of them.

Each provides the influence of each unit, and its deviations and values in resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import frexp, ldexp, sqrt

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import (
    Resampled,
    Smooth,
    Student,
    first_order_influences,
    functions,
    gradient_of,
    near_student,
    of_differences,
    ratio_influences,
    ratios,
)
from evalhouse.warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits
from evalhouse.warehouse.significance.bootstrap.resamples import Resamples, SystemValues, kinds, whole
from evalhouse.warehouse.significance.distributions import t_quantile
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.sums import Sums

# === systems and pairs ================================================================================================
# A pair is put into a fixed order before anything is computed. So the result is the same to the last digit, except for
# its sign, whichever system was named first.

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
            return functions(self.many.counts, self.many.valuation, self.times)
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
        return near_student(influences, self.times, student, tail) & self.are_steady(places)

    def are_steady(self, places: Places) -> Booleans:
        """Which of the estimates have only denominators that vary so little."""
        return np.asarray(self.steady[places])

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

    def are_steady(self, places: Places) -> Booleans:
        return np.asarray(self.steady[self.first[places]] & self.steady[self.second[places]])

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


# === averages over test sets ==========================================================================================
# Units are resampled within each test set, and the test sets are treated as separate samples: each keeps its number of
# units in every resample, and the variance of an average is the weighted sum of the variances on the test sets (Efron &
# Tibshirani 1993, section 8.3, for two samples).


class OfTestSet(Struct, frozen=True, eq=False):
    """The systems on one test set, the constant factor of their values, and the stream of its resamples."""

    many: Sums
    factor: float
    stream: int


class Averages(Struct, frozen=True, eq=False):
    """The average differences of pairs, or values of systems: a weighted sum of those on the test sets."""

    parts: tuple[SystemEstimates, ...]
    weights: tuple[float, ...]
    streams: tuple[int, ...]

    @classmethod
    def of(
        cls, parts: Sequence[OfTestSet], pairs: Sequence[tuple[int, int]], ranks: Sequence[int] | None = None
    ) -> Averages:
        """The averages for the same pairs of systems on each test set. `ranks` decides which of two systems comes
        first; by default it is their places.
        """
        order = range(parts[0].many.systems) if ranks is None else ranks
        differences = tuple(Differences.of(part.many, pairs, order) for part in parts)
        return cls(differences, tuple(part.factor / len(parts) for part in parts), tuple(part.stream for part in parts))

    @classmethod
    def of_systems(cls, parts: Sequence[OfTestSet]) -> Averages:
        """The average values of the same systems on each test set."""
        values = tuple(SystemEstimates(part.many, np.ones(part.many.units, dtype=np.int64)) for part in parts)
        return cls(values, tuple(part.factor / len(parts) for part in parts), tuple(part.stream for part in parts))

    @property
    def size(self) -> int:
        """How many pairs, or systems, there are."""
        return self.parts[0].size

    @property
    def units(self) -> int:
        """The number of units of all test sets together."""
        return sum(part.units for part in self.parts)

    @property
    def degrees(self) -> int:
        """The degrees of freedom of a standard error; 0 if a test set has a single unit."""
        return 0 if min(part.units for part in self.parts) < 2 else self.units - len(self.parts)

    @property
    def times(self) -> Integers:
        """The number of units that each column of influences represents."""
        return np.concatenate([part.times for part in self.parts])

    @property
    def signs(self) -> Floats:
        """−1 for pairs taken in reverse order, else 1; of shape (size,)."""
        return self.parts[0].signs

    @property
    def values(self) -> Floats:
        """The observed values, of shape (size,)."""
        return self._add_parts([part.values for part in self.parts])

    def influences(self, places: Places) -> Floats:
        """The influence of each unit on some of the averages, of shape (places, units)."""
        return np.concatenate(
            [weight * part.influences(places) for part, weight in zip(self.parts, self.weights, strict=True)], axis=1
        )

    def near_normal(self, places: Places, influences: Floats, student: Student, tail: float) -> Booleans:
        """Which of the averages with these influences are close enough to Student's t at the tail probability
        `tail`.
        """
        steady = [part.are_steady(places) for part in self.parts]
        near: Booleans = near_student(influences, self.times, student, tail)
        return np.asarray(near & np.logical_and.reduce(steady))

    def half_steps(self) -> Floats:
        """Half of the smallest step by which an average can change, from the smallest step on any test set; of shape
        (size,).
        """
        steps = [abs(weight) * part.half_steps() for part, weight in zip(self.parts, self.weights, strict=True)]
        return np.asarray(np.minimum.reduce(steps))

    def of_values(self, values: Floats, places: Places) -> Floats:
        """Some of the averages, computed from average values of the systems of shape (systems, any)."""
        return self.parts[0].of_values(values, places)

    def by_kind(self, place: int) -> Averages:
        """One of the averages, with the units of each test set grouped by kind."""
        return replace(self, parts=tuple(part.by_kind(place) for part in self.parts))

    def over(self, supply: Supply, draws: Draws) -> OverAverages:
        """The averages in resamples where the units of each test set are drawn one by one."""
        own = zip(self.parts, self._draws(draws), strict=True)
        return OverAverages(self, tuple(part.over(supply, of_part) for part, of_part in own))

    def over_kinds(self, draws: Draws) -> OverAverages:
        """The averages in resamples where the units of each test set are counted by kind."""
        own = zip(self.parts, self._draws(draws), strict=True)
        return OverAverages(self, tuple(part.over_kinds(of_part) for part, of_part in own))

    def _draws(self, draws: Draws) -> list[Draws]:
        return [replace(draws, stream=stream) for stream in self.streams]

    def _add_parts(self, of_parts: Sequence[Floats]) -> Floats:
        return np.asarray(sum(weight * part for part, weight in zip(of_parts, self.weights, strict=True)))


class OverAverages(Struct, frozen=True, eq=False, dict=True):
    """The systems in the resamples of each test set."""

    estimates: Averages
    parts: tuple[OverResamples, ...]

    def deviates(self, places: Places) -> tuple[Floats, Floats]:
        """The deviations of some of the averages from the observed ones in each resample, NaN where undefined, and
        their variances there; both of shape (places, resamples).
        """
        found = [part.deviates(places) for part in self.parts]
        deviations = self.estimates._add_parts([deviation for deviation, _ in found])
        squares = [weight**2 * variance for (_, variance), weight in zip(found, self.estimates.weights, strict=True)]
        return deviations, np.asarray(sum(squares))

    @cached_property
    def values(self) -> SystemValues:
        """The average values of the systems."""
        of_parts = [part.values for part in self.parts]
        observed = self.estimates._add_parts([values.observed for values in of_parts])
        resampled = self.estimates._add_parts([values.resampled for values in of_parts])

        def without_one() -> Floats:
            moved = [
                weight * (values.without_one() - values.observed[:, None])
                for values, weight in zip(of_parts, self.estimates.weights, strict=True)
            ]
            return np.asarray(observed[:, None] + np.concatenate(moved, axis=1))

        return SystemValues(observed, resampled, without_one)

    @property
    def moved(self) -> Floats:
        """The sums of the influences on each system over each resample, of shape (systems, resamples)."""
        return self.estimates._add_parts([part.moved for part in self.parts])


# === averages over runs ===============================================================================================
# The interval of a system's value for other documents and other runs. If every run has the same documents, the variance
# has a part for documents, which includes the noise that remains after averaging over runs, and a part for runs,
# without the noise that is already in the first part: the variance components of a two-way layout (Scheffé 1959,
# chapter 7; for evaluations Miller 2024, section 3). If each document is in one run only, as with folds, documents are
# nested in runs, and the variance is that between runs.


def over_runs(
    limits: ConfidenceLimits, value: float, influences: Floats, present: Booleans, level: float
) -> ConfidenceLimits:
    """The studentized interval of a system's value over documents, the first of `limits`, widened by the variance of
    its runs.

    `influences` has the influence of each run on the value in each unit, of shape (runs, units); `present`, of the same
    shape, says whether the run has the unit. The quantile is at least that of Student's t with the combined degrees of
    freedom of both parts (Satterthwaite 1946).
    """
    size, units = present.shape
    error = float(limits.errors[0])
    if size < 2 or units < 2 or not error > 0:
        return limits
    quantile = (float(limits.high[0]) - value) / error
    # Near 1, because squares of very small numbers would vanish.
    exponent = frexp(error)[1]
    error, influences = ldexp(error, -exponent), np.ldexp(influences, -exponent)
    of_runs = size / (size - 1) * float((influences.sum(axis=1) ** 2).sum())
    counted = error**2 if (present.sum(axis=0) <= 1).all() else _noise(influences, present)
    added = max(0.0, of_runs - counted)
    total = error**2 + added
    degrees = total**2 / (error**4 / (units - 1) + added**2 / (size - 1))
    both = ldexp(sqrt(total), exponent)
    half = max(quantile, t_quantile(level / 2, degrees)) * both if quantile == quantile else quantile
    low, high, errors = (np.full_like(limits.errors, number) for number in (value - half, value + half, both))
    return replace(limits, low=low, high=high, errors=errors)


def influences_of(runs: Sums, factor: float) -> Floats:
    """The influence of each run of a system on its value in each unit, of shape (runs, units). The influences sum to 0.

    `runs` has the contribution of each run to the sums of the system. The value of the system is `factor` times the
    value of these sums.
    """
    if runs.is_ratio:
        over, under = int(runs.numerators.sum()), int(runs.denominators.sum())
        return factor * (runs.numerators - runs.denominators * (over / under)) / under

    def value(sums: Floats) -> Floats:
        return runs.valuation.values(sums[0])[None]

    columns = np.stack([column.ravel() for column in runs.columns])[None].astype(np.float64)
    times = np.ones(columns.shape[2], dtype=np.int64)
    influences = first_order_influences(
        value, lambda sums: gradient_of(runs.valuation, sums, len(times)), columns, times
    )
    return np.asarray(factor * influences.reshape(runs.columns[0].shape))


def influences_on_mean(runs: Sums, factor: float) -> Floats:
    """The influence of each run on the mean of what the runs have by themselves, in each unit, of shape (runs, units).
    The influences sum to 0, and those of a run to what its value moves the mean.
    """
    alone = [runs.only((run,)) for run in range(runs.systems)]
    influences = np.concatenate([influences_of(run, factor) for run in alone])
    values = factor * runs.values()[:, None]
    return np.asarray((influences + (values - values.mean()) / influences.shape[1]) / runs.systems)


def _noise(influences: Floats, present: Booleans) -> float:
    """The part of the variance between runs that is noise on single documents, estimated from the documents that all
    runs have.
    """
    size, units = len(present), len(present.T)
    everywhere: Floats = influences[:, present.all(axis=0)]
    if everywhere.shape[1] < 2:
        return 0.0
    rest: Floats = everywhere - everywhere.mean(axis=0) - everywhere.mean(axis=1, keepdims=True) + everywhere.mean()
    squares = float((rest**2).sum())
    return squares * size * units / ((size - 1) * (len(everywhere.T) - 1))
