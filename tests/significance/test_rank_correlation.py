"""Correlations of ranks in exchanges, resamples and mixtures, as SciPy computes them one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.rank_correlation import (
    FEW,
    Associate,
    ExchangedNumbers,
    codes_of,
    kendall,
    spearman,
)

OF_SCIPY: dict[Associate, Callable[..., Any]] = {spearman: stats.spearmanr, kendall: stats.kendalltau}
BOTH = pytest.mark.parametrize("associate", OF_SCIPY)


def predictions(draw: np.random.Generator, systems: int, documents: int, values: int) -> tuple[Floats, Floats]:
    """True numbers, and predictions of systems; of few values many are equal."""
    truths = draw.integers(0, values, documents).astype(np.float64)
    return truths, np.rint(truths + draw.normal(0, values / 3, (systems, documents)))


def by_scipy(associate: Associate, truths: Floats, predicted: Floats) -> float:
    if np.ptp(truths) == 0 or np.ptp(predicted) == 0:
        return float("nan")
    return float(OF_SCIPY[associate](truths, predicted)[0])


@BOTH
@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    systems=st.integers(1, 3),
    units=st.integers(2, 12),
    more=st.integers(0, 9),
    values=st.sampled_from([2, 5, 1000]),
    samples=st.sampled_from([1, FEW - 1, FEW, 60]),
    resampled=st.booleans(),
)
def test_every_exchange_and_resample_has_the_correlation_of_scipy(
    associate: Associate, seed: int, systems: int, units: int, more: int, values: int, samples: int, resampled: bool
) -> None:
    draw = np.random.default_rng(seed)
    cluster = draw.permutation(np.concatenate((np.arange(units), draw.integers(0, units, more))))
    truths, predicted = predictions(draw, systems, cluster.size, values)
    exchanged = ExchangedNumbers(codes_of(truths), codes_of(predicted), cluster, associate)
    often = draw.multinomial(units, np.full(units, 1 / units), samples).T if resampled else np.ones((units, samples))
    chosen = draw.integers(0, systems, (units, samples))
    sums = np.concatenate((often, often * chosen)).astype(np.float64)
    found = exchanged.values(sums)
    for sample in range(samples):
        documents = np.repeat(np.arange(cluster.size), often[cluster, sample].astype(np.intp))
        own = predicted[chosen[cluster[documents], sample], documents]
        expected = by_scipy(associate, truths[documents], own)
        np.testing.assert_allclose(found[sample], expected, rtol=1e-12, atol=1e-12)
        exact = exchanged.exactly(tuple(sums[:, sample].astype(int).tolist()))
        assert (exact is None) == np.isnan(expected)
        if exact is not None:
            assert float(exact) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@BOTH
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), systems=st.integers(1, 3), values=st.sampled_from([3, 1000]))
def test_slopes_are_how_values_change(associate: Associate, seed: int, systems: int, values: int) -> None:
    draw = np.random.default_rng(seed)
    cluster = draw.permutation(np.repeat(np.arange(6), 2))
    truths, predicted = predictions(draw, systems, cluster.size, values)
    exchanged = ExchangedNumbers(codes_of(truths), codes_of(predicted), cluster, associate)
    often = draw.uniform(0.5, 2, (6, 1))
    sums = np.concatenate((often, often * draw.integers(0, systems, (6, 1))))
    steps = np.concatenate((sums[:6] * np.eye(6), sums[6:] * np.eye(6))) * 1e-6
    moved = (exchanged.values(sums + steps) - exchanged.values(sums - steps)) / 2e-6
    np.testing.assert_allclose((exchanged.slopes(sums) * (steps / 1e-6)).sum(axis=0), moved, rtol=1e-5, atol=1e-6)


@BOTH
def test_sums_that_single_precision_does_not_hold_are_exact(associate: Associate) -> None:
    draw = np.random.default_rng(5)
    cluster = np.sort(draw.integers(0, 40, 3000))
    truths, predicted = predictions(draw, 2, cluster.size, 500)
    exchanged = ExchangedNumbers(codes_of(truths), codes_of(predicted), cluster, associate)
    chosen = draw.integers(0, 2, (40, FEW))
    found = exchanged.values(np.concatenate((np.ones_like(chosen), chosen)).astype(np.float64))
    for sample, value in enumerate(found):
        own = predicted[chosen[cluster, sample], np.arange(cluster.size)]
        assert value == pytest.approx(by_scipy(associate, truths, own), rel=1e-13)
