"""Opens warehouse files, in memory or on disk, to ask, to export or to load.

For queries, a warehouse is opened read-only and never changed; `evalhouse.warehouse.store.replacement` makes and
changes warehouses. What is done with an open warehouse is in `evalhouse.warehouse.store.database`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.process import publishing
from evalhouse.warehouse.process.memory import of_database, of_loading, threads_allowed
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.files import Extent, as_warehouse_error, check_file, cut_off_error, duckdb, extent_of
from evalhouse.warehouse.store.schema import Asking, check_schema, statements
from evalhouse.warehouse.store.sql import Sql, name

_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # Files are made in the newest format that every DuckDB from 1.4 on reads and writes.
    "storage_compatibility_version": "v1.4.0",
}

LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""The endings of the files that DuckDB writes beside a database file."""


def in_memory(*, tables: bool = True) -> Database:
    """A new, empty warehouse that lives as long as it is open; without `tables`, a database with nothing in it."""
    database = _connect(None)
    if tables:
        database.run(Sql(statements(comments=False)))
    return database


def open_database(path: Path) -> Database:
    """Opens the warehouse at `path`, read-only and locked. Raises WarehouseError if it does not exist or cannot be
    read.
    """
    return _open_checked(path, Database.lock)


def open_own(path: Path) -> Database:
    """Opens a warehouse that the program made for itself, read-only and locked. Its catalogue is not checked if only
    this user can have changed the file. Raises WarehouseError as `open_database` does.
    """
    return _open_checked(path, Database.lock, strange=not publishing.ours_alone(path))


def open_to_export(path: Path, folder: Path) -> Database:
    """Opens the warehouse at `path` read-only, so that files can be written into a folder. Only for SQL that the
    program wrote itself.

    Raises WarehouseError as `open_database` does.
    """
    return _open_checked(path, lambda database: database.confine(folders=[folder]))


def _open_checked(path: Path, shut: Callable[[Database], None], *, strange: bool = True) -> Database:
    check_file(path)
    extent = extent_of(path)
    ours_alone = publishing.ours_alone(path)
    before = _state(path) if ours_alone else None
    with _closed_on_error(_connect(path)) as database:
        _attach_to_ask(database, path)
        shut(database)
        state = before if ours_alone and _state(path) == before else None
        if strange and (state is None or _LOOKED_THROUGH.get(path.absolute()) != state):
            check_schema(database.rows, path)
            _LOOKED_THROUGH[path.absolute()] = state
        _check_whole(database, path, extent)
    return database


_LOOKED_THROUGH: dict[Path, tuple[int, ...] | None] = {}
"""For each file, the state in which its catalogue was last checked. The check is not repeated while the state stays the
same, because it takes more than half of the time of opening.
"""


def _state(path: Path) -> tuple[int, ...] | None:
    """A value that differs after every change of a file, because a program cannot reset the time of the last change
    (ctime). None if a part of the file is in a log beside it.
    """
    if any(log.exists() for log in logs_of(path)):
        return None
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def look_into(path: Path, check: Callable[[Asking, Path], object] | None = None) -> None:
    """Raises WarehouseError if a program is writing to the file, because that program holds a lock. Also raises what
    `check` raises.
    """
    extent = extent_of(path)
    with _connect(path) as database:
        _attach_to_ask(database, path)
        database.lock()
        if check is not None:
            check(database.rows, path)
            _check_whole(database, path, extent)


def _attach_to_ask(database: Database, path: Path) -> None:
    """Attaches a file read-only. A log that a load in place left beside it is a part of it."""
    if any(log.exists() for log in logs_of(path)):
        # Attaching replays the log, so access to other files must be shut off before.
        database.confine([path, *logs_of(path)])
    database.attach(path, writable=False)


def logs_of(path: Path) -> list[Path]:
    """The log files that DuckDB may leave beside a file. They are a part of it."""
    return [Path(os.path.realpath(path) + ending) for ending in LOGS]


def _check_whole(database: Database, path: Path, extent: Extent) -> None:
    """Raises WarehouseError if blocks that are in use are missing from a file. Free blocks at its end may be missing,
    and after a full disk a block there may be incomplete.
    """
    if not extent.lacking:
        return
    [(free,)] = database.rows(Sql("select free_blocks from pragma_database_size() where database_name = 'warehouse'"))
    if extent.lacking > free or (extent.ends_within_a_block and _last_block(database) >= extent.blocks):
        raise cut_off_error(path)


def _last_block(database: Database) -> int:
    """The number of the last block in use."""
    tables = database.rows(Sql("select table_name from duckdb_tables() where database_name = 'warehouse'"))
    [(last,)] = database.rows(Sql("select coalesce(max(block_id), 0) from pragma_metadata_info()"))
    reaching = "select coalesce(max(greatest(block_id, list_max(additional_block_ids))), 0) from pragma_storage_info(?)"
    return max(int(last), *(int(database.rows(Sql(reaching, (name(table).text,)))[0][0]) for (table,) in tables))


def open_to_load(
    path: Path, files: Iterable[Path], folders: Sequence[Path] = (), block_size: int | None = None
) -> Database:
    """Opens the DuckDB file at `path` for writing, whatever it contains, or makes it, with blocks of so many bytes. It
    can read the named files and the files in the named folders, and no others.

    Raises WarehouseError if it cannot be opened.
    """
    with _closed_on_error(_connect(path, of_loading())) as database:
        # This comes before attaching, because attaching replays a log beside the file.
        database.confine([path, *logs_of(path), *files], folders)
        database.attach(path, writable=True, block_size=block_size)
    return database


def open_new(path: Path, block_size: int | None = None) -> Database:
    """Opens a DuckDB file for writing that this process made or is about to make. It can read every file. `block_size`
    is the size of its blocks in bytes, if it is made.
    """
    with _closed_on_error(_connect(path, of_loading())) as database:
        database.attach(path, writable=True, block_size=block_size)
    return database


@contextlib.contextmanager
def _closed_on_error(database: Database) -> Iterator[Database]:
    try:
        yield database
    except BaseException:
        database.close()
        raise


def _connect(path: Path | None, memory: str | None = None) -> Database:
    spill = publishing.scratch()
    try:
        for place in (path and path.absolute(), spill):
            if place and not _is_utf8(place):
                raise WarehouseError(f"the path {place} is not UTF-8, and DuckDB can open no other")
        own: dict[str, str | int] = {
            "memory_limit": memory or of_database(),
            "temp_directory": str(spill),
            "threads": threads_allowed(),
        }
        connection = duckdb.connect(config={**_CONFIGURATION, **own})
        if not hasattr(sys.modules["__main__"], "__file__"):
            # Where a person types Python, DuckDB would draw its progress into the output. In a notebook without
            # ipywidgets it cannot draw, and refuses the setting.
            with contextlib.suppress(duckdb.Error):
                connection.execute("set enable_progress_bar = false")
        return Database(connection, path, spill)
    except BaseException as error:
        publishing.discard(spill)
        if isinstance(error, duckdb.Error):
            raise as_warehouse_error(error, path) from None
        raise


def _is_utf8(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


# === columns for other packages =======================================================================================


def arrow_stream(columns: Sequence[tuple[str, str, Sequence[Any]]], requested_schema: object | None) -> object:
    """Columns, each with its type, as a stream of Arrow's protocol, which other packages read."""
    listed = (
        f"unnest(${place}::{kind}[]) as {name(called).text}" for place, (called, kind, _) in enumerate(columns, 1)
    )
    connection = duckdb.connect()  # which has to last as long as the rows
    rows = connection.sql(f"select {', '.join(listed)}", params=[list(cells) for _, _, cells in columns])
    return rows.__arrow_c_stream__(requested_schema)
