"""The formats for programs: json, ndjson, csv and tsv. Values are written in full, in the units of the data. An
undefined value is null or empty.

The text comes in parts of some thousand rows, because that of all pairs of a thousand systems takes more memory than
the rows themselves.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain

from msgspec.structs import replace

from evalhouse.warehouse.render.style import Style, clean
from evalhouse.warehouse.results import Cell, Result, as_json

PART = 10_000
"""The number of rows in a part."""


def json(result: Result, style: Style) -> Iterator[str]:
    """One object, on one line."""
    if len(result.table.rows) <= PART:
        yield result.to_json() + "\n"
        return
    before, after = as_json(replace(result, table=replace(result.table, rows=())).as_dict()).split('"rows": []', 1)
    yield before + '"rows": ['
    for place, rows in enumerate(_parts(result)):
        yield (", " if place else "") + ", ".join(map(as_json, _records(result, rows)))
    yield "]" + after + "\n"


def ndjson(result: Result, style: Style) -> Iterator[str]:
    """One object per row."""
    for rows in _parts(result):
        yield "".join(as_json(row) + "\n" for row in _records(result, rows))


def tsv(result: Result, style: Style) -> Iterator[str]:
    """A header and one line per row. Names cannot contain tabs, because tabs are shown as codes. Formulas are treated
    as in `csv`.
    """
    yield "\t".join(map(_harmless, result.columns)) + "\n"
    for lines in _lines(result, style, _harmless):
        yield "".join("\t".join(line) + "\n" for line in lines)


def csv(result: Result, style: Style) -> Iterator[str]:
    """CSV as in RFC 4180, but with line feeds. A text that a spreadsheet would read as a formula begins with an
    apostrophe.
    """
    from csv import writer

    heading: list[Iterable[tuple[str, ...]]] = [[tuple(map(_harmless, result.columns))]]
    for lines in chain(heading, _lines(result, style, _harmless)):
        out = io.StringIO()
        writer(out, lineterminator="\n").writerows(lines)
        yield out.getvalue()


def _parts(result: Result) -> Iterator[tuple[tuple[Cell, ...], ...]]:
    """The rows, some at a time."""
    rows = result.table.rows
    return (rows[start : start + PART] for start in range(0, len(rows), PART))


def _records(result: Result, rows: Sequence[tuple[Cell, ...]]) -> Iterator[dict[str, Cell]]:
    """Some rows by column name."""
    names = result.columns
    return (dict(zip(names, row, strict=True)) for row in rows)


def _lines(result: Result, style: Style, shown: Callable[[str], str]) -> Iterator[Iterable[tuple[str, ...]]]:
    """The cells of each row, some rows at a time. `shown` makes a text safe, once for all its occurrences."""
    shown = cache(shown)
    for rows in _parts(result):
        columns: list[Iterable[str]] = []
        for cells in zip(*rows, strict=True):
            if style.digits is None and {type(cell) for cell in cells} <= {int, float}:
                columns.append(map(repr, cells))
            else:
                columns.append([shown(cell) if isinstance(cell, str) else _plain(cell, style) for cell in cells])
        yield zip(*columns, strict=True)


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
