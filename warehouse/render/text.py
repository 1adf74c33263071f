"""The formats for programs: json, ndjson, csv, tsv. Values in full, in the units of the data; undefined is null or
nothing.
"""

from __future__ import annotations

import csv as writer
import io

from warehouse.render.style import Style, clean
from warehouse.results import Cell, Result, as_json


def json(result: Result, style: Style) -> str:
    """One object, on one line."""
    return result.to_json() + "\n"


def ndjson(result: Result, style: Style) -> str:
    """One object a row."""
    return "".join(as_json(row) + "\n" for row in result.rows)


def tsv(result: Result, style: Style) -> str:
    """A header and a line a row; names hold no tabs, since they are shown by their codes."""
    lines = [
        result.columns,
        *([_plain(cell, style) for cell in row] for row in result.table.rows),
    ]
    return "".join("\t".join(line) + "\n" for line in lines)


def csv(result: Result, style: Style) -> str:
    """As RFC 4180, with line feeds; a text that a spreadsheet would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    rows = writer.writer(out, lineterminator="\n")
    rows.writerow(result.columns)
    for row in result.table.rows:
        rows.writerow([_harmless(cell) if isinstance(cell, str) else _plain(cell, style) for cell in row])
    return out.getvalue()


def _plain(cell: Cell, style: Style) -> str:
    if isinstance(cell, str):
        return clean(cell)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and style.digits is not None:
        return f"{cell:.{style.digits}f}"
    return repr(cell)


def _harmless(cell: str) -> str:
    text = clean(cell)
    return "'" + text if text.startswith(("=", "+", "-", "@")) else text
