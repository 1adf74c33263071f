"""Averages over test sets: differences of pairs whose units are resampled within each test set.

Test sets were not drawn from one another: each keeps its number of units in every resample, and the variance of an
average is that of its parts, weighted (Efron & Tibshirani 1993, section 8.3, of two samples).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from grammar.value import value
from warehouse.significance.bootstrap.bootstrap_t import Student, near_student
from warehouse.significance.bootstrap.estimates import Differences, OverResamples, Supply
from warehouse.significance.bootstrap.percentiles import SystemValues
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats, Integers, Places
from warehouse.significance.valuation import ManySystems


@value(eq=False, slots=False)
class OfTestSet:
    """The systems on one test set, the constant factor of their values, and the stream of its resamples."""

    many: ManySystems
    factor: float
    stream: int


@value(eq=False, slots=False)
class Averages:
    """The average differences of pairs: so many times those on each test set, added up."""

    parts: tuple[Differences, ...]
    weights: tuple[float, ...]
    streams: tuple[int, ...]

    @classmethod
    def of(
        cls, parts: Sequence[OfTestSet], pairs: Sequence[tuple[int, int]], ranks: Sequence[int] | None = None
    ) -> Averages:
        """Of the same pairs of systems on each test set; without `ranks` they are taken in the order named."""
        order = range(parts[0].many.systems) if ranks is None else ranks
        differences = tuple(Differences.of(part.many, pairs, order) for part in parts)
        return cls(differences, tuple(part.factor / len(parts) for part in parts), tuple(part.stream for part in parts))

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return self.parts[0].size

    @property
    def units(self) -> int:
        """How many units all test sets have together."""
        return sum(part.units for part in self.parts)

    @property
    def degrees(self) -> int:
        """How many degrees of freedom a standard error has; none where a test set has a single unit."""
        return 0 if min(part.units for part in self.parts) < 2 else self.units - len(self.parts)

    @property
    def times(self) -> Integers:
        """How many units each column of influences stands for."""
        return np.concatenate([part.times for part in self.parts])

    @property
    def signs(self) -> Floats:
        """−1 for what is turned, else 1; of shape (size,)."""
        return self.parts[0].signs

    @property
    def values(self) -> Floats:
        """What was observed, of shape (size,)."""
        return self._added([part.values for part in self.parts])

    def influences(self, places: Places) -> Floats:
        """How far each unit moves some of the averages, of shape (places, units)."""
        return np.concatenate(
            [weight * part.influences(places) for part, weight in zip(self.parts, self.weights, strict=True)], axis=1
        )

    def near_normal(self, places: Places, influences: Floats, student: Student, tail: float) -> Booleans:
        """Which of some averages with these influences deviate as Student's t does, as far out as that tail."""
        steady = [part.steady[part.first[places]] & part.steady[part.second[places]] for part in self.parts]
        near: Booleans = near_student(influences, self.times, student, tail)
        return np.asarray(near & np.logical_and.reduce(steady))

    def half_steps(self) -> Floats:
        """Half of what an average moves by at least, by the smallest step on any test set; of shape (size,)."""
        steps = [abs(weight) * part.half_steps() for part, weight in zip(self.parts, self.weights, strict=True)]
        return np.asarray(np.minimum.reduce(steps))

    def of_values(self, values: Floats, places: Places) -> Floats:
        """Some of the averages, from average values of the systems of shape (systems, any)."""
        return self.parts[0].of_values(values, places)

    def by_kind(self, place: int) -> Averages:
        """One of the averages, the units of each test set counted by kind."""
        return replace(self, parts=tuple(part.by_kind(place) for part in self.parts))

    def over(self, supply: Supply, draws: Draws) -> OverAverages:
        """The averages in resamples of the units of each test set, one by one."""
        own = zip(self.parts, self._draws(draws), strict=True)
        return OverAverages(self, tuple(part.over(supply, of_part) for part, of_part in own))

    def over_kinds(self, draws: Draws) -> OverAverages:
        """The averages in resamples of the units of each test set, counted by kind."""
        own = zip(self.parts, self._draws(draws), strict=True)
        return OverAverages(self, tuple(part.over_kinds(of_part) for part, of_part in own))

    def _draws(self, draws: Draws) -> list[Draws]:
        return [replace(draws, stream=stream) for stream in self.streams]

    def _added(self, of_parts: Sequence[Floats]) -> Floats:
        return np.asarray(sum(weight * part for part, weight in zip(of_parts, self.weights, strict=True)))


@value(eq=False, slots=False)
class OverAverages:
    """What resamples make of the systems on each test set."""

    estimates: Averages
    parts: tuple[OverResamples, ...]

    def deviates(self, places: Places) -> tuple[Floats, Floats]:
        """How far some of the averages are from what was observed in each resample, NaN where undefined, and their
        variances there."""
        found = [part.deviates(places) for part in self.parts]
        deviations = self.estimates._added([deviation for deviation, _ in found])
        squares = [weight**2 * variance for (_, variance), weight in zip(found, self.estimates.weights, strict=True)]
        return deviations, np.asarray(sum(squares))

    @cached_property
    def values(self) -> SystemValues:
        """The average values of the systems."""
        of_parts = [part.values for part in self.parts]
        observed = self.estimates._added([values.observed for values in of_parts])
        resampled = self.estimates._added([values.resampled for values in of_parts])

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
        return self.estimates._added([part.moved for part in self.parts])
