"""The table for a terminal, drawn by rich. Markup in names is never interpreted, and nothing is cut."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warehouse.render.rectangle import Rectangle, rectangles
from warehouse.render.style import Style, clean
from warehouse.results import Result

MOST_ROWS = 500
"""A terminal shows no more rows than this; rich would need seconds for thousands."""


def table(result: Result, style: Style) -> str:
    """Caption, one table or more, how many rows were left out, and the signature."""
    if result.chart:
        # A picture has modules of its own, which no table needs.
        from warehouse.render.screen import picture

        return printed(picture(result.chart, style), style, style.width)
    drawn = rectangles(result, style)
    parts: list[Text | Table] = []
    if result.caption:
        parts.append(Text(clean(result.caption), style="bold"))
    for rectangle in drawn:
        if len(parts) > 1:
            parts.append(Text())
        if rectangle.title:
            parts.append(Text(clean(rectangle.title), style="italic"))
        parts.append(_grid(rectangle) if rectangle.rows else Text("(no rows)", style="dim"))
        if len(rectangle.rows) > MOST_ROWS:
            left = len(rectangle.rows) - MOST_ROWS
            parts.append(Text(f"… and {left:,} more rows; --format tsv shows all", style="dim"))
    if drawn[0].legend:
        parts.append(Text(drawn[0].legend, style="dim"))
    if result.signed:
        parts.append(Text(clean(result.signature), style="dim"))
    return printed(parts, style, max(style.width, max(rectangle.width for rectangle in drawn) + 4))


def printed(parts: Sequence[Text | Table], style: Style, width: int) -> str:
    """Texts and tables one below the other as lines of a terminal, with its codes for colours if they are wanted."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=style.colour,
        no_color=not style.colour,
        color_system="standard" if style.colour else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _grid(rectangle: Rectangle) -> Table:
    left = (rectangle.gap - 1) // 2
    padding = (0, rectangle.gap - 1 - left, 0, left)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=padding)
    for heading, numeric, limit in zip(rectangle.headings, rectangle.numeric, rectangle.limits, strict=True):
        shown = Text("\n".join(clean(line) for line in heading.split("\n")))
        grid.add_column(shown, justify="right" if numeric else "left", min_width=limit, max_width=limit)
    for row in rectangle.rows[:MOST_ROWS]:
        grid.add_row(*(Text(text) for text in row))
    return grid
