"""Counts that a source does not give stay unknown in comparisons: in whole documents and in units, whichever way they
are fetched.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing import observations
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create

SPURIOUS = {"A": (1, 0, 2, 1), "B": (0, 1, 1, 0), "D": (2, 1, None, 1)}
"""What each system made up in documents d0 to d3; of D it is not known for d2."""


@pytest.fixture(params=["documents", "units"], scope="module")
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Four documents of three systems, each a row or two units, of which only the second may be unknown."""
    tmp_path = tmp_path_factory.mktemp("unknown")
    lines = ["test_set,system,document,unit,possible,actual,correct,partial,incorrect,spurious,missing"]
    for system, made_up in SPURIOUS.items():
        for place, spurious in enumerate(made_up):
            if request.param == "units":
                lines.append(f"T,{system},d{place},slot,4,2,2,0,0,0,2")
            unit = "filler" if request.param == "units" else ""
            given = "" if spurious is None else spurious
            lines.append(f"T,{system},d{place},{unit},5,4,{1 + place % 2},0,0,{given},3")
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with create(tmp_path / "w.duckdb") as database:
        load(database, tmp_path / "scores.csv", "scores")
    with Session.open(tmp_path / "w.duckdb") as opened:
        yield opened


@pytest.fixture(params=[1, 20_000], ids=["counted alike", "one by one"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "MANY", request.param)


@pytest.mark.usefixtures("many")
def test_a_measure_of_an_unknown_count_is_undefined_for_the_system(session: Session) -> None:
    for systems in ("A, D", "D, A", "A, B, D"):
        with pytest.raises(QueryError, match="overgeneration is undefined on T for D"):
            session.run(f"compare overgeneration for {systems} on T")


@pytest.mark.usefixtures("many")
def test_what_does_not_read_it_is_compared(session: Session) -> None:
    [row] = session.run("compare overgeneration for A, B on T").rows
    actual = 4 * (4 + 2) if row["value_a"] == 4 / 24 else 4 * 4
    assert (row["value_a"], row["value_b"]) == (4 / actual, 2 / actual)
    [row] = session.run("compare recall for A, D on T").rows
    assert row["difference"] == 0


@pytest.mark.usefixtures("many")
def test_where_the_rows_are_left_out_the_rest_is_known(session: Session) -> None:
    [row] = session.run('compare overgeneration for A, D on T where document in ("d0", "d1", "d3")').rows
    assert isinstance(row["value_a"], float)
    assert row["value_b"] == 2 * row["value_a"] != 0
    assert row["documents"] == 3
