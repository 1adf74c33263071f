"""Draws errors as text: what is wrong, the line that the error is in, a caret below the place, and what would be right.
The text is plain and has no colour.
"""

from __future__ import annotations

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.render.style import clean, width, window

TAB = 4
WIDEST = 100
"""A longer line is cut to the part around the error."""


def diagnosis(error: Exception, text: str = "") -> str:
    """Draws any error: one in a query, whoever wrote the text, one in data or in a warehouse, or a bug."""
    match error:
        case QueryError():
            return query_error(error, text)
        case DataError():
            return data_error(error)
        case WarehouseError():
            return warehouse_error(error)
    return unforeseen(error)


def query_error(error: QueryError, text: str, source: str | None = None) -> str:
    """Draws a QueryError with the line of text that it is in. `source` names the script, if the text comes from one."""
    start, end = error.span.start, max(error.span.end, error.span.start + 1)
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)].rstrip("\r")
    number = text.count("\n", 0, first) + 1
    place = f" ({clean(source)}:{number})" if source else f" (line {number})" if "\n" in text.rstrip() else ""
    lines = [f"error: {clean(error.message)}{place}"]
    if line.strip():
        shown, before, marked = _window(line, start - first, min(end - first, len(line)))
        lines += [f"  {shown}", f"  {' ' * before}{'^' * max(marked, 1)}"]
    return "\n".join([*lines, *(f"  {clean(hint)}" for hint in error.hints)])


def data_error(error: DataError, lost: str = "") -> str:
    """Draws the faults of a file: how many more there are, what would help, and what a failed load did not store."""
    lines = [f"error: {clean(str(fault))}" for fault in error.faults]
    left = error.total - len(error.faults)
    if left > 0:
        lines.append(f"and {left:,} more")
    lines += [f"  {clean(hint)}" for hint in error.hints]
    if lost:
        lines.append(lost)
    return "\n".join(lines)


def warehouse_error(error: WarehouseError) -> str:
    """Draws the error of a warehouse that cannot be opened or written."""
    return "\n".join([f"error: {clean(error.message)}", *(f"  {clean(hint)}" for hint in error.hints)])


def unforeseen(error: Exception) -> str:
    """Draws a bug in evalhouse, which no input should cause. Only the person who fixes it needs to see where it is."""
    description = f"{type(error).__name__}: {error}".rstrip(": ")
    return f"error: a bug in evalhouse: {clean(description)}\n  set EVALHOUSE_TRACEBACK=1 to see where"


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The line as shown, the number of columns before the error, and the number of columns that the error takes."""
    head, tail = window(line, start, end, WIDEST)
    end = min(end, tail)
    left, right = ("…" if head else ""), ("…" if tail < len(line) else "")
    shown = left + _visible(line[head:tail]) + right
    return shown, _columns(left + line[head:start]), _columns(line[start:end])


def _visible(text: str) -> str:
    return clean(text.replace("\t", " " * TAB))


def _columns(text: str) -> int:
    return width(_visible(text))
