"""Draws all pairs as signs on a terminal."""

from __future__ import annotations

from rich.text import Text

from warehouse.charts import Panel, Squares
from warehouse.render.panels import middle
from warehouse.render.style import Style, clean, width

SIGNS = {"significant": ("■", "bold cyan"), "undecided": ("▒", "yellow"), "not significant": ("·", "")}
LEGEND = "■ significant, ▒ undecided, · not significant"


def squares(panel: Panel, style: Style) -> list[Text]:
    """One line per system, in ranking order, with a sign for each better system. Columns are numbered like lines."""
    known = {(square.row, square.column): square for mark in panel.marks_of(Squares) for square in mark.squares}
    count = len(panel.y.names)
    digits = len(str(count))
    longest = max(width(clean(name)) for name in panel.y.names)
    room = digits + 1 if digits + 2 + min(longest, 12) + (digits + 1) * (count - 1) <= style.width else 1
    names = min(longest, max(12, style.width - digits - 2 - room * (count - 1)))
    numbers = (str(column).rjust(room) if room > 1 else str(column % 10) for column in range(1, count))
    lines = [Text(" " * (digits + names + 2) + "".join(numbers), "dim")]
    for row, name in enumerate(panel.y.names):
        text = middle(clean(name), names)
        line = Text(f"{row + 1:>{digits}} {text}{' ' * (names - width(text))} ")
        for column in range(row):
            square = known.get((row, column))
            sign, look = SIGNS[square.verdict] if square else (" ", "")
            line.append(sign.rjust(room), look)
        lines.append(line)
    return lines
