"""Counts with any names: measures computed from them equal the measures that extraction computes from its own
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.upgrading import check
from tests.empty import create

TUPLES = ("possible", "actual", "correct", "partial")
F = "define measure f1 = 2 * (correct + 0.5 * partial) / (possible + actual)"
G = "define measure g = sqrt(correct / possible) * log(1 + correct / actual)"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    """Score tuples of four systems on two test sets, as what they are and as counts."""
    folder = tmp_path_factory.mktemp("counts")
    with Session.open() as sample:
        rows = sample.run("sql \"from scores where system in ('GE', 'UMASS', 'SRI', 'BBN')\"").rows
    header = ("test_set", "system", "document", *TUPLES)
    lines = [",".join(str(row[column]) for column in header) for row in rows]
    (folder / "tuples.csv").write_text("\n".join([",".join(header), *lines]) + "\n", encoding="utf-8")
    with ExitStack() as opened:
        sessions = []
        for reader in ("scores", "counts"):
            with create(folder / f"{reader}.duckdb") as database:
                load(database, folder / "tuples.csv", reader)
                assert check(database) == ()
            sessions.append(opened.enter_context(Session.open(folder / f"{reader}.duckdb")))
            list(sessions[-1].results(f"{F}; {G}"))
        yield sessions[0], sessions[1]


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "score f1, g for all on TST3",
        "score mean(f1), mean(g) for all on TST3",
        "score f1 for GE on TST3 interval",
        "score f1 for all on TST3 by document order by f1 limit 5",
        "compare f1 for all on TST3 against GE",
        "compare f1 for GE, UMASS on TST3 shuffles 2000 seed 7",
        "compare g for GE, UMASS on TST3 shuffles 999",
        "compare g for GE, UMASS on TST3 shuffles 999 test studentized",
        "compare f1 for GE, UMASS on TST3 test bootstrap shuffles 500",
        "compare f1 for GE, UMASS on TST3 margin 2%",
        "compare f1, g for GE, UMASS on TST3, TST4 over test sets shuffles 500",
        "group f1 for all on TST3 adjust holm",
        "rank f1 for all on TST3",
    ],
)
def test_they_give_what_score_tuples_give(both: tuple[Session, Session], statement: str) -> None:
    of_scores, of_counts = (session.run(statement).rows for session in both)
    assert {row.get("task", "counts") for row in of_counts} == {"counts"}
    assert [{**row, "task": ""} for row in of_counts] == [{**row, "task": ""} for row in of_scores]


@pytest.mark.long
def test_a_ratio_of_them_is_tested_exactly(both: tuple[Session, Session]) -> None:
    [row] = both[1].run("compare f1 for GE, UMASS on TST3").rows
    assert row["method"] == "exact"
    assert row["value_a"] == both[0].run("score F for GE on TST3").rows[0]["F(beta=1)"]


UNITS = """\
system,document,unit,n-grams,matches
A,d1,u1,4,1
A,d1,u2,6,5
A,d2,u1,3,3
B,d1,u1,4,2
B,d1,u2,6,6
B,d2,u1,3,
"""


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Two systems on two documents in units; one count is not given. The second test set has other counts."""
    folder = tmp_path_factory.mktemp("units")
    (folder / "t.csv").write_text(UNITS, encoding="utf-8")
    (folder / "other.csv").write_text("system,document,words\nA,d1,7\n", encoding="utf-8")
    with create(folder / "w.duckdb") as database:
        for name in ("t", "other"):
            load(database, folder / f"{name}.csv", "counts", fields={"test_set": name})
    with Session.open(folder / "w.duckdb") as session:
        list(session.results('define measure share = matches / "n-grams"'))
        yield session


def test_units_are_summed_and_split(units: Session) -> None:
    assert [row["share"] for row in units.run("score share for A on t").rows] == [9 / 13]
    split = {row["unit"]: row["share"] for row in units.run("score share for A on t by unit").rows}
    assert split == {"u1": 4 / 7, "u2": 5 / 6}
    [row] = units.run('compare share for A, B on t where document = "d1" exchange by unit').rows
    assert (row["value_a"], row["value_b"], row["units"]) == (0.6, 0.8, 2)


def test_a_count_that_is_not_given_is_unknown_and_not_zero(units: Session) -> None:
    assert units.run("score share for B on t").rows[0]["share"] is None
    with pytest.raises(QueryError, match="share is undefined on t for B"):
        units.run("compare share for A, B on t")
    assert {row["system"]: row["comparable"] for row in units.run("coverage on t").rows} == {"A": "no", "B": "no"}


def test_names_are_found_in_any_case_and_what_lacks_is_said(units: Session) -> None:
    assert units.run("define measure twice = MATCHES * 2; score twice for A on t").rows[0]["twice"] == 18
    with pytest.raises(QueryError) as caught:
        units.run("score share for A on other")
    assert (caught.value.message, caught.value.hints) == ("other has no share; t has it", ("counts of other: words",))
    with pytest.raises(QueryError) as caught:
        units.run("define measure m = matchs / 2")
    assert caught.value.hints == ("did you mean matches?",)
    with pytest.raises(QueryError, match="words is a count"):
        units.run("define measure Words = matches")
