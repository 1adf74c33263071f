"""Samples that were drawn several times: pass(k) and every(k) by their formulas, and the errors for invalid k."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import Function, find_measure, settle
from evalhouse.warehouse.session.session import Session
from tests.empty import create

BASE = ((5, 2), (5, 0), (5, 3), (4, 0), (6, 6))
TUNED = ((5, 4), (5, 1), (5, 3), (4, 3), (6, 5))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("draws")
    lines = ["model,question,attempts,passed"]
    for system, drawn in (("base", BASE), ("tuned", TUNED)):
        lines += [f"{system},Q{place},{attempts},{passed}" for place, (attempts, passed) in enumerate(drawn)]
    (folder / "drawn.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with create(folder / "w.duckdb") as database:
        load(database, folder / "drawn.csv", "counts", fields={"test_set": "qa"})
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def any_of(n: int, c: int, k: int) -> Fraction:
    return 1 - Fraction(comb(n - c, k), comb(n, k))


def all_of(n: int, c: int, k: int) -> Fraction:
    return Fraction(comb(c, k), comb(n, k))


@given(st.integers(1, 40), st.data())
def test_the_formulas_are_those_of_the_papers(attempts: int, data: st.DataObject) -> None:
    passed, k = data.draw(st.integers(0, attempts)), data.draw(st.integers(1, attempts))
    for name, wanted in (("pass", any_of), ("every", all_of)):
        measure = find_measure(name, "counts")
        assert measure is not None
        statistic = settle(measure, {"k": k})  # type: ignore[dict-item]
        assert isinstance(statistic.computation, Function)
        sums = dict(zip(("attempts", "passed"), (attempts, passed), strict=True))
        found = statistic.computation.exact([sums[column] for column in statistic.columns])
        assert found == wanted(attempts, passed, k)


def test_they_are_the_shares_of_choices_that_pass() -> None:
    draws = [True] * 3 + [False] * 2
    chosen = list(combinations(draws, 2))
    assert any_of(5, 3, 2) == Fraction(sum(map(any, chosen)), len(chosen))
    assert all_of(5, 3, 2) == Fraction(sum(map(all, chosen)), len(chosen))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_systems_have_the_mean_over_documents(session: Session, k: int) -> None:
    rows = session.run(f"score pass(k={k}), every(k={k}) for all on qa").rows
    for row in rows:
        drawn = BASE if row["system"] == "base" else TUNED
        assert row[f"pass(k={k})"] == pytest.approx(float(sum(any_of(n, c, k) for n, c in drawn)) / 5, abs=1e-12)
        assert row[f"every(k={k})"] == pytest.approx(float(sum(all_of(n, c, k) for n, c in drawn)) / 5, abs=1e-12)


def test_tests_exchange_whole_documents(session: Session) -> None:
    [row] = session.run("compare pass(k=3) for base, tuned on qa exact").rows
    differences = [any_of(*one, 3) - any_of(*other, 3) for one, other in zip(BASE, TUNED, strict=True)]
    signed = [abs(sum((sign * each for sign, each in zip(signs, differences, strict=True)), Fraction(0))) for signs in
              product((1, -1), repeat=5)]  # fmt: skip
    assert row["p"] == sum(each >= abs(sum(differences, Fraction(0))) for each in signed) / 32


def test_what_has_fewer_attempts_is_left_out_and_said(session: Session) -> None:
    result = session.run("score pass(k=5) for base on qa")
    wanted = float(sum((any_of(n, c, 5) for n, c in BASE if n >= 5), Fraction(0))) / 4
    assert result.rows[0]["pass(k=5)"] == pytest.approx(wanted)
    assert result.notes == ("pass(k=5) on qa: questions without a value are left out: 1 for base",)


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("score pass(k=0) for all on qa", "k is a whole number from 1 to 1000, not 0"),
        ("score every(k=1000000000) for all on qa", "k is a whole number from 1 to 1000, not 1000000000"),
        ("score pass(k=1.5) for all on qa", "k is a whole number from 1 to 1000, not 1.5"),
        ("compare pass(k=7) for all on qa", "k is at most 6, the most attempts that qa has, not 7"),
        ("define measure twice = 2 * pass(k=2)", "pass is not a function of sums, so a definition cannot use it"),
        ("score BLEU for all on qa", "qa has no counts for BLEU"),
    ],
)
def test_wrong_k_is_told(session: Session, statement: str, wrong: str) -> None:
    with pytest.raises(QueryError) as caught:
        session.run(statement)
    assert caught.value.message == wrong
