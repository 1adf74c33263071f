"""The formats for programs: json, ndjson, csv and tsv. Values are written in full, in the units of the data. An
undefined value is null or empty.
"""

from __future__ import annotations

import csv as writer
import io
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from warehouse.render.style import Style, clean
from warehouse.results import Result, as_json


def json(result: Result, style: Style) -> str:
    """One object, on one line."""
    return result.to_json() + "\n"


def ndjson(result: Result, style: Style) -> str:
    """One object per row."""
    return "".join(as_json(row) + "\n" for row in result.rows)


def tsv(result: Result, style: Style) -> str:
    """A header and one line per row. Names cannot contain tabs, because tabs are shown as codes. Formulas are treated
    as in `csv`.
    """
    lines = [map(_harmless, result.columns), *_lines(result, style, _harmless)]
    return "".join("\t".join(line) + "\n" for line in lines)


def csv(result: Result, style: Style) -> str:
    """CSV as in RFC 4180, but with line feeds. A text that a spreadsheet would read as a formula begins with an
    apostrophe.
    """
    out = io.StringIO()
    rows = writer.writer(out, lineterminator="\n")
    rows.writerow(map(_harmless, result.columns))
    rows.writerows(_lines(result, style, _harmless))
    return out.getvalue()


def _lines(result: Result, style: Style, shown: Callable[[str], str]) -> Iterator[tuple[str, ...]]:
    """The cells of each row. `shown` makes a text safe, once for all its occurrences."""
    shown = cache(shown)
    columns: list[Iterable[str]] = []
    for cells in result.table.cells():
        if style.digits is None and {type(cell) for cell in cells} <= {int, float}:
            columns.append(map(repr, cells))
        else:
            columns.append([shown(cell) if isinstance(cell, str) else _plain(cell, style) for cell in cells])
    return zip(*columns, strict=True)


def _plain(cell: float | bool | None, style: Style) -> str:
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
