"""`score … interval`: standard errors and intervals of the systems' own values."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

DOCUMENTS = 60


def right(system: int, run: int, document: int) -> int:
    source = np.random.default_rng((system, document))
    ease = source.normal()
    return int(ease + np.random.default_rng((system, run, document)).normal() < 0.5 + 0.2 * system + 0.1 * run)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intervals")
    values = [
        ("qa", f"{name}.{run}", f"d{document:02}", "accuracy", right(system, run, document))
        for system, name in enumerate(("bert", "gpt"))
        for run in range(4)
        for document in range(DOCUMENTS)
    ]
    folds = [("folds", *row[1:]) for row in values if int(row[2][1:]) % 4 == int(row[1][-1])]
    perfect = [("qa", "oracle", f"d{document:02}", "accuracy", 1) for document in range(DOCUMENTS)]
    some = [("qa", "half", f"d{document:02}", "accuracy", right(0, 0, document)) for document in range(0, DOCUMENTS, 2)]
    graded = [
        (
            "graded",
            f"gpt.{run}",
            f"d{document:02}",
            measure,
            unit * sum(right(1, run + 4 * of, document) for of in range(4)),
        )
        for run in range(3)
        for document in range(20)
        for measure, unit in (("share", 0.25), ("percent", 25))
    ]
    runs = [(f"{name}.{run}", name) for name in ("bert", "gpt") for run in range(4)]
    passages = [("qa", f"d{document:02}", f"p{document // 3}") for document in range(DOCUMENTS)]
    with create(folder / "w.duckdb") as database:
        header = "test_set system document measure value"
        load(database, write_csv(folder / "v.csv", header, [*values, *folds, *perfect, *some, *graded]), "values")
        load(database, write_csv(folder / "s.csv", "system replicate", runs), "systems")
        load(database, write_csv(folder / "d.csv", "test_set document passage", passages), "documents")
    return folder / "w.duckdb"


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def sample() -> Iterator[Session]:
    with Session.open() as opened:
        yield opened


def number(cell: Cell) -> float:
    assert isinstance(cell, float)
    return cell


@pytest.mark.parametrize("kind", ["", "studentized", "percentile", "bca"])
@pytest.mark.parametrize("measure", ["F(beta=1)", "mean(recall)", "MCC", "precision"])
def test_an_interval_holds_its_value(sample: Session, kind: str, measure: str) -> None:
    of = " of filtering" if measure == "MCC" else ""
    rows = sample.run(f"score {measure}{of} for GE, UMASS on TST3 interval {kind}").rows
    assert len(rows) == 2
    for row in rows:
        assert number(row[f"ci_low({measure})"]) < number(row[measure]) < number(row[f"ci_high({measure})"])
        assert number(row[f"se({measure})"]) > 0


def test_of_a_share_the_standard_error_is_that_of_the_mean_and_the_interval_wilsons(session: Session) -> None:
    (row,) = session.run("score accuracy for bert.0 on qa interval level 0.10").rows
    values = [right(0, 0, document) for document in range(DOCUMENTS)]
    assert row["se(accuracy)"] == pytest.approx(statistics.pstdev(values) / sqrt(DOCUMENTS), rel=1e-5)
    oracle = stats.binomtest(sum(values), DOCUMENTS).proportion_ci(0.9, "wilson")
    assert (row["ci_low(accuracy)"], row["ci_high(accuracy)"]) == (pytest.approx(oracle[0]), pytest.approx(oracle[1]))


def test_of_a_mean_the_interval_is_at_least_students(session: Session) -> None:
    (row,) = session.run("score percent for gpt.0 on graded interval level 0.10").rows
    assert isinstance(row["documents"], int)
    half = stats.t.isf(0.05, row["documents"] - 1) * number(row["se(percent)"])
    assert number(row["ci_high(percent)"]) - number(row["percent"]) >= half * (1 - 1e-5)
    assert number(row["ci_high(percent)"]) - number(row["percent"]) < 1.2 * half


def test_clusters_are_resampled_as_a_whole(session: Session) -> None:
    """The standard error of three questions to a passage is that of the passages' sums (Miller 2024, section 2.2)."""
    (row,) = session.run("score accuracy for bert.0 on qa interval exchange by document.passage").rows
    values = [right(0, 0, document) for document in range(DOCUMENTS)]
    mean = statistics.fmean(values)
    sums = [sum(values[first : first + 3]) - 3 * mean for first in range(0, DOCUMENTS, 3)]
    assert row["se(accuracy)"] == pytest.approx(sqrt(sum(each**2 for each in sums)) / DOCUMENTS, rel=1e-5)


def test_over_replicates_the_runs_vary_too(session: Session) -> None:
    """The components of variance by hand: documents, and runs less the noise that documents have already."""
    (row,) = session.run("score accuracy for bert on qa replicates interval").rows
    table = np.array([[right(0, run, document) for document in range(DOCUMENTS)] for run in range(4)], dtype=float)
    by_document, by_run = table.mean(axis=0), table.mean(axis=1)
    noise = ((table - by_document - by_run[:, None] + table.mean()) ** 2).sum() / (3 * (DOCUMENTS - 1))
    runs = max(0.0, by_run.var(ddof=1) / 4 - noise / (4 * DOCUMENTS))
    assert row["se(accuracy)"] == pytest.approx(sqrt(by_document.var() / DOCUMENTS + runs), rel=1e-5)
    (alone,) = session.run("score accuracy for bert.0 on qa interval").rows
    assert number(row["se(accuracy)"]) < number(alone["se(accuracy)"])


def test_over_replicates_the_unit_of_values_does_not_matter(session: Session) -> None:
    """Accuracy in quarters, and as a percentage: the values of one are fractions and those of the other whole."""
    quarters, hundreds = (
        session.run(f"score {measure} for gpt on graded replicates interval").rows[0]
        for measure in ("share", "percent")
    )
    for name in ("se({})", "ci_low({})", "ci_high({})"):
        assert number(quarters[name.format("share")]) * 100 == pytest.approx(hundreds[name.format("percent")])
    assert 0 < number(quarters["se(share)"]) < 0.2


def test_over_folds_it_is_the_runs_that_vary(session: Session) -> None:
    (row,) = session.run("score accuracy for bert on folds replicates interval").rows
    values = np.array([right(0, document % 4, document) for document in range(DOCUMENTS)], dtype=float)
    of_runs = np.array([(values[run::4] - values.mean()).sum() for run in range(4)]) / DOCUMENTS
    expected = max(values.var() / DOCUMENTS, 4 / 3 * (of_runs**2).sum())
    assert row["accuracy"] == pytest.approx(values.mean())
    assert row["se(accuracy)"] == pytest.approx(sqrt(expected), rel=1e-5)


def test_a_system_is_resampled_on_its_own_documents(session: Session) -> None:
    result = session.run("score accuracy for bert.0, half, oracle on qa interval")
    rows = {row["system"]: row for row in result.rows}
    values = [right(0, 0, document) for document in range(0, DOCUMENTS, 2)]
    assert rows["half"]["se(accuracy)"] == pytest.approx(statistics.pstdev(values) / sqrt(len(values)), rel=1e-5)
    (alone,) = session.run("score accuracy for half on qa interval").rows
    assert rows["half"] == {**alone, "mark(accuracy)": "≠"}
    assert rows["oracle"]["se(accuracy)"] == 0.0
    low = stats.binomtest(DOCUMENTS, DOCUMENTS).proportion_ci(0.95, "wilson")[0]
    assert (rows["oracle"]["ci_low(accuracy)"], rows["oracle"]["ci_high(accuracy)"]) == (pytest.approx(low), 1.0)
    (resampled,) = session.run("score accuracy for oracle on qa interval percentile").rows
    assert resampled["ci_low(accuracy)"] is None


def test_who_has_no_interval_and_why(sample: Session) -> None:
    result = sample.run("score recall, auc of filtering for GE, allrel on TST3 interval")
    assert [row["ci_low(auc)"] for row in result.rows] == [None, None]
    assert result.notes[-2:] == (
        "auc on TST3: no interval: it comes from an order of the documents, not from sums over them",
        "expected values have no interval: allrel",
    )
    (row,) = sample.run("score F of published for GE on TST3 interval").rows
    assert row["se(F(beta=1))"] is None


def test_what_varies_is_said(sample: Session) -> None:
    caption = sample.run("score F for GE on TST3 interval percentile exchange by unit seed 3 level 0.2").caption
    assert caption == (
        "F(beta=1) on TST3: 100 messages; 80% CI percentile over units, 2,000 resamples, seed 3 "
        "(extraction, simulated data)"
    )


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("score accuracy on qa level 0.10", "level has no effect on score without interval"),
        ("score accuracy on qa seed 3", "seed has no effect on score without interval"),
        ("score accuracy on qa exchange by document.passage", "exchange has no effect on score without interval"),
        ("score accuracy on qa interval by document", "score has no intervals with by"),
        ("score accuracy on qa interval standardized", "standardized values have no intervals"),
        ("score accuracy on qa interval exchange by system", "system cannot be resampled"),
        ("score accuracy on qa replicates interval bca", "with replicates an interval must be studentized"),
    ],
)
def test_what_does_not_go_with_an_interval_is_said(session: Session, query: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        session.run(query)
    assert caught.value.message.startswith(said)
