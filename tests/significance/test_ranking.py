"""Kendall's tau-b agrees with SciPy's, ties included."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from evalhouse.warehouse.significance.correlation import kendall


@pytest.mark.parametrize("seed", range(20))
def test_tau_b_is_scipys(seed: int) -> None:
    source = np.random.default_rng(seed)
    first, second = source.integers(0, 6, (2, 12)).tolist()
    assert kendall(first, second) == pytest.approx(kendalltau(first, second).statistic, abs=1e-12)


def test_the_same_order_is_1_and_the_opposite_minus_1() -> None:
    assert kendall([1.0, 2.0, 3.0], [10.0, 20.0, 30.0]) == 1.0
    assert kendall([1.0, 2.0, 3.0], [30.0, 20.0, 10.0]) == -1.0


def test_no_order_has_no_tau() -> None:
    assert kendall([1.0, 1.0], [1.0, 2.0]) is None
