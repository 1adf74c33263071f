"""Differences between systems as dots with their intervals, beside the line of no difference."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Mark, Panel, Point, Points, Rule, Spans, Unit
from warehouse.charts.axes import limits
from warehouse.significance.shuffles.confidence import Verdict

Difference = tuple[str, float, float | None, float | None, Verdict]
"""The name of a pair, its difference, its limits, and the verdict."""


def differences(
    title: str, measure: str, unit: Unit, pairs: Sequence[Difference], margin: float | None = None
) -> Panel:
    """A panel of differences. A dot is hollow if its difference is not significant. The line of an interval that is
    open on one side extends to the edge. A `margin` is drawn on both sides of no difference.
    """
    margins = [] if margin is None else [-margin, margin]
    known = [end for _, value, low, high, _ in pairs for end in (value, low, high) if end is not None]
    left, right = limits([*known, *margins, 0.0])
    spans = tuple(
        (left if low is None else low, right if high is None else high, float(place))
        for place, (_, _, low, high, _) in enumerate(pairs)
        if low is not None or high is not None
    )
    dots = [Point(value, float(place), name, verdict) for place, (name, value, _, _, verdict) in enumerate(pairs)]
    marks: list[Mark] = [
        Rule(0.0, "", "dashed"),
        *(Rule(limit, "", "dotted") for limit in margins),
        *([Spans(spans)] if spans else []),
        Points(tuple(dot for dot in dots if dot.verdict == "significant")),
        Points(tuple(dot for dot in dots if dot.verdict != "significant"), hollow=True),
    ]
    names = tuple(name for name, *_ in pairs)
    return Panel(title, Axis(measure, unit, left, right), Axis("pair", "name", names=names), tuple(marks))
