"""Limits an answer in JSON to a number of rows and a number of characters, because an assistant has to read all of
them.

Long texts are cut before rows are left out, and notes report both. This module does not know what a row means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from grammar.errors import QueryError
from warehouse.results import Cell, Result, Table, as_json

SHORT = 200
"""A text of up to this many characters is shown in full."""

FOR_NOTES = 1_000
"""The number of characters that are reserved for notes about the limits."""


def bounded(result: Result, rows: int, characters: int, note: str = "", more: Mapping[str, Any] | None = None) -> str:
    """An answer with limited rows in each of its tables and limited characters in total. At its end are a note and the
    entries of `more`. Raises QueryError if it is too large even without rows.
    """
    tables = tuple(replace(table, rows=table.rows[:rows]) for table in (result.table, result.summary_table))
    empty = replace(result, table=replace(result.table, rows=()), summary_table=replace(result.summary_table, rows=()))
    around = empty.as_dict() | {"notes": [*result.notes, note]} | dict(more or {})
    room = characters - len(as_json(around)) - FOR_NOTES
    if room < 0:
        raise QueryError(f"this answer has more than {characters:,} characters without its rows")
    tables, longest = _with_short_texts(tables, room, characters * 2 // 3)
    tables = _fitting(tables, room)
    notes = list(result.notes)
    for shown, whole, of in zip(tables, (result.table, result.summary_table), ("", " of the summary"), strict=True):
        notes += _left_out(shown, whole, of, rows, characters)
    if longest is not None:
        notes.append(f"texts are cut after {longest:,} characters: ask about fewer documents to read more of each")
    notes += [note] if note else []
    shown_of_it = replace(result, table=tables[0], summary_table=tables[1])
    return as_json(shown_of_it.as_dict() | {"notes": notes} | dict(more or {}))


def _left_out(shown: Table, whole: Table, of: str, rows: int, characters: int) -> Iterator[str]:
    """The number of rows that are not shown, and the reason."""
    left = len(whole.rows) - len(shown.rows)
    if not left:
        return
    too_long = len(shown.rows) < min(rows, len(whole.rows))
    why = f", as an answer has at most {characters:,} characters" if too_long else ""
    option = "--characters allows more" if too_long else f"--limit {len(whole.rows)} would show all"
    yield (
        f"{left:,} more {'row' if left == 1 else 'rows'}{of} left out{why}: ask about fewer systems, measures or "
        f"documents (evalhouse mcp {option})"
    )


# --- texts ------------------------------------------------------------------------------------------------------------


def _with_short_texts(tables: Sequence[Table], room: int, for_texts: int) -> tuple[tuple[Table, ...], int | None]:
    """Tables with their long texts cut so that all characters together stay within a limit, as far as cutting texts can
    achieve that; and the length at which texts are cut, None if none is.
    """
    while True:
        longest = _longest(tables, for_texts)
        cut = tuple(tables) if longest is None else tuple(_shortened(table, longest) for table in tables)
        if for_texts < SHORT or sum(map(sum, map(_sizes, cut))) <= room:
            return cut, longest
        for_texts //= 2


def _longest(tables: Sequence[Table], room: int) -> int | None:
    """The number of characters of a text that are shown so that the total stays within the limit; None if all can be
    shown.
    """
    cells = (cell for table in tables for row in table.rows for cell in row)
    lengths = sorted(len(cell) for cell in cells if isinstance(cell, str) and len(cell) > SHORT)
    for place, length in enumerate(lengths):
        if length * (len(lengths) - place) > room:
            return max(SHORT, room // (len(lengths) - place))
        room -= length
    return None


def _shortened(table: Table, longest: int) -> Table:
    def short(cell: Cell) -> Cell:
        return f"{cell[:longest]}…" if isinstance(cell, str) and len(cell) > longest else cell

    return replace(table, rows=tuple(tuple(map(short, row)) for row in table.rows))


# --- rows -------------------------------------------------------------------------------------------------------------


def _sizes(table: Table) -> list[int]:
    """The number of characters of each row, including the separators between rows."""
    return [len(as_json(record)) + 2 for record in table.records()]


def _fitting(tables: Sequence[Table], room: int) -> tuple[Table, ...]:
    """The first rows of a table and of its summary that fit within a number of characters. The summary gets half of
    them, or what the table does not use.
    """
    table, summary = tables
    short_summary = _first(summary, max(room // 2, room - sum(_sizes(table))))
    return _first(table, room - sum(_sizes(short_summary))), short_summary


def _first(table: Table, room: int) -> Table:
    """The first rows, as many as fit."""
    for place, size in enumerate(_sizes(table)):
        room -= size
        if room < 0:
            return replace(table, rows=table.rows[:place])
    return table
