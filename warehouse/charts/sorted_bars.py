"""Bars sorted by length, one per document: one below the other with names if there are few, otherwise side by side."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Bar, Bars, Panel, Point, Points, Rule, Spans, Unit
from warehouse.charts.axes import limits

NAMED = 40
"""Up to this many bars are drawn below one another, each with its name."""

MOST_BARS = 400
"""If there are more bars than this, neighbouring bars are merged into one, which has their average height."""


def together(count: int) -> int:
    """How many neighbouring bars are merged into one."""
    return -(-count // MOST_BARS)


def sorted_bars(title: str, measure: str, noun: str, unit: Unit, lengths: Sequence[tuple[str, float]]) -> Panel:
    """A panel of bars from 0 to the length given with each name, in the order given."""
    if len(lengths) <= NAMED:
        left, right = limits([0.0, *(length for _, length in lengths)])
        spans = tuple((min(0.0, length), max(0.0, length), float(row)) for row, (_, length) in enumerate(lengths))
        dots = tuple(Point(length, float(row), name) for row, (name, length) in enumerate(lengths))
        names = tuple(name for name, _ in lengths)
        marks = (Rule(0.0, "", "dashed"), Spans(spans), Points(dots))
        return Panel(title, Axis(measure, unit, left, right), Axis(noun, "name", names=names), marks)
    step = together(len(lengths))
    bars = []
    for start in range(0, len(lengths), step):
        some = lengths[start : start + step]
        name = some[0][0] if len(some) == 1 else f"{some[0][0]} and {len(some) - 1:,} more"
        bars.append(Bar(float(start), float(start + len(some)), sum(length for _, length in some) / len(some), name))
    low, high = limits([0.0, *(bar.length for bar in bars)])
    across, up = Axis(noun, "number", 0.0, float(len(lengths))), Axis(measure, unit, low, high)
    return Panel(title, across, up, (Bars(tuple(bars)),))
