"""The files that statements name: where their paths lead, and how `export` and `plot` write them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from evalhouse.grammar.errors import QueryError, Span
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.render import FORMATS, Style, render
from evalhouse.warehouse.render.style import Theme
from evalhouse.warehouse.results import Column, Result, TableRows

if TYPE_CHECKING:
    from evalhouse.warehouse.statements import Planned


# === paths ============================================================================================================
# They are relative to a folder. A confined session must not leave it.


def path_in(folder: Path, named: str, place: Span, *, confined: bool) -> Path:
    """The path that a statement names at a place. If it is confined, the path must be inside the folder after links are
    followed. Raises QueryError.
    """
    if "\0" in named:
        raise QueryError("no file has a name with a NUL in it", place)
    path = folder / named
    if confined and not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise QueryError(
            f"{path} is outside the script's folder",
            place,
            ("--allow-files lets its statements read and write files anywhere",),
        )
    return path


# === files that statements write ======================================================================================
# The format for each ending, whether a file may be overwritten, and the result that reports the file. A file is written
# only when everything else is known to be right.


def export(
    planned: Planned, answer: Callable[[Planned], Result], path: Path, place: Span, *, force: bool, theme: Theme
) -> Result:
    """Writes the rows of a question to a file, in the format of its ending. `place` is where the statement names it.

    Raises QueryError. An existing file is overwritten only with `force`.
    """
    formats = {form.suffix: form.name for form in FORMATS if form.suffix}
    _check(path, planned.plan.to, formats, "a format", place, force)
    result = answer(planned)
    _write(path, render(result, formats[path.suffix.casefold()], Style(theme=theme)), place)
    return _report_file(planned, "exported", result)


def plot(
    planned: Planned, answer: Callable[[Planned], Result], path: Path, place: Span, *, force: bool, theme: Theme
) -> Result:
    """Writes the picture of a question to a file, as `export` does its rows."""
    from evalhouse.warehouse.render.vegalite import FILES

    _check(path, planned.plan.to, FILES, "a kind of picture", place, force)
    result = answer(planned)
    if result.chart is None:
        raise QueryError("there is nothing to draw")
    _write(path, FILES[path.suffix.casefold()](result.chart, theme), place)
    return _report_file(planned, "drawn", result)


def _check(path: Path, named: str, endings: Iterable[str], kind: str, place: Span, force: bool) -> None:
    """Raises QueryError for an unknown ending, and for a file that exists unless overwriting is forced."""
    if path.suffix.casefold() not in endings:
        called = path.name if named.strip() else "a file without a name"
        raise QueryError(f"the ending of {called} does not name {kind}", place, (f"endings: {', '.join(endings)}",))
    if path.exists() and not force:
        raise QueryError(f"{path} already exists", place, ("--force overwrites it",))


def _write(path: Path, drawn: str | bytes, place: Span) -> None:
    """Writes a file, completely or not at all. Raises QueryError at the place where the statement names the file."""
    from evalhouse.warehouse.render.files import write_all

    try:
        write_all({path: drawn if isinstance(drawn, bytes) else drawn.encode()})
    except DataError as error:
        raise QueryError(f"{path} {error.faults[0].message}", place) from None


def _report_file(planned: Planned, what: str, result: Result) -> Result:
    """The result that reports a written file."""
    columns = (Column("file", "name"), Column("rows", "count"))
    rows = TableRows.of(columns)
    rows.add(file=planned.plan.to, rows=len(result.table.rows))
    return Result(planned.plan.text, what, result.signature, rows.table(columns), notes=result.notes)
