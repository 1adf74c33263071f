"""Intervals of average differences over test sets, each of which is resampled separately."""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from evalhouse.warehouse.significance.bootstrap import estimates
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.estimates import OfTestSet
from evalhouse.warehouse.significance.bootstrap.interval_kinds import (
    INTERVALS,
    ConfidenceLimits,
    IntervalPlan,
    find_interval,
)
from evalhouse.warehouse.significance.bootstrap.resamples import resample_units
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.sums import Sums
from tests.significance import brute

SIZES = (40, 15, 25)
KINDS = [kind.name for kind in INTERVALS]


def example(systems: int = 2, sizes: tuple[int, ...] = SIZES) -> list[OfTestSet]:
    source = np.random.default_rng(3)
    counts = (brute.muc_counts(source, systems, documents) for documents in sizes)
    return [OfTestSet(Sums.of_ratios(*brute.f(of_set)), 1.0, stream) for stream, of_set in enumerate(counts)]


def plan(kind: str, **asked: Any) -> IntervalPlan:
    return IntervalPlan(kind=find_interval(kind), **asked)


def limits_of(found: ConfidenceLimits) -> NDArray[np.float64]:
    return np.stack((found.low, found.high))


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resamples are drawn also where Student's t would do."""
    monkeypatch.setattr(estimates, "near_student", lambda influences, *asked: np.zeros(len(influences), dtype=bool))


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_intervals_agree_with_scipy(kind: str) -> None:
    """scipy.stats.bootstrap resamples several samples each by itself; here each is the documents of a test set."""
    parts = example()

    def value(part: OfTestSet, index: NDArray[Any], axis: int) -> NDArray[Any]:
        shares = part.many.columns[0][:, index].sum(axis=axis) / part.many.columns[1][:, index].sum(axis=axis)
        return np.asarray(shares[0] - shares[1])

    def average(*indexes: NDArray[Any], axis: int) -> NDArray[Any]:
        of_parts = [value(part, index, axis) for part, index in zip(parts, indexes, strict=True)]
        return np.asarray(sum(np.broadcast_arrays(*of_parts)) / len(of_parts))

    oracle = stats.bootstrap(
        tuple(np.arange(part.many.units) for part in parts), average, n_resamples=20_000, vectorized=True, batch=500,
        method="BCa" if kind == "bca" else kind, rng=np.random.default_rng(2),
    ).confidence_interval  # fmt: skip
    found = Bootstrap(Draws(20_000)).averages(parts, [(0, 1)], plan(kind))
    width = oracle.high - oracle.low
    assert float(found.low[0]) == pytest.approx(oracle.low, abs=0.04 * width)
    assert float(found.high[0]) == pytest.approx(oracle.high, abs=0.04 * width)


@pytest.mark.usefixtures("drawn")
def test_a_studentized_interval_is_what_the_definition_says() -> None:
    """The variance of an average is that of its parts, in each resample too; degrees of freedom go by test set."""
    parts, draws = example(), Draws(1000, 3)

    def of(index: int, counts: NDArray[Any]) -> tuple[float, float]:
        over, under = parts[index].many.columns
        sums = [(float(counts @ over[system]), float(counts @ under[system])) for system in (0, 1)]
        a, b = ((over[s] - under[s] * top / bottom) / bottom for s, (top, bottom) in enumerate(sums))
        return sums[0][0] / sums[0][1] - sums[1][0] / sums[1][1], float(counts @ (a - b) ** 2)

    def averaged(found: list[tuple[float, float]]) -> tuple[float, float]:
        return sum(value for value, _ in found) / 3, sqrt(sum(variance for _, variance in found)) / 3

    observed, error = averaged([of(index, np.ones(units)) for index, units in enumerate(SIZES)])
    of_sets = [
        [row for chunk in resample_units(units, Draws(1000, 3, index)) for row in chunk]
        for index, units in enumerate(SIZES)
    ]
    together = zip(*of_sets, strict=True)
    resamples = (averaged([of(index, rows) for index, rows in enumerate(drawn)]) for drawn in together)
    t = np.sort([abs(value - observed) / spread for value, spread in resamples])
    half = max(t[ceil(0.95 * 1001) - 1], sqrt(80 / 77) * stats.t.isf(0.025, 77)) * error
    found = Bootstrap(draws).averages(parts, [(0, 1)])
    assert limits_of(found)[:, 0] == pytest.approx((observed - half, observed + half), rel=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", [{}, {"bounds": "lower"}, {"family": "together"}, {"family": "divided"}])
def test_over_one_test_set_it_is_the_interval_of_the_difference(kind: str, asked: dict[str, Any]) -> None:
    (part,), pairs, ranks = example(3, (30,)), [(0, 1), (2, 0)], [0, 1, 2]
    bootstrap = Bootstrap(Draws(999, 5, part.stream))
    average = bootstrap.averages([part], pairs, plan(kind, **asked), ranks)
    difference = bootstrap.differences(part.many, pairs, plan(kind, **asked), 1.0, ranks)
    assert limits_of(average) == pytest.approx(limits_of(difference), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_turned_around_it_has_the_opposite_limits_to_the_last_digit(kind: str) -> None:
    parts, ranks = example(), [1, 0]
    there, back = (Bootstrap().averages(parts, [pair], plan(kind), ranks) for pair in ((0, 1), (1, 0)))
    assert (there.low[0], there.high[0]) == (-back.high[0], -back.low[0])


def test_each_test_set_counts_alike_however_large_it_is() -> None:
    source = np.random.default_rng(9)
    right = [source.integers(0, 2, (2, units)) for units in (30, 300)]
    items = [OfTestSet(Sums.of_ratios(row, np.ones_like(row)), 1.0, stream) for stream, row in enumerate(right)]
    errors = [float(np.std(row[0] - row[1])) / sqrt(row.shape[1]) for row in right]
    found = Bootstrap().averages(items, [(0, 1)])
    assert found.errors[0] == pytest.approx(sqrt(errors[0] ** 2 + errors[1] ** 2) / 2)


def test_a_test_set_of_one_document_does_not_tell_how_it_varies() -> None:
    found = Bootstrap().averages(example(2, (20, 1)), [(0, 1)])
    assert np.isnan(limits_of(found)).all()


def test_of_very_many_documents_the_error_decides() -> None:
    parts = example(2, (25_000, 30))
    found = Bootstrap().averages(parts, [(0, 1)], plan("percentile"))
    assert found.low[0] < found.high[0] <= found.low[0] + 5 * float(found.errors[0])
