"""Wide tables: how each column is interpreted, replicates, attributes, and tables with one column per system, in every
format.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas
import pytest
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, MemoryShortError, WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.planning import LoadRequest, plan
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.loading.readers.recognition import recognize, recognize_file
from evalhouse.warehouse.loading.readers.table import EXAMPLE
from evalhouse.warehouse.loading.staging.door import EVERYWHERE
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create
from tests.store.texts import Complaints, Load

ON = {"test_set": "T"}


def values(database: Database, *columns: str) -> list[tuple[object, ...]]:
    listed = ", ".join(columns or ("system", "document", "measure", "value"))
    return database.rows(Sql(f"select {listed} from document_values order by all"))


def attributes(database: Database, of: str) -> list[tuple[object, ...]]:
    return database.rows(Sql(f"select {of}, attribute, value from {of}_attributes order by all"))


def test_measures_seeds_and_attributes(database: Database, load_text: Load) -> None:
    notes = load_text(EXAMPLE, "table", "in.csv", fields=ON).notes
    assert values(database)[:4] == [
        ("base#1", "Q1", "acc", 1.0),
        ("base#1", "Q1", "f1", 0.8),
        ("base#2", "Q1", "acc", 0.0),
        ("base#2", "Q1", "f1", 0.5),
    ]
    assert attributes(database, "document") == [("Q1", "passage", "P1")]
    assert [(system, name, value) for system, name, value in attributes(database, "system") if system == "base#2"] == [
        ("base#2", "model", "base"),
        ("base#2", "passage", "P1"),
        ("base#2", "seed", "2"),
    ]
    assert database.rows(Sql("select system, model, run from runs order by all limit 2")) == [
        ("base#1", "base", "seed=1"),
        ("base#2", "base", "seed=2"),
    ]
    assert notes[0] == (
        "measures: acc, f1; system: model; document: question; replicates: seed; attributes of documents: passage; "
        "attributes of systems: passage"
    )


@pytest.mark.long
def test_more_seeds_come_next_week(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "table", "in.csv", fields=ON)
    assert load_text(EXAMPLE, "table", "in.csv", fields=ON).rows_new == 0
    load_text(EXAMPLE + "base,3,P1,Q1,1,1\n", "table", "in.csv", fields=ON)
    assert values(database, "distinct system") == [(f"base#{k}",) for k in (1, 2, 3)] + [("tuned#1",), ("tuned#2",)]


def test_replicates_need_no_names(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    (tmp_path / "qa.csv").write_text(EXAMPLE)
    with create(path) as store:
        load(store, tmp_path / "qa.csv", "table")
    with Session.open(path) as session:
        rows = session.run("score acc for all on qa replicates by system.model").rows
        assert {row["system"]: (row["acc"], row["replicates"]) for row in rows} == {"base": (0.5, 2), "tuned": (1.0, 2)}
        assert "question" in str(session.run('compare acc for "base#1", "tuned#1" on qa exact').caption)


def as_csv(rows: list[dict[str, object]], file: Path) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    file.write_text(text.getvalue())


def as_lines(rows: list[dict[str, object]], file: Path) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def as_json(rows: list[dict[str, object]], file: Path) -> None:
    file.write_text(json.dumps(rows, indent=2))


def as_parquet(rows: list[dict[str, object]], file: Path) -> None:
    pandas.DataFrame(rows).to_parquet(file)


def as_workbook(rows: list[dict[str, object]], file: Path) -> None:
    book = openpyxl.Workbook()
    book.create_sheet("empty")
    for row in (list(rows[0]), *(list(row.values()) for row in rows)):
        book.worksheets[0].append(row)
    book.save(file)


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        ("csv", as_csv),
        ("jsonl", as_lines),
        ("json", as_json),
        ("parquet", as_parquet),
        ("xlsx", as_workbook),
    ],
)
def test_every_format_is_recognized_and_gives_the_same(
    database: Database, tmp_path: Path, ending: str, write: Callable[[list[dict[str, object]], Path], None]
) -> None:
    rows: list[dict[str, object]] = [
        {"model": model, "question": f"Q{k}", "kind": "hard" if k else "easy", "correct": k == 0, "f1": k / 4}
        for model in ("base", "tuned")
        for k in range(2)
    ]
    file = tmp_path / f"qa.{ending}"
    write(rows, file)
    assert recognize(file, database).reader == "table"
    load(database, file, "table")
    assert values(database, "test_set", "system", "document", "measure", "value")[:4] == [
        ("qa", "base", "Q0", "accuracy", 1.0),
        ("qa", "base", "Q0", "f1", 0.0),
        ("qa", "base", "Q1", "accuracy", 0.0),
        ("qa", "base", "Q1", "f1", 0.25),
    ]
    assert attributes(database, "document") == [("Q0", "kind", "easy"), ("Q1", "kind", "hard")]
    assert database.rows(Sql("select noun from observed")) == [("question",)]


def test_a_column_a_system(database: Database, load_text: Load, tmp_path: Path) -> None:
    text = "document,source,sysA,sysB\nD1,radio,1,0.5\nD2,press,0,\n"
    notes = load_text(text, "table", "in.csv", fields=ON, options={"wide": "systems", "measure": "acc"}).notes
    assert values(database) == [("sysA", "D1", "acc", 1.0), ("sysA", "D2", "acc", 0.0), ("sysB", "D1", "acc", 0.5)]
    assert attributes(database, "document") == [("D1", "source", "radio"), ("D2", "source", "press")]
    assert notes == (
        "systems: sysA, sysB; document: document; attributes of documents: source",
        "1 cell of sysB without a value",
    )


def test_numbers_by_document_are_asked_about(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    file.write_text("document,sysA,sysB\nD1,1,0.5\n")
    asking = recognize(file, database)
    assert asking.reader == "table"
    assert asking.unsure == (
        "sysA, sysB could be systems (--wide systems --measure NAME), measures of one system (--as table --set "
        "system=NAME) or attributes of documents (--as documents)"
    )
    known = recognize_file(file, database, EVERYWHERE, {"wide": "systems", "measure": "acc"})
    assert known is not None
    assert known.unsure == ""
    file.write_text("document,source,length\nD1,radio,7\n")
    assert recognize(file, database).reader == "documents"
    file.write_text("model,question,seed\nbase,Q1,1\n")
    with pytest.raises(DataError, match="its format is not recognized"):
        recognize(file, database)


def test_measures_may_be_named(database: Database, load_text: Load) -> None:
    text = "model,question,length,acc\nbase,Q1,12,1\nbase,Q2,9,0\n"
    load_text(text, "table", "in.csv", fields=ON, options={"measures": "acc"})
    assert values(database, "distinct measure") == [("acc",)]
    assert attributes(database, "document") == [("Q1", "length", "12"), ("Q2", "length", "9")]


def test_of_several_names_the_one_that_pairs_systems_is_taken(database: Database, load_text: Load) -> None:
    text = "id,model,task,topic,question,acc\n1,a,qa,T,Q1,1\n2,a,qa,T,Q2,0\n3,b,qa,T,Q1,1\n4,b,qa,T,Q2,1\n"
    load_text(text, "table", "in.csv")
    assert values(database, "distinct test_set, document") == [("qa", "Q1"), ("qa", "Q2")]


def test_fields_may_be_mapped_and_set(database: Database, load_text: Load) -> None:
    text = "name,question,prompt_no,acc\nbase,same,1,1\nbase,same,2,0\n"
    load_text(text, "table", "in.csv", fields=ON, columns={"system": "name", "document": "prompt_no"})
    assert values(database) == [("base", "1", "acc", 1.0), ("base", "2", "acc", 0.0)]


def test_what_has_no_value_and_what_is_long_is_left_out(database: Database, load_text: Load) -> None:
    rows = [f"base,Q{k},{value},{'x' * 300},{k % 2}{k}" for k, value in enumerate(("0.5", "NaN", "n/a", ""))]
    notes = load_text("model,question,acc,output,other\n" + "\n".join(rows), "table", "in.csv", fields=ON,
                      options={"measures": "acc"}).notes  # fmt: skip
    assert values(database) == [("base", "Q0", "acc", 0.5)]
    assert notes[1:] == (
        "left out (texts, which --texts stores): output",
        "3 cells of acc without a value",
    )


HEAD = "model,question,acc\n"
SAYS = "--measures A,B says which are measures"


@pytest.mark.parametrize(
    ("text", "options", "sentences"),
    [
        (HEAD + "a,Q1,1\na,Q2,high\n", {"measures": "acc"}, ["in.csv:3: acc is 'high', not a number"]),
        (HEAD + "a,Q1,1\na,Q2,high\n", {}, ["in.csv:3: acc is 'high', and a number in 1 other row; " + SAYS]),
        (HEAD + "a,Q1,inf\na,Q2,1\n", {}, ["in.csv:2: acc is 'inf', and a number in 1 other row; " + SAYS]),
        (HEAD + "a,Q1,1e300\na,Q2,1\n", {}, ["in.csv:2: acc is '1e300', and a number in 1 other row; " + SAYS]),
        (HEAD + "a,,1\n,Q2,1\n", {}, ["in.csv:2: document is empty", "in.csv:3: system is empty"]),
        (
            "model,question,seed,acc\na,Q1,1,1\na,Q1,1,0\n",
            {},
            ["in.csv:3: T, a, Q1, acc has value 0.0, but on line 2 it has value 1.0"],
        ),
        (HEAD + "a,Q1,\n", {"measures": "acc"}, ["in.csv:1: the column 'acc' is empty, so it is not a measure"]),
        (HEAD, {}, ["in.csv: there is a header, but no rows"]),
        (HEAD + "a,Q1,x\n", {}, ["in.csv:1: no column holds only numbers (acc is 'x'); " + SAYS]),
        (
            HEAD + "a,Q1,1\n",
            {"measures": "f1"},
            ["in.csv:1: there is no column 'f1'; the columns are model, question, acc"],
        ),
        (
            "model,question,acc,acc\na,Q1,1,0\n",
            {},
            ["in.csv:1: the column 'acc' appears more than once in the header"],
        ),
        (
            "question,acc\nQ1,1\n",
            {},
            [
                "in.csv:1: nothing names the system: --map system=COLUMN names its column, --set system=NAME the only "
                "one, and --wide systems --measure NAME says that acc are systems"
            ],
        ),
        (
            "question,a,b\nQ1,1,0\n",
            {"wide": "systems"},
            ["in.csv:1: nothing says what the numbers of a, b measure; --measure NAME does"],
        ),
        (
            "model,text,acc\na,Q1,1\n",
            {},
            [
                "in.csv:1: no column names the documents, as document, sample, question, item, instance or id would; "
                "--map document=COLUMN says which does (text)"
            ],
        ),
        (
            "model,item,question,acc\na,1,Q1,1\na,1,Q1,0\n",
            {},
            [
                "in.csv:1: item and question could name the documents, and none tells the rows of a system apart; "
                "--map document=COLUMN says which is meant"
            ],
        ),
    ],
)
def test_what_is_wrong_is_said(
    complaints: Complaints, text: str, options: dict[str, str], sentences: list[str]
) -> None:
    assert complaints(text, "table", "in.csv", fields=ON, options=options) == sentences


def test_two_names_for_a_test_set_are_asked_about(complaints: Complaints) -> None:
    text = "benchmark,task,model,question,acc\nB,T,a,Q1,1\n"
    assert complaints(text, "table", "in.csv") == [
        "in.csv:1: benchmark and task could be the test set; --map test_set=benchmark says which"
    ]


def test_workbooks_that_cannot_be_meant_are_refused(untouched: Database, tmp_path: Path) -> None:
    file = tmp_path / "in.xlsx"
    file.write_bytes(b"PK not a workbook")
    with pytest.raises(DataError, match="this is not a sound Excel workbook"):
        load(untouched, file, "table")
    book = openpyxl.Workbook()
    book.save(file)
    with pytest.raises(DataError, match="no sheet of the workbook has rows"):
        load(untouched, file, "table")
    for sheet in (book.worksheets[0], book.create_sheet("b")):
        sheet.append(["model", "question", "acc"])
    book.save(file)
    with pytest.raises(DataError, match="several sheets have rows: 'Sheet', 'b'"):
        load(untouched, file, "table")


@pytest.mark.long
def test_many_columns(database: Database, load_text: Load, complaints: Complaints) -> None:
    wide = ",".join(f"m{k}" for k in range(300))
    load_text(f"model,question,{wide}\na,Q1" + ",1" * 300 + "\n", "table", "in.csv", fields=ON)
    assert values(database, "count(*)") == [(300,)]
    header = ",".join(f"m{k}" for k in range(20_001))
    assert complaints(header + "\n", "table", "in.csv", fields=ON) == [
        "in.csv:1: it has 20,001 columns, but a table may have at most 20,000"
    ]


def test_a_load_that_needs_more_memory_says_what_needs_less(database: Database, tmp_path: Path) -> None:
    def stage(staging: Staging) -> tuple[Staged, ...]:
        raise MemoryShortError("EVALHOUSE_MEMORY=8GB allows more")

    file = tmp_path / "a.csv"
    file.write_text("a,b\n")
    with pytest.raises(WarehouseError, match="loading it needs more memory") as refused:
        load(database, file, replace(READERS["table"], stage=stage))
    assert refused.value.hints == (
        "split it into files of fewer rows and load those",
        "EVALHOUSE_MEMORY=8GB allows more",
    )


@pytest.mark.parametrize(("characters", "held"), [(10, 0), (20_000, 1)])
def test_long_rows_may_take_more_memory(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, characters: int, held: int
) -> None:
    asked: list[Database] = []
    monkeypatch.setattr(Database, "hold_more", lambda self: asked.append(self))
    file = tmp_path / "a.csv"
    file.write_text("test_set,model,id,acc,response\n" + f"T,A,D1,1,{'x' * characters}\n")
    load(database, file, "table", texts=True)
    assert len(asked) == held


@pytest.mark.parametrize("wrong", ["inf", "oops"])
def test_a_wrong_cell_in_the_only_measure_is_named_where_the_format_was_not(
    wrong: str, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "in.csv"
    file.write_text(f"system,question,acc\na,Q1,1\na,Q2,0.5\nb,Q1,0\nb,Q2,{wrong}\n")
    with pytest.raises(DataError, match=rf"in\.csv:5: acc is '{wrong}', and a number in 3 other rows"):
        load(database, file, recognize(file, database).reader, fields={"test_set": "T"})


def test_it_is_called_table_too(database: Database, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("model,question,acc\na,Q1,1\n")
    request = LoadRequest([str(tmp_path / "in.csv")], "table", ON)
    [file] = plan(request, database, tmp_path).files
    assert file.reader.name == "table"
    assert load(database, tmp_path / "in.csv", "table", fields=ON).reader == "table"
