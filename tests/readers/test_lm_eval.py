"""Sample logs of lm-evaluation-harness: values by sample and filter, and spans as tuples."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.store.texts import Complaints, Load
from warehouse.faults import DataError
from warehouse.loading.ingest import load
from warehouse.loading.readers.lm_eval import EXAMPLE, labelled_spans
from warehouse.store.database import Database
from warehouse.store.sql import Sql

DATE = "2026-01-16T15-23-47.285735"
LOG = f"samples_arith_{DATE}.jsonl"
GEMMA = {"system": "gemma"}


def sample(number: int, metric: str, item: object, filtered: str = "none", doc_hash: str = "h") -> str:
    sample = {"doc_id": number, "doc_hash": doc_hash, "filter": filtered, "metrics": [metric], metric: item}
    return json.dumps(sample) + "\n"


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select system, document, measure, value from document_values order by all"))


def test_values_are_of_samples_and_the_task_is_the_test_set(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "lm-eval", LOG, fields=GEMMA)
    assert values(database) == [("gemma", "0", "acc", 1.0), ("gemma", "1", "acc", 0.0)]
    assert database.rows(Sql("select name from test_set")) == [("arith",)]
    hashes = "select document, value from document_attributes where attribute = 'doc_hash' order by 1"
    assert database.rows(Sql(hashes)) == [("0", "9f2c"), ("1", "77ab")]


def test_filters_are_measures_of_their_own(database: Database, load_text: Load) -> None:
    text = sample(0, "exact_match", True, "strict-match") + sample(0, "exact_match", 0.5, "flexible-extract")
    load_text(text, "lm-eval", LOG, fields=GEMMA)
    assert values(database) == [
        ("gemma", "0", "exact_match:flexible-extract", 0.5),
        ("gemma", "0", "exact_match:strict-match", 1.0),
    ]


def test_runs_that_were_appended_are_told_apart(database: Database, load_text: Load) -> None:
    notes = load_text(EXAMPLE + EXAMPLE.replace("1.0", "0.0"), "lm-eval", LOG, fields=GEMMA).notes
    assert "2 runs were appended to this log; the later ones are gemma:run2 and so on" in notes
    assert values(database)[2:] == [("gemma:run2", "0", "acc", 0.0), ("gemma:run2", "1", "acc", 0.0)]


def test_a_log_of_other_samples_is_refused(load_text: Load) -> None:
    assert load_text(EXAMPLE, "lm-eval", LOG, fields=GEMMA).rows_new == 4
    with pytest.raises(DataError, match="arith, 0 has 'doc_hash' other, but is stored with 'doc_hash' 9f2c"):
        load_text(EXAMPLE.replace("9f2c", "other"), "lm-eval", LOG, fields={"system": "phi"})


def test_the_folder_or_the_results_file_names_the_system(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "google__gemma-2b"
    folder.mkdir()
    (folder / LOG).write_text(EXAMPLE)
    load(database, folder / LOG, "lm-eval")
    (tmp_path / LOG).write_text(EXAMPLE)
    results = {"model_name": "phi", "results": {"arith": {"acc,none": 0.75}}, "configs": {"arith": {}}}
    (tmp_path / f"results_{DATE.split('.')[0]}.285735.json").write_text(json.dumps(results))
    notes = load(database, tmp_path / LOG, "lm-eval").notes
    assert {row[0] for row in values(database)} == {"google/gemma-2b", "phi"}
    assert "the results file gives acc,none as 0.75, and the mean of the samples is 0.5" in notes


def test_spans_become_tuples_by_label(database: Database, load_text: Load) -> None:
    pairs = [["PER: Ada $$ LOC: Turin", ["per: Ada $ org: Turin"]], ["", [""]]]
    text = "".join(sample(k, "f1", pair) for k, pair in enumerate(pairs))
    load_text(text, "lm-eval", LOG, fields=GEMMA, options={"spans": "f1"})
    counts = "select document, unit, possible, actual, correct from scores order by all"
    assert database.rows(Sql(counts)) == [
        ("0", "loc", 1, 0, 0),
        ("0", "other", 0, 1, 0),
        ("0", "per", 1, 1, 1),
        ("1", "loc", 0, 0, 0),
        ("1", "other", 0, 0, 0),
        ("1", "per", 0, 0, 0),
    ]


@pytest.mark.parametrize("item", [["a", "b"], float("nan"), 10**400])
def test_what_is_no_number_is_listed(load_text: Load, item: object) -> None:
    notes = load_text(EXAMPLE + sample(2, "bleu", item), "lm-eval", LOG, fields=GEMMA).notes
    assert notes == ("left out, bleu having items that are no finite numbers: 1 samples",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (EXAMPLE + '{"doc_id": 1,', f"{LOG}:3: this line is not JSON"),
        (EXAMPLE + "[]", f"{LOG}:3: this is no sample: it has no doc_id"),
        (EXAMPLE + '{"doc_id": 1}', f"{LOG}:3: this sample has no list of metrics"),
        ("\n", f"{LOG}: there is nothing in it to store"),
    ],
)
def test_what_is_no_sample_is_refused(complaints: Complaints, text: str, sentence: str) -> None:
    assert complaints(text, "lm-eval", LOG, fields=GEMMA) == [sentence]


def test_names_that_nothing_says_must_be_set(complaints: Complaints) -> None:
    assert complaints(EXAMPLE, "lm-eval", "log.jsonl", fields=GEMMA) == [
        "log.jsonl: the name of the file does not say the task; --set test_set=NAME does"
    ]
    assert complaints(EXAMPLE, "lm-eval", LOG) == [
        f"{LOG}: no folder or results file says the model; --set system=NAME does"
    ]


def test_the_sample_logs_give_the_f1_of_their_results_files(database: Database, real_files: Path) -> None:
    folder = real_files / "llm"
    for file in sorted(folder.glob("samples_*")):
        date = file.name.removesuffix(".jsonl.gz").rpartition("_")[2]
        load(database, file, "lm-eval", fields={"system": date})
        results = json.loads((folder / f"results_{date}.json").read_text())["results"]["masakhaner_luo_prompt_1"]
        [(samples, correct, both)] = database.rows(
            Sql(
                "select count(distinct document), sum(correct), sum(possible + actual) from scores where system = ?",
                (date,),
            )
        )
        assert samples == 185
        # The harness adds 1e-13 to each denominator.
        assert 2 * correct / both == pytest.approx(results["f1,flexible-extract"], rel=1e-11)


def test_labelled_spans_are_those_of_the_answers() -> None:
    assert Counter(labelled_spans(["DATE: 1 $", "per: An Ada $$ x $ LOC: the  Turin, ORG: a: b"])) == Counter(
        [("per", "an ada"), ("loc", "turin"), ("date", "1")]
    )
