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


def test_what_is_under_a_perturbation_is_a_test_set_of_its_own(database: Database, tmp_path: Path) -> None:
    notes = load(database, run_folder(tmp_path) / "per_instance_stats.json", "helm").notes
    assert values(database) == [
        ("mmlu:subject=law", "openai_gpt2", "id1", "accuracy", 1.0),
        ("mmlu:subject=law:typos", "openai_gpt2", "id1", "accuracy", 0.0),
    ]
    others = "other splits and perturbations are test sets of their own: SCENARIO:typos"
    assert notes == ("accuracy is exact_match", others)


def instance(number: int, split: str, right: float, **others: object) -> dict[str, object]:
    return {"instance_id": f"id{number}", "stats": [stat("exact_match", right, split=split)], **others}


def test_the_scenario_is_the_split_test(database: Database, load_text: Load) -> None:
    """The others are test sets of their own, also where a setting names the scenario."""
    splits = {"test": (1.0, 0.0), "valid": (0.0, 0.0), "ood": (1.0, 1.0)}
    text = json.dumps([instance(n, split, right) for split, of in splits.items() for n, right in enumerate(of)])
    load_text(text, "helm", "s.json", fields=ON)
    means = "select test_set, avg(value), count(*) from document_values group by all order by all"
    assert database.rows(Sql(means)) == [("news", 0.5, 2), ("news:ood", 1.0, 2), ("news:valid", 0.0, 2)]
    attributes = "select distinct test_set, attribute, value from document_attributes order by all"
    assert database.rows(Sql(attributes)) == [
        ("news", "split", "test"),
        ("news:ood", "split", "ood"),
        ("news:valid", "split", "valid"),
    ]


def test_a_run_without_a_test_split_is_no_run_on_the_scenario(database: Database, load_text: Load) -> None:
    """Another run may have the split test of the same scenario."""
    load_text(json.dumps([instance(1, "valid", 1.0), instance(2, "train", 0.0)]), "helm", "s.json", fields=ON)
    load_text(json.dumps([instance(1, "test", 0.0)]), "helm", "t.json", fields=ON)
    assert [row[:3] for row in values(database)] == [
        ("news", "base", "id1"),
        ("news:train", "base", "id2"),
        ("news:valid", "base", "id1"),
    ]


def test_figures_of_validation_alone_are_no_figures_of_the_scenario(database: Database, load_text: Load) -> None:
    load_text(json.dumps([stat("exact_match", 0.5, split="valid")]), "helm", "stats.json", fields=ON)
    assert database.rows(Sql("select test_set from published_figures")) == [("news:valid",)]


def run_that_states(folder: Path, instances: list[dict[str, object]], *stats: dict[str, object]) -> Path:
    (folder / "stats.json").write_text(json.dumps(stats))
    (folder / "per_instance_stats.json").write_text(json.dumps(instances))
    return folder / "per_instance_stats.json"


def test_what_the_run_states_is_compared_with_its_instances(database: Database, tmp_path: Path) -> None:
    typos = {"name": "typos"}
    perturbed = {"perturbation": typos} | instance(1, "test", 1.0)
    instances = [instance(1, "test", 1.0), instance(2, "test", 0.0), instance(3, "valid", 1.0), perturbed]
    right = [stat("exact_match", 0.5), stat("exact_match", 1.0, split="valid"),
             stat("exact_match", 0.0, perturbation=typos | {"computed_on": "worst"}), stat("unknown", 7.0)]  # fmt: skip
    wrong = [stat("exact_match", 0.25, split="valid"), stat("exact_match", 0.75, perturbation=typos)]
    assert load(database, run_that_states(tmp_path, instances, *right), "helm", fields=ON).disagreeing == ()
    file = run_that_states(tmp_path, instances, *wrong, right[0])
    assert load(database, file, "helm", fields=ON).disagreeing == (
        "stats.json gives exact_match of valid as 0.25, but the mean of the samples is 1",
        "stats.json gives exact_match of test under typos as 0.75, but the mean of the samples is 1",
    )


def test_sub_splits_are_attributes_and_have_figures_of_their_own(database: Database, tmp_path: Path) -> None:
    def of(number: int, sub_split: str, right: float) -> dict[str, object]:
        return {"instance_id": f"id{number}", "stats": [stat("exact_match", right, sub_split=sub_split)]}

    instances = [of(1, "hard", 0.0), of(2, "easy", 1.0), of(3, "easy", 1.0)]
    stated = [stat("exact_match", 0.5, sub_split="hard"), stat("exact_match", 1.0, sub_split="easy")]
    loaded = load(database, run_that_states(tmp_path, instances, *stated), "helm", fields=ON)
    assert loaded.disagreeing == (
        "stats.json gives exact_match of test, hard as 0.5, but the mean of the samples is 0",
    )
    known = "select document, value from document_attributes where attribute = 'sub_split' order by all"
    assert database.rows(Sql(known)) == [("id1", "hard"), ("id2", "easy"), ("id3", "easy")]
    assert {row[3] for row in values(database)} == {"accuracy"}


def test_a_mean_with_weights_is_not_compared(database: Database, tmp_path: Path) -> None:
    instances: list[dict[str, object]] = [{"instance_id": f"i{n}", "stats": [stat("f1", 1.0, n)]} for n in (1, 3)]
    assert load(database, run_that_states(tmp_path, instances, stat("f1", 0.3)), "helm", fields=ON).disagreeing == ()


def test_the_description_of_the_run_names_model_and_scenario(database: Database, tmp_path: Path) -> None:
    folder = run_folder(tmp_path, "mmlu-subject=law,model=openai_gpt2")
    spec = {"name": "mmlu:subject=law,model=openai_gpt2", "adapter_spec": {"model": "openai/gpt2"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    load(database, folder / "per_instance_stats.json", "helm")
    scenarios = ("mmlu:subject=law", "mmlu:subject=law:typos")
    assert {row[:2] for row in values(database)} == {(scenario, "openai/gpt2") for scenario in scenarios}


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
               stat("exact_match", 0.1, perturbation={"name": "typos"}),
               stat("exact_match", 0.05, perturbation={"name": "typos", "computed_on": "worst"})]  # fmt: skip
    load_text(json.dumps(figures), "helm", "stats.json", fields=ON)
    query = "select test_set, measure, value::double, documents from published_figures order by all"
    assert database.rows(Sql(query)) == [
        ("news", "accuracy", 0.25, 40),
        ("news", "num_instances", 40.0, 40),
        ("news:typos", "accuracy", 0.1, None),
        ("news:typos", "accuracy@worst", 0.05, None),
        ("news:valid", "accuracy", 0.5, None),
    ]


def test_perturbations_of_one_name_are_told_apart_by_their_parameters(database: Database, load_text: Load) -> None:
    said = {"name": "dialect", "robustness": False, "fairness": True, "computed_on": "perturbed", "mapping": None}
    ways = [said, {**said, "target": "AAVE", "prob": 1.0}, {**said, "target": "SAE", "prob": 1.0, "both": False}]
    text = json.dumps([{"instance_id": "i", "perturbation": way, "stats": [stat("f1", 1.0)]} for way in ways])
    load_text(text, "helm", "s.json", fields=ON)
    assert [test_set for (test_set, *_) in values(database)] == [
        "news:dialect",
        "news:dialect(both=false,prob=1.0,target=SAE)",
        "news:dialect(prob=1.0,target=AAVE)",
    ]


def test_trials_are_replicates_and_values_are_sums_by_counts(database: Database, load_text: Load) -> None:
    def trial(number: int, total: float, count: int) -> dict[str, object]:
        stats = [stat("f1", total, count, sub_split="hard")]
        return {"instance_id": "i", "train_trial_index": number, "stats": stats}

    loaded = load_text(json.dumps([trial(0, 3.0, 4), trial(1, 0.5, 2), trial(2, 0, 0)]), "helm", "s.json", fields=ON)
    assert values(database) == [("news", "base", "i", "f1", 0.75), ("news", "base#2", "i", "f1", 0.25)]
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


def test_less_of_what_an_answer_took_is_better(database: Database, load_text: Load) -> None:
    stats = [stat("exact_match", 1.0), stat("num_output_tokens", 5.0), stat("inference_runtime", 0.5)]
    load_text(json.dumps([{"instance_id": "id1", "stats": stats}]), "helm", "s.json", fields=ON)
    lower = database.rows(Sql("select measure from direction where lower_is_better order by measure"))
    assert ("num_output_tokens",) in lower
    assert ("exact_match",) not in lower
