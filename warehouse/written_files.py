"""Files that `export` and `plot` write: the format for each ending, whether a file may be overwritten, and the result
that reports the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from grammar.errors import QueryError
from grammar.span import Span
from warehouse.faults import DataError
from warehouse.query.table_rows import TableRows
from warehouse.render import FORMATS
from warehouse.results import Column, Result

if TYPE_CHECKING:
    from warehouse.render.vega import Draw


def format_of(path: Path, named: str, place: Span, *, force: bool) -> str:
    """The format in which a file is to be written. Raises QueryError as `_check` does."""
    formats = {form.suffix: form.name for form in FORMATS if form.suffix}
    _check(path, named, formats, "a format", place, force)
    return formats[path.suffix.casefold()]


def drawing_of(path: Path, named: str, place: Span, *, force: bool) -> Draw:
    """The function that draws the picture for a file. Raises QueryError as `_check` does."""
    from warehouse.render.vega import FILES

    _check(path, named, FILES, "a kind of picture", place, force)
    return FILES[path.suffix.casefold()]


def _check(path: Path, named: str, endings: Iterable[str], kind: str, place: Span, force: bool) -> None:
    """Raises QueryError for an unknown ending, and for a file that exists unless overwriting is forced."""
    if path.suffix.casefold() not in endings:
        called = path.name if named.strip() else "a file without a name"
        raise QueryError(f"the ending of {called} does not name {kind}", place, (f"endings: {', '.join(endings)}",))
    if path.exists() and not force:
        raise QueryError(f"{path} already exists", place, ("--force overwrites it",))


def write(path: Path, drawn: str | bytes, place: Span) -> None:
    """Writes a file, completely or not at all. Raises QueryError at the place where the statement names the file."""
    from warehouse.render.files import write_all

    try:
        write_all({path: drawn if isinstance(drawn, bytes) else drawn.encode()})
    except DataError as error:
        raise QueryError(f"{path} {error.faults[0].message}", place) from None


def said(statement: str, what: str, named: str, result: Result) -> Result:
    """The result that reports a written file."""
    columns = (Column("file", "name"), Column("rows", "count"))
    rows = TableRows.of(columns)
    rows.add(file=named, rows=len(result.table.rows))
    return Result(statement, what, result.signature, rows.table(columns), notes=result.notes)
