"""The limits of an exact p-value contain it as often as promised, and no more shuffles are made than that requires."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalhouse.warehouse.significance.multiple import holm
from evalhouse.warehouse.significance.shuffles import sequential


def clopper_pearson(nge: int, shuffles: int, risk: float) -> tuple[float, float]:
    low = stats.beta.ppf(risk / 2, nge, shuffles - nge + 1) if nge else 0.0
    high = stats.beta.ppf(1 - risk / 2, nge + 1, shuffles - nge) if nge < shuffles else 1.0
    return float(low), float(high)


@pytest.mark.parametrize("risk", [0.05, 1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("shuffles", [10, 199, 10_000, 10_000_000])
def test_the_limits_are_those_of_clopper_and_pearson_or_a_little_wider(shuffles: int, risk: float) -> None:
    """SciPy's beta quantiles as the oracle."""
    nge = np.unique(np.geomspace(1, shuffles, 30).astype(np.int64) - 1)
    nge = np.append(nge, shuffles)
    low, high = sequential.limits(nge, np.full(nge.shape, shuffles), risk)
    exact = np.array([clopper_pearson(int(count), shuffles, risk) for count in nge])
    assert (low <= exact[:, 0] + 1e-9).all()
    assert (high >= exact[:, 1] - 1e-9).all()
    # A little: less than a sixth of the exact interval on either side.
    width = exact[:, 1] - exact[:, 0]
    assert (exact[:, 0] - low <= width / 6 + 1e-12).all()
    assert (high - exact[:, 1] <= width / 6 + 1e-12).all()


@given(st.integers(1, 10**7), st.data())
def test_the_limits_hold_the_estimate_and_the_share(shuffles: int, data: st.DataObject) -> None:
    nge = data.draw(st.integers(0, shuffles))
    low, high = sequential.limits(np.array([nge]), np.array([shuffles]), 1e-4)
    assert 0 <= low[0] <= nge / shuffles <= high[0] <= 1
    assert low[0] <= (nge + 1) / (shuffles + 1) <= high[0]


def test_looks_double_until_the_most() -> None:
    assert sequential.looks(10_000, 100_000) == (10_000, 20_000, 40_000, 80_000, 100_000)
    assert sequential.looks(10_240, 10_000_000)[-1] == 9_994_240
    assert sequential.looks(10_000, 5) == (10_000,)


def test_pairs_of_unknown_order_go_on_together() -> None:
    """A settled p whose limits overlap with those of an unsettled verdict may still change its rank."""
    low, high = np.array([0.0, 0.010, 0.02, 0.5, 0.03]), np.array([0.001, 0.022, 0.04, 0.9, 0.2])
    known = np.array([True, True, False, True, True])
    assert sequential.need_shuffles(low, high, known).tolist() == [False, True, True, False, True]
    assert not sequential.need_shuffles(low, high, np.ones(5, dtype=np.bool_)).any()


def test_two_unsettled_intervals_that_lie_apart_are_both_looked_at() -> None:
    low, high = np.array([0.1, 0.4, 0.15, 0.35, 0.25]), np.array([0.2, 0.5, 0.16, 0.45, 0.3])
    known = np.array([False, False, True, True, True])
    assert sequential.need_shuffles(low, high, known).tolist() == [True, True, True, True, False]


def shuffled_until_decided(exact: np.ndarray, risk: float, source: np.random.Generator) -> tuple[bool, int]:
    """Whether Holm's verdicts from shuffles are those of the exact p, for draws of their own for each p."""
    looks, pairs = sequential.looks(100, 20_000), len(exact)
    nge, shuffles = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64)
    wanted = np.ones(pairs, dtype=np.bool_)
    known = ~wanted
    for look in looks:
        more = look - shuffles[wanted]
        nge[wanted] += source.binomial(more, exact[wanted])
        shuffles[wanted] = look
        raw = sequential.limits(nge, shuffles, risk / (pairs * len(looks)))
        low, high = (holm(limit) for limit in raw)
        known = sequential.are_settled(low, high, 0.05)
        wanted = sequential.need_shuffles(*raw, known)
        if not wanted.any():
            break
    said, true = high <= 0.05, holm(exact) <= 0.05
    return bool((said[known] == true[known]).all()), int(shuffles.sum())


@pytest.mark.long
def test_the_chance_that_a_verdict_is_wrong_is_below_the_risk() -> None:
    """With a risk of a tenth, 600 families of six p near their thresholds: fewer than a tenth have a wrong verdict."""
    source = np.random.default_rng(1992)
    wrong = 0
    for _ in range(600):
        exact = 0.05 / np.arange(6, 0, -1) * source.choice([0.8, 0.9, 1.1, 1.25], 6)
        right, _ = shuffled_until_decided(exact, 0.1, source)
        wrong += not right
    assert wrong / 600 <= 0.1
    # A rule that stopped where the estimate is would be wrong far more often: the test can fail.
    naive = 0
    for _ in range(200):
        exact = 0.05 / np.arange(6, 0, -1) * source.choice([0.8, 0.9, 1.1, 1.25], 6)
        estimate = (source.binomial(100, exact) + 1) / 101
        naive += bool(((holm(estimate) <= 0.05) != (holm(exact) <= 0.05)).any())
    assert naive > 100


TABLE = np.array(
    [[1, 2, 2, 1, 1, 0, 1], [2, 0, 0, 2, 3, 0, 0], [0, 1, 1, 1, 2, 7, 3], [1, 1, 2, 0, 0, 0, 1], [0, 1, 1, 1, 1, 0, 0]]
)
"""The table of counts that Gandy (2009) tests by a parametric bootstrap of the likelihood ratio; p is about 0.042."""


def likelihood_ratio(tables: np.ndarray) -> np.ndarray:
    """Of tables of shape (any, 5, 7), against independence."""
    expected = tables.sum(axis=1, keepdims=True) * tables.sum(axis=2, keepdims=True)
    expected = expected / tables.sum(axis=(1, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(2 * np.where(tables > 0, tables * np.log(tables / expected), 0).sum(axis=(1, 2)))


def boundaries(level: float, risk: float, most: int) -> tuple[list[int], list[int]]:
    """The counts at which Gandy's (2009, section 2) algorithm stops above and below the level, after each step, with
    its spending ε·n / (1000 + n); computed by its recursion over all paths that have not stopped."""
    above, below = [], []
    # The probabilities of the counts from `first` on, of the paths that have not stopped.
    reach, first = np.ones(1), 0
    gone_above = gone_below = 0.0
    for step in range(1, most + 1):
        reach = np.append(reach * (1 - level), 0.0) + np.append(0.0, reach * level)
        spent = risk * step / (1000 + step)
        while reach.size and gone_above + reach[-1] <= spent:
            gone_above, reach = gone_above + reach[-1], reach[:-1]
        while reach.size and gone_below + reach[0] <= spent:
            gone_below, reach, first = gone_below + reach[0], reach[1:], first + 1
        above.append(first + reach.size)
        below.append(first - 1)
    return above, below


@pytest.mark.long
def test_verdicts_are_those_of_gandys_algorithm_on_his_example() -> None:
    """The same draws decided by both: the same verdict, and, though limits of p that hold at every look serve any
    adjustment and not one level alone, at most three times as many of them."""
    most, runs = 40_000, 8
    above, below = (np.array(bounds) for bounds in boundaries(0.05, 0.001, most))
    source, observed = np.random.default_rng(2009), likelihood_ratio(TABLE[None])[0]
    shares = (TABLE.sum(axis=1, keepdims=True) * TABLE.sum(axis=0, keepdims=True) / TABLE.sum() ** 2).reshape(-1)
    steps, shuffles = [], []
    for _ in range(runs):
        tables = source.multinomial(TABLE.sum(), shares, size=most).reshape(most, 5, 7)
        counts = np.cumsum(likelihood_ratio(tables) >= observed - 1e-9)
        assert counts[-1] / most == pytest.approx(0.0416, abs=0.005)
        stopped = int(np.flatnonzero((counts >= above) | (counts <= below))[0])
        steps.append(stopped + 1)
        looks = sequential.looks(100, most)
        low, high = sequential.limits(counts[np.array(looks) - 1], np.array(looks), 0.001 / len(looks))
        known = int(np.flatnonzero(sequential.are_settled(low, high, 0.05))[0])
        shuffles.append(looks[known])
        assert (high[known] <= 0.05) == (counts[stopped] <= below[stopped])
        assert high[known] <= 0.05
    assert sum(shuffles) <= 3 * sum(steps)
