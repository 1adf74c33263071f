"""Averages over test sets of the differences of pairs. Units are resampled within each test set.

The test sets are treated as separate samples: each keeps its number of units in every resample, and the variance of an
average is the weighted sum of the variances on the test sets (Efron & Tibshirani 1993, section 8.3, for two samples).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warehouse.significance.bootstrap.bootstrap_t import Student, near_student
from warehouse.significance.bootstrap.estimates import Differences, OverResamples, Supply
from warehouse.significance.bootstrap.percentiles import SystemValues
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats, Integers, Places
from warehouse.significance.sums import Sums


class OfTestSet(Struct, frozen=True, eq=False):
    """The systems on one test set, the constant factor of their values, and the stream of its resamples."""

    many: Sums
    factor: float
    stream: int


class Averages(Struct, frozen=True, eq=False):
    """The average differences of pairs: a weighted sum of the differences on the test sets."""

    parts: tuple[Differences, ...]
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

    @property
    def size(self) -> int:
        """How many pairs there are."""
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
        return self._added([part.values for part in self.parts])

    def influences(self, places: Places) -> Floats:
        """The influence of each unit on some of the averages, of shape (places, units)."""
        return np.concatenate(
            [weight * part.influences(places) for part, weight in zip(self.parts, self.weights, strict=True)], axis=1
        )

    def near_normal(self, places: Places, influences: Floats, student: Student, tail: float) -> Booleans:
        """Which of the averages with these influences are close enough to Student's t at the tail probability
        `tail`.
        """
        steady = [part.steady[part.first[places]] & part.steady[part.second[places]] for part in self.parts]
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

    def _added(self, of_parts: Sequence[Floats]) -> Floats:
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
