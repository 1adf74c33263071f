"""A lake: a warehouse as a folder of Parquet files, for engines that read facts by the partition. Writing one, and
opening its names. It has no texts.

The facts lie in a folder a table, parted by test set; everything else is one file a table. `outline` has a row for each
combination of test set, system, measure and import there is in a fact table, which is all that looking up names asks of
facts, so that nobody goes through them for it. No query is run over the facts here.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warehouse.faults import DataError, Fault, WarehouseError
from warehouse.lake.partitions import Fingerprint, Fingerprints, differences, fingerprints, seal
from warehouse.publishing import folder_at
from warehouse.store.database import Database, in_memory
from warehouse.store.schema import SCHEMA_VERSION
from warehouse.store.sql import Sql, name
from warehouse.tasks.records import TEXT_FORMS
from warehouse.version import __version__

MANIFEST = "manifest.json"

AGAIN = "export the lake again"

FACTS = ("score", "counted", "decision", "value", "published", "key_label", "ranking", "judgment")
"""The tables that are parted by test set."""

TABLES = (
    "import", "evaluation", "test_set", "observed", "system", "document", "unit", "annotator", "item",
    "system_attribute", "document_attribute", "run", "failure", "direction", "definition",
)  # fmt: skip
"""The tables that are one file each, in `tables`."""

OUTLINED = {
    "score": "least(unit_id, 1) as unit_id, 0 as possible, 0 as actual, 0 as correct, 0 as partial",
    "counted": "least(unit_id, 1) as unit_id, count, 0 as number",
    "decision": "false as decision",
    "value": "measure, 0 as value",
}
"""The tables that are too large to be opened with the names, and what their outline has beside test set, system and
import; the numbers in it mean nothing."""


NAMES = ("tables", "outline", *(table for table in FACTS if table not in OUTLINED))
"""The folders that are read when a lake is opened; the others are read by whoever sums facts."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a lake says of itself: by which version it was made, of which schema, how many rows each table has, and what
    its files are.
    """

    version: str
    schema_version: int
    rows: dict[str, int]
    files: Fingerprints
    left_out: int = 0
    """How many texts were not written; nothing that is stored says it."""


def export_lake(database: Database, folder: Path, *, force: bool = False) -> Manifest:
    """Writes a warehouse as a lake, which is there, at `folder`, if all goes well, and else not.

    Raises DataError if something is there that may not be written over, or if it cannot be written: with `force` only
    a lake is.
    """
    folder = folder.absolute()
    _check(folder, force)
    try:
        with folder_at(folder) as draft:
            return _written(database, draft)
    except OSError as error:
        raise _refusal(folder, f"cannot be written: {error.strerror or error}") from None


def _check(folder: Path, force: bool) -> None:
    if not folder.absolute().parent.is_dir():
        raise _refusal(folder, f"there is no folder {folder.absolute().parent}")
    if folder.exists() or folder.is_symlink():
        if not force:
            raise _refusal(folder, "already exists; --force overwrites a lake")
        if folder.is_symlink() or not (folder / MANIFEST).is_file():
            raise _refusal(folder, "is not a lake, and --force overwrites nothing else")


def _written(database: Database, folder: Path) -> Manifest:
    for inside in ("tables", "outline", *FACTS):
        (folder / inside).mkdir()
    rows = {table: _count(database, table) for table in (*FACTS, *TABLES)}
    for table in FACTS:
        # Other programs know no enumerated types.
        columns = "* replace (label::varchar as label)" if table == "key_label" else "*"
        # A row of no partition would make a folder of its own.
        if rows[table]:
            database.write_parted(f"select {columns} from " + name(table), folder / table, "test_set_id")
    for table in TABLES:
        database.write("select * from " + name(table), folder / "tables" / f"{table}.parquet")
    for table, columns in OUTLINED.items():
        outline = f"select distinct test_set_id, system_id, 0 as document_id, import_id, {columns} from " + name(table)
        database.write(outline, folder / "outline" / f"{table}.parquet")
    files = fingerprints(folder, (*NAMES, *OUTLINED))
    about: dict[str, Any] = {"version": __version__, "schema_version": SCHEMA_VERSION, "rows": rows}
    about["files"] = {path: asdict(written) for path, written in files.items()}
    about["seal"] = seal(about)
    (folder / MANIFEST).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    texts = sum(_count(database, table, " where piece = 1") for table in (form.table for form in TEXT_FORMS))
    return Manifest(__version__, SCHEMA_VERSION, rows, files, texts)


def read_manifest(folder: Path) -> Manifest:
    """What a lake says of itself. Raises WarehouseError if `folder` is no lake of the present schema."""
    if not folder.is_dir():
        raise WarehouseError(f"there is no folder {folder}", ("evalhouse export-lake FOLDER makes one",))
    try:
        return parsed(str(folder), (folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise no_lake(str(folder)) from None


def no_lake(called: str) -> WarehouseError:
    """What is said of a folder that is none."""
    return WarehouseError(f"{called} is not a lake", ("evalhouse export-lake FOLDER makes one",))


def parsed(called: str, text: str) -> Manifest:
    """The manifest of the lake that is so called, from its text. Raises WarehouseError."""
    try:
        about = json.loads(text)
        rows = {str(table): int(count) for table, count in about["rows"].items()}
        version, schema_version = str(about["version"]), int(about["schema_version"])
        files = {path: Fingerprint(int(of["bytes"]), str(of["sha256"])) for path, of in about.get("files", {}).items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise WarehouseError(f"{called}/{MANIFEST} is damaged", (AGAIN,)) from None
    if schema_version != SCHEMA_VERSION:
        raise WarehouseError(
            f"{called} has schema version {schema_version}, and this evalhouse reads version {SCHEMA_VERSION}", (AGAIN,)
        )
    if about.get("seal") != seal(about):
        raise WarehouseError(f"{called}/{MANIFEST} is not what was written", (AGAIN,))
    return Manifest(version, schema_version, rows, files)


def check_facts(folder: Path, manifest: Manifest) -> None:
    """Compares the partitions of facts on this machine with what was written. Raises WarehouseError."""
    _refuse_differences(folder, manifest, tuple(OUTLINED), str(folder))


def check(folder: Path) -> tuple[str, ...]:
    """What is wrong with a lake on this machine, a sentence each. Raises WarehouseError where it is none."""
    manifest = read_manifest(folder)
    wrong = tuple(differences(folder, manifest.files, (*NAMES, *OUTLINED)))
    if not wrong:
        open_names(folder, manifest, str(folder)).close()
    return wrong


def _refuse_differences(folder: Path, manifest: Manifest, parts: Collection[str], called: str) -> None:
    wrong = list(differences(folder, manifest.files, parts))
    if wrong:
        more = f", and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        raise WarehouseError(f"{called} is damaged: {wrong[0]}{more}", (AGAIN, "evalhouse check says more"))


def open_names(folder: Path, manifest: Manifest, called: str) -> Database:
    """A warehouse in memory with all of a lake but its large facts, of which it has the outline.

    Raises WarehouseError if a file is not what was written, or does not have the rows it should.
    """
    _refuse_differences(folder, manifest, NAMES, called)
    database = in_memory()
    try:
        for table in ("evaluation", "unit", "annotator"):
            database.run("delete from " + name(table))
        for table in TABLES:
            database.run(_filling(table, str(folder / "tables" / f"{table}.parquet")))
        for table in OUTLINED:
            database.run(_filling(table, str(folder / "outline" / f"{table}.parquet")))
        small = [table for table in FACTS if table not in OUTLINED]
        for table in small:
            # A table without rows has no files.
            if manifest.rows.get(table):
                database.run(_filling(table, str(folder / table / "*" / "*.parquet")))
        for table in (*TABLES, *small):
            rows = _count(database, table)
            if rows != manifest.rows.get(table):
                raise WarehouseError(f"{called} has {rows} rows of {table} instead of {manifest.rows.get(table)}")
    except WarehouseError as error:
        database.close()
        raise WarehouseError(f"{called} is damaged: {error.message}", (AGAIN,)) from None
    except BaseException:
        database.close()
        raise
    return database


def _count(database: Database, table: str, where: str = "") -> int:
    return int(database.rows("select count(*) from " + name(table) + where)[0][0])


def _filling(table: str, files: str) -> Sql:
    rows = Sql(" by name select * from read_parquet(?, hive_partitioning = true)", (files,))
    return "insert into " + name(table) + rows


def _refusal(file: Path, why: str) -> DataError:
    return DataError((Fault(str(file), None, why),))
