"""Synonyms from the field for words of the language: the numbers are the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.sample import fill
from evalhouse.warehouse.results import Table
from evalhouse.warehouse.session.session import Session
from tests.conftest import WithValues
from tests.empty import create

ALIKE = [
    ("score F1 for all on TST3", "score F(beta=1) for all on TST3"),
    ("score F_0.5 for all on TST3", "score F(beta=0.5) for all on TST3"),
    ("score mean(P) for all on TST3", "score mean(precision) for all on TST3"),
    ("score micro(R) for all on TST3", "score recall for all on TST3"),
    ("score acc of filtering for all on TST3", "score accuracy of filtering for all on TST3"),
    ("score P by unit for GE and UMASS on TST3 and TST4", "score precision by unit for GE, UMASS on TST3, TST4"),
    ("compare F2 for GE vs UMASS on TST3 alpha 0.1", "compare F(beta=2) for GE, UMASS on TST3 level 0.1"),
    ("group R for GE and SRI and UMASS on TST3 permutations 99", "group recall for GE, SRI, UMASS on TST3 shuffles 99"),
    (
        "compare F1 for GE, UMASS, SRI on TST3 adjust westfall-young permutations 99",
        "compare F(beta=1) for GE, UMASS, SRI on TST3 adjust maxt shuffles 99",
    ),
    (
        "compare F1 for GE, UMASS on TST3 test bootstrap resamples 99",
        "compare F(beta=1) for GE, UMASS on TST3 test bootstrap shuffles 99",
    ),
    ("rank F1 for GE, UMASS, SRI on TST3 test permutation", "rank F(beta=1) for GE, UMASS, SRI on TST3"),
    (
        "score recall of filtering for all on TST3 where system.pre_parse = yes and system.muc3 in (yes, no)",
        'score recall of filtering for all on TST3 where system.pre_parse = "yes" and system.muc3 in ("yes", "no")',
    ),
    ("change F1 for all from TST3 to TST4", "change F(beta=1) for all from TST3 to TST4"),
    ("change F1 of published for all from TST3 to TST4", "change F(beta=1) of published for all from TST3 to TST4"),
]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open() as sample:
        yield sample


@pytest.mark.parametrize(("typed", "meant"), ALIKE)
def test_the_numbers_are_those_of_what_is_meant(session: Session, typed: str, meant: str) -> None:
    one, other = session.run(typed), session.run(meant)

    def numbers(table: Table) -> list[list[object]]:
        return [[cell for cell in row if not isinstance(cell, str)] for row in table.rows]

    assert numbers(one.table) == numbers(other.table) != []


def test_a_name_that_is_stored_is_meant_before_a_synonym(with_values: WithValues) -> None:
    values = [("qa", system, f"d{n}", measure, n / 4 + (measure == "P")) for system in "AB" for n in range(4)
              for measure in ("P", "precision", "acc")]  # fmt: skip
    with with_values(values) as session:
        row = session.run("score P, precision, acc, accuracy for A on qa").rows[0]
        assert (row["P"], row["precision"], row["acc"], row["accuracy"]) == (1.375, 0.375, 0.375, 0.375)


@pytest.mark.long
def test_a_measure_that_was_defined_is_meant_before_a_synonym(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        fill(database)
    with Session.open(tmp_path / "w.duckdb") as session:
        list(session.results("define measure F1 = possible / actual"))
        own, of_language = (session.run(f"score {name} for GE on TST3").rows[0] for name in ("F1", "F(beta=1)"))
        ratio = session.run('sql "select sum(possible) / sum(actual) as it from scores where system = \'GE\' '
                            'and test_set = \'TST3\'"').rows[0]["it"]  # fmt: skip
        assert own["F1"] == pytest.approx(ratio, rel=1e-15)
        assert own["F1"] != of_language["F(beta=1)"]


def test_stored_values_are_found_by_synonyms(with_values: WithValues) -> None:
    values = [("qa", "A", f"d{n}", measure, n) for n in range(4) for measure in ("precision", "f1", "map", "acc")]
    with with_values(values) as session:
        row = session.run("score P, F_1, F(beta=1), AP, accuracy for A on qa").rows[0]
        names = ("P", "F_1", "F(beta=1)", "AP", "accuracy")
        assert {name: row[name] for name in names} == dict.fromkeys(names, 1.5)


def test_a_synonym_is_unknown_where_nothing_of_its_kind_is_stored(with_values: WithValues) -> None:
    with (
        with_values([("qa", "A", "d", "bleu", 1.0)]) as session,
        pytest.raises(QueryError, match="unknown measure 'F1'"),
    ):
        session.run("score F1 for A on qa")
