"""Answers whose rows are read one at a time, as leaves of the pager: the table first, then each row on its own."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from warehouse.render import Style, render
from warehouse.render.style import cell, clean, width
from warehouse.results import Cell, Column, Result
from warehouse.shell.pager import Leaf


def leaves(result: Result, style: Style) -> list[Leaf]:
    """The table, as `style` has it, and a leaf a row, which is called by the first name that no other row has."""
    naming = max(
        (column for column in result.table.columns if column.kind == "name"),
        key=lambda column: len(set(result.table.column(column.name))),
    )
    table = Leaf(result.caption, lambda columns: render(result, "table", Style(style.digits, columns, style.colour)))
    return [table, *(_row(row, result.table.columns, naming, style) for row in result.rows)]


def _row(row: Mapping[str, Cell], columns: tuple[Column, ...], naming: Column, style: Style) -> Leaf:
    def draw(available: int) -> str:
        shown = {column.heading or column.name: cell(column.kind, row[column.name], style.digits) for column in columns}
        longest = max(map(width, map(clean, shown)))
        lines = []
        for heading, text in shown.items():
            label = clean(heading)
            beside = f"{label}{' ' * (longest - width(label))}  "
            wrapped = textwrap.wrap(text.strip(), max(20, available - longest - 2)) or [""]
            lines += [beside + wrapped[0], *(" " * (longest + 2) + rest for rest in wrapped[1:])]
        return "\n".join(lines)

    return Leaf(clean(str(row[naming.name])), draw)
