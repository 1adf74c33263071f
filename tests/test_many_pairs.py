"""Comparisons of many pairs: notes that a few pairs get one by one become one note about many."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from evalhouse.warehouse.session.session import Session


@pytest.fixture
def session() -> Iterator[Session]:
    with Session.open() as opened:
        yield opened


@pytest.mark.parametrize("most", [0, 136])
def test_undecided_pairs(session: Session, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("evalhouse.warehouse.comparing.notes.ONE_BY_ONE", most)
    result = session.run("compare F for all on TST3 shuffles 99 level 0.05 confidence 0.9")
    undecided = [row for row in result.rows if row["verdict"] == "undecided"]
    notes = [note for note in result.notes if "undecided" in note]
    if most:
        assert [note.partition(",")[0] for note in notes] == [
            f"{row['system_a']} and {row['system_b']}" for row in undecided
        ]
    else:
        assert len(notes) == 1
        assert notes[0].startswith(f"{len(undecided)} pairs are undecided, as at confidence 0.9 the exact p")
        assert re.search(r"; [\d,]+ shuffles would decide \d+ of them, and exact would decide all$", notes[0])


@pytest.mark.parametrize("most", [0, 136])
def test_tests_that_assume_independence(session: Session, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("evalhouse.warehouse.comparing.notes.ONE_BY_ONE", most)
    result = session.run("compare recall for GE, UMASS, SRI on TST3 test two-sample-t")
    notes = [note for note in result.notes if "independent" in note]
    assert len(notes) == (3 if most else 1)
    largest = max(float(row["inflation"] or 0) for row in result.rows)
    assert any(f"{largest:.2f} times what it is" in note for note in notes)
