"""The paths that statements name: they are relative to a folder, which a confined session does not leave."""

from __future__ import annotations

import os
from pathlib import Path

from grammar.errors import QueryError
from grammar.span import Span


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
