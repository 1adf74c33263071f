"""Runs of HELM: values by instance, perturbation and trial, and the files beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import Role, helm
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

ON = {"test_set": "news", "system": "base"}


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, document, measure, value from document_values order by all"))


def stat(name: str, total: float, count: int = 1, **others: object) -> dict[str, object]:
    return {"name": {"name": name, "split": "test", **others}, "count": count, "sum": total, "sum_squared": total}


def run_folder(folder: Path, run: str = "mmlu:subject=law,model=openai_gpt2") -> Path:
    folder = folder / run
    folder.mkdir(parents=True)
    (folder / "per_instance_stats.json").write_text(helm.EXAMPLE)
    return folder


def test_values_are_by_instance_and_perturbation(database: Database, tmp_path: Path) -> None:
    notes = load(database, run_folder(tmp_path) / "per_instance_stats.json", "helm").notes
    assert values(database) == [
        ("mmlu:subject=law", "openai_gpt2", "id1", "accuracy", 1.0),
        ("mmlu:subject=law", "openai_gpt2", "id1:typos", "accuracy", 0.0),
    ]
    assert notes == ("accuracy is exact_match",)


def test_the_description_of_the_run_names_model_and_scenario(database: Database, tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "mmlu-subject=law,model=openai_gpt2")
    spec = {"name": "mmlu:subject=law,model=openai_gpt2", "adapter_spec": {"model": "openai/gpt2"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    load(database, folder / "per_instance_stats.json", "helm")
    assert {row[:2] for row in values(database)} == {("mmlu:subject=law", "openai/gpt2")}


def test_suites_are_runs(database: Database, tmp_path: Path) -> None:
    for suite in ("v1", "v2"):
        load(database, run_folder(tmp_path / "runs" / suite) / "per_instance_stats.json", "helm")
    assert {row[1] for row in values(database)} == {"openai_gpt2", "openai_gpt2#2"}


def test_what_lies_beside_is_read_with_the_instances(database: Database, tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    for name in ("stats.json", "run_spec.json", "scenario.json", "scenario_state.json"):
        (folder / name).write_text("[]" if name == "stats.json" else "{}")
        assert recognize(folder / name, database).role is Role.PART
    (folder / "per_instance_stats.json").unlink()
    (folder / "stats.json").write_text(json.dumps([stat("exact_match", 0.25)]))
    assert recognize(folder / "stats.json", database).role is Role.FACTS


def test_figures_stand_in_for_instances_that_are_not_there(database: Database, load_text: Load) -> None:
    figures = [stat("num_instances", 40), stat("exact_match", 0.25), stat("exact_match", 0.5, split="valid"),
               stat("exact_match", 0.1, perturbation={"name": "typos"})]  # fmt: skip
    load_text(json.dumps(figures), "helm", "stats.json", fields=ON)
    query = "select system, measure, value::double, documents from published_figures order by all"
    assert database.rows(Sql(query)) == [("base", "accuracy", 0.25, 40), ("base", "num_instances", 40.0, 40)]


def test_perturbations_of_one_name_are_told_apart_by_their_parameters(database: Database, load_text: Load) -> None:
    said = {"name": "dialect", "robustness": False, "fairness": True, "computed_on": "perturbed", "mapping": None}
    ways = [said, {**said, "target": "AAVE", "prob": 1.0}, {**said, "target": "SAE", "prob": 1.0, "both": False}]
    text = json.dumps([{"instance_id": "i", "perturbation": way, "stats": [stat("f1", 1.0)]} for way in ways])
    assert load_text(text, "helm", "s.json", fields=ON).notes == ()
    assert [document for (_, _, document, _, _) in values(database)] == [
        "i:dialect",
        "i:dialect(both=false,prob=1.0,target=SAE)",
        "i:dialect(prob=1.0,target=AAVE)",
    ]


def test_trials_are_replicates_and_values_are_sums_by_counts(database: Database, load_text: Load) -> None:
    def trial(number: int, total: float, count: int) -> dict[str, object]:
        stats = [stat("f1", total, count, sub_split="hard")]
        return {"instance_id": "i", "train_trial_index": number, "stats": stats}

    loaded = load_text(json.dumps([trial(0, 3.0, 4), trial(1, 0.5, 2), trial(2, 0, 0)]), "helm", "s.json", fields=ON)
    assert values(database) == [("news", "base", "i", "f1@hard", 0.75), ("news", "base#2", "i", "f1@hard", 0.25)]
    assert loaded.notes == (
        "instances were tried 2 times; each trial is a run",
        "left out (no instance, or not a finite number): 1 statistic",
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[{", "s.json:1: this is not JSON"),
        ("{}", "s.json: this is not a list of instances"),
        ('[{"stats": []}]', "s.json: instance 1 has no instance_id, or no stats with name, count and sum"),
        (json.dumps([stat("f1", 1.0), {"count": 1}]), "s.json: a statistic has no name, count and sum"),
        ("[]", "s.json: it has nothing to store"),
    ],
)
def test_what_is_not_of_helm_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "helm", "s.json", fields=ON) == [sentence]


def test_the_same_instance_twice_is_refused_where_it_differs(complaints: Complaints) -> None:
    twice = [{"instance_id": "i", "stats": [stat("f1", value)]} for value in (1.0, 0.0)]
    [said] = complaints(json.dumps(twice), "helm", "s.json", fields=ON)
    assert said == "s.json: news, base, i, f1 has value 0.0, but on row 1 it has value 1.0"


def test_real_values_average_to_the_figures_of_the_run(database: Database, real_files: Path) -> None:
    [folder] = (real_files / "helm").iterdir()
    load(database, folder / "per_instance_stats.json", "helm")
    query = "select measure, avg(value) from document_values where system = 'eleutherai/pythia-1b-v0' group by all"
    means = dict(database.rows(Sql(query)))
    figures = {it["name"]["name"]: it["mean"] for it in json.loads((folder / "stats.json").read_text()) if it["count"]}
    assert means["accuracy"] == pytest.approx(figures["exact_match"])
    for name in ("quasi_prefix_exact_match@5", "num_prompt_tokens", "max_prob"):
        assert means[name] == pytest.approx(figures[name])
