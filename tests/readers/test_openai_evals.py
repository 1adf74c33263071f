"""Logs of OpenAI's evals: matches, metrics, failures and the final report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalhouse.warehouse.loading.readers.openai_evals import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

SPEC = {"completion_fns": ["m1", "judge"], "eval_name": "quiz.dev.v0", "base_eval": "quiz", "run_id": "r1"}


def log(*events: tuple[str, str, Any], report: dict[str, Any] | None = None) -> str:
    lines: list[dict[str, Any]] = [{"spec": SPEC}]
    for place, (sample, kind, data) in enumerate(events):
        lines.append({"run_id": "r1", "event_id": place, "sample_id": sample, "type": kind, "data": data})
    return "\n".join(map(json.dumps, [*lines, *([{"final_report": report}] if report else [])]))


def values(database: Database, measure: str = "accuracy") -> list[tuple[object, ...]]:
    query = "select system, document, value from document_values where measure = ? order by all"
    return database.rows(Sql(query, (measure,)))


def test_a_sample_is_a_document_and_a_match_its_accuracy(database: Database, load_text: Load) -> None:
    loaded = load_text(EXAMPLE, "openai-evals", "log.jsonl", texts=True)
    assert values(database) == [("m1", "birds.dev.0", 1.0), ("m1", "birds.dev.1", 0.0)]
    assert loaded.disagreeing == ()
    query = "select test_set, kind, text from texts where document = 'birds.dev.0' order by kind"
    assert database.rows(Sql(query)) == [
        ("birds", "input", "Name a bird"),
        ("birds", "output", "wren"),
        ("birds", "reference", "wren"),
    ]


def test_numbers_of_metrics_are_measures_and_usage_is_summed(database: Database, load_text: Load) -> None:
    usage = {"sampled": ["a"], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}
    events = [("0", "sampling", usage), ("0", "sampling", usage), ("0", "metrics", {"f1_score": 0.5, "choice": "A"})]
    load_text(log(*events), "openai-evals", "log.jsonl")
    assert values(database, "f1_score") == [("m1", "0", 0.5)]
    assert values(database, "tokens") == [("m1", "0", 20.0)]
    assert database.rows(Sql("select count(*) from failures")) == [(0,)]


def test_what_was_asked_without_a_score_is_a_failure(database: Database, load_text: Load) -> None:
    events = [("0", "match", {"correct": True}), ("1", "error", {}), ("2", "sampling", {"sampled": "x"})]
    load_text(log(*events), "openai-evals", "log.jsonl")
    query = "select item, reason from failures order by all"
    assert database.rows(Sql(query)) == [("1", "error"), ("2", "not scored")]


def test_what_the_model_is_told_by_the_system_is_no_question(database: Database, load_text: Load) -> None:
    prompt = [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Who?"}]
    events = [("0", "sampling", {"prompt": prompt, "sampled": "x"}), ("0", "match", {"correct": True})]
    load_text(log(*events), "openai-evals", "log.jsonl", texts=True)
    assert database.rows(Sql("select text from texts where kind = 'input'")) == [("Who?",)]


def test_a_report_that_differs_is_said(load_text: Load) -> None:
    said = log(("0", "match", {"correct": True}), report={"accuracy": 0.25, "boostrap_std": 0.1})
    assert load_text(said, "openai-evals", "log.jsonl").disagreeing == (
        "the final report gives accuracy as 0.25, but the mean of the samples is 1",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '{"sample_id": 1, "type": "match"}',
            "l.jsonl: the log does not name the eval; name it with --set test_set=NAME",
        ),
        (log(), "l.jsonl: this is not a log of evals: it has no events of samples"),
        (
            '{"spec": []}',
            "l.jsonl:1: this is not a line of a log of evals: expected 'object | null', got 'array' - at '$.spec'",
        ),
    ],
)
def test_what_is_no_log_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "openai-evals", "l.jsonl") == [sentence]
