"""A warehouse that was only loaded into is sound; one that was tampered with is reported as unsound, with the place."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import FACT_TABLES, FORMS, NUMBERS, POINTERS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.loading.sample import fill
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store import fingerprints
from evalhouse.warehouse.store.catalog import store_definition
from evalhouse.warehouse.store.connecting import in_memory, open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.fingerprints import wrong
from evalhouse.warehouse.store.replacement import unbalanced_imports
from evalhouse.warehouse.store.schema import EARLIER, SCHEMA_VERSION
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check, upgrade
from tests.empty import create
from tests.store.texts import SCORES, THREE, Load


@pytest.mark.long
def test_what_was_loaded_is_sound(database: Database, load_text: Load) -> None:
    for reader in READERS.values():
        if reader.columns:
            load_text(reader.example, reader.name)
    assert check(database) == ()
    assert unbalanced_imports(database) == ()


SCORE, OTHER = "score: the rows of import 1 are not those that were stored", ": the rows are not those that were stored"


@pytest.mark.long
@pytest.mark.parametrize(
    ("harm", "problems"),
    [
        ("delete from score where document_id = 1", {SCORE, "import 1 brought 3 rows, but 2 are there"}),
        (
            "insert into score select * from score where document_id = 1",
            {
                SCORE,
                "score: keys (test_set_id, system_id, document_id, unit_id) that stand more than once: 1",
                "import 1 brought 3 rows, but 4 are there",
            },
        ),
        (
            "delete from import",
            {
                "import" + OTHER,
                "score: rows that point to no import: 3",
                "import 1 brought 0 rows, but 3 are there",
            },
        ),
        ("delete from system", {"system" + OTHER, "score: rows that point to no system: 3"}),
        (
            "insert into system values (7, 'GE')",
            {"system" + OTHER, "system: keys (name) that stand more than once: 1"},
        ),
        (
            "insert into test_set values (7, 0, 'U'); update score set test_set_id = 7",
            {SCORE, "test_set" + OTHER, "score: rows with a document of another test set: 3"},
        ),
        ("update score set correct = correct - 1 where document_id = 2", {SCORE}),
        ("update document set name = 'D9' where name = 'D1'", {"document" + OTHER}),
        ("update import set sha256 = 'other'", {"import" + OTHER}),
        ("insert into definition values ('m', 'define measure m = recall', now()::timestamp)", {"definition" + OTHER}),
    ],
)
def test_harm_is_found(database: Database, load_text: Load, harm: str, problems: set[str]) -> None:
    load_text(SCORES + THREE)
    database.run(Sql(harm))
    assert set(check(database)) == problems


def test_a_later_load_does_not_hide_harm_to_earlier_names(database: Database, load_text: Load) -> None:
    load_text(SCORES + THREE)
    database.run(Sql("update document set name = 'D9' where name = 'D1'"))
    load_text(SCORES + "T,A,new,2,2,1,1\n", file="later.csv")
    assert set(check(database)) == {"document" + OTHER}


@pytest.mark.long
def test_names_are_sound_where_a_later_load_begins_a_new_part(database: Database, load_text: Load) -> None:
    for named, numbers in (
        ("first", range(65_000)),
        ("second", range(65_000, 140_000)),
        ("third", range(140_000, 140_003)),
    ):
        load_text(SCORES + "".join(f"T,A,D{number},2,2,1,1\n" for number in numbers), file=f"{named}.csv")
        assert check(database) == ()
    kept = "from fingerprint where table_name = 'document' order by part"
    added_up = database.rows(Sql(kept))
    assert len(added_up) == 3
    with database.transaction():
        fingerprints.keep_all(database)
    assert database.rows(Sql(kept)) == added_up


def test_rows_without_fingerprints_are_not_taken_for_sound(database: Database, load_text: Load) -> None:
    load_text(SCORES + THREE)
    database.run(Sql("delete from fingerprint"))
    assert SCORE in check(database)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A warehouse with rows in every table."""
    folder = tmp_path_factory.mktemp("examples")
    with in_memory() as database:
        for reader in READERS.values():
            if reader.columns or reader.name == NUMBERS.name:
                file = folder / f"{reader.name}.csv"
                file.write_text(reader.example)
                load(database, file, reader)
        database.run(
            Sql(
                "insert into document_text select test_set_id, document_id, 'input', 1, 1, 5, 'What?', import_id "
                "from score limit 1; "
                "insert into system_text select test_set_id, system_id, document_id, 'output', 1, 1, 4, 'This', "
                "import_id from score limit 1; "
                "insert into document_identity select test_set_id, document_id, 'question', 'What?', 'd1', import_id "
                "from score limit 1"
            )
        )
        fingerprints.keep(database, (1,))
        store_definition(database, "m", "define measure m = recall")
        yield database


@pytest.mark.long
def test_every_cell_counts(everything: Database) -> None:
    """Whatever column of whatever table is changed in one row."""
    columns = everything.rows(
        Sql(
            "select column_index, c.table_name, column_name, data_type "
            "from duckdb_columns() c join duckdb_tables() t using (table_oid) "
            "where c.table_name <> 'fingerprint' and estimated_size > 0 order by all"
        )
    )
    other = {
        "BOOLEAN": "not {}",
        "VARCHAR": "{} || ' '",
        "TIMESTAMP": "{} + interval 1 second",
        "DOUBLE": "coalesce(-{}, 1)",
    }
    changed = set()
    for _, group in itertools.groupby(columns, lambda column: int(column[0])):
        # One column of each table at a time.
        with contextlib.suppress(_UndoneError), everything.transaction():
            tables = set()
            for _, table, column, kind in group:
                is_label = str(kind).startswith("ENUM")
                to = "'optional'" if is_label else other.get(str(kind), "coalesce({}, 0) + 1").format(f'"{column}"')
                where = " where label <> 'optional'" if is_label else ""
                one = f'(select max(rowid) from "{table}"{where})'
                everything.run(Sql(f'update "{table}" set "{column}" = {to} where rowid = {one}'))
                tables.add(str(table))
            assert {sentence.split(":")[0] for sentence in wrong(everything)} == tables
            changed |= tables
            raise _UndoneError
    assert set(FACT_TABLES) < changed
    assert check(everything) == ()


class _UndoneError(Exception):
    """Leaves a transaction that is not to be kept."""


@pytest.mark.long
def test_the_order_of_rows_does_not_count(everything: Database) -> None:
    with contextlib.suppress(_UndoneError), everything.transaction():
        everything.run(
            Sql(
                "create temp table again as from value order by hash(rowid); delete from value; "
                "insert into value from again; drop table again"
            )
        )
        assert wrong(everything) == ()
        raise _UndoneError


NEW_IN = {
    2: "drop table fingerprint;",
    3: "drop table observed;",
    4: "drop table direction;",
    5: (
        "drop view runs; drop view failures; drop table run; drop table failure; "
        "create temp table figures as from published; "
        f"{EARLIER[5]} "
        "insert into published select * exclude (documents, standard_error, ci_low, ci_high, ci_level) from figures; "
        "drop table figures;"
    ),
    6: "drop view counts; drop table counted;",
    7: "drop view rankings; drop view judgments; drop table ranking; drop table judgment; drop table item;",
    8: "drop view texts; drop table document_text; drop table system_text;",
    9: "drop table column_role;",
    10: "drop table document_identity;",
    11: "drop table share;",
    12: (
        "drop view predictions; drop table prediction; create temp table tuples as from score; "
        f"{EARLIER[12]} "
        "insert into score select * exclude (same_place, overlapping, same_type, unpaired) from tuples; "
        "drop table tuples;"
    ),
    13: (
        "drop table test_set_group; create temp table said as from observed; "
        f"{EARLIER[13]} "
        "insert into observed select * exclude (main) from said; drop table said;"
    ),
}
"""What takes back what each version of the schema brought."""


def make_older(database: Database, version: int) -> None:
    """Takes a warehouse back to an older version of the schema."""
    for since in sorted((since for since in NEW_IN if since > version), reverse=True):
        database.run(Sql(NEW_IN[since]))
    database.run(Sql(f"update meta set value = '{version}' where key = 'schema_version'"))
    if version > 1:
        fingerprints.keep_all(database)


@pytest.mark.long
@pytest.mark.parametrize("version", [*range(1, SCHEMA_VERSION)])
def test_an_older_warehouse_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.duckdb"
    with create(path) as database:
        fill(database)
        make_older(database, version)
    with pytest.raises(WarehouseError) as caught:
        open_database(path)
    versions = f"version {version}, and this evalhouse reads version {SCHEMA_VERSION}"
    assert caught.value.message == f"{path} has schema {versions}"
    assert caught.value.hints == (f"evalhouse upgrade --db {path} brings it up to date",)
    assert upgrade(path) == (version, SCHEMA_VERSION)
    with open_database(path) as database:
        assert check(database) == ()
        database_has = database.rows(Sql("select table_name, part, rows, digest from fingerprint order by all"))
    with in_memory() as database:
        fill(database)
        made = database.rows(Sql("select table_name, part, rows, digest from fingerprint order by all"))
    unlike = [("import", 0), ("meta", 0), ("observed", 0)]
    assert [row for row in database_has if row[:2] not in unlike] == [row for row in made if row[:2] not in unlike]
    assert upgrade(path) == (SCHEMA_VERSION, SCHEMA_VERSION)
    with Session.open(path) as session:
        # Before version 3 nothing was stored of what its documents are called.
        assert version >= 3 or session.catalog.observed("extraction", 1) == Observed()
        chart = session.run("plot compare F for GE, UMASS on TST3").chart
        assert chart is not None
        assert f"100 {'documents' if version < 3 else 'messages'}" in chart.subtitle


def test_what_a_newer_version_made_is_not_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    with create(path) as database:
        database.run(Sql(f"update meta set value = '{SCHEMA_VERSION + 1}'"))
    before = path.read_bytes()
    said = f"has schema version {SCHEMA_VERSION + 1}, which cannot be upgraded to {SCHEMA_VERSION}"
    with pytest.raises(WarehouseError, match=said):
        upgrade(path)
    assert path.read_bytes() == before


def test_the_forms_of_facts_are_the_tables_of_the_schema(database: Database) -> None:
    listed = database.rows(Sql("select table_name, column_name from duckdb_columns() where not internal"))
    columns: dict[str, set[str]] = {}
    for table, column in listed:
        columns.setdefault(table, set()).add(column)
    for form in FORMS:
        assert {*form.key_columns, *form.content_columns, "import_id"} == columns[form.table], form.name
    for table, targets in POINTERS.items():
        assert {column for column in columns[table] if column.endswith("_id")} - {"import_id"} == {
            f"{target}_id" for target in targets
        }
