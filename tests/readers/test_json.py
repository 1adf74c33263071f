"""Unusual JSON is read, or all readers of JSON refuse it in the same sentences, with the place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from tests.store.texts import Complaints

ROOT = Path(__file__).resolve().parents[2]

NAMES = {
    "lm-eval": "samples_arc_2026-01-01T00-00-00.000000.jsonl",
    "helm": "per_instance_stats.json",
    "inspect": "log.json",
    "every-eval-ever": "quiz.json",
    "alpaca-eval": "annotations.json",
    "mteb": "Banking77Classification.json",
    "swe-bench": "report.json",
    "promptfoo": "output.json",
    "deepeval": "run.json",
    "human-eval": "m1.jsonl",
    "tau-bench": "m1.json",
    "openai-evals": "log.jsonl",
    "lighteval": "results.json",
    "opencompass": "quiz.json",
    "llm-judge": "judgments.jsonl",
    "spans": "spans.jsonl",
    "comet": "comet.json",
    "answers": "answers.jsonl",
}
BESIDE = {"helm": "run_spec.json", "mteb": "model_meta.json"}
"""What else is read."""

ON = {"test_set": "T", "system": "S"}


def odd(reader: str, put: str) -> str:
    """The example of a reader with something put in as the first of its first object."""
    return READERS[reader].example.replace("{", "{" + put + ", ", 1)


def told(database: Database, file: Path, reader: str) -> list[str]:
    """What is said of a file that is refused; nothing of one that is loaded."""
    try:
        load(database, file, reader, fields=ON)
    except DataError as error:
        return [str(fault) for fault in error.faults]
    return []


def test_these_are_all_readers_of_json() -> None:
    assert {reader.name for reader in READERS.values() if reader.example[0] in "[{"} == set(NAMES)


@pytest.mark.parametrize("reader", NAMES)
@pytest.mark.parametrize(
    ("put", "sentence"),
    [
        ('"a": 1, "a": 2', "has 'a' twice in one object"),
        ('"a": ' + "[" * 100_000, "is not JSON: it is nested too deep"),
        ('"a": 1e', "is not JSON: Expecting"),
        ('"a": tru', "is not JSON: Expecting value"),
    ],
    ids=["a key twice", "depth", "half a number", "half a word"],
)
def test_what_is_odd_is_told(complaints: Complaints, reader: str, put: str, sentence: str) -> None:
    [said] = complaints(odd(reader, put), reader, NAMES[reader], fields=ON)
    assert said.startswith(NAMES[reader])
    assert sentence in said or (sentence.startswith("is not JSON") and said.endswith(":1: this is not JSON"))


@pytest.mark.parametrize("reader", NAMES)
def test_there_may_not_be_too_many_values(complaints: Complaints, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.setattr("evalhouse.warehouse.loading.staging.json_values.MOST_VALUES", 5)
    [said] = complaints(odd(reader, '"a": [1, 2, 3, 4]'), reader, NAMES[reader], fields=ON)
    assert "has more than 5 values in it" in said


@pytest.mark.long
@pytest.mark.parametrize("number", ["7" * 5_000, "-" + "7" * 5_000, "NaN", "Infinity", "1e999"])
@pytest.mark.parametrize("reader", NAMES)
def test_numbers_beyond_all_values_are_read(tmp_path: Path, reader: str, number: str) -> None:
    file = tmp_path / NAMES[reader]
    file.write_text(odd(reader, f'"a": {number}'), encoding="utf-8")
    with in_memory() as database:
        assert told(database, file, reader) == []


@pytest.mark.long
@pytest.mark.parametrize("number", ["7" * 5_000, "NaN", "-Infinity"])
@pytest.mark.parametrize("reader", NAMES)
def test_and_are_no_values(tmp_path: Path, reader: str, number: str) -> None:
    """Each number of an example in turn: what is refused says where, and nothing is stored that is not finite."""
    example = READERS[reader].example
    file = tmp_path / NAMES[reader]
    for found in re.finditer(r"(?<=: )-?[0-9.]+(?=[,}])", example):
        file.write_text(example[: found.start()] + number + example[found.end() :], encoding="utf-8")
        with in_memory() as database:
            said = told(database, file, reader)
        assert all(NAMES[reader] in fault and "not JSON" not in fault for fault in said)


@pytest.mark.parametrize("reader", BESIDE)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 2}', "{} beside it has 'a' twice in one object"),
        ("[" * 100_000, "{} beside it is not JSON: it is nested too deep"),
        ("{\n]", "line 2 of {} beside it is not JSON: "),
    ],
)
def test_so_is_what_stands_beside(complaints: Complaints, tmp_path: Path, reader: str, text: str, why: str) -> None:
    (tmp_path / BESIDE[reader]).write_text(text, encoding="utf-8")
    [said] = complaints(READERS[reader].example, reader, NAMES[reader])
    assert why.format(BESIDE[reader]) in said


def test_there_is_one_door() -> None:
    """Nothing else of loading reads JSON by itself."""
    found = {
        path.name
        for path in (ROOT / "warehouse" / "loading").rglob("*.py")
        if re.search(r"\bjson\.loads?\(", path.read_text(encoding="utf-8"))
    }
    assert found == {"json_values.py"}
