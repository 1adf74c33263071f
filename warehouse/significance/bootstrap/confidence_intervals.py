"""Bootstrap confidence intervals for differences of pairs and for values of systems.

The interval of a pair depends only on its own counts, the seed, the stream and the number of units, unless the
intervals are simultaneous for all pairs. An estimate that is near enough to normal needs no resamples for a studentized
interval, and with very many units for no kind of interval. Its limits then come from the standard error and Student's
t; they agree with limits from resamples within the random error of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import BEYOND, Standardized, Student, quantile_of_largest
from evalhouse.warehouse.significance.bootstrap.estimates import (
    Averages,
    CountedByKind,
    Differences,
    OfTestSet,
    OverAverages,
    OverResamples,
    Supply,
    SystemEstimates,
    standard_errors,
)
from evalhouse.warehouse.significance.bootstrap.interval_kinds import (
    ConfidenceLimits,
    IntervalPlan,
    LimitSides,
    StudentizedDeviations,
)
from evalhouse.warehouse.significance.bootstrap.resamples import (
    FOR_INTERVALS,
    VERY_MANY_UNITS,
    Resamples,
    between,
    corrected_tails,
)
from evalhouse.warehouse.significance.draws import ALONE, Draws, Work, in_order
from evalhouse.warehouse.significance.sums import Sums

AT_ONCE = 32
"""The number of estimates whose resampled values each thread holds at once."""

OUTSIDE = 10
"""The number of resamples that should lie beyond a limit which is a resampled value."""

MOST_RESAMPLES = 20_000
MOST_COUNTS = 1 << 26
"""To reach OUTSIDE, no more than MOST_RESAMPLES resamples with no more than MOST_COUNTS counts in all are drawn."""

PLAIN = IntervalPlan()

Estimates = SystemEstimates | Averages


class Bootstrap(Struct, frozen=True, eq=False, dict=True):
    """The bootstrap of one set of units. All its intervals use the same resamples."""

    draws: Draws = FOR_INTERVALS
    work: Work = ALONE

    def differences(
        self,
        many: Sums,
        pairs: Sequence[tuple[int, int]],
        plan: IntervalPlan = PLAIN,
        factor: float = 1.0,
        ranks: Sequence[int] | None = None,
    ) -> ConfidenceLimits:
        """The intervals of factor · (value of A − value of B) for pairs of systems. The pairs are the family.

        A reversed pair has exactly the opposite limits. If two systems have the same value, this needs `ranks`, the
        place of each system in a fixed order.
        """
        return self.limits(Differences.of(many, pairs, ranks), plan, factor)

    def averages(
        self,
        parts: Sequence[OfTestSet],
        pairs: Sequence[tuple[int, int]],
        plan: IntervalPlan = PLAIN,
        ranks: Sequence[int] | None = None,
    ) -> ConfidenceLimits:
        """The intervals of the average difference over test sets. Each test set is resampled by itself."""
        return self.limits(Averages.of(parts, pairs, ranks), plan)

    def values(self, many: Sums, plan: IntervalPlan = PLAIN, factor: float = 1.0) -> ConfidenceLimits:
        """The interval of each system's own factor · value.

        Two systems whose intervals overlap may still differ: their difference has an interval of its own.
        """
        return self.limits(SystemEstimates(many, np.ones(many.units, dtype=np.int64)), plan, factor)

    def of_kinds(self, many: Sums, plan: IntervalPlan = PLAIN) -> ConfidenceLimits:
        """The interval of the first system's value, where the number of units of each kind is resampled. The
        distribution is the same, and this is faster if there are few kinds.
        """
        return self.limits(CountedByKind.of(many), plan)

    def limits(self, estimates: Estimates, plan: IntervalPlan = PLAIN, factor: float = 1.0) -> ConfidenceLimits:
        """The intervals of factor · each estimate."""
        search = _Search(estimates, plan if factor >= 0 else plan.turned, self)
        if plan.kind.studentizes:
            return _limits(search.studentized(factor))
        return _times(factor, search.between_resamples())

    def largest(self, estimates: Estimates, plan: IntervalPlan, factor: float = 1.0) -> Floats:
        """The largest deviation in each resample of factor · any estimate, in its own standard deviations; empty where
        the intervals are not found jointly. The largest of the parts of a family give its `level_of_each`.
        """
        search = _Search(estimates, plan if factor >= 0 else plan.turned, self)
        return search.largest(search.observed()[0]) if search.jointly else np.zeros(0)

    @cached_property
    def supply(self) -> Supply:
        """A function that gives the resamples of a number of units; they are drawn on the first call."""
        return cache(lambda units, draws: Resamples.of_units(units, draws, self.work.threads))


def level_of_each(plan: IntervalPlan, largest: Floats, share: float) -> float:
    """The error probability of each joint interval: the normal tail beyond the quantile of the largest deviation of all
    estimates, each in its own standard deviations. It is at least the `share` of one when the level is divided.
    """
    if not len(largest) or not np.isfinite(largest).all():
        return share
    beyond = 1 - NormalDist().cdf(quantile_of_largest(largest, plan.level))
    return max(beyond * (2 if plan.bounds == "both" else 1), share)


def join_limits(parts: Sequence[ConfidenceLimits]) -> ConfidenceLimits:
    """Concatenates results that were found separately. Simultaneous intervals become those of all parts together."""

    def of(names: Iterable[str], values: Sequence[object]) -> dict[str, Any]:
        return {name: np.concatenate([getattr(value, name) for value in values]) for name in names}

    common = ("errors", "undefined", "without_error")
    if families := [part.deviations for part in parts if part.deviations is not None]:
        largest = np.maximum.reduce([family.largest for family in families])
        every = of(("values", "half_steps", "quantiles", "readable", *common), families)
        return _limits(replace(families[0], largest=largest, **every))
    every = of(("low", "high", "by_formula", *common), parts)
    return ConfidenceLimits(**every, resamples=max(part.resamples for part in parts))


def _limits(found: StudentizedDeviations) -> ConfidenceLimits:
    """The intervals that extend a number of standard errors to each side."""
    quantiles, readable, together = found.quantiles, found.readable, bool(len(found.largest))
    if together and readable.any():
        tail = found.level * np.count_nonzero(readable) / len(readable)
        quantiles = np.where(readable, max(quantile_of_largest(found.largest, tail), found.least), quantiles)
    given = (found.errors > 0) & (found.undefined <= found.level * found.shuffles) & np.isfinite(quantiles)
    half = np.where(given, quantiles, np.nan) * found.errors + found.half_steps
    low, high = _around(found.values, half, found.bounds)
    limits = ConfidenceLimits(
        low,
        high,
        found.errors,
        found.undefined,
        found.without_error,
        given & ~readable,
        found.drawn,
        found if together else None,
    )
    return _times(found.factor, limits)


def _around(values: Floats, half: Floats, bounds: LimitSides) -> tuple[Floats, Floats]:
    """The limits at this distance from the values; NaN where there are none."""
    none = np.full(len(half), np.nan)
    return none if bounds == "upper" else values - half, none if bounds == "lower" else values + half


def _times(factor: float, limits: ConfidenceLimits) -> ConfidenceLimits:
    """The limits of estimates that are multiplied by a factor."""
    low, high = factor * limits.low, factor * limits.high
    if factor < 0:
        low, high = high, low
    return replace(limits, low=low, high=high, errors=abs(factor) * limits.errors)


class _Search(Struct, frozen=True, eq=False):
    """The search for the intervals of some estimates."""

    estimates: Estimates
    plan: IntervalPlan
    source: Bootstrap

    @property
    def draws(self) -> Draws:
        return self.source.draws

    @property
    def units(self) -> int:
        return self.estimates.units

    @property
    def alpha(self) -> float:
        """The error probability of one interval, or of all intervals together."""
        return self.plan.level

    @property
    def jointly(self) -> bool:
        """Whether simultaneous intervals are found jointly. From VERY_MANY_UNITS units on each pair has resamples of
        its own, so the level is divided instead.
        """
        return self.plan.family == "together" and self.units < VERY_MANY_UNITS

    @property
    def share(self) -> float:
        """The error probability of an interval that is found by itself."""
        return self.alpha if self.plan.family == "each" else self.alpha / max(self.plan.among or self.estimates.size, 1)

    @property
    def student(self) -> Student:
        return Student(self.units, self.estimates.degrees, self.plan.bounds == "both")

    def directions(self) -> Floats:
        """The direction in which each estimate must deviate for its limit to miss the value; 0 for both directions."""
        return {"both": 0.0, "lower": 1.0, "upper": -1.0}[self.plan.bounds] * self.estimates.signs

    def observed(self) -> tuple[Floats, Booleans]:
        """The standard error of each estimate, and whether the estimate may be treated as normal."""
        errors, normal = np.zeros(self.estimates.size), np.zeros(self.estimates.size, dtype=np.bool_)
        tail = max(self.share, BEYOND / (self.draws.shuffles + 1))
        for places in _parts(np.arange(self.estimates.size)):
            influences = self.estimates.influences(places)
            errors[places] = standard_errors(influences, self.estimates.times)
            normal[places] = self.estimates.near_normal(places, influences, self.student, tail)
        return errors, normal

    def drawn(self, places: Places, draws: Draws) -> Iterator[_SomeOfThem]:
        """Some of the estimates with their resamples, in parts."""
        if self.units < VERY_MANY_UNITS:
            if len(places):
                drawn = self.estimates.over(self.source.supply, draws)
                for part in _parts(places):
                    yield _SomeOfThem(part, part, drawn)
            return
        for place in places.tolist():
            alone = self.estimates.by_kind(place)
            yield _SomeOfThem(np.array([place]), np.array([0]), alone.over_kinds(draws))

    # --- studentized --------------------------------------------------------------------------------------------------

    def studentized(self, factor: float) -> StudentizedDeviations:
        """What the intervals follow from that extend a number of standard errors to each side."""
        errors, normal = self.observed()
        directions, student, size = self.directions(), self.student, self.estimates.size
        quantiles = np.full(size, student.quantile(self.share))
        undefined, without_error = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        readable = normal & (errors > 0)
        largest = self._largest_of_normal(np.flatnonzero(readable), errors) if self.jointly else np.zeros(0)
        wanted = np.flatnonzero(~normal & (errors > 0))

        def look(part: _SomeOfThem) -> tuple[Places, Standardized]:
            return part.places, Standardized.of(*part.deviates(), directions[part.places])

        for places, found in in_order(look, self.drawn(wanted, self.draws), self.source.work.threads):
            undefined[places], without_error[places] = found.undefined, found.without_error
            readable[places] = found.tells(self.share / 2 if self.jointly else self.share)
            if self.jointly:
                largest = np.maximum(largest, found.statistics[readable[places]].max(axis=0, initial=-np.inf))
            else:
                read = found.quantiles(self.share, student)
                quantiles[places] = np.where(readable[places], read, quantiles[places])
        return StudentizedDeviations(
            level=self.alpha,
            bounds=self.plan.bounds,
            factor=factor,
            least=student.quantile(self.alpha),
            shuffles=self.draws.shuffles,
            drawn=self.draws.shuffles if len(wanted) or self.jointly else 0,
            largest=largest,
            values=self.estimates.signs * self.estimates.values,
            errors=errors,
            half_steps=self.estimates.half_steps(),
            quantiles=quantiles,
            readable=readable,
            undefined=undefined,
            without_error=without_error,
        )

    def _largest_of_normal(self, places: Places, errors: Floats) -> Floats:
        """The largest deviation in each resample, in standard errors, of estimates that are sums of influences."""
        largest = np.full(self.draws.shuffles, -np.inf)
        if len(places):
            sums = self.estimates.over(self.source.supply, self.draws).moved
            directions = self.directions()
            for part in _parts(places):
                statistics = self.estimates.of_values(sums, part) / errors[part, None]
                np.maximum(largest, _towards(statistics, directions[part]).max(axis=0), out=largest)
        return largest

    # --- between two resampled values ---------------------------------------------------------------------------------

    def between_resamples(self) -> ConfidenceLimits:
        """The intervals from one resampled value to another."""
        errors, normal = self.observed()
        size, signs = self.estimates.size, self.estimates.signs
        tail = self._tail(errors) / (2 if self.plan.bounds == "both" else 1)
        most = min(MOST_RESAMPLES, MOST_COUNTS // self.units)
        draws = replace(self.draws, shuffles=max(self.draws.shuffles, min(ceil(OUTSIDE / tail), most)))
        by_error = normal if self.units >= VERY_MANY_UNITS else np.zeros(size, dtype=np.bool_)
        quantile = self.student.quantile(self.share) if by_error.any() else np.nan
        low, high = _around(
            signs * self.estimates.values, np.where(by_error, quantile * errors, np.nan), self.plan.bounds
        )
        undefined = np.zeros(size, dtype=np.int64)
        wanted = np.flatnonzero(~by_error)

        def look(part: _SomeOfThem) -> tuple[Places, Floats, Integers]:
            values = np.sort(part.values(part.drawn.values.resampled), axis=1)
            defined = values.shape[1] - np.isnan(values).sum(axis=1)
            tails = [(tail, tail)] * len(part.places)
            if self.plan.kind.corrects:
                observed = part.values(part.drawn.values.observed[:, None])[:, 0]
                without_one, times = part.values(part.drawn.values.without_one()), part.drawn.estimates.times
                tails = [
                    corrected_tails(row[:known], float(value), left, times, (tail, tail))
                    for row, known, value, left in zip(values, defined, observed, without_one, strict=True)
                ]
            found = np.empty((len(part.places), 2))
            for row, (place, known) in enumerate(zip(part.places.tolist(), defined.tolist(), strict=True)):
                found[row] = between(values[row, :known], tails[row])
                if signs[place] < 0:
                    found[row] = -found[row, ::-1]
            return part.places, found, values.shape[1] - defined

        for places, found, missing in in_order(look, self.drawn(wanted, draws), self.source.work.threads):
            undefined[places] = missing
            if self.plan.bounds != "upper":
                low[places] = found[:, 0]
            if self.plan.bounds != "lower":
                high[places] = found[:, 1]
        # All resamples alike do not say how far the truth may be.
        low[errors == 0], high[errors == 0] = np.nan, np.nan
        nowhere = np.zeros(size, dtype=np.bool_)
        return ConfidenceLimits(
            low, high, errors, undefined, 0 * undefined, nowhere, draws.shuffles if len(wanted) else 0
        )

    def _tail(self, errors: Floats) -> float:
        """The error probability of each interval."""
        if self.plan.tail or not self.jointly:
            return self.plan.tail or self.share
        return level_of_each(self.plan, self.largest(errors), self.share)

    def largest(self, errors: Floats) -> Floats:
        """The largest deviation in each resample, each divided by its estimate's own standard deviation."""
        largest = np.full(self.draws.shuffles, -np.inf)
        directions = self.directions()
        for part in self.drawn(np.flatnonzero(errors > 0), self.draws):
            values = part.values(part.drawn.values.resampled)
            known = ~np.isnan(values)
            deviations = np.where(known, values - part.values(part.drawn.values.observed[:, None]), 0.0)
            spreads = np.sqrt((deviations**2).sum(axis=1) / np.maximum(known.sum(axis=1), 1))
            statistics = np.divide(deviations, spreads[:, None], where=spreads[:, None] > 0, out=deviations)
            np.maximum(largest, _towards(statistics, directions[part.places]).max(axis=0), out=largest)
        return largest


class _SomeOfThem(Struct, frozen=True, eq=False):
    """Some estimates with resamples: their places among all estimates, and their places in the drawn part."""

    places: Places
    inside: Places
    drawn: OverResamples | OverAverages

    def deviates(self) -> tuple[Floats, Floats]:
        return self.drawn.deviates(self.inside)

    def values(self, of_systems: Floats) -> Floats:
        return self.drawn.estimates.of_values(of_systems, self.inside)


def _parts(places: Places) -> list[Places]:
    return [places[start : start + AT_ONCE] for start in range(0, len(places), AT_ONCE)]


def _towards(deviations: Floats, directions: Floats) -> Floats:
    """Deviations of shape (any, resamples) in the direction that counts; their absolute value if both directions
    count.
    """
    return np.abs(deviations) if not directions.any() else deviations * directions[:, None]
