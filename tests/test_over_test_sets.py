"""`over test sets` compares averages over test sets and exchanges within each; brute force is the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

# test set, system, document, possible, actual, correct
SMALL = [
    ("first", "A", "d1", 4, 3, 3),
    ("first", "A", "d2", 5, 5, 2),
    ("first", "A", "d3", 3, 2, 2),
    ("first", "B", "d1", 4, 4, 1),
    ("first", "B", "d2", 5, 3, 3),
    ("first", "B", "d3", 3, 4, 1),
    ("second", "A", "e1", 2, 2, 2),
    ("second", "A", "e2", 6, 5, 4),
    ("second", "B", "e1", 2, 1, 1),
    ("second", "B", "e2", 6, 8, 3),
]


VALUES = {
    ("first", "A", "d"): (1, 1, 1, 1),
    ("first", "B", "d"): (0, 1, 0, 1),
    ("second", "A", "e"): (1, 0, 0, 0, 0, 0),
    ("second", "B", "e"): (0, 0, 0, 0, 1, 1),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("sets")
    scores = write_csv(
        folder / "s.csv",
        "test_set system document possible actual correct partial",
        [(*row, 0) for row in SMALL],
    )
    values = write_csv(
        folder / "v.csv",
        "test_set system document measure value",
        [(t, s, f"{d}{k}", "m", value) for (t, s, d), of in VALUES.items() for k, value in enumerate(of)],
    )
    with create(folder / "w.duckdb") as database:
        load(database, scores, "scores")
        load(database, values, "values")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def macro_precision(rows: list[tuple[str, str, str, int, int, int]], system: str) -> Fraction:
    total = Fraction(0)
    for test_set in ("first", "second"):
        of = [row for row in rows if row[0] == test_set and row[1] == system]
        total += Fraction(sum(row[5] for row in of), sum(row[4] for row in of))
    return total / 2


def test_p_is_that_of_all_exchanges_within_each_test_set(session: Session) -> None:
    (row,) = session.run("compare precision for A, B on first, second over test sets exact").rows
    documents = sorted({(row[0], row[2]) for row in SMALL})
    observed = macro_precision(SMALL, "A") - macro_precision(SMALL, "B")
    extreme = 0
    for flips in product((False, True), repeat=len(documents)):
        turned = {key for key, flip in zip(documents, flips, strict=True) if flip}
        other = {"A": "B", "B": "A"}
        rows = [(r[0], other[r[1]] if (r[0], r[2]) in turned else r[1], *r[2:]) for r in SMALL]
        extreme += abs(macro_precision(rows, "A") - macro_precision(rows, "B")) >= abs(observed)
    assert row["test_set"] == "first, second"
    assert row["value_a"] == float(macro_precision(SMALL, "A"))
    assert row["difference"] == pytest.approx(float(observed), abs=1e-15)
    assert (row["method"], row["documents"], row["units"]) == ("exact", 5, 5)
    assert row["p"] == pytest.approx(extreme / 2 ** len(documents), abs=1e-12)


def test_shuffles_agree_with_the_exact_test(session: Session) -> None:
    exact, shuffled = (
        session.run(f"compare precision, F for A, B on first, second over test sets {how}").rows
        for how in ("exact", "shuffles 20000")
    )
    for one, other in zip(exact, shuffled, strict=True):
        assert abs(float(one["p"] or 0) - float(other["p"] or 0)) < 0.02


def test_a_mean_is_one_ratio_of_weighted_counts(session: Session) -> None:
    """Each test set counts alike, whatever its size: 4 items against 6."""
    (row,) = session.run("compare m for A, B on first, second over test sets exact").rows
    assert row["value_a"] == pytest.approx((1 + 1 / 6) / 2)
    assert row["value_b"] == pytest.approx((1 / 2 + 2 / 6) / 2)
    steps = [1 / 8, 1 / 8, 1 / 12, -1 / 12, -1 / 12]
    sums = [sum(sign * step for sign, step in zip(signs, steps, strict=True)) for signs in product((1, -1), repeat=5)]
    assert row["p"] == sum(abs(total) >= abs(sum(steps)) - 1e-12 for total in sums) / 32


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("compare F for A, B on first over test sets", "needs two test sets"),
        ("compare m for A, B on first, second over test sets test t", "looks at one test set at a time"),
    ],
)
def test_what_has_no_average_is_refused(session: Session, statement: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        session.run(statement)


def test_whole_systems_are_exchanged_on_one_test_set() -> None:
    asked = "compare F for yes, no on TST3, TST4 replicates by system.muc3 exchange by system over test sets"
    with Session.open() as sample, pytest.raises(QueryError, match="on one test set at a time"):
        sample.run(asked)


def test_all_pairs_and_pictures(session: Session) -> None:
    result = session.run("plot compare F for all on first, second over test sets")
    assert result.chart is not None
    assert "averaged over first, second" in session.run("compare F for all on first, second over test sets").caption


def test_a_test_set_of_one_document_is_why_an_average_has_no_interval(tmp_path: Path) -> None:
    values = [("long", system, f"d{k}", "m", (k + 1) * place) for k in range(9) for place, system in enumerate("AB")]
    values += [("short", "A", "e", "m", 1), ("short", "B", "e", "m", 2)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", values), "values")
    with Session.open(tmp_path / "w.duckdb") as opened:
        compared = opened.run("compare m for A, B on long, short over test sets")
    assert compared.rows[0]["ci_low"] is None
    assert "m on long, short: short has a single document, so there is no interval for A and B" in compared.notes
