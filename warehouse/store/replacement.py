"""Changes of a warehouse as a whole file: made anew, replaced by a copy that was loaded into, changed in place, copied.

All of a change is there or nothing of it: the copy takes the place of the warehouse when it is known to be whole and
written to disk, so that a crash leaves the old one. What is loaded is the business of loading.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from warehouse.faults import WarehouseError
from warehouse.store.database import Database, attached, check_schema, make_schema, open_database, schema_version
from warehouse.store.duckdb_errors import disk_full
from warehouse.store.file_header import check_file
from warehouse.store.lock import loading_lock
from warehouse.store.sql import Sql, join, name
from warehouse.tasks.records import FACT_TABLES


@contextlib.contextmanager
def making(path: Path) -> Iterator[Database]:
    """A new warehouse to load into, which is there, at `path`, if all goes well, and else not.

    Raises WarehouseError if something is there already, or if the file cannot be written.
    """
    _check_name_is_free(path)
    copy = _copy_of(path)
    with loading_lock(path):
        try:
            _remove_copy(copy)
            with attached(copy, writable=True) as database:
                make_schema(database, comments=True)
                yield database
                database.run(Sql("checkpoint"))
            _count_again(copy)
            with _writing_sentences(path):
                _sync(copy)
                _check_name_is_free(path)
                os.replace(copy, path)
                _sync(path.parent)
        finally:
            _remove_copy(copy)


def create(path: Path) -> Database:
    """A new, empty warehouse at `path`, open for loading in place. Raises WarehouseError as `making` does."""
    with making(path):
        pass
    return attached(path, writable=True)


def _check_name_is_free(path: Path) -> None:
    if path.exists() or path.is_symlink():
        raise WarehouseError(f"{path} exists already", ("a new warehouse needs a name that is not taken",))
    if not path.parent.is_dir():
        raise WarehouseError(f"there is no folder {path.parent}")


@contextlib.contextmanager
def replacing(path: Path, *, keep: bool = True) -> Iterator[Database]:
    """A copy of the warehouse at `path` to load into; it takes the place of the warehouse if all goes well.

    On any exception, or where the load is only tried and not to `keep`, the copy is removed and the warehouse stays as
    it was. Raises WarehouseError if the warehouse cannot be opened, if someone else is loading into it, if the copy
    turns out unsound, or if the disk is full.
    """
    with replacing_any(path, keep=keep) as database:
        check_schema(database, path)
        yield database


@contextlib.contextmanager
def replacing_any(path: Path, *, keep: bool = True) -> Iterator[Database]:
    """What `replacing` does, of a warehouse of any schema, which has to be of the present one in the end."""
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    copy = _copy_of(path)
    check_file(path)
    with loading_lock(path):
        try:
            _look_into(path)
            with _writing_sentences(path):
                _remove_copy(copy)
                before = _state(path)
                shutil.copyfile(path, copy)
                shutil.copymode(path, copy)
            with attached(copy, writable=True) as database:
                yield database
                if not keep:
                    return
                database.run(Sql("checkpoint"))
            _count_again(copy)
            _look_into(path)
            with _writing_sentences(path):
                if _state(path) != before:
                    raise WarehouseError(f"{path} was changed by another program meanwhile; nothing was loaded")
                _sync(copy)
                os.replace(copy, path)
                _sync(path.parent)
        finally:
            _remove_copy(copy)


@contextlib.contextmanager
def in_place(path: Path) -> Iterator[Database]:
    """The warehouse at `path` itself to load into: no copy is made, so nobody can read meanwhile.

    Each transaction is stored or not, but a crash can leave a file that cannot be opened. Raises WarehouseError if the
    warehouse cannot be opened, or if someone else has it open.
    """
    check_file(path, log=True)
    with loading_lock(path), attached(path, writable=True) as database:
        check_schema(database, path)
        yield database
        database.run(Sql("checkpoint"))


def _look_into(path: Path) -> None:
    """Raises WarehouseError if a file is no warehouse, or if another program writes to it, for that holds a lock."""
    with attached(path, writable=False) as database:
        schema_version(database, path)


def _copy_of(path: Path) -> Path:
    return path.with_name(path.name + ".import")


def _state(path: Path) -> tuple[int, int, int]:
    about = path.stat()
    return about.st_ino, about.st_size, about.st_mtime_ns


def backup(path: Path, to: Path, proof: Callable[[Database], None] = lambda database: None) -> None:
    """Copies the warehouse at `path` to the new file `to`, which is there if the copy is whole, and else not.

    What reads the warehouse goes on, and so does a load that will replace it; one in place has to wait. `proof` is
    called with the copy, and what it raises is the end of it. Raises WarehouseError.
    """
    if to.exists() or to.is_symlink():
        raise WarehouseError(f"{to} exists already", ("a backup needs a name that is not taken",))
    check_file(path)
    copy = _copy_of(to)
    try:
        with open_database(path), _writing_sentences(to):
            shutil.copyfile(path, copy)
        _count_again(copy, proof)
        with _writing_sentences(to):
            _sync(copy)
            os.replace(copy, to)
            _sync(to.parent)
    finally:
        _remove_copy(copy)


def unbalanced_imports(database: Database) -> tuple[tuple[int, int, int], ...]:
    """(import, rows it brought by the ledger, rows there are) of every import for which the two differ."""
    counted = join(" union all ", (Sql("select import_id from ") + name(table) for table in FACT_TABLES))
    differing = (
        Sql("with fact as (") + counted + ") "
        "select coalesce(i.id, f.id), coalesce(i.rows, 0), coalesce(f.rows, 0) "
        "from import i full join (select import_id as id, count(*) as rows from fact group by import_id) f using (id) "
        "where coalesce(i.rows, 0) <> coalesce(f.rows, 0) order by 1"
    )
    return tuple((int(number), int(brought), int(present)) for number, brought, present in database.rows(differing))


# --- copies -----------------------------------------------------------------------------------------------------------


def _count_again(copy: Path, proof: Callable[[Database], None] = lambda database: None) -> None:
    """Opens a copy afresh and counts what is in it against its ledger."""
    with open_database(copy) as database:
        proof(database)
        for number, rows, present in unbalanced_imports(database):
            raise WarehouseError(f"{copy} is unsound: import {number} brought {rows} rows and {present} are there")


def _remove_copy(copy: Path) -> None:
    for leftover in (copy, copy.with_name(copy.name + ".wal")):
        leftover.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Has a file or folder written to disk; where folders cannot be opened, the system sees to them itself."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _writing_sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(path) from None
        raise WarehouseError(f"{path} cannot be written: {error.strerror}") from None
