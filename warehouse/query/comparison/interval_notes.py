"""Notes about intervals: resamples that were left out, missing limits, and intervals that
contradict the verdict beside them. A few pairs are named one by one; many are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from warehouse.query import plan as p
from warehouse.query.comparison.intervals import Interval, Intervals, plan_of
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.labels import some
from warehouse.results import Table

NAMED = 3
"""This many pairs are named in a note about several."""


def interval_notes(where: str, found: Mapping[str, Interval], why: str = "the units do not vary") -> Iterator[str]:
    """What was left out of the intervals of one statistic on one test set, by the names of what has them; `where` says
    which, and `why` what it means that nothing varies over resamples.
    """
    partial = {name: interval for name, interval in found.items() if interval.undefined and not interval.nothing}
    if partial:
        missing = [f"{interval.undefined:,} for {name}" for name, interval in partial.items()]
        drawn = max(interval.resamples for interval in partial.values())
        yield f"{where}: of {drawn:,} resamples, intervals leave out those without a value: {some(missing)}"
    empty = [
        f"{name} ({interval.undefined:,} of {interval.resamples:,} resamples)"
        for name, interval in found.items()
        if interval.nothing and interval.undefined
    ]
    if empty:
        yield f"{where}: too many resamples have no value, so there is no interval for {some(empty)}"
    alike = [name for name, interval in found.items() if interval.nothing and not interval.undefined]
    if alike:
        yield f"{where}: {why}, so there is no interval for {some(alike)}"
    by_formula = [name for name, interval in found.items() if interval.by_formula]
    if by_formula:
        few = "too few units differ for a bootstrap, so Student's t gives the interval"
        yield f"{where}: {few} for {some(by_formula)}"


def comparison_interval_notes(comparison: Comparison, limits: Intervals) -> Iterator[str]:
    """What was left out of the intervals of a comparison."""
    names, label = [system.name for system in comparison.entry.systems], comparison.statistic.label
    found = {
        f"{names[a]} and {names[b]}": interval
        for a, b in comparison.pairs
        if (interval := limits[label, (a, b)]).undefined or interval.nothing or interval.by_formula
    }
    if comparison.statistic.ordered:
        # Why they cannot have a standard error is noted with the test.
        found = {pair: interval for pair, interval in found.items() if not isnan(interval.error)}
    why = f"the {'replicates' if comparison.replicates else 'unit-by-unit differences'} do not vary"
    alone = [part.entry for part in comparison.over if part.observations.units == 1]
    if alone:
        # On a test set of one unit nothing says how much the difference varies, so nothing does of the average.
        has = "has" if len(alone) == 1 else "have"
        why = f"{some([entry.test_set.name for entry in alone])} {has} a single {alone[0].units.exchange_noun}"
    return interval_notes(f"{label} on {comparison.entry.test_set.name}", found, why)


def contradictions(how: p.Testing, table: Table) -> Iterator[str]:
    """Why an interval excludes 0 beside a difference that is not significant, or holds 0 beside one that is. Where
    bounds of what is missing decide, the interval beside them is not about that.
    """
    if how.missing == "bounds":
        return
    holding: list[int] = []
    excluding: list[int] = []
    cells = zip(*(table.column(name) for name in ("ci_low", "ci_high", "verdict")), strict=True)
    for place, (low, high, verdict) in enumerate(cells):
        outside = (isinstance(low, float) and low > 0) or (isinstance(high, float) and high < 0)
        if verdict == "significant" and not outside and (low is not None or high is not None):
            holding.append(place)
        if verdict == "not significant" and outside:
            excluding.append(place)
    if holding:
        yield _said(table, holding, "significant, though the interval contains 0", _why_holding(how))
    if excluding:
        yield _said(table, excluding, "not significant, though the interval excludes 0", _why_excluding(how))


def _said(table: Table, places: Sequence[int], what: str, why: str) -> str:
    """What is true of the rows at these places, of which there are some."""
    columns = [table.column(name) for name in ("system_a", "system_b", "measure", "test_set")]
    few = [[column[place] for column in columns] for place in places[: NAMED + 1]]
    named = [f"{a} and {b}, {measure} on {test_set}" for a, b, measure, test_set in few]
    if len(named) == 1:
        return f"{named[0]}: {what}; {why}"
    among = " for example" if len(named) > NAMED else ""
    return f"{len(places):,} pairs are {what}; {why}:{among} {'; '.join(named[:NAMED])}"


def _why_holding(how: p.Testing) -> str:
    if plan_of(how).family == "together" and not how.test.whole_family:
        return f"the intervals cover all pairs at once, but adjust {how.adjustment_name} tests them step by step"
    return _why(how)


def _why_excluding(how: p.Testing) -> str:
    if plan_of(how).family == "each" and how.adjustment.adjusts:
        return f"adjust {how.adjustment_name} accounts for all pairs, the interval only for its own"
    return _why(how)


def _why(how: p.Testing) -> str:
    """How the test and the interval differ."""
    if how.test.shuffles_differences:
        return "the test asks whether answers are exchangeable, the interval how much systems differ on other documents"
    return "the test and the interval are different approximations, and this is a borderline case"
