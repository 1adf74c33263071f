"""An open warehouse: runs SQL on it. `evalhouse.warehouse.store.connecting` opens one. Loading and the query compiler
know what the tables mean; this module does not.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.process import publishing, stopping
from evalhouse.warehouse.process.memory import of_database
from evalhouse.warehouse.store.files import (
    RELEASE,
    as_warehouse_error,
    duckdb,
    first_sentence,
    sentences,
    while_reading,
    while_writing,
    why_not_opened,
)
from evalhouse.warehouse.store.schema import DATABASE
from evalhouse.warehouse.store.sql import PLACEHOLDER, Sql, join, literal, name, pattern_of

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

MOST_ROWS = 1_000_000
"""How many rows a query that someone typed may return."""

MOST_BYTES = 250_000_000
"""How much memory these rows may take."""

PIECE = 1_000
"""At most this many of these rows are fetched at a time; between the pieces Ctrl-C is noticed."""

PIECE_BYTES = 5_000_000
"""How much memory such a piece may take. While DuckDB makes Python objects of it, no other thread runs."""

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
        self.removed: dict[str, list[str]] = {}
        """The conditions of `remove_rows`, by table."""
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
        """Gives DuckDB its whole share of memory: with that of a load it could not sort a hundred million rows. Raises
        WarehouseError.
        """
        if self.path is not None:
            self.run(Sql(f"set memory_limit = '{of_database()}'"))

    def read(self, table: str, select: Sql) -> None:
        """Creates the temporary table `table` from a query that reads a file. Row ids are the places of the rows, from
        0.

        Raises UnreadableError if the file is not in the format that the query expects.
        """
        create = Sql("create or replace temp table ") + name(table) + " as "
        with while_reading(self.path), self._without_sharing(len(select.text) > MANY_EXPRESSIONS):
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
    def _without_sharing(self, many: bool) -> Iterator[None]:
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
                self._connection.execute(f"copy temp.written to {literal(to.absolute())} ({options})")
        finally:
            self.run(Sql("drop table temp.written"))

    def write_parted(self, select: Sql, to: Path, by: str) -> None:
        """Writes the rows of a query into a folder as Parquet, with a subfolder `by=…` for each value of a column.

        Raises OSError and WarehouseError as `write` does.
        """
        options = f"format parquet, compression zstd, overwrite_or_ignore, partition_by ({name(by).text})"
        with while_writing(self.path):
            self._connection.execute(f"copy ({select.text}) to {literal(to.absolute())} ({options})", select.params)

    def write_parquet(self, select: Sql, to: Path, *, delta: bool = False) -> None:
        """Writes the rows of a query to a new Parquet file, in their order. With `delta`, whole numbers are written as
        differences: half the size of compressed ones, and read in half the time. Version 2 of the format, which has
        that, writes floating-point numbers in a way that not every Spark reads. Raises OSError and WarehouseError as
        `write` does.
        """
        encoding = "parquet_version v2, compression uncompressed" if delta else "compression zstd"
        options = f"format parquet, row_group_size {ROW_GROUP}, {encoding}"
        with while_writing(self.path):
            self._connection.execute(f"copy ({select.text}) to {literal(to.absolute())} ({options})", select.params)

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
        self._remove(table, f"import_id = {int(import_id)}")

    def remove_rows(self, table: str, condition: str) -> None:
        """Removes some rows of imports that stay, by a condition without parameters. In a lake, `removed` tells which,
        so that their files are written again.
        """
        self._remove(table, condition)
        self.removed.setdefault(table, []).append(condition)

    def _remove(self, table: str, condition: str) -> None:
        self.run("delete from main." + name(table) + f" where {condition}")
        if table in self._in_files:
            self.hold_in_files(table, Sql(f"select * from ({self._in_files[table]}) where ({condition}) is not true"))

    @contextlib.contextmanager
    def transaction(self, *, keep: bool = True) -> Iterator[None]:
        """Commits everything that runs inside it, or nothing: it rolls back if an exception is raised inside, or if
        `keep` is false (a dry run).
        """
        in_files, removed = dict(self._in_files), {table: list(rows) for table, rows in self.removed.items()}
        kept = False
        try:
            self.run(Sql("begin transaction"))
            yield
            with stopping.PATIENCE:
                self.run(Sql("commit" if keep else "rollback"))
            kept = keep
        except BaseException:
            with contextlib.suppress(duckdb.Error):
                self._roll_back()
            raise
        finally:
            if not kept:
                self._in_files, self.removed = in_files, removed

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of one SELECT or EXPLAIN that someone typed.

        It cannot change anything, open files or use the network. Raises DataError if the text is not such a statement,
        if it fails, or if it returns more than MOST_ROWS rows or MOST_BYTES bytes.
        """
        self.lock()
        try:
            self._refuse_all_but_select(text)
            if RELEASE < (2, 0):
                self._refuse_logs_and_secrets(text)
            try:
                self._connection.execute("begin transaction read only")
                cursor = self._connection.execute(text)
                columns = tuple(column[0] for column in cursor.description or ())
                rows = _fetch_rows(cursor)
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
            raise _refusal(f"expected one SELECT or EXPLAIN, but there are {len(statements)} statements")
        kind = statements[0].type
        if kind == duckdb.StatementType.EXPLAIN:
            kind = self._connection.extract_statements(re.sub(_EXPLAIN, "", text))[0].type
        if kind != duckdb.StatementType.SELECT:
            raise _refusal(f"expected one SELECT or EXPLAIN, not {kind.name}")

    def _refuse_logs_and_secrets(self, text: str) -> None:
        """DuckDB 1 takes a folder for its log that it may not write to. Every later query then fails, and closing the
        database ends the process. It also lists secrets, which DuckDB 2 does not when files are shut off.
        """
        plan = self._connection.execute("explain (format json) " + re.sub(_EXPLAIN, "", text)).fetchall()
        for function in ("enable_logging", "duckdb_secrets"):
            if function in str(plan).lower():
                raise _refusal(f"{function} is not allowed")

    def attach(self, path: Path, *, writable: bool, block_size: int | None = None) -> None:
        """Makes a warehouse file the one that is asked; `block_size` is that of a new file. Raises WarehouseError."""
        # It is not opened directly: connections to the same path share a database, even after the file was replaced.
        options = "type duckdb" if writable else "type duckdb, read_only"
        if block_size is not None:
            options += f", block_size {block_size}"
        # The full name is needed, because a file may contain a schema with the same name as the database.
        attaching = f"attach {literal(path.absolute())} as {DATABASE} ({options}); use {DATABASE}.main"
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._connection.execute(attaching)
                return
            except duckdb.Error as error:
                if "lock" not in str(error).lower() or time.monotonic() > until:
                    raise why_not_opened(error, path, writable) from None
                time.sleep(0.02)

    def copy_from(self, path: Path) -> None:
        """Copies everything that another database file holds into this empty one. Raises WarehouseError."""
        self.run(Sql(f"attach {literal(path.absolute())} as former (type duckdb, read_only)"))
        self.run(Sql(f"copy from database former to {DATABASE}"))
        self.run(Sql("detach former"))

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
            self.run(Sql(f"set {setting} = [" + ", ".join(map(literal, paths)) + "]"))
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


def _fetch_rows(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """All rows of a result, fetched in pieces. Raises DataError if they are too many or too large."""
    rows: list[tuple[Any, ...]] = []
    size, many = 0, 1
    while piece := cursor.fetchmany(many):
        rows += piece
        taken = sum(map(_size, piece))
        size += taken
        many = max(1, min(2 * many, PIECE, PIECE_BYTES * len(piece) // taken))
        if len(rows) > MOST_ROWS:
            raise _refusal(f"more than {MOST_ROWS:,} rows; add a LIMIT")
        if size > MOST_BYTES:
            raise _refusal(f"more than {MOST_BYTES // 10**6} MB; ask for fewer rows or columns")
    return rows


def _size(value: Any) -> int:
    """How much memory a value takes: a row, a list, a text, a number."""
    own = sys.getsizeof(value)
    if isinstance(value, tuple | list):
        return own + sum(map(_size, value))
    if isinstance(value, dict):
        return own + sum(_size(key) + _size(part) for key, part in value.items())
    return own


def _refusal(why: str) -> DataError:
    return DataError((Fault("sql", None, why),))
