"""Bootstrap intervals of differences and of systems' own values.

No test is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from math import inf, isnan

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.observations import Observations, observation_queries, observe
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, only
from evalhouse.warehouse.comparing.sums import Orders, add_runs, additive, present_units, run_sums, systems_of
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.path import ONE_THREAD, Facts, Queries, Workforce, cuts
from evalhouse.warehouse.significance.areas import area_intervals
from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import (
    Bootstrap,
    Estimates,
    join_limits,
    level_of_each,
)
from evalhouse.warehouse.significance.bootstrap.estimates import (
    Averages,
    Differences,
    OfTestSet,
    influences_of,
    influences_on_mean,
    over_runs,
)
from evalhouse.warehouse.significance.bootstrap.interval_kinds import (
    ConfidenceLimits,
    IntervalPlan,
    LimitSides,
    Simultaneous,
)
from evalhouse.warehouse.significance.draws import Draws, Work
from evalhouse.warehouse.significance.proportions import WILSON, Share, ShareInterval, allow_for_constants, shares_of
from evalhouse.warehouse.significance.replicates import replicate_intervals
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import OF_ORDERS

# === intervals of comparisons =========================================================================================
# How a statement asks for them, their limits, and the words for them. They have the level and the sides of the tests.
# If the p-values of a family are adjusted, its intervals hold for all pairs together.

RESAMPLES = 2000
"""How many resamples an interval takes."""


class Interval(Struct, frozen=True):
    """The limits of a difference or a value, None where there is none, and its standard error. So many of the
    `resamples` were `undefined`; none were drawn where the standard error alone decides. `by_formula` says that too few
    units differ for resamples to tell. `kind` is its name if it is of another kind than was asked for.
    """

    low: float | None
    high: float | None
    error: float
    undefined: int
    resamples: int
    by_formula: bool
    kind: str = ""

    @property
    def nothing(self) -> bool:
        """Whether there is no limit at all."""
        return self.low is None and self.high is None

    @property
    def lies_above_0(self) -> bool:
        return self.low is not None and self.low > 0

    @property
    def lies_below_0(self) -> bool:
        return self.high is not None and self.high < 0


Intervals = dict[tuple[str, Pair], Interval]
"""Keyed by the label of the statistic and the places of the two systems."""


def intervals(comparisons: Sequence[Comparison], workforce: Workforce = ONE_THREAD) -> Intervals:
    """The interval of each difference, with the level and the sides of the tests."""
    return intervals_by(comparisons, lambda one: plan_of(one.how, one.statistic.measure.lower_is_better), workforce)


def intervals_by(
    comparisons: Sequence[Comparison],
    plan: Callable[[Comparison], IntervalPlan],
    workforce: Workforce = ONE_THREAD,
) -> Intervals:
    """The interval of each difference as it is planned, all over the same resamples of each test set. Its progress is
    not reported: it is short compared with the tests."""
    by_pair: Intervals = {}
    if not comparisons:
        return by_pair
    shared = {
        place: _parts(comparison, plan(comparison), workforce.blocks)
        for place, comparison in enumerate(comparisons)
        if workforce.blocks > 1 and len(comparison.pairs) > 1
    }
    shared |= _with_tails(shared, workforce)
    found_apart = iter(workforce.share_out(_limits_of, [some for parts in shared.values() for some in parts]))
    bootstrap = _bootstrap(comparisons[0], workforce.work.threads)
    for place, comparison in enumerate(comparisons):
        if place in shared:
            limits = join_limits([next(found_apart) for _ in shared[place]])
        else:
            limits = _limits(_Some(comparison, plan(comparison)), bootstrap)
        within = comparison.within
        if within is not None and (ratios := ratios_in(comparison)):
            limits = allow_for_constants(limits, ratios, comparison.pairs, plan(comparison), within)
        lowest, highest = within or (-inf, inf)
        found = zip(comparison.pairs, single(limits, (lowest - highest, highest - lowest)), strict=True)
        by_pair |= {(comparison.statistic.label, pair): interval for pair, interval in found}
    return by_pair


def ratios_in(comparison: Comparison) -> list[tuple[Sums, float]]:
    """The sums of a ratio with the factor of its values, on each test set that is averaged over; none for others."""
    parts = comparison.over or (comparison,)
    if comparison.replicates or not all(part.sums.is_ratio for part in parts):
        return []
    return [(part.ratios, part.factor) for part in parts]


class _Some(Struct, frozen=True, eq=False):
    """Some pairs of a comparison, and how their intervals are planned."""

    comparison: Comparison
    plan: IntervalPlan

    @property
    def have_common_tail(self) -> bool:
        """Whether all pairs have to be seen before the resampled values are known that the intervals lie between."""
        if self.comparison.replicates or isinstance(self.comparison.sums, Orders):
            return False
        joint = self.plan.family == "together" and not self.plan.kind.studentizes
        return joint and not _each_in_own_digits(self.comparison, self.plan)


def _parts(comparison: Comparison, plan: IntervalPlan, blocks: int) -> list[_Some]:
    among = replace(plan, among=len(comparison.pairs))
    return [_Some(only(comparison, pairs)[0], among) for pairs in cuts(comparison.pairs, blocks)]


def _with_tails(shared: dict[int, list[_Some]], workforce: Workforce) -> dict[int, list[_Some]]:
    """Those that have a common tail, planned again with it: it follows from the largest deviations in all parts."""
    joint = {place: parts for place, parts in shared.items() if parts[0].have_common_tail}
    found = iter(workforce.share_out(_largest_of, [some for parts in joint.values() for some in parts]))
    planned = {}
    for place, parts in joint.items():
        plan = parts[0].plan
        largest = np.maximum.reduce([next(found) for _ in parts])
        with_tail = replace(plan, tail=level_of_each(plan, largest, plan.level / plan.among))
        planned[place] = [replace(some, plan=with_tail) for some in parts]
    return planned


def _largest_of(some: _Some) -> Floats:
    """The largest deviation of these pairs in each resample, on whatever machine they were sent to."""
    comparison = some.comparison
    return _bootstrap(comparison).largest(_estimates(comparison), some.plan, _factor(comparison))


def _limits_of(some: _Some) -> ConfidenceLimits:
    """The intervals of some pairs, on whatever machine they were sent to."""
    return _limits(some, _bootstrap(some.comparison))


def _bootstrap(comparison: Comparison, threads: int = 1) -> Bootstrap:
    return Bootstrap(draws_of_intervals(comparison.how, comparison.entry), Work(threads))


def _limits(some: _Some, bootstrap: Bootstrap) -> ConfidenceLimits:
    """The intervals of some pairs of a comparison."""
    comparison, plan = some.comparison, some.plan
    if comparison.replicates:
        return replicate_intervals(comparison.replicates, comparison.pairs, plan, bootstrap.draws)
    if isinstance(comparison.sums, Orders):
        return area_intervals(comparison.sums.ranked, comparison.pairs, plan)
    if not _each_in_own_digits(comparison, plan):
        return bootstrap.limits(_estimates(comparison), plan, _factor(comparison))
    # Each pair has its share of the level.
    alone = (
        plan
        if plan.family == "each"
        else replace(plan, level=plan.level / (plan.among or len(comparison.pairs)), family="each", among=0)
    )
    pairs = (_in_own_digits(comparison, pair) for pair in comparison.pairs)
    return join_limits([bootstrap.limits(_estimates(pair), alone, _factor(pair)) for pair in pairs])


def _in_own_digits(comparison: Comparison, pair: Pair) -> Comparison:
    """A comparison of one of the pairs, in as many digits as its own values allow."""
    alone, _ = only(comparison, (pair,))
    over = tuple(_in_own_digits(part, pair) for part in comparison.over)
    if over or not alone.sums.is_ratio:
        return replace(alone, over=over)
    return replace(alone, sums=alone.ratios.refined((0, 1)))


def _estimates(comparison: Comparison) -> Estimates:
    """What is resampled: the differences of pairs, or their averages over test sets."""
    if comparison.over:
        return Averages.of([_of_test_set(part) for part in comparison.over], comparison.pairs, _ranks(comparison))
    return Differences.of(systems_of(comparison.additive), comparison.pairs, _ranks(comparison))


def _factor(comparison: Comparison) -> float:
    """What the estimates are multiplied by; averages are multiplied already."""
    return 1.0 if comparison.over else comparison.factor


def _ranks(comparison: Comparison) -> list[int]:
    names = [system.name for system in comparison.entry.systems]
    return [sorted(names).index(name) for name in names]


def _of_test_set(part: Comparison) -> OfTestSet:
    """One of the test sets that an average is taken over; an order has no average."""
    return OfTestSet(systems_of(part.additive), part.factor, part.stream)


def _each_in_own_digits(comparison: Comparison, plan: IntervalPlan) -> bool:
    """Whether pairs have as many digits of rounded values as their own values allow, whoever else is there. Only
    intervals that stand for all pairs together have common ones, if they are enough.
    """
    of_test_sets = [part.sums for part in comparison.over or (comparison,)]
    if not any(not isinstance(sums, Orders) and sums.measured is not None for sums in of_test_sets):
        return False
    return comparison.uneven or plan.family != "together"


def single(limits: ConfidenceLimits, within: tuple[float, float]) -> list[Interval]:
    """The limits one by one, none beyond what there can be."""
    lowest, highest = within
    return [
        Interval(
            low=None if isnan(low) else max(low, lowest),
            high=None if isnan(high) else min(high, highest),
            error=error,
            undefined=missing,
            resamples=limits.resamples,
            by_formula=formula,
        )
        for low, high, error, missing, formula in zip(
            limits.low.tolist(),
            limits.high.tolist(),
            limits.errors.tolist(),
            limits.undefined.tolist(),
            limits.by_formula.tolist(),
            strict=True,
        )
    ]


def draws_of_intervals(how: p.Testing, entry: p.Entry) -> Draws:
    """The resamples of a test set."""
    return Draws(RESAMPLES, how.seed, entry.test_set.stream)


def plan_of(how: p.Testing, lower_is_better: bool = False) -> IntervalPlan:
    """How a statement asks for the intervals of differences: one-sided the limit is that on the side of the worse, and
    beside a margin the level is outside on each side."""
    bounds: LimitSides = "both"
    if how.sides == "one-sided":
        bounds = "upper" if lower_is_better else "lower"
    family: Simultaneous = "together" if how.test.whole_family else how.adjustment.intervals
    return IntervalPlan(float(how.interval_level), how.interval, bounds, family)


# --- what intervals are called ----------------------------------------------------------------------------------------


def interval_heading(level: Decimal) -> str:
    """95% CI."""
    return f"{percent(level)} CI"


def percent(level: Decimal) -> str:
    """The confidence that goes with a level: 95%, 99.9%."""
    return f"{((1 - level) * 100).normalize():f}%"


def interval_title(how: p.Testing, entries: Sequence[p.Entry], drawn: int) -> str:
    """95% CI studentized, 2,000 resamples, simultaneous; so many were drawn."""
    plan = plan_of(how)
    family = {"each": "", "divided": ", the level divided among all", "together": ", simultaneous"}[plan.family]
    resamples = f", {drawn:,} resamples" if drawn else ""
    ordered = [statistic.ordered for entry in entries for statistic in entry.statistics]
    called = [OF_ORDERS.name] if any(ordered) else []
    if not ordered or not all(ordered):
        called.append(plan.kind.name)
    return f"{interval_heading(how.interval_level)} {' and '.join(called)}{resamples}{family}"


# === intervals of systems =============================================================================================
# How far each system's own value might be from what was measured, for `score` and for pictures. No systems are
# compared.


class OwnIntervals(Struct, frozen=True):
    """The interval of each system's value, by label and name."""

    intervals: Mapping[tuple[str, str], Interval]

    def kinds(self, wanted: str) -> list[str]:
        """What they are called; `wanted` is the kind that was asked for."""
        return [interval.kind or wanted for interval in self.intervals.values()]


def with_parts(entry: p.Entry) -> p.Entry | None:
    """The systems with documents of their own and the statistics that follow from sums; None where there are none.

    What is averaged over runs stands apart in its runs, and has no mean over documents of functions of averages.
    """
    statistics = tuple(
        statistic
        for statistic in entry.statistics
        if statistic.resampled and not (statistic.one_by_one and entry.units.averaged is not None)
    )
    if not entry.kind.by_document or not entry.stored_systems or not statistics:
        return None
    return replace(entry, systems=entry.stored_systems, statistics=statistics)


def own_interval_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the intervals of an entry."""
    resampled = with_parts(entry)
    return () if resampled is None else observation_queries(replace(how, missing="zero"), resampled.in_runs())


def own_intervals(
    how: p.Testing,
    entry: p.Entry,
    facts: Facts,
    workforce: Workforce = ONE_THREAD,
    of_shares: ShareInterval = WILSON,
) -> OwnIntervals:
    """The intervals of the systems with documents of their own, each on the documents that it has, over the same
    resamples of a test set. A share has the interval `of_shares`, where no other kind than the default was asked for.

    Figures that were only printed have none, nor has a measure of an order.
    """
    resampled = with_parts(entry)
    intervals: dict[tuple[str, str], Interval] = {}
    plan = IntervalPlan(float(how.level), how.interval)
    bootstrap = Bootstrap(draws_of_intervals(how, entry))
    for part in resampled.observed_apart if resampled is not None else ():
        # Without any rows that meet the condition there are no intervals.
        with suppress(QueryError):
            observations = observe(replace(how, missing="zero"), part.in_runs(), facts)
            for statistic in part.statistics:
                within = statistic.measure.within or (-inf, inf)
                groups_of_systems = list(_resample_groups(part, statistic, observations, workforce.blocks))
                requests = [_IntervalRequest(of.many, plan, of.factor, bootstrap.draws) for of in groups_of_systems]
                for of, found in zip(groups_of_systems, _limits_of_values(requests, bootstrap, workforce), strict=True):
                    limits = found if of.over is None else over_runs(found, *of.over, plan.level)
                    # A system paired with itself appears twice.
                    of_systems = single(limits, within)
                    if statistic.measure.is_share and of.over is None and plan.kind.studentizes:
                        shares = shares_of(of.many, of.factor)
                        of_systems = list(with_shares(shares, of_systems, of_shares, plan.level))
                    by_name = zip(of.names, of_systems, strict=False)
                    intervals.update({(statistic.label, name): interval for name, interval in by_name})
    return OwnIntervals(intervals)


def with_shares(
    shares: Sequence[Share | None], resampled: Sequence[Interval], kind: ShareInterval, level: float
) -> Iterator[Interval]:
    """The intervals, those of shares by their numbers."""
    for share, interval in zip(shares, resampled, strict=False):
        if share is None:
            yield interval
        else:
            yield Interval(*kind.limits(share, level), interval.error, 0, 0, False, kind.name)


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


def _limits_of_values(
    requests: Sequence[_IntervalRequest], bootstrap: Bootstrap, workforce: Workforce
) -> list[ConfidenceLimits]:
    """The intervals of each group of systems, which on this machine share the resamples of `bootstrap`."""
    if workforce.blocks > 1 and len(requests) > 1:
        return workforce.share_out(_limits_of_value, requests)
    return [bootstrap.values(one.many, one.plan, one.factor) for one in requests]


def _limits_of_value(request: _IntervalRequest) -> ConfidenceLimits:
    """The intervals of a group of systems, on whatever machine it was sent to."""
    return Bootstrap(request.draws).values(request.many, request.plan, request.factor)


def _resample_groups(
    part: p.Entry, statistic: Statistic, observations: Observations, blocks: int
) -> Iterator[_Resampled]:
    """The groups of systems that are resampled together, in `blocks` parts; who has no value is left out."""
    for names, rows in _of_systems(part, observations):
        own = only_of(observations, rows, np.asarray(observations.present[rows].any(axis=0)))
        if len(names) < len(rows):
            averaged = _average_of_runs(own, part, statistic)
            value = averaged.whole.exact_value(0) if averaged is not None else None
            if averaged is not None and value is not None:
                whole, over = averaged.whole, (float(value), averaged.influences(), present_units(own))
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


class _AverageOfRuns(Struct, frozen=True):
    """The sums of the average of some runs, and the influence of each run on its value in each unit."""

    whole: Sums
    influences: Callable[[], Floats]


def _average_of_runs(own: Observations, part: p.Entry, statistic: Statistic) -> _AverageOfRuns | None:
    """The average of the runs observed: of predicted numbers that of the runs' own values, else the value of their
    average sums. None where predictions lack in some runs, which then are of other documents.
    """
    if not statistic.of_numbers:
        runs = run_sums(own, statistic, part.units.scale)
        return _AverageOfRuns(add_runs(runs), lambda: influences_of(systems_of(runs), float(runs.factor)))
    if not own.present.all():
        return None
    apart, whole = additive(own, statistic), additive(own.as_one_system(), statistic)
    return _AverageOfRuns(whole, lambda: influences_on_mean(apart, float(apart.factor)))


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


# === replicates and exchange units ====================================================================================
# What each replicate of a system adds to its value in each exchange unit: the table that `spread` analyses. No variance
# is estimated here.


class Crossed(Struct, frozen=True):
    """The value of one statistic for one system, None where it is undefined, and the table behind it.

    `values` and `present` have the shape (replicates, exchange units). The mean over units of the means over replicates
    is 0, and moves with the value: exactly where this is such a mean itself, else to first order.
    """

    statistic: Statistic
    system: str
    value: float | None
    values: Floats
    present: Booleans


def crossed_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the tables of an entry."""
    return observation_queries(replace(how, missing="zero"), entry.in_runs())


def crossed_tables(how: p.Testing, entry: p.Entry, facts: Facts) -> Iterator[Crossed]:
    """The tables of an entry, statistic by statistic; a system without rows for one is left out there."""
    runs = entry.units.runs
    for part in entry.observed_apart:
        observations = observe(replace(how, missing="zero"), part.in_runs(), facts)
        first = 0
        places = {}
        for system in part.stored_systems:
            many = len(runs.get(system.id, (0,)))
            there = [row for row in range(first, first + many) if observations.present[row].any()]
            places[system.name], first = there, first + many
        for statistic in part.statistics:
            for name, rows in places.items():
                if rows:
                    own = only_of(observations, rows, np.asarray(observations.present[rows].any(axis=0)))
                    yield _table(own, part, statistic, name)


def _table(own: Observations, part: p.Entry, statistic: Statistic, name: str) -> Crossed:
    """The table of one system from the observations of its replicates."""
    averaged, present = _average_of_runs(own, part, statistic), present_units(own)
    value = averaged.whole.exact_value(0) if averaged is not None else None
    if averaged is None or value is None or len(present) < 2:
        return Crossed(statistic, name, None if value is None else float(value), np.zeros(present.shape), present)
    # A cell holds a share of a share of the value; all cells are scaled to the value itself.
    shares = averaged.influences()
    return Crossed(statistic, name, float(value), shares * present.sum(axis=0) * present.shape[1], present)
