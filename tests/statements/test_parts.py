"""`table … by` and `differ … by unit`: values are those of `score`, and tests those of every exchange of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

SYSTEMS, UNITS, SOURCES = ("A", "B"), ("per", "loc"), ("mail", "chat", "")

Counts = tuple[int, int, int]
"""Possible, actual and correct answers of a unit of a document; nothing where a system has no row of the unit."""

OfUnits = dict[str, Counts | None]
Document = tuple[tuple[OfUnits, OfUnits], str]
"""What each system has of a document, and where that is from."""


def can_be_asked(data: list[Document]) -> bool:
    """Whether each system has a value, and any document an attribute."""
    of_systems = [[both[which] for both, _ in data] for which in (0, 1)]
    return any(source for _, source in data) and all(
        any(of is not None and of[0] > 0 for of_units in of_system for of in of_units.values())
        for of_system in of_systems
    )


counts = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).map(lambda c: (c[0], c[1], min(c)))
units: st.SearchStrategy[OfUnits] = st.fixed_dictionaries({name: st.none() | counts for name in UNITS})
document: st.SearchStrategy[Document] = st.tuples(st.tuples(units, units), st.sampled_from(SOURCES))
documents = st.lists(document, min_size=2, max_size=6).filter(can_be_asked)


@contextmanager
def opened(folder: Path, data: Sequence[Document]) -> Iterator[Session]:
    rows, sources = [], []
    for number, (both, source) in enumerate(data):
        sources.append(("t", f"d{number}", source))
        for system, of_units in zip(SYSTEMS, both, strict=True):
            # A document has a row of its own, too, so that no system lacks it.
            rows.append(("t", system, f"d{number}", "doc", 0, 0, 0, 0))
            rows += [("t", system, f"d{number}", unit, *of, 0) for unit, of in of_units.items() if of is not None]
    header = "test_set system document unit possible actual correct partial"
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "s.csv", header, rows), "scores")
        if any(source for *_, source in sources):
            load(database, write_csv(folder / "d.csv", "test_set document source", sources), "documents")
        yield Session(database)


def recall(data: Sequence[Document], which: int, unit: str) -> Fraction | None:
    own = [of for both, _ in data if (of := both[which][unit]) is not None]
    possible = sum(of[0] for of in own)
    return Fraction(sum(of[2] for of in own), possible) if possible else None


def exchanged(data: Sequence[Document]) -> Iterator[list[Document]]:
    """The documents after every exchange of whole documents."""
    for flips in product((False, True), repeat=len(data)):
        yield [
            (both[::-1], source) if flip else (both, source) for flip, (both, source) in zip(flips, data, strict=True)
        ]


@settings(deadline=None, max_examples=12)
@given(documents, st.sampled_from(["unit", "document.source"]))
def test_a_table_of_parts_has_the_values_of_score(
    tmp_path_factory: pytest.TempPathFactory, data: list[Document], by: str
) -> None:
    with opened(tmp_path_factory.mktemp("data"), data) as session:
        scored = session.run(f"score recall, F for all by {by}")
        table = {
            (row["system"], row["measure"], row[by]): row["value"]
            for row in session.run(f"table recall, F for all by {by}").rows
        }
        for row in scored.rows:
            part = "no source" if row[by] is None else row[by]
            for measure in ("recall", "F(beta=1)"):
                assert table.pop((row["system"], measure, part)) == row[measure]
        for row in session.run("score recall, F for all").rows:
            for measure in ("recall", "F(beta=1)"):
                assert table.pop((row["system"], measure, "all")) == row[measure]
        averages = session.run("score macro(recall), macro(F) for all").rows if by == "unit" else []
        for row in averages:
            for measure in ("recall", "F(beta=1)"):
                assert table.pop((row["system"], measure, "macro")) == row[f"macro({measure})"]
        assert not table


@settings(deadline=None, max_examples=12)
@given(documents)
def test_slices_by_unit_are_tested_as_every_exchange_of_documents_says(
    tmp_path_factory: pytest.TempPathFactory, data: list[Document]
) -> None:
    with opened(tmp_path_factory.mktemp("data"), data) as session:
        rows = session.run("differ recall for A, B by unit test randomization level 0.9").rows
    found = {row["slice"]: row for row in rows}
    shares: list[Cell] = [row["share"] for row in rows]
    if None not in shares:
        assert sum(float(share or 0) for share in shares) == pytest.approx(1)
    for unit in UNITS:
        row = found.pop(f'unit = "{unit}"', None)
        if row is None:
            assert all(of[unit] is None for both, _ in data for of in both)
            continue
        first, second = (recall(data, which, unit) for which in (0, 1))
        assert (row["value_a"], row["value_b"]) == tuple(None if of is None else float(of) for of in (first, second))
        assert row["documents"] == sum(any(of[unit] is not None for of in both) for both, _ in data)
        if row["p"] is None or first is None or second is None:
            continue
        differences = []
        for other in exchanged(data):
            a, b = (recall(other, which, unit) for which in (0, 1))
            differences.append(None if a is None or b is None else a - b)
        if None not in differences:
            extreme = sum(abs(of) >= abs(first - second) for of in differences if of is not None)
            assert row["p"] == pytest.approx(extreme / len(differences), abs=1e-12)


@pytest.fixture
def classes(warehouses: dict[str, Path]) -> Iterator[Session]:
    with Session.open(warehouses["classes"]) as session:
        yield session


def test_a_difference_in_one_unit_alone_is_found(tmp_path: Path) -> None:
    """B has no answer for a place; of persons both have the same."""
    data: list[Document] = [
        (({"per": (2, 2, k % 2), "loc": (1, 1, 1)}, {"per": (2, 2, k % 2), "loc": (1, 0, 0)}), "") for k in range(12)
    ]
    with opened(tmp_path, data) as session:
        result = session.run("differ recall for A, B by unit")
        found = {row["slice"]: row for row in result.rows}
        assert found['unit = "loc"']["difference"] == 1
        assert found['unit = "per"']["difference"] == 0
        assert found['unit = "loc"']["share"] == pytest.approx(1)
        assert found['unit = "loc"']["p"] == 2 / 2**12
        [varies] = result.summary
        assert float(varies["heterogeneity_p"] or 1) < 0.01


def test_columns_are_in_their_order(with_numbers: Session) -> None:
    rows = with_numbers.run("table accuracy for all on t by document.size").rows
    assert list(dict.fromkeys(row["document.size"] for row in rows)) == ["2", "10", "no size", "all"]


@pytest.fixture
def with_numbers(tmp_path: Path) -> Iterator[Session]:
    rows = [("t", system, f"d{k}", "accuracy", k % 2) for system in SYSTEMS for k in range(6)]
    sizes = [("t", f"d{k}", ("10", "2", "")[k % 3]) for k in range(6)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "d.csv", "test_set document size", sizes), "documents")
        yield Session(database)


def test_a_value_called_as_the_last_column_stays_apart(tmp_path: Path) -> None:
    rows = [("t", system, f"d{k}", "accuracy", k % 2) for system in SYSTEMS for k in range(6)]
    kinds = [("t", f"d{k}", ("all", "no kind", "")[k % 3]) for k in range(6)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "d.csv", "test_set document kind", kinds), "documents")
        found = Session(database).run("table accuracy for A on t by document.kind").rows
    assert [(row["document.kind"], row["documents"]) for row in found] == [
        ("all", 2),
        ("no kind", 2),
        ("without document.kind", 2),
        ("all document.kind", 6),
    ]


@pytest.mark.parametrize(
    ("asked", "said", "hint"),
    [
        ("table F1 for all by document.source", "is of one test set", "write on mood"),
        ("table F1 for all on mood by document", "a column for each", "write score F1 for all on mood by document"),
        ("table F1 for all on mood by system", "each system has a line", "write score F1 for all on mood by system"),
        ("table F1 for all on mood by unit, document.source", "columns by one attribute", "write by unit"),
        ("table F1 for all on mood by unit interval", "no intervals with by", None),
        ("table F1 for all on mood by unit rank", "differ tests", "write differ F1 for all on mood by unit"),
        (
            "table F1 for all on mood by unit against stray",
            "differ tests",
            "write differ F1 for all against stray on mood by unit",
        ),
        ("table F1 for all by unit over test sets", "columns of a table are", "leave out over test sets"),
        ("table macro(F1) for all on mood by unit", "cannot be split by unit", "write F1"),
        ("differ macro(F1) for careful, stray on mood by unit", "cannot be split by unit", "write F1"),
        ("differ mean(F1) for careful, stray on mood by unit", "cannot be split by unit", "write F1"),
    ],
)
def test_what_has_no_parts_is_refused(classes: Session, asked: str, said: str, hint: str | None) -> None:
    with pytest.raises(QueryError, match=said) as refused:
        classes.run(asked)
    if hint is not None:
        assert refused.value.hints[0] == hint
        if hint.startswith("write differ") or hint.startswith("write score"):
            assert classes.run(hint.removeprefix("write ")).rows
