"""Answers to questions. Exact match and F1 are compared with the definitions of SQuAD, written here once more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.loading.readers import READERS, Recognition, Role, Start
from evalhouse.warehouse.loading.readers.answers import exact_match, f1, r_precision
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import Complaints, Load

ON = {"test_set": "quiz", "system": "ours"}


def squad(*questions: tuple[str, list[str]], impossible: tuple[str, ...] = ()) -> str:
    """Questions with their right answers, as SQuAD has them."""
    asked = [
        {
            "id": name,
            "question": f"{name}?",
            "answers": [{"text": text, "answer_start": 0} for text in right],
            **({"is_impossible": name in impossible} if impossible else {}),
        }
        for name, right in questions
    ]
    return json.dumps({"version": "x", "data": [{"title": "T", "paragraphs": [{"context": "…", "qas": asked}]}]})


GOLD = squad(("a1", ["Iva"]), ("a2", ["in 1990", "1990"]), ("a3", ["the old Brno castle"]))
OURS = {"a1": "Oro", "a2": "The 1990.", "a3": "Brno, old"}


def found(database: Database) -> dict[tuple[str, str], float]:
    rows = database.rows(Sql("select document, measure, value from document_values"))
    return {(document, measure): value for document, measure, value in rows}


def test_answers_to_squad(database: Database, load_text: Load) -> None:
    load_text(GOLD, "answers", "gold.json")
    load_text(json.dumps(OURS), "answers", "ours.json", fields=ON, options={"gold": "gold.json"}, texts=True)
    values = found(database)
    assert {name: value for (name, measure), value in values.items() if measure == "exact_match"} == {
        "a1": 0.0,
        "a2": 1.0,
        "a3": 0.0,
    }
    assert values["a3", "f1"] == pytest.approx(2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3))
    assert check(database) == ()


def test_a_question_without_an_answer_is_wrong_and_failed(database: Database, load_text: Load) -> None:
    load_text(GOLD, "answers", "gold.json")
    ours = json.dumps({"a1": "Iva", "b7": "x", "a3": ""})
    loaded = load_text(ours, "answers", "ours.json", fields=ON, options={"gold": "gold.json"})
    assert "left out (no such question): b7" in loaded.notes
    assert found(database)["a2", "f1"] == found(database)["a2", "exact_match"] == 0.0
    assert database.rows(Sql("select item, reason from failures")) == [("a2", "no answer")]


def test_no_answer_may_be_right(database: Database, load_text: Load) -> None:
    """As in SQuAD 2.0."""
    load_text(squad(("a1", []), ("a2", ["Brno"]), impossible=("a1",)), "answers", "gold.json")
    load_text('{"a1": "", "a2": ""}', "answers", "ours.json", fields=ON, options={"gold": "gold.json"})
    values = found(database)
    assert (values["a1", "exact_match"], values["a1", "f1"]) == (1.0, 1.0)
    assert (values["a2", "exact_match"], values["a2", "f1"]) == (0.0, 0.0)


WORDS = st.lists(st.sampled_from(["the", "a", "Brno", "brno", "old.", "Old", "1990", "-", "castle"]), max_size=5).map(
    " ".join
)


def plain(text: str) -> list[str]:
    """The words of an answer that count: lower case, no punctuation, and then no articles."""
    letters = "".join(sign for sign in text.lower() if sign not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    return [word for word in letters.split() if word not in ("a", "an", "the")]


def overlap(given: list[str], right: list[str]) -> float:
    left, same = list(right), 0
    for word in given:
        if word in left:
            left.remove(word)
            same += 1
    precision, recall = (same / len(words) if words else 0.0 for words in (given, right))
    return 2 * precision * recall / (precision + recall) if same else 0.0


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_answers_are_compared_as_squad_defines_it(answer: str, right: list[str]) -> None:
    assert exact_match(answer, right) == float(plain(answer) in [plain(one) for one in right])
    assert f1(answer, right) == pytest.approx(max(overlap(plain(answer), plain(one)) for one in right))
    if plain(answer) and all(map(plain, right)):
        assert f1(answer, right, may_be_none=True) == f1(answer, right)


@pytest.mark.parametrize(
    ("pages", "right", "value"),
    [
        (["1", "2"], [{"1"}], 1.0),
        (["2", "1"], [{"1"}], 0.0),
        (["2", "1", "3"], [{"1", "3"}], 0.5),
        (["2", "1"], [{"1"}, {"2", "1"}], 1.0),
        (["2", "2", "1"], [{"1", "3"}], 0.5),
        ([], [{"1"}], 0.0),
    ],
)
def test_r_precision(pages: list[str], right: list[set[str]], value: float) -> None:
    assert r_precision(pages, [frozenset(one) for one in right]) == value


def kilt(**outputs: list[tuple[str, list[str]]]) -> str:
    def output(answer: str, pages: list[str]) -> dict[str, Any]:
        return {"answer": answer, "provenance": [{"wikipedia_id": page, "title": "T"} for page in pages]}

    return "".join(
        json.dumps({"id": name, "input": f"{name}?", "output": [output(*one) for one in of]}) + "\n"
        for name, of in outputs.items()
    )


def test_answers_to_kilt(database: Database, load_text: Load) -> None:
    load_text(kilt(q1=[("Goethe", ["12"])], q2=[("Peru", ["3", "4"]), ("Lima", ["5"])]), "answers", "gold.jsonl")
    ours = kilt(q1=[("J. W. Goethe", ["7", "12"])], q2=[("lima", ["5"])])
    load_text(ours, "answers", "ours.jsonl", fields=ON, options={"gold": "gold.jsonl"})
    values = found(database)
    assert {measure: values["q1", measure] for measure in ("exact_match", "f1", "Rprec")} == {
        "exact_match": 0.0,
        "f1": 0.5,
        "Rprec": 0.0,
    }
    assert {values["q2", measure] for measure in ("exact_match", "f1", "Rprec")} == {1.0}


@pytest.mark.parametrize(
    ("name", "text", "beside", "role"),
    [
        ("dev-v1.1.json", GOLD, set(), Role.KEY),
        ("predictions.json", json.dumps(OURS), set(), Role.FACTS),
        ("ours.json", json.dumps(OURS), {"gold.json", "ours.json"}, Role.FACTS),
        ("names.json", json.dumps(OURS), {"names.json"}, None),
        ("ours.json", '[{"id": "a1", "prediction_text": "Iva"}]', set(), Role.FACTS),
        ("nq-dev-kilt.jsonl", kilt(q=[("a", ["1"])]), set(), Role.KEY),
        ("ours.jsonl", kilt(q=[("a", ["1"])]), {"nq-dev-kilt.jsonl"}, Role.FACTS),
        ("config.json", '{"name": "x", "layers": 3}', {"gold.json"}, None),
    ],
)
def test_each_is_recognized(name: str, text: str, beside: set[str], role: Role | None) -> None:
    known = READERS["answers"].recognizes(Start(name, text, path=Path(name), beside=frozenset(beside)))
    assert (known.role if isinstance(known, Recognition) else None) == role


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (json.dumps(OURS), "in: the right answers are not in this file; --gold FILE names the file with them"),
        ('{"a": 1}', "in: it has neither questions with right answers nor answers by the ids of questions"),
        ('{"id": "q", "prediction_text": "a"}\n{"id"\n', "in:2: this line is not JSON: Expecting ':' delimiter"),
    ],
)
def test_what_is_wrong_is_named(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "answers", "in", fields=ON) == [sentence]
