"""Test runs of DeepEval: cases and scores, which direction is better, and where the files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.loading.finding import Found, find
from evalhouse.warehouse.loading.readers.deepeval import EXAMPLE
from evalhouse.warehouse.loading.staging.door import EVERYWHERE
from evalhouse.warehouse.loading.staging.staged import name_it
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"test_set": "t", "system": "m1"}


def case(asked: str, *, success: bool | None = True, metrics: tuple[dict[str, Any], ...] = (), **more: Any) -> Any:
    return {"name": "c", "input": asked, "success": success, "metricsData": list(metrics), **more}


def run(*cases: Any, **more: Any) -> str:
    return json.dumps({"testRunData": {"testCases": list(cases), **more}})


def values(database: Database, measure: str = "accuracy") -> list[tuple[object, ...]]:
    query = "select system, document, value from document_values where measure = ? order by all"
    return database.rows(Sql(query, (measure,)))


def test_a_case_is_a_document_by_its_input(database: Database, load_text: Load) -> None:
    loaded = load_text(EXAMPLE, "deepeval", "run.json", fields=ON, texts=True)
    assert values(database) == [("m1", "Name a bird", 1.0), ("m1", "Name a town", 0.0)]
    assert values(database, "Faithfulness") == [("m1", "Name a bird", 0.9), ("m1", "Name a town", 0.25)]
    assert loaded.disagreeing == ()
    query = "select kind, text from texts where document = 'Name a town' order by kind"
    assert database.rows(Sql(query)) == [("input", "Name a town"), ("output", "A wren")]


def test_the_same_input_again_is_another_run(database: Database, load_text: Load) -> None:
    load_text(run(case("a"), case("a", success=False)), "deepeval", "run.json", fields=ON)
    assert values(database) == [("m1", "a", 1.0), ("m1#2", "a", 0.0)]


def test_the_model_of_the_hyperparameters_is_the_system(database: Database, load_text: Load) -> None:
    said = run(case("a"), hyperparameters={"model": "acme-7"}, testFile="test_chat.py")
    load_text(said, "deepeval", "run.json")
    assert database.rows(Sql("select test_set, system from document_values")) == [("test_chat", "acme-7")]


def test_thresholds_tell_whether_lower_is_better(database: Database, load_text: Load) -> None:
    def scored(name: str, score: float, *, success: bool) -> dict[str, Any]:
        return {"name": name, "score": score, "threshold": 0.5, "success": success}

    metrics = [
        (scored("Bias", 0.1, success=True), scored("Recall", 0.9, success=True)),
        (scored("Bias", 0.9, success=False), scored("Recall", 0.1, success=False)),
    ]
    cases = (case(str(place), metrics=of_case) for place, of_case in enumerate(metrics))
    load_text(run(*cases), "deepeval", "run.json", fields=ON)
    query = "select measure, lower_is_better from direction order by all"
    assert database.rows(Sql(query)) == [("Bias", True)]


def test_a_case_without_an_outcome_is_a_failure(database: Database, load_text: Load) -> None:
    load_text(run(case("a"), case("b", success=None)), "deepeval", "run.json", fields=ON)
    assert values(database) == [("m1", "a", 1.0)]
    assert database.rows(Sql("select item, reason from failures")) == [("b", "not scored")]


def test_conversations_and_what_answers_took(database: Database, load_text: Load) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    spoken = {"name": "c", "scenario": "greeting", "success": True, "metricsData": [], "turns": turns}
    took: dict[str, Any] = {"inputTokenCount": 10, "outputTokenCount": 5, "completionTime": 1.5, "tokenCost": 0.25}
    said = run(case("a", **took), conversationalTestCases=[spoken])
    load_text(said, "deepeval", "run.json", fields=ON, texts=True)
    assert values(database) == [("m1", "a", 1.0), ("m1", "greeting", 1.0)]
    assert values(database, "tokens") == [("m1", "a", 15.0)]
    assert database.rows(Sql("select text from texts where kind = 'output'")) == [("Ho",)]


def test_what_the_run_counts_is_compared_with_its_cases(load_text: Load) -> None:
    loaded = load_text(run(case("a"), case("b", success=False), testPassed=2), "deepeval", "r.json", fields=ON)
    assert loaded.disagreeing == (
        "the test run gives testPassed as 2, but the number of cases that succeeded here is 1",
    )


def test_the_hidden_file_of_a_folder_is_found(tmp_path: Path) -> None:
    for name in (".deepeval/.latest_test_run.json", ".deepeval/.deepeval-cache.json", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = [file for file in find([str(tmp_path)], EVERYWHERE) if isinstance(file, Found)]
    assert [Path(file.called).name for file in found] == [".latest_test_run.json"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "r.json: this is not a test run of DeepEval: expected 'object', got 'array'"),
        (run(), "r.json: it has nothing to store"),
        (
            run({"input": 3}),
            "r.json: this is not a test run of DeepEval: expected 'str | null', got 'int' - at '$.testCases[0].input'",
        ),
    ],
)
def test_what_is_no_test_run_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "deepeval", "r.json", fields=ON) == [sentence]


def test_a_system_that_nothing_names_must_be_set(complaints: Complaints) -> None:
    said = f"r.json: the file does not name the system; {name_it('system')}"
    assert complaints(EXAMPLE, "deepeval", "r.json") == [said]
