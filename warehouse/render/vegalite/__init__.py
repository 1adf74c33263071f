"""Draws charts in Vega-Lite as plain dictionaries and lists that contain all data.

Names are always data and never parts of an expression, so no name is ever executed.
"""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Bins, Brackets, Chart, Panel, Squares
from warehouse.render.style import clean
from warehouse.render.vegalite.frame import size
from warehouse.render.vegalite.looks import FAINT, FONT, GREY, SIZE, VERMILION, Spec, extent
from warehouse.render.vegalite.marks import groups, layers
from warehouse.render.vegalite.name_places import at_ends, beside_points

LINE = 14
"""The height of a line of text below the picture."""

BETWEEN = 110
"""The approximate distance between panels that are side by side."""

ABOVE_BENEATH = 46
"""The distance between the axes of a panel and those of the panel below it. The numbers of the horizontal axis are
drawn there.
"""

LEAST = 420.0
"""The least width for titles, unless a narrow picture is requested."""

NARROW = 480.0
"""If a picture must be narrower than this, its panels are drawn one below the other."""


def spec(chart: Chart) -> Spec:
    """The specification of the whole chart."""
    panels = _stacked(chart.panels)
    drawn = panels[0] if len(panels) == 1 else {"concat": panels, "columns": columns(chart)}
    wide = _width(chart)
    subtitle = _lines(clean(chart.subtitle), wide)
    below = [line for text in (*_meanings(chart), *chart.legend, *chart.notes) for line in _lines(clean(text), wide)]
    colour = VERMILION if chart.simulated else GREY
    return {
        "title": {
            "text": _lines(clean(chart.title), wide * 0.7),
            "subtitle": ["SIMULATED DATA", *subtitle] if chart.simulated else subtitle,
            "anchor": "start",
            "frame": "group",
            "offset": 12,
        },
        "description": clean(chart.alternative),
        "background": "white",
        "padding": 12,
        "spacing": 24,
        "vconcat": [drawn, _footer(below, wide)] if below else [drawn],
        "config": {
            "font": f"{clean(chart.font)}, {FONT}" if chart.font else FONT,
            "title": {"fontSize": 15, "subtitleFontSize": SIZE, "subtitleColor": colour},
            "axis": {
                "labelFontSize": SIZE,
                "titleFontSize": SIZE + 1,
                "titleFontWeight": "normal",
                "gridColor": "#EEEEEE",
            },
            "text": {"fontSize": SIZE},
            "view": {"stroke": FAINT},
            "concat": {"spacing": 28},
        },
    }


def _stacked(panels: Sequence[Panel]) -> list[Spec]:
    """The panels, each above the ones that are drawn below it."""
    stacks: list[list[Spec]] = []
    for panel in panels:
        if panel.beneath:
            stacks[-1].append(_panel(panel))
        else:
            stacks.append([_panel(panel)])
    return [
        stack[0] if len(stack) == 1 else {"vconcat": stack, "spacing": ABOVE_BENEATH, "bounds": "flush"}
        for stack in stacks
    ]


def _meanings(chart: Chart) -> list[str]:
    """The meanings of the marks whose look is specific to this drawing."""
    kinds = {type(mark) for panel in chart.panels for mark in panel.marks}
    meanings = {Bins: "dark bars: as extreme as observed, or more", Squares: "* significant, ? undecided"}
    return [meaning for kind, meaning in meanings.items() if kind in kinds]


def columns(chart: Chart) -> int:
    """The number of panels side by side."""
    side_by_side = sum(not panel.beneath for panel in chart.panels)
    if side_by_side == 1 or (chart.width is not None and chart.width < NARROW):
        return 1
    return 2 if side_by_side in (2, 4) or size(chart.panels[0])[0] > 300 else 3


def _width(chart: Chart) -> float:
    side_by_side = columns(chart)
    wide = side_by_side * size(chart.panels[0])[0] + (side_by_side - 1) * BETWEEN
    return wide if chart.width is not None else max(wide, LEAST)


def _lines(text: str, wide: float) -> list[str]:
    """Breaks a text into lines that fit. It never breaks a word."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if extent(longer) > wide and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _footer(lines: list[str], wide: float) -> Spec:
    """The legend and the notes, as a picture of their own: a chart has only one title, and that is at the top."""
    text = {"type": "text", "align": "left", "baseline": "top", "color": GREY, "x": 0, "y": 0, "lineHeight": LINE}
    return {
        "data": {"values": [{"text": lines}]},
        "mark": text,
        "encoding": {"text": {"field": "text"}},
        "width": wide,
        "height": LINE * len(lines),
        "view": {"stroke": None},
    }


def _panel(panel: Panel) -> Spec:
    wide, high = size(panel)
    marks = [*layers(panel), *beside_points(panel), *at_ends(panel)]
    drawn: Spec = {"width": wide, "height": high, "layer": marks}
    if panel.title:
        title = clean(panel.title)
        drawn["title"] = {"text": title, "anchor": "start", "frame": "group", "fontSize": 12, "offset": 8}
    brackets = [bracket for mark in panel.marks_of(Brackets) for bracket in mark.groups]
    return {"hconcat": [drawn, groups(brackets, panel, high)], "spacing": 8} if brackets else drawn
