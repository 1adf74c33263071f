"""The warehouse file: opening it, and running SQL on it.

A warehouse that is asked is opened read-only and never changed; `warehouse.store.replacement` makes and changes them.
This module knows the schema as a text to run and no more: what the tables mean is the business of loading and of the
query compiler.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse import ending, publishing
from warehouse.faults import DataError, Fault, WarehouseError
from warehouse.memory import of_database
from warehouse.store import duckdb_errors
from warehouse.store.duckdb_errors import as_warehouse_error, first_sentence, sentences, while_reading, while_writing
from warehouse.store.file_header import Extent, check_file, cut_off, extent_of
from warehouse.store.library import duckdb
from warehouse.store.schema import DATABASE, Asking, check_schema, statements
from warehouse.store.sql import PLACEHOLDER, Sql, join, name, pattern_of
from warehouse.threads import allowed

if TYPE_CHECKING:
    import numpy

PATIENCE = 0.5
"""How long a file that another program writes is waited for, in seconds."""

_EXPLAIN = re.compile(
    r"^(\s|--[^\n]*\n|/\*.*?\*/)*explain\s+(analyze\s+)?(\([^)]*\)\s*)?", flags=re.IGNORECASE | re.DOTALL
)

_OF_THE_QUERY = (
    duckdb.ProgrammingError,
    duckdb.DataError,
    duckdb.NotSupportedError,
    duckdb.PermissionException,
    duckdb.TransactionException,
)
"""What is wrong with a query; anything else that is raised happens to queries that are as they should be."""

_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}

LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""What DuckDB writes beside a file, behind its name."""

MOST_ROWS = 1_000_000
"""How many rows a query that someone typed may yield."""

MOST_BYTES = 250_000_000
"""How much memory these rows may take."""

PIECE = 1_000
"""How many of them are fetched at a time, at most; in between Ctrl-C is heard."""

PIECE_BYTES = 5_000_000
"""How much memory these may take: no thread runs while DuckDB makes Python's objects of them."""

LOADING_MEMORY = "300MB"
"""What DuckDB may hold while a file is loaded; the rest is spilled to disk."""

MUCH_MEMORY = "1GB"
"""What it may hold of a file of many rows: with 300 MB it could not sort a hundred million."""


MANY_EXPRESSIONS = 50_000
"""So long is a query of some hundred columns, in characters."""


class Database:
    """One open warehouse. Not to be used from two threads at once, but for `interrupt`."""

    path: Path | None
    spill: Path
    """The folder for what does not fit into memory; it goes when the warehouse is closed."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None, spill: Path) -> None:
        self.path = path
        self.spill = spill
        self._connection = connection
        self._locked = False
        self._views: dict[str, str] = {}
        self._remove_spill = weakref.finalize(self, publishing.discard, spill)

    def rows(self, sql: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values. Raises WarehouseError."""
        with sentences(self.path):
            return self._connection.execute(sql.text, sql.params).fetchall()

    def columns(self, sql: Sql) -> dict[str, numpy.ndarray]:
        """The columns of a query as arrays, masked where the query yields nulls. Raises WarehouseError."""
        with sentences(self.path):
            return self._connection.execute(sql.text, sql.params).fetchnumpy()

    def run(self, sql: Sql) -> None:
        """Runs a statement that yields nothing. Raises WarehouseError."""
        with sentences(self.path):
            self._connection.execute(sql.text, sql.params)

    def hold_more(self) -> None:
        """Allows DuckDB what sorting many rows of a file takes. Raises WarehouseError."""
        if self.path is not None:
            self.run(Sql(f"set memory_limit = '{MUCH_MEMORY}'"))

    def read(self, table: str, select: Sql) -> None:
        """Makes the temporary table `table` of a query that reads a file; row ids are the places of rows, from 0.

        Raises UnreadableError if the file is not what the query takes it for.
        """
        create = Sql("create or replace temp table ") + name(table) + " as "
        with while_reading(self.path), self._unshared(len(select.text) > MANY_EXPRESSIONS):
            self._connection.execute(create.text + select.text, select.params)

    def bring(self, table: str, columns: Mapping[str, numpy.ndarray], *, more: bool = False) -> None:
        """Makes the temporary table `table` of arrays, a column each, or adds them to it where there are `more`; row
        ids are the places of rows, from 0.
        """
        self._connection.register("brought", dict(columns))
        try:
            into = "insert into temp." + name(table) if more else "create or replace temp table " + name(table) + " as"
            self.run(into + " from brought")
        finally:
            self._connection.unregister("brought")

    @contextlib.contextmanager
    def _unshared(self, many: bool) -> Iterator[None]:
        """Keeps DuckDB from looking for parts that expressions share, where they are many: it takes the square of their
        number.
        """
        if many:
            self._connection.execute("set disabled_optimizers = 'common_subexpressions'")
        try:
            yield
        finally:
            if many:
                self._connection.execute("reset disabled_optimizers")

    def look(self, table: str, select: Sql) -> None:
        """Makes the temporary view `table` of a query that reads a file, and reads all of it once; see `forget`.

        Raises UnreadableError as `read` does.
        """
        # A view takes no parameters, so its values stand in variables.
        numbers = count()
        view = PLACEHOLDER.sub(
            lambda match: match[0] if match[0] != "?" else f"getvariable('{table}_{next(numbers)}')", select.text
        )
        with while_reading(self.path):
            for number, param in enumerate(select.params):
                self._connection.execute(f"set variable {table}_{number} = ?", [param])
            self._connection.execute(f"create or replace temp view {table} as {view}")
            self._views[table] = view
            self._connection.execute(f"select max(hash(*columns(*))) from temp.{table}")

    def narrow(self, table: str, condition: Sql) -> None:
        """Leaves only the rows of a temporary table or view that meet a condition, which has no values in it."""
        if table not in self._views:
            self.run(Sql(f"delete from temp.{table} where not (") + condition + ")")
            return
        self._views[table] = f"select * from ({self._views[table]}) where {condition.text}"
        self.run(Sql(f"create or replace temp view {table} as {self._views[table]}"))

    def forget(self, table: str) -> None:
        """Removes a temporary table or view, if it is there."""
        kind = "view" if self._views.pop(table, None) else "table"
        self.run(Sql(f"drop {kind} if exists temp.{table}"))

    def write(self, select: Sql, to: Path) -> None:
        """Writes the rows of a query to a new file in the format of its ending: CSV, TSV (also .gz) or Parquet.

        Raises OSError if the file cannot be written, and WarehouseError. Where it may lie, see `open_to_export`.
        """
        self.run("create or replace temp table written as " + select)
        named = to.name.casefold()
        options = "format parquet" if named.endswith(".parquet") else "format csv, header"
        if ".tsv" in named:
            options += ", delimiter '\t'"
        if named.endswith(".gz"):
            options += ", compression gzip"
        try:
            with while_writing(self.path):
                self._connection.execute(f"copy temp.written to {_literal(to.absolute())} ({options})")
        finally:
            self.run(Sql("drop table temp.written"))

    def write_parted(self, select: Sql, to: Path, by: str) -> None:
        """Writes the rows of a query into a folder as Parquet, in a folder `by=…` for each value of a column.

        Raises OSError and WarehouseError as `write` does.
        """
        options = f"format parquet, compression zstd, overwrite_or_ignore, partition_by ({name(by).text})"
        with while_writing(self.path):
            self._connection.execute(f"copy ({select.text}) to {_literal(to.absolute())} ({options})", select.params)

    @contextlib.contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[None]:
        """All that is run within becomes part of the warehouse together, or nothing does: if an exception leaves it, or
        if it is only tried and not to `keep`.
        """
        try:
            self.run(Sql("begin transaction"))
            yield
            with ending.PATIENCE:
                self.run(Sql("commit" if keep else "rollback"))
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._roll_back()
            raise

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of one SELECT or EXPLAIN that someone typed.

        It can change nothing, open no file and reach no network. Raises DataError if it is no such statement, fails, or
        yields more than MOST_ROWS rows or MOST_BYTES bytes.
        """
        self.lock()
        try:
            self._refuse_all_but_select(text)
            try:
                self._connection.execute("begin transaction read only")
                cursor = self._connection.execute(text)
                columns = tuple(column[0] for column in cursor.description or ())
                rows = _fetched(cursor)
            finally:
                self._roll_back()
        except _OF_THE_QUERY as error:
            raise DataError((Fault("sql", *first_sentence(str(error))),)) from None
        except duckdb.Error as error:
            raise as_warehouse_error(error, self.path) from None
        return columns, rows

    def _roll_back(self) -> None:
        """Ends the transaction also where what began or ends it was interrupted, since the next one could not begin."""
        while True:
            try:
                self._connection.execute("rollback")
            except duckdb.InterruptException:
                continue
            except duckdb.TransactionException:
                # It never began, or had ended before the interruption was heard.
                return
            else:
                return

    def _refuse_all_but_select(self, text: str) -> None:
        statements = self._connection.extract_statements(text)
        if len(statements) != 1:
            raise _refused(f"expected one SELECT or EXPLAIN, but there are {len(statements)} statements")
        kind = statements[0].type
        if kind == duckdb.StatementType.EXPLAIN:
            kind = self._connection.extract_statements(_EXPLAIN.sub("", text))[0].type
        if kind != duckdb.StatementType.SELECT:
            raise _refused(f"expected one SELECT or EXPLAIN, not {kind.name}")

    def confine(self, files: Sequence[Path] = (), folders: Sequence[Path] = ()) -> None:
        """From here on these files are opened, what is in these folders and in the spill folder, and nothing else: no
        network, no other database. It cannot be taken back. DuckDB compares where links lead.
        """
        real = [Path(os.path.realpath(file)) for file in files]
        settings = {
            "allowed_paths": [*map(str, real), *map(pattern_of, (*real, *files))],
            "allowed_directories": [os.path.realpath(folder) for folder in (self.spill, *folders)],
        }
        for setting, paths in settings.items():
            self.run(Sql(f"set {setting} = [" + ", ".join(map(_literal, paths)) + "]"))
        self.run(Sql("set enable_external_access = false"))

    def lock(self) -> None:
        """No file, no network, no other database and no settings from here on."""
        if not self._locked:
            self.run(Sql("set enable_external_access = false"))
            self.run(Sql("set lock_configuration = true"))
            self._locked = True

    def bounds(self) -> dict[str, str | int]:
        """What a query may use, by what it is called: memory, threads, and a folder for what memory does not hold."""
        names = ("memory_limit", "threads", "temp_directory")
        settings = join(", ", (f"current_setting('{setting}')" for setting in names))
        [(memory, threads, folder)] = self.rows("select " + settings)
        return {"memory": str(memory), "threads": int(threads), "spill folder": str(folder)}

    def interrupt(self) -> None:
        """Stops the query that runs in another thread; it then raises WarehouseError('interrupted')."""
        self._connection.interrupt()

    def close(self) -> None:
        """Closes the warehouse and removes what was spilled to disk. Closing twice is harmless."""
        self._connection.close()
        self._remove_spill()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _fetched(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """All rows of a result, a piece at a time. Raises DataError where they are too many or too large."""
    rows: list[tuple[Any, ...]] = []
    size, many = 0, 1
    while piece := cursor.fetchmany(many):
        rows += piece
        taken = sum(map(_size, piece))
        size += taken
        many = max(1, min(2 * many, PIECE, PIECE_BYTES * len(piece) // taken))
        if len(rows) > MOST_ROWS:
            raise _refused(f"more than {MOST_ROWS:,} rows; add a LIMIT")
        if size > MOST_BYTES:
            raise _refused(f"more than {MOST_BYTES // 10**6} MB; ask for fewer rows or columns")
    return rows


def _size(value: Any) -> int:
    """How much memory a value takes: a row, a list, a text, a number."""
    own = sys.getsizeof(value)
    if isinstance(value, tuple | list):
        return own + sum(map(_size, value))
    if isinstance(value, dict):
        return own + sum(_size(key) + _size(part) for key, part in value.items())
    return own


def _refused(why: str) -> DataError:
    return DataError((Fault("sql", None, why),))


def in_memory() -> Database:
    """A new, empty warehouse that lives as long as it is open."""
    database = _connect(None)
    database.run(Sql(statements(comments=False)))
    return database


def open_database(path: Path) -> Database:
    """The warehouse at `path`, read-only and locked. Raises WarehouseError if there is none that can be read."""
    return _open_checked(path, Database.lock)


def open_own(path: Path) -> Database:
    """A warehouse that the program made and keeps for itself, read-only and locked. Its catalogue is not looked through
    where only this user can have changed the file. Raises WarehouseError as `open_database` does.
    """
    return _open_checked(path, Database.lock, strange=not publishing.ours_alone(path))


def open_to_export(path: Path, folder: Path) -> Database:
    """The warehouse at `path`, read-only, from which files can be written into a folder; only for SQL of our own.

    Raises WarehouseError as `open_database` does.
    """
    return _open_checked(path, lambda database: database.confine(folders=[folder]))


def _open_checked(path: Path, shut: Callable[[Database], None], *, strange: bool = True) -> Database:
    check_file(path)
    extent = extent_of(path)
    before = _state(path)
    with _closed_on_error(_connect(path)) as database:
        _attach_to_ask(database, path)
        shut(database)
        state = before if _state(path) == before else None
        if strange and (state is None or _LOOKED_THROUGH.get(path.absolute()) != state):
            check_schema(database.rows, path)
            _LOOKED_THROUGH[path.absolute()] = state
        _check_whole(database, path, extent)
    return database


_LOOKED_THROUGH: dict[Path, tuple[int, ...] | None] = {}
"""In which state the catalogue of a file was looked through. As long as the file stays in it, that is not repeated: it
takes more than half of the time of opening.
"""


def _state(path: Path) -> tuple[int, ...] | None:
    """What changes with every change of a file, which cannot set the time of its last change back; None where a part of
    it is in a log beside it.
    """
    if any(log.exists() for log in logs_of(path)):
        return None
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def look_into(path: Path, check: Callable[[Asking, Path], object] | None = None) -> None:
    """Raises WarehouseError if a program writes to the file, for that holds a lock, and what a check of it raises."""
    extent = extent_of(path)
    with _connect(path) as database:
        _attach_to_ask(database, path)
        database.lock()
        if check is not None:
            check(database.rows, path)
            _check_whole(database, path, extent)


def _attach_to_ask(database: Database, path: Path) -> None:
    """Attaches a file read-only. What a load in place left in its log is a part of it."""
    if any(log.exists() for log in logs_of(path)):
        # A log is replayed while the file is attached, so files are closed before that.
        database.confine([path, *logs_of(path)])
    _attach(database, path, writable=False)


def logs_of(path: Path) -> list[Path]:
    """What DuckDB may leave beside a file, and then is a part of it."""
    return [Path(os.path.realpath(path) + ending) for ending in LOGS]


def _check_whole(database: Database, path: Path, extent: Extent) -> None:
    """Raises WarehouseError if a file lacks blocks that are in use. It may lack free ones at its end, and where a disk
    was full, a part of one may be there.
    """
    if not extent.lacking:
        return
    [(free,)] = database.rows(Sql("select free_blocks from pragma_database_size() where database_name = 'warehouse'"))
    if extent.lacking > free or (extent.ends_within_a_block and _last_block(database) >= extent.blocks):
        raise cut_off(path)


def _last_block(database: Database) -> int:
    """The number of the last block that is in use."""
    tables = database.rows(Sql("select table_name from duckdb_tables() where database_name = 'warehouse'"))
    [(last,)] = database.rows(Sql("select coalesce(max(block_id), 0) from pragma_metadata_info()"))
    reaching = "select coalesce(max(greatest(block_id, list_max(additional_block_ids))), 0) from pragma_storage_info(?)"
    return max(int(last), *(int(database.rows(Sql(reaching, (name(table).text,)))[0][0]) for (table,) in tables))


def open_to_load(path: Path, files: Iterable[Path]) -> Database:
    """The DuckDB file at `path`, whatever is in it, to be written; it can read the named files and no others.

    Raises WarehouseError if it cannot be opened.
    """
    with _closed_on_error(_connect(path, LOADING_MEMORY)) as database:
        # Before it is attached, since a log beside it is replayed then.
        database.confine([path, *logs_of(path), *files])
        _attach(database, path, writable=True)
    return database


def open_new(path: Path) -> Database:
    """A DuckDB file that this process has made or is to make, to be written; it can read every file."""
    with _closed_on_error(_connect(path, LOADING_MEMORY)) as database:
        _attach(database, path, writable=True)
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
            "threads": allowed(),
        }
        connection = duckdb.connect(config={**_CONFIGURATION, **own})
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


def _attach(database: Database, path: Path, *, writable: bool) -> None:
    # Attached and not connected to: connections to one path share a database, even after the file was replaced.
    options = "type duckdb" if writable else "type duckdb, read_only"
    # Named in full: a file may hold a schema that is called like the database.
    attaching = f"attach {_literal(path.absolute())} as {DATABASE} ({options}); use {DATABASE}.main"
    until = time.monotonic() + PATIENCE
    while True:
        try:
            database._connection.execute(attaching)
            return
        except duckdb.Error as error:
            if "lock" not in str(error).lower() or time.monotonic() > until:
                raise duckdb_errors.why_not_opened(error, path, writable) from None
            time.sleep(0.02)


def _literal(text: object) -> str:
    return "'" + str(text).replace("'", "''") + "'"
