"""Results of MTEB: figures of models on tasks, by split and subset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import Role
from evalhouse.warehouse.loading.readers.mteb import EXAMPLE
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.staging.staged import name_it
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

M1 = {"system": "m1"}


def figures(database: Database) -> list[tuple[object, ...]]:
    query = "select test_set, system, measure, value::double from published_figures order by all"
    return database.rows(Sql(query))


def results(**splits: list[dict[str, object]]) -> str:
    return json.dumps({"task_name": "Intents", "mteb_version": "1.14.0", "scores": splits})


def test_a_task_is_a_test_set_and_its_metrics_are_figures(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "mteb", "Banking77Classification.json", fields=M1)
    assert figures(database) == [
        ("Banking77Classification", "m1", "accuracy", 0.8123),
        ("Banking77Classification", "m1", "f1", 0.8051),
        ("Banking77Classification", "m1", "main_score", 0.8123),
    ]


def test_splits_and_subsets_are_test_sets_of_their_own(database: Database, load_text: Load) -> None:
    languages = [{"hf_subset": language, "main_score": score} for language, score in (("en", 0.5), ("de", 0.25))]
    load_text(results(test=languages, validation=[{"hf_subset": "default", "main_score": 1}]), "mteb", fields=M1)
    assert figures(database) == [
        ("Intents:de", "m1", "main_score", 0.25),
        ("Intents:en", "m1", "main_score", 0.5),
        ("Intents:validation", "m1", "main_score", 1.0),
    ]


def test_older_files_have_splits_at_the_top(database: Database, load_text: Load) -> None:
    said = {"mteb_version": "1.0.2", "mteb_dataset_name": "STS", "test": {"en": {"cos_sim": {"spearman": 0.5}, "x": 1}}}
    load_text(json.dumps(said), "mteb", fields=M1)
    assert figures(database) == [("STS:en", "m1", "cos_sim.spearman", 0.5), ("STS:en", "m1", "x", 1.0)]


def test_model_and_revision_are_those_of_the_file_beside_or_of_the_folders(database: Database, tmp_path: Path) -> None:
    for revision, meta in (("r1", True), ("r2", False)):
        folder = tmp_path / "acme__e5" / revision
        folder.mkdir(parents=True)
        (folder / "B.json").write_text(EXAMPLE)
        if meta:
            (folder / "model_meta.json").write_text('{"name": "acme/e5", "revision": "r1"}')
            assert recognize(folder / "model_meta.json", database).role is Role.PART
        load(database, folder / "B.json", "mteb")
    query = "select distinct system, run from runs order by all"
    assert database.rows(Sql(query)) == [("acme/e5", "r1"), ("acme/e5#2", "r2")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (EXAMPLE[:-4], "B.json:4: this is not JSON: Expecting ',' delimiter"),
        ("[]", "B.json: this is not an object"),
        (results(test=[]), "B.json: it has nothing to store"),
        (results(test={}), "B.json: the scores of the split test are not a list of objects"),  # type: ignore[arg-type]
        (results(test=[{"main_score": float("nan")}]), "B.json: it has nothing to store"),
        ('{"scores": {}}', "B.json: the file does not name the task; name it with --set test_set=NAME"),
    ],
)
def test_what_is_no_result_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "mteb", "B.json", fields=M1) == [sentence]


def test_a_model_that_nothing_names_must_be_set(complaints: Complaints) -> None:
    said = f"B.json: no folder names the model; {name_it('system')}"
    assert complaints(EXAMPLE, "mteb", "B.json") == [said]


def test_a_setting_names_the_task_and_not_its_parts(database: Database, load_text: Load) -> None:
    languages = [{"hf_subset": language, "main_score": score} for language, score in (("en", 0.5), ("de", 0.25))]
    load_text(results(test=languages), "mteb", fields={**M1, "test_set": "mine"})
    assert [row[0] for row in figures(database)] == ["mine:de", "mine:en"]


def test_the_main_score_is_one_of_the_others(load_text: Load) -> None:
    scores = {"hf_subset": "de", "accuracy": 0.5, "f1": 0.25}
    assert load_text(results(test=[{**scores, "main_score": 0.25}]), "mteb", "r.json", fields=M1).disagreeing == ()
    loaded = load_text(results(validation=[{**scores, "main_score": 0.75}]), "mteb", "r.json", fields=M1)
    assert loaded.disagreeing == (
        "the file gives main_score of validation, de as 0.75, but accuracy, the nearest of the other figures, is 0.5",
    )
