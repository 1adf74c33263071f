"""Opens a lake to be queried: a database in memory that has the names of the lake, and reads its facts from the files.

The database looks like a warehouse, so every statement works on it unchanged. It sees the lake as it was after one
change, and not what others add later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from warehouse.lake.data_files import paths
from warehouse.lake.log import LakeLog, LakeState, read_log
from warehouse.lake.place import LakePlace
from warehouse.lake.verified import verify
from warehouse.query.as_of import AsOf, NoSuchStateError
from warehouse.store.connecting import in_memory
from warehouse.store.database import Database
from warehouse.store.sql import Sql, join, name, parquet, values
from warehouse.tasks.records import FACT_TABLES

LARGE = (*FACT_TABLES, "document", "item")
"""The tables that are read from their files by each query. The others are small and are kept in memory."""

SMALL = (
    *("meta", "import", "evaluation", "test_set", "observed", "system", "unit", "annotator", "direction"),
    *("definition", "run", "failure", "system_attribute"),
)
"""The tables that are kept in memory."""

TABLES = tuple(dict.fromkeys((*FACT_TABLES, "document", "item", *SMALL)))
"""The tables of a lake. The fingerprints are in the table of changes."""


TableColumns = Mapping[str, Sequence[tuple[str, str]]]
"""For each table of a warehouse, the names and the types of its columns."""


def open_lake(place: LakePlace, *, after: int | None = None) -> Database:
    """The lake as it is, or as it was after a change; read-only and locked. Raises WarehouseError."""
    log = read_log(place)
    return open_state(place, log.last if after is None else log.after(after))


def open_state(place: LakePlace, state: LakeState, *, lock: bool = True, writing: Path | None = None) -> Database:
    """A lake in one of its states, read-only unless it is not to be locked. Files can be written into one folder, if
    any. Raises WarehouseError.
    """
    folder = place.fetched(paths(state.files))
    verify(folder, place.called, state.files)
    database = in_memory()
    try:
        columns = columns_of_tables(database)
        for table in SMALL:
            fill(database, state, table, folder, columns)
        for table in LARGE:
            if table not in SMALL and state.of(table):
                database.leave_in_files(table, rows_of(state, table, folder, columns))
        keep_fingerprints(database, state)
        # Otherwise each query reads the ends of all files again.
        database.run(Sql("set parquet_metadata_cache = true"))
        database.confine(folders=[folder, *([writing] if writing else [])])
        if lock and writing is None:
            database.lock()
    except BaseException:
        database.close()
        raise
    return database


def open_as_of(place: LakePlace, as_of: AsOf) -> Database:
    """The lake in the past state that a statement asks for. Raises NoSuchStateError if there was none."""
    log = read_log(place)
    return open_state(place, log.after(number_as_of(place, log, as_of)))


def number_as_of(place: LakePlace, log: LakeLog, as_of: AsOf) -> int:
    """The number of the change that brought an import, or of the last change until a time. Raises NoSuchStateError."""
    first = log.changes[0]
    if as_of.import_id is not None:
        brought = next((change for change in log.changes if as_of.import_id in change.imports), None)
        if brought is not None and not (brought.whole and as_of.import_id < max(brought.imports)):
            return brought.number
        if brought is not None:
            begins = f"the past of {place.called} begins with import {max(brought.imports)}"
            raise NoSuchStateError(begins, ("a copy has no past, and compact can forget it",))
        known = [number for change in log.changes for number in change.imports]
        there_are = f"the imports are {min(known)} to {max(known)}" if known else "nothing has been imported"
        if len(known) == 1:
            there_are = f"the only import is {known[0]}"
        raise NoSuchStateError(f"{place.called} never had import {as_of.import_id}", (there_are,))
    before = [change.number for change in log.changes if as_of.until is None or change.at <= as_of.until]
    if not before:
        raise NoSuchStateError(f"the past of {place.called} begins at {first.at:%Y-%m-%d %H:%M:%S} UTC")
    return before[-1]


def columns_of_tables(database: Database) -> TableColumns:
    """The columns of the tables of a warehouse."""
    columns: dict[str, list[tuple[str, str]]] = {}
    of_tables = "select table_name, column_name, data_type from duckdb_columns() where not internal and schema_name = "
    for table, column, kind in database.rows(Sql(of_tables + "'main' order by table_name, column_index")):
        columns.setdefault(str(table), []).append((str(column), str(kind)))
    return columns


def rows_of(state: LakeState, table: str, folder: Path, columns: TableColumns) -> Sql:
    """The query for the rows of a table, with the types that a warehouse has."""
    files = parquet(folder / file.path for file in state.of(table))
    return "select " + _cells(columns[table], _READ) + " from " + files


def written(table: str, columns: TableColumns, rows: Sql) -> Sql:
    """The query for rows of a table of a warehouse, with the types that every reader of Delta tables knows."""
    return "select " + _cells(columns[table], _WRITTEN) + " from (" + rows + ")"


def fill(database: Database, state: LakeState, table: str, folder: Path, columns: TableColumns) -> None:
    """Copies the rows of a table of a lake into that table of a warehouse."""
    database.run("delete from main." + name(table))
    if state.of(table):
        database.run("insert into main." + name(table) + " " + rows_of(state, table, folder, columns))


def keep_fingerprints(database: Database, state: LakeState) -> None:
    """Writes the fingerprints of a state into the table of a warehouse."""
    database.run(Sql("delete from fingerprint"))
    rows: list[Sql] = []
    for part, (many, digest) in state.fingerprints.items():
        table, _, number = part.partition("/")
        rows.append(values((table, int(number), many, digest)))
    if rows:
        database.run("insert into fingerprint values " + join(", ", rows))


_READ = {"TIMESTAMP": ("make_timestamp(epoch_us(", "))"), "ENUM": ("", "::label")}
_WRITTEN = {"TIMESTAMP": ("make_timestamptz(epoch_us(", "))"), "ENUM": ("", "::varchar")}
"""What stands before and behind a column of some types, to convert it."""


def _cells(columns: Iterable[tuple[str, str]], converting: Mapping[str, tuple[str, str]]) -> Sql:
    """The columns of a query. Those of some types are converted."""
    cells = []
    for column, kind in columns:
        before, behind = converting.get(kind.partition("(")[0], ("", ""))
        cells.append(before + name(column) + behind + " as " + name(column))
    return join(", ", cells)
