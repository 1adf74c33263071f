"""`coverage` on a warehouse in which systems lack documents and measures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Twelve questions: `base` answered all, `short` the first four, `lazy` all but without the measure speed."""
    folder = tmp_path_factory.mktemp("coverage")
    questions = [f"q{place:02}" for place in range(12)]
    rows = [
        ("qa", system, question, measure, 1)
        for system, answered, measures in (
            ("base", questions, ("accuracy", "speed")),
            ("short", questions[:4], ("accuracy", "speed")),
            ("lazy", questions, ("accuracy",)),
        )
        for question in answered
        for measure in measures
    ]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", rows), "values")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def test_counts_and_the_first_names_of_what_is_absent(session: Session) -> None:
    rows = {row["system"]: row for row in session.run("coverage for all on qa").rows}
    assert [rows[name]["documents"] for name in ("base", "lazy", "short")] == [12, 12, 12]
    assert [rows[name]["scored"] for name in ("base", "lazy", "short")] == [12, 12, 4]
    assert rows["short"]["absent"] == 8
    assert rows["short"]["names"] == "q04, q05, q06, q07, q08"
    assert rows["base"]["names"] is None
    assert {(row["failed"], row["reasons"]) for row in rows.values()} == {(0, None)}


@pytest.mark.parametrize(
    ("systems", "measure", "comparable"), [("base, short", "accuracy", "no"), ("base, lazy", "speed", "no")]
)
def test_what_cannot_be_compared_is_what_compare_refuses(
    session: Session, systems: str, measure: str, comparable: str
) -> None:
    result = session.run(f"coverage for {systems} on qa")
    assert {row["comparable"] for row in result.rows} == {comparable}
    assert systems.split(", ")[1] in result.notes[0]
    with pytest.raises(QueryError, match=r"(is|are) missing for some systems"):
        session.run(f"compare {measure} for {systems} on qa")


def test_systems_with_the_same_documents_can_be_compared(session: Session) -> None:
    result = session.run("coverage for base on qa")
    assert [row["comparable"] for row in result.rows] == ["yes"]
    assert result.notes == ()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("coverage of extraction on qa", "qa has no score tuples"),
        ("coverage for nobody on qa", "unknown system 'nobody' on qa"),
        ("coverage for base on nowhere", "unknown test set 'nowhere'"),
    ],
)
def test_what_is_named_and_not_there_is_an_error(session: Session, statement: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        session.run(statement)


def test_a_baseline_lacks_nothing_and_a_named_test_set_is_not_passed_over() -> None:
    with Session.open() as sample:
        with pytest.raises(QueryError, match="allrel is computed from the key, so none of its documents can be absent"):
            sample.run("coverage of filtering for GE, allrel on TST3")
        kinds = "score tuples or relevance decisions or counts or rankings or predicted numbers or values"
        with pytest.raises(QueryError, match=f"TST2 has no {kinds}"):
            sample.run("coverage for all on TST2, TST3")


def test_export_and_explain_take_it_as_any_question(session: Session, tmp_path: Path) -> None:
    session.folder = tmp_path
    session.run('export coverage for all on qa to "c.csv"')
    assert (tmp_path / "c.csv").read_text(encoding="utf-8").startswith("test_set,task,system,documents,scored,absent")
    stages = [row["stage"] for row in session.run("explain coverage on qa").rows]
    assert stages.count("sql") == 7
