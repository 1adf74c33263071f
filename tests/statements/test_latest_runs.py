"""`where system.run is latest`: the last run of each model, on each test set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create

RUNS = """\
test_set,system,model,run,date
qa,gpt,gpt,a,2026-01-08T09:00:00+00:00
qa,gpt#2,gpt,b,2026-01-08T10:30:00+02:00
qa,gpt#3,gpt,c,2026-01-01
arc,gpt,gpt,a,2026-01-08T09:00:00+00:00
arc,gpt#3,gpt,c,2026-02-01
qa,llama,llama,x,
qa,llama#2,llama,y,
"""
VALUES = "test_set,system,document,measure,value\n" + "".join(
    f"{test_set},{system},D1,acc,{value}\n"
    for test_set, systems in {
        "qa": ("gpt", "gpt#2", "gpt#3", "llama", "llama#2", "claude"),
        "arc": ("gpt", "gpt#3", "claude"),
    }.items()
    for value, system in enumerate(systems)
)
MODELS = "system,model\ngpt,gpt\ngpt#2,gpt\ngpt#3,gpt\nllama,llama\nllama#2,llama\n"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with create(tmp_path / "w.duckdb") as database:
        for name, text in (("values", VALUES), ("runs", RUNS), ("systems", MODELS)):
            (tmp_path / f"{name}.csv").write_text(text)
            load(database, tmp_path / f"{name}.csv", name)
    with Session.open(tmp_path / "w.duckdb") as session:
        yield session


def systems(session: Session, on: str, where: str) -> set[object]:
    return {
        row["system"] for row in session.run(f"score acc for all on {on} where {where}").rows if row["acc"] is not None
    }


def test_each_model_has_its_last_run(session: Session) -> None:
    # 10:30 at two hours east of Greenwich is before 9:00 there; llama has no dates, so what was loaded last is last.
    assert systems(session, "qa", "system.run is latest") == {"gpt#1", "llama#2", "claude"}
    assert systems(session, "arc", "system.run is latest") == {"gpt#3", "claude"}
    assert systems(session, "qa", "system.run is not latest") == {"gpt", "llama#1"}
    assert systems(session, "qa", 'system.run is latest and system.model = "gpt"') == {"gpt#1"}


def test_replicates_are_runs_of_a_model_where_nothing_else_is_said(session: Session) -> None:
    rows = session.run("score acc for all on arc replicates").rows
    assert [(row["system"], row["replicates"], row["acc"]) for row in rows] == [("claude", 1, 2.0), ("gpt", 2, 0.5)]
    notes = session.run("compare acc for claude, gpt on arc replicates").notes
    assert "arc: each system is the average of its replicates by system.model" in notes


def test_only_runs_are_latest(session: Session) -> None:
    with pytest.raises(QueryError, match="latest is only for runs"):
        session.run("score acc for all on qa where system.model is latest")
