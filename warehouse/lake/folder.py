"""A lake: a warehouse as a folder of Parquet files, for engines that read facts by partition. This module writes a lake
and opens its names. A lake has no texts.

Each fact table has its own folder, partitioned by test set; every other table is one file. `outline` has one row for
each combination of test set, system, measure and import in a fact table. Looking up names needs no more than that, so
it never has to read the facts. No query on facts runs here.
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
"""The tables that are partitioned by test set."""

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
"""The tables that are too large to be opened with the names, and the columns of their outline besides test set, system
and import. The numbers in an outline have no meaning.
"""


NAMES = ("tables", "outline", *(table for table in FACTS if table not in OUTLINED))
"""The folders that are read when a lake is opened. The others are read when facts are summed."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a lake records about itself: the version that made it, its schema, the number of rows of each table, and its
    files.
    """

    version: str
    schema_version: int
    rows: dict[str, int]
    files: Fingerprints
    left_out: int = 0
    """The number of texts that were not written. It is not stored in the lake."""


def export_lake(database: Database, folder: Path, *, force: bool = False) -> Manifest:
    """Writes a warehouse as a lake. The lake appears at `folder` only if everything succeeds.

    Raises DataError if it cannot be written, or if something exists that must not be overwritten. With `force`, only an
    existing lake is overwritten.
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
        # Other programs do not know enumerated types.
        columns = "* replace (label::varchar as label)" if table == "key_label" else "*"
        # Rows without a partition would get a folder of their own.
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
    """The manifest of a lake. Raises WarehouseError if `folder` is not a lake of the current schema."""
    if not folder.is_dir():
        raise WarehouseError(f"there is no folder {folder}", ("evalhouse export-lake FOLDER makes one",))
    try:
        return parsed(str(folder), (folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise no_lake(str(folder)) from None


def no_lake(called: str) -> WarehouseError:
    """The error for a folder that is not a lake."""
    return WarehouseError(f"{called} is not a lake", ("evalhouse export-lake FOLDER makes one",))


def parsed(called: str, text: str) -> Manifest:
    """The manifest of the lake with this name, parsed from its text. Raises WarehouseError."""
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
    """Compares the partitions of facts on this machine with the manifest. Raises WarehouseError."""
    _refuse_differences(folder, manifest, tuple(OUTLINED), str(folder))


def check(folder: Path) -> tuple[str, ...]:
    """The faults of a lake on this machine, one sentence each. Raises WarehouseError if it is not a lake."""
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
    """A warehouse in memory with everything in a lake except its large facts, of which it has the outline.

    Raises WarehouseError if a file has changed since it was written, or does not have the expected rows.
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
