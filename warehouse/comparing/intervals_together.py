"""The intervals of systems' own values on several test sets taken together: of their mean, or of all their documents.

Each test set is resampled by itself for a mean. No systems are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import inf

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.intervals import (
    Interval,
    OwnIntervals,
    draws_of_intervals,
    only_of,
    single,
    with_parts,
    with_shares,
)
from evalhouse.warehouse.comparing.observations import Observations, observe, pool
from evalhouse.warehouse.comparing.pairs import entry_of_all, has_shares
from evalhouse.warehouse.comparing.sums import additive, systems_of
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.measures.measure import SHARE
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.averages import pooled_statistic
from evalhouse.warehouse.plans.path import Facts
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.estimates import Averages, OfTestSet
from evalhouse.warehouse.significance.bootstrap.interval_kinds import IntervalPlan
from evalhouse.warehouse.significance.proportions import (
    WILSON,
    ShareInterval,
    allow_for_constant_values,
    shares_of,
)
from evalhouse.warehouse.significance.sums import Sums


class _Resampling(Struct, frozen=True):
    """The entries of one statistic on several test sets, and how their units are resampled."""

    parts: tuple[p.Entry, ...]
    statistics: tuple[Statistic, ...]
    plan: IntervalPlan
    bootstrap: Bootstrap
    of_shares: ShareInterval

    def within(self, summed: Sequence[Sums]) -> tuple[float, float] | None:
        """Between what values of the measure lie, where that is known: imported ones by the name of a share may be
        percentages.
        """
        measure = self.statistics[0].measure
        return SHARE if measure.within is None and measure.is_share and all(map(has_shares, summed)) else measure.within


def intervals_together(
    how: p.Testing, entries: Sequence[p.Entry], over: p.OverTestSets, facts: Facts, of_shares: ShareInterval = WILSON
) -> OwnIntervals:
    """The intervals of the systems that are on all of some test sets. A mean over runs has none: it is not known how
    much these vary.
    """
    apart = [part for entry in entries if (part := with_parts(entry)) is not None and part.units.averaged is None]
    intervals: dict[tuple[str, str], Interval] = {}
    if len(apart) < len(entries):
        return OwnIntervals(intervals)
    plan = IntervalPlan(float(how.level), how.interval)
    bootstrap = Bootstrap(draws_of_intervals(how, entry_of_all(entries, over)))
    interval_of = _of_all if over.pooled else _of_mean
    for parts in zip(*(entry.observed_apart for entry in apart), strict=True):
        # Without any rows that meet the condition there are no intervals.
        with suppress(QueryError):
            observed = [observe(replace(how, missing="zero"), part.in_runs(), facts) for part in parts]
            for statistics in zip(*(part.statistics for part in parts), strict=True):
                resampling = _Resampling(parts, statistics, plan, bootstrap, of_shares)
                for name, own in _systems(parts, observed):
                    found = interval_of(own, resampling)
                    if found is not None:
                        intervals[statistics[0].label, name] = found
    return OwnIntervals(intervals)


def _systems(
    parts: Sequence[p.Entry], observed: Sequence[Observations]
) -> Iterator[tuple[str, tuple[Observations, ...]]]:
    """The systems that are on all test sets, each with the observations that it has there."""
    places = [{system.name: place for place, system in enumerate(part.stored_systems)} for part in parts]
    for name in places[0]:
        if not all(name in known for known in places):
            continue
        own = [(of, known[name], of.present[known[name]]) for of, known in zip(observed, places, strict=True)]
        if all(there.any() for _, _, there in own):
            yield name, tuple(only_of(of, [place], np.asarray(there)) for of, place, there in own)


def _of_all(own: Sequence[Observations], resampling: _Resampling) -> Interval | None:
    """The interval of a system's value on all its documents; None where it has none."""
    statistic = pooled_statistic(resampling.statistics[0], resampling.parts)
    summed = additive(pool(own, resampling.parts), statistic)
    if summed.exact_value(0) is None:
        return None
    many, factor, plan = systems_of(summed), float(summed.factor), resampling.plan
    limits = single(resampling.bootstrap.values(many, plan, factor), (-inf, inf))
    if statistic.measure.is_share and plan.kind.studentizes:
        limits = list(with_shares(shares_of(many, factor), limits, resampling.of_shares, plan.level))
    return _bounded(limits[0], resampling.within([summed]))


def _of_mean(own: Sequence[Observations], resampling: _Resampling) -> Interval | None:
    """The interval of the mean of a system's values; None where it has no value on one of the test sets."""
    summed = [additive(of, statistic) for of, statistic in zip(own, resampling.statistics, strict=True)]
    values = [float(value) for sums in summed if (value := sums.exact_value(0)) is not None]
    if len(values) < len(summed):
        return None
    of_test_sets = [
        OfTestSet(systems_of(sums), float(sums.factor), part.test_set.stream)
        for sums, part in zip(summed, resampling.parts, strict=True)
    ]
    # A single system is paired with itself.
    limits = resampling.bootstrap.limits(Averages.of_systems(of_test_sets), resampling.plan)
    found = single(limits, (-inf, inf))[0]
    within = resampling.within(summed)
    if within is None or not all(sums.is_ratio for sums in summed):
        return _bounded(found, within)
    mean = sum(values) / len(values)
    low, high = allow_for_constant_values(
        (mean if found.low is None else found.low, mean if found.high is None else found.high),
        [(part.many, part.factor) for part in of_test_sets],
        resampling.plan.level,
        within,
    )
    return _bounded(replace(found, low=low, high=high), within)


def _bounded(interval: Interval, within: tuple[float, float] | None) -> Interval:
    """The interval, none of its limits beyond what there can be."""
    lowest, highest = within or (-inf, inf)
    return replace(
        interval,
        low=None if interval.low is None else max(interval.low, lowest),
        high=None if interval.high is None else min(interval.high, highest),
    )
