"""Means over documents with the same attribute value, `mean(T11SU by document.topic)`: values by hand, exact p-values
against every exchange of topics, and what cannot be asked about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import mean

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create
from tests.conftest import write_csv

TOPICS: Mapping[str, Mapping[str, tuple[int, int, int]]] = {
    "A": {"t1": (3, 1, 1), "t2": (0, 4, 2), "t3": (2, 0, 0), "t4": (1, 3, 2), "t5": (2, 2, 1)},
    "B": {"t1": (2, 0, 2), "t2": (1, 1, 1), "t3": (1, 1, 1), "t4": (3, 0, 0), "t5": (0, 0, 3)},
}
"""Hits, false alarms and misses of two systems on five topics."""

REST = 3
"""Documents of each topic that nobody accepts and nobody wants."""


def decided(system: str, topic: str) -> list[tuple[str, str]]:
    """The labels and decisions of the documents of a topic, in one order for both systems."""
    hits, alarms, misses = TOPICS[system][topic]
    relevant = ["yes"] * hits + ["no"] * misses
    others = max(TOPICS[name][topic][1] for name in TOPICS) + REST
    rest = ["yes"] * alarms + ["no"] * (others - alarms)
    return [("relevant", said) for said in relevant] + [("nonrelevant", said) for said in rest]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("topics")
    names = [(topic, place) for topic in TOPICS["A"] for place in range(len(decided("A", topic)))]
    decisions = [
        ("t", system, f"{topic}-{place}", decided(system, topic)[place][1])
        for system in TOPICS
        for topic, place in names
    ]
    labels = [("t", f"{topic}-{place}", decided("A", topic)[place][0]) for topic, place in names]
    attributes = [("t", f"{topic}-{place}", topic, place % 2) for topic, place in names]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
        load(database, write_csv(folder / "a.csv", "test_set document topic half", attributes), "documents")
    with Session.open(folder / "w.duckdb") as opened:
        yield opened


def t11su(cells: Sequence[int]) -> float:
    hits, alarms, misses = cells
    return (max((2 * hits - alarms) / (2 * (hits + misses)), -0.5) + 0.5) / 1.5


def t9u(cells: Sequence[int]) -> float:
    return max(2 * cells[0] - cells[1], -2)


def f(cells: Sequence[int]) -> float:
    hits, alarms, misses = cells
    return 2 * hits / (2 * hits + alarms + misses)


MEASURES = {"T11SU": t11su, "T9U(min=-2)": t9u, "F": f}


@pytest.mark.parametrize("name", MEASURES)
def test_the_value_is_the_mean_over_topics(session: Session, name: str) -> None:
    rows = session.run(f"score mean({name} by document.topic) for A, B on t").rows
    label = next(column for column in rows[0] if column.startswith("mean("))
    for row in rows:
        expected = mean(MEASURES[name](cells) for cells in TOPICS[str(row["system"])].values())
        assert row[label] == pytest.approx(expected, abs=1e-12)
        assert row["documents"] == 5


@pytest.mark.parametrize("name", MEASURES)
def test_a_comparison_exchanges_topics(session: Session, name: str) -> None:
    of = MEASURES[name]
    pairs = [(of(TOPICS["A"][topic]), of(TOPICS["B"][topic])) for topic in TOPICS["A"]]
    differences = [
        mean((a - b) * sign for (a, b), sign in zip(pairs, signs, strict=True))
        for signs in product((1, -1), repeat=len(pairs))
    ]
    beyond = sum(abs(difference) >= abs(differences[0]) - 1e-9 for difference in differences)
    (row,) = session.run(f"compare mean({name} by document.topic) for A, B on t exact").rows
    assert row["difference"] == pytest.approx(differences[0], abs=1e-12)
    assert row["p"] == pytest.approx(beyond / len(differences), abs=1e-12)
    assert (row["documents"], row["units"]) == (5, 5)
    (same,) = session.run(f"compare mean({name} by document.topic) for A, B on t exact exchange by document.topic").rows
    assert same["p"] == row["p"]


def test_what_all_documents_have_together_is_the_same_beside_it(session: Session) -> None:
    (row,) = session.run("score utility, mean(utility by document.topic) of filtering for A on t").rows
    assert row["utility(a=2, b=-1)"] == 5 * row["mean(utility(a=2, b=-1) by document.topic)"]  # type: ignore[operator]


def test_a_condition_chooses_documents_before_they_are_put_together(session: Session) -> None:
    (row,) = session.run('score mean(utility by document.topic) for A on t where label = "relevant"').rows
    assert row["mean(utility(a=2, b=-1) by document.topic)"] == mean(2 * cells[0] for cells in TOPICS["A"].values())
    whole = session.run("compare mean(F by document.topic) for A, B on t").rows[0]["value_a"]
    half = session.run("compare mean(F by document.topic) for A, B on t where document.half = 0").rows[0]["value_a"]
    assert whole != half


@pytest.mark.long
@pytest.mark.parametrize(
    "statement",
    [
        "group mean(T11SU by document.topic) for A, B on t",
        "rank mean(T11SU by document.topic) for A, B on t",
        "table mean(T11SU by document.topic), T11U for A, B on t",
        "score mean(T11F by document.topic) for A, B on t interval percentile",
        "plot compare mean(T11SU by document.topic) for A, B on t",
        "compare mean(F(optional=all) by document.topic) for A, B on t",
        "expect score mean(F by document.topic) for A on t at least 10%",
    ],
)
def test_other_statements_take_it(session: Session, statement: str) -> None:
    assert session.run(statement).rows


def test_power_resamples_topics_of_which_it_needs_six(session: Session, tmp_path: Path) -> None:
    question = "power mean(F by document.topic) for A, B on t detect 10% documents 5, 50"
    with pytest.raises(QueryError, match="t has 5 topics, and power needs at least 6"):
        session.run(question)
    documents = [(f"t{topic}", f"t{topic}-{place}") for topic in range(7) for place in range(4)]
    decisions = [
        ("t", system, name, "yes" if (place * step) % 5 < 3 else "no")
        for system, step in (("A", 2), ("B", 3))
        for place, (_, name) in enumerate(documents)
    ]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "d.csv", "test_set system document decision", decisions), "decisions")
        labels = [("t", name, "relevant" if name[-1] in "01" else "nonrelevant") for _, name in documents]
        load(database, write_csv(tmp_path / "l.csv", "test_set document label", labels), "labels")
        topics = [("t", name, topic) for topic, name in documents]
        load(database, write_csv(tmp_path / "a.csv", "test_set document topic", topics), "documents")
    with Session.open(tmp_path / "w.duckdb") as opened:
        result = opened.run(question)
    assert "7 topics resampled" in result.caption
    assert [row["documents"] for row in result.rows] == [5, 50]


def test_documents_without_a_topic_are_left_out_and_counted(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("without")
    said = {"A": "ynynyyn", "B": "yyynnny"}
    decisions = [("t", s, f"d{k}", {"y": "yes", "n": "no"}[v]) for s, of in said.items() for k, v in enumerate(of)]
    labels = [("t", f"d{k}", "relevant" if k % 2 == 0 else "nonrelevant") for k in range(7)]
    # B lacks a document, which has no topic either.
    del decisions[-1]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
        topics = [("t", f"d{k}", k // 2) for k in range(4)]
        load(database, write_csv(folder / "a.csv", "test_set document topic", topics), "documents")
    with Session.open(folder / "w.duckdb") as opened:
        result = opened.run("score mean(F by document.topic) for A, B on t")
        assert [row["documents"] for row in result.rows] == [2, 2]
        assert "t: left out 3 documents without document.topic" in result.notes
        compared = opened.run("compare mean(F by document.topic) for A, B on t")
        assert "2 topics exchanged" in compared.caption
        assert "t: left out 3 documents without document.topic" in compared.notes
        apart = opened.run("score mean(T11SU) for A on t")
        assert any("mean(T11SU by document.topic) averages over topics" in note for note in apart.notes)


def test_captions_speak_of_topics(session: Session) -> None:
    assert "5 topics exchanged" in session.run("compare mean(F by document.topic) for A, B on t").caption


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("score mean(F by document.theme) for A on t", "unknown attribute 'document.theme'"),
        ("score mean(F by system.x) for A on t", "attribute"),
        ("score mean(F by label) for A on t", "over documents, or over one of their attributes"),
        ("score micro(F by document.topic) for A on t", "is computed over all documents together"),
        ("score mean(F), mean(recall by document.topic) for A on t", r"and mean\(F\(beta=1\)\) over documents"),
        ("score mean(F by document.half), mean(F by document.topic) for A on t", "another over document.topic"),
        (
            "score mean(F by document.topic) for A on t by document.half",
            "cannot be combined with a mean over document.topic",
        ),
        (
            "compare mean(F by document.topic) for A, B on t exchange by document.half",
            "exchange by document.half cannot",
        ),
        (
            "compare mean(F by document.topic) for A, B on t exchange by document",
            "exchange by document cannot",
        ),
        ("compare mean(F by document.topic) for A, B on t missing zero", "cannot be combined with missing zero"),
        ("documents mean(F by document.topic) for A, B on t", "a mean by an attribute works only in score"),
        ("differ mean(F by document.topic) for A, B on t by label", "a mean by an attribute works only in score"),
        ("score mean(F by document.topic) for A, random(s=0.5) on t", "has no document.topic"),
    ],
)
def test_what_cannot_be_asked_is_said(session: Session, statement: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        session.run(statement)


def test_it_is_printed_as_it_is_read() -> None:
    text = "score mean(T11SU(min=-1) by document.topic) for A on t"
    assert to_text(parse(text)) == text


def test_a_document_that_one_system_lacks_is_named(session: Session, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("lacking")
    decisions = [("t", s, f"d{k}", "yes") for s in "AB" for k in range(4) if (s, k) != ("B", 2)]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        labels = [("t", f"d{k}", "relevant") for k in range(4)]
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
        topics = [("t", f"d{k}", k // 2) for k in range(4)]
        load(database, write_csv(folder / "a.csv", "test_set document topic", topics), "documents")
    with (
        Session.open(folder / "w.duckdb") as opened,
        pytest.raises(QueryError, match="is missing for some systems: d2"),
    ):
        opened.run("compare mean(F by document.topic) for A, B on t")
