"""Reads the first records of a table or of JSON lines if the start of the file is too short to contain a record.

The records only serve to recognize the file: long cells are cut, and an incomplete record is left out.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from warehouse.loading.staging.json_values import JSONError, parsed
from warehouse.loading.staging.reader import Start, as_text

MORE = 4 * 1024 * 1024
"""How many bytes of a file are read if its start has no complete record."""

_SHOWN = 1_000
"""How many characters of a cell are kept. No name is that long."""

_LONG = re.compile(rf'"(?:[^"]|"")*(?:"|\Z)|[^",\t\n]{{{_SHOWN},}}')
"""A quoted cell, which may go on after the text, or a long cell without quotes."""


def has_no_record(start: Start) -> bool:
    """Whether a file goes on after its start, and the start does not contain even one complete record."""
    if start.whole:
        return False
    if start.first.lstrip().startswith("{"):
        return not start.records
    return all(len(record) < len(start.columns) for record in start.records)


def with_records(start: Start, text: str, *, whole: bool) -> Start:
    """The start of a file with the records from more of its text; `whole` says that this is the whole text."""
    rows = tuple(
        {name: cell[:_SHOWN] for name, cell in record.items()} for record in _records(start, text, whole=whole)
    )
    return replace(start, rows=rows, named=start.columns.union(*rows)) if rows else start


def _records(start: Start, text: str, *, whole: bool) -> list[dict[str, str]]:
    if start.first.lstrip().startswith("{"):
        return _objects(text)
    cut = replace(start, text=_LONG.sub(_short, text), whole=whole)
    return [record for record in cut.records if len(record) == len(start.columns)]


def _objects(text: str) -> list[dict[str, str]]:
    """The first object of JSON lines; empty unless a second object follows."""
    first, _, others = text.lstrip().partition("\n")
    if not others.lstrip().startswith("{"):
        return []
    try:
        record = parsed(first)
    except (JSONError, ValueError):
        return []
    return [{key: as_text(item) for key, item in record.items()}] if isinstance(record, dict) else []


def _short(cell: re.Match[str]) -> str:
    """A cell on one line, shortened if it is long."""
    text = cell[0]
    if not text.startswith('"'):
        return text[:_SHOWN]
    inside = text.strip('"')[:_SHOWN].replace('"', " ").replace("\n", " ").replace("\r", " ")
    return f'"{inside}"'
