"""Upgrades a warehouse that an older version made to the current schema, and checks that a warehouse is sound."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.kinds.records import FACT_TABLES, FORMS, IDENTITIES, POINTERS, TEXT_FORMS
from evalhouse.warehouse.store import fingerprints
from evalhouse.warehouse.store.connecting import look_into
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.files import check_file
from evalhouse.warehouse.store.replacement import Tell, nobody, replacing_any, unbalanced_imports
from evalhouse.warehouse.store.schema import SCHEMA_VERSION, schema_version
from evalhouse.warehouse.store.sql import Sql, join, name

# === checks of a warehouse ============================================================================================
# References to missing rows, duplicate rows, and counts that differ from the ledger. A check changes nothing.

_NAMED_ALONE = ("evaluation", "system", "unit", "annotator", "item")
"""The tables of names in which each name occurs only once."""

_UNIQUE = (
    ("meta", ("key",)),
    *((table, ("id",)) for table in ("import", "test_set", "document", *_NAMED_ALONE)),
    *((table, ("name",)) for table in _NAMED_ALONE),
    ("test_set", ("evaluation_id", "name")),
    ("observed", ("test_set_id", "task", "by_setting", "import_id")),
    ("column_role", ("test_set_id", "heading", "role", "import_id")),
    ("test_set_group", ("name", "test_set_id", "import_id")),
    ("document", ("test_set_id", "name")),
    ("direction", ("measure", "import_id")),
    ("share", ("measure", "import_id")),
    *((form.table, form.key_columns) for form in (*FORMS, IDENTITIES, *TEXT_FORMS)),
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
        *_find_misplaced(database),
        *(
            f"import {n} brought {rows:,} rows, but {present:,} are there"
            for n, rows, present in unbalanced_imports(database)
        ),
    )


def _repetitions(database: Database) -> list[str]:
    keys = [(table, ", ".join(columns)) for table, columns in _UNIQUE]
    return _count_rows(
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
    of_test_sets = ("observed", "column_role", "test_set_group")
    pointers += [(table, "import") for table in (*FACT_TABLES, *of_test_sets, "direction", "share")]
    pointers += [(table, "test_set") for table in of_test_sets]
    return _count_rows(
        database,
        {
            f"{table}: rows that point to no {pointed}": Sql(
                f"{table} a anti join {pointed} b on b.id = a.{pointed}_id"
            )
            for table, pointed in pointers
        },
    )


def _find_misplaced(database: Database) -> list[str]:
    tables = [table for table, targets in POINTERS.items() if {"test_set", "document"} <= set(targets)]
    return _count_rows(
        database,
        {
            f"{table}: rows with a document of another test set": name(table)
            + " a join document b on b.id = a.document_id where b.test_set_id <> a.test_set_id"
            for table in tables
        },
    )


def _count_rows(database: Database, rows: Mapping[str, Sql]) -> list[str]:
    """The sentences about rows that should not exist, with their number, for those that do."""
    counted = ("(select count(*) from " + wrong + ")" for wrong in rows.values())
    [counts] = database.rows("select " + join(", ", counted))
    return [f"{sentence}: {count:,}" for sentence, count in zip(rows, counts, strict=True) if count]


# === steps between versions ===========================================================================================
# There is one entry per step; the last one leads to this version.

STEPS = {
    1: Sql(
        "create table fingerprint "
        "(table_name varchar not null, part bigint not null, rows bigint not null, digest varchar not null); "
        "comment on table fingerprint is "
        "'What the rows of each table add up to, by import or range of numbers; evalhouse check compares.';"
    ),
    2: Sql(
        "create table observed (test_set_id integer not null, task varchar, noun varchar, cluster varchar, "
        "by_setting boolean not null, import_id integer not null); "
        "comment on table observed is "
        "'What a load said of the documents of a test set: what one is called, and the attribute that those share "
        "which tests exchange together. Without task it holds for all kinds of rows. Settings go before readers, and "
        "later loads before earlier ones.';"
    ),
    3: Sql(
        "create table direction "
        "(measure varchar not null, lower_is_better boolean not null, import_id integer not null); "
        "comment on table direction is "
        "'What loads declared of measures that are names in the data: whether lower values are better. One row an "
        "import and measure; of other measures the name tells.';"
    ),
    4: Sql(
        "create table run (test_set_id integer not null, system_id integer not null, model varchar not null, "
        "run varchar, date varchar, import_id integer not null); "
        "comment on table run is "
        "'Which run of which model a system is on a test set, told by the id or the date of the run.'; "
        "create table failure (test_set_id integer not null, system_id integer not null, item varchar not null, "
        "reason varchar not null, import_id integer not null); "
        "comment on table failure is "
        "'What a system was to be scored on and was not, and why: the name of a document, or * for a run as a whole.'; "
        "create view runs as select e.name as evaluation, t.name as test_set, s.name as system, "
        "f.model, f.run, f.date, f.import_id from run f join test_set t on t.id = f.test_set_id "
        "join evaluation e on e.id = t.evaluation_id join system s on s.id = f.system_id; "
        "comment on view runs is 'Runs of models with names.'; "
        "create view failures as select e.name as evaluation, t.name as test_set, s.name as system, "
        "f.item, f.reason, f.import_id from failure f join test_set t on t.id = f.test_set_id "
        "join evaluation e on e.id = t.evaluation_id join system s on s.id = f.system_id; "
        "comment on view failures is 'What failed, with names.'; "
        "alter table published add column documents integer; alter table published add column standard_error double; "
        "alter table published add column ci_low double; alter table published add column ci_high double; "
        "alter table published add column ci_level double; "
        "comment on table published is 'Figures known only as printed: 0.79 printed to 0.01. The last five say, where "
        "the source does, over how many documents it is, and how sure.'; "
        "create or replace view published_figures as "
        "select e.name as evaluation, t.name as test_set, s.name as system, f.task, f.measure, f.value, f.resolution, "
        "f.import_id, f.documents, f.standard_error, f.ci_low, f.ci_high, f.ci_level from published f "
        "join test_set t on t.id = f.test_set_id join evaluation e on e.id = t.evaluation_id "
        "join system s on s.id = f.system_id; "
        "comment on view published_figures is 'Published figures with names.';"
    ),
    5: Sql(
        "create table counted (test_set_id integer not null, system_id integer not null, document_id integer not null, "
        "unit_id integer not null, count varchar not null, number integer not null check (number >= 0), "
        "import_id integer not null); "
        "comment on table counted is "
        "'Counts of any name: one row per system, document, unit and count. Attempts, passed, n-grams that match.'; "
        "create view counts as select e.name as evaluation, t.name as test_set, s.name as system, d.name as document, "
        "nullif(u.name, '') as unit, f.count, f.number, f.import_id from counted f "
        "join test_set t on t.id = f.test_set_id join evaluation e on e.id = t.evaluation_id "
        "join system s on s.id = f.system_id join document d on d.id = f.document_id join unit u on u.id = f.unit_id; "
        "comment on view counts is 'Counts with names.';"
    ),
    6: Sql(
        "create table item (id integer not null, name varchar not null); comment on table item is 'What runs "
        "rank and judgments are about: a document of a collection, a passage.'; create table ranking "
        "(test_set_id integer not null, system_id integer not null, document_id integer not null, item_id "
        "integer not null, rank integer not null check (rank > 0), score double, import_id integer not "
        "null); comment on table ranking is 'Runs: the items that a system gives for a topic, which is a "
        "document here, from rank 1 on without a gap.'; create table judgment (test_set_id integer not null, "
        "document_id integer not null, item_id integer not null, grade integer not null, import_id integer "
        "not null); comment on table judgment is 'How relevant an item is to a topic, which is a document "
        "here; what is relevant has grade 1 or more.'; create view rankings as select e.name as evaluation, "
        "t.name as test_set, s.name as system, d.name as document, i.name as item, f.rank, f.score, "
        "f.import_id from ranking f join test_set t on t.id = f.test_set_id join evaluation e on e.id = "
        "t.evaluation_id join system s on s.id = f.system_id join document d on d.id = f.document_id join "
        "item i on i.id = f.item_id; comment on view rankings is 'Runs with names.'; create view judgments "
        "as select e.name as evaluation, t.name as test_set, d.name as document, i.name as item, f.grade, "
        "f.import_id from judgment f join test_set t on t.id = f.test_set_id join evaluation e on e.id = "
        "t.evaluation_id join document d on d.id = f.document_id join item i on i.id = f.item_id; comment on "
        "view judgments is 'Judgments with names.';"
    ),
    7: Sql(
        "create table document_text (test_set_id integer not null, document_id integer not null, kind varchar not "
        "null, number integer not null check (number > 0), piece integer not null check (piece > 0), characters "
        "integer not null check (characters >= 0), text varchar using compression zstd not null, import_id "
        "integer not null); comment on table document_text is 'What systems were given of a document, and what is "
        "right: an input or reference to the byte as it was read, a row for each 8,000 of its characters.'; "
        "create table system_text (test_set_id integer not null, system_id integer not null, document_id integer "
        "not null, kind varchar not null, number integer not null check (number > 0), piece integer not null "
        "check (piece > 0), characters integer not null check (characters >= 0), text varchar using compression "
        "zstd not null, import_id integer not null); comment on table system_text is 'What a system answered to a "
        "document, its outputs, and what it was given, where that is another input than that of the document; "
        "rows as in document_text.'; create view texts as with piece as (select test_set_id, null::integer as "
        "system_id, document_id, kind, number, piece, characters, text, import_id from document_text union all "
        "select test_set_id, system_id, document_id, kind, number, piece, characters, text, import_id from "
        "system_text), whole as (select test_set_id, system_id, document_id, kind, number, text, import_id from "
        "piece where characters <= 8000 union all select test_set_id, system_id, document_id, kind, number, "
        "string_agg(text, '' order by piece), import_id from piece where characters > 8000 group by all) select "
        "e.name as evaluation, t.name as test_set, s.name as system, d.name as document, f.kind, f.number, "
        "f.text, f.import_id from whole f join test_set t on t.id = f.test_set_id join evaluation e on e.id = "
        "t.evaluation_id join document d on d.id = f.document_id left join system s on s.id = f.system_id; "
        "comment on view texts is 'Inputs, references and outputs with names; system is null for references, and "
        "for inputs that every system was given.';"
    ),
    8: Sql(
        "create table column_role (test_set_id integer not null, heading varchar not null, role varchar not null, "
        "import_id integer not null); comment on table column_role is 'What loads took the columns of tables for, so "
        "that later loads do the same: the one that names the documents of a test set, and those that are no "
        "attributes of documents or of systems.';"
    ),
    9: Sql(
        "create table document_identity (test_set_id integer not null, document_id integer not null, "
        "name varchar not null, begins varchar not null, digest varchar not null, import_id integer not null); "
        "comment on table document_identity is 'What files say that a document is, so that no load pairs it with "
        "another one of its name: its question, its right answer, its split. The text is known by its beginning and "
        "by a digest that takes no account of case and blanks.';"
    ),
    10: Sql(
        "create table share (measure varchar not null, import_id integer not null); "
        "comment on table share is 'The measures that loads declared to be shares, of which values are between 0 and "
        "1 and 5% is 0.05. For all other measures that are names in the data the name decides.';"
    ),
    11: Sql(
        "alter table score add column same_place integer; alter table score add column overlapping integer; "
        "alter table score add column same_type integer; alter table score add column unpaired integer; "
        "comment on table score is 'Score tuples of extraction: one row per system, document and unit. The counts from "
        "incorrect on are null where the source did not give them. The last four are of pairs of a key item and an "
        "answer, whatever their types are: with the same place, with another one that overlaps, those of the two with "
        "the same type, and answers in no pair.'; "
        "create or replace view scores as select e.name as evaluation, t.name as test_set, s.name as system, "
        "d.name as document, nullif(u.name, '') as unit, f.possible, f.actual, f.correct, f.partial, f.incorrect, "
        "f.spurious, f.missing, f.noncommittal, f.import_id, f.same_place, f.overlapping, f.same_type, f.unpaired "
        "from score f join test_set t on t.id = f.test_set_id join evaluation e on e.id = t.evaluation_id "
        "join system s on s.id = f.system_id join document d on d.id = f.document_id join unit u on u.id = f.unit_id; "
        "comment on view scores is 'Score tuples with names.'; "
        "create table prediction ( test_set_id integer not null, system_id integer not null, document_id "
        "integer not null, truth double not null, prediction double not null, import_id integer not null ); "
        "comment on table prediction is 'Predicted numbers beside the true ones, one row per system and "
        "document: a similarity, a rating, a price.'; create view predictions as select e.name as "
        "evaluation, t.name as test_set, s.name as system, d.name as document, f.truth, f.prediction, "
        "f.import_id from prediction f join test_set t on t.id = f.test_set_id join evaluation e on e.id = "
        "t.evaluation_id join system s on s.id = f.system_id join document d on d.id = f.document_id; "
        "comment on view predictions is 'Predicted numbers with names.'; "
    ),
    12: Sql(
        "alter table observed add column main varchar; "
        "comment on table observed is 'What a load declared about the documents of a test set: what a document is "
        "called, which attribute groups the documents that tests exchange together, and which measure a question is "
        "about that names none. Without a task, it holds for all kinds of rows. Settings take precedence over readers, "
        "and later loads over earlier ones.'; "
        "create table test_set_group (name varchar not null, test_set_id integer not null, pooled boolean, "
        "import_id integer not null); comment on table test_set_group is 'Which test sets belong to a group, such as "
        "mmlu, and how they are taken together: all their documents (true), the mean over them (false), or as a "
        "printed figure of the group says (null).'; "
        # The groups of harnesses were known from an attribute of documents that is called as the outermost group is.
        "insert into test_set_group select g.name, d.test_set_id, null, min(a.import_id) "
        "from document_attribute a join document d on d.id = a.document_id "
        "join test_set outermost on outermost.name = a.name join test_set g on g.name in (a.name, a.value) "
        "where outermost.id in (select test_set_id from published) and g.id in (select test_set_id from published) "
        "and outermost.id not in (select test_set_id from document) and g.id not in (select test_set_id from document) "
        "group by g.name, d.test_set_id;"
    ),
}
"""For each version of a warehouse, the SQL that upgrades it to the next version."""


FINGERPRINTS_SINCE = 2
"""The first version that stores fingerprints of its rows."""


def upgrade(path: Path, tell: Tell = nobody) -> tuple[int, int]:
    """Upgrades the warehouse at `path`, as safely as a load: completely or not at all. Returns the old and the new
    version.

    Raises WarehouseError if it cannot be upgraded, for example because a newer evalhouse made it, or because its rows
    are not those that were stored: new fingerprints would hide the damage.
    """
    if _version(path) == str(SCHEMA_VERSION):
        return SCHEMA_VERSION, SCHEMA_VERSION
    with replacing_any(path, tell=tell) as database:
        version = schema_version(database.rows, path)
        if not version.isdecimal() or not min(STEPS) <= int(version) <= SCHEMA_VERSION:
            raise WarehouseError(f"{path} has schema version {version}, which cannot be upgraded to {SCHEMA_VERSION}")
        had = int(version)
        damaged = fingerprints.wrong(database) if had >= FINGERPRINTS_SINCE else ()
        if damaged:
            raise WarehouseError(f"{path} is damaged: {damaged[0]}", ("restore it from a backup and upgrade that",))
        with database.transaction():
            for step in range(had, SCHEMA_VERSION):
                database.run(STEPS[step])
            database.run(Sql("update meta set value = ? where key = 'schema_version'", (str(SCHEMA_VERSION),)))
            fingerprints.keep_all(database)
    return had, SCHEMA_VERSION


def _version(path: Path) -> str:
    """The version of the schema of the warehouse at `path`. Raises WarehouseError as `schema_version` does."""
    versions: list[str] = []
    check_file(path)
    look_into(path, lambda ask, path: versions.append(schema_version(ask, path)))
    return versions[0]
