"""Results as a file: in the format of its ending, whole or not at all. What is there is kept unless told otherwise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from warehouse.errors import DataError, Fault
from warehouse.render import FORMATS, WORKBOOK, Style, format_for, render_all
from warehouse.results import Result


def check(path: Path, format: str | None, force: bool) -> str:
    """What a file will be written in: the format that was named, else that of its ending.

    Raises DataError for a file that is there already, unless `force`, and for an ending that says nothing.
    """
    wanted = format_for(path.suffix) or format
    if path.suffix.casefold() != WORKBOOK and format is not None:
        wanted = format
    if wanted is None:
        endings = ", ".join([*(each.suffix for each in FORMATS), WORKBOOK])
        raise _fault(path, f"has no ending that names a format; there are {endings}")
    if path.is_dir():
        raise _fault(path, "is a folder")
    if path.exists() and not force:
        raise _fault(path, "is there already; --force writes over it")
    return wanted


def write(results: Sequence[Result], path: Path, format: str, style: Style) -> None:
    """Writes results as one document. Raises DataError if the file cannot be written."""
    drawn = render_all(results, format, style)
    new = path.with_name(path.name + ".new")
    try:
        if isinstance(drawn, bytes):
            new.write_bytes(drawn)
        else:
            new.write_text(drawn, encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise _fault(path, f"cannot be written: {(error.strerror or 'no reason is known').lower()}") from None


def _fault(path: Path, message: str) -> DataError:
    return DataError((Fault(str(path), None, message),))
