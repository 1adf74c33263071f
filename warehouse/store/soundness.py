"""Checks whether a warehouse is sound: references to missing rows, duplicate rows, and counts that differ from the
ledger. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.store import fingerprints
from warehouse.store.database import Database
from warehouse.store.replacement import unbalanced_imports
from warehouse.store.sql import Sql, join, name
from warehouse.tasks.records import FACT_TABLES, FORMS, POINTERS, TEXT_FORMS

_NAMED_ALONE = ("evaluation", "system", "unit", "annotator", "item")
"""The tables of names in which each name occurs only once."""

_UNIQUE = (
    ("meta", ("key",)),
    *((table, ("id",)) for table in ("import", "test_set", "document", *_NAMED_ALONE)),
    *((table, ("name",)) for table in _NAMED_ALONE),
    ("test_set", ("evaluation_id", "name")),
    ("observed", ("test_set_id", "task", "by_setting", "import_id")),
    ("document", ("test_set_id", "name")),
    ("direction", ("measure", "import_id")),
    *((form.table, form.key_columns) for form in (*FORMS, *TEXT_FORMS)),
)
"""Tables with the columns that identify a row: no two rows may agree in all of them."""


def check(database: Database) -> tuple[str, ...]:
    """What is wrong with a warehouse, one sentence each; empty if it is sound. Every row is read, and with it every
    block, whose checksum the database verifies. Raises WarehouseError if a checksum is wrong.
    """
    return (
        *fingerprints.wrong(database),
        *_repetitions(database),
        *_dangling(database),
        *_misplaced(database),
        *(
            f"import {n} brought {rows:,} rows, but {present:,} are there"
            for n, rows, present in unbalanced_imports(database)
        ),
    )


def _repetitions(database: Database) -> list[str]:
    keys = [(table, ", ".join(columns)) for table, columns in _UNIQUE]
    return _counted(
        database,
        {
            f"{table}: keys ({columns}) that stand more than once": "(select 1 from "
            + name(table)
            + f" group by {columns} having count(*) > 1)"
            for table, columns in keys
        },
    )


def _dangling(database: Database) -> list[str]:
    pointers = [(table, pointed) for table, targets in POINTERS.items() for pointed in targets]
    pointers += [(table, "import") for table in (*FACT_TABLES, "observed", "direction")]
    pointers.append(("observed", "test_set"))
    return _counted(
        database,
        {
            f"{table}: rows that point to no {pointed}": Sql(
                f"{table} a anti join {pointed} b on b.id = a.{pointed}_id"
            )
            for table, pointed in pointers
        },
    )


def _misplaced(database: Database) -> list[str]:
    tables = [table for table, targets in POINTERS.items() if {"test_set", "document"} <= set(targets)]
    return _counted(
        database,
        {
            f"{table}: rows with a document of another test set": name(table)
            + " a join document b on b.id = a.document_id where b.test_set_id <> a.test_set_id"
            for table in tables
        },
    )


def _counted(database: Database, rows: Mapping[str, Sql]) -> list[str]:
    """The sentences about rows that should not exist, with their number, for those that do."""
    counted = ("(select count(*) from " + wrong + ")" for wrong in rows.values())
    [counts] = database.rows("select " + join(", ", counted))
    return [f"{sentence}: {count:,}" for sentence, count in zip(rows, counts, strict=True) if count]
