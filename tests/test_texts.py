"""Texts: they are stored beside facts, can be asked for, and are forgotten with their import."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.plans.scores import texts
from evalhouse.warehouse.render import FORMATS, Style, render
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import open_warehouse
from evalhouse.warehouse.store.connecting import in_memory, open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import backup
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check


@pytest.fixture
def stored() -> Database:
    """A warehouse of two documents and two systems, with their texts."""
    database = in_memory()
    database.run(
        Sql(
            "insert into test_set values (1, 0, 'qa'); insert into system values (1, 'new'), (2, 'base'); "
            "insert into document values (1, 1, 'D1'), (2, 1, 'D2'); "
            "insert into document_text values "
            "(1, 1, 'reference', 2, 1, 4, 'four', 1), (1, 1, 'reference', 1, 1, 1, '4', 1), "
            "(1, 1, 'input', 1, 1, 6, '2 + 2?', 1), (1, 2, 'input', 1, 1, 0, '', 1); "
            "insert into system_text values "
            "(1, 1, 1, 'output', 1, 1, 8, 'It is 4.', 1), (1, 2, 1, 'output', 1, 1, 1, '5', 1), "
            "(1, 2, 1, 'input', 1, 1, 9, 'Q: 2 + 2?', 1), (1, 1, 2, 'output', 1, 1, 2, 'no', 1)"
        )
    )
    return database


def test_texts_of_named_documents_and_systems(stored: Database) -> None:
    of_both = stored.rows(texts(1, [1, 2], ["D1"]).sql)
    assert of_both == [
        ("D1", None, "input", "2 + 2?", 6),
        ("D1", "base", "input", "Q: 2 + 2?", 9),
        ("D1", None, "reference", "4", 1),
        ("D1", None, "reference", "four", 4),
        ("D1", "base", "output", "5", 1),
        ("D1", "new", "output", "It is 4.", 8),
    ]
    assert stored.rows(texts(1, [2], ["D2", "nowhere"]).sql) == [("D2", None, "input", "", 0)]
    assert stored.rows(texts(1, [], []).sql) == []


def test_texts_of_documents_that_a_query_gives_are_cut_where_they_are_long(stored: Database) -> None:
    query = texts(1, [1], Sql("select id from document where name = ?", ("D1",)), longest=3, called="of D1")
    assert query.name == "of D1"
    assert stored.rows(query.sql)[0] == ("D1", None, "input", "2 +", 6)
    assert stored.rows(query.sql)[-1] == ("D1", "new", "output", "It ", 8)


def test_the_view_has_names(stored: Database) -> None:
    stored.run(Sql("insert into import values (1, 'f', '', 'r', '{}', now(), 7, '', false)"))
    rows = stored.rows(Sql("select test_set, system, document, kind, number, text from texts order by all"))
    assert rows[:2] == [("qa", "base", "D1", "input", 1, "Q: 2 + 2?"), ("qa", "base", "D1", "output", 1, "5")]
    assert rows[-1] == ("qa", None, "D2", "input", 1, "")


ASKED = (
    "score accuracy for all on quiz",
    "compare accuracy for all on quiz",
    "coverage for all on quiz",
    "show test sets",
    "show systems",
    "show measures",
    "show attributes",
)
QUIZ = "\n".join(
    json.dumps({"model": model, "id": f"D{number}", "correct": (number * place) % 3 > 0, "prompt": f"P{number}"})
    for place, model in enumerate(("base", "tuned"), start=1)
    for number in range(8)
)
ANSWERED = QUIZ.replace('"prompt"', '"output": "\\u001b[31mred\\u202e<b>x</b>", "prompt"')


def answers(path: Path) -> list[str]:
    with Session.open(path) as session:
        return [render(session.run(text), "json", Style()) for text in ASKED]


def evalhouse(*words: str) -> None:
    assert cli.main([*words, "--quiet"]) == 0


@pytest.fixture
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse of answers, loaded without texts, beside their file."""
    monkeypatch.chdir(tmp_path)
    Path("quiz.jsonl").write_text(ANSWERED)
    evalhouse("init", "w.duckdb")
    evalhouse("load", "quiz.jsonl", "--db", "w.duckdb", "--set", "test_set=quiz")
    return tmp_path / "w.duckdb"


@pytest.mark.long
def test_texts_change_no_answer_and_no_signature(quiz: Path) -> None:
    before = answers(quiz)
    evalhouse("load", "quiz.jsonl", "--db", "w.duckdb", "--set", "test_set=quiz", "--texts")
    assert answers(quiz) == before
    with Session.open(quiz) as session:
        assert [row["texts"] for row in session.run("show texts").table.records()] == [8, 16]
    evalhouse("query", "forget import 2", "--db", "w.duckdb")
    assert answers(quiz) == before
    with open_database(quiz) as database:
        assert check(database) == ()


@pytest.mark.long
def test_what_shows_texts_cleans_them(quiz: Path) -> None:
    evalhouse("load", "quiz.jsonl", "--db", "w.duckdb", "--set", "test_set=quiz", "--texts")
    with Session.open(quiz) as session:
        result = session.run("sql \"select text from texts where kind = 'output' limit 2\"")
    for format in (format.name for format in FORMATS if "json" not in format.name):
        shown = render(result, format, Style())
        assert not {sign for sign in shown if unicodedata.category(sign) in ("Cc", "Cf")} - {"\n", "\r", "\t"}
        assert "<b>x</b>" not in shown or format not in ("html", "markdown")


@pytest.mark.long
def test_a_copy_and_a_lake_have_texts(quiz: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evalhouse("load", "quiz.jsonl", "--db", "w.duckdb", "--set", "test_set=quiz", "--texts")
    backup(quiz, tmp_path / "copy.duckdb")
    with open_database(tmp_path / "copy.duckdb") as database:
        assert database.rows(Sql("select count(*) from texts")) == [(24,)]
        assert check(database) == ()
    assert cli.main(["copy", "w.duckdb", "lake"]) == 0
    with open_warehouse(tmp_path / "lake") as database:
        assert database.rows(Sql("select count(*) from texts")) == [(24,)]
        assert check(database) == ()


@pytest.mark.long
def test_rows_of_imports_are_what_the_load_said(quiz: Path, tmp_path: Path) -> None:
    """However many pieces a text is stored in."""
    long = [
        json.loads(line) | {"id": f"E{place}", "prompt": "P" * 20_000} for place, line in enumerate(QUIZ.split("\n"))
    ]
    Path("long.jsonl").write_text("\n".join(map(json.dumps, long)))
    evalhouse("load", "long.jsonl", "--db", "w.duckdb", "--set", "test_set=long", "--texts")
    backup(quiz, tmp_path / "copy.duckdb")
    with Session.open(tmp_path / "copy.duckdb") as session:
        imports = session.run("show imports").table.records()
        assert [(row["rows"], row["texts"]) for row in imports] == [(16, None), (16, 16)]
        assert check(session.database) == ()
        forgotten = session.run("forget import 2").table.records()
    assert forgotten == [{"import": 2, "rows_removed": 16, "texts_removed": 16}]


@pytest.mark.long
def test_a_load_says_how_many_texts_it_brings(quiz: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["load", "quiz.jsonl", "--db", "w.duckdb", "--set", "test_set=quiz", "--texts"]
    assert cli.main([*words, "--dry-run"]) == 0
    assert "0 rows and 24 texts would be stored, of " in capsys.readouterr().err
    assert cli.main(words) == 0
    assert "0 rows and 24 texts stored as import 2; " in capsys.readouterr().err
    assert cli.main(words) == 0
    assert "and 24 texts are there already; nothing changed" in capsys.readouterr().err
    assert cli.main(["info", "--db", "w.duckdb"]) == 0
    assert "quiz\t\toutput\t2\t8\t16\t" in capsys.readouterr().out


@pytest.mark.long
def test_a_load_that_finds_no_text_says_so(quiz: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("v.csv").write_text("test_set,system,document,measure,value\nnews,base,D1,BLEU,31.4\n")
    assert cli.main(["load", "v.csv", "--db", "w.duckdb", "--texts"]) == 0
    assert "note: no file has texts that its reader can store" in capsys.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize(
    ("question", "answer", "response", "texts"), [("", "", "r", 2), ("q", "", "r", 3), ("", "", "", 0)]
)
def test_columns_of_texts_may_be_empty(
    tmp_path: Path, question: str, answer: str, response: str, texts: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{model},d0,{question},{answer},{response},0\n" for model in "AB")
    (tmp_path / "a.csv").write_text("model,id,question,answer,response,acc\n" + rows)
    database = str(tmp_path / "w.duckdb")
    evalhouse("init", database)
    assert cli.main(["load", str(tmp_path / "a.csv"), "--db", database, "--texts"]) == 0
    assert f"2 rows{f' and {texts} texts' if texts else ''} stored as import 1" in capsys.readouterr().err
