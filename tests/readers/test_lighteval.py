"""Outputs of lighteval: details in Parquet are samples, and results without details are figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from evalhouse.warehouse.loading.ingest import Loaded, load
from evalhouse.warehouse.loading.readers.lighteval import EXAMPLE
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

DATE = "2026-01-16T15-23-47.285735"


def rows(*marks: int) -> list[dict[str, Any]]:
    return [
        {
            "doc": {"query": f"Q{place}?", "choices": ["yes", "no"], "gold_index": 1, "id": str(place)},
            "model_response": {"text": ["no" if mark else "yes"]},
            "metric": {"em": float(mark), "length": 3},
        }
        for place, mark in enumerate(marks)
    ]


def details(folder: Path, samples: list[dict[str, Any]], task: str = "quiz|5", model: str = "acme/m1") -> Path:
    file = folder / "details" / model / DATE / f"details_{task}_{DATE}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(samples), file)
    return file


def results(folder: Path, model: str = "acme/m1", **tasks: float) -> Path:
    file = folder / "results" / model / f"results_{DATE}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    said = {f"{task}|5": {"em": value, "em_stderr": 0.25} for task, value in tasks.items()}
    whole = {"config_general": {"model_name": model}, "results": said, "versions": {}, "config_tasks": {}}
    file.write_text(json.dumps(whole))
    return file


def loaded(database: Database, file: Path, **options: Any) -> Loaded:
    return load(database, file, "lighteval", **options)


def values(database: Database, measure: str = "accuracy") -> list[tuple[object, ...]]:
    query = "select test_set, system, document, value from document_values where measure = ? order by all"
    return database.rows(Sql(query, (measure,)))


def test_details_are_samples_of_the_model_of_the_folder(database: Database, tmp_path: Path) -> None:
    said = loaded(database, details(tmp_path, rows(1, 0)), texts=True)
    assert values(database) == [("quiz", "acme/m1", "0", 1.0), ("quiz", "acme/m1", "1", 0.0)]
    assert values(database, "length") == [("quiz", "acme/m1", "0", 3.0), ("quiz", "acme/m1", "1", 3.0)]
    assert "accuracy is em" in said.notes
    query = "select kind, text from texts where document = '1' order by kind"
    assert database.rows(Sql(query)) == [("input", "Q1?"), ("output", "yes"), ("reference", "no")]


def test_rows_are_read_in_parts(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.loading.readers.lighteval.AT_ONCE", 2)
    loaded(database, details(tmp_path, rows(1, 0, 1, 1)))
    assert [row[2:] for row in values(database)] == [("0", 1.0), ("1", 0.0), ("2", 1.0), ("3", 1.0)]


def test_results_are_compared_with_the_details_and_not_stored_again(database: Database, tmp_path: Path) -> None:
    file, of_run = details(tmp_path, rows(1, 0)), results(tmp_path, quiz=0.75, arith=0.125)
    assert loaded(database, file).disagreeing == (
        f"results_{DATE}.json gives em as 0.75, but the mean of the samples is 0.5",
    )
    loaded(database, of_run)
    query = "select test_set, system, measure, value::double, standard_error from published_figures"
    assert database.rows(Sql(query)) == [("arith", "acme/m1", "accuracy", 0.125, 0.25)]


def test_results_alone_are_figures_and_all_is_no_task(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "lighteval", f"results_{DATE}.json")
    query = "select test_set, system, measure, value::double from published_figures"
    assert database.rows(Sql(query)) == [("quiz", "acme/m1", "accuracy", 0.75)]


def test_another_number_of_examples_is_another_system(database: Database, tmp_path: Path) -> None:
    for shots, day in ((0, "a"), (5, "b")):
        file = details(tmp_path / day, rows(1), task=f"leaderboard|quiz|{shots}")
        loaded(database, file.rename(file.with_name(file.name.replace("2026-01-16", f"2026-01-1{shots}"))))
    systems = [row[:2] for row in values(database)]
    assert systems == [("leaderboard|quiz", "acme/m1"), ("leaderboard|quiz", "acme/m1(n_shot=5)")]


def test_details_as_python_writes_them_and_those_of_older_versions(database: Database, tmp_path: Path) -> None:
    as_texts = [{key: str(cell) for key, cell in row.items()} for row in rows(1, 0)]
    loaded(database, details(tmp_path / "a", as_texts))
    assert [row[2:] for row in values(database)] == [("0", 1.0), ("1", 0.0)]
    older = [{"example": "Q9?", "predictions": ["no"], "metrics": {"em": 1.0}}]
    loaded(database, details(tmp_path / "b", older, task="old|0"), texts=True)
    assert database.rows(Sql("select text from texts where test_set = 'old' order by text")) == [("Q9?",), ("no",)]


def test_what_is_nothing_of_lighteval_is_refused(complaints: Complaints, untouched: Database, tmp_path: Path) -> None:
    assert complaints("[]", "lighteval", "r.json") == [
        "r.json: this is not the results of lighteval: expected 'object', got 'array'"
    ]
    [said] = complaints("no Parquet", "lighteval", f"details_quiz|5_{DATE}.parquet", fields={"system": "m"})
    assert said.startswith(f"details_quiz|5_{DATE}.parquet: this is not a sound Parquet file")
    without = details(tmp_path, [{"doc": {"id": "0"}}])
    [said] = complaints(without.read_bytes(), "lighteval", without.name, fields={"system": "m"})
    assert said == f"{without.name}: these are not details of lighteval: no column is called metric"
