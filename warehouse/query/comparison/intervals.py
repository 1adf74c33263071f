"""The bootstrap intervals of comparisons: how a statement asks for them, what is found, and what there is to note.

They have the level and the sides of the tests, and stand for all pairs of a family together where its levels are
adjusted so. No test is made here.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import inf, isnan, nan, sqrt

from warehouse.query import plan as p
from warehouse.query.comparison.pairs import Comparison, only
from warehouse.query.comparison.sums import Additive, Orders, RatioSums, systems_of
from warehouse.significance import areas
from warehouse.significance.areas import Ranked
from warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from warehouse.significance.bootstrap.interval_kinds import (
    Bounds,
    ConfidenceLimits,
    IntervalPlan,
    Simultaneous,
    named_interval,
)
from warehouse.significance.draws import Draws
from warehouse.significance.replicates import replicate_intervals
from warehouse.significance.tests import named_adjustment, named_test
from warehouse.significance.work import ALONE, Work

RESAMPLES = 2000
"""Over how many resamples an interval is made."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
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
"""By the label of the statistic and the places of the two systems."""


def intervals(comparisons: Sequence[Comparison], work: Work = ALONE) -> Intervals:
    """The interval of each difference, all over the same resamples of one test set. Its progress is not heard: beside
    the tests it is short."""
    by_pair: Intervals = {}
    if not comparisons:
        return by_pair
    bootstrap = Bootstrap(draws_of_intervals(comparisons[0].how, comparisons[0].entry), Work(work.threads))
    for comparison in comparisons:
        label = comparison.statistic.label
        if isinstance(comparison.sums, Orders):
            ranked, level = comparison.sums.ranked, 1 - float(comparison.how.level)
            by_pair |= {(label, pair): _of_areas(ranked, pair, level) for pair in comparison.pairs}
        elif comparison.uneven and not comparison.replicates:
            for pair in comparison.pairs:
                alone = only(comparison, [pair])[0]
                fine = replace(alone, sums=comparison.ratios_of(*pair), pairs=((0, 1),))
                by_pair[label, pair] = _bootstrapped(fine, bootstrap)[0]
        else:
            found = _bootstrapped(comparison, bootstrap)
            by_pair |= {(label, pair): interval for pair, interval in zip(comparison.pairs, found, strict=True)}
    return by_pair


def _bootstrapped(comparison: Comparison, bootstrap: Bootstrap) -> list[Interval]:
    """The intervals of the pairs of a comparison, in their order."""
    plan = plan_of(comparison.how, comparison.statistic.measure.lower_is_better)
    if comparison.replicates:
        limits = replicate_intervals(comparison.replicates, comparison.pairs, plan, bootstrap.draws)
    elif isinstance(comparison.sums, Orders):
        raise ValueError(f"{comparison.statistic.label} does not follow from sums")
    else:
        names = [system.name for system in comparison.entry.systems]
        ranks = {name: rank for rank, name in enumerate(sorted(names))}
        limits = bootstrap.differences(
            systems_of(comparison.sums),
            comparison.pairs,
            plan,
            factor_of(comparison.sums),
            [ranks[name] for name in names],
        )
    lowest, highest = comparison.statistic.measure.within or (-inf, inf)
    return single(limits, (lowest - highest, highest - lowest))


def _of_areas(ranked: Ranked, pair: Pair, level: float) -> Interval:
    """The interval by the standard error of DeLong, DeLong and Clarke-Pearson (1988); none where that is not one of
    these documents: there are too few of a kind, or they are exchanged together.
    """
    two = ranked.of_two(*pair)
    if not (ranked.one_by_one and two.enough):
        return Interval(None, None, nan, 0, 0, by_formula=False)
    low, high = areas.interval(two, level)
    return Interval(low, high, sqrt(two.variance), 0, 0, by_formula=False)


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
    bounds: Bounds = "both"
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


def interval_title(how: p.Testing, drawn: int) -> str:
    """95% CI studentized, 2,000 resamples, simultaneous; so many were drawn."""
    plan = plan_of(how)
    family = {"each": "", "divided": ", the level divided among all", "together": ", simultaneous"}[plan.family]
    resamples = f", {drawn:,} resamples" if drawn else ""
    return f"{interval_heading(how.level)} {plan.kind.name}{resamples}{family}"
