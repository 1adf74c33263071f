"""Curves over thresholds compared with scikit-learn, SciPy, R's pROC, and a trial of every threshold and document."""

from __future__ import annotations

import shutil
import subprocess
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from scipy.stats import binomtest
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve

from evalhouse.warehouse.comparing.curves import LABELS, curve_measure
from evalhouse.warehouse.measures import Measure, find_measure, settle
from evalhouse.warehouse.measures.filtering import sides
from evalhouse.warehouse.significance import curves as curve_kernels
from evalhouse.warehouse.significance.areas import one_area
from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.curves import (
    CurveMeasure,
    Curves,
    Thresholds,
    curves,
    redraw_tables,
    score_interval,
)
from evalhouse.warehouse.significance.draws import ALONE, Draws


def measure(name: str, **settings: str) -> CurveMeasure:
    found = find_measure(name, "filtering")
    assert found is not None
    return curve_measure(settle(found, settings))


def utility() -> Measure:
    found = find_measure("utility", "filtering")
    assert found is not None
    return found


RECALL, PRECISION, F, FALLOUT = map(measure, ("recall", "precision", "F", "fallout"))
MCC = measure("MCC", constant="undefined")


class Filtered(Struct):
    """What a system has: confidences, the kinds of documents, and its decisions."""

    confidence: Floats
    kind: np.ndarray
    yes: Booleans

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds.of(self.confidence, self.kind, self.yes)


def filtered(documents: int = 120, seed: int = 5, digits: int = 1, optional: float = 0.1) -> Filtered:
    source = np.random.default_rng(seed)
    relevant = source.random(documents) < 0.3
    confidence = np.round(source.normal(size=documents) + 1.2 * relevant, digits)
    kind = np.where(relevant, 0, np.where(source.random(documents) < optional, 2, 1)).astype(np.int8)
    return Filtered(confidence, kind, confidence + 0.3 * source.normal(size=documents) > 0.6)


def table_at(data: Filtered, yes: Booleans) -> Floats:
    """The six cells of some decisions, counted one by one."""
    cells = ((yes, 0), (yes, 1), (~yes, 0), (~yes, 1), (yes, 2), (~yes, 2))
    return np.array([float((said & (data.kind == kind)).sum()) for said, kind in cells])


# --- thresholds -------------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(0, 1), st.integers(0, 1000))
def test_every_place_holds_what_its_threshold_decides(documents: int, digits: int, seed: int) -> None:
    data = filtered(documents, seed, digits)
    found = data.thresholds
    assert (np.diff(found.at) < 0).all()
    assert (found.cells[:, 0] == table_at(data, np.zeros(documents, dtype=bool))).all()
    for place, at in enumerate(found.at, 1):
        assert (found.cells[:, place] == table_at(data, data.confidence >= at)).all()
    assert (found.own == table_at(data, data.yes)).all()


@given(st.integers(1, 30), st.integers(0, 1000))
def test_contradictions_are_the_fewest_decisions_that_would_change(documents: int, seed: int) -> None:
    data = filtered(documents, seed)
    cuts = [np.zeros(documents, dtype=bool), *(data.confidence >= at for at in data.confidence)]
    assert data.thresholds.contradicting == min(int((cut != data.yes).sum()) for cut in cuts)


def test_points_are_those_of_scikit_learn() -> None:
    data = filtered(optional=0)
    found, relevant = data.thresholds, data.kind == 0
    precision, recall, at = precision_recall_curve(relevant, data.confidence)
    assert at == pytest.approx(found.at[::-1])
    assert RECALL.values(found.cells)[:0:-1] == pytest.approx(recall[:-1])
    assert PRECISION.values(found.cells)[:0:-1] == pytest.approx(precision[:-1])
    false, true, _ = roc_curve(relevant, data.confidence, drop_intermediate=False)
    assert FALLOUT.values(found.cells) == pytest.approx(false)
    assert RECALL.values(found.cells) == pytest.approx(true)


def test_decisions_alone_are_one_threshold() -> None:
    data = filtered()
    found = Thresholds.of_decisions(data.kind, data.yes)
    assert found.at.tolist() == [1.0, 0.0]
    assert (found.cells[:, 1] == found.own).all()


def test_confidences_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        Thresholds.of(np.array([0.5, np.nan]), np.zeros(2, np.int8), np.ones(2, dtype=bool))
    with pytest.raises(ValueError, match="need documents"):
        Thresholds.of(np.array([]), np.zeros(0, np.int8), np.ones(0, dtype=bool))


# --- intervals of one share -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "method"), [(0.0, "wilson"), (0.5, "wilsoncc")])
def test_intervals_of_shares_are_those_of_scipy(steps: float, method: str) -> None:
    for hits, trials in ((0, 10), (3, 10), (10, 10), (47, 211)):
        low, high = score_interval(np.array([hits / trials]), np.array([float(trials)]), 1.959963984540054, steps)
        known = binomtest(hits, trials).proportion_ci(0.95, method=method)
        assert (low[0], high[0]) == pytest.approx((known.low, known.high), abs=1e-9)


def test_f_has_as_many_trials_as_its_variance_says() -> None:
    """The variance of F by the delta method, from the influence of each kind of document."""
    cells = np.array([30.0, 12.0, 9.0, 70.0, 4.0, 5.0])[:, None]
    value = float(F.values(cells)[0])
    over, under = F.forms
    total = float((under @ cells)[0])
    influence = (2 * over - value * under) / total
    variance = float((influence**2) @ cells[:, 0])
    assert F.share
    assert value * (1 - value) / float(F.trials(cells)[0]) == pytest.approx(variance)
    assert not MCC.share


# --- areas ------------------------------------------------------------------------------------------------------------


@given(st.integers(2, 40), st.integers(0, 1000))
def test_area_under_precision_is_what_fine_steps_add_up_to(documents: int, seed: int) -> None:
    found = filtered(documents, seed).thresholds.decided
    relevant, nonrelevant = found[0].astype(float), found[1].astype(float)
    area = float(curve_kernels.area(relevant, nonrelevant))
    if not relevant[-1]:
        assert np.isnan(area)
        return
    steps = np.linspace(0, len(relevant) - 1, 500 * (len(relevant) - 1) + 1)
    middles = (steps[1:] + steps[:-1]) / 2
    hits, false = (np.interp(middles, np.arange(len(of)), of) for of in (relevant, nonrelevant))
    more = np.diff(np.interp(steps, np.arange(len(relevant)), relevant)) / relevant[-1]
    assert area == pytest.approx(float(np.sum(hits / np.maximum(hits + false, 1e-9) * more)), abs=1e-4)


def test_straight_lines_between_thresholds_would_promise_too_much() -> None:
    """Davis and Goadrich's (2006, table 1) points: TP 5 and FP 5, TP 10 and FP 30, of 20 relevant documents."""
    area = float(curve_kernels.area(np.array([5.0, 10.0]), np.array([5.0, 30.0])) * 10 / 20)
    precisions = [(5 + step) / (10 + 6 * step) for step in range(6)]
    assert precisions == pytest.approx([0.5, 0.375, 0.3182, 0.2857, 0.2647, 0.25], abs=1e-4)
    assert area < 0.25 * (0.5 + 0.25) / 2


R_SCRIPT = """
suppressMessages(library(pROC))
i <- 0:59
y <- as.integer((i * 7 + 3) %% 10 < 4)
a <- ((i * 37) %% 60) / 80 + 0.25 * y
b <- (i * 23) %% 12 + y
for (x in list(a, b)) {
  found <- ci.auc(roc(y, x, levels = c(0, 1), direction = "<", quiet = TRUE), method = "delong")
  cat(format(as.numeric(found), digits = 15), "\\n")
}
"""

SAID_BY_R = (
    (0.695015784423574, 0.805555555555556, 0.916095326687537),
    (0.431334169479509, 0.579861111111111, 0.728388052742713),
)
"""What R_SCRIPT prints with R 4.2.2 and pROC 1.18.0: the lower limit, the area, the upper limit."""


def areas_of_r() -> list[tuple[float, float, float]]:
    number = np.arange(60)
    relevant = (number * 7 + 3) % 10 < 4
    first = ((number * 37) % 60) / 80 + 0.25 * relevant
    second = (number * 23) % 12 + relevant.astype(float)
    found = []
    for confidence in (first, second):
        area = one_area(confidence[relevant], confidence[~relevant], 0.05)
        assert area is not None
        assert area[0] == pytest.approx(roc_auc_score(relevant, confidence))
        found.append((area[1], area[0], area[2]))
    return found


def test_areas_have_the_intervals_of_proc() -> None:
    for own, theirs in zip(areas_of_r(), SAID_BY_R, strict=True):
        assert own == pytest.approx(theirs, abs=1e-12)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_says_what_was_recorded() -> None:
    done = subprocess.run(["Rscript", "-e", R_SCRIPT], capture_output=True, text=True, check=False)
    if "no package" in done.stderr:
        pytest.skip("R has no pROC")
    printed = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    assert printed == [pytest.approx(known, abs=1e-12) for known in SAID_BY_R]


def test_few_documents_have_an_area_without_interval() -> None:
    assert one_area(np.array([1.0]), np.array([]), 0.05) is None
    area, low, high = one_area(np.array([1.0, 0.5]), np.array([0.5, 0.1]), 0.05) or (0.0, 0.0, 0.0)
    assert area == 0.875
    assert np.isnan([low, high]).all()


# --- bands and the best threshold -------------------------------------------------------------------------------------


def asked(data: Filtered, *measures: CurveMeasure, level: float = 0.05, resamples: int = 300) -> Curves:
    return curves(data.thresholds, measures, 0, Draws(resamples), level)


def test_the_best_threshold_is_the_best_of_all() -> None:
    for seed in range(8):
        data = filtered(seed=seed)
        for one in (F, MCC, FALLOUT):
            found, values = asked(data, one), one.values(data.thresholds.cells.astype(float))
            assert found.best is not None
            toward = np.nan_to_num(-values if one.lower_is_better else values, nan=-np.inf)
            assert toward[found.best.place] == pytest.approx(toward.max())
            assert toward[: found.best.place].max(initial=-np.inf) < toward.max()
            assert found.best.first <= found.best.place <= found.best.last
            own = float(one.values(table_at(data, data.yes)))
            assert found.own[0].value == pytest.approx(own)
            sign = -1 if one.lower_is_better else 1
            assert found.best.lost.value == pytest.approx(sign * (values[found.best.place] - own))
            assert found.best.lost.low <= found.best.lost.value <= found.best.lost.high


def test_bands_hold_their_values_and_are_wider_at_a_lower_level() -> None:
    data = filtered()
    narrow, wide = asked(data, F, PRECISION, MCC, level=0.2), asked(data, F, PRECISION, MCC, level=0.01)
    for inner, outer in zip(narrow.bands, wide.bands, strict=True):
        known = ~np.isnan(inner.low)
        assert inner.reach < outer.reach
        in_order = (outer.low, inner.low, inner.value, inner.high, outer.high)
        assert (np.diff([limit[known] for limit in in_order], axis=0) >= 0).all()
        assert np.isnan(inner.high[~known]).all()
        assert not known[np.isnan(inner.value)].any()


def test_a_band_says_something_where_all_that_is_decided_is_right() -> None:
    data = filtered(digits=6)
    band = asked(data, PRECISION).bands[0]
    first = int(np.flatnonzero(band.value == 1.0)[0])
    assert band.low[first] < 0.3


def test_only_shares_have_a_band_where_few_are_decided() -> None:
    data = filtered(digits=6)
    worth = curve_measure(settle(utility(), {"a": Decimal(2), "b": Decimal(-1)}))
    found = asked(data, F, MCC, worth)
    yes = data.thresholds.decided.sum(axis=0)
    told = (yes >= 10) & (yes <= 110)
    _, of_mcc, of_worth = found.bands
    assert (~np.isnan(of_mcc.low) == told).all()
    # To decide none is worth nothing, whatever the documents are.
    assert (~np.isnan(of_worth.low) == told | (yes == 0)).all()
    assert (of_worth.low[yes == 0] == 0).all()
    assert (of_worth.high[yes == 0] == 0).all()
    assert not np.isnan(found.bands[0].low).any()
    few = Filtered(data.confidence, data.kind, data.confidence >= np.sort(data.confidence)[-9])
    own = asked(few, F, MCC, worth).own
    assert [np.isnan(known.low) for known in own] == [False, True, True]


def test_own_decisions_of_the_best_threshold_have_lost_nothing_that_is_sure() -> None:
    data = filtered()
    best = asked(data, F).best
    assert best is not None
    at_best = Filtered(data.confidence, data.kind, data.confidence >= data.thresholds.at[best.place - 1])
    lost = asked(at_best, F).best
    assert lost is not None
    assert lost.lost.value == 0
    assert np.isnan([lost.lost.low, lost.lost.high]).all()


@pytest.mark.parametrize(("optional", "stands_for"), [("relevant", 0), ("nonrelevant", 1)])
def test_optional_documents_count_for_the_area_as_the_measure_takes_them(optional: str, stands_for: int) -> None:
    data = filtered(optional=0.3)
    relabelled = Filtered(data.confidence, np.where(data.kind == 2, stands_for, data.kind).astype(np.int8), data.yes)
    counted = curves(data.thresholds, [F], 0, Draws(300), 0.05, ALONE, sides(LABELS, optional)).area
    plain, left_out = asked(relabelled, F).area, asked(data, F).area
    assert counted is not None
    assert plain is not None
    assert left_out is not None
    assert counted.value == pytest.approx(plain.value)
    assert counted.value != pytest.approx(left_out.value)
    assert (counted.low, counted.high) == pytest.approx((plain.low, plain.high), abs=0.03)


def test_areas_that_do_not_vary_have_no_interval() -> None:
    up, down = np.arange(20.0) + 20, np.arange(20.0)
    for above, below, area in ((up, down, 1.0), (down, up, 0.0)):
        found = one_area(above, below, 0.05)
        assert found is not None
        assert found[0] == area
        assert np.isnan(found[1:]).all()


def test_the_same_seed_gives_the_same_curves_whoever_works() -> None:
    data = filtered()
    again, other = asked(data, F), curves(data.thresholds, [F], 0, Draws(300, 7), 0.05)
    assert (asked(data, F).bands[0].low == again.bands[0].low).all()
    assert again.bands[0].reach != other.bands[0].reach


def test_resamples_vary_as_documents_that_are_drawn_one_by_one() -> None:
    data = filtered(80)
    source, many = np.random.default_rng(1), 4000
    cut = data.confidence >= 0.5
    place = int(np.searchsorted(-data.thresholds.at, -0.5, side="right"))
    one_by_one = []
    for _ in range(many):
        drawn_again = source.integers(0, 80, 80)
        again = Filtered(data.confidence[drawn_again], data.kind[drawn_again], data.yes[drawn_again])
        one_by_one.append(table_at(again, cut[drawn_again]))
    grid = data.thresholds.grid()
    parts = list(redraw_tables(data.thresholds, grid, Draws(many), ALONE))
    counted = np.concatenate([part.cells[:, :, place] for part in parts], axis=1)
    assert counted.mean(axis=1) == pytest.approx(np.mean(one_by_one, axis=0), abs=0.25)
    assert np.cov(counted) == pytest.approx(np.cov(np.array(one_by_one).T), abs=1.5)
    own = np.concatenate([part.own for part in parts], axis=1)
    assert own.sum(axis=0).tolist() == [80] * many
    assert own.mean(axis=1) == pytest.approx(table_at(data, data.yes), abs=0.25)


@pytest.mark.long
def test_a_grid_of_thresholds_reaches_as_far_as_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    data = filtered(1500, digits=9)
    few = asked(data, F, MCC)
    monkeypatch.setattr(curve_kernels, "GRID", 10_000)
    every = asked(data, F, MCC)
    assert few.best is not None
    assert every.best is not None
    assert few.best.place == every.best.place
    for some, all_of in zip(few.bands, every.bands, strict=True):
        assert some.value == pytest.approx(all_of.value, nan_ok=True)
        assert some.reach == pytest.approx(all_of.reach, rel=0.08)


@pytest.mark.parametrize("kinds", [(0,), (1,), (2,)])
def test_curves_of_one_kind_of_documents(kinds: tuple[int]) -> None:
    kind = np.full(20, kinds[0], dtype=np.int8)
    data = Filtered(np.linspace(0, 1, 20), kind, np.arange(20) > 10)
    found = asked(data, F, RECALL, MCC)
    assert (found.area is None) == (kinds != (0,))
    assert np.isnan(found.bands[2].value[1:-1]).all() == (kinds != (2,))
    assert len(found.bands[0].value) == 21


def test_a_measure_that_is_the_same_everywhere_has_no_best_threshold() -> None:
    data = Filtered(np.linspace(0, 1, 20), np.ones(20, dtype=np.int8), np.arange(20) > 10)
    assert asked(data, F).best is None
    assert asked(data, FALLOUT).best is not None


def test_constant_confidences_decide_all_or_nothing() -> None:
    data = Filtered(np.full(30, 0.5), np.repeat([0, 1], 15).astype(np.int8), np.arange(30) % 2 == 0)
    found = asked(data, F)
    assert data.thresholds.at.tolist() == [0.5]
    assert found.bands[0].value == pytest.approx([0.0, 2 / 3])
    assert found.best is not None
    assert found.best.place == 1
    assert data.thresholds.contradicting == 15
