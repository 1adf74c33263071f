"""Failures are distinguished from absent documents, with their reasons, even if a system was scored on nothing
at all.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory

COLUMNS = ("system", "documents", "scored", "absent", "failed", "reasons", "names", "comparable")


def log_of(model: str, *samples: dict[str, object], **others: object) -> str:
    said = {"eval": {"task": "quiz", "model": model}, "status": "success", "samples": samples}
    return json.dumps(said | others)


def answer(number: int, value: str) -> dict[str, object]:
    return {"id": number, "scores": {"match": {"value": value}}}


def failed(number: int, **others: object) -> dict[str, object]:
    return {"id": number, "scores": {}, **others}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A warehouse in which one system was scored on all, one failed on some, and two on everything."""
    logs = {
        "whole": log_of("whole", *(answer(number, "C") for number in (1, 2, 3))),
        "part": log_of("part", answer(1, "I"), failed(2, error={"message": "x"}), failed(4)),
        "none": log_of("none", failed(1), failed(2)),
        "broken": log_of("broken", status="error"),
    }
    database = in_memory()
    for name, text in logs.items():
        (tmp_path / f"{name}.json").write_text(text)
        load(database, tmp_path / f"{name}.json", "inspect")
    return Session(database)


def coverage(session: Session, statement: str = "coverage for all on quiz") -> list[tuple[object, ...]]:
    return [tuple(row[column] for column in COLUMNS) for row in session.run(statement).rows]


def test_failures_have_reasons_and_the_rest_is_absent(session: Session) -> None:
    assert coverage(session) == [
        ("broken", 4, 0, 4, 0, "error of the run", "1, 2, 3", "no"),
        ("none", 4, 0, 2, 2, "no answer 2", "1, 2, 3", "no"),
        ("part", 4, 1, 1, 2, "error 1, no answer 1", "2, 3, 4", "no"),
        ("whole", 4, 3, 1, 0, None, None, "no"),
    ]


def test_systems_that_only_failed_can_be_named(session: Session) -> None:
    assert [row[0] for row in coverage(session, "coverage for none, whole on quiz")] == ["none", "whole"]
    assert [row[0] for row in coverage(session, "coverage for all except broken, part on quiz")] == ["none", "whole"]
    with pytest.raises(QueryError, match="unknown system 'nobody'"):
        session.run("coverage for nobody on quiz")


def test_a_test_set_on_which_everything_failed_has_coverage(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(log_of("m", failed(1, error={"message": "x"}), failed(2)))
    with in_memory() as database:
        load(database, tmp_path / "log.json", "inspect")
        assert coverage(Session(database)) == [("m", 2, 0, 0, 2, "error 1, no answer 1", "1, 2", "no")]


def test_what_failed_and_was_scored_counts_as_both(tmp_path: Path) -> None:
    said = {"resolved_ids": ["a"], "submitted_ids": ["a", "b"], "empty_patch_ids": ["b"]}
    (tmp_path / "m.run.json").write_text(json.dumps(said))
    with in_memory() as database:
        load(database, tmp_path / "m.run.json", "swe-bench", fields={"test_set": "quiz"})
        assert coverage(Session(database)) == [("m", 2, 2, 0, 1, "no answer 1", None, "yes")]
