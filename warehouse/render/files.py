"""Writes results to a file, in the format of its extension. A file is written completely or not at all. An existing
file is kept unless `force` is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evalhouse.warehouse.faults import file_error
from evalhouse.warehouse.process.publishing import files_in
from evalhouse.warehouse.render import FORMATS, WORKBOOK, Style, format_for, render_all
from evalhouse.warehouse.results import Result


def check(path: Path, format: str | None, force: bool) -> str:
    """The format of a file: the one that was named, or the one of its extension.

    Raises DataError if the file exists, unless `force`, and if the extension is not known.
    """
    wanted = WORKBOOK if path.suffix.casefold() == WORKBOOK else format or format_for(path.suffix)
    if wanted is None:
        endings = ", ".join([*(known.suffix for known in FORMATS), WORKBOOK])
        raise file_error(path, f"has no ending of a known format; the endings are {endings}")
    check_free(path, force)
    return wanted


def check_free(path: Path, force: bool) -> None:
    """Raises DataError for a folder, and for an existing file unless `force`."""
    if path.is_dir():
        raise file_error(path, "is a folder")
    if path.exists() and not force:
        raise file_error(path, "already exists; --force overwrites it")


def write(results: Sequence[Result], path: Path, format: str, style: Style) -> None:
    """Writes results as one document. Raises DataError if the file cannot be written."""
    drawn = render_all(results, format, style)
    write_all({path: drawn if isinstance(drawn, bytes) else drawn.encode()})


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Writes files into one folder, either all or none. Raises DataError if one cannot be written."""
    path = next(iter(contents))
    # The first file refers to the others, so it is written last.
    names = [file.name for file in reversed(list(contents))]
    try:
        with files_in(path.parent, names) as draft:
            for path, content in contents.items():
                (draft / path.name).write_bytes(content)
    except OSError as error:
        raise file_error(path, f"cannot be written: {(error.strerror or 'unknown reason').lower()}") from None
