"""The intervals of shares of right items, beside SciPy's, and by their laws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, isnan
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.measures.measure import SHARE
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import IntervalPlan
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.proportions import (
    CLOPPER_PEARSON,
    WILSON,
    Share,
    ShareInterval,
    allow_for_constants,
    clopper_pearson,
    shares_of,
)
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.store.replacement import create
from tests.conftest import write_csv

KINDS = [(WILSON, "wilson"), (CLOPPER_PEARSON, "exact")]
PLAN = IntervalPlan(0.1)
SHARES = st.integers(1, 400).flatmap(lambda items: st.tuples(st.integers(0, items), st.just(items)))


@pytest.mark.parametrize(("kind", "method"), KINDS)
@pytest.mark.parametrize("items", [1, 2, 7, 40, 1000])
def test_it_is_that_of_scipy(kind: ShareInterval, method: str, items: int) -> None:
    for right in {0, 1, items // 3, items // 2, items - 1, items}:
        for level in (0.01, 0.05, 0.2):
            low, high = stats.binomtest(right, items).proportion_ci(1 - level, method)
            assert kind.limits(Share(right, items), level) == (
                pytest.approx(low, abs=1e-9),
                pytest.approx(high, abs=1e-9),
            )


@given(SHARES, st.sampled_from([WILSON, CLOPPER_PEARSON]))
def test_it_mirrors_holds_the_share_and_stays_between_0_and_1(share: tuple[int, int], kind: ShareInterval) -> None:
    right, items = share
    low, high = kind.limits(Share(right, items), 0.05)
    assert 0 <= low <= right / items <= high <= 1
    mirrored = kind.limits(Share(items - right, items), 0.05)
    assert mirrored == (pytest.approx(1 - high, abs=1e-12), pytest.approx(1 - low, abs=1e-12))
    narrower = kind.limits(Share(right, items), 0.2)
    assert low <= narrower[0] <= narrower[1] <= high


@given(st.integers(1, 40), st.fractions(0, 1, max_denominator=50))
def test_clopper_and_pearsons_never_misses_more_often_than_promised(items: int, true: Fraction) -> None:
    """On either side, summed exactly over all numbers of right items."""
    chances = [comb(items, k) * true**k * (1 - true) ** (items - k) for k in range(items + 1)]
    limits = [CLOPPER_PEARSON.limits(Share(k, items), 0.1) for k in range(items + 1)]
    assert sum(chance for chance, (low, _) in zip(chances, limits, strict=True) if low > true) <= Fraction(1, 20)
    assert sum(chance for chance, (_, high) in zip(chances, limits, strict=True) if high < true) <= Fraction(1, 20)


def test_items_that_are_right_or_wrong_are_counted() -> None:
    """One item in a unit at most, each with its number; passages with several have an effective number, and values
    above 1 are no shares.
    """
    numerators, denominators = (
        [[1, 0, 1], [2, 0, 1], [1, 1, 1], [1, 0, 0]],
        [[1, 1, 1], [2, 1, 1], [1, 1, 3], [1, 0, 1]],
    )
    many = Sums.of_ratios(numerators, denominators)
    first, several, partly, last = shares_of(many, 1.0)
    assert (first, last) == (Share(2, 3), Share(1, 2))
    assert several is not None
    assert partly is not None
    assert (several.units, partly.units) == (3, 3)
    assert shares_of(many, 100.0) == [None] * 4


# === ratios of sums ===================================================================================================

UNITS = (
    st.integers(2, 12)
    .flatmap(
        lambda units: st.lists(
            st.integers(0, 9).flatmap(lambda under: st.tuples(st.integers(0, under), st.just(under))),
            min_size=units,
            max_size=units,
        )
    )
    .filter(lambda units: sum(under > 0 for _, under in units) > 1)
)
"""Numerators and denominators of units, of which two have a value."""


def share_of(units: Sequence[tuple[int, int]], times: int = 1) -> Share:
    over, under = (np.array([side, side], dtype=np.int64) * times for side in zip(*units, strict=True))
    share, _ = shares_of(Sums.of_ratios(over, under), 1.0)
    assert share is not None
    return share


@given(UNITS)
def test_the_effective_number_of_items_is_that_of_the_variance_between_units(units: list[tuple[int, int]]) -> None:
    """In fractions: p(1 − p) / var(p), or so many units if these are all alike."""
    assume(any(under > 1 for _, under in units))
    over, under = map(sum, zip(*units, strict=True))
    value, there = Fraction(over, under), sum(below > 0 for _, below in units)
    squares = sum((n - value * d) ** 2 for n, d in units) / under**2
    share = share_of(units)
    items = value * (1 - value) / (squares * Fraction(there, there - 1)) if squares else Fraction(there)
    assert (share.right, share.items) == (pytest.approx(float(items * value)), pytest.approx(float(items)))
    assert share.units == there


@given(UNITS, st.integers(2, 10**6), st.randoms(use_true_random=False))
def test_counts_multiplied_and_units_reordered_change_no_limit(
    units: list[tuple[int, int]], times: int, chance: Random
) -> None:
    assume(any(under > 1 for _, under in units))
    reordered = chance.sample(units, len(units))
    for kind, _ in KINDS:
        limits = kind.limits(share_of(units), 0.05)
        assert kind.limits(share_of(reordered), 0.05) == pytest.approx(limits, rel=1e-9, abs=1e-12)
        assert kind.limits(share_of(units, times), 0.05) == pytest.approx(limits, rel=1e-9, abs=1e-12)


@given(UNITS)
def test_right_and_wrong_exchanged_mirror_the_limits(units: list[tuple[int, int]]) -> None:
    assume(any(under > 1 for _, under in units))
    wrong = [(under - over, under) for over, under in units]
    for kind, _ in KINDS:
        low, high = kind.limits(share_of(units), 0.05)
        over, under = map(sum, zip(*units, strict=True))
        assert 0 <= low <= over / under * (1 + 1e-12)
        assert over / under * (1 - 1e-12) <= high <= 1
        assert kind.limits(share_of(wrong), 0.05) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(st.integers(2, 30), st.integers(1, 9), st.integers(0, 9))
def test_units_that_are_all_alike_tell_no_more_than_their_number(units: int, under: int, over: int) -> None:
    """However many items each has: the interval is as wide as that of one item in each."""
    assume(over <= under and under > 1)
    share = share_of([(over, under)] * units)
    assert (share.items, share.units) == (units, units)
    low, high = CLOPPER_PEARSON.limits(share, 0.05)
    assert high - low >= 1 - 0.05 ** (1 / units)


def test_large_counts_keep_the_digits_in_which_units_differ() -> None:
    """Values of .9 that differ in the ninth digit: as fractions have it."""
    units = [(9 * 10**8 + step, 10**9) for step in (-2, 1, 0, 3, -1)]
    value = Fraction(sum(over for over, _ in units), 5 * 10**9)
    squares = sum((over - value * under) ** 2 for over, under in units) / (5 * 10**9) ** 2
    assert share_of(units).items == pytest.approx(float(value * (1 - value) / (squares * Fraction(5, 4))), rel=1e-9)


# === ratios that are the same on every unit ===========================================================================


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=30).filter(any),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=30, max_size=30),
    st.integers(1, 1000),
    st.sampled_from([(0, 1), (1, 1), (1, 2)]),
)
def test_what_no_unit_moves_has_no_interval_narrower_than_its_units_allow(
    answers: list[int], others: list[tuple[int, int]], times: int, value: tuple[int, int]
) -> None:
    """A system with the same ratio on every unit, beside any other; also with all counts so many times as large, and
    with the two exchanged.
    """
    over, under = value
    of_b = [(right, right + wrong) for right, wrong in others[: len(answers)]]
    assume(any(found for _, found in of_b))
    columns = (
        [2 * over * found // under for found in answers],
        [2 * found for found in answers],
        [right for right, _ in of_b],
        [found for _, found in of_b],
    )
    a_n, a_d, b_n, b_d = (np.array(column, dtype=np.int64) for column in columns)
    assume((a_d != b_d).any())
    limits, widened = [], []
    for factor in (1, times):
        for first, second in (((a_n, a_d), (b_n, b_d)), ((b_n, b_d), (a_n, a_d))):
            paired = Sums.of_ratios(factor * np.stack((first[0], second[0])), factor * np.stack((first[1], second[1])))
            found = Bootstrap(Draws(200)).differences(paired, [(0, 1)], PLAN)
            allowed = allow_for_constants(found, [(paired, 1.0)], [(0, 1)], PLAN, SHARE)
            limits.append((float(allowed.low[0]), float(allowed.high[0])))
            widened.append((float(found.low[0] - allowed.low[0]), float(allowed.high[0] - found.high[0])))
    (low, high), mirrored, *_ = limits
    assert mirrored == pytest.approx((-high, -low), nan_ok=True)
    (below, above), *others_widened = widened
    for of_others, expected in zip(others_widened, [(above, below), (below, above), (above, below)], strict=True):
        assert of_others == pytest.approx(expected, abs=1e-12, nan_ok=True)
    if isnan(low):
        assert any(right * sum(f for _, f in of_b) != sum(r for r, _ in of_b) * found for right, found in of_b)
        return
    share = over / under
    bound = clopper_pearson(Share(0, sum(map(bool, answers))), PLAN.level)[1]
    difference = share - float(b_n.sum() / b_d.sum())
    assert low <= difference - min(bound, share) + 1e-12
    assert high >= difference + min(bound, 1 - share) - 1e-12


def test_a_system_that_is_right_in_all_it_answers_may_be_wrong_elsewhere(tmp_path: Path) -> None:
    """Precision 1 in six documents: one-sided, up to 39% of documents may be otherwise."""
    rows = []
    for test_set in ("t", "u"):
        rows += [(test_set, "few", f"d{place}", 3, 3, 3, 0) for place in range(6)]
        rows += [(test_set, "few", f"d{place}", 3, 0, 0, 0) for place in range(6, 20)]
        rows += [(test_set, "all", f"d{place}", 3, 3, 3 - (place % 5 == 0), 0) for place in range(20)]
    path = write_csv(tmp_path / "s.csv", "test_set system document possible actual correct partial", rows)
    with create(tmp_path / "w.duckdb") as database:
        load(database, path, "scores")
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run("compare precision for few, all on t margin 5%").rows
        (over,) = session.run("compare precision for few, all on t, u over test sets margin 5%").rows
    for found in (row, over):
        assert found["verdict"] == "inconclusive"
        assert float(found["ci_low"]) < float(found["difference"]) - (1 - 0.05 ** (1 / 6))
