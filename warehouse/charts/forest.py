"""Slices below one another: the difference in each slice with its interval, and its estimate shrunk towards the overall
difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warehouse.charts import Axis, Mark, Panel, Point, Points, Rule, Spans, Unit
from warehouse.charts.axes import limits


class SliceDots(Struct, frozen=True):
    """A slice: its difference, half of its interval, and its estimate, which is None if there is none."""

    name: str
    difference: float
    half: float | None
    estimate: float | None


def forest(title: str, measure: str, unit: Unit, slices: Sequence[SliceDots], whole: float) -> Panel:
    """A panel of slices, with a line at no difference and a line at the overall difference."""
    ends = [one.difference + sign * (one.half or 0.0) for one in slices for sign in (-1, 1)]
    left, right = limits([*ends, 0.0, whole])
    spans = tuple(
        (one.difference - one.half, one.difference + one.half, float(row))
        for row, one in enumerate(slices)
        if one.half is not None
    )
    raw = tuple(Point(one.difference, float(row), one.name) for row, one in enumerate(slices))
    drawn = tuple(
        Point(one.estimate, float(row), one.name) for row, one in enumerate(slices) if one.estimate is not None
    )
    marks: list[Mark] = [Rule(0.0, "", "dashed"), Rule(whole, "", "dotted"), Spans(spans)]
    marks += [Points(raw, hollow=True), Points(drawn)]
    return Panel(
        title,
        Axis(measure, unit, left, right),
        Axis("slice", "name", names=tuple(s.name for s in slices)),
        tuple(marks),
    )
