"""Annotations of AlpacaEval: win rates by instruction, against the model that answers are compared with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import Role
from evalhouse.warehouse.loading.readers.alpaca_eval import EXAMPLE
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

FILE = "annotations.json"


def annotation(instruction: str, preference: object, model: str = "m1", **others: object) -> dict[str, object]:
    said = {"instruction": instruction, "generator_1": "base", "generator_2": model, "preference": preference}
    return {**said, **others}


def values(database: Database) -> list[tuple[object, ...]]:
    query = "select test_set, system, document, measure, value from document_values order by all"
    return database.rows(Sql(query))


def test_preferences_are_win_rates_of_the_second_output(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "alpaca-eval", FILE)
    assert values(database) == [
        ("alpaca_eval:gpt4_turbo", "m1", "How do I wrap a present?", "win_rate", 0.75),
        ("alpaca_eval:gpt4_turbo", "m1", "Name a mountain", "win_rate", 0.0),
    ]
    query = "select distinct attribute, value from document_attributes"
    assert database.rows(Sql(query)) == [("dataset", "koala")]


def test_long_instructions_are_cut_and_told_apart(database: Database, load_text: Load) -> None:
    long = "Write a poem about\nthe sea, " * 5
    load_text(json.dumps([annotation(long + "A", 1), annotation(long + "B", 2)]), "alpaca-eval", FILE)
    names = [str(row[2]) for row in values(database)]
    assert len(set(names)) == 2
    assert all(name.startswith("Write a poem about the sea, Write a poem") and len(name) < 80 for name in names)


def test_an_instruction_that_is_there_twice_is_two_documents(database: Database, load_text: Load) -> None:
    load_text(json.dumps([annotation("Hi", 1), annotation("Hi", 2)]), "alpaca-eval", FILE)
    assert [row[2:] for row in values(database)] == [("Hi", "win_rate", 0.0), ("Hi (2)", "win_rate", 1.0)]


def test_what_the_annotator_did_not_decide_is_a_failure(database: Database, load_text: Load) -> None:
    load_text(json.dumps([annotation("A", 1.5), annotation("B", None), annotation("C", float("nan"))]), "alpaca-eval")
    assert database.rows(Sql("select item, reason from failures order by all")) == [
        ("B", "no answer"),
        ("C", "no answer"),
    ]
    assert [row[2:] for row in values(database)] == [("A", "win_rate", 0.5)]


def test_another_annotator_is_a_replicate(database: Database, load_text: Load) -> None:
    for annotator, preference in (("gpt4", 1), ("claude", 2)):
        load_text(json.dumps([annotation("A", preference, annotator=annotator)]), "alpaca-eval", f"{annotator}.json")
    assert [row[1:] for row in values(database)] == [("m1", "A", "win_rate", 0.0), ("m1#2", "A", "win_rate", 1.0)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (EXAMPLE[:-4], "annotations.json:4: this is not JSON"),
        ("{}", "annotations.json: this is not a list of annotations"),
        ('[{"instruction": "x"}]', "annotations.json: annotation 1 has no generator_1"),
        (json.dumps([annotation("A", "2")]), "annotations.json: the preference of annotation 1 is '2', not a number"),
        (json.dumps([annotation("A", 3)]), "annotations.json: the preference of annotation 1 is 3, not from 1 to 2"),
    ],
)
def test_what_is_no_annotation_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "alpaca-eval", FILE) == [sentence]


def test_the_leaderboard_beside_is_compared_with_the_annotations(database: Database, tmp_path: Path) -> None:
    head = ",win_rate,standard_error,n_total,mode,avg_length,length_controlled_winrate\n"
    (tmp_path / FILE).write_text(EXAMPLE)
    board = tmp_path / "leaderboard.csv"
    board.write_text(head + "m1,37.5,1.0,2,community,100,41.2\nother,9.0,1.0,2,community,100,9.9\n")
    assert recognize(board, database).role is Role.PART
    assert load(database, tmp_path / FILE, "alpaca-eval").disagreeing == ()
    board.write_text(head + "m1,73.5,1.0,2,community,100,41.2\n")
    assert load(database, tmp_path / FILE, "alpaca-eval").disagreeing == (
        "leaderboard.csv gives the win rate of m1 as 73.5, but the mean of the samples is 37.5",
    )
