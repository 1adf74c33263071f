"""`confusion` beside scikit-learn's confusion_matrix, and what is said of missing answers, runs, labels and many
classes.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.charts import Shades
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from tests.empty import create

Pairs = Sequence[tuple[str, str]]


def loaded(folder: Path, systems: Mapping[str, Pairs], *options: tuple[str, str]) -> Session:
    """A warehouse with a test set T, of classes that systems answered to those of the key."""
    with create(folder / "w.duckdb") as database:
        for system, pairs in systems.items():
            path = folder / f"{system}.csv"
            with path.open("w", newline="") as out:
                csv.writer(out).writerows(
                    [("id", "y_true", "y_pred"), *((f"d{k}", *pair) for k, pair in enumerate(pairs))]
                )
            load(database, path, "sklearn", fields={"test_set": "T", "system": system}, options=dict(options))
    return Session.open(folder / "w.duckdb")


def matrix(result: Result, system: str, classes: Sequence[str]) -> list[list[object]]:
    counted = {(row["gold"], row["answer"]): row["documents"] for row in result.rows if row["system"] == system}
    return [[counted[gold, answer] for answer in classes] for gold in classes]


CLASSES = st.sampled_from(["a", "b", "c", "10", "9"])


@pytest.mark.long
@settings(max_examples=12)
@given(st.lists(st.tuples(CLASSES, CLASSES, CLASSES), min_size=1, max_size=20))
def test_counts_are_those_of_scikit_learn(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    rows = [("x", "y", "x"), *rows]
    systems = {name: [(row[0], row[place]) for row in rows] for place, name in ((1, "m"), (2, "n"))}
    with loaded(tmp_path_factory.mktemp("confusion"), systems) as session:
        result = session.run("show confusion for all on T")
    classes = list(dict.fromkeys(str(row["gold"]) for row in result.rows))
    assert {*classes} == {name for row in rows for name in row}
    for system, pairs in systems.items():
        key, answers = zip(*pairs, strict=True)
        wanted = confusion_matrix(key, answers, labels=classes)
        assert matrix(result, system, classes) == wanted.tolist()
        of_class = wanted.sum(axis=1)
        for row in (row for row in result.rows if row["system"] == system):
            total = of_class[classes.index(str(row["gold"]))]
            assert row["share_of_gold"] == (row["documents"] / total if total else None)


@pytest.mark.long
@settings(max_examples=8)
@given(st.lists(st.tuples(st.sampled_from("01"), st.sampled_from("01")), min_size=1, max_size=20))
def test_decisions_are_two_classes(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    with loaded(tmp_path_factory.mktemp("decisions"), {"m": pairs}) as session:
        result = session.run("confusion for m on T")
    key, answers = zip(*pairs, strict=True)
    assert matrix(result, "m", ["yes", "no"]) == confusion_matrix(key, answers, labels=["1", "0"]).tolist()


def test_numbers_are_in_their_order_and_other_classes_by_name(tmp_path: Path) -> None:
    with loaded(tmp_path, {"m": [("10", "9"), ("b", "a"), ("9", "10")]}) as session:
        assert list(dict.fromkeys(row["gold"] for row in session.run("confusion").rows)) == ["9", "10", "a", "b"]


def test_no_answer_has_a_column_and_is_null_in_the_data(tmp_path: Path) -> None:
    with loaded(
        tmp_path,
        {"m": [("a", ""), ("a", "a"), ("b", "")], "n": [("a", "b"), ("a", "b"), ("b", "b")]},
        ("separator", "|"),
    ) as session:
        result = session.run("confusion for m on T")
        assert [row["documents"] for row in result.rows if row["answer"] is None] == [1, 1]
        assert "no answer" in render(result, "table", Style(width=80))
        picture = session.run("plot confusion for m on T").chart
    assert picture is not None
    assert picture.panels[0].x.names[-1] == "no answer"


def test_counts_of_a_system_are_the_mean_over_its_runs(tmp_path: Path) -> None:
    rows = [("d1", "a", "a", 1), ("d2", "b", "a", 1), ("d1", "a", "b", 2), ("d2", "b", "a", 2)]
    path = tmp_path / "T.csv"
    with path.open("w", newline="") as out:
        csv.writer(out).writerows(
            [("id", "system", "y_true", "y_pred", "seed"), *((d, "m", t, p, s) for d, t, p, s in rows)]
        )
    with create(tmp_path / "w.duckdb") as database:
        load(database, path, "sklearn")
    with Session.open(tmp_path / "w.duckdb") as session:
        result = session.run("confusion for m on T")
        assert matrix(result, "m", "ab") == [[0.5, 0.5], [1, 0]]
        apart = session.run("confusion on T runs apart")
    assert {
        str(row["system"]): row["documents"] for row in apart.rows if (row["gold"], row["answer"]) == ("a", "b")
    } == {
        "m#1": 0,
        "m#2": 1,
    }


def test_several_labels_are_refused_with_what_to_type(tmp_path: Path) -> None:
    with loaded(tmp_path, {"m": [("a|b", "a"), ("b", "b")]}) as session:
        with pytest.raises(QueryError, match="documents of T have several classes") as raised:
            session.run("show confusion for all on T")
        (line,) = raised.value.hints
        assert session.run(line.removeprefix("write ")).rows


def test_of_many_classes_the_commonest_confusions_are_shown_and_counted(tmp_path: Path) -> None:
    names = [f"c{k:02}" for k in range(30)]
    pairs = [(name, names[(k + 1) % 30]) for k, name in enumerate(names)] + [("c05", "c07")] * 3
    with loaded(tmp_path, {"m": pairs}) as session:
        result = session.run("confusion for m on T")
    assert len(result.rows) == 30 * 30
    assert sum(int(str(row["documents"])) for row in result.rows) == len(pairs)
    printed = render(result, "table", Style(width=80))
    (first,) = [line for line in printed.splitlines() if "c05" in line and "c07" in line and "share" not in line][:1]
    assert "3" in first
    assert "the first 20 of 31 rows" in printed
    assert result.sentence.startswith("m most often wrongly answers c07 where the key says c05: 3 of 4 documents")


def test_a_limit_gives_the_commonest_wrong_answers(tmp_path: Path) -> None:
    pairs = [("a", "a")] * 5 + [("a", "b")] * 2 + [("b", "a")] * 3 + [("c", "a")]
    with loaded(tmp_path, {"m": pairs}) as session:
        result = session.run("confusion for m on T limit 2")
        whole = session.run("confusion for m on T")
    assert [(row["gold"], row["answer"], row["documents"]) for row in result.rows] == [("b", "a", 3), ("a", "b", 2)]
    assert [row["share_of_gold"] for row in result.rows] == [1, 2 / 7]
    assert result.sentence == whole.sentence


@pytest.mark.parametrize("wide", [32, 40, 80, 200])
def test_a_narrow_terminal_has_all_classes_in_blocks(tmp_path: Path, wide: int) -> None:
    names = ["agriculture", "business", "culture", "sports", "weather"]
    with loaded(tmp_path, {"m": [(name, name) for name in names]}) as session:
        result = session.run("confusion for m on T")
        drawn = session.run("plot confusion for m on T")
    lines = render(result, "table", Style(width=wide)).splitlines()
    assert all(len(line) <= wide for line in lines)
    words = " ".join(lines).split()
    assert all(name in words for name in names)
    assert all(len(line) <= wide for line in render(drawn, "table", Style(width=wide)).splitlines())


def test_a_picture_has_the_counts_of_the_table(tmp_path: Path) -> None:
    with loaded(tmp_path, {"m": [("a", "b"), ("a", "a"), ("b", "b")], "n": [("a", "a")] * 2 + [("b", "c")]}) as session:
        result = session.run("plot show confusion for all on T")
    assert result.chart is not None
    shades = [shade for panel in result.chart.panels for mark in panel.marks_of(Shades) for shade in mark.shades]
    assert [shade.count for shade in shades] == [row["documents"] for row in result.rows]
    assert [shade.share for shade in shades] == [row["share_of_gold"] for row in result.rows]
    assert np.sign([shade.level(6) for shade in shades]).tolist() == [int(bool(shade.share)) for shade in shades]


def test_show_may_stand_before_it() -> None:
    assert parse("show confusion for A on T") == parse("confusion for A on T")
    assert parse("plot show confusion") == parse("plot confusion")
