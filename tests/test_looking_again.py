"""Questions that are asked again while documents come: `anytime`, `planned N`, and the note of how many looks there
may have been.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from tests.empty import create
from tests.lakes import empty_lake

PARTS = ((53, 4, 3), (45, 14, 1), (40, 10, 2))
"""Of each import: how many items both systems have right, the first alone, and the second alone."""


def part(folder: Path, number: int, counts: Sequence[int], systems: Sequence[str] = ("A", "B")) -> Path:
    """A file with one import; its documents go by names that sort as they stand."""
    both, first, second = counts
    answers = {"A": [1] * first + [0] * second + [1] * both, "B": [0] * first + [1] * second + [1] * both}
    file = folder / f"part{number}{''.join(systems)}.csv"
    with file.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(("test_set", "system", "document", "measure", "value"))
        for system in systems:
            rows.writerows(
                ("t", system, f"{number}-{place:03}", "accuracy", value) for place, value in enumerate(answers[system])
            )
    return file


def warehouse(folder: Path, files: Sequence[Path]) -> Path:
    """A warehouse into which files were loaded one after another."""
    path = folder / f"{len(list(folder.glob('*.duckdb')))}.duckdb"
    with create(path) as database:
        for file in files:
            load(database, file, "values")
    return path


def asked(path: Path, statement: str) -> Result:
    with Session.open(path) as session:
        return session.run(statement)


def after_each(folder: Path, statement: str) -> list[dict[str, Cell]]:
    """The row of the answer after each import."""
    files = [part(folder, number, counts) for number, counts in enumerate(PARTS)]
    return [asked(warehouse(folder, files[: count + 1]), statement).rows[0] for count in range(len(files))]


@pytest.mark.long
def test_an_e_value_never_falls_as_documents_come_and_mirrors_where_the_systems_change_places(tmp_path: Path) -> None:
    rows = after_each(tmp_path, "compare accuracy for A, B on t anytime")
    values = [row["e_value"] for row in rows]
    assert values == sorted(values)  # type: ignore[type-var]
    assert [row["looks"] for row in rows] == [1, 2, 3]
    assert [row["p"] for row in rows] == pytest.approx([1 / value for value in values])  # type: ignore[operator]
    turned = after_each(tmp_path, "compare accuracy for B against A on t anytime")
    assert [row["p"] for row in turned] == pytest.approx([row["p"] for row in rows])


@pytest.mark.long
def test_a_plan_goes_on_until_its_boundary_is_crossed_and_stays_crossed(tmp_path: Path) -> None:
    rows = after_each(tmp_path, "compare accuracy for A, B on t planned 160")
    assert [row["verdict"] for row in rows] == ["undecided", "significant", "significant"]
    assert [row["looks"] for row in rows] == [1, 2, 2]
    assert rows[1]["p"] == rows[2]["p"]
    assert [row["p"] <= 0.05 for row in rows] == [False, True, True]  # type: ignore[operator]


@pytest.mark.long
def test_a_plan_that_ends_without_a_crossing_is_not_significant(tmp_path: Path) -> None:
    rows = after_each(tmp_path, "compare accuracy for A, B on t planned 60")
    assert [row["verdict"] for row in rows] == ["not significant"] * 3
    assert [row["looks"] for row in rows] == [1, 1, 1]


def test_a_plan_of_one_look_is_the_test_without_a_plan(tmp_path: Path) -> None:
    path = warehouse(tmp_path, [part(tmp_path, 1, PARTS[1])])
    planned, plain = (asked(path, f"compare accuracy for A, B on t {words}").rows[0] for words in ("planned 60", ""))
    same = ("p", "method", "verdict", "difference", "confidence")
    assert [planned[name] for name in same] == [plain[name] for name in same]


@pytest.mark.long
def test_file_and_lake_of_the_same_loads_answer_alike(tmp_path: Path) -> None:
    files = [part(tmp_path, number, counts) for number, counts in enumerate(PARTS)]
    path, lake = warehouse(tmp_path, files), empty_lake(tmp_path / "lake")
    for file in files:
        change_lake(lake, "load", partial(load, source=file, reader="values"), [file])
    for words in ("anytime", "planned 170", "planned 170 spending pocock one-sided", ""):
        statement = f"compare accuracy for A, B on t {words}"
        with Session.open(lake.called) as session:
            of_lake = session.run(statement)
        of_file = asked(path, statement)
        assert (of_lake.rows, of_lake.notes) == (of_file.rows, of_file.notes)


def test_a_document_has_come_when_both_systems_have_it(tmp_path: Path) -> None:
    """The second system's answers to all documents come later, by themselves."""
    files = [part(tmp_path, 0, PARTS[0], ("A",)), part(tmp_path, 1, PARTS[1], ("A",))]
    files += [part(tmp_path, 0, PARTS[0], ("B",)), part(tmp_path, 1, PARTS[1], ("B",))]
    apart = warehouse(tmp_path, files)
    together = warehouse(tmp_path, [part(tmp_path, number, counts) for number, counts in enumerate(PARTS[:2])])
    for words in ("anytime", "planned 300 spending pocock"):
        rows = [asked(path, f"compare accuracy for A, B on t {words}").rows for path in (apart, together)]
        assert rows[0] == rows[1]


@pytest.mark.long
def test_documents_that_came_with_several_imports_are_noted_with_the_number_of_looks(tmp_path: Path) -> None:
    files = [part(tmp_path, number, counts) for number, counts in enumerate(PARTS)]
    statement = "compare accuracy for A, B on t"
    notes = [asked(warehouse(tmp_path, files[:count]), statement).notes for count in (1, 2, 3)]
    assert not any("look" in note for note in notes[0])
    for count in (2, 3):
        (said,) = (note for note in notes[count - 1] if "look" in note)
        assert f"came with {count} imports" in said
    apart = [part(tmp_path, 7, PARTS[0], ("A",)), part(tmp_path, 7, PARTS[0], ("B",))]
    assert not any("look" in note for note in asked(warehouse(tmp_path, apart), statement).notes)
    for words in ("anytime", "planned 900"):
        assert not any(
            "look number" in note for note in asked(warehouse(tmp_path, files), f"{statement} {words}").notes
        )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("in order of document.part", "in order of says nothing without anytime"),
        ("spending pocock", "spending says nothing without planned N"),
        ("anytime planned 9", "two ways to look more than once"),
        ("anytime margin 5%", "cannot be combined with margin"),
        ("planned 9 margin 5%", "cannot be combined with margin"),
        ("anytime shuffles 99", "cannot be combined with shuffles"),
        ("anytime spending pocock", "cannot be combined with spending"),
        ("anytime exact", "cannot be combined with exact"),
        ("anytime interval bca", "cannot be combined with interval"),
        ("anytime missing bounds", "cannot be combined with missing bounds"),
        ("anytime test t", "goes with test randomization"),
        ("anytime adjust maxt", "cannot be combined with adjust maxt"),
        ("planned 9 adjust holm", "each pair stops by itself"),
        ("planned 0", "from 1 to"),
    ],
)
def test_what_cannot_be_promised_is_refused(tmp_path: Path, words: str, message: str) -> None:
    path = warehouse(tmp_path, [part(tmp_path, 0, PARTS[0])])
    with pytest.raises(QueryError, match=message):
        asked(path, f"compare accuracy for A, B on t {words}")


def test_the_direction_of_an_expectation_is_that_of_the_look_that_decided(tmp_path: Path) -> None:
    """The first system was ahead when the boundary was crossed, and is behind by now."""
    files = [part(tmp_path, 0, (10, 40, 2)), part(tmp_path, 1, (10, 1, 60))]
    path = warehouse(tmp_path, files)
    statement = "compare accuracy for A against B on t planned 400 spending pocock"
    assert float(asked(path, statement).rows[0]["difference"] or 0) < 0
    assert asked(path, f"expect better {statement}").outcome == "met"
    assert asked(path, f"expect worse {statement}").outcome == "not met"


def test_what_is_undecided_says_what_asking_again_takes(tmp_path: Path) -> None:
    path = warehouse(tmp_path, [part(tmp_path, 0, (10, 3, 3))])
    result = asked(path, "expect not worse compare accuracy for A against B on t margin 5%")
    assert result.outcome == "undecided"
    assert any("anytime and planned N" in note for note in result.notes)
    going = asked(path, "expect better compare accuracy for A against B on t planned 400")
    assert going.outcome == "undecided"
    assert any("16 of 400 planned documents" in note for note in going.notes)
