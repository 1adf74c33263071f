"""Test sets of many documents: those of a pair that are alike are counted in the database, and nothing changes but the
coins of shuffles.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import warehouse
from grammar.errors import QueryError
from warehouse.loading.ingest import load
from warehouse.query.comparison import observations as observe
from warehouse.session import Session
from warehouse.store.replacement import create

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
    return warehouse.open(warehouses["sample"])


@pytest.mark.parametrize("question", [*QUESTIONS, "compare BLEU for base, tuned on news exact"])
def test_alike_documents_counted_give_what_single_ones_give(
    question: str, warehouses: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with warehouse.open(warehouses["worked" if "BLEU" in question else "sample"]) as session:
        one_by_one = session.run(question)
        monkeypatch.setattr(observe, "MANY", 1)
        counted = session.run(question)
        resampled = {"ci_low", "ci_high"}
        for alone, together in zip(one_by_one.rows, counted.rows, strict=True):
            for column in alone.keys() - resampled:
                before = alone[column]
                expected = pytest.approx(before, rel=1e-12) if isinstance(before, float) else before
                assert together[column] == expected, column


def test_a_document_that_one_system_lacks_is_still_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"T,{system},d{k},2,2,1,0\n" for system in "AB" for k in range(4) if (system, k) != ("B", 2))
    (tmp_path / "s.csv").write_text("test_set,system,document,possible,actual,correct,partial\n" + rows)
    with create(tmp_path / "w.duckdb") as database:
        load(database, tmp_path / "s.csv", "scores")
    monkeypatch.setattr(observe, "MANY", 1)
    with warehouse.open(tmp_path / "w.duckdb") as session:
        with pytest.raises(QueryError, match="not there for every system: d2"):
            session.run("compare recall for A, B on T")
        (row,) = session.run("compare recall for A, B on T missing drop").rows
        assert row["documents"] == 3
        for question in ("group recall for A, B on T missing drop", "score recall for A, B on T"):
            assert session.run(f"plot {question}").chart is not None


def test_explain_shows_that_alike_documents_are_counted(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observe, "MANY", 1)
    said = [str(row["what"]) for row in session.run("explain compare F for GE, UMASS on TST3").rows]
    assert any("count(*) as times" in line for line in said)
