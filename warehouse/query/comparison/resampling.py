"""How far each system's own value might be from what was measured: bootstrap intervals for pictures. It compares
nobody.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from grammar.errors import QueryError
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.comparison.observations import (
    Floats,
    Observations,
    observation_queries,
    observations,
    observations_of_one,
)
from warehouse.query.comparison.procedures import RESAMPLES
from warehouse.query.comparison.sums import FunctionSums, RatioSums, additive
from warehouse.query.path import Facts, Queries
from warehouse.significance import bootstrap
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Many


@dataclass(frozen=True, slots=True)
class Spread:
    """The 95% interval of each system's value, by label and name."""

    intervals: dict[tuple[str, str], tuple[float, float]]


def _resampled(entry: p.Entry) -> p.Entry | None:
    """The systems with documents of their own and the statistics that follow from sums; None where there are none."""
    statistics = tuple(statistic for statistic in entry.statistics if statistic.sums is not None)
    if not entry.task.by_document or not entry.stored_systems or not statistics:
        return None
    return replace(entry, systems=entry.stored_systems, statistics=statistics)


def spread_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the intervals of an entry."""
    resampled = _resampled(entry)
    return () if resampled is None else observation_queries(replace(how, missing="error"), resampled)


def spread(how: p.Testing, entry: p.Entry, facts: Facts) -> Spread:
    """The intervals of the systems with documents of their own, over the same resamples of a test set.

    Figures that were only printed have none, nor has a measure of an order.
    """
    intervals = {}
    resampled = _resampled(entry)
    draws = Draws(RESAMPLES, how.seed, zlib.crc32(entry.test_set.own_name.encode()))
    for seen, statistics in _observed(how, resampled, facts) if resampled is not None else ():
        for statistic in statistics:
            limits = _intervals(seen, statistic, draws)
            for system, (low, high) in zip(seen.systems, limits.tolist(), strict=True):
                if low == low and high == high:
                    intervals[statistic.label, system.name] = (low, high)
    return Spread(intervals)


def _observed(how: p.Testing, entry: p.Entry, facts: Facts) -> Iterator[tuple[Observations, tuple[Statistic, ...]]]:
    """The observations with the statistics to read from them: all systems together, or each apart where they do not
    have the same documents.
    """
    for part in entry.observed_apart:
        try:
            yield observations(replace(how, missing="error"), part, facts), part.statistics
        except QueryError:
            for place in range(len(part.systems)):
                # A system without a row that meets the condition has nothing to resample.
                with suppress(QueryError):
                    yield observations_of_one(how, part, place, facts), part.statistics


def _intervals(seen: Observations, statistic: Statistic, draws: Draws) -> Floats:
    """The interval of each system, of shape (systems, 2); NaN where a value is undefined."""
    limits = np.full((len(seen.systems), 2), np.nan)
    summed = additive(seen, statistic)
    defined = [place for place in range(len(seen.systems)) if summed.exact_value(place) is not None]
    if not defined:
        return limits
    if isinstance(summed, RatioSums) and summed.uneven:
        for place in defined:
            alone = summed.refined((place, place))
            many = Many(alone.numerators, alone.denominators)
            limits[place] = bootstrap.value_intervals(many, float(alone.factor), draws)[0]
        return limits
    if isinstance(summed, RatioSums):
        # A system alone stands beside itself: what is resampled are two or more.
        rows = defined if len(defined) > 1 else defined * 2
        many = Many(summed.numerators[rows], summed.denominators[rows])
        limits[defined] = bootstrap.value_intervals(many, float(summed.factor), draws)[: len(defined)]
        return limits
    limits[defined] = _of_function(summed, seen.units, defined, draws)
    return limits


def _of_function(summed: FunctionSums, units: int, defined: list[int], draws: Draws) -> Floats:
    """The same for a function of sums, without the resamples in which it is undefined."""
    values = [
        np.stack([summed.resample(place, counts) for place in defined]) for counts in bootstrap.resampled(units, draws)
    ]
    return np.asarray(np.nanquantile(np.concatenate(values, axis=1), (0.025, 0.975), axis=1).T)
