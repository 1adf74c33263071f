"""Outputs of promptfoo: what providers passed, with prompts, repetitions and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.promptfoo import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load


def result(test: int, *, success: bool = True, **more: Any) -> dict[str, Any]:
    return {
        "testIdx": test,
        "promptIdx": 0,
        "provider": {"id": "acme:m1", "label": ""},
        "prompt": {"raw": f"Name bird {test}", "label": "main"},
        "vars": {"n": test},
        "success": success,
        "score": float(success),
        **more,
    }


def output(*results: dict[str, Any], **more: Any) -> str:
    return json.dumps({"evalId": "e1", "results": {"version": 3, "results": results, **more}, "config": {}})


def values(database: Database, measure: str = "accuracy") -> list[tuple[object, ...]]:
    query = "select system, document, value from document_values where measure = ? order by all"
    return database.rows(Sql(query, (measure,)))


def test_a_test_is_a_document_and_a_provider_a_system(database: Database, load_text: Load) -> None:
    loaded = load_text(EXAMPLE, "promptfoo", "names.json", texts=True)
    assert values(database) == [("acme:m1", "0", 1.0), ("acme:m1", "1", 0.0)]
    assert values(database, "score") == [("acme:m1", "0", 1.0), ("acme:m1", "1", 0.25)]
    assert values(database, "tone") == [("acme:m1", "0", 0.5), ("acme:m1", "1", 0.75)]
    assert values(database, "seconds") == [("acme:m1", "0", 0.31), ("acme:m1", "1", 0.29)]
    assert database.rows(Sql("select measure, lower_is_better from direction")) == [("seconds", True)]
    assert loaded.disagreeing == ()
    query = "select test_set, kind, text from texts where document = '0' order by kind"
    assert database.rows(Sql(query)) == [("names", "input", "Name a bird"), ("names", "output", "A wren")]


def test_an_error_counts_as_wrong_and_is_a_failure(database: Database, load_text: Load) -> None:
    load_text(output(result(0), result(1, success=False, failureReason=2, error="no reply")), "promptfoo", "o.json")
    assert values(database) == [("acme:m1", "0", 1.0), ("acme:m1", "1", 0.0)]
    assert database.rows(Sql("select item, reason from failures")) == [("1", "error")]


def test_several_prompts_of_a_provider_are_systems(database: Database, load_text: Load) -> None:
    prompts = [{"raw": "Say", "label": "short"}, {"raw": "Say please", "label": "polite"}]
    load_text(output(*(result(0, promptIdx=n, prompt=it) for n, it in enumerate(prompts))), "promptfoo", "o.json")
    assert [system for system, *_ in values(database)] == ["acme:m1(prompt=polite)", "acme:m1(prompt=short)"]


def test_a_test_that_is_asked_again_is_a_run(database: Database, load_text: Load) -> None:
    again = {**result(0, success=False), "testIdx": 1}
    load_text(output(result(0), again), "promptfoo", "o.json")
    assert values(database) == [("acme:m1", "0", 1.0), ("acme:m1#2", "0", 0.0)]


def test_two_tests_may_have_the_same_variables(database: Database, load_text: Load) -> None:
    load_text(output(result(0), result(1), result(2, vars={"n": 1})), "promptfoo", "o.json")
    assert values(database) == [("acme:m1", "0", 1.0), ("acme:m1", "1", 1.0), ("acme:m1", "2", 1.0)]


def test_lines_of_results_are_an_output(database: Database, tmp_path: Path) -> None:
    (tmp_path / "o.jsonl").write_text("".join(json.dumps(result(n, success=n > 0)) + "\n" for n in range(3)))
    load(database, tmp_path / "o.jsonl", "promptfoo")
    assert [value for *_, value in values(database)] == [0.0, 1.0, 1.0]


def test_tokens_and_cost_are_kept_and_those_of_nothing_are_not(database: Database, load_text: Load) -> None:
    usage = {"output": "a", "tokenUsage": {"total": 30, "prompt": 10, "completion": 20}}
    load_text(output(result(0, response=usage, cost=0.25), result(1, cost=0)), "promptfoo", "o.json")
    for measure, value in (("tokens", 30), ("input_tokens", 10), ("output_tokens", 20), ("cost", 0.25)):
        assert values(database, measure) == [("acme:m1", "0", value)]


def test_what_the_head_counts_is_compared_with_the_tests(load_text: Load) -> None:
    head = [{"metrics": {"testPassCount": 2, "score": 1.0}}]
    loaded = load_text(output(result(0), result(1, success=False), prompts=head), "promptfoo", "o.json")
    assert loaded.disagreeing == (
        "the output gives testPassCount of acme:m1 as 2, but the number of tests that passed here is 1",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "o.json:1: this is not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "o.json: this is not an output of promptfoo: expected 'object', got 'array'"),
        (
            output({**result(0), "success": "yes"}),
            "o.json: this is not an output of promptfoo: expected 'bool', got 'str' "
            "- at '$.results.results[0].success'",
        ),
        (output(), "o.json: it has nothing to store"),
    ],
)
def test_what_is_no_output_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "promptfoo", "o.json") == [sentence]
