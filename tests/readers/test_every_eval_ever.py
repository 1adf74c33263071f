"""Records of Every Eval Ever: figures with their uncertainty, samples, runs and directions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.every_eval_ever import EXAMPLE
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load

RECORD = "0d4c0a52-6c57-4a3f-9d2c-55a1d6a0b1aa.json"
SAMPLES = RECORD.replace(".json", "_samples.jsonl")


def result(name: str = "quiz", score: object = 0.75, metric: str = "accuracy", **others: object) -> dict[str, object]:
    config = {"metric_id": metric, "lower_is_better": False, **others}
    return {"evaluation_name": name, "metric_config": config, "score_details": {"score": score}}


def record(*results: dict[str, object], **others: object) -> str:
    return json.dumps({**json.loads(EXAMPLE), "evaluation_results": list(results), **others})


def sample(number: int, score: object, **others: object) -> str:
    said: dict[str, Any] = {
        "evaluation_id": "quiz/acme_m1/1750000000",
        "model_id": "acme/m1",
        "evaluation_name": "quiz",
        "sample_id": f"q{number}",
        "sample_hash": f"h{number}",
        "evaluation": {"score": score, "is_correct": score == 1},
        **others,
    }
    return json.dumps(said) + "\n"


def figures(database: Database) -> list[tuple[object, ...]]:
    columns = "test_set, system, measure, value::double, documents, standard_error, ci_low, ci_high, ci_level"
    return database.rows(Sql(f"select {columns} from published_figures order by all"))


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select system, document, measure, value from document_values order by all"))


def test_figures_are_published_with_their_number_of_samples_and_error(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "every-eval-ever", RECORD)
    assert figures(database) == [("quiz", "acme/m1", "accuracy", 0.75, 4, 0.25, None, None, None)]
    query = "select run, date from runs"
    assert database.rows(Sql(query)) == [("quiz/acme_m1/1750000000", "2025-06-15T15:06:40Z")]


def test_intervals_and_deviations_are_kept(database: Database, load_text: Load) -> None:
    interval = {"lower": 0.5, "upper": 0.9, "confidence_level": 0.9}
    said = result()
    said["score_details"] = {"score": 0.75, "uncertainty": {"confidence_interval": interval}}
    other = result("other")
    other["score_details"] = {"score": 0.75, "uncertainty": {"standard_deviation": 0.4, "num_samples": 16}}
    load_text(record(said, other), "every-eval-ever", RECORD)
    assert [row[4:] for row in figures(database)] == [(16, 0.1, None, None, None), (None, None, 0.5, 0.9, 0.9)]


def test_records_of_0_2_say_the_metric_in_a_sentence(database: Database, load_text: Load) -> None:
    configs = ("Accuracy on BBH", "Exact Match on MATH", "Mean Reward on RB", "")
    results = [result(f"e{place}", 0.5) for place, _ in enumerate(configs)]
    for said, description in zip(results, configs, strict=True):
        said["metric_config"] = {"evaluation_description": description, "lower_is_better": False}
    load_text(record(*results, schema_version="0.2.0"), "every-eval-ever", RECORD)
    assert [row[2] for row in figures(database)] == ["accuracy", "accuracy", "mean_reward", "score"]


def test_two_results_of_one_name_are_numbered(database: Database, load_text: Load) -> None:
    load_text(record(result(score=0.5), result(score=0.25)), "every-eval-ever", RECORD)
    assert [row[2:4] for row in figures(database)] == [("accuracy", 0.5), ("accuracy:2", 0.25)]


def test_results_of_one_name_are_told_apart_by_what_differs(database: Database, load_text: Load) -> None:
    tries = [result(metric="pass_at_k", score=score, metric_parameters={"k": k}) for k, score in ((1, 0.5), (5, 0.75))]
    splits = [{**result("qa", score), "source_data": {"hf_split": split}} for split, score in (("test", 0), ("val", 1))]
    sets = [{**result("mix", score), "source_data": {"dataset_name": name}} for name, score in (("a", 0), ("b", 1))]
    load_text(record(*tries, *splits, *sets), "every-eval-ever", RECORD)
    assert [(test_set, measure, value) for test_set, _, measure, value, *_ in figures(database)] == [
        ("mix:a", "accuracy", 0.0),
        ("mix:b", "accuracy", 1.0),
        ("qa", "accuracy", 0.0),
        ("qa:val", "accuracy", 1.0),
        ("quiz", "pass_at_k(k=1)", 0.5),
        ("quiz", "pass_at_k(k=5)", 0.75),
    ]


@pytest.mark.parametrize(
    ("said", "disagreeing"),
    [
        (result(score=0.5), False),
        (result(score=0.75), True),
        (result(score=50, metric_unit="percent"), False),
        (result(score=0.75, metric="f1_macro"), False),
    ],
)
def test_the_record_beside_samples_is_compared_with_them(
    database: Database, tmp_path: Path, said: dict[str, object], disagreeing: bool
) -> None:
    (tmp_path / RECORD).write_text(record(said))
    (tmp_path / SAMPLES).write_text(sample(1, 0.0) + sample(2, 1.0))
    notes = load(database, tmp_path / SAMPLES, "every-eval-ever").disagreeing
    assert notes == ((f"{RECORD} gives accuracy of quiz as 0.75, but the mean of the samples is 0.5",) * disagreeing)


def test_another_evaluation_of_a_model_is_a_replicate(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "every-eval-ever", RECORD)
    assert load_text(EXAMPLE, "every-eval-ever", RECORD).rows_new == 0
    load_text(record(result(score=0.5), evaluation_id="quiz/acme_m1/1760000000"), "every-eval-ever", RECORD)
    assert [row[1] for row in figures(database)] == ["acme/m1", "acme/m1#2"]


def test_samples_take_the_metric_of_the_record_beside_them(database: Database, tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text(record(result(metric="bleu", score=0.6)))
    (tmp_path / SAMPLES).write_text(sample(1, 0.5) + sample(2, 0.75))
    load(database, tmp_path / SAMPLES, "every-eval-ever")
    load(database, tmp_path / RECORD, "every-eval-ever")
    assert values(database) == [("acme/m1", "q1", "bleu", 0.5), ("acme/m1", "q2", "bleu", 0.75)]
    assert [row[1:4] for row in figures(database)] == [("acme/m1", "bleu", 0.6)]


def test_samples_of_several_results_are_told_apart_by_their_ids(database: Database, tmp_path: Path) -> None:
    results = [{**result(metric=metric), "evaluation_result_id": metric} for metric in ("exact_match", "f1")]
    (tmp_path / RECORD).write_text(record(*results))
    lines = (sample(1, score, evaluation_result_id=metric) for metric, score in (("exact_match", 0), ("f1", 0.5)))
    (tmp_path / SAMPLES).write_text("".join(lines))
    load(database, tmp_path / SAMPLES, "every-eval-ever")
    assert values(database) == [("acme/m1", "q1", "accuracy", 0.0), ("acme/m1", "q1", "f1", 0.5)]


def test_what_is_known_of_a_question_is_an_attribute(database: Database, load_text: Load) -> None:
    text = sample(1, 1, metadata={"subject": "algebra", "document": "x"}) + sample(
        2, 0, metadata=None, sample_hash=None
    )
    load_text(text, "every-eval-ever", SAMPLES)
    query = "select document, attribute, value from document_attributes order by all"
    assert database.rows(Sql(query)) == [("q1", "sample_hash", "h1"), ("q1", "subject", "algebra")]


def test_samples_without_their_record_say_what_is_correct(database: Database, load_text: Load) -> None:
    load_text(sample(1, 1.0) + sample(2, 0.5), "every-eval-ever", SAMPLES)
    assert [row[1:] for row in values(database)] == [
        ("q1", "accuracy", 1.0),
        ("q1", "score", 1.0),
        ("q2", "accuracy", 0.0),
        ("q2", "score", 0.5),
    ]


def test_what_went_wrong_is_a_failure(database: Database, load_text: Load) -> None:
    errors = ("API error: timeout", "The model refused to answer", "empty response")
    text = "".join(sample(number, 0, error=error) for number, error in enumerate(errors)) + sample(9, 1, error=None)
    load_text(text, "every-eval-ever", SAMPLES)
    query = "select item, reason from failures order by all"
    assert database.rows(Sql(query)) == [("q0", "error"), ("q1", "refused"), ("q2", "no answer")]


def test_a_metric_of_which_less_is_better_is_known_for_it(database: Database, load_text: Load) -> None:
    load_text(record(result(metric="elapsed", lower_is_better=True, score=3)), "every-eval-ever", RECORD)
    assert database.rows(Sql("select measure, lower_is_better from direction")) == [("elapsed", True)]


@pytest.mark.parametrize(
    ("text", "file", "sentence"),
    [
        (EXAMPLE[:-30], RECORD, f"{RECORD}:10: this is not JSON: Expecting value"),
        ('{"evaluation_id": "x"}', RECORD, "this is not a record of Every Eval Ever: it has no evaluation_results"),
        (record(model_info={}), RECORD, "this is not a record of Every Eval Ever: its model_info has no id"),
        (record({}), RECORD, "this is not a record of Every Eval Ever: result 1 has no evaluation_name"),
        (record(result(score=float("nan"))), RECORD, "result 1 has no finite score"),
        (record(), RECORD, f"{RECORD}: it has nothing to store"),
        (sample(1, 1) + '{"sample_id": ', SAMPLES, f"{SAMPLES}:2: this line is not JSON"),
        (sample(1, float("nan")), SAMPLES, f"{SAMPLES}:1: the evaluation of this sample has no finite score, or no"),
        (
            sample(1, 1, model_id=3),
            SAMPLES,
            f"{SAMPLES}:1: this is not a sample of Every Eval Ever: it has no model_id",
        ),
        (
            sample(1, 1) + sample(1, 0),
            SAMPLES,
            f"{SAMPLES}:2: quiz, acme/m1, q1, accuracy has value 0.0, but on line 1",
        ),
    ],
)
def test_what_is_no_record_is_refused(complaints: Complaints, text: str, file: str, sentence: str) -> None:
    assert sentence in complaints(text, "every-eval-ever", file)[0]


def test_a_schema_of_records_is_not_one(database: Database, tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text(EXAMPLE)
    assert recognize(tmp_path / RECORD, database).reader == "every-eval-ever"
    (tmp_path / RECORD).write_text('{"properties": {"evaluation_id": {"type": "string"}, "model_info": {}}}')
    with pytest.raises(DataError, match="its format is not recognized"):
        recognize(tmp_path / RECORD, database)


def test_what_a_sample_took_is_kept_and_less_is_better(database: Database, load_text: Load) -> None:
    took = {"token_usage": {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17}}
    line = sample(1, 1, **took, performance={"latency_ms": 250.0})
    load_text(line, "every-eval-ever", "quiz_samples.jsonl")
    found = {row[2]: row[3] for row in values(database)}
    wanted = {"input_tokens": 12.0, "output_tokens": 5.0, "seconds": 0.25, "tokens": 17.0}
    assert found == {"accuracy": 1.0, "score": 1.0, **wanted}
    lower = database.rows(Sql("select measure from direction where lower_is_better"))
    assert {measure for (measure,) in lower} == wanted.keys()


def test_real_records_load(database: Database, real_files: Path) -> None:
    for file in sorted((real_files / "eee").glob("demo*/**/*.json*")):
        load(database, file, "every-eval-ever")
    rows = {row[0]: row[1:4] for row in figures(database)}
    assert rows["IFEval"] == ("TencentARC/LLaMA-Pro-8B-Instruct", "accuracy", 0.4486)
    assert rows["demo-source.demo_bench"] == ("demo-org/demo-model", "accuracy", 0.75)
    took = {"input_tokens": 12.0, "output_tokens": 5.0, "tokens": 17.0}
    wanted = [("demo-org/demo-model", "demo_0001", measure, value) for measure, value in took.items()]
    assert values(database) == [("demo-org/demo-model", "demo_0001", "accuracy", 1.0), *wanted]


def in_parquet(file: str, texts: list[str]) -> Path:
    """Records as rows. Each row has the keys of all of them."""
    rows = [json.loads(text) for text in texts]
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key) for row in rows] for key in keys}
    pyarrow.parquet.write_table(pyarrow.table(columns), file)
    return Path(file)


def facts(database: Database) -> list[object]:
    return [
        figures(database),
        values(database),
        database.rows(Sql("select test_set, system, model, run from runs order by all")),
        database.rows(Sql("select document, attribute, value from document_attributes order by all")),
        database.rows(Sql("select system, item, reason from failures order by all")),
        database.rows(Sql("select measure, lower_is_better from direction order by all")),
    ]


def test_the_store_in_parquet_is_the_records(database: Database, load_text: Load) -> None:
    """Figures and samples of two models, the second of which has parameters and errors that the first lacks."""
    passed = result(metric="pass_at_k", metric_parameters={"k": 5}, lower_is_better=True)
    records = {
        "a": record(result(score=0.5), evaluation_id="a"),
        "b": record(result(score=1.0), passed, evaluation_id="b", model_info={"id": "acme/m2", "name": "m2"}),
    }
    of_b = {"evaluation_id": "b", "model_id": "acme/m2", "metadata": {"topic": "birds"}, "evaluation_result_id": "none"}
    samples = {
        "a": [sample(1, 1, evaluation_id="a"), sample(2, 0, evaluation_id="a", error="refused")],
        "b": [sample(1, 1, **of_b), sample(2, 1, **of_b)],
    }
    for name in records:
        load_text(records[name], "every-eval-ever", f"{name}.json")
        load_text("".join(samples[name]), "every-eval-ever", f"{name}_samples.jsonl")
    wanted = facts(database)
    with in_memory() as another:
        for file, texts in (("dataset", list(records.values())), ("dataset_samples", samples["a"] + samples["b"])):
            path = in_parquet(f"{file}.parquet", texts)
            assert recognize(path, another).reader == "every-eval-ever"
            loaded = load(another, path, "every-eval-ever", strict=True)
            assert loaded.disagreeing == ()
        assert facts(another) == wanted


def test_a_row_of_the_store_that_is_wrong_is_named(database: Database, load_text: Load) -> None:
    load_text(EXAMPLE, "every-eval-ever", RECORD)
    path = in_parquet("dataset.parquet", [EXAMPLE, record(evaluation_results=[{"score_details": {"score": 1.0}}])])
    with pytest.raises(DataError, match="row 2 is not a record of Every Eval Ever: result 1 has no evaluation_name"):
        load(database, path, "every-eval-ever")
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="this is not a sound Parquet file"):
        load(database, Path("broken.parquet"), "every-eval-ever")
