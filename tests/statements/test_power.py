"""`power`: what is resampled for each kind of measure, what cannot be asked, and which settings never change the
result.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

import evalhouse as eh
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Path as Line
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.power.pilots import limits_of_variance
from tests.conftest import WithValues

Open = Callable[..., Session]


@pytest.fixture
def opened(with_values: WithValues) -> Open:
    """A warehouse of values by system, on one test set."""

    def of_systems(systems: dict[str, list[float]], measure: str = "m") -> Session:
        return with_values(
            ("t", system, f"d{place:04}", measure, value)
            for system, values in systems.items()
            for place, value in enumerate(values)
        )

    return of_systems


def normal(size: int, mean: float, deviation: float, seed: int) -> list[float]:
    random = Random(seed)
    return [round(random.gauss(mean, deviation), 4) for _ in range(size)]


def powers(result: Result) -> list[Cell]:
    return [row["power"] for row in result.rows]


@pytest.mark.long
def test_values_have_the_power_of_the_t_test(opened: Open) -> None:
    systems = {"A": normal(800, 5, 2, 1), "B": normal(800, 5, 1, 2)}
    deviation = stats.tstd([a - b for a, b in zip(systems["A"], systems["B"], strict=True)])
    with opened(systems) as session:
        result = session.run("power m for A, B on t detect 0.2, 0.3 documents 100, 400, 1500 power 0.9")
    for row in result.rows:
        amount, documents = float(row["detect"] or 0), int(row["documents"] or 0)
        expected = TTestPower().power(amount / deviation, documents, 0.05)
        assert row["power"] == pytest.approx(expected, abs=4 * sqrt(0.25 / 2000))
    for row in result.summary:
        expected = TTestPower().solve_power(float(row["detect"] or 0) / deviation, alpha=0.05, power=0.9)
        assert row["documents_needed"] == pytest.approx(expected, rel=0.1)
        detectable = TTestPower().solve_power(nobs=800, alpha=0.05, power=0.9) * deviation
        assert row["detectable"] == pytest.approx(detectable, rel=0.06)
    assert "800 documents resampled and shifted" in result.caption


@pytest.mark.long
def test_the_observed_difference_decides_nothing(opened: Open) -> None:
    """Values that are higher by any amount have the same power."""
    a, b = normal(60, 5, 2, 1), normal(60, 5, 1, 2)
    with opened({"A": a, "B": b, "C": [round(value + 4, 4) for value in a]}) as session:
        as_they_are, higher = (
            session.run(f"power m for {system}, B on t detect 0.5 documents 40") for system in ("A", "C")
        )
    assert powers(as_they_are) == pytest.approx(powers(higher))
    assert as_they_are.summary[0]["documents_needed"] == higher.summary[0]["documents_needed"]


@pytest.mark.long
def test_a_lower_value_may_be_the_better(with_values: WithValues) -> None:
    """Differences are skewed, so it matters which of the systems is to be the better."""
    random = Random(3)
    values = [round(random.expovariate(1) ** 3, 3) for _ in range(40)]
    rows = [
        ("t", system, f"d{place:02}", measure, sign * value)
        for measure, sign in (("m", 1), ("latency", 1), ("negative", -1))
        for place, skewed in enumerate(values)
        for system, value in (("A", skewed), ("B", 1.0))
    ]
    with with_values(rows) as session:
        higher, lower, negative = (
            session.run(f"power {measure} for A, B on t detect 2 documents 15 one-sided")
            for measure in ("m", "latency", "negative")
        )
    assert powers(lower) == powers(negative) != powers(higher)
    assert "lower latency is better" in lower.notes


@pytest.mark.long
def test_systems_that_never_differ_have_no_power(opened: Open) -> None:
    same = normal(30, 1, 1, 4)
    with opened({"A": same, "B": same, "C": normal(30, 1, 1, 5)}) as session:
        with pytest.raises(QueryError, match="A and B do not differ in m on any document of t, so nothing is known"):
            session.run("power m for A, B on t")
        result = session.run("power m for A, B, C on t detect 1 documents 30")
    assert [(row["system_a"], row["system_b"]) for row in result.rows] == [("A", "C"), ("B", "C")]
    assert "A and B do not differ in m on any document of t" in result.notes


def test_documents_that_only_one_system_has(with_values: WithValues) -> None:
    rows = [("t", "A", "d1", "m", 1.0), ("t", "A", "d2", "m", 2.0), ("t", "B", "d3", "m", 1.0)]
    with with_values(rows) as session:
        with pytest.raises(QueryError, match="3 documents of t are missing for some systems"):
            session.run("power m for A, B on t detect 1")
        with pytest.raises(QueryError, match="the systems have no document of t in common"):
            session.run("power m for A, B on t detect 1 missing drop")


def test_right_or_wrong_keeps_what_is_right_or_wrong(opened: Open) -> None:
    answers = {"A": [1.0] * 70 + [0.0] * 30, "B": [1.0] * 60 + [0.0] * 30 + [1.0] * 10}
    with opened(answers) as session:
        result = session.run("power m for A, B on t detect 0.15, 0.3 documents 100")
    assert "resampled and oriented" in result.caption
    assert result.rows[0]["power"] == pytest.approx(0.925, abs=0.04)
    assert (result.rows[1]["power"], result.rows[1]["exaggeration"]) == (None, None)
    assert any("0.3 is out of reach" in note and "they would differ by only 0.2" in note for note in result.notes)


@pytest.mark.long
def test_what_else_is_asked_changes_no_power(opened: Open) -> None:
    with opened({"A": normal(50, 1, 1, 6), "B": normal(50, 1, 1, 7), "C": normal(50, 1, 1, 8)}) as session:
        alone = powers(session.run("power m for A, B on t detect 0.4 documents 80"))
        among = session.run("power m for A, C, B on t detect 0.2, 0.4 documents 20, 80")
        assert [
            row["power"]
            for row in among.rows
            if (row["system_a"], row["system_b"], row["detect"], row["documents"]) == ("A", "B", 0.4, 80)
        ] == alone
        assert powers(session.run("power m for A, B on t detect 0.4 documents 80 seed 1")) != alone


@pytest.mark.long
def test_a_stricter_level_a_worse_test_and_shuffles_cost_power(opened: Open) -> None:
    with opened({"A": normal(60, 1, 1, 9), "B": normal(60, 1, 1, 10)}) as session:
        plain, strict, few, directed = (
            powers(session.run(f"power m for A, B on t detect 0.6 documents 60 {how}"))[0]
            for how in ("", "level 0.01", "shuffles 199", "one-sided")
        )
    assert isinstance(plain, float)
    assert isinstance(strict, float)
    assert isinstance(few, float)
    assert isinstance(directed, float)
    assert strict < plain < directed
    assert few < plain


@pytest.mark.long
def test_the_picture_has_a_curve_for_each_difference_and_marks_what_there_is(opened: Open, tmp_path: Path) -> None:
    with opened({"A": normal(50, 1, 1, 6), "B": normal(50, 1, 1, 7)}) as session:
        chart = session.run("plot power m for A, B on t detect 0.2, 0.4 documents 20, 80, 200").chart
    assert chart is not None
    (panel,) = chart.panels
    lines = {line.name: line for line in panel.marks_of(Line)}
    assert lines.keys() == {"wanted", "there are 50", "0.2", "0.4"}
    assert lines["there are 50"].points[0][0] == 50
    assert [x for x, _ in lines["0.4"].points] == [20, 80, 200]
    assert panel.x.log


def test_the_unit_of_values_does_not_matter(with_values: WithValues) -> None:
    """However small they are: fourth powers of such values are 0."""
    scales = {f"times {scale}": scale for scale in (1.0, 1e-310, 1e-300, 1e-200, 1e-80)}
    systems = {"A": [2, 3, 1, 6, 4, 8, 5, 3], "B": [0, 1, 1, 0, 3, 0, 2, 1]}
    rows = [
        (test_set, system, f"d{place}", "m", value * unit)
        for test_set, unit in scales.items()
        for system, values in systems.items()
        for place, value in enumerate(values)
    ]
    with with_values(rows) as session:
        plain, *scaled = (session.run(f'power m for A, B on "{test_set}"') for test_set in scales)
    for scale, result in zip([*scales.values()][1:], scaled, strict=True):
        assert [row["documents"] for row in result.rows] == [row["documents"] for row in plain.rows]
        for one, other in zip(plain.rows, result.rows, strict=True):
            assert float(other["detect"] or 0) == pytest.approx(float(one["detect"] or 0) * scale)
            assert float(other["power"] or 0) == pytest.approx(float(one["power"] or 0), abs=0.05)
        assert not any("observed difference" in note for note in result.notes)


def test_whole_clusters_are_resampled() -> None:
    """The power of ten passages with three questions each, all of them right or wrong, is that of ten documents."""
    right = {"new": "1110111011", "base": "0110001010"}
    rows = [
        {"system": system, "document": f"d{place}-{k}", "passage": f"p{place}", "accuracy": int(mark)}
        for system, marks in right.items()
        for place, mark in enumerate(marks)
        for k in range(3)
    ]
    clustered = eh.power(rows, "accuracy", "new", "base", cluster="passage", detect=0.2, documents=30)
    single = [row for row in rows if str(row["document"]).endswith("-0")]
    alone = eh.power(single, "accuracy", "new", "base", detect=0.2, documents=10)
    assert "10 passages (30 documents) resampled" in clustered.caption
    assert [row["power"] for row in clustered.rows] == pytest.approx([row["power"] for row in alone.rows], abs=0.05)


def test_the_number_that_is_needed_has_limits(opened: Open) -> None:
    """Those of a variance; nothing is told of fewer than six documents."""
    with opened({"A": [2, 3, 1, 6, 4, 8, 5, 3], "B": [0, 1, 0, 0, 3, 0, 2, 1]}) as session:
        (row,) = session.run("power m for A, B on t detect 1").summary
        differences = np.array([2, 2, 1, 6, 1, 8, 3, 2])
        centred = differences - differences.mean()
        low, high = limits_of_variance(8, float(np.mean(centred**4) / np.mean(centred**2) ** 2))
        needed = float(row["documents_needed"])  # type: ignore[arg-type]
        limits = row["documents_needed_low"], row["documents_needed_high"]
        assert limits == pytest.approx((low * needed, high * needed), abs=1)
        with pytest.raises(QueryError, match="t has 5 documents, and power needs at least 6"):
            session.run('power m for A, B on t detect 1 where document >= "d0003"')
