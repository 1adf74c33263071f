"""Loading: from a file through a reader into the warehouse, all or nothing, with one row of provenance; and its
undoing.

What a file looks like is the business of the readers, what may be stored that of `judging`, and how a warehouse is kept
safe on disk that of `database`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from warehouse.database import Database
from warehouse.errors import DataError, Fault, WarehouseError
from warehouse.facts import make_facts, number_names, store_facts
from warehouse.judging import check_cells, leave_only_new
from warehouse.readers import READERS
from warehouse.readers.kinds import shown
from warehouse.readers.staging import Staging
from warehouse.records import FACT_TABLES
from warehouse.sql import Sql, join, name, values
from warehouse.version import __version__

_DROP_STAGING = Sql("; ".join(f"drop table if exists temp.{table}" for table in ("staged", "placed", "fact")))

_POINTERS = {
    "document": ("score", "decision", "key_label", "value", "document_attribute"),
    "system": ("score", "decision", "value", "published", "system_attribute"),
    "unit": ("score",),
    "annotator": ("key_label",),
    "test_set": ("score", "decision", "key_label", "value", "published", "document"),
    "evaluation": ("test_set",),
}
"""By table of names, the tables that point to it; documents come before the test sets that they point to."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load did.

    `rows_read` and `rows_new` count facts: a row of the file, or an attribute where columns are attributes.
    `import_id` is None where nothing was new, and for a dry run.
    """

    source: str
    reader: str
    import_id: int | None
    rows_read: int
    rows_new: int
    notes: tuple[str, ...]


class _DryRunOverError(Exception):
    """Ends the transaction of a dry run, so that nothing is stored."""


def load(
    database: Database,
    source: Path,
    reader: str,
    *,
    fields: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    simulated: bool = False,
    dry_run: bool = False,
    called: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Loaded:
    """Loads one file, all or nothing.

    The import is known by the path as it was given, or as `called`. `fields` gives fields one value for all rows,
    `columns` names the columns that fields are taken from; `progress` is called with the share that is done, from 0 to
    1. Facts that are stored already are not stored again. Raises DataError, with up to 20 faults, if a row is wrong or
    contradicts another or a stored one, and WarehouseError if it cannot be stored.
    """
    if reader not in READERS:
        there_are = f"there is no reader {shown(reader)}; there are {', '.join(READERS)}"
        raise DataError((Fault(str(source), None, there_are),))
    tell = progress or (lambda share: None)
    staging = Staging(database, source, READERS[reader].form, dict(fields or {}), dict(columns or {}))
    tell(0.0)
    try:
        # Staging comes before the transaction, in which row ids would not be the places of the rows.
        staged = READERS[reader].stage(staging)
        tell(0.5)
        notes = [*staged.notes, *check_cells(staging, staged)]
        tell(0.6)
        import_id = None
        with contextlib.suppress(_DryRunOverError), database.transaction():
            notes += number_names(staging, staged)
            make_facts(staging, staged)
            tell(0.7)
            rows_read, rows_new, more_notes = leave_only_new(staging, staged)
            tell(0.8)
            notes += more_notes
            if dry_run:
                raise _DryRunOverError
            if rows_new:
                import_id = _record_import(staging, reader, called or str(source), rows_new, simulated)
                store_facts(staging, import_id)
    finally:
        with contextlib.suppress(WarehouseError):  # where the connection broke, that is what is to be told
            database.run(_DROP_STAGING)
    tell(1.0)
    return Loaded(called or str(source), reader, import_id, rows_read, rows_new, tuple(notes))


def forget(database: Database, import_id: int) -> int:
    """Undoes one load: removes its facts and the names that nothing else uses. Returns how many facts there were.

    Facts of a later file that were stored already are facts of the first import, and go with it. Raises DataError if
    there is no such import.
    """
    rows = dict(database.rows(Sql("select id, rows from import order by id")))
    if import_id not in rows:
        there_are = f"there are {', '.join(map(str, rows))}" if rows else "there are none"
        raise DataError((Fault(f"import {import_id}", None, f"there is no such import; {there_are}"),))
    with database.transaction():
        for table in FACT_TABLES:
            database.run("delete from " + name(table) + Sql(" where import_id = ?", (import_id,)))
        database.run(Sql("delete from import where id = ?", (import_id,)))
        _prune(database)
    return int(rows[import_id])


def _prune(database: Database) -> None:
    """Removes the names that nothing points to. Row 0 of a table is the name that is not given, and stays."""
    for table, pointing in _POINTERS.items():
        used = join(" union all ", (f"select {table}_id from " + name(each) for each in pointing))
        database.run("delete from " + name(table) + " where id <> 0 and id not in (" + used + ")")


def _record_import(staging: Staging, reader: str, called: str, rows: int, simulated: bool) -> int:
    """Writes the row of provenance and returns its number."""
    options = {"columns": staging.columns, "fields": staging.fields}
    with staging.source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    [(number,)] = staging.database.rows(Sql("select coalesce(max(id), 0) + 1 from import"))
    row = (
        int(number),
        called,
        digest,
        reader,
        json.dumps(options, sort_keys=True, ensure_ascii=False, separators=(",", ":")),
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
        rows,
        __version__,
        simulated,
    )
    staging.database.run("insert into import values " + values(row))
    return int(number)
