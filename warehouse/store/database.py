"""The warehouse file: opening it, and running SQL on it.

A warehouse that is asked is opened read-only and never changed; `warehouse.store.replacement` makes and changes them.
This module knows the schema as a text to run and no more: what the tables mean is the business of loading and of the
query compiler.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.faults import DataError, Fault, WarehouseError
from warehouse.store import duckdb_errors
from warehouse.store.duckdb_errors import as_warehouse_error, first_sentence, sentences, while_reading, while_writing
from warehouse.store.file_header import check_file, check_free
from warehouse.store.library import duckdb
from warehouse.store.sql import PLACEHOLDER, Sql, join, name
from warehouse.threads import allowed

if TYPE_CHECKING:
    import numpy

SCHEMA_VERSION = 4
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
    "memory_limit": "50%",
}

MOST_ROWS = 1_000_000
"""How many rows a query that someone typed may yield."""

LOADING_MEMORY = "300MB"
"""What DuckDB may hold while a file is loaded; the rest is spilled to disk."""

MUCH_MEMORY = "1GB"
"""What it may hold of a file of many rows: with 300 MB it could not sort a hundred million."""


class Database:
    """One open warehouse. Not to be used from two threads at once, but for `interrupt`."""

    path: Path | None

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path | None, spill: str) -> None:
        self.path = path
        self._connection = connection
        self._locked = False
        self._views: dict[str, str] = {}
        self._remove_spill = weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)

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
        with while_reading(self.path):
            if self._locked:
                self._read_from_outside(create, select)
            else:
                self._connection.execute(create.text + select.text, select.params)

    def look(self, table: str, select: Sql) -> bool:
        """Makes the temporary view `table` of a query that reads a file, and reads all of it once; see `forget`.

        Returns False, and makes nothing, where the warehouse may not open files. Raises UnreadableError as `read` does.
        """
        if self._locked:
            return False
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
        return True

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

    def _read_from_outside(self, create: Sql, select: Sql) -> None:
        # A locked connection opens no files, so another one reads and the columns are carried across.
        with contextlib.closing(duckdb.connect(config=_CONFIGURATION)) as outside:
            arrays = outside.execute(select.text, select.params).fetchnumpy()
        self._connection.register("carried_across", arrays)
        try:
            self._connection.execute(create.text + "select * from carried_across")
        finally:
            self._connection.unregister("carried_across")

    def write(self, select: Sql, to: Path) -> None:
        """Writes the rows of a query to a new file in the format of its ending: CSV, TSV (also .gz) or Parquet.

        Raises OSError if the file cannot be written, and WarehouseError. Not for a warehouse that is open for questions
        alone, which opens no files (see `open_to_export`).
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
                self._connection.execute(f"copy temp.written to {_quoted(to)} ({options})")
        finally:
            self.run(Sql("drop table temp.written"))

    def write_parted(self, select: Sql, to: Path, by: str) -> None:
        """Writes the rows of a query into a folder as Parquet, in a folder `by=…` for each value of a column.

        Raises OSError and WarehouseError as `write` does.
        """
        options = f"format parquet, compression zstd, overwrite_or_ignore, partition_by ({name(by).text})"
        with while_writing(self.path):
            self._connection.execute(f"copy ({select.text}) to {_quoted(to)} ({options})", select.params)

    @contextlib.contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[None]:
        """All that is run within becomes part of the warehouse together, or nothing does: if an exception leaves it, or
        if it is only tried and not to `keep`.
        """
        self.run(Sql("begin transaction"))
        try:
            yield
            self.run(Sql("commit" if keep else "rollback"))
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._connection.execute("rollback")
            raise

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of one SELECT or EXPLAIN that someone typed.

        It can change nothing, open no file and reach no network. Raises DataError if it is no such statement, fails, or
        yields more than MOST_ROWS rows.
        """
        self._lock()
        try:
            self._refuse_all_but_select(text)
            self._connection.execute("begin transaction read only")
            try:
                cursor = self._connection.execute(text)
                columns = tuple(column[0] for column in cursor.description or ())
                rows = cursor.fetchmany(MOST_ROWS + 1)
            finally:
                self._roll_back()
        except _OF_THE_QUERY as error:
            raise DataError((Fault("sql", *first_sentence(str(error))),)) from None
        except duckdb.Error as error:
            raise as_warehouse_error(error, self.path) from None
        if len(rows) > MOST_ROWS:
            raise _refused(f"more than {MOST_ROWS:,} rows; a LIMIT makes them fewer")
        return columns, rows

    def _roll_back(self) -> None:
        """Ends the transaction also where what ends it is interrupted, since the next one could not begin."""
        while True:
            try:
                self._connection.execute("rollback")
            except duckdb.InterruptException:
                continue
            except duckdb.TransactionException:
                # It had ended before the interruption was heard.
                return
            else:
                return

    def _refuse_all_but_select(self, text: str) -> None:
        statements = self._connection.extract_statements(text)
        if len(statements) != 1:
            raise _refused(f"one SELECT or EXPLAIN is wanted, and there are {len(statements)} statements")
        kind = statements[0].type
        if kind == duckdb.StatementType.EXPLAIN:
            kind = self._connection.extract_statements(_EXPLAIN.sub("", text))[0].type
        if kind != duckdb.StatementType.SELECT:
            raise _refused(f"one SELECT or EXPLAIN is wanted, not {kind.name}")

    def _lock(self) -> None:
        """No files, no network, no settings from here on. In this order: the last one would forbid the first."""
        if not self._locked:
            self.run(Sql("set enable_external_access=false"))
            self.run(Sql("set lock_configuration=true"))
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


def _refused(why: str) -> DataError:
    return DataError((Fault("sql", None, why),))


def in_memory() -> Database:
    """A new, empty warehouse that lives as long as it is open."""
    database = _connect(None)
    make_schema(database, comments=False)
    return database


def open_database(path: Path) -> Database:
    """The warehouse at `path`, read-only. Raises WarehouseError if there is none, or none that can be read."""
    extent = check_file(path)
    database = attached(path, writable=False)
    try:
        sizes = database.rows(Sql("select free_blocks from pragma_database_size() where database_name = 'warehouse'"))
        check_free(path, extent, int(sizes[0][0]))
        check_schema(database, path)
        database._lock()
    except BaseException:
        database.close()
        raise
    return database


def open_to_export(path: Path) -> Database:
    """The warehouse at `path`, read-only, from which files can be written; only for SQL of our own.

    Raises WarehouseError as `open_database` does.
    """
    open_database(path).close()
    return attached(path, writable=False)


def _connect(path: Path | None, memory: str | None = None) -> Database:
    spill = tempfile.mkdtemp(prefix="evalhouse-")
    try:
        limit: dict[str, str | int] = {"memory_limit": memory} if memory else {}
        own = {**limit, "temp_directory": spill, "threads": allowed()}
        connection = duckdb.connect(config={**_CONFIGURATION, **own})
        return Database(connection, path, spill)
    except BaseException as error:
        shutil.rmtree(spill, ignore_errors=True)
        if isinstance(error, duckdb.Error):
            raise as_warehouse_error(error, path) from None
        raise


def attached(path: Path, *, writable: bool) -> Database:
    # Attached and not connected to: connections to one path share a database, even after the file was replaced.
    database = _connect(path, LOADING_MEMORY if writable else None)
    options = "type duckdb" if writable else "type duckdb, read_only"
    until = time.monotonic() + PATIENCE
    try:
        while True:
            try:
                database._connection.execute(f"attach {_quoted(path)} as warehouse ({options}); use warehouse")
                return database
            except duckdb.Error as error:
                if "lock" not in str(error).lower() or time.monotonic() > until:
                    raise duckdb_errors.why_not_opened(error, path, writable) from None
                time.sleep(0.02)
    except BaseException:
        database.close()
        raise


def _quoted(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def make_schema(database: Database, *, comments: bool) -> None:
    statements = files("warehouse.store").joinpath("schema.sql").read_text(encoding="utf-8")
    if not comments:
        # Comments are for other tools that open the file; in memory they would be a fifth of the cost.
        statements = re.sub(r"^comment on .*\n", "", statements, flags=re.MULTILINE)
    database.run(Sql(f"begin transaction;\n{statements}\ncommit;"))


def schema_version(database: Database, path: Path) -> str:
    """The version of the schema, as it is written in the warehouse. Raises WarehouseError if there is none."""
    try:
        stored = database._connection.execute("select value from meta where key = 'schema_version'").fetchall()
    except (duckdb.CatalogException, duckdb.BinderException):
        raise WarehouseError(f"{path} is a DuckDB database, but not a warehouse") from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, path) from None
    return str(stored[0][0]) if stored else "unknown"


def check_schema(database: Database, path: Path) -> None:
    version = schema_version(database, path)
    if version == str(SCHEMA_VERSION):
        return
    older = version.isdigit() and int(version) < SCHEMA_VERSION
    what = f"evalhouse upgrade --db {path} brings it up to date" if older else "a newer evalhouse reads it"
    raise WarehouseError(
        f"{path} has schema version {version}, and this evalhouse reads version {SCHEMA_VERSION}",
        (what,) if version.isdigit() else (),
    )
