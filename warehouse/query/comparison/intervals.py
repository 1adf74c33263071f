"""The bootstrap intervals of comparisons: how a statement asks for them, what is found, and what there is to note.

They have the level and the sides of the tests, and stand for all pairs of a family together where its levels are
adjusted so. No test is made here.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from math import inf, isnan

from grammar.value import replace, value
from warehouse.query import plan as p
from warehouse.query.comparison.blocks import cuts
from warehouse.query.comparison.pairs import Comparison, Pair, only
from warehouse.query.comparison.sums import Additive, Orders, RatioSums, systems_of
from warehouse.query.engine import ONE_THREAD, Workforce
from warehouse.significance.areas import area_intervals
from warehouse.significance.bootstrap.averages import OfTestSet
from warehouse.significance.bootstrap.confidence_intervals import Bootstrap, joined
from warehouse.significance.bootstrap.interval_kinds import (
    ConfidenceLimits,
    IntervalPlan,
    LimitSides,
    Simultaneous,
    named_interval,
)
from warehouse.significance.draws import Draws
from warehouse.significance.replicates import replicate_intervals
from warehouse.significance.tests import OF_ORDERS, named_adjustment, named_test
from warehouse.significance.work import Work

RESAMPLES = 2000
"""How many resamples an interval takes."""


@value
class Interval:
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
    shared: dict[int, list[_Some]] = {}
    for place, comparison in enumerate(comparisons):
        if workforce.blocks > 1 and len(comparison.pairs) > 1 and _by_pairs(comparison, plan(comparison)):
            among = replace(plan(comparison), among=len(comparison.pairs))
            some = (only(comparison, pairs)[0] for pairs in cuts(comparison.pairs, workforce.blocks))
            shared[place] = [_Some(comparison, among) for comparison in some]
    found_apart = iter(workforce.share_out(_limits_of, [some for parts in shared.values() for some in parts]))
    bootstrap = Bootstrap(draws_of_intervals(comparisons[0].how, comparisons[0].entry), Work(workforce.work.threads))
    for place, comparison in enumerate(comparisons):
        if place in shared:
            limits = joined([next(found_apart) for _ in shared[place]])
        else:
            limits = _limits(comparison, plan(comparison), bootstrap)
        lowest, highest = comparison.statistic.measure.within or (-inf, inf)
        found = zip(comparison.pairs, single(limits, (lowest - highest, highest - lowest)), strict=True)
        by_pair |= {(comparison.statistic.label, pair): interval for pair, interval in found}
    return by_pair


@value
class _Some:
    """Some pairs of a comparison, and how their intervals are planned."""

    comparison: Comparison
    plan: IntervalPlan


def _by_pairs(comparison: Comparison, plan: IntervalPlan) -> bool:
    """Whether the intervals of some pairs can be found without the others, and take long enough to be shared out. Of
    simultaneous intervals, the studentized ones follow from the largest deviation of each part of the pairs.
    """
    if comparison.replicates or isinstance(comparison.sums, Orders):
        return False
    return plan.family != "together" or (plan.kind.studentizes and not _each_in_own_digits(comparison, plan))


def _limits_of(some: _Some) -> ConfidenceLimits:
    """The intervals of some pairs, on whatever machine they were sent to."""
    return _limits(
        some.comparison, some.plan, Bootstrap(draws_of_intervals(some.comparison.how, some.comparison.entry))
    )


def _limits(comparison: Comparison, plan: IntervalPlan, bootstrap: Bootstrap) -> ConfidenceLimits:
    """The intervals of the pairs of a comparison."""
    if comparison.replicates:
        return replicate_intervals(comparison.replicates, comparison.pairs, plan, bootstrap.draws)
    if isinstance(comparison.sums, Orders):
        return area_intervals(comparison.sums.ranked, comparison.pairs, plan)
    names = [system.name for system in comparison.entry.systems]
    ranks = [sorted(names).index(name) for name in names]
    if comparison.over:
        return bootstrap.averages([_of_test_set(part) for part in comparison.over], comparison.pairs, plan, ranks)
    if not _each_in_own_digits(comparison, plan):
        return bootstrap.differences(systems_of(comparison.sums), comparison.pairs, plan, comparison.factor, ranks)
    # Each pair has its share of the level.
    alone = (
        plan
        if plan.family == "each"
        else replace(plan, level=plan.level / (plan.among or len(comparison.pairs)), family="each", among=0)
    )
    found = []
    for a, b in comparison.pairs:
        sums = comparison.ratios.refined((a, b))
        found.append(bootstrap.differences(systems_of(sums), [(0, 1)], alone, float(sums.factor), [ranks[a], ranks[b]]))
    return joined(found)


def _of_test_set(part: Comparison) -> OfTestSet:
    """One of the test sets that an average is taken over; an order has no average."""
    assert not isinstance(part.sums, Orders)
    return OfTestSet(systems_of(part.sums), factor_of(part.sums), part.stream)


def _each_in_own_digits(comparison: Comparison, plan: IntervalPlan) -> bool:
    """Whether pairs have as many digits of rounded values as their own values allow, whoever else is there. Only
    intervals that stand for all pairs together have common ones, if they are enough.
    """
    if not isinstance(comparison.sums, RatioSums) or comparison.sums.measured is None:
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
    return Draws(RESAMPLES, how.seed, zlib.crc32(entry.test_set.own_name.encode()))


def plan_of(how: p.Testing, lower_is_better: bool = False) -> IntervalPlan:
    """How a statement asks for the intervals of differences: one-sided the limit is that on the side of the worse."""
    bounds: LimitSides = "both"
    if how.sides == "one-sided":
        bounds = "upper" if lower_is_better else "lower"
    family: Simultaneous = "together" if named_test(how.test).whole_family else named_adjustment(how.adjust).intervals
    return IntervalPlan(float(how.level), named_interval(how.interval), bounds, family)


def factor_of(sums: Additive) -> float:
    """The constant factor of a ratio; 1 for any other function."""
    return float(sums.factor) if isinstance(sums, RatioSums) else 1.0


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
