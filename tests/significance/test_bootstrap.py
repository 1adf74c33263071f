"""Bootstrap intervals and test."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from tests.significance import brute
from warehouse.significance import bootstrap
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Many, Paired
from warehouse.significance.work import Work


def example(systems: int = 2, documents: int = 60) -> Many:
    return Many(*brute.f(brute.muc_counts(np.random.default_rng(1), systems, documents)))


@pytest.mark.parametrize(("kind", "method"), [("percentile", "percentile"), ("bca", "BCa")])
def test_intervals_agree_with_scipy(kind: bootstrap.IntervalKind, method: str) -> None:
    """scipy.stats.bootstrap of the same statistic; the ends of 20,000 resamples are known to about 2% of the width."""
    many = example()

    def difference(index: np.ndarray, axis: int) -> np.ndarray:
        shares = many.numerators[:, index].sum(axis=axis) / many.denominators[:, index].sum(axis=axis)
        found: np.ndarray = shares[0] - shares[1]
        return found

    oracle = stats.bootstrap(
        (np.arange(many.units),), difference, n_resamples=20_000, method=method, vectorized=True, batch=500,
        rng=np.random.default_rng(2),
    ).confidence_interval  # fmt: skip
    low, high = bootstrap.interval(many.pair(0, 1), draws=Draws(20_000), kind=kind)
    width = oracle.high - oracle.low
    assert low == pytest.approx(oracle.low, abs=0.04 * width)
    assert high == pytest.approx(oracle.high, abs=0.04 * width)


def test_quantiles_are_those_of_numpy() -> None:
    source = np.random.default_rng(1992)
    for size in (1, 2, 3, 100, 2000):
        values = source.normal(size=(5, size)).round(3)
        for shares in ((0.025, 0.975), (0.0, 1.0), (0.3, 0.5)):
            expected = np.quantile(values, shares, axis=1).T
            assert (bootstrap._quantiles(values, shares) == expected).all()


def test_a_pair_alone_has_the_interval_it_has_among_many() -> None:
    counts = brute.muc_counts(np.random.default_rng(3), 4, 50)
    measures = [Many(*brute.recall(counts)), Many(*brute.f(counts))]
    pairs = [(0, 1), (2, 0), (3, 1)]
    for kind in ("percentile", "bca"):
        found = bootstrap.intervals(measures, pairs, [0.5, 2.0], Draws(700, seed=3, stream=(1, 2)), kind=kind)
        assert found.shape == (2, 3, 2)
        for index, many in enumerate(measures):
            for place, (a, b) in enumerate(pairs):
                alone = bootstrap.interval(many.pair(a, b), (0.5, 2.0)[index], Draws(700, 3, (1, 2)), kind=kind)
                np.testing.assert_allclose(found[index, place], alone, rtol=1e-12)


def test_swapping_and_scaling_mirror_and_scale() -> None:
    paired = example().pair(0, 1)
    low, high = bootstrap.interval(paired)
    assert low < high
    np.testing.assert_allclose(bootstrap.interval(paired.swapped()), (-high, -low), rtol=1e-12)
    np.testing.assert_allclose(bootstrap.interval(paired, -3.0), (-3 * high, -3 * low), rtol=1e-12)


def test_wider_for_a_higher_level() -> None:
    paired = example().pair(0, 1)
    ends = [bootstrap.interval(paired, level=level) for level in (0.5, 0.8, 0.95, 0.99)]
    assert all(outer[0] < inner[0] and inner[1] < outer[1] for inner, outer in pairwise(ends))


def test_identical_systems_have_no_interval_to_speak_of() -> None:
    paired = Paired([1, 2, 3], [4, 4, 4], [1, 2, 3], [4, 4, 4])
    for kind in ("percentile", "bca"):
        assert bootstrap.interval(paired, kind=kind) == (0.0, 0.0)
    assert bootstrap.bootstrap_test(paired, Draws(200)).p == 1.0
    assert bootstrap.bootstrap_test(paired, Draws(200), sides="one-sided").p == 1.0


def test_a_resample_without_denominators_counts_as_0() -> None:
    """One unit in four has a denominator: 0.75⁴ = 0.32 of the resamples leave none, and the difference is 0 there."""
    paired = Paired([4, 0, 0, 0], [4, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0])
    assert bootstrap.interval(paired) == (0.0, 0.5)
    assert bootstrap.interval(paired, level=0.2) == (0.5, 0.5)


def test_many_units_are_drawn_by_their_counts() -> None:
    """A hundred thousand items agree with the normal interval to a hundredth of its width."""
    source = np.random.default_rng(4)
    units = 100_000
    right = source.random((2, units)) < [[0.60], [0.61]]
    ones = np.ones(units, dtype=int)
    low, high = bootstrap.interval(Paired(right[0], ones, right[1], ones))
    differences = right[0].astype(float) - right[1]
    margin = 1.96 * differences.std() / np.sqrt(units)
    assert low == pytest.approx(differences.mean() - margin, abs=0.15 * margin)
    assert high == pytest.approx(differences.mean() + margin, abs=0.15 * margin)


def test_the_test_agrees_with_t_where_that_is_right() -> None:
    source = np.random.default_rng(5)
    values = source.normal(0.15, 1, 400)
    fixed = np.round(1e6 * values).astype(int)
    ones = np.ones(400, dtype=int)
    paired = Paired(fixed, ones, 0 * fixed, ones)
    assert bootstrap.bootstrap_test(paired, Draws(5000)).p == pytest.approx(
        stats.ttest_1samp(values, 0).pvalue, rel=0.25
    )
    one = bootstrap.bootstrap_test(paired, Draws(5000), sides="one-sided")
    assert one.p == pytest.approx(stats.ttest_1samp(values, 0, alternative="greater").pvalue, rel=0.35)
    assert (one.method, one.shuffles) == ("approximate", 5000)


def test_results_depend_on_seed_and_stream_alone() -> None:
    paired = example().pair(0, 1)
    assert bootstrap.interval(paired, draws=Draws(2000, seed=5, stream=1)) == bootstrap.interval(
        paired, draws=Draws(2000, seed=5, stream=1)
    )
    assert bootstrap.interval(paired, draws=Draws(2000, seed=5, stream=1)) != bootstrap.interval(
        paired, draws=Draws(2000, seed=5, stream=2)
    )
    seen: list[float] = []
    bootstrap.interval(paired, draws=Draws(bootstrap.CHUNK + 1), work=Work(progress=seen.append))
    assert seen == [bootstrap.CHUNK / (bootstrap.CHUNK + 1), 1.0]


def test_what_is_no_interval_is_refused() -> None:
    many = example(3)
    with pytest.raises(ValueError, match="level of an interval"):
        bootstrap.interval(many.pair(0, 1), level=1.0)
    with pytest.raises(ValueError, match="percentile or bca"):
        bootstrap.interval(many.pair(0, 1), kind="basic")
    with pytest.raises(ValueError, match="1 measures and 2 factors"):
        bootstrap.intervals([many], [(0, 1)], [1.0, 2.0])
    with pytest.raises(ValueError, match="no measure"):
        bootstrap.intervals([], [(0, 1)], [])
    with pytest.raises(ValueError, match="different systems or units"):
        bootstrap.intervals([many, example(3, 10)], [(0, 1)], [1.0, 1.0])
    assert bootstrap.intervals([many], [], [1.0]).shape == (1, 0, 2)


@pytest.mark.long
def test_many_kinds_of_units_are_summed_by_their_normal_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn unit by unit and as sums, the intervals of 30,000 documents agree to a tenth of their half width."""
    source = np.random.default_rng(8)
    counts = brute.muc_counts(source, 3, 30_000)
    measures = [Many(*brute.recall(counts)), Many(*brute.f(counts))]
    pairs = [(0, 1), (0, 2), (1, 2)]
    for kind in ("percentile", "bca"):
        drawn_as_sums = bootstrap.intervals(measures, pairs, [1.0, 1.0], Draws(2000, seed=1), kind=kind)
        monkeypatch.setattr(bootstrap, "FEW_DISTINCT", 10**9)
        drawn_by_unit = bootstrap.intervals(measures, pairs, [1.0, 1.0], Draws(2000, seed=1), kind=kind)
        monkeypatch.undo()
        half = (drawn_by_unit[..., 1] - drawn_by_unit[..., 0])[..., None] / 2
        assert (drawn_as_sums != drawn_by_unit).all()
        assert (np.abs(drawn_as_sums - drawn_by_unit) < 0.15 * half).all()


@pytest.mark.long
def test_sums_that_a_few_units_decide_are_never_taken_for_normal() -> None:
    """One document of 30,000 that weighs as much as all others is in a third of the resamples not there at all."""
    source = np.random.default_rng(9)
    over = source.integers(0, 1000, (2, 30_000))
    over[0, 17] = over.sum()
    under = np.full_like(over, over.max())
    many = Many(over, under)
    values = bootstrap._values([many], Draws(2000), Work())[0, 0]
    observed = over[0].sum() / under[0].sum()
    assert np.mean(values < 0.75 * observed) == pytest.approx(np.exp(-1), abs=0.04)
