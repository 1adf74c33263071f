"""The Bayesian bootstrap with Jeffreys' prior: scipy's beta distribution, clusters, and changes that do not
affect it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalhouse.warehouse.filtering.unlabelled import DRAWS, Weights, interval

WEIGHTS = Weights(1992, "TST3")


def ones(total: int, inside: int) -> np.ndarray:
    return (np.arange(total) < inside).astype(np.int64)


@pytest.mark.parametrize(("inside", "total"), [(0, 20), (20, 20), (7, 20), (1, 300)])
def test_limits_are_those_of_jeffreys(inside: int, total: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    column = ones(total, inside)
    (draws,) = WEIGHTS.shares(["recall"], column[None], 1 - column[None])
    low, high = interval(draws) or (0.0, 0.0)
    for limit, level in ((low, 0.025), (high, 0.975)):
        # Three standard errors of the level of a quantile of so many draws.
        near = 3 * np.sqrt(0.025 * 0.975 / DRAWS)
        assert abs(stats.beta.cdf(limit, inside + 0.5, total - inside + 0.5) - level) < near


def test_an_interval_has_a_width_where_all_are_inside_and_holds_the_value() -> None:
    column = ones(20, 20)
    (draws,) = WEIGHTS.shares(["recall"], column[None], 1 - column[None])
    low, high = interval(draws, 1.0) or (1.0, 1.0)
    assert 0.8 < low < 0.95
    assert high == 1.0


def test_draws_of_a_system_do_not_depend_on_who_else_is_asked_about() -> None:
    table = np.stack([ones(40, 10), ones(40, 30), ones(40, 25)])
    together = WEIGHTS.shares(["a", "b", "c"], table, 1 - table)
    alone = WEIGHTS.shares(["b"], table[1:2], 1 - table[1:2])
    assert (together[1] == alone[0]).all()


def test_weighted_sums_do_not_depend_on_the_order_of_units_in_which_they_are_added() -> None:
    chance = np.random.default_rng(1)
    counts = chance.integers(0, 1_000, size=(7, 2_000))
    weights = np.concatenate(list(WEIGHTS._chunks(np.ones(2_000, dtype=np.int64))))
    assert (WEIGHTS.sums(counts) == counts[:, ::-1].astype(float) @ weights[:, ::-1].T).all()
    assert (WEIGHTS.sums(counts[3:4])[0] == [math.fsum(row) for row in counts[3] * weights]).all()


def test_systems_that_decide_alike_vary_alike() -> None:
    table = np.stack([ones(200, 100), ones(200, 101)])
    first, second = WEIGHTS.shares(["a", "b"], table, 1 - table)
    assert np.corrcoef(first, second)[0, 1] > 0.9


def test_clusters_make_intervals_wider() -> None:
    column = ones(100, 50)
    (alone,) = WEIGHTS.shares(["a"], column[None], 1 - column[None])
    clustered = np.array([[10] * 5 + [0] * 5])
    (together,) = WEIGHTS.shares(["a"], clustered, 10 - clustered)
    assert 2.5 < np.std(together) / np.std(alone) < 3.5


def test_very_many_documents_are_weighted_by_kind() -> None:
    stats = pytest.importorskip("scipy.stats")
    column = ones(30_000, 3_000)
    (draws,) = WEIGHTS.shares(["a"], column[None], 1 - column[None])
    assert stats.kstest(draws, stats.beta(3000.5, 27000.5).cdf).pvalue > 0.001


def test_no_draw_has_a_value() -> None:
    assert interval(np.array([np.nan, np.nan])) is None
