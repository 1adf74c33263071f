"""Tables of counts: which of them are recognized, how their columns are interpreted, and the errors of wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

TABLE = "test_set,system,document,attempts,passed\n"


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ("T,A,d1,5,-2\n", "passed is '-2', not a whole number from 0 to 999999999"),
        ("T,A,d1,5,1.5\n", "passed is '1.5', not a whole number"),
        ("T,A,d1,five,1\n", "attempts is 'five', not a whole number"),
        ("T,A,d1,9999999999,1\n", "attempts is '9999999999', not a whole number"),
        ("T,A,d1,1,2\n", "T, A, d1, passed: passed is 2, more than attempts, which is 1"),
        ("T,A,d1,5,1\nT,A,d1,5,2\n", "T, A, d1, passed has number 2, but on line 2 it has number 1"),
        ("T,,d1,5,1\n", "system is empty"),
    ],
)
def test_bad_counts_are_told_with_their_line(complaints: Complaints, rows: str, wrong: str) -> None:
    said = complaints(TABLE + rows, "counts")
    assert any(wrong in sentence for sentence in said), said


@pytest.mark.parametrize(
    ("header", "row", "wrong"),
    [
        ("system,document,cluster", "A,d1,1", "no count is called cluster"),
        ("system,document,n,N", "A,d1,1,2", "two counts whose names differ only in case"),
        ("system,document,seed,n", "A,d1,1,2", "the column seed distinguishes runs, and counts have no runs"),
        ("system,document,source,n", "A,d1,radio,2", "source is 'radio', not a whole number"),
        ("system,document", "A,d1", "there is no column of counts besides system, document"),
        ("system,document,n", "A,d1,", "there is a header, but no count below it"),
    ],
)
def test_bad_columns_are_told(complaints: Complaints, header: str, row: str, wrong: str) -> None:
    said = complaints(f"{header}\n{row}\n", "counts", fields={"test_set": "T"})
    assert any(wrong in sentence for sentence in said), said


def test_what_is_passed_is_compared_with_attempts_of_another_load(load_text: Load) -> None:
    load_text("test_set,system,document,attempts\nT,A,d1,3\n", "counts")
    with pytest.raises(DataError, match="T, A, d1, passed: passed is 4, more than attempts, which is 3"):
        load_text("test_set,system,document,passed\nT,A,d1,4\n", "counts")


def test_a_document_is_counted_whole_or_by_unit(complaints: Complaints) -> None:
    said = complaints("test_set,system,document,unit,n\nT,A,d1,,1\nT,A,d1,u,1\n", "counts")
    assert "which would count it twice" in said[0]


@pytest.mark.parametrize(
    ("header", "reader"),
    [
        ("system,document,attempts,passed", "counts"),
        ("model,question,passed,attempts,cost", "counts"),
        ("system,document,tp,fp,fn", "counts"),
        ("test_set,system,document,unit,count,number", "counts"),
        ("system,document,fluency,adequacy", "table"),
        ("system,document,correct", "table"),
    ],
)
def test_tables_are_recognized(database: Database, tmp_path: Path, header: str, reader: str) -> None:
    (tmp_path / "t.csv").write_text(header + "\n" + ",".join(["1"] * len(header.split(","))) + "\n", encoding="utf-8")
    assert recognize(tmp_path / "t.csv", database).reader == reader


def test_what_may_be_counts_or_values_is_asked(database: Database, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,document,correct,total\nA,d1,3,5\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"it could be counts \(its columns correct, total\) or table"):
        recognize(tmp_path / "t.csv", database)


def test_columns_are_called_in_other_ways_or_said(load_text: Load, database: Database) -> None:
    load_text("model,question_id,n\nA,q1,4\n", "counts", fields={"test_set": "T"})
    load_text(
        "system,document,length,n,run\nB,d,9,5,1\n", "counts", fields={"test_set": "U"}, options={"counts": "n, run"}
    )
    rows = database.rows(Sql("select test_set, system, document, count, number from counts order by all"))
    assert rows == [("T", "A", "q1", "n", 4), ("U", "B", "d", "n", 5), ("U", "B", "d", "run", 1)]
    assert database.rows(Sql("select noun from observed")) == [("question",)]
