"""Outputs of OpenCompass: details are samples, runs of a dataset are runs, and the summary has the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.loading.ingest import Loaded, load
from evalhouse.warehouse.loading.readers.opencompass import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"system": "m1"}


def written(folder: Path, place: str, text: str) -> Path:
    file = folder / "20260302_100000" / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def loaded(database: Database, file: Path, **options: Any) -> Loaded:
    return load(database, file, "opencompass", **options)


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, document, value from document_values order by all"))


def test_details_are_samples_of_the_model_of_the_folder(database: Database, tmp_path: Path) -> None:
    said = loaded(database, written(tmp_path, "results/m1-hf/sums.json", EXAMPLE), texts=True)
    assert values(database) == [("sums", "m1-hf", "0", 1.0), ("sums", "m1-hf", "1", 0.0)]
    assert said.disagreeing == ()
    query = "select kind, text from texts where document = '1' order by kind"
    assert database.rows(Sql(query)) == [("input", "2 + 2?"), ("output", "It is 5."), ("reference", "4")]
    assert database.rows(Sql("select run from runs")) == [("20260302_100000",)]


def test_a_dataset_that_was_run_several_times_has_runs(database: Database, load_text: Load) -> None:
    details = [{"example_abbr": "a_0", "pred": ["2", "3"], "answer": ["2", "2"], "correct": [True, False]}]
    said = {"accuracy (2 runs average)": 50.0, "details": details}
    assert load_text(json.dumps(said), "opencompass", "sums.json", fields=ON, texts=True).disagreeing == ()
    assert values(database) == [("sums", "m1", "0", 1.0), ("sums", "m1#2", "0", 0.0)]
    query = "select system, text from texts where kind = 'output' order by system"
    assert database.rows(Sql(query)) == [("m1", "2"), ("m1#2", "3")]


def test_an_accuracy_that_differs_is_said(load_text: Load) -> None:
    wrong = EXAMPLE.replace("50.0", "75.0")
    assert load_text(wrong, "opencompass", "sums.json", fields=ON).disagreeing == (
        "the results file gives accuracy as 75, but the mean of the samples is 50",
    )


def test_the_summary_has_what_has_no_details(database: Database, tmp_path: Path) -> None:
    written(tmp_path, "results/m1/sums.json", EXAMPLE)
    rows = ["dataset,version,metric,mode,m1,m2", "sums,1d7,accuracy,gen,50.00,75.00", "essay,2e8,rouge,gen,31.25,-"]
    loaded(database, written(tmp_path, "summary/summary_20260302_100000.csv", "\n".join(rows)))
    query = "select test_set, system, measure, value::double from published_figures order by all"
    assert database.rows(Sql(query)) == [("essay", "m1", "rouge", 31.25), ("sums", "m2", "accuracy", 0.75)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "these are not results of OpenCompass with details; run it with --dump-eval-details"),
        ('{"details": {"0": {"pred": "A"}}}', "the details of sample 0 do not say whether it is correct"),
        ('{"details": {}}', "it has nothing to store"),
    ],
)
def test_results_without_samples_are_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "opencompass", "sums.json", fields=ON) == [f"sums.json: {sentence}"]


def test_a_summary_has_one_cell_for_each_model(complaints: Complaints) -> None:
    said = complaints("dataset,version,metric,mode,m1\nsums,1d7,accuracy,gen\n", "opencompass", "summary.csv")
    assert said == ["summary.csv:2: this line has 4 cells, and the first 5"]
    said = complaints("model,score\nm1,3\n", "opencompass", "summary.csv")
    assert said == [
        "summary.csv: this is not a summary of OpenCompass: it does not begin with dataset,version,metric,mode"
    ]
