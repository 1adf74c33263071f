"""Draws charts on a terminal: lines of text with blocks and braille, which can be read without colour.

This package sees only a chart. It returns lines, and rich prints them.
"""

from __future__ import annotations

from rich.text import Text

from warehouse.charts import Bins, Chart, Panel, Squares
from warehouse.render.screen import bars as columns
from warehouse.render.screen import squares as pairs
from warehouse.render.screen.plot import plot
from warehouse.render.screen.rows import ladder
from warehouse.render.style import Style, clean

SIMULATED = "SIMULATED DATA"

MEANINGS = {Bins: columns.LEGEND, Squares: pairs.LEGEND}
"""The meanings of the signs, by kind of mark."""


def picture(chart: Chart, style: Style) -> list[Text]:
    """The lines of a chart. They are at most as wide as the terminal, if the names are short enough."""
    title = Text(clean(chart.title), style="bold")
    if chart.simulated:
        title.append("   ").append(SIMULATED, style="bold yellow")
    lines = [title, *([Text(clean(chart.subtitle))] if chart.subtitle else [])]
    for panel in chart.panels:
        if panel.title:
            lines.append(Text(clean(panel.title), style="italic"))
        for line in _panel(panel, style):
            line.no_wrap, line.overflow = True, "ignore"
            lines.append(line)
    kinds = {type(mark) for panel in chart.panels for mark in panel.marks}
    legend = [*(meaning for kind, meaning in MEANINGS.items() if kind in kinds), *chart.legend]
    return [*lines, Text(clean("; ".join(legend)), style="dim")] if legend else lines


def _panel(panel: Panel, style: Style) -> list[Text]:
    kinds = {type(mark) for mark in panel.marks}
    if Squares in kinds:
        return pairs.squares(panel, style)
    if Bins in kinds:
        return columns.bars(panel, style)
    return ladder(panel, style) if panel.y.nominal else plot(panel, style)
