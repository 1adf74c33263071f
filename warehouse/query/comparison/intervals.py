"""The bootstrap intervals of comparisons: how a statement asks for them, what is found, and what there is to note.

They have the level and the sides of the tests, and stand for all pairs of a family together where its levels are
adjusted so. No test is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from math import inf, isnan

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warehouse.query import plan as p
from warehouse.query.comparison.pairs import Comparison, Pair, only
from warehouse.query.comparison.sums import Orders, systems_of
from warehouse.query.engine import ONE_THREAD, Workforce, cuts
from warehouse.significance.areas import area_intervals
from warehouse.significance.bootstrap.averages import Averages, OfTestSet
from warehouse.significance.bootstrap.confidence_intervals import Bootstrap, Estimates, joined, level_of_each
from warehouse.significance.bootstrap.estimates import Differences
from warehouse.significance.bootstrap.interval_kinds import (
    ConfidenceLimits,
    IntervalPlan,
    LimitSides,
    Simultaneous,
)
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Floats
from warehouse.significance.replicates import replicate_intervals
from warehouse.significance.tests import OF_ORDERS
from warehouse.significance.work import Work

RESAMPLES = 2000
"""How many resamples an interval takes."""


class Interval(Struct, frozen=True):
    """The limits of a difference or a value, None where there is none, and its standard error. So many of the
    `resamples` were `undefined`; none were drawn where the standard error alone decides. `by_formula` says that too few
    units differ for resamples to tell.
    """

    low: float | None
    high: float | None
    error: float
    undefined: int
    resamples: int
    by_formula: bool

    @property
    def nothing(self) -> bool:
        """Whether there is no limit at all."""
        return self.low is None and self.high is None


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
            limits = joined([next(found_apart) for _ in shared[place]])
        else:
            limits = _limits(_Some(comparison, plan(comparison)), bootstrap)
        lowest, highest = comparison.statistic.measure.within or (-inf, inf)
        found = zip(comparison.pairs, single(limits, (lowest - highest, highest - lowest)), strict=True)
        by_pair |= {(comparison.statistic.label, pair): interval for pair, interval in found}
    return by_pair


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
    return joined([bootstrap.limits(_estimates(pair), alone, _factor(pair)) for pair in pairs])


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
    """How a statement asks for the intervals of differences: one-sided the limit is that on the side of the worse."""
    bounds: LimitSides = "both"
    if how.sides == "one-sided":
        bounds = "upper" if lower_is_better else "lower"
    family: Simultaneous = "together" if how.test.whole_family else how.adjustment.intervals
    return IntervalPlan(float(how.level), how.interval, bounds, family)


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
    return f"{interval_heading(how.level)} {' and '.join(called)}{resamples}{family}"
