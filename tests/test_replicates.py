"""Replicates are averaged document by document and tested across; standardized values have the properties that their
name promises.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance import replicates
from evalhouse.warehouse.significance.bootstrap.interval_kinds import IntervalPlan, find_interval
from evalhouse.warehouse.significance.draws import Draws, Sides
from tests.conftest import write_csv
from tests.empty import create

RUNS = {"bert": 3, "gpt": 2, "lone": 1}
DOCUMENTS = 12
Counts = dict[tuple[str, int, int], tuple[int, int, int]]


def counts() -> Counts:
    """Possible, actual and correct of each system, run and document; the second run of gpt lacks two documents."""
    source = np.random.default_rng(11)
    found = {}
    for system, many in RUNS.items():
        for run in range(many):
            for document in range(DOCUMENTS):
                possible, actual = 5 + document % 3, int(source.integers(1, 9))
                correct = int(source.integers(0, min(possible, actual) + 1))
                if not (system == "gpt" and run == 1 and document < 2):
                    found[system, run, document] = (possible, actual, correct)
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    rows = [("T", f"{s}.{r}", f"d{d}", *tuple_, 0) for (s, r, d), tuple_ in counts().items()]
    folds = [("folds", f"{s}.{r}", f"d{d}", *tuple_, 0) for (s, r, d), tuple_ in counts().items() if d % RUNS[s] == r]
    shared = [(f"{s}.{r}", s, r, f"{s}{r}") for s, many in RUNS.items() if many > 1 for r in range(many)]
    values = [("qa", f"{s}.{r}", f"d{d}", "accuracy", (7 * d + 3 * r + len(s)) % 10 / 10)
              for s, many in RUNS.items() for r in range(many) for d in range(9)]  # fmt: skip
    decisions = [("mail", f"{s}.{r}", f"d{d}", "yes" if (d + r) % 3 else "no")
                 for s, many in RUNS.items() for r in range(many) for d in range(9)]  # fmt: skip
    labels = [("mail", f"d{d}", "relevant" if d % 2 else "nonrelevant") for d in range(9)]
    with create(folder / "replicates.duckdb") as database:
        header = "test_set system document possible actual correct partial"
        load(database, write_csv(folder / "s.csv", header, rows), "scores")
        load(database, write_csv(folder / "f.csv", header, folds), "scores")
        load(database, write_csv(folder / "a.csv", "system replicate seed own", shared), "systems")
        load(database, write_csv(folder / "v.csv", "test_set system document measure value", values), "values")
        load(database, write_csv(folder / "d.csv", "test_set system document decision", decisions), "decisions")
        load(database, write_csv(folder / "l.csv", "test_set document label", labels), "labels")
    return folder / "replicates.duckdb"


@pytest.fixture
def session(path: Path) -> Iterator[Session]:
    with Session.open(path) as opened:
        yield opened


def f_of_mean_counts(system: str) -> Fraction:
    over = under = Fraction(0)
    for document in range(DOCUMENTS):
        here = [found for (s, _, d), found in counts().items() if (s, d) == (system, document)]
        over += Fraction(sum(2 * correct for _, _, correct in here), len(here))
        under += Fraction(sum(possible + actual for possible, actual, _ in here), len(here))
    return over / under


def f_of_run(system: str, run: int) -> float:
    here = [found for (s, r, _), found in counts().items() if (s, r) == (system, run)]
    return 2 * sum(correct for _, _, correct in here) / sum(possible + actual for possible, actual, _ in here)


def test_counts_are_averaged_document_by_document(session: Session) -> None:
    rows = session.run("score F, recall for all on T replicates").rows
    assert {row["system"]: row["F(beta=1)"] for row in rows} == {
        "bert": float(f_of_mean_counts("bert")),
        "gpt": float(f_of_mean_counts("gpt")),
        "lone.0": float(f_of_mean_counts("lone")),
    }
    assert {row["system"]: (row["replicates"], row["documents"]) for row in rows} == {
        "bert": (3, DOCUMENTS), "gpt": (2, DOCUMENTS), "lone.0": (1, DOCUMENTS),
    }  # fmt: skip
    deviation = {row["system"]: row["sd(F(beta=1))"] for row in rows}
    assert deviation["bert"] == pytest.approx(statistics.stdev(f_of_run("bert", run) for run in range(3)))
    assert deviation["lone.0"] is None


def test_folds_are_joined(session: Session) -> None:
    """Each document was tested in one fold, so the average over folds is the score of all documents together."""
    rows = {row["system"]: row for row in session.run("score F for bert on folds replicates").rows}
    here = [found for (s, r, d), found in counts().items() if s == "bert" and d % 3 == r]
    over = 2 * sum(correct for _, _, correct in here)
    assert rows["bert"]["F(beta=1)"] == over / sum(possible + actual for possible, actual, _ in here)
    assert rows["bert"]["documents"] == DOCUMENTS


def test_score_and_compare_give_the_same_values(session: Session) -> None:
    for question in ("F, mean(recall) {} on T", "accuracy {} on qa", "recall, F of filtering {} on mail"):
        scored = session.run(f"score {question.format('for all')} replicates")
        compared = session.run(f"compare {question.format('for bert, gpt')} replicates exact")
        of = {row["system"]: row for row in scored.rows}
        for row in compared.rows:
            assert row["value_a"] == pytest.approx(of["bert"][str(row["measure"])], abs=1e-14)
            assert row["value_b"] == pytest.approx(of["gpt"][str(row["measure"])], abs=1e-14)


def test_values_are_averaged(session: Session) -> None:
    [row] = session.run("score accuracy for gpt on qa replicates").rows
    assert row["accuracy"] == pytest.approx(
        statistics.fmean((7 * d + 3 * r + 3) % 10 / 10 for r in range(2) for d in range(9))
    )


def test_a_baseline_of_filtering_decides_as_often_as_the_replicates(session: Session) -> None:
    plain = session.run("score recall, precision for allrel on mail").rows[0]
    [row] = session.run("compare precision of filtering for gpt against allrel on mail replicates").rows
    assert row["value_b"] == plain["precision"]


def test_systems_of_one_run_are_compared_as_ever(session: Session) -> None:
    ever = session.run("compare F, recall for bert.0, lone.0 on T exact").rows
    alone = session.run("compare F, recall for bert0, lone.0 on T replicates by system.own exact").rows
    for before, now in zip(ever, alone, strict=True):
        assert now == {**before, "system_a": "bert0"}


def test_replicates_that_change_sides(session: Session) -> None:
    """Every division of three and two runs, in floating point by the definition."""
    [row] = session.run("compare F for bert, gpt on T replicates exchange by system").rows
    values = [f_of_run("bert", run) for run in range(3)] + [f_of_run("gpt", run) for run in range(2)]

    def difference(first: tuple[int, ...]) -> float:
        rest = [value for place, value in enumerate(values) if place not in first]
        return statistics.fmean(values[place] for place in first) - statistics.fmean(rest)

    observed = difference((0, 1, 2))
    found = [abs(difference(first)) >= abs(observed) - 1e-12 for first in combinations(range(5), 3)]
    assert (row["p"], row["method"], row["units"]) == (sum(found) / 10, "exact", 5)
    assert row["statistic"] == pytest.approx(observed)
    assert row["differing"] is None
    [studentized] = session.run("compare F for bert, gpt on T replicates exchange by system test studentized").rows
    welch = stats.ttest_ind(values[:3], values[3:], equal_var=False).statistic
    assert (studentized["method"], studentized["statistic"]) == ("exact", pytest.approx(welch))
    with pytest.raises(QueryError, match="a system has only one replicate"):
        session.run("compare F for bert, lone.0 on T replicates exchange by system test studentized")


@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
@pytest.mark.parametrize("sizes", [(3, 3), (4, 6), (2, 5)])
def test_divisions_agree_with_scipy(sizes: tuple[int, int], sides: Sides) -> None:
    source = np.random.default_rng(sizes)
    a, b = source.normal(0.5, 0.1, sizes[0]), source.normal(0.6, 0.1, sizes[1])

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        found: np.ndarray = x.mean(axis=axis) - y.mean(axis=axis)
        return np.abs(found) if sides == "two-sided" else found

    oracle = stats.permutation_test((a, b), difference, alternative="greater", n_resamples=np.inf, vectorized=True)
    found = replicates.replicate_test(a.tolist(), b.tolist(), sides=sides)
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.p >= replicates.smallest(*sizes, sides) * (1 - 1e-12)
    shuffled = replicates.replicate_test(a.tolist(), b.tolist(), Draws(20_000), sides=sides)
    assert shuffled.p == pytest.approx(found.p, abs=0.015)


@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
@pytest.mark.parametrize("sizes", [(3, 3), (4, 6), (2, 5)])
def test_studentized_divisions_agree_with_scipy(sizes: tuple[int, int], sides: Sides) -> None:
    """Welch's t over all divisions, and of the observed one."""
    source = np.random.default_rng(sizes)
    a, b = source.normal(0.5, 0.05, sizes[0]), source.normal(0.55, 0.15, sizes[1])

    def welch(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        found: np.ndarray = stats.ttest_ind(x, y, axis=axis, equal_var=False).statistic
        return np.abs(found) if sides == "two-sided" else found

    oracle = stats.permutation_test((a, b), welch, alternative="greater", n_resamples=np.inf, vectorized=True)
    found = replicates.replicate_test(a.tolist(), b.tolist(), sides=sides, studentized=True)
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.statistic == pytest.approx(stats.ttest_ind(a, b, equal_var=False).statistic)
    shuffled = replicates.replicate_test(a.tolist(), b.tolist(), Draws(20_000), sides, studentized=True)
    assert shuffled.p == pytest.approx(found.p, abs=0.015)


def test_studentized_divisions_never_divide_by_nothing() -> None:
    for studentized in (False, True):
        assert replicates.replicate_test([0.1] * 3, [0.1] * 4, studentized=studentized).p == 1.0
        apart = replicates.replicate_test([0.3] * 3, [0.1] * 3, studentized=studentized)
        assert apart.p == pytest.approx(2 / 20)
        behind = replicates.replicate_test([0.1] * 3, [0.3] * 3, sides="one-sided", studentized=studentized)
        assert behind.p == 1.0
    with pytest.raises(ValueError, match="only one replicate"):
        replicates.replicate_test([0.1], [0.2, 0.3], studentized=True)


@pytest.mark.parametrize("sizes", [(3, 3), (4, 6), (2, 5)])
def test_intervals_over_replicates_are_those_of_welch(sizes: tuple[int, int]) -> None:
    source = np.random.default_rng(sizes)
    values = [source.normal(0.5, 0.1, size).tolist() for size in sizes]
    oracle = stats.ttest_ind(*values, equal_var=False).confidence_interval(0.9)
    limits = replicates.replicate_intervals(values, [(0, 1), (1, 0)], IntervalPlan(0.1), Draws(2000))
    assert (limits.low[0], limits.high[0]) == pytest.approx((oracle.low, oracle.high))
    assert (limits.low[1], limits.high[1]) == (-limits.high[0], -limits.low[0])
    percentile = IntervalPlan(0.1, find_interval("percentile"))
    both = replicates.replicate_intervals(values, [(0, 1), (1, 0)], percentile, Draws(2000))
    assert (both.low[1], both.high[1]) == (-both.high[0], -both.low[0])
    assert oracle.low < both.low[0] < both.high[0] < oracle.high


def test_what_is_alike_ties_and_what_cannot_be_counted_is_refused() -> None:
    assert replicates.replicate_test([0.1] * 3, [0.1] * 4).p == 1.0
    alike, percentile = [[0.5, 0.5], [0.25, 0.25]], IntervalPlan(kind=find_interval("percentile"))
    limits = replicates.replicate_intervals(alike, [(0, 1)], percentile, Draws(2000))
    assert (limits.low[0], limits.high[0]) == (0.25, 0.25)
    assert np.isnan(replicates.replicate_intervals(alike, [(0, 1)], IntervalPlan(), Draws(2000)).low[0])
    with pytest.raises(ValueError, match="too many to go through"):
        replicates.replicate_test([0.0] * 20, [1.0] * 20)
    with pytest.raises(ValueError, match="no replicate"):
        replicates.replicate_test([], [1.0])


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("score F for bert.0 on T replicates", "bert.0 is a replicate here, not a system"),
        ("score F for all on T replicates by document.x", "replicates are runs that share an attribute of systems"),
        ("score F for all on T replicates by system", "replicates are runs that share an attribute of systems"),
        ("score F for all on T replicates by system.size", "unknown attribute 'system.size'"),
        ("score F for all on T replicates by system.replicate by system.seed", "system.seed differs between"),
        ('compare F for bert, gpt on T replicates where system.seed = 1', "system.seed differs between replicates"),
        ("compare F for bert.0, gpt.0 on T exchange by system", "exchange by system needs replicates"),
        (
            "compare recall for bert, gpt on T replicates exchange by system test wilcoxon",
            "exchange by system works only",
        ),
        ("score auc for all on mail replicates", "auc is not computed from sums, so it cannot have replicates"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_replicates_is_said(session: Session, query: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        session.run(query)
    assert caught.value.message.startswith(said)


def test_a_name_that_is_both_a_system_and_shared_is_refused(tmp_path: Path) -> None:
    header = "test_set system document possible actual correct partial"
    rows = [("T", system, f"d{d}", 3, 3, d, 0) for system in ("bert", "bert.1", "bert.2") for d in range(3)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "s.csv", header, rows), "scores")
        of = write_csv(tmp_path / "a.csv", "system replicate", [("bert.1", "bert"), ("bert.2", "bert")])
        load(database, of, "systems")
    with Session.open(tmp_path / "w.duckdb") as opened, pytest.raises(QueryError, match="bert is a system, and also"):
        opened.run("score F for all on T replicates")


def test_test_sets_of_printed_figures_alone_are_left_out_unless_they_are_named() -> None:
    with Session.open() as sample:
        rows = sample.run("score F for all on all replicates by system.muc3").rows
        with pytest.raises(QueryError, match="published figures have no documents"):
            sample.run("score F for all on TST2, TST3 replicates by system.muc3")
    assert [row["test_set"] for row in rows] == ["TST3", "TST3", "TST4", "TST4"]


# --- standardized values ----------------------------------------------------------------------------------------------


def number(value: object) -> float:
    assert isinstance(value, float)
    return value


def test_standardized_values_have_the_mean_0_and_the_deviation_1() -> None:
    with Session.open() as sample:
        plain = {row["system"]: number(row["recall"]) for row in sample.run("score recall for all on TST3").rows}
        result = sample.run("score recall for all on TST3 standardized")
        found = {row["system"]: row["z(recall)"] for row in result.rows}
        some = sample.run("score recall for GE, UMASS on TST3 standardized").rows
    mean, deviation = statistics.fmean(plain.values()), statistics.stdev(plain.values())
    assert found == {system: pytest.approx((value - mean) / deviation) for system, value in plain.items()}
    assert {row["system"]: row["z(recall)"] for row in some} == {system: found[system] for system in ("GE", "UMASS")}


def test_the_summary_averages_over_test_sets() -> None:
    with Session.open() as sample:
        result = sample.run("score F for GE, SRI on MUC-*.TST* standardized")
    printed = {"published": "figures as printed", "documents": "extraction"}
    for row in result.summary:
        own = [each for each in result.rows if each["system"] == row["system"]]
        values = [
            number(each["z(F(beta=1))"]) for each in own if str(row["origin"]).endswith(printed[str(each["source"])])
        ]
        assert (row["test_sets"], row["z(F(beta=1))"]) == (len(values), pytest.approx(statistics.fmean(values)))
    assert len(result.summary) == 2 * len({row["origin"] for row in result.summary})


def test_each_document_is_standardized_by_itself(session: Session) -> None:
    rows = session.run("score recall for all on T by document standardized").rows
    for document in {row["document"] for row in rows}:
        here = [
            number(row["z(recall)"]) for row in rows if row["document"] == document and row["z(recall)"] is not None
        ]
        assert statistics.fmean(here) == pytest.approx(0.0, abs=1e-12)
        assert statistics.stdev(here) == pytest.approx(1.0)


def test_systems_that_are_alike_have_no_standardized_value(tmp_path: Path) -> None:
    header = "test_set system document possible actual correct partial"
    rows = [("T", system, f"d{d}", 3, 3, d, 0) for system in ("x", "y", "z") for d in range(3)]
    with create(tmp_path / "w.duckdb") as database:
        load(database, write_csv(tmp_path / "s.csv", header, rows), "scores")
    with Session.open(tmp_path / "w.duckdb") as opened:
        result = opened.run("score F for all on T standardized")
    assert [row["z(F(beta=1))"] for row in result.rows] == [None, None, None]
    assert result.notes == ("F(beta=1) cannot be standardized on T: that needs two systems with different values",)


@pytest.mark.long
def test_functions_see_the_averages_of_counts_and_not_their_multiples(session: Session) -> None:
    """The square root of a count that is averaged over runs, document by document, and of a single run."""
    define = "define measure Root = sqrt(correct) + 0 * actual; "
    rows = session.run(define + "score Root on T replicates").rows
    for row in rows:
        system = str(row["system"]).partition(".")[0]
        total = Fraction(0)
        for document in range(DOCUMENTS):
            here = [count for (s, _, d), count in counts().items() if (s, d) == (system, document)]
            total += Fraction(sum(correct for _, _, correct in here), len(here)) if here else 0
        assert row["Root"] == pytest.approx(float(total) ** 0.5)
    (run,) = session.run(define + "score Root for bert.0 on T").rows
    alone = sum(correct for (s, r, _), (_, _, correct) in counts().items() if (s, r) == ("bert", 0))
    assert run["Root"] == pytest.approx(alone**0.5)
    (compared,) = session.run(define + "compare Root for bert, gpt on T replicates missing drop shuffles 99").rows
    values = {row["system"]: row["Root"] for row in session.run(define + "score Root on T replicates").rows}
    assert compared["value_a"] == pytest.approx(values["bert"])


# --- from one test set to another -------------------------------------------------------------------------------------


def test_replicates_are_carried_over_to_another_test_set(session: Session) -> None:
    """By the names that they share, whichever runs each test set has."""
    result = session.run("replicate F for bert, gpt from T to folds replicates shuffles 99 adjust holm missing drop")
    (row,) = result.rows
    for test_set, difference in (("T", row["difference_from"]), ("folds", row["difference_to"])):
        question = f"compare F for bert, gpt on {test_set} replicates shuffles 99 missing drop"
        assert session.run(question).rows[0]["difference"] == difference
    assert result.caption.startswith(
        "which differences in F(beta=1) on T hold on folds: randomization test, 99 shuffles, 12 documents exchanged "
        "on T, 11 documents exchanged on folds, two-sided, level 0.05; missing documents left out; Holm-adjusted "
        "within families of 1 comparison; seed "
    )
    for test_set in ("T", "folds"):
        assert f"{test_set}: each system is the average of its replicates by system.replicate" in result.notes
