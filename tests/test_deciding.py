"""Shuffling until every verdict is decided: the verdicts are those of the exact test, and rows report the number of
shuffles.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from evalhouse.warehouse.comparing import decisions, procedures
from evalhouse.warehouse.plans.path import DuckDBEngine, Workforce
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.database import Database


@pytest.fixture(scope="module")
def session(warehouses: dict[str, Path]) -> Iterator[Session]:
    with Session.open(warehouses["sample"]) as opened:
        yield opened


@pytest.fixture
def shuffling(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exact test is affordable."""
    for module in (procedures, decisions):
        monkeypatch.setattr(module, "affordable_costs", lambda comparison: None)


FIVE = "F for GE, GE-CMU, UMASS, SRI, NYU"


def numbers(result: Result, column: str) -> list[float]:
    return [float(cell) for cell in result.table.column(column) if isinstance(cell, int | float)]


def verdicts(session: Session, statement: str) -> list[object]:
    return [(row["system_a"], row["system_b"], row["verdict"]) for row in session.run(statement).rows]


@pytest.mark.parametrize("adjust", ["", "adjust bonferroni", "adjust holm", "adjust bh"])
@pytest.mark.parametrize("sides", ["", "one-sided"])
def test_verdicts_are_those_of_the_exact_test(session: Session, shuffling: None, adjust: str, sides: str) -> None:
    asked = f"compare {FIVE} on TST3 {sides} level 0.04 {adjust}"
    result = session.run(asked)
    assert {row["method"] for row in result.rows} == {"approximate"}
    assert verdicts(session, asked) == verdicts(session, f"{asked} exact")
    assert not any("undecided" in note for note in result.notes)
    # Each goes on until it is decided, and no longer.
    p, nge, shuffles = (numbers(result, name) for name in ("p", "nge", "shuffles"))
    assert min(shuffles) == 10_000
    assert p == [(extreme + 1) / (made + 1) for extreme, made in zip(nge, shuffles, strict=True)]


@pytest.mark.parametrize("clauses", ["adjust maxt", "test tukey", "test bootstrap"])
def test_other_tests_that_draw_go_on_as_well(session: Session, clauses: str) -> None:
    result = session.run(f"compare {FIVE} on TST3 {clauses}")
    assert {row["verdict"] for row in result.rows} <= {"significant", "not significant"}
    assert all(made % (10_000 if "maxt" in clauses else 10_240) == 0 for made in numbers(result, "shuffles"))


def test_a_run_that_is_gone_on_with_is_the_run_at_once(session: Session, shuffling: None) -> None:
    asked = f"compare {FIVE} on TST3 level 0.045"
    result = session.run(asked)
    most = max(numbers(result, "shuffles"))
    assert most > 10_000
    longest = next(row for row in result.rows if row["shuffles"] == most)
    a, b = longest["system_a"], longest["system_b"]
    (at_once,) = session.run(f"compare F for {a}, {b} on TST3 shuffles {most:.0f}").rows
    assert at_once["nge"] == longest["nge"]


@pytest.mark.long
def test_the_last_pairs_are_counted_exactly(session: Session) -> None:
    """All 136 pairs are too much to be counted unasked, and the few that shuffles leave open are not."""
    result = session.run("compare F for all on TST3 adjust holm")
    methods = [row["method"] for row in result.rows]
    assert methods.count("exact") in range(1, 40)
    assert "undecided" not in result.table.column("verdict")
    groups = session.run("group F for all on TST3 adjust holm").rows
    shared = {row["system"]: set(str(row["letters"]).split()) for row in groups}
    assert not shared["GE"] & shared["SYNCH"]
    for row in result.rows:
        assert bool(shared[row["system_a"]] & shared[row["system_b"]]) == (row["verdict"] == "not significant")


@pytest.mark.long
@pytest.mark.parametrize("adjust", ["bonferroni", "holm"])
def test_groups_of_all_systems_are_those_of_the_exact_test(session: Session, adjust: str) -> None:
    asked = f"group F for all on TST3 adjust {adjust}"
    assert session.run(asked).rows == session.run(f"{asked} exact").rows


def test_what_stays_undecided_says_so(session: Session, shuffling: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "BUDGET", 1.0)
    result = session.run("compare F for GE, GE-CMU on TST3 level 0.042")
    (row,) = result.rows
    assert (row["verdict"], row["shuffles"]) == ("undecided", 10_000)
    (note,) = (note for note in result.notes if "undecided" in note)
    assert int(note.split("about ")[1].split(" shuffles")[0].replace(",", "")) > 10_000
    group = session.run("group F for GE, GE-CMU on TST3 level 0.042")
    assert [row["undecided"] for row in group.rows] == ["GE-CMU", "GE"]


def test_explain_says_beforehand_how_many_there_may_be(session: Session, shuffling: None) -> None:
    explained = session.run("explain compare F for GE, UMASS on TST3").rows
    lines = {row["stage"]: str(row["what"]) for row in explained}
    assert "until every verdict is decided, at most 10,000,000" in lines["executor"]


@pytest.mark.long
def test_blocks_of_pairs_decide_alike(warehouses: dict[str, Path], shuffling: None) -> None:
    asked, found = f"compare {FIVE} on TST3 adjust holm", []
    for blocks in (1, 3):

        def engine(database: Database, workforce: Workforce, blocks: int = blocks) -> DuckDBEngine:
            return DuckDBEngine(database, replace(workforce, blocks=blocks))

        with Session(open_database(warehouses["sample"]), None, engine) as session:
            found.append(session.run(asked).rows)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("asked", "noted"),
    [
        ("compare recall for GE, UMASS on TST3 {few} shuffles 9999", True),
        ("group recall for GE, UMASS, SRI on TST3 {few} shuffles 9999 adjust holm", True),
        ("compare F for GE, UMASS on TST3 shuffles 9999", False),
        ("compare recall for GE, UMASS on TST3 {few}", False),
        ("compare recall for GE, UMASS on TST3 {few} exact", False),
        ("compare recall for GE, UMASS on TST3 {few} shuffles 9999 adjust maxt", False),
        ("compare recall for GE, UMASS on TST3 {few} test studentized shuffles 9999", False),
    ],
)
def test_a_note_says_when_an_exact_test_is_faster(
    session: Session, monkeypatch: pytest.MonkeyPatch, asked: str, noted: bool
) -> None:
    """Where shuffling takes noticeable time, and where it can replace the shuffles."""
    monkeypatch.setattr(decisions, "NOTICEABLE", 0)
    asked = asked.format(few='where document like "SIM3-00%"')
    assert any("would take less than half the time of" in note for note in session.run(asked).notes) == noted


def test_a_quick_run_is_not_compared_with_an_exact_test(session: Session) -> None:
    assert session.run("compare recall for GE, UMASS on TST3 shuffles 9998").notes == ()
