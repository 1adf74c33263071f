"""Documents and test sets that a system lacks, in small random warehouses: nobody vanishes, `missing` means the same in
every statement, and values that cannot be compared are never called the best. The oracle counts by hand.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Points
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import WORKBOOK, files, render
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import UNEVEN, Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

WORLDS = 40
SYSTEMS, DOCUMENTS = ("A", "B", "C", "D"), ("d1", "d2", "d3", "d4")
LABELS = ("relevant", "nonrelevant", "optional")

Of = Mapping[str, Mapping[str, Any]]
"""What systems have of documents: an answer of each."""


class World:
    """Two test sets with the same systems, most of which lack something, and the key of their documents."""

    def __init__(self, kind: str, number: int) -> None:
        self.chance = random.Random(f"{kind} {number}")
        self.names = tuple(f"{kind}{number}{half}" for half in "ab")
        self.key = {name: {d: self._key(kind) for d in DOCUMENTS} for name in self.names}
        self.answers = {name: self._answers(kind, self.key[name]) for name in self.names}

    def _key(self, kind: str) -> Any:
        return self.chance.choice(LABELS) if kind == "d" else self.chance.randint(1, 5)

    def _answers(self, kind: str, key: Mapping[str, Any]) -> Of:
        complete = self.chance.random() < 0.3
        absent = set() if complete else {s for s in SYSTEMS if self.chance.random() < 0.15}
        there = [s for s in SYSTEMS if s not in absent] if len(absent) < 3 else list(SYSTEMS)
        found: dict[str, dict[str, Any]] = {}
        for system in there:
            own = [d for d in DOCUMENTS if complete or self.chance.random() < 0.8] or ["d1"]
            found[system] = {d: self._answer(kind, key[d]) for d in own}
        return found

    def _answer(self, kind: str, key: Any) -> Any:
        match kind:
            case "v":
                return self.chance.randint(0, 4)
            case "s":
                actual = self.chance.randint(1, 5)
                return actual, self.chance.randint(0, min(actual, key))
            case "d":
                return self.chance.choice(("yes", "no"))
        # The place of the one relevant item in a list.
        return self.chance.randint(1, 4)

    @property
    def systems(self) -> list[str]:
        """The systems of a question about both test sets."""
        return sorted({system for of in self.answers.values() for system in of})

    def documents(self, name: str) -> list[str]:
        """The documents of a test set: those of the key of filtering and rankings, and else those that a system has."""
        return [d for d in DOCUMENTS if name[0] in "dr" or any(d in of for of in self.answers[name].values())]

    def even(self, name: str) -> bool:
        """Whether all systems have the same documents."""
        return len({frozenset(of) for of in self.answers[name].values()}) == 1


def mean(world: World, name: str, system: str, documents: list[str]) -> float | None:
    values = [world.answers[name].get(system, {}).get(d, 0) for d in documents]
    return sum(values) / len(values) if values else None


def recall_of_tuples(world: World, name: str, system: str, documents: list[str]) -> float | None:
    own = world.answers[name].get(system, {})
    possible = sum(world.key[name][d] for d in documents)
    return sum(own[d][1] for d in documents if d in own) / possible if possible else None


def precision_of_tuples(world: World, name: str, system: str, documents: list[str]) -> float | None:
    own = [world.answers[name].get(system, {}).get(d, (0, 0)) for d in documents]
    actual = sum(actual for actual, _ in own)
    return sum(correct for _, correct in own) / actual if actual else None


def mean_recall_of_tuples(world: World, name: str, system: str, documents: list[str]) -> float | None:
    shares = [recall_of_tuples(world, name, system, [d]) or 0.0 for d in documents]
    return sum(shares) / len(shares) if shares else None


def recall_of_decisions(world: World, name: str, system: str, documents: list[str]) -> float | None:
    own, key = world.answers[name].get(system, {}), world.key[name]
    # Optional documents count as hits where they are accepted (credit).
    wanted = [d for d in documents if key[d] == "relevant" or (key[d] == "optional" and own.get(d) == "yes")]
    return sum(own.get(d) == "yes" for d in wanted) / len(wanted) if wanted else None


def reciprocal_rank(world: World, name: str, system: str, documents: list[str]) -> float | None:
    own = world.answers[name].get(system, {})
    return sum(1 / own[d] if d in own else 0 for d in documents) / len(documents) if documents else None


ByHand = Callable[[World, str, str, list[str]], float | None]

MEASURES: Mapping[str, tuple[str, ByHand]] = {
    "m": ("v", mean),
    "recall": ("s", recall_of_tuples),
    "precision": ("s", precision_of_tuples),
    "mean(recall)": ("s", mean_recall_of_tuples),
    "recall of filtering": ("d", recall_of_decisions),
    "RR": ("r", reciprocal_rank),
}
"""Each measure as it is asked for, with the kind of its worlds, and how it is computed by hand."""

WORLD = {kind: [World(kind, number) for number in range(WORLDS)] for kind in "vsdr"}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("missing")
    rows: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in "vsdr"}
    labels, judgments = [], []
    for kind, worlds in WORLD.items():
        for world in worlds:
            for name in world.names:
                for document, key in world.key[name].items():
                    labels += [(name, document, key)] if kind == "d" else []
                    judgments += [(name, document, "hit", 1), (name, document, "x1", 0)] if kind == "r" else []
                for system, own in world.answers[name].items():
                    for document, answer in own.items():
                        rows[kind] += _stored(kind, (name, system, document), world.key[name][document], answer)
    files: list[tuple[list[tuple[Any, ...]], str, str]] = [
        (labels, "test_set document label", "labels"),
        (judgments, "test_set document item grade", "judgments"),
        (rows["v"], "test_set system document measure value", "values"),
        (rows["s"], "test_set system document possible actual correct partial", "scores"),
        (rows["d"], "test_set system document decision", "decisions"),
        (rows["r"], "test_set system document item rank", "rankings"),
    ]
    with create(folder / "w.duckdb") as database:
        for lines, columns, reader in files:
            load(database, write_csv(folder / f"{reader}.csv", columns, lines), reader)
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def _stored(kind: str, names: tuple[str, str, str], key: Any, answer: Any) -> list[tuple[Any, ...]]:
    match kind:
        case "v":
            return [(*names, "m", answer)]
        case "s":
            return [(*names, key, *answer, 0)]
        case "d":
            return [(*names, answer)]
    return [(*names, "hit" if place == answer else f"x{place}", place) for place in range(1, 5)]


def asked(word: str, measure: str, tail: str) -> str:
    name, _, kind = measure.partition(" ")
    return " ".join(filter(None, (word, name, kind, tail)))


def value_of(result: Result, row: Mapping[str, Any]) -> Any:
    columns = result.columns
    return row[columns[columns.index("documents") + 1]]


questions = st.tuples(st.sampled_from(list(MEASURES)), st.integers(0, WORLDS - 1), st.integers(0, 1))


def world_of(question: tuple[str, int, int]) -> tuple[World, str, str, ByHand]:
    measure, number, half = question
    kind, by_hand = MEASURES[measure]
    world = WORLD[kind][number]
    return world, world.names[half], measure, by_hand


# --- what `missing` means ---------------------------------------------------------------------------------------------


@given(questions, st.sampled_from(("", " missing zero", " missing drop")))
def test_a_score_is_what_is_counted_by_hand(session: Session, question: tuple[str, int, int], missing: str) -> None:
    world, name, measure, by_hand = world_of(question)
    answers = world.answers[name]
    documents = {
        "": None,
        " missing zero": world.documents(name),
        " missing drop": [d for d in DOCUMENTS if all(d in own for own in answers.values())],
    }[missing]
    if documents == []:
        return
    result = session.run(asked("score", measure, f"for all on {name}{missing}"))
    found = {row["system"]: value_of(result, row) for row in result.rows}
    expected = {
        system: by_hand(world, name, system, list(own) if documents is None else documents)
        for system, own in answers.items()
    }
    assert found == {system: None if value is None else pytest.approx(value) for system, value in expected.items()}
    assert ((name, result.columns[result.columns.index("documents") + 1]) in result.uneven) == (
        not missing and not world.even(name)
    )


@given(questions, st.sampled_from(("", " missing zero", " missing drop", " missing error")))
def test_all_statements_agree(session: Session, question: tuple[str, int, int], missing: str) -> None:
    """They have the same values, and where `score` marks them as not comparable no test is made."""
    world, name, measure, _ = world_of(question)
    tail = f"for all on {name}{missing}"
    if len(world.answers[name]) < 2:
        return
    whole = all(set(own) >= set(world.documents(name)) for own in world.answers[name].values())
    refused = not whole if missing == " missing error" else not world.even(name) and not missing
    if missing != " missing error" or not refused:
        scored = session.run(asked("score", measure, tail))
        values = {row["system"]: value_of(scored, row) for row in scored.rows}
        tabled = session.run(asked("table", measure, tail))
        assert {row["system"]: row["value"] for row in tabled.rows} == values
        assert bool(scored.uneven) == bool(tabled.uneven) == refused
        if None in values.values() or len(values) < len(world.answers[name]):
            return
    else:
        for word in ("score", "table"):
            with pytest.raises(QueryError, match="missing for some systems"):
                session.run(asked(word, measure, tail))
    for word in ("compare", "rank", "group"):
        statement = asked(word, measure, tail)
        if refused:
            with pytest.raises(QueryError, match="missing for some systems") as error:
                session.run(statement)
            there = set(world.documents(name)) if missing else _any(world, name)
            lacking = {s for s, own in world.answers[name].items() if not set(own) >= there}
            assert all(re.search(rf"\b{system} \(\d\)", error.value.hints[0]) for system in lacking)
            continue
        rows = session.run(statement).rows
        found = (
            {row[f"system_{side}"]: row[f"value_{side}"] for row in rows for side in "ab"} if word == "compare" else {}
        )
        found = found or {row["system"]: row["value"] for row in rows}
        assert found == {system: pytest.approx(value) for system, value in values.items()}


def _any(world: World, name: str) -> set[str]:
    return {d for own in world.answers[name].values() for d in own}


# --- nobody vanishes --------------------------------------------------------------------------------------------------


@given(
    questions,
    st.sampled_from(("score", "table", "compare", "rank", "group", "compare over", "rank over")),
    st.sampled_from(("", " missing zero", " missing drop")),
)
def test_every_system_is_in_the_rows_or_named(
    session: Session, question: tuple[str, int, int], word: str, missing: str
) -> None:
    world, _, measure, _ = world_of(question)
    first, _, over = word.partition(" ")
    tail = f"for all on {', '.join(world.names)}{' over test sets' if over else ''}{missing}"
    try:
        result = session.run(asked(first, measure, tail))
    except QueryError:
        return
    for name in world.names:
        shown = {
            row[column]
            for row in result.rows
            if name in str(row["test_set"])
            for column in ("system", "system_a", "system_b")
            if column in row
        }
        for system in world.systems:
            lacks = system not in world.answers[name]
            if system in shown and not (lacks and missing == " missing zero"):
                continue
            notes = " ".join(result.notes)
            assert re.search(rf"\b{system}\b", notes), (name, system, notes)
            if lacks and missing != " missing zero":
                assert f"{system}: " in str(result.summary[0]["left_out"])
                assert re.search(rf"not on [\w, ]*\b{name}\b", notes)
    if missing == " missing zero":
        assert all("left_out" not in row for row in result.summary)


# --- nothing is the best of what cannot be compared -------------------------------------------------------------------

BEST = {
    "markdown": r"\|.*\*\*",
    "html": r"<strong>",
    "latex": r"\\textbf\{[^}]*\d",
    "typst": r"strong\(",
    "table": r"\*[\d.]+\*",
}
"""What marks the best value in each format."""


@given(questions, st.sampled_from(sorted(BEST)))
def test_nothing_is_called_the_best_where_documents_differ(
    session: Session, question: tuple[str, int, int], format: str
) -> None:
    world, name, measure, _ = world_of(question)
    result = session.run(asked("table", measure, f"for all on {name}"))
    drawn = render(result, format, Style())
    scored = render(session.run(asked("score", measure, f"for all on {name}")), format, Style())
    mark = r"$\ne$" if format == "latex" else UNEVEN
    several = sum(row["value"] is not None for row in result.rows) > 1
    assert bool(re.search(BEST[format], drawn)) == (world.even(name) and several)
    assert (mark in drawn) == (mark in scored) == (not world.even(name))
    marked = {row["mark"] for row in result.rows if row["value"] is not None}
    assert marked <= ({None} if world.even(name) else {UNEVEN})


# --- examples ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def lacking(tmp_path: Path) -> Iterator[Session]:
    """Error rates of two recognizers, one of which lacks a recording, and their accuracy, where each lacks another."""
    rows = [("speech", "old", f"u{k}", "WER", 0.1 * k) for k in (1, 2, 3, 4)]
    rows += [("speech", "new", f"u{k}", "WER", 0.1 * k) for k in (1, 2, 3)]
    rows += [("speech", "old", f"u{k}", "accuracy", k % 2) for k in (2, 3, 4)]
    rows += [("speech", "new", f"u{k}", "accuracy", k % 2) for k in (1, 3, 4)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
    with Session.open(tmp_path / "w.duckdb") as opened:
        yield opened


def test_as_many_documents_need_not_be_the_same(lacking: Session) -> None:
    result = lacking.run("table accuracy for all on speech")
    assert {row["documents"] for row in result.rows} == {3}
    assert result.uneven == {("speech", "accuracy")}
    assert any("though on 3 each" in note for note in result.notes)


def test_nothing_is_the_best_that_can_be_answered_where_lower_is_better(lacking: Session) -> None:
    for word in ("score", "compare"):
        notes = lacking.run(f"{word} WER for all on speech missing zero").notes
        assert "lower WER is better, so 0 is the best that a system can have where it lacks a document" in notes


@pytest.mark.parametrize("word", ["score", "table", "rank", "group", "compare"])
def test_so_it_is_where_only_some_runs_lack_a_document(word: str, tmp_path: Path) -> None:
    rows = [("t", "a", run, f"d{place}", 2.5) for run, last in ((1, 3), (2, 1)) for place in range(last)]
    rows += [("t", "b", run, f"d{place}", run + 0.5) for run in (1, 2) for place in range(3)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system run document WER", rows), "table")
    with Session.open(tmp_path / "w.duckdb") as opened:
        notes = opened.run(f"{word} WER for all on t missing zero").notes
    assert "t: documents count as nothing in the runs that lack them: 2 for a" in notes
    assert "lower WER is better, so 0 is the best that a system can have where it lacks a document" in notes


def test_a_mark_in_a_workbook_leaves_numbers_numbers(lacking: Session, tmp_path: Path) -> None:
    results = [lacking.run(f"{word} WER, accuracy for all on speech") for word in ("score", "table")]
    files.write(results, tmp_path / "all.xlsx", WORKBOOK, Style())
    for sheet in openpyxl.load_workbook(tmp_path / "all.xlsx"):
        marked = [cell for line in sheet.iter_rows() for cell in line if UNEVEN in cell.number_format]
        assert len(marked) == 4
        assert all(isinstance(cell.value, float) for cell in marked)


@pytest.mark.parametrize("measures", ["accuracy", "accuracy, WER"])
def test_a_picture_says_on_how_many_documents_each_system_was_scored(lacking: Session, measures: str) -> None:
    chart = lacking.run(f"plot score {measures} for all on speech").chart
    assert chart is not None
    (panel,) = chart.panels
    names = {point.name for mark in panel.marks_of(Points) for point in mark.points} | set(panel.y.names)
    assert {f"old {UNEVEN} {'3 to 4' if 'WER' in measures else 3} documents"} <= names
    assert any(UNEVEN in line for line in chart.legend)


def test_the_mean_of_a_group_needs_the_same_documents_in_it(tmp_path: Path) -> None:
    """Each system has documents of each topic, but not the same ones."""
    rows = [("t", s, f"d{k}", 2, 2, 1, 0) for s in ("A", "B") for k in range(4) if (s, k) != ("B", 3)]
    topics = [("t", f"d{k}", "first" if k < 2 else "second") for k in range(4)]
    with create(tmp_path / "w.duckdb") as database:
        scores = "test_set system document possible actual correct partial"
        load(database, write_csv(tmp_path / "s.csv", scores, rows), "scores")
        load(database, write_csv(tmp_path / "d.csv", "test_set document topic", topics), "documents")
    with Session.open(tmp_path / "w.duckdb") as session:
        result = session.run("table mean(recall by document.topic) for all on t")
        assert [row["documents"] for row in result.rows] == [2, 2]
        assert result.uneven
        with pytest.raises(QueryError, match="1 document of t is missing for some systems: d3") as error:
            session.run("compare mean(recall by document.topic) for all on t")
        assert "missing for B (1)" in error.value.hints


def test_the_baseline_of_a_comparison_counts_as_nothing_where_it_is_not(session: Session) -> None:
    world = next(w for w in WORLD["v"] if len(w.answers[w.names[1]]) < len(w.answers[w.names[0]]) == len(SYSTEMS))
    first, second = world.names
    (lacks,) = set(SYSTEMS) - set(world.answers[second])
    with pytest.raises(QueryError, match=f"{lacks} has no values on {second}"):
        session.run(f"compare m for all against {lacks} on {first}, {second} missing drop")
    rows = session.run(f"compare m for all against {lacks} on {first}, {second} missing zero").rows
    assert {row["value_b"] for row in rows if row["test_set"] == second} == {0.0}


def test_runs_with_other_numbers_on_each_test_set_are_one_system(tmp_path: Path) -> None:
    """The first run of a system is another on each test set, and so is the number that stands for the system."""
    rows = [("t", "A.1", "d1", "m", 1), ("t", "B.1", "d1", "m", 0)]
    rows += [("u", "A.2", "e1", "m", 1), ("u", "B.1", "e1", "m", 0)]
    runs = [(name, name[0]) for name in ("A.1", "A.2", "B.1")]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
        load(database, write_csv(tmp_path / "a.csv", "system replicate", runs), "systems")
    with Session.open(tmp_path / "w.duckdb") as session:
        for tail in ("against A on t, u replicates", "on t, u over test sets replicates"):
            found = session.run(f"compare m for all {tail}").rows
            assert {frozenset((row["system_a"], row["system_b"])) for row in found} == {frozenset("AB")}
            assert all({row["value_a"], row["value_b"]} == {0.0, 1.0} for row in found)
