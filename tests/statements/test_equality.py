"""What exchanges systems asks whether they are exchangeable; every statement that does so says where the studentized
test decides otherwise, and nothing where both agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.tests import OF_EQUALITY, TESTS
from evalhouse.warehouse.store.replacement import create

DOCUMENTS = 60
PARTED = {"t": 78, "u": 75}
"""Test sets on which both systems have the same precision and the first answers a tenth of the documents, with seeds
of which exchanges make a difference and the studentized exchange does not."""


def tuples(
    test_set: str, seed: int, answered: float, right: tuple[float, float] | None = None, possible: int = 0
) -> Iterator[str]:
    """Score tuples of two systems, equally precise unless their shares of right answers are given. A document has so
    many possible answers, or for each system ten more than its own."""
    chance = np.random.default_rng(seed)
    for document in range(DOCUMENTS):
        ease = chance.beta(2, 2)
        for place, (system, share) in enumerate((("A", answered), ("B", 1.0))):
            found = int(chance.integers(1, 11)) if chance.random() < share else 0
            correct = int(chance.binomial(found, right[place] if right else ease))
            yield f"{test_set},{system},d{document:02},{possible or found + 10},{found},{correct},0"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("equality")
    rows = [line for test_set, seed in PARTED.items() for line in tuples(test_set, seed, 0.1)]
    rows += tuples("apart", 3, 1.0, (0.8, 0.5))
    rows += tuples("even", 4, 1.0, possible=10)
    rows += tuples("handful", 6, 0.05, (1.0, 0.1), possible=10)
    (folder / "scores.csv").write_text(
        "\n".join(["test_set,system,document,possible,actual,correct,partial", *rows]), encoding="utf-8"
    )
    attributes = [
        f"{test_set},d{place:02},all"
        for test_set in (*PARTED, "apart", "even", "handful")
        for place in range(DOCUMENTS)
    ]
    (folder / "documents.csv").write_text("\n".join(["test_set,document,part", *attributes]), encoding="utf-8")
    path: Path = folder / "w.duckdb"
    with create(path) as database:
        load(database, folder / "scores.csv", "scores")
        load(database, folder / "documents.csv", "documents")
    with Session.open(path) as opened:
        yield opened


def noted(result: Result) -> list[str]:
    return [note for note in result.notes if f"test {OF_EQUALITY.name} decides otherwise" in note]


ASKED = (
    "compare precision for A, B on {on}",
    "compare precision for A, B on {on} test tukey shuffles 4999",
    "group precision for A, B on {on}",
    "rank precision for A, B on {on} test randomization",
    "differ precision for A, B on {on} by document.part test randomization",
)


@pytest.mark.parametrize("statement", ASKED)
def test_what_exchanges_says_where_measures_may_be_equal(statement: str, session: Session) -> None:
    (note,) = noted(session.run(statement.format(on="t")))
    assert "whether systems are exchangeable, not whether precision is equal" in note
    assert not noted(session.run(statement.format(on="apart")))


def test_two_test_sets_are_looked_at_too(session: Session) -> None:
    assert noted(session.run("replicate precision for A, B from t to u"))
    assert noted(session.run("compare precision for A, B on t, u over test sets"))
    assert not noted(session.run("compare precision for A, B on t, u over test sets test studentized"))


@pytest.mark.parametrize(
    "statement", ["rank precision for A, B on t", "differ precision for A, B on t by document.part"]
)
def test_what_promises_equality_is_studentized(statement: str, session: Session) -> None:
    by_default = session.run(statement)
    assert f"test {OF_EQUALITY.name}" in by_default.signature
    assert not noted(by_default)
    assert by_default.rows == session.run(f"{statement} test {OF_EQUALITY.name}").rows
    assert by_default.rows != session.run(f"{statement} test randomization").rows


def recall_by(test: str, on: str, session: Session) -> Result:
    return session.run(f"differ recall for A, B on {on} by document.part test {test} shuffles 999")


def test_slices_of_equal_denominators_have_one_p(session: Session) -> None:
    plain, student = (recall_by(test, "even", session).rows for test in ("randomization", "studentized"))
    assert plain == student
    assert 0.01 < float(plain[0]["p"] or 0) < 1


def test_a_handful_of_documents_is_trusted_no_further_than_it_can_tell(session: Session) -> None:
    """The first system has all answers of a few documents and none of the others, the second a few of each."""
    plain, student = (
        float(recall_by(test, "handful", session).rows[0]["p"] or 0) for test in ("randomization", "studentized")
    )
    assert plain < 0.05 < student


@pytest.mark.parametrize("name", [test.name for test in TESTS if not test.exchanges])
def test_slices_need_a_test_that_exchanges(name: str, session: Session) -> None:
    with pytest.raises(QueryError, match=f"which test {name} does not"):
        session.run(f"differ precision for A, B on t by document.part test {name}")


def test_a_function_of_sums_has_no_studentized_slices(session: Session) -> None:
    assert list(session.results("define measure odd = sqrt(precision * recall)")) == []
    with pytest.raises(QueryError, match="is not a ratio of sums"):
        session.run("differ odd for A, B on t by document.part test studentized")
    assert "test randomization" in session.run("differ odd for A, B on t by document.part").signature
