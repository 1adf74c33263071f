"""What a file states about its own rows is compared with them, whichever reader reads it: a right figure is not
mentioned, a wrong one is said with both numbers, and `strict` refuses it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import VALUES
from evalhouse.warehouse.loading.disagreements import disagreements
from evalhouse.warehouse.loading.ingest import Loaded, load
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.loading.staging.stated import StatedFigure
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql

ROOT = Path(__file__).resolve().parents[2]

Marks = Sequence[int]
"""For each sample, whether it is right."""


# Each of these writes a log with the marks of some samples and the accuracy that it states, and returns the file to be
# loaded.


def of_lm_eval(folder: Path, marks: Marks, stated: float) -> Path:
    date = "2026-01-16T15-23-47.285735"
    results = {"model_name": "m", "results": {"t": {"acc,none": stated}}}
    (folder / f"results_{date}.json").write_text(json.dumps(results))
    lines = ({"doc_id": number, "metrics": ["acc"], "acc": mark} for number, mark in enumerate(marks))
    return written(folder / f"samples_t_{date}.jsonl", "\n".join(map(json.dumps, lines)))


def of_helm(folder: Path, marks: Marks, stated: float) -> Path:
    def stat(value: float, split: str) -> dict[str, Any]:
        return {"name": {"name": "exact_match", "split": split}, "count": 1, "sum": value}

    (folder / "stats.json").write_text(json.dumps([stat(stated, "test"), stat(1.0, "valid")]))
    instances = [{"instance_id": f"id{n}", "stats": [stat(mark, "test")]} for n, mark in enumerate(marks)]
    valid = [{"instance_id": "other", "stats": [stat(1, "valid")]}]
    return written(folder / "per_instance_stats.json", json.dumps([*instances, *valid]))


def of_inspect(folder: Path, marks: Marks, stated: float) -> Path:
    samples = [
        {"id": number, "epoch": 1, "scores": {"match": {"value": "CI"[1 - mark]}}} for number, mark in enumerate(marks)
    ]
    scores = [{"name": "match", "scorer": "match", "metrics": {"accuracy": {"value": stated}}}]
    log = {"eval": {"task": "t", "model": "m"}, "samples": samples, "results": {"scores": scores}}
    return written(folder / "log.json", json.dumps(log))


def of_every_eval_ever(folder: Path, marks: Marks, stated: float) -> Path:
    result = {"evaluation_name": "t", "metric_config": {"metric_id": "accuracy"}, "score_details": {"score": stated}}
    record = {"evaluation_id": "e", "model_info": {"id": "m"}, "evaluation_results": [result]}
    (folder / "r.json").write_text(json.dumps(record))
    samples = (
        {
            "evaluation_id": "e",
            "model_id": "m",
            "evaluation_name": "t",
            "sample_id": f"q{number}",
            "evaluation": {"score": mark, "is_correct": mark == 1},
        }
        for number, mark in enumerate(marks)
    )
    return written(folder / "r_samples.jsonl", "\n".join(map(json.dumps, samples)))


def of_alpaca_eval(folder: Path, marks: Marks, stated: float) -> Path:
    (folder / "leaderboard.csv").write_text(f",win_rate,n_total\nm,{100 * stated!r},{len(marks)}\n")
    annotations = [
        {"instruction": f"do {number}", "generator_1": "base", "generator_2": "m", "preference": 1.0 + mark}
        for number, mark in enumerate(marks)
    ]
    return written(folder / "annotations.json", json.dumps(annotations))


def of_trec_eval(folder: Path, marks: Marks, stated: float) -> Path:
    lines = [f"map\t{number}\t{mark:.4f}" for number, mark in enumerate(marks)]
    return written(folder / "t.eval", "\n".join([*lines, "runid\tall\tm", f"map\tall\t{stated:.4f}\n"]))


def of_mteb(folder: Path, marks: Marks, stated: float) -> Path:
    scores = {"test": [{"hf_subset": "default", "main_score": stated, "accuracy": sum(marks) / len(marks)}]}
    return written(folder / "t.json", json.dumps({"task_name": "t", "mteb_version": "1.14.0", "scores": scores}))


def of_promptfoo(folder: Path, marks: Marks, stated: float) -> Path:
    results = [
        {"testIdx": number, "provider": {"id": "m"}, "success": mark == 1, "score": mark}
        for number, mark in enumerate(marks)
    ]
    head = [{"metrics": {"score": stated * len(marks)}}]
    return written(folder / "o.json", json.dumps({"evalId": "e", "results": {"results": results, "prompts": head}}))


def of_deepeval(folder: Path, marks: Marks, stated: float) -> Path:
    cases = [
        {"input": f"q{number}", "success": True, "metricsData": [{"name": "M", "score": mark}]}
        for number, mark in enumerate(marks)
    ]
    scores = [{"metric": "M", "scores": [stated * len(marks)]}]
    return written(folder / "r.json", json.dumps({"testRunData": {"testCases": cases, "metricsScores": scores}}))


def of_human_eval(folder: Path, marks: Marks, stated: float) -> Path:
    tasks = {f"HumanEval/{number}": [{"base_status": ("fail", "pass")[mark]}] for number, mark in enumerate(marks)}
    said = {"hash": "h", "eval": tasks, "pass_at_k": {"base": {"pass@1": stated}}}
    return written(folder / "m_eval_results.json", json.dumps(said))


def of_openai_evals(folder: Path, marks: Marks, stated: float) -> Path:
    lines: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m"], "base_eval": "t", "run_id": "r"}}]
    for number, mark in enumerate(marks):
        lines.append({"sample_id": str(number), "type": "match", "data": {"correct": mark == 1}})
    return written(folder / "l.jsonl", "\n".join(map(json.dumps, [*lines, {"final_report": {"accuracy": stated}}])))


def of_opencompass(folder: Path, marks: Marks, stated: float) -> Path:
    details = {str(number): {"correct": mark == 1} for number, mark in enumerate(marks)}
    return written(folder / "t.json", json.dumps({"accuracy": 100 * stated, "details": details}))


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


LOGS: dict[str, Callable[[Path, Marks, float], Path]] = {
    "lm-eval": of_lm_eval,
    "helm": of_helm,
    "inspect": of_inspect,
    "every-eval-ever": of_every_eval_ever,
    "alpaca-eval": of_alpaca_eval,
    "trec-eval": of_trec_eval,
    "mteb": of_mteb,
    "promptfoo": of_promptfoo,
    "deepeval": of_deepeval,
    "human-eval": of_human_eval,
    "openai-evals": of_openai_evals,
    "opencompass": of_opencompass,
}

SETTINGS = {
    "helm": {"test_set": "t", "system": "m"},
    "trec-eval": {"test_set": "t"},
    "mteb": {"test_set": "t", "system": "m"},
    "deepeval": {"system": "m"},
    "opencompass": {"system": "m"},
}


def loaded(database: Database, reader: str, marks: Marks, stated: float, *, strict: bool = False) -> Loaded:
    with tempfile.TemporaryDirectory() as folder:
        file = LOGS[reader](Path(folder), marks, stated)
        return load(database, file, reader, fields=SETTINGS.get(reader, {}), strict=strict, dry_run=True)


@pytest.fixture(scope="module")
def nothing() -> Iterator[Database]:
    """A warehouse for loads of which nothing is kept."""
    with in_memory() as database:
        yield database


MARKS = st.lists(st.integers(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize("reader", LOGS)
def test_a_wrong_figure_is_said_and_refused_and_a_right_one_is_not(nothing: Database, reader: str) -> None:
    assert loaded(nothing, reader, [1, 0, 0], 1 / 3, strict=True).disagreeing == ()
    check_wrong(nothing, reader, [1, 0, 0], 0.75)


@pytest.mark.long
@pytest.mark.parametrize("reader", LOGS)
@settings(max_examples=15)
@given(marks=MARKS, stated=st.integers(0, 12))
def test_any_wrong_figure_is_said(nothing: Database, reader: str, marks: Marks, stated: int) -> None:
    right, wrong = sum(marks) / len(marks), stated / 12
    if abs(right - wrong) < 0.01:
        assert loaded(nothing, reader, marks, right, strict=True).disagreeing == ()
    else:
        check_wrong(nothing, reader, marks, wrong)


def check_wrong(nothing: Database, reader: str, marks: Marks, wrong: float) -> None:
    right = sum(marks) / len(marks)
    [said] = loaded(nothing, reader, marks, wrong).disagreeing
    scale = {"alpaca-eval": 100, "opencompass": 100, "promptfoo": len(marks), "deepeval": len(marks)}.get(reader, 1)
    written = round(wrong, 4) if reader == "trec-eval" else wrong
    assert f"{scale * written:.6g}" in said
    assert f"{scale * right:.6g}" in said
    with pytest.raises(DataError) as refused:
        loaded(nothing, reader, marks, wrong, strict=True)
    assert [fault.message for fault in refused.value.faults] == [said]
    assert refused.value.hints == ("without --strict the rows are stored, and notes say what differs",)


@pytest.mark.parametrize(
    ("stated", "differs"),
    [
        (0.6666666666666666, False),
        (0.667, False),
        (0.67, False),
        (0.7, True),  # nobody rounds to one decimal
        (0.66, True),
        (0.666, True),
        (0.66666666, True),
        ("0.6667", False),
        ("0.6666", True),
    ],
)
def test_a_figure_may_be_rounded_to_its_last_digit(nothing: Database, stated: float | str, differs: bool) -> None:
    staging = Staging(nothing, Path("f"), VALUES, {}, {})
    staging.state(StatedFigure("t", ("m",), "acc", "acc", "it", stated, values=(1.0, 1.0, 0.0)))
    assert bool(disagreements(staging, ())) is differs


def test_no_figure_is_rounded_where_another_of_the_file_has_all_its_digits(nothing: Database) -> None:
    staging = Staging(nothing, Path("f"), VALUES, {}, {})
    for called, value, values in (("acc", 0.75, (0.7525,)), ("f1", 0.123456789, (0.123456789,))):
        staging.state(StatedFigure("t", ("m",), called, called, "it", value, values=values))
    assert disagreements(staging, ()) == ("it gives acc as 0.75, but the mean of the samples is 0.7525",)


def test_many_differences_of_a_file_are_counted(nothing: Database) -> None:
    staging = Staging(nothing, Path("f"), VALUES, {}, {})
    for number in range(9):
        staging.state(StatedFigure("t", ("m",), "m", f"m{number}", "it", 1.0, values=(0.0,)))
    said = disagreements(staging, ())
    assert len(said) == 6
    assert said[-1] == "4 more figures differ from those that the file states"


def evalhouse(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "cli.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.long
def test_strict_stores_nothing_and_ends_with_1(tmp_path: Path) -> None:
    of_inspect(tmp_path, [1, 0], 0.9)
    assert evalhouse("init", "w.duckdb", folder=tmp_path).returncode == 0
    strict = evalhouse("load", "log.json", "--strict", "--db", "w.duckdb", folder=tmp_path)
    assert strict.returncode == 1
    differs = "the summary of the log gives accuracy of match as 0.9, but the mean of the samples is 0.5"
    assert f"error: log.json: {differs}" in strict.stderr
    assert "nothing was stored" in strict.stderr
    said = evalhouse("load", "log.json", "--db", "w.duckdb", folder=tmp_path)
    assert said.returncode == 0
    assert f"note: {differs}" in said.stderr


def test_strict_is_an_argument_in_python(tmp_path: Path) -> None:
    import evalhouse as eh

    warehouse = eh.create()
    file = of_inspect(tmp_path, [1, 0], 0.9)
    with pytest.raises(eh.LoadError, match=r"gives accuracy of match as 0\.9"):
        warehouse.load(file, strict=True)
    assert any("gives accuracy of match as 0.9" in note for note in warehouse.load(file).notes)


def test_what_is_stored_already_is_compared_again(database: Database, tmp_path: Path) -> None:
    file = of_inspect(tmp_path, [1, 0], 0.9)
    for _ in range(2):
        assert len(load(database, file, "inspect").disagreeing) == 1
    assert database.rows(Sql("select count(*) from document_values")) == [(2,)]
