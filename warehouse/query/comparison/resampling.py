"""How far each system's own value might be from what was measured: intervals for `score`, and for pictures. It makes
no comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from grammar.errors import QueryError
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.comparison.intervals import Interval, draws_of_intervals, single
from warehouse.query.comparison.observations import Observations, observation_queries, observed
from warehouse.query.comparison.sums import added, additive, present_units, run_sums, systems_of
from warehouse.query.engine import ONE_THREAD, Workforce, cuts
from warehouse.query.path import Facts, Queries
from warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits, IntervalPlan
from warehouse.significance.bootstrap.runs import influences_of, over_runs
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats
from warehouse.significance.sums import Sums


class OwnIntervals(Struct, frozen=True):
    """The interval of each system's value, by label and name."""

    intervals: Mapping[tuple[str, str], Interval]


def with_parts(entry: p.Entry) -> p.Entry | None:
    """The systems with documents of their own and the statistics that follow from sums; None where there are none.

    What is averaged over runs stands apart in its runs, and has no mean over documents of functions of averages.
    """
    statistics = tuple(
        statistic
        for statistic in entry.statistics
        if statistic.sums is not None and not (statistic.averaged and entry.units.averaged is not None)
    )
    if not entry.task.by_document or not entry.stored_systems or not statistics:
        return None
    return replace(entry, systems=entry.stored_systems, statistics=statistics)


def own_interval_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the intervals of an entry."""
    resampled = with_parts(entry)
    return () if resampled is None else observation_queries(replace(how, missing="zero"), resampled.in_runs())


def own_intervals(how: p.Testing, entry: p.Entry, facts: Facts, workforce: Workforce = ONE_THREAD) -> OwnIntervals:
    """The intervals of the systems with documents of their own, each on the documents that it has, over the same
    resamples of a test set.

    Figures that were only printed have none, nor has a measure of an order.
    """
    resampled = with_parts(entry)
    intervals: dict[tuple[str, str], Interval] = {}
    plan = IntervalPlan(float(how.level), how.interval)
    bootstrap = Bootstrap(draws_of_intervals(how, entry))
    for part in resampled.observed_apart if resampled is not None else ():
        # Without any rows that meet the condition there are no intervals.
        with suppress(QueryError):
            observations = observed(replace(how, missing="zero"), part.in_runs(), facts)
            for statistic in part.statistics:
                within = statistic.measure.within or (-inf, inf)
                groups_of_systems = list(_resampled(part, statistic, observations, workforce.blocks))
                requests = [_IntervalRequest(of.many, plan, of.factor, bootstrap.draws) for of in groups_of_systems]
                for of, found in zip(groups_of_systems, _limits(requests, bootstrap, workforce), strict=True):
                    limits = found if of.over is None else over_runs(found, *of.over, plan.level)
                    # A system paired with itself appears twice.
                    by_name = zip(of.names, single(limits, within), strict=False)
                    intervals.update({(statistic.label, name): interval for name, interval in by_name})
    return OwnIntervals(intervals)


class _Resampled(Struct, frozen=True, eq=False):
    """Systems that have the same documents, their sums, and what these are multiplied by. The average of runs has its
    value `over` them, the influences of each run on it, and which units each run has.
    """

    names: Sequence[str]
    many: Sums
    factor: float
    over: tuple[float, Floats, Booleans] | None = None


class _IntervalRequest(Struct, frozen=True, eq=False):
    """Whose intervals are wanted, and which."""

    many: Sums
    plan: IntervalPlan
    factor: float
    draws: Draws


def _limits(requests: Sequence[_IntervalRequest], bootstrap: Bootstrap, workforce: Workforce) -> list[ConfidenceLimits]:
    """The intervals of each group of systems, which on this machine share the resamples of `bootstrap`."""
    if workforce.blocks > 1 and len(requests) > 1:
        return workforce.share_out(_limits_of, requests)
    return [bootstrap.values(one.many, one.plan, one.factor) for one in requests]


def _limits_of(request: _IntervalRequest) -> ConfidenceLimits:
    """The intervals of a group of systems, on whatever machine it was sent to."""
    return Bootstrap(request.draws).values(request.many, request.plan, request.factor)


def _resampled(part: p.Entry, statistic: Statistic, observations: Observations, blocks: int) -> Iterator[_Resampled]:
    """The groups of systems that are resampled together, in `blocks` parts; who has no value is left out."""
    for names, rows in _of_systems(part, observations):
        own = only_of(observations, rows, np.asarray(observations.present[rows].any(axis=0)))
        if len(names) < len(rows):
            runs = run_sums(own, statistic, part.units.scale)
            whole = added(runs)
            value = whole.exact_value(0)
            if value is not None:
                influences = influences_of(systems_of(runs), float(runs.factor))
                over = float(value), influences, present_units(own)
                yield _Resampled(names, systems_of(whole), float(whole.factor), over)
            continue
        summed = additive(own, statistic)
        defined = [place for place in range(len(names)) if summed.exact_value(place) is not None]
        if summed.uneven:
            # Each has as many digits as its own values allow, whoever else is there.
            for place in defined:
                alone = summed.refined((place,))
                yield _Resampled([names[place]], systems_of(alone), float(alone.factor))
            continue
        for some in cuts(defined, blocks):
            yield _Resampled([names[place] for place in some], systems_of(summed, some), float(summed.factor))


def _of_systems(part: p.Entry, observations: Observations) -> list[tuple[list[str], list[int]]]:
    """The names of systems with the rows that are theirs: together those that have the same documents, and each by
    itself that is averaged over runs."""
    runs = part.units.runs
    alike: dict[bytes, tuple[list[str], list[int]]] = {}
    groups: list[tuple[list[str], list[int]]] = []
    first = 0
    for system in part.stored_systems:
        rows = list(range(first, first + len(runs.get(system.id, (0,)))))
        first += len(rows)
        if not observations.present[rows].any():
            continue
        if len(rows) > 1:
            groups.append(([system.name], rows))
            continue
        names, places = alike.setdefault(observations.present[rows].tobytes(), ([], []))
        names.append(system.name)
        places += rows
    return [*groups, *alike.values()]


def only_of(observations: Observations, rows: list[int], kept: Booleans) -> Observations:
    """Some of the systems with some of the observations."""
    return replace(
        observations,
        systems=tuple(observations.systems[row] for row in rows),
        counts={name: grid[rows][:, kept] for name, grid in observations.counts.items()},
        known={name: grid[rows][:, kept] for name, grid in observations.known.items()},
        values=None if observations.values is None else observations.values[rows][:, kept],
        present=observations.present[rows][:, kept],
        cluster=np.unique(observations.cluster[kept], return_inverse=True)[1].reshape(-1),
    )
