"""Copies a lake: to a warehouse file, to another lake, or with its past to a backup. A copy has everything that the
original has, with the same ids, so its fingerprints are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from warehouse import publishing
from warehouse.faults import WarehouseError
from warehouse.lake import delta
from warehouse.lake.data_files import DataFile, columns_of, paths
from warehouse.lake.log import LakeLog, read_log, write_all
from warehouse.lake.making import check_name_is_free
from warehouse.lake.place import Folder, LakePlace, cannot_be_written, damaged
from warehouse.lake.settling import settle
from warehouse.lake.states import TABLES, columns_of_tables, fill, keep_fingerprints, open_lake, open_state, written
from warehouse.store.connecting import in_memory
from warehouse.store.database import Database
from warehouse.store.sql import name

TRIES = 3
"""How often a backup begins again if the past of the lake is forgotten meanwhile."""


def copy_into(place: LakePlace, warehouse: Database) -> None:
    """Copies the present state of a lake into a new warehouse, which may read every file. Raises WarehouseError."""
    state = read_log(place).last
    folder = place.fetched(paths(state.files))
    with warehouse.transaction():
        columns = columns_of_tables(warehouse)
        for table in TABLES:
            fill(warehouse, state, table, folder, columns)
        keep_fingerprints(warehouse, state)


@contextmanager
def opened_to_copy(place: LakePlace, folder: Path) -> Iterator[Database]:
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
            log = _files_copied(place, draft)
            with in_memory() as database:
                columns = columns_of_tables(database)
                for table in TABLES:
                    rows = written(table, columns, "from main." + name(table))
                    delta.create(copy, table, columns_of(database, "(" + rows + ")"))
            settle(copy, write_all(copy, log.changes))
            with open_lake(copy) as database:
                proof(database)
    except OSError as error:
        raise cannot_be_written(str(to), error) from None


def _files_copied(place: LakePlace, draft: Path) -> LakeLog:
    """Copies all files that a change names. Returns the changes."""
    for again in range(TRIES, -1, -1):
        log = read_log(place)
        try:
            for file in (file for change in log.changes for file in change.added):
                _copied(place, file, draft)
            return log
        except WarehouseError:
            if not again or read_log(place).changes[0] == log.changes[0]:
                raise
    raise AssertionError


def _copied(place: LakePlace, file: DataFile, draft: Path) -> None:
    (draft / file.table).mkdir(exist_ok=True)
    digest = sha256()
    with (draft / file.path).open("wb") as out:
        for piece in place.read(file.path):
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != file.sha256:
        raise damaged(place.called, f"{file.path} is not what was written")
