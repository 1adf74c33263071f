"""What there is to note of intervals: resamples that were left out, limits that there are not, and intervals that
contradict the verdict beside them. A few pairs are named one by one, of many it is said how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warehouse.query import plan as p
from warehouse.query.comparison.intervals import Interval, plan_of
from warehouse.query.labels import some
from warehouse.results import Cell, Table
from warehouse.significance.tests import named_adjustment, named_test

NAMED = 3
"""So many pairs are named where a note is about several."""


def interval_notes(where: str, found: Mapping[str, Interval], why: str = "the units do not vary") -> Iterator[str]:
    """What was left out of the intervals of one statistic on one test set, by the names of what has them; `where` says
    which, and `why` what it means that nothing varies over resamples.
    """
    partial = {name: interval for name, interval in found.items() if interval.undefined and not interval.nothing}
    if partial:
        missing = [f"{interval.undefined:,} of {name}" for name, interval in partial.items()]
        drawn = max(interval.resamples for interval in partial.values())
        yield f"{where}: resamples without a value are left out of intervals, of {drawn:,} so many: {some(missing)}"
    empty = [
        f"{name} ({interval.undefined:,} of {interval.resamples:,} resamples)"
        for name, interval in found.items()
        if interval.nothing and interval.undefined
    ]
    if empty:
        yield f"{where}: too many resamples have no value for an interval of {some(empty)}"
    alike = [name for name, interval in found.items() if interval.nothing and not interval.undefined]
    if alike:
        yield f"{where}: {why}, so there is no interval for {some(alike)}"
    by_formula = [name for name, interval in found.items() if interval.by_formula]
    if by_formula:
        few = "too few units differ for resamples to tell, so the interval is that of Student's t"
        yield f"{where}: {few} for {some(by_formula)}"


def contradictions(how: p.Testing, table: Table) -> Iterator[str]:
    """Why an interval excludes 0 beside a difference that is not significant, or holds 0 beside one that is. Where
    bounds of what is missing decide, the interval beside them is not about that.
    """
    holding: list[dict[str, Cell]] = []
    excluding: list[dict[str, Cell]] = []
    for row in table.records() if how.missing != "bounds" else ():
        low, high = (row[name] for name in ("ci_low", "ci_high"))
        outside = (isinstance(low, float) and low > 0) or (isinstance(high, float) and high < 0)
        if row["verdict"] == "significant" and not outside and (low is not None or high is not None):
            holding.append(row)
        if row["verdict"] == "not significant" and outside:
            excluding.append(row)
    yield from _said(holding, "significant, though the interval holds 0", _why_holding(how))
    yield from _said(excluding, "not significant, though the interval excludes 0", _why_excluding(how))


def _said(rows: Sequence[Mapping[str, Cell]], what: str, why: str) -> Iterator[str]:
    named = [f"{row['system_a']} and {row['system_b']}, {row['measure']} on {row['test_set']}" for row in rows]
    if len(named) == 1:
        yield f"{named[0]}: {what}; {why}"
    elif named:
        among = " among them" if len(named) > NAMED else ""
        yield f"{len(named):,} pairs are {what}; {why}:{among} {'; '.join(named[:NAMED])}"


def _why_holding(how: p.Testing) -> str:
    if plan_of(how).family == "together" and not named_test(how.test).whole_family:
        return f"the interval stands for all pairs at once, and adjust {how.adjust} takes one pair after the other"
    return _why(how)


def _why_excluding(how: p.Testing) -> str:
    if plan_of(how).family == "each" and named_adjustment(how.adjust).adjusts:
        return f"adjust {how.adjust} is for all pairs, and the interval stands for its own"
    return _why(how)


def _why(how: p.Testing) -> str:
    """What the test and the interval do otherwise."""
    if named_test(how.test).shuffles_differences:
        return "the test asks if the answers could be exchanged, the interval how far they differ on other documents"
    return "the test and the interval come near the truth in different ways, and the difference lies at their limit"
