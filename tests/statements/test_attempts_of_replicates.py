"""`pass(k=3)` and `every(k=3)` of samples that replicates answered: each replicate is an attempt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

DOCUMENTS, SEEDS = 30, 5
SYSTEMS = ("base", "tuned", "wild")


def right(system: int, seed: int, document: int) -> int | None:
    """Whether a seed answers a document; None where it did not try. The first two documents were tried thrice."""
    if document < 2 and seed >= 3:
        return None
    ease = np.random.default_rng((1, document)).normal() + 0.4 * system
    return int(ease + np.random.default_rng((2, system, seed, document)).normal() > 0.3)


def answers(system: int, document: int) -> list[int]:
    return [found for seed in range(SEEDS) if (found := right(system, seed, document)) is not None]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same answers one by one, on `qa`, and counted, on `counted`; both also on `both`."""
    folder = tmp_path_factory.mktemp("attempts")
    documents = [f"d{document:02}" for document in range(DOCUMENTS)]
    wide = [
        (name, seed + 1, documents[document], found, seed / 10)
        for system, name in enumerate(SYSTEMS)
        for seed in range(SEEDS)
        for document in range(DOCUMENTS)
        if (found := right(system, seed, document)) is not None
    ]
    counted = [
        (name, documents[document], len(answers(system, document)), sum(answers(system, document)))
        for system, name in enumerate(SYSTEMS)
        for document in range(DOCUMENTS)
    ]
    passages = [("qa", name, f"p{place // 3}") for place, name in enumerate(documents)]
    with create(folder / "w.duckdb") as database:
        single = write_csv(folder / "single.csv", "model question correct", [("one", "q1", 1), ("one", "q2", 0)])
        load(database, write_csv(folder / "counted.csv", "system document attempts passed", counted), "counts",
             fields={"test_set": "counted"})  # fmt: skip
        load(database, folder / "counted.csv", "counts", fields={"test_set": "both"})
        header = "model seed question correct speed"
        load(database, write_csv(folder / "wide.csv", header, wide), "table", fields={"test_set": "qa"})
        load(database, folder / "wide.csv", "table", fields={"test_set": "both"})
        load(database, single, "table", fields={"test_set": "single"})
        graded = [("graded", f"base#{seed}", "d1", "accuracy", value) for seed, value in ((1, 1), (2, 0.5), (3, 0))]
        load(database, write_csv(folder / "g.csv", "test_set system document measure value", graded), "values")
        load(database, write_csv(folder / "p.csv", "test_set document passage", passages), "documents")
    return folder / "w.duckdb"


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as opened:
        yield opened


def test_pass_is_that_any_of_k_draws_is_right_and_every_that_all_are(session: Session) -> None:
    """By going through all draws of k of the answers to a document (Chen et al. 2021)."""
    for k in (1, 2, 3):
        rows = {row["system"]: row for row in session.run(f"score pass(k={k}), every(k={k}) for all on qa").rows}
        for system, name in enumerate(SYSTEMS):
            for word, decides in (("pass", any), ("every", all)):
                by_document = [
                    fmean(decides(drawn) for drawn in combinations(answers(system, document), k))
                    for document in range(DOCUMENTS)
                ]
                assert rows[name][f"{word}(k={k})"] == pytest.approx(fmean(by_document), abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    "question",
    [
        "score pass(k=3), every(k=2), pass@4 of {} for all on both",
        "score pass(k=3) of {} for all on both interval",
        "score pass(k=3) of {} for wild, base on both by document",
        'score pass(k=3) of {} for all on both where document like "d0%"',
        "score pass(k=2) of {} for all on both standardized",
        "compare pass(k=3), every(k=2) of {} for all on both shuffles 999",
        "compare pass(k=2) of {} for all against base on both exact adjust holm",
        "compare pass(k=2) of {} for base, tuned on both margin 5%",
        "compare pass(k=2) of {} for base, tuned on both test wilcoxon",
        "compare pass(k=4) of {} for base, tuned on both test bootstrap",
        "group pass(k=3) of {} for all on both",
        "rank pass(k=3) of {} for all on both",
    ],
)
def test_replicates_are_what_counts_of_attempts_are(session: Session, question: str) -> None:
    """All numbers to the last digit, those of tests and intervals too."""
    drawn, stored = (session.run(question.format(kind)).rows for kind in ("values", "counts"))
    assert drawn
    assert [row | {"task": None} for row in drawn] == [row | {"task": None} for row in stored]


def test_documents_with_fewer_replicates_than_k_are_left_out(session: Session) -> None:
    result = session.run("score pass(k=4) for base on qa")
    by_document = [
        fmean(map(any, combinations(answers(0, document), 4))) for document in range(DOCUMENTS) if document >= 2
    ]
    assert result.rows[0]["pass(k=4)"] == pytest.approx(fmean(by_document))
    assert "pass(k=4) on qa: questions without a value are left out: 2 for base" in result.notes


def test_counts_that_are_stored_come_first(session: Session) -> None:
    assert session.run("score pass(k=2) for base on both").rows[0]["task"] == "counts"
    of_values = session.run("score pass(k=2) of values for base on both")
    assert of_values.rows[0]["task"] == "values"
    assert of_values.rows[0]["pass(k=2)"] == session.run("score pass(k=2) for base on both").rows[0]["pass(k=2)"]


def test_which_replicates_are_attempts_is_said(session: Session) -> None:
    for question in ("score pass(k=2) for base on qa", "compare pass(k=2) for base, tuned on qa", "group pass on qa"):
        assert (
            "qa: the runs of a system are attempts at each question; an attempt passes if its accuracy is 1"
            in session.run(question).notes
        )
    [note] = session.run("score pass(k=2) for base on graded").notes
    assert note.endswith("an attempt passes if its accuracy is 1, not if it is partly right")
    assert session.run("score pass for base on graded").rows[0]["pass(k=1)"] == pytest.approx(1 / 3)


def test_replicates_may_be_named(session: Session) -> None:
    plain = session.run("score pass(k=3) for all on qa").rows
    assert session.run("score pass(k=3) for all on qa replicates").rows == plain
    assert session.run("score pass(k=3) for all on qa replicates by system.model").rows == plain


def test_what_is_exchanged_as_a_whole_is(session: Session) -> None:
    [row] = session.run("compare pass(k=3) for base, tuned on qa exchange by document.passage exact").rows
    [alone] = session.run("compare pass(k=3) for base, tuned on qa exact").rows
    assert row["difference"] == alone["difference"]
    assert row["p"] != alone["p"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("score pass(k=6) for all on qa", "k is at most 5, the most replicates that a question of qa has, not 6"),
        ("score pass(k=2) for all on single", "questions of single were answered once each, but pass needs several"),
        ("score accuracy, pass(k=2) for all on qa", "pass is about attempts, but the other measures here are not"),
        ("score pass(k=2), accuracy for all on qa", "pass is about attempts, but the other measures here are not"),
        ('score pass for "base#1" on qa', "base#1 is a replicate here, not a system"),
        ("score pass for all on qa by system.seed", "system.seed differs between the runs of base"),
        (
            "score pass for all on qa replicates by system.model by system.seed",
            "system.seed differs between replicates",
        ),
        (
            "score pass(k=2) for all on qa runs apart",
            "takes the runs of a system as attempts, so they cannot stand apart",
        ),
        ("compare pass for base, tuned on qa exchange by system", "replicates count as attempts here"),
        ("spread pass for all on qa", r"pass\(k=1\) is computed from all replicates of a document together"),
        ("score pass(k=2) of rankings for all on qa", "qa has no rankings"),
    ],
)
def test_what_cannot_be_says_why(session: Session, statement: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        session.run(statement)


def test_without_replicates_how_they_are_loaded_is_said(tmp_path: Path) -> None:
    with create(tmp_path / "w.duckdb") as database:
        rows = [("t", "A", "d1", "accuracy", 1)]
        load(database, write_csv(tmp_path / "v.csv", "test_set system document measure value", rows), "values")
    message = "documents of t were answered once each, but every needs several attempts"
    with Session.open(tmp_path / "w.duckdb") as opened, pytest.raises(QueryError, match=message) as error:
        opened.run("score every(k=2) for all on t")
    assert error.value.hints[0].startswith("replicates come from a column seed, run or epoch")


def test_asked_of_all_test_sets_it_is_asked_of_those_that_have_it(session: Session) -> None:
    rows = session.run("score pass(k=2) for base").rows
    assert [row["test_set"] for row in rows] == ["both", "counted", "graded", "qa"]


def test_show_measures_lists_what_can_be_asked_for(session: Session) -> None:
    measures = {(row["measure"], row["task"]): row["test_sets"] for row in session.run("show measures").rows}
    assert measures["pass", "counts"] == measures["every", "counts"] == "both, counted, graded, qa"
    for test_set in ("both", "counted", "graded", "qa"):
        assert session.run(f"score pass of counts for all on {test_set}").rows


def test_epochs_of_inspect_are_attempts(tmp_path: Path) -> None:
    graded = {(1, 1): "C", (1, 2): "I", (1, 3): "C", (2, 1): "I", (2, 2): "I", (2, 3): "P"}
    samples = [
        {"id": sample, "epoch": epoch, "scores": {"match": {"value": letter}}}
        for (sample, epoch), letter in graded.items()
    ]
    log = {"version": 2, "eval": {"task": "t", "model": "m", "config": {"epochs": 3}}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    with create(tmp_path / "w.duckdb") as database:
        load(database, tmp_path / "log.json", "inspect")
    with Session.open(tmp_path / "w.duckdb") as opened:
        result = opened.run("score pass(k=2), every(k=2) for m on t")
    # One of two draws of C, I, C is right, and both are in one of three; an answer that is partly right is not right.
    assert (result.rows[0]["pass(k=2)"], result.rows[0]["every(k=2)"]) == pytest.approx((1 / 2, 1 / 6))
    assert "t: the runs of a system are attempts at each sample" in result.notes[0]


@pytest.mark.parametrize("mark", ["success", "passed", "correct", "resolved", "em", "reward"])
def test_marks_of_repeated_rows_are_attempts(tmp_path: Path, mark: str) -> None:
    """Of three trials of four tasks, 3, 2, 0 and 1 are right; at least k of them are in Inspect's sense."""
    rows = [
        ("wren", f"t{task}", trial, int(trial < right)) for task, right in enumerate((3, 2, 0, 1)) for trial in range(3)
    ]
    with create(tmp_path / "w.duckdb") as database:
        table = write_csv(tmp_path / "trials.csv", f"model task_id trial {mark}", rows)
        load(database, table, "table", fields={"test_set": "desk"})
    asked = "pass(k=1), pass(k=3), every(k=3), every(k=2), at_least(k=1), at_least(k=2), at_least(k=3)"
    with Session.open(tmp_path / "w.duckdb") as session:
        [row] = session.run(f"score {asked} for all on desk").rows
    found = [row[name] for name in asked.split(", ")]
    assert found == pytest.approx([0.5, 0.75, 0.25, 1 / 3, 0.75, 0.5, 0.25])
