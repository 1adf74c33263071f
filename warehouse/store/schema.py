"""The schema of a warehouse: schema.sql, which creates one, and the check that a file's catalogue is the one that it
creates.

A file may come from a stranger. Its views, macros, triggers, types, indexes and defaults are programs that DuckDB would
run, so a file that has any that schema.sql does not have is refused. Until this check is done, only DuckDB's own
functions are called, by their full names, which nothing in a file can replace. What the tables mean is not known here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.store.files import RELEASE, duckdb
from evalhouse.warehouse.store.sql import Sql

SCHEMA_VERSION = 13

DATABASE = "warehouse"
"""The name under which a file is attached to a connection."""

CATALOGUES = (
    "9ec4884e71c22c97039bc2c8804c1cdb",  # as DuckDB 1.4 and 1.5 print it
    "0d2ea69444993a8cceeecf7dd0b1c1c8",  # as DuckDB 2.0 does
)
"""The digests of the catalogue that schema.sql creates. If a file has another digest, for example under another version
of DuckDB, schema.sql is run and the two catalogues are compared entry by entry.
"""

LISTS = {
    "table": "table_name, sql, null from system.main.duckdb_tables() where not internal",
    "view": "view_name, sql, null from system.main.duckdb_views() where not internal",
    "type": "type_name, logical_type, labels::varchar from system.main.duckdb_types() where not internal",
    "macro": "function_name, macro_definition, null from system.main.duckdb_functions() where not internal",
    "schema": "schema_name, null, null from system.main.duckdb_schemas() where not internal",
    "index": "index_name, sql, null from system.main.duckdb_indexes() where true",
    "sequence": "sequence_name, sql, null from system.main.duckdb_sequences() where true",
    "trigger": "trigger_name, sql, null from system.main.duckdb_triggers() where true",
    "coordinate system": "crs_name, null, null from system.main.duckdb_coordinate_systems() where true",
}
"""For each kind of entry, the query that lists names and definitions. Functions have full names, because a file may
define functions of its own.
"""

SINCE = {"coordinate system": (1, 5), "trigger": (2, 0)}
"""The release of DuckDB that began to have a kind of entry. Earlier ones cannot list it, and read no file with one."""

_FALSE_OF_1 = "CAST('f' AS BOOLEAN)"
"""How DuckDB 1 writes the default `false` into a file. DuckDB 2 writes `false`, and both print what a file has."""

_ACTS = re.compile(r"\b(?:DEFAULT|GENERATED|CHECK|COLLATE|REFERENCES)\b")
"""What makes a table do more than hold rows. Other programs may keep plain tables in a warehouse."""

_NOT_OURS = (
    "a warehouse made by evalhouse has nothing of the kind, and what someone else put in could do harm",
    "restore it from a backup, or export its rows and load them into a new warehouse",
)


EARLIER: Mapping[int, str] = {
    5: (
        "drop view published_figures; drop table published; "
        "create table published (test_set_id integer not null, system_id integer not null, task varchar not null, "
        "measure varchar not null, value decimal(18, 9) not null, resolution decimal(18, 9) not null, "
        "import_id integer not null); "
        "create view published_figures as select e.name as evaluation, t.name as test_set, s.name as system, f.task, "
        "f.measure, f.value, f.resolution, f.import_id from published f join test_set t on t.id = f.test_set_id "
        "join evaluation e on e.id = t.evaluation_id join system s on s.id = f.system_id;"
    ),
    12: (
        "drop view scores; drop table score; "
        "create table score (test_set_id integer not null, system_id integer not null, document_id integer not null, "
        "unit_id integer not null, possible integer not null check (possible >= 0), "
        "actual integer not null check (actual >= 0), correct integer not null check (correct >= 0), "
        "partial integer not null check (partial >= 0), incorrect integer check (incorrect >= 0), "
        "spurious integer check (spurious >= 0), missing integer check (missing >= 0), "
        "noncommittal integer check (noncommittal >= 0), import_id integer not null, "
        "check (correct + partial + coalesce(incorrect, 0) <= possible), "
        "check (correct + partial + coalesce(incorrect, 0) <= actual)); "
        "create view scores as select e.name as evaluation, t.name as test_set, s.name as system, "
        "d.name as document, nullif(u.name, '') as unit, f.possible, f.actual, f.correct, f.partial, f.incorrect, "
        "f.spurious, f.missing, f.noncommittal, f.import_id from score f join test_set t on t.id = f.test_set_id "
        "join evaluation e on e.id = t.evaluation_id join system s on s.id = f.system_id "
        "join document d on d.id = f.document_id join unit u on u.id = f.unit_id;"
    ),
    13: (
        "drop table observed; create table observed (test_set_id integer not null, task varchar, noun varchar, "
        "cluster varchar, by_setting boolean not null, import_id integer not null);"
    ),
}
"""For each version that changed tables or views, the SQL that creates them as the version before had them. A file of an
earlier version may have them in that form.
"""

Asking = Callable[[Sql], list[tuple[Any, ...]]]
"""A function that returns the rows of a query."""


class CatalogueEntry(NamedTuple):
    """One entry of a catalogue and its definition."""

    kind: str
    schema: str
    name: str
    definition: str

    @property
    def called(self) -> str:
        """The kind and name of the entry: view scores, macro other.sum."""
        schema = "" if self.schema in ("main", self.name) else f"{self.schema}."
        return f"{self.kind} {schema}{self.name}"


def statements(*, comments: bool) -> str:
    """The SQL that creates the tables and views of an empty warehouse, in one transaction."""
    text = files("evalhouse.warehouse.store").joinpath("schema.sql").read_text(encoding="utf-8")
    if not comments:
        # Comments are for other tools that open the file. A warehouse in memory does not need them, and they would be a
        # fifth of the cost.
        text = re.sub(r"^comment on .*\n", "", text, flags=re.MULTILINE)
    return f"begin transaction;\n{text}\ncommit;"


def catalogue(ask: Asking, of: str, kinds: Iterable[str] = LISTS) -> frozenset[CatalogueEntry]:
    """Everything that a database contains except rows, or only the entries of some kinds."""
    here = f" and database_name = '{of}'"
    # DuckDB takes less time for one query per kind than for one query over all.
    return frozenset(
        CatalogueEntry(kind, schema, name, " ".join(filter(None, defined)).replace(_FALSE_OF_1, "false"))
        for kind in kinds
        if SINCE.get(kind, RELEASE) <= RELEASE
        for schema, name, *defined in ask(Sql("select schema_name, " + LISTS[kind] + here))
    )


@cache
def catalogue_entries() -> frozenset[CatalogueEntry]:
    """The catalogue that schema.sql creates."""
    with contextlib.closing(duckdb.connect(config={"threads": 1})) as empty:
        empty.execute(statements(comments=False))
        return catalogue(lambda query: empty.execute(query.text).fetchall(), "memory", ("table", "view", "type"))


@cache
def catalogue_before(version: int) -> frozenset[CatalogueEntry]:
    """The catalogue of an earlier version, and entries that later versions added."""
    with contextlib.closing(duckdb.connect(config={"threads": 1})) as empty:
        empty.execute(statements(comments=False))
        for changed in sorted((later for later in EARLIER if later > version), reverse=True):
            empty.execute(EARLIER[changed])
        return catalogue(lambda query: empty.execute(query.text).fetchall(), "memory", ("table", "view", "type"))


def digest(entries: frozenset[CatalogueEntry]) -> str:
    """A digest that changes with any entry."""
    return sha256(repr(sorted(map(tuple, entries))).encode()).hexdigest()[:32]


def check_schema(ask: Asking, path: Path) -> None:
    """Raises WarehouseError unless a file that was just opened has the present schema and nothing else."""
    version, lacking = _inspect(ask, path)
    if version != str(SCHEMA_VERSION):
        older = _number(version) < SCHEMA_VERSION
        what = f"evalhouse upgrade --db {path} brings it up to date" if older else "a newer evalhouse reads it"
        raise WarehouseError(
            f"{path} has schema version {version}, and this evalhouse reads version {SCHEMA_VERSION}",
            (what,) if _number(version) else (),
        )
    if lacking:
        raise WarehouseError(f"{path} is damaged: it has no {lacking[0]}", ("restore it from a backup",))


def schema_version(ask: Asking, path: Path) -> str:
    """The version of the schema that a file which was just opened states.

    Raises WarehouseError if the file is not a warehouse, or contains entries that no version up to the current one
    creates.
    """
    return _inspect(ask, path)[0]


def _inspect(ask: Asking, path: Path) -> tuple[str, list[str]]:
    """The version of the schema, and the entries of the current schema that are missing."""
    # While DuckDB 1.4 lists tables, it binds views of its own, and would call macros of the database that is in use.
    ask(Sql("use memory.main"))
    entries = catalogue(ask, DATABASE)
    ask(Sql(f"use {DATABASE}.main"))
    if "meta" not in {entry.name.casefold() for entry in entries}:
        raise WarehouseError(f"{path} is a DuckDB database, but not a warehouse")
    expected = entries if digest(entries) in CATALOGUES else catalogue_entries()
    foreign = [entry for entry in sorted(entries - expected) if not _holds_rows_only(entry, expected)]
    known = any(entry.name == "meta" for entry in entries & expected)
    version = "unknown"
    if known:
        stored = ask(Sql("select value from main.meta where key = 'schema_version' limit 1"))
        version = str(stored[0][0])[:40] if stored else version
    if foreign and 0 < _number(version) < SCHEMA_VERSION:
        foreign = [entry for entry in foreign if entry not in catalogue_before(_number(version))]
    if foreign and (not known or _number(version) <= SCHEMA_VERSION):
        first = min(foreign, key=lambda entry: (entry.name.casefold() != "meta", entry))
        more = f" (and {len(foreign) - 1} more)" if len(foreign) > 1 else ""
        raise WarehouseError(f"{path} {_missing_message(first, expected)}{more}", _NOT_OURS)
    there = {(entry.kind, entry.name) for entry in entries}
    return version, sorted(entry.called for entry in expected if (entry.kind, entry.name) not in there)


def _holds_rows_only(entry: CatalogueEntry, expected: frozenset[CatalogueEntry]) -> bool:
    """Whether an entry is a harmless table of another program, which can only hold rows."""
    of_ours = entry.name.casefold() in {other.name for other in expected}
    return entry.kind == "table" and not of_ours and not _ACTS.search(entry.definition)


def _missing_message(entry: CatalogueEntry, expected: frozenset[CatalogueEntry]) -> str:
    """The error message for an entry that a warehouse does not have."""
    same = next((other for other in expected if other.name == entry.name.casefold()), None)
    if same is None:
        return f"holds the {entry.called}, which is not part of a warehouse"
    if same.kind != entry.kind:
        return f"has a {entry.called}, which should be a {same.kind}"
    parts = set(same.definition.split(", "))
    differing = next((part for part in entry.definition.split(", ") if part not in parts), "columns are missing")
    differing = re.sub(r"^CREATE [^(]*\(", "", differing)[:80]
    return f"has a {entry.called} that is not the one of a warehouse: {differing}"


def _number(version: str) -> int:
    """A version as a number; 0 if it is not one."""
    return int(version) if re.fullmatch("[0-9]{1,6}", version) else 0
