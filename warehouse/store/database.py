"""The warehouse file: opening it, and running SQL on it.

For queries, a warehouse is opened read-only and never changed; `warehouse.store.replacement` makes and changes
warehouses. This module only runs SQL. Loading and the query compiler know what the tables mean.
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
"""How many seconds to wait for a file that another program is writing."""

_EXPLAIN = r"(?is)^(?:\s|--[^\n]*\n|/\*.*?\*/)*explain\s+(?:analyze\s+)?(?:\([^)]*\)\s*)?"
"""The beginning of an EXPLAIN statement. It is compiled only when one is typed."""

_OF_THE_QUERY = (
    duckdb.ProgrammingError,
    duckdb.DataError,
    duckdb.NotSupportedError,
    duckdb.PermissionException,
    duckdb.TransactionException,
)
"""Errors that mean that the query is wrong. Any other error happens to a correct query."""

_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}

LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")
"""The endings of the files that DuckDB writes beside a database file."""

MOST_ROWS = 1_000_000
"""How many rows a query that someone typed may return."""

MOST_BYTES = 250_000_000
"""How much memory these rows may take."""

PIECE = 1_000
"""At most this many of these rows are fetched at a time; between the pieces Ctrl-C is noticed."""

PIECE_BYTES = 5_000_000
"""How much memory such a piece may take. While DuckDB makes Python objects of it, no other thread runs."""

LOADING_MEMORY = "300MB"
"""How much memory DuckDB may use while a file is loaded; it spills the rest to disk."""

MUCH_MEMORY = "1GB"
"""How much it may use for a file with many rows: with 300 MB it could not sort a hundred million rows."""

ROW_GROUP = 2 * 122_880
"""How many rows a group of a Parquet file has. DuckDB's own 122,880 are read a twentieth to a tenth slower."""

MANY_EXPRESSIONS = 50_000
"""A query longer than this, in characters, has some hundred columns."""


_LEFT: list[duckdb.DuckDBPyConnection] = []
"""Connections that stay open until the process ends."""


class Database:
    """One open warehouse. Only `interrupt` may be called from another thread."""

    path: Path | None
    spill: Path
    """The folder for data that does not fit into memory; it is removed when the warehouse is closed."""
    imports_given: int
    """The largest number that an import ever had, where numbers are not given twice."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None, spill: Path) -> None:
        self.path = path
        self.spill = spill
        self._connection = connection
        self._locked = False
        self._views: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._in_files: dict[str, str] = {}
        self.imports_given = 0
        self._remove_spill = weakref.finalize(self, publishing.discard, spill)

    def rows(self, sql: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values. Raises WarehouseError."""
        with sentences(self.path):
            return self._connection.execute(sql.text, sql.params).fetchall()

    def columns(self, sql: Sql) -> dict[str, numpy.ndarray]:
        """The columns of a query as arrays, masked where the query returns nulls. Raises WarehouseError."""
        with sentences(self.path):
            return self._connection.execute(sql.text, sql.params).fetchnumpy()

    def run(self, sql: Sql) -> None:
        """Runs a statement that returns nothing. Raises WarehouseError."""
        with sentences(self.path):
            self._connection.execute(sql.text, sql.params)

    def hold_more(self) -> None:
        """Gives DuckDB the memory that it needs to sort the many rows of a file. Raises WarehouseError."""
        if self.path is not None:
            self.run(Sql(f"set memory_limit = '{MUCH_MEMORY}'"))

    def read(self, table: str, select: Sql) -> None:
        """Creates the temporary table `table` from a query that reads a file. Row ids are the places of the rows, from
        0.

        Raises UnreadableError if the file is not in the format that the query expects.
        """
        create = Sql("create or replace temp table ") + name(table) + " as "
        with while_reading(self.path), self._unshared(len(select.text) > MANY_EXPRESSIONS):
            self._connection.execute(create.text + select.text, select.params)

    def bring(self, table: str, columns: Mapping[str, numpy.ndarray], *, more: bool = False) -> None:
        """Creates the temporary table `table` from arrays, one per column, or appends them to it if `more` is set. Row
        ids are the places of the rows, from 0.
        """
        self._connection.register("brought", dict(columns))
        try:
            into = "insert into temp." + name(table) if more else "create or replace temp table " + name(table) + " as"
            self.run(into + " from brought")
        finally:
            self._connection.unregister("brought")

    @contextlib.contextmanager
    def _unshared(self, many: bool) -> Iterator[None]:
        """If there are many expressions, stops DuckDB from searching for common subexpressions: the time for that grows
        with the square of their number.
        """
        if many:
            self._connection.execute("set disabled_optimizers = 'common_subexpressions'")
        try:
            yield
        finally:
            if many:
                self._connection.execute("reset disabled_optimizers")

    def look(self, table: str, select: Sql) -> None:
        """Creates the temporary view `table` from a query that reads a file, and reads all of it once. `forget` removes
        it.

        Raises UnreadableError as `read` does.
        """
        with while_reading(self.path):
            self.show(table, select)
            self._connection.execute(f"select max(hash(*columns(*))) from temp.{table}")

    def show(self, table: str, select: Sql, of: str = "") -> None:
        """Creates the temporary view `table` from a query. `forget` removes it and the temporary table `of`."""
        # A view takes no parameters, so their values are stored in variables.
        numbers = count()
        view = PLACEHOLDER.sub(
            lambda match: match[0] if match[0] != "?" else f"getvariable('{table}_{next(numbers)}')", select.text
        )
        for number, param in enumerate(select.params):
            self._connection.execute(f"set variable {table}_{number} = ?", [param])
        self._connection.execute(f"create or replace temp view {table} as {view}")
        self._views[table] = view
        self._shown[table] = of

    def narrow(self, table: str, condition: Sql) -> None:
        """Keeps only the rows of a temporary table or view that meet a condition. The condition must have no
        parameters.
        """
        if table not in self._views:
            self.run(Sql(f"delete from temp.{table} where not (") + condition + ")")
            return
        self._views[table] = f"select * from ({self._views[table]}) where {condition.text}"
        self.run(Sql(f"create or replace temp view {table} as {self._views[table]}"))

    def forget(self, table: str) -> None:
        """Removes a temporary table or view if it exists."""
        kind = "view" if self._views.pop(table, None) else "table"
        self.run(Sql(f"drop {kind} if exists temp.{table}"))
        if shown := self._shown.pop(table, ""):
            self.forget(shown)

    def write(self, select: Sql, to: Path) -> None:
        """Writes the rows of a query to a new file in the format of its ending: CSV, TSV (also .gz) or Parquet.

        Raises OSError if the file cannot be written, and WarehouseError. `open_to_export` says where the file may be.
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
        """Writes the rows of a query into a folder as Parquet, with a subfolder `by=…` for each value of a column.

        Raises OSError and WarehouseError as `write` does.
        """
        options = f"format parquet, compression zstd, overwrite_or_ignore, partition_by ({name(by).text})"
        with while_writing(self.path):
            self._connection.execute(f"copy ({select.text}) to {_literal(to.absolute())} ({options})", select.params)

    def write_parquet(self, select: Sql, to: Path, *, delta: bool = False) -> None:
        """Writes the rows of a query to a new Parquet file, in their order. With `delta`, whole numbers are written as
        differences: half the size of compressed ones, and read in half the time. Version 2 of the format, which has
        that, writes floating-point numbers in a way that not every Spark reads. Raises OSError and WarehouseError as
        `write` does.
        """
        encoding = "parquet_version v2, compression uncompressed" if delta else "compression zstd"
        options = f"format parquet, row_group_size {ROW_GROUP}, {encoding}"
        with while_writing(self.path):
            self._connection.execute(f"copy ({select.text}) to {_literal(to.absolute())} ({options})", select.params)

    def hold_in_files(self, table: str, select: Sql) -> None:
        """From here on, the table also has the rows of a query that reads files. It stays open for new rows under the
        name main.TABLE; `remove_facts` hides rows of the files.
        """
        if not self._in_files:
            [(catalog,)] = self.rows(Sql("select current_catalog()"))
            self.run(Sql("create schema in_files"))
            self.run(Sql(f"set search_path = '{catalog}.in_files,{catalog}.main'"))
        self._in_files[table] = select.text
        own = Sql(" union all by name from main.") + name(table)
        self.run(Sql("create or replace view in_files.") + name(table) + " as " + select + own)

    def leave_in_files(self, table: str, select: Sql) -> None:
        """From here on, the rows of the table are those of a query that reads files. Nothing can be added to it."""
        self.run("drop table main." + name(table))
        self.run("create view main." + name(table) + " as " + select)

    def remove_facts(self, table: str, import_id: int) -> None:
        """Removes the rows of an import from a table."""
        where = f" where import_id = {int(import_id)}"
        self.run("delete from main." + name(table) + where)
        if table in self._in_files:
            self.hold_in_files(table, Sql(f"select * from ({self._in_files[table]}){where.replace('=', '<>')}"))

    @contextlib.contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[None]:
        """Commits everything that runs inside it, or nothing: it rolls back if an exception is raised inside, or if
        `keep` is false (a dry run).
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

        It cannot change anything, open files or use the network. Raises DataError if the text is not such a statement,
        if it fails, or if it returns more than MOST_ROWS rows or MOST_BYTES bytes.
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
        """Ends the transaction even if its start or end was interrupted; otherwise the next one could not begin."""
        while True:
            try:
                self._connection.execute("rollback")
            except duckdb.InterruptException:
                continue
            except duckdb.TransactionException:
                # The transaction never began, or had ended before the interruption was noticed.
                return
            else:
                return

    def _refuse_all_but_select(self, text: str) -> None:
        statements = self._connection.extract_statements(text)
        if len(statements) != 1:
            raise _refused(f"expected one SELECT or EXPLAIN, but there are {len(statements)} statements")
        kind = statements[0].type
        if kind == duckdb.StatementType.EXPLAIN:
            kind = self._connection.extract_statements(re.sub(_EXPLAIN, "", text))[0].type
        if kind != duckdb.StatementType.SELECT:
            raise _refused(f"expected one SELECT or EXPLAIN, not {kind.name}")

    def confine(self, files: Sequence[Path] = (), folders: Sequence[Path] = ()) -> None:
        """From here on, only these files, the files in these folders and the spill folder can be opened: no network, no
        other database. This cannot be undone. DuckDB resolves links before it compares paths.
        """
        real = [Path(os.path.realpath(file)) for file in files]
        settings = {
            "allowed_paths": [*map(str, real), *map(pattern_of, (*real, *files))],
            "allowed_directories": [
                written
                for folder in (self.spill, *folders)
                for written in dict.fromkeys((os.path.realpath(folder), pattern_of(Path(os.path.realpath(folder)))))
            ],
        }
        for setting, paths in settings.items():
            self.run(Sql(f"set {setting} = [" + ", ".join(map(_literal, paths)) + "]"))
        self.run(Sql("set enable_external_access = false"))

    def lock(self) -> None:
        """From here on, no file, network, other database or setting can be used."""
        if not self._locked:
            self.run(Sql("set enable_external_access = false"))
            self.run(Sql("set lock_configuration = true"))
            self._locked = True

    def bounds(self) -> dict[str, str | int]:
        """What a query may use, by name: memory, threads, and the folder for data that does not fit into memory."""
        names = ("memory_limit", "threads", "temp_directory")
        settings = join(", ", (f"current_setting('{setting}')" for setting in names))
        [(memory, threads, folder)] = self.rows("select " + settings)
        return {"memory": str(memory), "threads": int(threads), "spill folder": str(folder)}

    def interrupt(self) -> None:
        """Stops the query that runs in another thread; that thread gets WarehouseError('interrupted')."""
        self._connection.interrupt()

    def close(self) -> None:
        """Closes the warehouse and removes data that was spilled to disk. Closing twice is harmless."""
        self._connection.close()
        self._remove_spill()

    def leave(self) -> None:
        """Closes a warehouse that was only read in a process that ends next. The system takes all memory back at once;
        DuckDB would free its functions one by one, which takes as long as ten queries.
        """
        _LEFT.append(self._connection)
        self._remove_spill()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _fetched(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """All rows of a result, fetched in pieces. Raises DataError if they are too many or too large."""
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
    _attach(database, path, writable=False)


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
        raise cut_off(path)


def _last_block(database: Database) -> int:
    """The number of the last block in use."""
    tables = database.rows(Sql("select table_name from duckdb_tables() where database_name = 'warehouse'"))
    [(last,)] = database.rows(Sql("select coalesce(max(block_id), 0) from pragma_metadata_info()"))
    reaching = "select coalesce(max(greatest(block_id, list_max(additional_block_ids))), 0) from pragma_storage_info(?)"
    return max(int(last), *(int(database.rows(Sql(reaching, (name(table).text,)))[0][0]) for (table,) in tables))


def open_to_load(path: Path, files: Iterable[Path], folders: Sequence[Path] = ()) -> Database:
    """Opens the DuckDB file at `path` for writing, whatever it contains. It can read the named files and the files in
    the named folders, and no others.

    Raises WarehouseError if it cannot be opened.
    """
    with _closed_on_error(_connect(path, LOADING_MEMORY)) as database:
        # This comes before attaching, because attaching replays a log beside the file.
        database.confine([path, *logs_of(path), *files], folders)
        _attach(database, path, writable=True)
    return database


def open_new(path: Path, block_size: int | None = None) -> Database:
    """Opens a DuckDB file for writing that this process made or is about to make. It can read every file. `block_size`
    is the size of its blocks in bytes, if it is made.
    """
    with _closed_on_error(_connect(path, LOADING_MEMORY)) as database:
        _attach(database, path, writable=True, block_size=block_size)
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


def _attach(database: Database, path: Path, *, writable: bool, block_size: int | None = None) -> None:
    # The file is attached and not opened directly: connections to the same path share a database, even after the file
    # was replaced.
    options = "type duckdb" if writable else "type duckdb, read_only"
    if block_size is not None:
        options += f", block_size {block_size}"
    # The full name is needed, because a file may contain a schema with the same name as the database.
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
