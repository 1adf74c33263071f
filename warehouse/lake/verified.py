"""Compares the files of a lake in a folder with what was written, and remembers those that passed. So each file is read
whole only once.

A file that passed is remembered in the user's cache by its size, its inode and the time of its last change (ctime),
which no program can reset. `evalhouse check` reads every file again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from warehouse import publishing
from warehouse.faults import WarehouseError
from warehouse.lake.data_files import DataFile, size_and_digest
from warehouse.lake.place import damaged


def verify(folder: Path, called: str, files: Iterable[DataFile]) -> None:
    """Raises WarehouseError if a file is missing, or is not what was written."""
    memory = user_cache_path("evalhouse") / "verified" / f"{sha256(str(folder).encode()).hexdigest()[:16]}.json"
    known = _remembered(memory)
    now: dict[str, list[int]] = {}
    for file in files:
        path = folder / file.path
        try:
            about = path.lstat()
            state = [about.st_size, about.st_ino, about.st_ctime_ns]
            if known.get(file.path) != state:
                refuse_other(path, called, file)
        except PermissionError:
            raise WarehouseError(f"{called} cannot be read: {file.path}: permission denied") from None
        except OSError as error:
            raise damaged(called, f"{file.path} cannot be read: {(error.strerror or str(error)).lower()}") from None
        now[file.path] = state
    if not now.items() <= known.items():
        _remember(memory, {**{path: state for path, state in known.items() if (folder / path).exists()}, **now})


def refuse_other(path: Path, called: str, file: DataFile) -> None:
    """Raises WarehouseError if a file is not the one that was written. Raises OSError."""
    if not path.exists():
        raise damaged(called, f"{file.path} is missing")
    if path.is_symlink():
        raise damaged(called, f"{file.path} is a link")
    size, digest = size_and_digest(path)
    if size != file.bytes:
        raise damaged(called, f"{file.path} has {size:,} bytes instead of {file.bytes:,}")
    if digest != file.sha256:
        raise damaged(called, f"{file.path} is not what was written")


def _remembered(memory: Path) -> dict[str, list[int]]:
    with suppress(OSError, ValueError):
        # A memory that others can write is not trusted.
        if publishing.ours_alone(memory):
            said = json.loads(memory.read_text(encoding="utf-8"))
            return {str(path): list(map(int, state)) for path, state in said.items()}
    return {}


def _remember(memory: Path, states: dict[str, list[int]]) -> None:
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        with publishing.files_in(memory.parent, [memory.name]) as draft:
            (draft / memory.name).write_text(json.dumps(states), encoding="utf-8")
