"""The warehouse that a name stands for, a file or a lake: opening it, changing it, and finding out whether it changed.

Everything above this module works on both alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from warehouse.store.connecting import open_database
from warehouse.store.database import Database
from warehouse.store.lock import WAIT, nobody
from warehouse.store.replacement import Tell, in_place, remove_left, replacing

if TYPE_CHECKING:
    from warehouse.query.as_of import AsOf

_Outcome = TypeVar("_Outcome")


def is_lake(path: Path) -> bool:
    """Whether a path stands for a lake. Every address does: no warehouse file is opened from one."""
    if path.is_dir():
        from warehouse.lake.place import Folder

        return Folder(path).is_lake()
    return _is_address(path)


def named(path: Path) -> Path:
    """A path that stays the same when the working directory changes."""
    return path if _is_address(path) else path.absolute()


def called(path: Path) -> str:
    """The name of a warehouse, as the user wrote it. A path that was made of an address has lost a slash."""
    if not _is_address(path):
        return str(path)
    from warehouse.lake.place import address_of

    return address_of(path)


def open_warehouse(path: Path) -> Database:
    """Opens a warehouse, read-only and locked, and removes what a killed load left beside it. Raises WarehouseError."""
    if not is_lake(path):
        remove_left(path)
        return open_database(path)
    from warehouse.lake.place import place_of
    from warehouse.lake.states import open_lake

    return open_lake(place_of(path))


def past_of(path: Path) -> Callable[[AsOf], Database] | None:
    """What opens the past states of a warehouse; None for a file, which does not keep them."""
    if not is_lake(path):
        return None
    from warehouse.lake.place import place_of
    from warehouse.lake.states import open_as_of

    return partial(open_as_of, place_of(path))


def change_warehouse(
    path: Path,
    kind: str,
    work: Callable[[Database], _Outcome],
    files: Iterable[Path] = (),
    *,
    keep: bool = True,
    without_copy: bool = False,
    wait: float = WAIT,
    tell: Tell = nobody,
) -> tuple[_Outcome, int]:
    """Changes a warehouse, whole or not at all. `work` changes an open one; on a lake it may be called more than once.
    `files` are the files that it reads, and `kind` says what it does. If `keep` is false, nothing is stored.
    `without_copy` changes a file itself in place of a copy of it.

    Returns what `work` returned, and how far the numbers of its imports have moved since. Raises WarehouseError.
    """
    if is_lake(path):
        from warehouse.lake.changing import change_lake
        from warehouse.lake.place import place_of

        return change_lake(place_of(path), kind, work, files, keep=keep, wait=wait, tell=tell)
    if without_copy:
        with in_place(path, files, wait=wait, tell=tell) as database:
            return work(database), 0
    with replacing(path, files, keep=keep, wait=wait, tell=tell) as database:
        done = work(database)
    return done, 0


def stamp(path: Path) -> object:
    """A value that changes when another warehouse takes the place of this one, or when the lake changes; None if there
    is nothing.
    """
    if is_lake(path):
        from warehouse.lake.place import place_of

        return place_of(path).stamp()
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _is_address(path: Path) -> bool:
    """Whether a path was made of an address, such as s3://BUCKET/evals."""
    scheme, colon, rest = str(path).partition(":/")
    return bool(colon and rest and len(scheme) > 1 and scheme.isalnum())
