"""Makes a lake, with nothing in it or with what a warehouse has, and copies a lake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake import delta
from evalhouse.warehouse.lake.delta import DataFile, columns_of, paths, write_file
from evalhouse.warehouse.lake.log import LakeChange, LakeLog, add, now, read_log, write_all
from evalhouse.warehouse.lake.place import LOG, Folder, LakePlace, cannot_be_written, damage_error, place_of
from evalhouse.warehouse.lake.states import (
    TABLES,
    columns_of_tables,
    delta_rows,
    fill,
    keep_fingerprints,
    open_lake,
    open_state,
    settle,
)
from evalhouse.warehouse.process import publishing
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import WAIT, nobody
from evalhouse.warehouse.store.sql import Sql, name

# === making a lake ====================================================================================================

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
                _make_lake(Folder(draft), opened, kind, proof)
        except OSError as error:
            raise cannot_be_written(str(named), error) from None
    else:
        taken = WarehouseError(f"{named} exists already", ("use an address that is not taken",))
        if place.is_lake():
            raise taken
        try:
            _make_lake(place, opened, kind, proof)
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


def _make_lake(
    place: LakePlace,
    opened: Callable[[Path], AbstractContextManager[Database]],
    kind: str,
    proof: Callable[[Database], None] | None,
) -> None:
    with place.drafts() as drafts, opened(drafts) as warehouse:
        columns = columns_of_tables(warehouse)
        rows = {table: delta_rows(table, columns, "from main." + name(table)) for table in TABLES}
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


# === copying a lake ===================================================================================================
# To a warehouse file, to another lake, or with its past to a backup. A copy has everything that the original has, with
# the same ids, so its fingerprints are the same.

TRIES = 3
"""How often a backup begins again if the past of the lake is forgotten meanwhile."""


def copy_into(place: LakePlace, warehouse: Database) -> None:
    """Copies the present state of a lake into a new warehouse, which may read every file. Raises WarehouseError."""
    state = read_log(place).last
    folder = place.fetch_files(paths(state.files))
    with warehouse.transaction():
        columns = columns_of_tables(warehouse)
        for table in TABLES:
            fill(warehouse, state, table, folder, columns)
        keep_fingerprints(warehouse, state)


@contextmanager
def open_to_copy(place: LakePlace, folder: Path) -> Iterator[Database]:
    """The present state of a lake, from which files can be written into a folder."""
    with open_state(place, read_log(place).last, writing=folder) as database:
        yield database


def back_up(place: LakePlace, to: Path, proof: Callable[[Database], None]) -> None:
    """Copies a lake and its past to a new folder, as it is at one moment. The folder appears if the copy is complete.
    `proof` is called with its contents and may raise an error to stop. Raises WarehouseError.
    """
    check_name_is_free(to, to, force=False)
    try:
        with publishing.folder_at(to.absolute()) as draft:
            copy = Folder(draft)
            log = _copy_files(place, draft)
            with in_memory() as database:
                columns = columns_of_tables(database)
                for table in TABLES:
                    rows = delta_rows(table, columns, "from main." + name(table))
                    delta.create(copy, table, columns_of(database, "(" + rows + ")"))
            settle(copy, write_all(copy, log.changes))
            with open_lake(copy) as database:
                proof(database)
    except OSError as error:
        raise cannot_be_written(str(to), error) from None


def _copy_files(place: LakePlace, draft: Path) -> LakeLog:
    """Copies all files that a change names. Returns the changes."""
    for again in range(TRIES, -1, -1):
        log = read_log(place)
        try:
            for file in (file for change in log.changes for file in change.added):
                _copy_file(place, file, draft)
            return log
        except WarehouseError:
            if not again or read_log(place).changes[0] == log.changes[0]:
                raise
    raise AssertionError


def _copy_file(place: LakePlace, file: DataFile, draft: Path) -> None:
    (draft / file.table).mkdir(exist_ok=True)
    digest = sha256()
    with (draft / file.path).open("wb") as out:
        for piece in place.read(file.path):
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != file.sha256:
        raise damage_error(place.called, f"{file.path} is not what was written")
