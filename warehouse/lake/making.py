"""Makes a lake: one with nothing in it, or one that has what a warehouse has."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from warehouse import publishing
from warehouse.faults import WarehouseError
from warehouse.lake import delta
from warehouse.lake.data_files import columns_of, paths, write_file
from warehouse.lake.log import LakeChange, LakeLog, add, now
from warehouse.lake.place import LOG, Folder, LakePlace, cannot_be_written, place_of
from warehouse.lake.settling import settle
from warehouse.lake.states import TABLES, columns_of_tables, open_state, written
from warehouse.store.database import Database
from warehouse.store.lock import WAIT, nobody
from warehouse.store.sql import Sql, name

_OF_A_LAKE = re.compile("|".join((LOG, *TABLES, r".*\.lock", r"\..*")))
"""The names of what is in the folder of a lake. Programs that show folders leave hidden files there."""


def make_lake(
    named: str | Path,
    kind: str,
    opened: Callable[[Path], AbstractContextManager[Database]],
    *,
    proof: Callable[[Database], None] | None = None,
    force: bool = False,
    tell: Callable[[str], None] = nobody,
) -> LakePlace:
    """A new lake with everything that a warehouse has. `opened` opens the warehouse so that files can be written into
    a folder. `proof` is called with the contents of the lake before it appears, and may raise an error to stop.

    The lake appears whole or not at all. At an address its table of changes appears last, and makes it a lake.
    With `force`, only a lake is overwritten, and its writers wait meanwhile. Raises WarehouseError.
    """
    place = place_of(named)
    if isinstance(place, Folder):
        path = place.path
        check_name_is_free(path, named, force)
        turn = place.alone(WAIT, tell) if place.is_lake() else nullcontext()
        try:
            with turn, publishing.folder_at(path) as draft:
                _made(Folder(draft), opened, kind, proof)
        except OSError as error:
            raise cannot_be_written(str(named), error) from None
    else:
        taken = WarehouseError(f"{named} exists already", ("use an address that is not taken",))
        if place.is_lake():
            raise taken
        try:
            _made(place, opened, kind, proof)
        except delta.Conflict:
            raise taken from None
    return place


def check_name_is_free(path: Path, named: str | Path, force: bool) -> None:
    """Raises WarehouseError if no lake can be made at a path. With `force`, a lake is overwritten."""
    if not path.parent.is_dir():
        raise WarehouseError(f"there is no folder {path.parent}")
    Folder(path).check_path()
    for folder in path.parents:
        if Folder(folder).is_lake():
            raise WarehouseError(f"{named} would be inside the lake {folder}", ("use a name outside of it",))
    if path.is_symlink() or path.exists():
        if not force:
            raise WarehouseError(f"{named} exists already", ("use a name that is not taken",))
        if path.is_symlink() or not Folder(path).is_lake():
            raise WarehouseError(f"{named} is not a lake, and --force overwrites nothing else")
        others = sorted(other.name for other in path.iterdir() if not _OF_A_LAKE.fullmatch(other.name))
        if others:
            raise WarehouseError(
                f"{named} holds {others[0]}, which is not part of the lake, and --force overwrites nothing else",
                ("move it out of this folder",),
            )


def _made(
    place: LakePlace,
    opened: Callable[[Path], AbstractContextManager[Database]],
    kind: str,
    proof: Callable[[Database], None] | None,
) -> None:
    with place.drafts() as drafts, opened(drafts) as warehouse:
        columns = columns_of_tables(warehouse)
        rows = {table: written(table, columns, "from main." + name(table)) for table in TABLES}
        for table in TABLES:
            delta.create(place, table, columns_of(warehouse, "(" + rows[table] + ")"))
        filled = [table for table in TABLES if warehouse.rows("select 1 from main." + name(table) + " limit 1")]
        files = tuple(write_file(warehouse, table, rows[table], drafts) for table in filled)
        place.put(drafts, paths(files))
        imports = tuple(int(number) for (number,) in warehouse.rows(Sql("select id from import order by id")))
        listed = warehouse.rows(Sql("select table_name, part, rows, digest from fingerprint"))
        fingerprints = {f"{table}/{part}": (int(many), str(digest)) for table, part, many, digest in listed}
        change = LakeChange(1, now(), kind, imports, files, fingerprints=fingerprints, whole=True)
        try:
            if proof is not None:
                with open_state(place, LakeLog((change,), None).last) as copy:
                    proof(copy)
            log = add(place, None, change)
        except (Exception, KeyboardInterrupt):
            if not place.is_lake():
                place.remove(paths(files))
            raise
    settle(place, log)
