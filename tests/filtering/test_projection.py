"""Projection to other generalities: its laws, values by hand, and what Lewis and Tong (1992) quote."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.filtering.projection import growth, project, project_fallout
from evalhouse.warehouse.measures import MEASURES, Function, Measure, Ratio, find_measure, settle
from evalhouse.warehouse.measures.filtering import FILTERING, OPTIONAL
from evalhouse.warehouse.measures.forms import Call, Constant, Count, Operation

COUNTS = st.integers(0, 50)
POSITIVE = st.floats(0.01, 0.99)


def formula(name: str, **settings: Decimal | str) -> Ratio | Function:
    measure = find_measure(name, "filtering")
    assert measure is not None
    computation = settle(measure, settings).computation
    assert isinstance(computation, Ratio | Function)
    return computation


def projected(name: str, recall: float, fallout: float, to: float, **settings: Decimal | str) -> float:
    return float(project(formula(name, **settings), np.array(recall), np.array(fallout), np.array(to)))


def scaled(fallout: float, start: float, to: float, exponent: float) -> float:
    return float(project_fallout(np.array(fallout), np.array(start), np.array(to), exponent))


UNPROJECTED = {"auc", "T9U", "brier", "log-loss", "ECE"}
"""Those that are no function of counts, and one that depends on how many documents there are."""

SUMMED = [measure for measure in FILTERING if measure.name not in UNPROJECTED]


@given(
    measure=st.sampled_from(SUMMED),
    optional=st.sampled_from(list(OPTIONAL)),
    a=COUNTS,
    b=COUNTS,
    c=COUNTS,
    d=COUNTS,
    x=COUNTS,
    y=COUNTS,
)
def test_projection_to_where_it_was_measured_gives_every_measure_back(
    measure: Measure, optional: str, a: int, b: int, c: int, d: int, x: int, y: int
) -> None:
    counts = {"a": a, "b": b, "c": c, "d": d, "x": x, "y": y}
    computation = settle(measure, {"optional": optional}).computation
    assert isinstance(computation, Ratio | Function)
    table = OPTIONAL[optional]
    h, f, m, r = (
        sum(int(weight) * counts[cell] for cell, weight in form.terms)
        for form in (table.hits, table.false_alarms, table.misses, table.rejections)
    )
    if not (h + m and f + r):
        return
    value = computation.value([sum(weight * counts[cell] for cell, weight in form) for form in computation.forms])
    shares = (np.array(share) for share in (h / (h + m), f / (f + r), (h + m) / (h + f + m + r)))
    back = float(project(computation, *shares))
    times = h + f + m + r if growth(computation) == "sum" else 1
    assert back == pytest.approx(np.nan if value is None else value / times, abs=1e-9, nan_ok=True)


@given(recall=POSITIVE, fallout=POSITIVE, low=POSITIVE, high=POSITIVE)
def test_projected_precision_falls_with_generality(recall: float, fallout: float, low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert projected("precision", recall, fallout, low) <= projected("precision", recall, fallout, high) * (1 + 1e-12)


@given(share=POSITIVE, to=st.floats(0, 1))
def test_guessing_stays_guessing_at_every_generality(share: float, to: float) -> None:
    assert projected("precision", share, share, to) == pytest.approx(to)
    assert projected("kappa", share, share, to) == pytest.approx(0, abs=1e-9)


def test_projection_by_hand() -> None:
    # 0.8 · 0.1 / (0.8 · 0.1 + 0.2 · 0.9) = 0.08 / 0.26
    assert projected("precision", 0.8, 0.2, 0.1) == pytest.approx(4 / 13)
    assert projected("F", 0.8, 0.2, 0.1) == pytest.approx(2 * (4 / 13) * 0.8 / (4 / 13 + 0.8))
    assert projected("F", 0.8, 0.2, 0.1, beta=Decimal(2)) == pytest.approx(5 * (4 / 13) * 0.8 / (4 * (4 / 13) + 0.8))
    assert projected("accuracy", 0.8, 0.2, 0.1) == pytest.approx(0.8)
    # (0.08 · 0.72 − 0.18 · 0.02) / √(0.26 · 0.1 · 0.9 · 0.74)
    assert projected("MCC", 0.8, 0.2, 0.1) == pytest.approx(0.054 / np.sqrt(0.26 * 0.1 * 0.9 * 0.74))
    # With exponent 1 fallout falls to a fifth: 0.08 / (0.08 + 0.04 · 0.9)
    assert projected("precision", 0.8, scaled(0.2, 0.5, 0.1, 1), 0.1) == pytest.approx(0.08 / 0.116)


def test_at_generality_0_and_1_some_measures_are_defined() -> None:
    at = {name: [projected(name, 0.8, 0.2, to) for to in (0.0, 1.0)] for name in ("precision", "F", "recall", "MCC")}
    assert at["precision"] == pytest.approx([0.0, 1.0])
    assert at["F"] == pytest.approx([0.0, 1.6 / 1.8])
    assert at["recall"] == pytest.approx([np.nan, 0.8], nan_ok=True)
    assert at["MCC"] == [0.0, 0.0]
    assert [projected("fallout", 0.8, 0.2, to) for to in (0.0, 1.0)] == pytest.approx([0.2, np.nan], nan_ok=True)


def test_a_measure_that_depends_on_how_many_documents_there_are_cannot_be_projected() -> None:
    a, b = Count("a"), Count("b")
    utility = Operation(Operation(Constant(2), "*", a), "-", b)  # type: ignore[arg-type]
    assert growth(Function(utility)) == "sum"
    assert growth(Function(Call("max", (utility, Constant(-100))))) is None  # type: ignore[arg-type]
    assert growth(Function(Operation(a, "*", b))) is None
    assert {growth(formula(measure.name)) for measure in SUMMED if measure.within is not None} == {"share"}


def test_salton_found_fallout_to_fall_by_2_to_3_where_generality_fell_by_7() -> None:
    assert 2 < 0.3 / scaled(0.3, 0.7, 0.1, 0.45) < 3
    assert 0.3 / scaled(0.3, 0.7, 0.1, 0.36) == pytest.approx(2, abs=0.02)
    assert 0.3 / scaled(0.3, 0.7, 0.1, 0.56) == pytest.approx(3, abs=0.03)


def test_projected_fallout_is_at_most_1() -> None:
    assert scaled(0.5, 0.1, 0.9, 1) == 1.0
    assert scaled(0.5, 1e-300, 1.0, 1000.0) == 1.0
    assert scaled(0.5, 0.5, 0.0, -1) == 1.0
    assert scaled(0.0, 0.5, 0.0, -1) == 0.0
    assert scaled(0.5, 0.5, 0.0, 1) == 0.0
    assert scaled(0.5, 0.5, 0.5, 3) == 0.5


def test_projection_is_undefined_where_nothing_is_decided_yes() -> None:
    assert np.isnan(projected("precision", 0.0, 0.0, 0.1))
    assert np.isnan(projected("precision", 0.9, 0.0, 0.0))
    assert projected("precision", 0.0, 0.2, 0.1) == 0.0
    # As `score` has it: nothing found of what there is.
    assert projected("F", 0.0, 0.2, 0.1) == 0.0


def test_projection_refuses_what_is_no_proportion() -> None:
    with pytest.raises(ValueError, match=r"recall is 80\.0 and must be between 0 and 1"):
        projected("precision", 80, 0.2, 0.1)
    with pytest.raises(ValueError, match="generality is nan"):
        projected("precision", 0.8, 0.2, float("nan"))
    with pytest.raises(ValueError, match="exponent is inf"):
        scaled(0.2, 0.5, 0.1, float("inf"))
    with pytest.raises(ValueError, match="cannot be scaled from a generality of 0"):
        scaled(0.2, 0.0, 0.1, 1.0)


def test_every_measure_of_filtering_is_either_projected_or_known_not_to_be() -> None:
    not_projected = {
        measure.name
        for measure in MEASURES
        if measure.kind == "filtering"
        and not (isinstance(of := settle(measure, {}).computation, Ratio | Function) and growth(of))
    }
    assert not_projected == UNPROJECTED
