"""`spread` by its definitions: the table that it decomposes, and its message if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.components import Components, components
from tests.conftest import write_csv
from tests.empty import create

RUNS, DOCUMENTS = 4, 15

Counts = dict[tuple[int, int], tuple[int, int, int]]


def counts() -> Counts:
    """Possible, actual and correct of each run and document; two documents lack a run."""
    source = np.random.default_rng(4)
    found = {}
    for run in range(RUNS):
        for document in range(DOCUMENTS):
            possible, actual = 4 + document % 3, int(source.integers(2, 9))
            correct = min(possible, actual, int(source.integers(0, 4)) + document % 4 + run // 2)
            if (run, document) not in ((1, 3), (2, 8)):
                found[run, document] = (possible, actual, correct)
    return found


def right(run: int, document: int) -> float:
    return float((document * 7 + run * 5 + document * run) % 11 < 3 + document % 5 + run)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spread")
    scores = [("T", f"m#{run}", f"d{document:02}", *of, 0) for (run, document), of in counts().items()]
    values = [
        ("qa", f"m#{run}", f"d{document:02}", measure, right(run, document) * scale)
        for run in range(RUNS)
        for document in range(DOCUMENTS)
        for measure, scale in (("accuracy", 1), ("share", 0.3))
    ]
    passages = [("qa", f"d{document:02}", f"p{document // 4}") for document in range(DOCUMENTS)]
    with create(folder / "w.duckdb") as database:
        header = "test_set system document possible actual correct partial"
        load(database, write_csv(folder / "c.csv", header, scores), "scores")
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", values), "values")
        models = [(f"m#{run}", "m") for run in range(RUNS)]
        load(database, write_csv(folder / "s.csv", "system model", models), "systems")
        load(database, write_csv(folder / "d.csv", "test_set document passage", passages), "documents")
    return folder / "w.duckdb"


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as opened:
        yield opened


def checked(row: dict[str, Cell], table: Floats, present: Booleans, scale: float = 1.0) -> None:
    """That a row has the components of a table."""
    of = components(table, present)
    assert isinstance(of, Components)
    assert [row[f"var_{name}"] for name in ("document", "replicate", "residual")] == pytest.approx(
        [scale**2 * of.document, scale**2 * of.replicate, scale**2 * of.residual], rel=1e-5, abs=1e-12
    )
    errors = [row[name] for name in ("se", "se_with_document", "se_with_replicate")]
    assert errors == pytest.approx(
        [scale * error for error in (of.error, of.error_with_document, of.error_with_replicate)], rel=1e-5
    )


def accuracies() -> Floats:
    return np.array([[right(run, document) for document in range(DOCUMENTS)] for run in range(RUNS)])


def test_the_table_of_a_mean_is_its_values(session: Session) -> None:
    table = accuracies()
    everywhere = np.ones(table.shape, dtype=np.bool_)
    for measure, scale in (("accuracy", 1.0), ("share", 0.3)):
        [row] = session.run(f"spread {measure} for all on qa").rows
        [scored] = session.run(f"score {measure} for all on qa replicates").rows
        assert row["value"] == pytest.approx(scored[measure])
        assert (row["system"], row["documents"], row["replicates"]) == ("m", DOCUMENTS, RUNS)
        checked(row, table, everywhere, scale)
        assert row["sd_document"] == pytest.approx(sqrt(float(str(row["var_document"]))))


def test_of_a_mean_the_standard_errors_follow_from_the_variances(session: Session) -> None:
    """σ²/documents + σ²/replicates + σ²/cells (Searle, Casella and McCulloch 1992, chapter 4)."""
    [row] = session.run("spread accuracy for all on qa").rows
    a, b, c = (float(str(row[f"var_{name}"])) for name in ("document", "replicate", "residual"))
    for name, documents, replicates in (
        ("se", DOCUMENTS, RUNS),
        ("se_with_document", DOCUMENTS + 1, RUNS),
        ("se_with_replicate", DOCUMENTS, RUNS + 1),
    ):
        assert row[name] == pytest.approx(sqrt(a / documents + b / replicates + c / documents / replicates))


@pytest.mark.parametrize("measure", ["F", "recall"])
def test_of_a_ratio_it_is_what_each_document_moves_it_by(session: Session, measure: str) -> None:
    """(N − R·D) over the mean of D, where N and D are averaged over the runs that a document has."""
    over, under = np.zeros((RUNS, DOCUMENTS)), np.zeros((RUNS, DOCUMENTS))
    present = np.zeros((RUNS, DOCUMENTS), dtype=np.bool_)
    for (run, document), (possible, actual, correct) in counts().items():
        over[run, document] = 2 * correct if measure == "F" else correct
        under[run, document] = possible + actual if measure == "F" else possible
        present[run, document] = True
    runs = present.sum(axis=0)
    value = (over.sum(axis=0) / runs).sum() / (under.sum(axis=0) / runs).sum()
    table = (over - value * under) / (under.sum(axis=0) / runs).mean()
    result = session.run(f"spread {measure} for all on T")
    [row] = result.rows
    assert row["value"] == pytest.approx(value)
    checked(row, table, present)
    assert any("first-order effect" in note for note in result.notes)


def test_clusters_vary_as_a_whole(session: Session) -> None:
    """Passages of four questions, the last of three: what each moves the mean by."""
    table = accuracies()
    moved = table - table.mean()
    passages = [moved[:, first : first + 4].sum(axis=1) for first in range(0, DOCUMENTS, 4)]
    by_passage = np.stack(passages, axis=1) * len(passages) / DOCUMENTS
    [row] = session.run("spread accuracy for all on qa exchange by document.passage").rows
    assert row["documents"] == len(passages)
    checked(row, by_passage, np.ones(by_passage.shape, dtype=np.bool_))


def test_two_measures_are_what_each_is_alone(session: Session) -> None:
    both = session.run("spread accuracy, share for all on qa").rows
    for row in both:
        assert session.run(f"spread {row['measure']} for all on qa").rows == [row]


def test_a_part_of_the_documents_is_a_table_of_its_own(session: Session) -> None:
    [row] = session.run('spread accuracy for all on qa where document.passage in ("p0", "p1")').rows
    table = accuracies()[:, :8]
    assert row["documents"] == 8
    checked(row, table, np.ones(table.shape, dtype=np.bool_))


def test_replicates_are_named_or_found(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["replicated"]) as opened:
        plain = opened.run("spread accuracy for all on qa")
        named = opened.run("spread accuracy for all on qa replicates by system.model")
        alone = opened.run("spread accuracy for all on qa replicates")
    assert plain.rows == named.rows == alone.rows
    assert "means over 1 to 4 runs" in plain.caption
    assert "replicates by system.model" in named.caption


def test_asked_of_all_test_sets_it_is_asked_of_those_with_replicates(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["replicated"]) as opened:
        rows = opened.run("spread accuracy for all").rows
        assert {row["test_set"] for row in rows} == {"qa", "folds", "greedy", "graded"}
        with pytest.raises(QueryError, match="spread needs two replicates, and there is one of each system\n"):
            opened.run("spread accuracy for solo")


def test_what_has_no_variances_says_why(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["replicated"]) as opened:
        result = opened.run("spread accuracy for all on qa, folds, greedy")
    without = {(row["test_set"], row["system"]) for row in result.rows if row["se"] is None}
    assert without == {("folds", "base"), ("folds", "tuned"), *((name, "solo") for name in ("qa", "folds", "greedy"))}
    for said in (
        "accuracy on qa: solo: only one replicate, so its variation is unknown",
        "accuracy on folds: base, tuned: too few documents are in two replicates to separate the two",
        "accuracy on greedy: base, tuned: replicates vary no more than chance on single documents predicts, so their "
        "sd is 0",
    ):
        assert said in result.notes


def test_it_is_exported_and_explained(session: Session, tmp_path: Path) -> None:
    session.folder = tmp_path
    session.run('export spread accuracy for all on qa to "s.csv"')
    assert (tmp_path / "s.csv").read_text(encoding="utf-8").startswith("test_set,task,measure,system,value,documents")
    assert "executor" in [row["stage"] for row in session.run("explain spread accuracy on qa").rows]
