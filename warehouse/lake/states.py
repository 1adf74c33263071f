"""Opens a lake to be queried: a database in memory that has its names and reads its facts from the files.

The database looks like a warehouse, so every statement works on it unchanged. It sees the lake as it was after one
change, and not what others add later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.kinds.records import FACT_TABLES
from evalhouse.warehouse.lake import delta
from evalhouse.warehouse.lake.delta import DataFile, paths, verify, write_file
from evalhouse.warehouse.lake.log import LakeChange, LakeLog, LakeState, now, read_log
from evalhouse.warehouse.lake.place import LakePlace
from evalhouse.warehouse.plans.past import AsOf, NoSuchStateError
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.store import fingerprints
from evalhouse.warehouse.store.connecting import in_memory, open_new, open_to_load
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.schema import statements
from evalhouse.warehouse.store.sql import Sql, join, name, parquet, values

# === states of a lake =================================================================================================

LARGE = (*FACT_TABLES, "document", "item")
"""The tables that are read from their files by each query. The others are small and are kept in memory."""

SMALL = (
    *("meta", "import", "evaluation", "test_set", "observed", "column_role", "test_set_group"),
    *("system", "unit", "annotator"),
    *("direction", "share", "definition", "run", "failure", "system_attribute"),
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
    folder = place.fetch_files(paths(state.files))
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


def delta_rows(table: str, columns: TableColumns, rows: Sql) -> Sql:
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


# === settling Delta tables ============================================================================================
# Gives the Delta tables of a lake what the table of changes says, for programs that read them elsewhere. evalhouse
# itself reads only the table of changes, which names the files of all others. If a process dies after it added a
# change, the next one that changes the lake settles both.

TRIES = 100
"""How often a table is tried while others change it."""


def settle(place: LakePlace, log: LakeLog) -> None:
    """Gives the Delta tables the changes that they lack. Raises WarehouseError.

    Each table has a last change that concerns it. The table whose last change is earliest is settled first. So if a
    table is up to date, all tables with an earlier last change are, too, whenever a process died.
    """
    lacking: list[tuple[str, int]] = []
    wrong: list[WarehouseError] = []
    newest = log.changes[-1].number
    for number, tables in _last_concerned(log):
        behind = [table for table in tables if _is_behind(place, table, number, wrong)]
        lacking += ((table, number) for table in behind)
        if not behind and not wrong and number != newest:
            break
    state = log.last
    for table, number in reversed(lacking):
        _settle(place, table, state.of(table), number)
    if wrong:
        raise wrong[0]


def _is_behind(place: LakePlace, table: str, change: int, wrong: list[WarehouseError]) -> bool:
    """Whether a Delta table lacks a change. A table that cannot be opened is wrong, and does not stop the others."""
    try:
        return delta.last_change_of(place, table, delta.open_table(place, table)) < change
    except WarehouseError as error:
        wrong.append(error)
        return False


def _last_concerned(log: LakeLog) -> Iterator[tuple[int, list[str]]]:
    """The numbers of changes from the last one back, each with the tables that no later change concerns."""
    left = set(TABLES)
    for change in reversed(log.changes):
        tables = left if change.whole else left & _tables_of(change)
        if tables:
            yield change.number, sorted(tables)
        left = left - tables
        if not left:
            break


def _settle(place: LakePlace, table: str, files: Iterable[DataFile], change: int) -> None:
    """Gives a Delta table the files that it has since a change."""
    for _ in range(TRIES):
        opened = delta.open_table(place, table)
        if delta.last_change_of(place, table, opened) >= change:
            return  # another process was doing the same
        had = {*delta.names_in(place, opened)}
        has = {file.name: file for file in files}
        added = [file for name, file in has.items() if name not in had]
        with suppress(delta.Conflict):
            delta.add_version(place, opened, added, sorted(had - has.keys()), change=change)
            return
    raise WarehouseError(f"{place.called}: others changed the table {table} {TRIES} times meanwhile")


def last_change(log: LakeLog, table: str) -> int:
    """The number of the last change that concerns a table; 0 if none does."""
    return next((number for number, tables in _last_concerned(log) if table in tables), 0)


def unsettled_tables(place: LakePlace, log: LakeLog, tables: Iterable[str] = TABLES) -> Iterable[str]:
    """The tables that lack a change, or have one that is not in the log."""
    for table in tables:
        opened = delta.open_table(place, table)
        wanted = {file.name for file in log.last.of(table)}
        if {*delta.names_in(place, opened)} != wanted:
            yield table


def _tables_of(change: LakeChange) -> set[str]:
    """The tables whose files a change added or removed."""
    return {file.table for file in change.added} | {path.partition("/")[0] for path in change.removed}


# === working copies ===================================================================================================
# A database file in which a load or another change is made as in a warehouse, and the change of the lake that follows
# from it. The names are copied into it. The facts stay in their files; new facts are the only rows of its own tables of
# facts.

NAMES = tuple(table for table in TABLES if table not in FACT_TABLES)
"""The tables that are copied."""

GROWING = ("document", "item")
"""The tables of names that a load only adds to. They are too large to be compared row by row each time."""


class Working(Struct):
    """A working copy of one state of a lake, `base`; `take_over` gives it another one. The files of the lake can be
    read in `folder`, and new ones are written to `drafts`. `last` has the last id in the base of each growing table.
    """

    database: Database
    base: LakeState
    folder: Path
    drafts: Path
    columns: TableColumns
    last: dict[str, int] = field(default_factory=dict)

    def count(self, rows: Sql) -> int:
        """How many rows a query has."""
        return int(self.database.rows("select count(*) from (" + rows + ")")[0][0])

    def ids(self, rows: Sql) -> set[int]:
        """The ids in some rows."""
        return {int(number) for (number,) in self.database.rows("select id from (" + rows + ")")}

    def new_facts(self) -> int:
        """How many facts were added to the working copy."""
        return sum(self.count("from " + here(table)) for table in FACT_TABLES)

    def take_over(self, base: LakeState) -> None:
        """Copies the names of a state into the working copy, in place of what it has."""
        self.base = base
        self.database.imports_given = base.imports_given
        for table in NAMES:
            fill(self.database, base, table, self.folder, self.columns)
            if table not in GROWING:
                self.database.run("create or replace table " + before(table) + " as from " + here(table))
        keep_fingerprints(self.database, base)
        for table in GROWING:
            [(last,)] = self.database.rows("select coalesce(max(id), 0) from " + here(table))
            self.last[table] = int(last)


@contextmanager
def working_copy(
    place: LakePlace, base: LakeState, scratch: Path, files: Iterable[Path] = (), *, keep: bool = True
) -> Iterator[Working]:
    """A working copy of a state in a new file. It can read the named files. If it is not to be kept, nothing is written
    into the lake.
    """
    file = scratch / "working.duckdb"
    file.unlink(missing_ok=True)
    with open_new(file) as database:
        database.run(Sql(statements(comments=False)))
    folder = place.fetch_files(paths(base.files))
    with place.drafts() if keep else temporary() as drafts, open_to_load(file, files, [folder, drafts]) as database:
        working = Working(database, base, folder, drafts, columns_of_tables(database))
        database.run(Sql("create schema before"))
        working.take_over(base)
        for table in FACT_TABLES:
            if base.of(table):
                database.hold_in_files(table, rows_of(base, table, folder, working.columns))
        yield working


def here(table: str) -> Sql:
    """A table of the working copy, without the rows that are in files."""
    return "main." + name(table)


def before(table: str) -> Sql:
    """A table of names as it was in the base. Growing tables have no such copy."""
    return "before." + name(table)


def change_of(working: Working, kind: str) -> LakeChange:
    """The change that leads from the base to what the working copy has now. Its files are written to the drafts."""
    database, base, drafts = working.database, working.base, working.drafts
    at = now()
    _date_imports(working, at)
    listed = database.rows(Sql("select table_name, part, rows, digest from main.fingerprint"))
    stored_now = {f"{table}/{part}": (int(rows), str(digest)) for table, part, rows, digest in listed}
    different: dict[str, tuple[int, str] | None] = dict.fromkeys(base.fingerprints.keys() - stored_now.keys())
    different |= {part: of for part, of in stored_now.items() if base.fingerprints.get(part) != of}
    added: list[DataFile] = []
    removed: list[str] = []
    for table in sorted({part.partition("/")[0] for part in different} & {*NAMES}):
        rows, whole = _more_names(working, table)
        if whole:
            removed += paths(base.of(table))
        if working.count(rows):
            added.append(write_file(database, table, delta_rows(table, working.columns, rows), drafts))
    for table in FACT_TABLES:
        if working.count("from " + here(table)):
            added.append(write_file(database, table, delta_rows(table, working.columns, "from " + here(table)), drafts))
    imports, imports_before = working.ids("from " + here("import")), working.ids("from " + before("import"))
    for file, left in _without(working, imports_before - imports):
        removed.append(file.path)
        if left is not None:
            added.append(write_file(database, file.table, left, drafts))
    brought = tuple(sorted(imports - imports_before))
    return LakeChange(base.number + 1, at, kind, brought, tuple(added), tuple(removed), different)


def _date_imports(working: Working, at: datetime) -> None:
    """Gives new imports the time of the change, so that `as of` a time and the times that users see agree."""
    brought = working.ids("from " + here("import")) - working.ids("from " + before("import"))
    if brought:
        dated = "update main.import set imported_at = ?::timestamp where id in "
        working.database.run(Sql(dated, (at.strftime("%Y-%m-%d %H:%M:%S"),)) + values(sorted(brought)))
        fingerprints.keep(working.database, (), {})


def _more_names(working: Working, table: str) -> tuple[Sql, bool]:
    """The rows of a table of names that have to be written, and whether they replace all files of the table. If rows
    were only added, only these are written.
    """
    if table in GROWING:
        known = working.count("from " + here(table) + Sql(f" where id <= {working.last[table]}"))
        if known == sum(file.rows for file in working.base.of(table)):
            return "from " + here(table) + Sql(f" where id > {working.last[table]}"), False
    elif not working.count("from " + before(table) + " except from " + here(table)):
        return "from " + here(table) + " except from " + before(table), False
    return "from " + here(table), True


def _without(working: Working, forgotten: set[int]) -> Iterator[tuple[DataFile, Sql | None]]:
    """The files with rows that were removed, or of imports that were forgotten, each with the rows that are left; None
    if none are.
    """
    for file in working.base.files:
        # Declarations belong to imports, too, but their table was compared as a whole.
        if file.table not in FACT_TABLES:
            continue
        rows = "from " + parquet([working.folder / file.path])
        gone = [f"({condition}) is true" for condition in working.database.removed.get(file.table, ())]
        if forgotten & {*file.imports}:
            gone.append("import_id in (" + ", ".join(map(str, sorted(forgotten))) + ")")
        if gone and (left := working.count(rows + f" where not ({' or '.join(gone)})")) < file.rows:
            yield file, rows + f" where not ({' or '.join(gone)})" if left else None
