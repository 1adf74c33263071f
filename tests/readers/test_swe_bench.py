"""Reports of SWE-bench: what a model resolved, and what failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.swe_bench import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

LITE = {"test_set": "lite"}
FILE = "acme__gpt-4.1.run7.json"


def values(database: Database) -> list[tuple[object, ...]]:
    query = "select test_set, system, document, measure, value from document_values order by all"
    return database.rows(Sql(query))


def failures(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select item, reason from failures order by all"))


def test_what_was_submitted_is_right_or_wrong(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "swe-bench", FILE, fields=LITE)
    assert values(database) == [
        ("lite", "acme/gpt-4.1", "a__a-1", "accuracy", 1.0),
        ("lite", "acme/gpt-4.1", "a__a-2", "accuracy", 0.0),
        ("lite", "acme/gpt-4.1", "b__b-7", "accuracy", 0.0),
    ]
    assert failures(database) == [("b__b-7", "no answer")]
    assert database.rows(Sql("select model, run from runs")) == [("acme/gpt-4.1", "run7")]


def test_what_was_not_submitted_has_no_value(database: Database, load_text: Load) -> None:
    said = {**json.loads(EXAMPLE), "incomplete_ids": ["c__c-3"], "error_ids": ["d__d-4"]}
    load_text(json.dumps(said), "swe-bench", FILE, fields=LITE)
    assert [row[2] for row in values(database)] == ["a__a-1", "a__a-2", "b__b-7", "d__d-4"]
    assert failures(database) == [("b__b-7", "no answer"), ("c__c-3", "no answer"), ("d__d-4", "error")]


def test_another_run_is_a_replicate(database: Database, load_text: Load) -> None:
    for run in ("run7", "run8"):
        load_text(EXAMPLE, "swe-bench", FILE.replace("run7", run), fields=LITE)
    assert {row[1] for row in values(database)} == {"acme/gpt-4.1", "acme/gpt-4.1#2"}


def test_reports_of_instances_are_of_the_folders_around_them(database: Database, tmp_path: Path) -> None:
    for name, resolved, exists in (("a__a-1", True, True), ("a__a-2", False, False)):
        folder = tmp_path / "lite-run" / "acme__m1" / name
        folder.mkdir(parents=True)
        said = {"patch_is_None": not exists, "patch_successfully_applied": exists, "resolved": resolved}
        (folder / "report.json").write_text(json.dumps({name: said}))
        load(database, folder / "report.json", "swe-bench")
    assert values(database) == [
        ("lite-run", "acme/m1", "a__a-1", "accuracy", 1.0),
        ("lite-run", "acme/m1", "a__a-2", "accuracy", 0.0),
    ]
    assert failures(database) == [("a__a-2", "no answer")]


def test_a_submission_lists_what_became_of_its_instances(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "lite" / "20240402_sweagent"
    folder.mkdir(parents=True)
    said = {"resolved": ["a"], "generated": ["a", "b"], "applied": ["a", "b"], "no_generation": ["c"], "no_logs": []}
    (folder / "results.json").write_text(json.dumps(said))
    load(database, folder / "results.json", "swe-bench")
    assert [row[:3] + row[4:] for row in values(database)] == [
        ("lite", "20240402_sweagent", "a", 1.0),
        ("lite", "20240402_sweagent", "b", 0.0),
        ("lite", "20240402_sweagent", "c", 0.0),
    ]


def test_the_repository_of_submissions_names_them_by_folder(database: Database, tmp_path: Path) -> None:
    submission = tmp_path / "evaluation" / "lite" / "20240402_sweagent"
    for folder in ("results", "logs/a", "logs/b"):
        (submission / folder).mkdir(parents=True)
    lists = {"resolved": ["a"], "generated": ["a", "b"], "applied": ["a", "b"], "no_generation": [], "no_logs": []}
    (submission / "results" / "results.json").write_text(json.dumps(lists))
    load(database, submission / "results" / "results.json", "swe-bench")
    wanted = [("lite", "20240402_sweagent", "a", "accuracy", 1.0), ("lite", "20240402_sweagent", "b", "accuracy", 0.0)]
    assert values(database) == wanted
    for name, resolved in (("a", True), ("b", False)):
        report = {name: {"patch_is_None": False, "patch_successfully_applied": True, "resolved": resolved}}
        (submission / "logs" / name / "report.json").write_text(json.dumps(report))
        load(database, submission / "logs" / name / "report.json", "swe-bench")
    assert values(database) == wanted


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("{", "r.json:1: this is not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "r.json: this is not an object"),
        ({}, "r.json: this is not a report of SWE-bench: it does not list what was resolved"),
        ({"resolved_ids": ["a", "a"]}, "r.json: a is listed twice in resolved_ids"),
        ({"resolved_ids": [1]}, "r.json: resolved_ids is not a list of names"),
        ({"resolved_ids": ["a"], "error_ids": ["a"]}, "r.json: a is listed as resolved and as failed"),
    ],
)
def test_what_is_no_report_is_refused(complaints: Complaints, said: object, sentence: str) -> None:
    text = said if isinstance(said, str) else json.dumps(said)
    assert complaints(text, "swe-bench", "r.json", fields=LITE) == [sentence]


def test_what_a_report_counts_is_compared_with_what_it_lists(load_text: Load) -> None:
    said = json.loads(EXAMPLE)
    assert load_text(EXAMPLE, "swe-bench", FILE, fields=LITE).disagreeing == ()
    wrong = {**said, "resolved_instances": 2, "empty_patch_instances": 0, "error_instances": 4}
    assert load_text(json.dumps(wrong), "swe-bench", FILE, fields=LITE).disagreeing == (
        "the report gives resolved_instances as 2, but the number of resolved instances here is 1",
        "the report gives empty_patch_instances as 0, but the number of empty_patch instances here is 1",
        "the report gives error_instances as 4, but the number of error instances here is 0",
    )
