"""Differences of systems as dots with their intervals, beside the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Mark, Panel, Point, Points, Rule, Spans, Unit, Verdict
from warehouse.charts.axes import limits


def differences(
    title: str, measure: str, unit: Unit, pairs: Sequence[tuple[str, float, float, float, Verdict]]
) -> Panel:
    """A panel of (name of the pair, difference, low, high, verdict); one that is not significant is hollow."""
    ends = [end for _, value, low, high, _ in pairs for end in (value, low, high)]
    dots = [Point(value, float(place), name, verdict) for place, (name, value, _, _, verdict) in enumerate(pairs)]
    marks: list[Mark] = [
        Rule(0.0, "", "dashed"),
        Spans(tuple((low, high, float(place)) for place, (_, _, low, high, _) in enumerate(pairs))),
        Points(tuple(dot for dot in dots if dot.verdict == "significant")),
        Points(tuple(dot for dot in dots if dot.verdict != "significant"), hollow=True),
    ]
    names = tuple(name for name, *_ in pairs)
    return Panel(title, Axis(measure, unit, *limits([*ends, 0.0])), Axis("pair", "name", names=names), tuple(marks))
