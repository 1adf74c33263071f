"""Results of HumanEval and EvalPlus: completions are attempts, and the pass@k of EvalPlus comes out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.human_eval import EXAMPLE, EXAMPLE_OF_EVALPLUS
from evalhouse.warehouse.loading.staging.staged import name_it
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load


def values(database: Database, measure: str = "accuracy", test_set: str = "HumanEval") -> list[tuple[object, ...]]:
    query = "select system, document, value from document_values where measure = ? and test_set = ? order by all"
    return database.rows(Sql(query, (measure, test_set)))


def test_completions_of_a_task_are_runs(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "human-eval", "gpt-4.jsonl_results.jsonl", texts=True)
    assert values(database) == [
        ("gpt-4", "HumanEval/0", 1.0),
        ("gpt-4", "HumanEval/1", 0.0),
        ("gpt-4#2", "HumanEval/0", 0.0),
        ("gpt-4#2", "HumanEval/1", 1.0),
    ]
    query = "select system, text from texts where document = 'HumanEval/0' order by system"
    assert database.rows(Sql(query)) == [("gpt-4", "    return 1\n"), ("gpt-4#2", "    return 2\n")]


def test_one_completion_of_each_task_is_no_run(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE.splitlines()[0], "human-eval", "gpt-4.jsonl_results.jsonl")
    assert database.rows(Sql("select count(*) from runs")) == [(0,)]


def test_base_and_plus_are_measures_and_plus_a_test_set_too(database: Database, load_text: Load) -> None:
    loaded = load_text(EXAMPLE_OF_EVALPLUS, "human-eval", "acme--m1.eval_results.json", texts=True)
    base = [
        ("acme/m1", "HumanEval/0", 1.0),
        ("acme/m1", "HumanEval/1", 1.0),
        ("acme/m1#2", "HumanEval/0", 0.0),
        ("acme/m1#2", "HumanEval/1", 1.0),
    ]
    assert values(database) == values(database, "base") == base
    plus = [("acme/m1", "HumanEval/0", 0.0), *base[1:]]
    assert values(database, "plus") == values(database, test_set="HumanEval:plus") == plus
    assert loaded.disagreeing == ()


def test_a_pass_at_k_that_differs_is_said(load_text: Load) -> None:
    said = json.loads(EXAMPLE_OF_EVALPLUS)
    said["pass_at_k"] = {"base": {"pass@1": 0.5, "pass@2": 1.0}, "plus": {"pass@2": 0.25}}
    assert load_text(json.dumps(said), "human-eval", "m1_eval_results.json").disagreeing == (
        "the file gives pass@1 of base as 0.5, but pass@1 of the completions here is 0.75",
        "the file gives pass@2 of plus as 0.25, but pass@2 of the completions here is 0.5",
    )


def test_base_tests_alone_and_older_results(database: Database, load_text: Load) -> None:
    older: dict[str, Any] = {"nfiles": 1, "base": [["success", [True]]], "plus": [["failed", [False]]]}
    alone = [{"task_id": "HumanEval/1", "base_status": "pass", "plus_status": None}]
    said = {"hash": "h", "eval": {"HumanEval/0": older, "HumanEval/1": alone}}
    load_text(json.dumps(said), "human-eval", "m1_eval_results.json")
    assert values(database, "base") == [("m1", "HumanEval/0", 1.0), ("m1", "HumanEval/1", 1.0)]
    assert values(database, "plus") == [("m1", "HumanEval/0", 0.0)]


def test_a_file_without_a_name_of_its_own_is_of_its_folder(database: Database, tmp_path: Path) -> None:
    (tmp_path / "m1").mkdir()
    (tmp_path / "m1" / "eval_results.json").write_text(EXAMPLE_OF_EVALPLUS)
    load(database, tmp_path / "m1" / "eval_results.json", "human-eval")
    assert {row[0] for row in values(database)} == {"m1", "m1#2"}


@pytest.mark.parametrize(
    ("text", "file", "sentence"),
    [
        (
            EXAMPLE,
            "samples.jsonl_results.jsonl",
            f"the file does not name the system; {name_it('system')}",
        ),
        (EXAMPLE.replace("true", '"yes"'), "m.jsonl", "expected 'bool', got 'str' - at '$.passed'"),
        ('{"hash": "h", "eval": []}', "m.json", "this is not the results of EvalPlus: expected 'object', got 'array'"),
    ],
)
def test_what_has_no_results_is_refused(complaints: Complaints, text: str, file: str, sentence: str) -> None:
    [said] = complaints(text, "human-eval", file)
    assert sentence in said
