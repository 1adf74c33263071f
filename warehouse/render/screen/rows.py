"""Draws rows of names with one dot each on a terminal: rankings and differences."""

from __future__ import annotations

from rich.text import Text

from warehouse.charts import Brackets, Panel, Points, Rule, Spans
from warehouse.render.panels import middle
from warehouse.render.screen.canvas import Canvas, marked, tick_line
from warehouse.render.style import Style, cell, clean, width

NARROWEST = 20
"""The dots have at least this many columns, however long the names are."""
LONGEST = 24
"""The maximum length of a name, unless there is room for more."""


def ladder(panel: Panel, style: Style) -> list[Text]:
    """One line per name: the name, its value, the dot with its interval, and the letters of its groups."""
    values = {round(point.y): point.x for mark in panel.marks_of(Points) for point in mark.points}
    kind = "number" if panel.x.unit == "number" else "difference" if panel.x.unit == "difference" else "proportion"
    shown = [cell(kind, values.get(row), style.digits) for row in range(len(panel.y.names))]  # type: ignore[arg-type]
    if not values:
        shown = [""] * len(shown)
    letters = _letters(panel)
    longest = max(width(clean(name)) for name in panel.y.names)
    beside = max(map(len, shown)) + max(map(len, letters)) + 4
    room = max(style.width - beside - longest, min(style.width // 2, style.width - beside - LONGEST), NARROWEST)
    name_room = min(longest, max(style.width - beside - room, 8))
    canvas = Canvas(room, len(panel.y.names))
    _draw(panel, canvas)
    lines = []
    for row, name in enumerate(panel.y.names):
        text = middle(clean(name), name_room)
        line = Text(text + " " * (name_room - width(text)) + " ").append(shown[row].rjust(max(map(len, shown))))
        line.append(" ").append_text(canvas.line_of(row)).append("  ").append(letters[row], "bold")
        lines.append(line)
    indent = name_room + max(map(len, shown)) + 2
    ticks = tick_line(panel.x, room, indent)
    title = panel.x.label
    if width(title) < indent - 1:
        ticks = Text(title.rjust(indent - 1), "dim").append_text(ticks[indent - 1 :])
    return [*lines, ticks]


def _draw(panel: Panel, canvas: Canvas) -> None:
    def column(value: float) -> int:
        return min(max(int(panel.x.share(value) * canvas.columns), 0), canvas.columns - 1)

    for value, _ in marked(panel.x, max(2, canvas.columns // 10)):
        for row in range(canvas.rows):
            canvas.text(column(value), row, "┊", "dim")
    for mark in panel.marks:
        if isinstance(mark, Rule):
            for row in range(canvas.rows):
                canvas.text(column(mark.at), row, "│")
        if isinstance(mark, Spans):
            for low, high, place in mark.spans:
                start, end = column(low), column(high)
                if mark.thick:
                    canvas.text(start, round(place), "█" * (end - start + 1))
                    continue
                canvas.text(start, round(place), "├" + "─" * (end - start - 1) + "┤" if end > start else "│")
    for points in panel.marks_of(Points):
        for point in points.points:
            canvas.point(column(point.x), round(point.y), hollow=points.hollow)


def _letters(panel: Panel) -> list[str]:
    """The letters of each row, aligned by group. A bar marks a row within a group that does not belong to it."""
    groups = [group for mark in panel.marks_of(Brackets) for group in mark.groups]
    lines = []
    for row in range(len(panel.y.names)):
        parts = []
        for group in groups:
            inside = min(group.members) < row < max(group.members)
            sign = group.letter if row in group.members else "│" if inside else ""
            parts.append(sign.ljust(len(group.letter)))
        lines.append(" ".join(parts) if groups and max(len(g.letter) for g in groups) > 1 else "".join(parts))
    return lines
