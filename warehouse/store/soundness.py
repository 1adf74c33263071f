"""Is a warehouse sound: what points to nothing, what stands twice, where does the ledger not agree. Changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.store import fingerprints
from warehouse.store.database import Database
from warehouse.store.replacement import unbalanced_imports
from warehouse.store.sql import join, name
from warehouse.tasks.records import FACT_TABLES


@dataclass(frozen=True, slots=True)
class _Uniqueness:
    """Columns of a table no two rows of which agree in all."""

    table: str
    columns: tuple[str, ...]


_UNIQUE = (
    _Uniqueness("meta", ("key",)),
    _Uniqueness("import", ("id",)),
    *(_Uniqueness(table, ("id",)) for table in ("evaluation", "test_set", "system", "document", "unit", "annotator")),
    *(_Uniqueness(table, ("name",)) for table in ("evaluation", "system", "unit", "annotator")),
    _Uniqueness("test_set", ("evaluation_id", "name")),
    _Uniqueness("document", ("test_set_id", "name")),
    _Uniqueness("score", ("test_set_id", "system_id", "document_id", "unit_id")),
    _Uniqueness("decision", ("test_set_id", "system_id", "document_id")),
    _Uniqueness("key_label", ("test_set_id", "document_id", "annotator_id")),
    _Uniqueness("value", ("test_set_id", "system_id", "document_id", "measure")),
    _Uniqueness("published", ("test_set_id", "system_id", "task", "measure")),
    _Uniqueness("system_attribute", ("system_id", "name")),
    _Uniqueness("document_attribute", ("document_id", "name")),
)

_POINTERS = {
    "test_set": ("evaluation",),
    "document": ("test_set",),
    "score": ("test_set", "system", "document", "unit"),
    "decision": ("test_set", "system", "document"),
    "key_label": ("test_set", "document", "annotator"),
    "value": ("test_set", "system", "document"),
    "published": ("test_set", "system"),
    "system_attribute": ("system",),
    "document_attribute": ("document",),
}
"""By table, the tables that its rows point to."""


def check(database: Database) -> tuple[str, ...]:
    """What is wrong with a warehouse, a sentence each; nothing where it is sound. Every row is read, and with it every
    block, whose checksum the database compares: raises WarehouseError where one is wrong.
    """
    return (
        *fingerprints.wrong(database),
        *_repetitions(database),
        *_dangling(database),
        *_misplaced(database),
        *_ledger(database),
    )


def _repetitions(database: Database) -> list[str]:
    counts = (
        "(select count(*) from (select 1 from "
        + name(unique.table)
        + " group by "
        + join(", ", map(name, unique.columns))
        + " having count(*) > 1))"
        for unique in _UNIQUE
    )
    [found] = database.rows("select " + join(", ", counts))
    return [
        f"{unique.table}: keys ({', '.join(unique.columns)}) that stand more than once: {count}"
        for unique, count in zip(_UNIQUE, found, strict=True)
        if count
    ]


def _dangling(database: Database) -> list[str]:
    pointers = [(table, pointed) for table, targets in _POINTERS.items() for pointed in targets]
    pointers += [(table, "import") for table in FACT_TABLES]
    counts = (
        "(select count(*) from " + name(table) + " a anti join " + name(pointed) + f" b on b.id = a.{pointed}_id)"
        for table, pointed in pointers
    )
    [found] = database.rows("select " + join(", ", counts))
    return [
        f"{table}: rows that point to no {pointed}: {count}"
        for (table, pointed), count in zip(pointers, found, strict=True)
        if count
    ]


def _misplaced(database: Database) -> list[str]:
    tables = [table for table, targets in _POINTERS.items() if {"test_set", "document"} <= set(targets)]
    counts = (
        "(select count(*) from " + name(table) + " a join document b on b.id = a.document_id "
        "where b.test_set_id <> a.test_set_id)"
        for table in tables
    )
    [found] = database.rows("select " + join(", ", counts))
    return [
        f"{table}: rows with a document of another test set: {count}"
        for table, count in zip(tables, found, strict=True)
        if count
    ]


def _ledger(database: Database) -> list[str]:
    return [
        f"import {number} brought {rows} rows, and {found} are there"
        for number, rows, found in unbalanced_imports(database)
    ]
