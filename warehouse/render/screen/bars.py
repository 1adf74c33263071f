"""Draws a distribution of differences as columns of blocks on a terminal."""

from __future__ import annotations

from rich.text import Text

from warehouse.charts import Bins, Panel, Rule
from warehouse.render.screen.canvas import Canvas, marked, tick_line
from warehouse.render.style import Style

BLOCKS = " ▁▂▃▄▅▆▇█"
LEGEND = "━ as extreme as observed, or more; ▲ observed"
ROWS = 12
SCALE = 8
"""The columns for the counts beside the axis."""


def bars(panel: Panel, style: Style) -> list[Text]:
    """Columns of blocks, and below them a line that shows without colour which of them count as extreme."""
    columns = max(20, min(style.width - SCALE - 2, 100))
    canvas = Canvas(columns, ROWS)
    below = Canvas(columns, 1)
    bins = [bar for mark in panel.marks_of(Bins) for bar in mark.bins]
    for column in range(columns):
        at = panel.x.value((column + 0.5) / columns)
        here = next((bar for bar in bins if bar.low <= at < bar.high), None)
        if here is None:
            continue
        look = "bold yellow" if here.counted else "cyan"
        eighths = round(here.count / panel.y.high * ROWS * 8) if here.count else 0
        eighths = max(eighths, 1) if here.count else 0
        for row in range(ROWS):
            part = min(max(eighths - 8 * (ROWS - 1 - row), 0), 8)
            if part:
                canvas.text(column, row, BLOCKS[part], look)
        if here.counted:
            below.text(column, 0, "━", look)
    for rule in panel.marks_of(Rule):
        below.text(min(int(panel.x.share(rule.at) * columns), columns - 1), 0, "▲" if rule.label else "△", "bold")
    counts = {min(int((1 - panel.y.share(value)) * ROWS), ROWS - 1): text for value, text in marked(panel.y, 4)}
    lines = [
        Text(f"{counts.get(row, ''):>{SCALE}} ", "dim").append_text(line) for row, line in enumerate(canvas.lines())
    ]
    marks = Text(" " * (SCALE + 1)).append_text(below.line_of(0))
    title = Text(f"{panel.x.label:^{columns + SCALE}}".rstrip(), "dim")
    return [*lines, marks, tick_line(panel.x, columns, SCALE + 1), title]
