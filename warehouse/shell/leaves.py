"""Answers whose rows are read one at a time, as leaves of the pager: first the table, then each row by itself."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from warehouse.render import Style, render
from warehouse.render.style import cell, clean, width
from warehouse.results import Cell, Column, Result
from warehouse.shell.pager import Leaf

LONG = 60
"""A text longer than this is shown below its heading."""


def leaves(result: Result, style: Style) -> list[Leaf]:
    """The table as `style` draws it, and one leaf per row, whose title is the first name that no other row has."""
    naming = max(
        (column for column in result.table.columns if column.kind == "name"),
        key=lambda column: len(set(result.table.column(column.name))),
    )
    table = Leaf(result.caption, lambda columns: render(result, "table", Style(style.digits, columns, style.colour)))
    return [table, *(_row(row, result.table.columns, naming, style) for row in result.rows)]


def _row(row: Mapping[str, Cell], columns: tuple[Column, ...], naming: Column, style: Style) -> Leaf:
    texts = {column: str(row[column.name]) for column in columns if is_long(row[column.name])}

    def draw(available: int) -> str:
        shown = {
            clean(column.heading or column.name): cell(column.kind, row[column.name], style.digits)
            for column in columns
            if column not in texts and (column.on_screen or row[column.name] is not None)
        }
        longest = max(map(width, shown))
        lines = [f"{label}{' ' * (longest - width(label))}  {text}" for label, text in shown.items()]
        for column, text in texts.items():
            lines += ["", clean(column.heading or column.name)]
            for line in text.split("\n"):
                lines += textwrap.wrap(
                    clean(line), max(20, available - 2), initial_indent="  ", subsequent_indent="  "
                ) or [""]
        return "\n".join(lines)

    return Leaf(clean(str(row[naming.name])), draw)


def is_long(text: Cell) -> bool:
    """Whether a text is shown below its heading rather than beside it."""
    return isinstance(text, str) and (len(text) > LONG or "\n" in text)
