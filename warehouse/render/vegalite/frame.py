"""Axes, and layers of marks on them, in Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.charts import Axis, Bins, Panel, Squares
from warehouse.charts.axes import ticks
from warehouse.render.style import clean
from warehouse.render.vegalite.looks import HIGH, ROW, SQUARE, WIDE, Spec, distinct, extent

Pixels = tuple[float, float]


def size(panel: Panel) -> Pixels:
    """The width and height of the axes of a panel, in points."""
    if panel.marks_of(Squares):
        side = float(SQUARE * len(panel.y.names))
        return side, side
    wide = WIDE if panel.wide is None else panel.wide
    if panel.y.nominal:
        return wide if panel.beneath else wide - 60.0, float(ROW * len(panel.y.names))
    high = HIGH * (0.65 if panel.marks_of(Bins) else 1.0)
    return wide, high if wide >= WIDE else high * max(wide / WIDE, 0.6)


def layer(values: Sequence[Spec], mark: Spec, panel: Panel, across: Any = "x", **encoding: Any) -> Spec:
    """A layer of marks at given x and y, up to x2 and y2. `across` is None if the mark itself says where it is placed
    horizontally.
    """
    both: Spec = {"y": {"field": "y", **channel(panel.y, across=False)}}
    if across is not None:
        both["x"] = {"field": "x", **channel(panel.x, across=True)}
    both |= {end: {"field": end} for end in ("x2", "y2") if any(end in row for row in values)}
    return {"data": {"values": list(values)}, "mark": {"clip": True, **mark}, "encoding": {**both, **encoding}}


def channel(axis: Axis, across: bool) -> Spec:
    """An axis in Vega-Lite, either of names or of numbers."""
    shown: Spec
    if axis.nominal:
        domain = distinct(axis.names)
        turned = across and (len(domain) > 2 or max(map(extent, domain), default=0.0) > 90)
        shown = {"labelLimit": 260, "title": None, "grid": False, "ticks": False, "domain": False, "labelPadding": 8}
        shown["labelAngle"] = -90 if turned else 0
        return {"type": "nominal", "scale": {"domain": domain}, "sort": None, "axis": shown}
    times = " * 100" if axis.in_percent else ""
    shown = {
        "title": clean(axis.label),
        "values": [tick for tick in ticks(axis.low, axis.high, log=axis.log) if axis.unit != "count" or tick % 1 == 0],
        "labelExpr": f"format(datum.value{times}, ',.4~f')",
        "grid": across or axis.unit != "count",
    }
    kind = "log" if axis.log else "linear"
    scale = {"domain": [axis.low, axis.high], "nice": False, "zero": False, "type": kind}
    return {"type": "quantitative", "scale": scale, "axis": shown}


def at(value: float, axis: Axis) -> Any:
    """A place on an axis as data."""
    return distinct(axis.names)[round(value)] if axis.nominal else value


def pixel(x: float, y: float, panel: Panel) -> Pixels:
    """The position of a place on two axes of numbers, in points from the left and from the top."""
    wide, high = size(panel)
    return panel.x.share(x) * wide, (1 - panel.y.share(y)) * high


def place(x: float, y: float, panel: Panel) -> tuple[float, float]:
    """The place on two axes of numbers at a position, given in points from the left and from the top."""
    wide, high = size(panel)
    return panel.x.value(x / wide), panel.y.value(1 - y / high)
