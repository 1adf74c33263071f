"""Laws that every measure and every test obeys: p, verdicts and intervals do not change when systems or documents are
renamed, when rows are reordered, or when all counts are multiplied, and they are mirrored when the systems change
places. Each question is asked of warehouses that differ in one of these ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec import Struct

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures import MEASURES
from evalhouse.warehouse.measures.measure import TaskName
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.tests import TESTS
from evalhouse.warehouse.store.connecting import in_memory
from tests.conftest import write_csv

Rows = Sequence[tuple[object, ...]]
Answer = tuple[dict[str, Cell], ...] | str
"""The rows of an answer, or why there is none."""

DOCUMENTS = 30
NUMBERS = ("p", "ci_low", "ci_high")


class Data(Struct, frozen=True):
    """What two systems did, as the rows of files, each with its reader and header."""

    files: tuple[tuple[str, str, Rows], ...]

    def changed(self, change: Callable[[str, Rows], Rows]) -> Data:
        """The same with other rows; `change` takes a reader and its rows."""
        return Data(tuple((reader, header, change(reader, rows)) for reader, header, rows in self.files))

    def answers(self, folder: Path, statements: Iterable[str]) -> dict[str, Answer]:
        """What a warehouse of these rows answers."""
        with in_memory() as database:
            for place, (reader, header, rows) in enumerate(self.files):
                load(database, write_csv(folder / f"{place}.csv", header, rows), reader)
            session = Session(database)
            return {statement: _answer(session, statement) for statement in statements}


def _answer(session: Session, statement: str) -> Answer:
    try:
        return tuple(dict(row) for row in session.run(statement).rows)
    except QueryError as refused:
        return refused.message


def extracted() -> Data:
    """Score tuples of two systems, one of which answers fewer documents."""
    source = np.random.default_rng(17)
    rows = []
    for system, share, skill in (("A", 1.0, 0.7), ("B", 0.6, 0.55)):
        for document in range(DOCUMENTS):
            possible = int(source.integers(1, 12))
            right = int(source.binomial(possible, skill)) if source.random() < share else 0
            partial = int(source.integers(0, possible - right + 1)) if right else 0
            wrong = int(source.integers(0, 4)) if right else 0
            rows.append(("T", system, f"d{document:02}", possible, right + partial + wrong, right, partial))
    return Data((("scores", "test_set system document possible actual correct partial", tuple(rows)),))


def filtered() -> Data:
    """Decisions of two systems and the labels of the key."""
    source = np.random.default_rng(18)
    relevant = source.random(DOCUMENTS) < 0.4
    labels = [("T", f"d{d:02}", "", "relevant" if of else "nonrelevant") for d, of in enumerate(relevant)]
    decisions = [
        ("T", system, f"d{d:02}", int(source.random() < (hit if of else alarm)), round(float(source.random()), 6))
        for system, hit, alarm in (("A", 0.8, 0.2), ("B", 0.6, 0.15))
        for d, of in enumerate(relevant)
    ]
    return Data(
        (
            ("labels", "test_set document annotator label", tuple(labels)),
            ("decisions", "test_set system document decision confidence", tuple(decisions)),
        )
    )


DATA: Mapping[TaskName, Callable[[], Data]] = {"extraction": extracted, "filtering": filtered}


def questions(task: TaskName, first: str = "A", second: str = "B") -> Iterator[str]:
    """A comparison with each measure by each test, a score with its interval, and a comparison with a margin."""
    for measure in (measure for measure in MEASURES if measure.kind == task):
        for name in (measure.name, f"mean({measure.name})"):
            yield f"score {name} for {first}, {second} on T interval"
            yield f"compare {name} for {first}, {second} on T margin 3%"
            for test in TESTS:
                yield f"compare {name} for {first}, {second} on T test {test.name}"


def shuffled(_: str, rows: Rows) -> Rows:
    source = np.random.default_rng(3)
    return tuple(rows[place] for place in source.permutation(len(rows)))


def renamed(cells: Mapping[object, str]) -> Callable[[str, Rows], Rows]:
    return lambda _, rows: tuple(tuple(cells.get(cell, cell) for cell in row) for row in rows)


def multiplied(_: str, rows: Rows) -> Rows:
    return tuple((*row[:3], *(3 * int(str(count)) for count in row[3:])) for row in rows)


def same(one: Answer, other: Answer, tolerance: float) -> bool:
    """Whether two answers have the same p, verdicts and limits."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return len(one) == len(other) and all(
        _agree(a.get(name), b.get(name), tolerance)
        for a, b in zip(one, other, strict=True)
        for name in {name for name in (*a, *b) if name.startswith(NUMBERS) or name == "verdict"}
    )


def _agree(one: Cell, other: Cell, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= tolerance * max(1.0, abs(one))
    return one == other


@pytest.mark.long
@pytest.mark.parametrize("task", list(DATA))
def test_names_and_the_order_of_rows_change_nothing(task: TaskName, tmp_path: Path) -> None:
    data = DATA[task]()
    asked = list(questions(task))
    expected = data.answers(tmp_path, asked)
    assert sum(not isinstance(answer, str) for answer in expected.values()) > 50
    reordered = data.changed(shuffled).answers(tmp_path, asked)
    assert [text for text in asked if not same(expected[text], reordered[text], 1e-12)] == []
    # The names keep their order, which decides which random numbers a document gets.
    names: dict[object, str] = {"A": "alpha", "B": "beta"}
    names |= {f"d{place:02}": f"document-{place:04}" for place in range(DOCUMENTS)}
    others = list(questions(task, "alpha", "beta"))
    of_others = data.changed(renamed(names)).answers(tmp_path, others)
    assert [a for a, b in zip(asked, others, strict=True) if not same(expected[a], of_others[b], 1e-12)] == []


@pytest.mark.long
def test_counts_that_are_all_multiplied_change_nothing(tmp_path: Path) -> None:
    """But for the last digits of resampled limits; for the number of answers, which is multiplied itself; and for tests
    that take each item for a unit, of which there are more then."""
    of_items = ("support", "test z", "test chi-square")
    asked = [text for text in questions("extraction") if not any(word in text for word in of_items)]
    data = extracted()
    expected, multiples = (one.answers(tmp_path, asked) for one in (data, data.changed(multiplied)))
    assert [text for text in asked if not same(expected[text], multiples[text], 1e-6)] == []


@pytest.mark.long
@pytest.mark.parametrize("task", list(DATA))
def test_systems_that_change_places_mirror_the_answer(task: TaskName, tmp_path: Path) -> None:
    asked, turned = (
        [text for text in questions(task, *names) if "margin" not in text and text.startswith("compare")]
        for names in (("A", "B"), ("B", "A"))
    )
    answers = DATA[task]().answers(tmp_path, [*asked, *turned])
    wrong = []
    for one, other in zip(asked, turned, strict=True):
        there, back = answers[one], answers[other]
        if isinstance(there, str) or isinstance(back, str):
            assert isinstance(there, str) == isinstance(back, str)
            continue
        [a], [b] = there, back
        limits = _negative(b["ci_high"]), _negative(b["ci_low"])
        if not (
            _agree(a["p"], b["p"], 1e-12)
            and _agree(a["difference"], _negative(b["difference"]), 1e-12)
            and _agree(a["ci_low"], limits[0], 1e-9)
            and _agree(a["ci_high"], limits[1], 1e-9)
        ):
            wrong.append((one, a, b))
    assert wrong == []


def _negative(cell: Cell) -> Cell:
    return -float(cell) if isinstance(cell, int | float) else cell
