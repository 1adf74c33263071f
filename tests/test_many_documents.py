"""Test sets with many documents: documents on which a pair has equal counts are grouped in the database, and only the
random draws of shuffles change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing import observations, pairs
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.plans import path
from evalhouse.warehouse.plans.path import Engine
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.bootstrap import confidence_intervals, shifted
from evalhouse.warehouse.significance.shuffles import randomization
from tests.empty import create

QUESTIONS = [
    "compare recall, precision, F for GE, UMASS on TST3 exact",
    "compare F(beta=2), substitution for GE, UMASS on TST3 exact",
    "compare recall, precision of filtering for GE, UMASS on TST3 exact",
    "compare accuracy for GE, UMASS on TST3 test sign",
    "compare accuracy for GE, UMASS on TST3 test wilcoxon one-sided",
    "compare mean(accuracy) for GE, UMASS on TST3 test t",
    "compare recall for GE, UMASS on TST3 test two-sample-t",
    "compare precision(partial=0) for GE, UMASS on TST3 test chi-square",
    'compare F for GE, UMASS on TST3 exact where document like "SIM3-0%" missing zero',
]


@pytest.fixture
def session(warehouses: dict[str, Path]) -> Session:
    return Session.open(warehouses["sample"])


@pytest.mark.long
@pytest.mark.parametrize("question", [*QUESTIONS, "compare BLEU for base, tuned on news exact"])
def test_alike_documents_counted_give_what_single_ones_give(
    question: str, warehouses: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Session.open(warehouses["worked" if "BLEU" in question else "sample"]) as session:
        one_by_one = session.run(question)
        monkeypatch.setattr(observations, "MANY", 1)
        counted = session.run(question)
        resampled = {"ci_low", "ci_high"}
        for alone, together in zip(one_by_one.rows, counted.rows, strict=True):
            for column in alone.keys() - resampled:
                before = alone[column]
                expected = pytest.approx(before, rel=1e-12) if isinstance(before, float) else before
                assert together[column] == expected, column


@pytest.mark.long
@pytest.mark.parametrize("measure", ["F, precision", "accuracy of filtering", "mean(recall)", "MCC of filtering"])
@pytest.mark.parametrize(
    "clauses",
    [
        "shuffles 999",
        "shuffles 999 one-sided",
        "test studentized shuffles 99",
        "test bootstrap shuffles 999",
        "exact",
    ],
)
def test_a_pair_has_the_same_answer_alone_turned_around_and_among_others(
    session: Session, measure: str, clauses: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of very many documents: those of a pair are counted where that decides, and else brought in their order."""
    monkeypatch.setattr(observations, "MANY", 1)
    monkeypatch.setattr(randomization, "GROUPED_UNITS", 1)
    monkeypatch.setattr(randomization, "UNITS_A_GROUP", 10)
    for module in (pairs, confidence_intervals, shifted):
        monkeypatch.setattr(module, "VERY_MANY_UNITS", 1)
    if measure == "mean(recall)" and clauses == "exact":
        pytest.skip("too many ways to exchange the values of so many documents")
    # The interval is the same beside any test.
    for interval in ("studentized", "percentile", "bca") if clauses == "shuffles 999" else ("studentized",):
        asked = [f"compare {measure} for {systems} on TST3 {clauses} interval {interval}" for systems in
                 ("GE, SRI", "SRI, GE", "UMASS, GE, SRI", "GE, GE-CMU, LSI, NYU, SRI, UMASS")]  # fmt: skip
        alone, turned, three, every = (session.run(question).rows for question in asked)
        for place, row in enumerate(alone):
            for others in (three, every):
                (same,) = [other for other in others if [other[key] for key in KEYS] == [row[key] for key in KEYS]]
                assert {key: same[key] for key in (*SAME, "ci_low", "ci_high")} == {
                    key: row[key] for key in (*SAME, "ci_low", "ci_high")
                }
            mirrored = turned[place]
            if "one-sided" not in clauses:
                assert (mirrored["p"], mirrored["nge"]) == (row["p"], row["nge"])
                assert (mirrored["ci_low"], mirrored["ci_high"]) == (minus(row["ci_high"]), minus(row["ci_low"]))
            assert mirrored["difference"] == minus(row["difference"])


KEYS = ("measure", "system_a", "system_b")
SAME = ("p", "nge", "method", "difference")


def minus(cell: Cell) -> Cell:
    return -cell if isinstance(cell, float) else cell


def test_documents_are_brought_in_order_only_where_their_coins_are_needed(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    fetched = path._fetch_query

    def noted(query: path.Query, engine: Engine) -> object:
        asked.append(query.name)
        return fetched(query, engine)

    monkeypatch.setattr(path, "_fetch_query", noted)
    monkeypatch.setattr(pairs, "VERY_MANY_UNITS", 1)
    monkeypatch.setattr(observations, "MANY", 1)
    for grouped, clauses, needed in (
        (1, "shuffles 99", False),
        (10**9, "shuffles 99", True),
        (10**9, "exact", False),
        (10**9, "test wilcoxon", False),
        (1, "shuffles 99 adjust maxt", True),
    ):
        monkeypatch.setattr(randomization, "GROUPED_UNITS", grouped)
        monkeypatch.setattr(randomization, "UNITS_A_GROUP", 1)
        asked.clear()
        session.run(f"compare accuracy for GE, UMASS on TST3 {clauses}")
        assert any("in order" in name for name in asked) == needed


def test_a_document_that_one_system_lacks_is_still_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"T,{system},d{k},2,2,1,0\n" for system in "AB" for k in range(4) if (system, k) != ("B", 2))
    (tmp_path / "s.csv").write_text("test_set,system,document,possible,actual,correct,partial\n" + rows)
    with create(tmp_path / "w.duckdb") as database:
        load(database, tmp_path / "s.csv", "scores")
    monkeypatch.setattr(observations, "MANY", 1)
    with Session.open(tmp_path / "w.duckdb") as session:
        with pytest.raises(QueryError, match="is missing for some systems: d2"):
            session.run("compare recall for A, B on T")
        (row,) = session.run("compare recall for A, B on T missing drop").rows
        assert row["documents"] == 3
        for question in ("group recall for A, B on T missing drop", "score recall for A, B on T"):
            assert session.run(f"plot {question}").chart is not None


def test_explain_shows_that_alike_documents_are_counted(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "MANY", 1)
    said = [str(row["what"]) for row in session.run("explain compare F for GE, UMASS on TST3").rows]
    assert any("count(*) as times" in line for line in said)
