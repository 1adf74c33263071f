"""What a load stores: all or nothing, only once, with its provenance; and what forgetting it removes."""

from __future__ import annotations

import csv
import hashlib
import sys
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import SCORES, THREE, Load

EVALUATED = "evaluation," + SCORES


def stored(database: Database, view: str = "scores") -> list[tuple[object, ...]]:
    return database.rows(Sql(f"select * exclude (import_id) from {view} order by all"))


def tables(database: Database, *names: str) -> list[list[tuple[object, ...]]]:
    return [database.rows(Sql(f"from {name} order by all")) for name in names]


def refused(load_text: Load, text: str, reader: str = "scores", **options: object) -> list[str]:
    with pytest.raises(DataError) as caught:
        load_text(text, reader, **options)
    return [str(fault) for fault in caught.value.faults]


def test_a_load_stores_its_rows_and_where_they_came_from(database: Database, load_text: Load) -> None:
    text = SCORES.replace("system", "site") + THREE
    loaded = load_text(text, columns={"system": "site"}, fields={"unit": "slot"}, simulated=True)
    assert (loaded.source, loaded.reader, loaded.import_id, loaded.rows_read, loaded.rows_new, loaded.notes) == (
        "in.csv",
        "scores",
        1,
        3,
        3,
        (),
    )
    assert stored(database)[0] == ("", "T", "GE", "D0", "slot", 10, 9, 7, 1, *[None] * 8)
    [row] = database.rows(Sql("select id, source, sha256, reader, options, rows, simulated from import"))
    options = '{"columns":{"system":"site"},"fields":{"unit":"slot"}}'
    assert row == (1, "in.csv", hashlib.sha256(text.encode()).hexdigest(), "scores", options, 3, True)


def test_counts_that_are_not_given_are_unknown_and_not_zero(database: Database, load_text: Load) -> None:
    load_text(SCORES.strip() + ",incorrect,missing\nT,GE,D,9,9,7,1,0,\n")
    assert stored(database) == [("", "T", "GE", "D", None, 9, 9, 7, 1, 0, *[None] * 7)]


def test_the_same_content_twice_changes_nothing_and_says_so(database: Database, load_text: Load) -> None:
    load_text(SCORES + THREE)
    before = stored(database)
    again = load_text(SCORES + THREE, file="copy.csv")
    assert (again.import_id, again.rows_read, again.rows_new) == (None, 3, 0)
    assert again.notes == ("every row is stored already; nothing was added",)
    assert stored(database) == before
    assert database.rows(Sql("select count(*) from import")) == [(1,)]


def test_only_new_rows_are_stored(database: Database, load_text: Load) -> None:
    load_text(SCORES + THREE)
    more = load_text(SCORES + THREE + "T,GE,D3,1,1,1,0\n")
    assert (more.import_id, more.rows_read, more.rows_new, more.notes) == (2, 4, 1, ("stored already: 3 rows",))
    assert database.rows(Sql("select id, rows from import order by id")) == [(1, 3), (2, 1)]
    assert check(database) == ()


def test_a_dry_run_stores_nothing_and_tells_what_would_be_new(database: Database, load_text: Load) -> None:
    tried = load_text(SCORES + THREE, dry_run=True)
    assert (tried.import_id, tried.rows_read, tried.rows_new) == (None, 3, 3)
    assert database.rows(Sql("select (select count(*) from system), (select count(*) from import)")) == [(0, 0)]
    assert load_text(SCORES + THREE).import_id == 1


@pytest.mark.parametrize(
    ("reader", "text", "other", "sentence"),
    [
        ("scores", SCORES + THREE, SCORES + "T,GE,D9,1,1,1,0\nT,GE,D1,10,8,6,1\n",
         "in.csv:3: T, GE, D1 has actual 8, correct 6, but is stored with actual 9, correct 7 (import 1)"),
        ("scores", SCORES + THREE, SCORES.strip() + ",missing\nT,GE,D1,10,9,7,1,2\n",
         "in.csv:2: T, GE, D1 has missing 2, but is stored with missing unknown (import 1)"),
        ("decisions", "test_set,system,document,decision\nT,S,D,yes\n", "test_set,system,document,decision\nT,S,D,0\n",
         "in.csv:2: T, S, D has decision no, but is stored with decision yes (import 1)"),
        ("labels", "test_set,document,label\nT,D,relevant\n", "test_set,document,label\nT,D,optional\n",
         "in.csv:2: T, D has label optional, but is stored with label relevant (import 1)"),
        ("values", "test_set,system,document,measure,value\nT,S,D,AP,.5\n",
         "test_set,system,document,measure,value\nT,S,D,AP,.25\n",
         "in.csv:2: T, S, D, AP has value 0.25, but is stored with value 0.5 (import 1)"),
        ("published", "test_set,system,task,measure,value,resolution\nT,S,filtering,recall,0.79,0.01\n",
         "test_set,system,task,measure,value,resolution\nT,S,filtering,recall,0.790,0.001\n",
         "in.csv:2: T, S, filtering, recall has resolution 0.001, but is stored with resolution 0.01 (import 1)"),
        ("systems", "system,site\nS,a\n", "system,site\nS,b\n",
         "in.csv:2: S has 'site' b, but is stored with 'site' a (import 1)"),
        ("documents", "test_set,document,source\nT,D,radio\n", "test_set,document,source\nT,D,tv\n",
         "in.csv:2: T, D has 'source' tv, but is stored with 'source' radio (import 1)"),
    ],
)  # fmt: skip
def test_a_row_that_contradicts_a_stored_one_stops_the_load(
    database: Database, load_text: Load, reader: str, text: str, other: str, sentence: str
) -> None:
    load_text(text, reader)
    before = tables(database, "score", "decision", "system", "document")
    assert refused(load_text, other, reader) == [sentence]
    after = tables(database, "score", "decision", "system", "document")
    assert after == before


def test_a_row_that_repeats_another_counts_once(database: Database, load_text: Load) -> None:
    loaded = load_text(SCORES + THREE + THREE)
    assert (loaded.rows_read, loaded.rows_new, loaded.notes) == (6, 3, ("3 rows repeat earlier ones",))
    assert check(database) == ()


def test_a_row_that_contradicts_another_stops_the_load_and_both_lines_are_named(load_text: Load) -> None:
    assert refused(load_text, SCORES + THREE + "\nT,GE,D1,10,9,7,1\nT,GE,D1,10,9,6,1\n") == [
        "in.csv:7: T, GE, D1 has correct 6, but on line 3 it has correct 7"
    ]


def test_a_document_is_not_scored_as_a_whole_and_by_unit(load_text: Load) -> None:
    by_unit = SCORES.replace("document", "document,unit")
    load_text(by_unit + "T,GE,D0,slot,1,1,1,0\nT,GE,D7,slot,1,1,1,0\n")
    assert refused(load_text, SCORES + THREE) == [
        "in.csv:2: T, GE, D0: the document is scored both as a whole and by unit, which would count it twice"
    ]
    mixed = "T,GE,D8,slot,1,1,1,0\nT,GE,D9,,1,1,1,0\nT,GE,D9,slot,1,1,1,0\nT,GE,D9,head,1,1,1,0\n"
    assert [sentence.partition(":")[2][:12] for sentence in refused(load_text, by_unit + mixed)] == [
        f"{line}: T, GE, D9" for line in (3, 4, 5)
    ]
    # Another system, and other documents, are another matter.
    assert load_text(SCORES + THREE.replace("GE", "UMASS") + "T,GE,D9,1,1,1,0\n").rows_new == 4


def test_names_are_the_same_in_any_unicode_spelling(database: Database, load_text: Load) -> None:
    load_text(SCORES + "T,Jose\u0301,D,1,1,1,0\n")
    assert load_text(SCORES + "T,Jos\u00e9,D,1,1,1,0\n").rows_new == 0
    assert database.rows(Sql("select name from system")) == [("Jos\u00e9",)]


def test_blanks_around_cells_are_left_out_with_a_note(database: Database, load_text: Load) -> None:
    loaded = load_text(SCORES + "T, GE,D, 1,1 ,1,0\nT,GE ,E,1,1,1,0\nT,G E,F,1,1,1,0\n")
    assert loaded.notes == ("blanks around names were removed in 2 rows",)
    assert database.rows(Sql("select name from system order by name")) == [("G E",), ("GE",)]


def test_columns_that_are_no_fields_are_left_out_with_a_note(load_text: Load) -> None:
    loaded = load_text("remark,system," + SCORES.replace("system,", "") + "fine,GE,T,D,1,1,1,0\n")
    assert loaded.notes == ("left out (not fields): remark",)


def test_a_field_that_is_set_overrides_its_column_with_a_note(database: Database, load_text: Load) -> None:
    loaded = load_text(SCORES + THREE, fields={"test_set": "U"})
    assert loaded.notes == ("the column test_set is left out, because --set sets this field",)
    assert database.rows(Sql("select name from test_set")) == [("U",)]


def test_facts_are_stored_sorted(database: Database, load_text: Load) -> None:
    load_text(SCORES + "".join(f"T{k % 2},S{k % 3},D{k % 5},1,1,1,0\n" for k in range(29, -1, -1)))
    rows = database.rows(Sql("select test_set_id, system_id, document_id from score order by rowid"))
    assert rows == sorted(rows)
    assert len(rows) == 30


def test_progress_rises_from_0_to_1(load_text: Load) -> None:
    told: list[tuple[float, int]] = []
    load_text(SCORES + THREE, progress=lambda share, rows: told.append((share, rows)))
    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0.0, 0), (1.0, 3))
    assert all(rows == 3 for share, rows in told if share >= 0.5)


def test_attributes_are_stored_cell_by_cell_and_empty_cells_are_unknown(database: Database, load_text: Load) -> None:
    loaded = load_text("system,pre_parse,Größe\nGE,yes,7B\nBBN,,\nSRI,no,\n", "systems")
    assert (loaded.rows_read, loaded.rows_new) == (3, 3)
    assert stored(database, "system_attributes") == [
        ("GE", "Größe", "7B"),
        ("GE", "pre_parse", "yes"),
        ("SRI", "pre_parse", "no"),
    ]
    assert database.rows(Sql("select name from system order by name")) == [("GE",), ("SRI",)]
    assert check(database) == ()


@pytest.mark.long
def test_every_reader_of_tables_reads_its_example(load_text: Load) -> None:
    rows = {"counts": 8}
    for reader in READERS.values():
        if reader.columns:
            assert load_text(reader.example, reader.name).rows_new == rows.get(reader.name, 1), reader.name


class TestEvaluation:
    """Which test set a name means."""

    def test_without_evaluation_it_is_the_unnamed_one(self, database: Database, load_text: Load) -> None:
        load_text(SCORES + THREE)
        assert {row[0] for row in stored(database)} == {""}

    def test_without_evaluation_it_is_the_only_one_of_that_name(self, database: Database, load_text: Load) -> None:
        load_text(EVALUATED + "MUC-4,T,GE,D0,10,9,7,1\n")
        assert load_text(SCORES + THREE).rows_new == 2
        assert {row[0] for row in stored(database)} == {"MUC-4"}

    def test_of_two_it_must_be_said_which(self, database: Database, load_text: Load) -> None:
        load_text(EVALUATED + "MUC-3,T,GE,D0,1,1,1,0\nMUC-4,T,GE,D0,2,2,2,0\n")
        assert refused(load_text, SCORES + THREE) == [
            "in.csv: T is a test set of MUC-3 and of MUC-4; --set evaluation=NAME says which is meant"
        ]
        assert load_text(SCORES + THREE, fields={"evaluation": "MUC-5"}).rows_new == 3
        assert database.rows(Sql("select count(*) from test_set")) == [(3,)]

    def test_a_test_set_without_one_is_given_it(self, database: Database, load_text: Load) -> None:
        load_text(SCORES + THREE)
        loaded = load_text(SCORES + THREE, fields={"evaluation": "MUC-4"})
        assert loaded.rows_new == 0
        assert "T, which had no evaluation, is now of MUC-4" in loaded.notes
        assert {row[0] for row in stored(database)} == {"MUC-4"}
        assert database.rows(Sql("select count(*) from test_set")) == [(1,)]

    def test_rows_of_one_file_mean_one_test_set(self, database: Database, load_text: Load) -> None:
        loaded = load_text(EVALUATED + ",T,GE,D0,10,9,7,1\nMUC-4,T,GE,D1,10,9,7,1\n")
        assert loaded.rows_new == 2
        assert {row[0] for row in stored(database)} == {"MUC-4"}


class TestForgetting:
    def test_it_undoes_a_load(self, database: Database, load_text: Load) -> None:
        load_text(SCORES + THREE)
        before = [
            database.rows(Sql(f"from {table} order by all")) for table in ("score", "system", "document", "import")
        ]
        load_text(SCORES.replace("document", "document,unit") + "U,NEW,X,slot,1,1,1,0\n", fields={"evaluation": "E"})
        assert forget(database, 2).rows == 1
        after = [
            database.rows(Sql(f"from {table} order by all")) for table in ("score", "system", "document", "import")
        ]
        assert after == before
        assert database.rows(Sql("select name from unit union all select name from evaluation")) == [("",), ("",)]
        assert check(database) == ()

    def test_names_that_others_use_stay(self, database: Database, load_text: Load) -> None:
        load_text(SCORES + THREE)
        load_text("test_set,document,label,annotator\nT,D0,relevant,Ann\nT,D9,optional,\n", "labels")
        load_text("system,site\nGE,a\nBBN,b\n", "systems")
        assert forget(database, 1).rows == 3
        assert database.rows(Sql("select name from document order by name")) == [("D0",), ("D9",)]
        assert database.rows(Sql("select name from system order by name")) == [("BBN",), ("GE",)]
        assert check(database) == ()

    def test_what_is_not_there_cannot_be_forgotten(self, database: Database, load_text: Load) -> None:
        with pytest.raises(DataError, match="import 1: there is no such import; nothing has been imported"):
            forget(database, 1)
        load_text(SCORES + THREE)
        with pytest.raises(DataError, match="import 7: there is no such import; the imports are 1"):
            forget(database, 7)


@cache
def spaces() -> str:
    return "".join(chr(code) for code in range(sys.maxunicode) if unicodedata.category(chr(code)) == "Zs")


names = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12).filter(
    lambda text: text.strip(spaces())
)


@pytest.mark.long
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(names, min_size=1, max_size=8))
def test_names_come_back_as_they_went_in(untouched: Database, tmp_path: Path, listed: list[str]) -> None:
    file = tmp_path / "names.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["test_set", "document", "label"], *(["T", each, "relevant"] for each in listed)])
    loaded = load(untouched, file, "labels")
    assert loaded.import_id is not None
    found = {row[0] for row in untouched.rows(Sql("select name from document"))}
    forget(untouched, loaded.import_id)
    assert found == {unicodedata.normalize("NFC", each.strip(spaces())) for each in listed}


@pytest.mark.long
def test_many_rows_keep_their_lines(tmp_path: Path) -> None:
    """Rows that are read by several threads are still known by the line they stand on."""
    file = tmp_path / "many.csv"
    rows = [f"T,S{k % 100},document-{k // 100:06},9,9,7,1\n" for k in range(300_000)]
    rows[250_000] = rows[250_000].replace("9,9", "9,x")
    file.write_text(SCORES + "".join(rows))
    with in_memory() as database, pytest.raises(DataError) as caught:
        load(database, file, "scores")
    assert [fault.line for fault in caught.value.faults] == [250_002]
