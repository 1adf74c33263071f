"""A working copy of a lake: a database file in which a load or another change is made as in a warehouse, and the change
of the lake that follows from it.

The names are copied into it. The facts stay in their files; new facts are the only rows of its own tables of facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field

from warehouse.lake.data_files import DataFile, paths, write_file
from warehouse.lake.log import LakeChange, LakeState, now
from warehouse.lake.place import LakePlace
from warehouse.lake.states import TABLES, TableColumns, columns_of_tables, fill, keep_fingerprints, rows_of, written
from warehouse.publishing import temporary
from warehouse.store import fingerprints
from warehouse.store.connecting import open_new, open_to_load
from warehouse.store.database import Database
from warehouse.store.schema import statements
from warehouse.store.sql import Sql, name, parquet, values
from warehouse.tasks.records import FACT_TABLES

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
    folder = place.fetched(paths(base.files))
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
            added.append(write_file(database, table, written(table, working.columns, rows), drafts))
    for table in FACT_TABLES:
        if working.count("from " + here(table)):
            added.append(write_file(database, table, written(table, working.columns, "from " + here(table)), drafts))
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
    """The files with rows of imports that were forgotten, each with the rows that are left; None if none are."""
    for file in working.base.files:
        # Declarations belong to imports, too, but their table was compared as a whole.
        if file.table in FACT_TABLES and forgotten & {*file.imports}:
            rest = "from " + parquet([working.folder / file.path]) + " where import_id not in "
            yield file, rest + values(sorted(forgotten)) if {*file.imports} - forgotten else None
