"""Matched-pair and independent tests and the correlation, against scipy, statsmodels and Yeh (2000)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportions_ztest

from evalhouse.warehouse.significance import independent, matched
from evalhouse.warehouse.significance.correlation import correlation, correlations, inflations
from evalhouse.warehouse.significance.draws import Sides
from evalhouse.warehouse.significance.sums import Sums

ALTERNATIVES: tuple[tuple[Sides, str], ...] = (("two-sided", "two-sided"), ("one-sided", "greater"))


@pytest.mark.parametrize(("sides", "alternative"), ALTERNATIVES)
def test_sign_is_the_binomial_test_of_scipy(sides: Sides, alternative: str) -> None:
    source = np.random.default_rng(1)
    for _ in range(20):
        values = source.integers(-3, 5, 40)
        wins, losses = int((values > 0).sum()), int((values < 0).sum())
        found = matched.sign(values, sides)
        assert found.p == pytest.approx(stats.binomtest(wins, wins + losses, alternative=alternative).pvalue, rel=1e-12)
        assert (found.method, found.statistic) == ("exact", wins)


@pytest.mark.parametrize(("sides", "alternative"), ALTERNATIVES)
@pytest.mark.parametrize("units", [1, 5, 9, 14, 30, 50, 51, 200, 1000])
def test_wilcoxon_without_ties_is_that_of_scipy(units: int, sides: Sides, alternative: str) -> None:
    source = np.random.default_rng(units)
    for _ in range(2):
        values = source.normal(0.2, 1, units)
        oracle = stats.wilcoxon(values, alternative=alternative, method="exact")
        found = matched.wilcoxon(values, sides)
        assert (found.p, found.method) == (pytest.approx(oracle.pvalue, rel=1e-9), "exact")
        assert found.statistic == pytest.approx(oracle.statistic)


@pytest.mark.parametrize(("sides", "alternative"), ALTERNATIVES)
@pytest.mark.parametrize("kind", ["ties", "zeros"])
def test_wilcoxon_beyond_a_thousand_units_is_that_of_scipy(kind: str, sides: Sides, alternative: str) -> None:
    values = np.random.default_rng(3).normal(0.02, 1, 1400)
    values = np.round(2 * values) if kind == "ties" else np.where(np.abs(values) < 0.2, 0, values)
    found = matched.wilcoxon(values, sides)
    assert np.count_nonzero(values) > 1000
    assert found.method == "analytic"
    assert found.p == pytest.approx(stats.wilcoxon(values, alternative=alternative).pvalue, rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=12))
@example([1, 1, 2, -2, 3, 3, 3, -4, 5, 5, -5, 6, 0])
def test_wilcoxon_with_ties_counts_every_choice_of_signs(values: list[int]) -> None:
    found = matched.wilcoxon(np.array(values), "one-sided")
    differ = np.array([value for value in values if value])
    ranks = stats.rankdata(np.abs(differ))
    signs = (np.arange(2**differ.size)[:, None] >> np.arange(differ.size)) & 1
    wins = float(ranks[differ > 0].sum())
    assert found.p == np.mean(signs @ ranks >= wins)
    assert (found.method, found.statistic) == ("exact", wins)


@given(st.lists(st.integers(-6, 6), min_size=60, max_size=200))
def test_wilcoxon_with_many_ties_is_exact(values: list[int]) -> None:
    """As Python's whole numbers count it."""
    differ = np.array([value for value in values if value])
    sizes = np.rint(2 * stats.rankdata(np.abs(differ))).astype(int)
    ways = np.zeros(int(sizes.sum()) + 1, dtype=object)
    ways[0] = 1
    for size in sizes:
        ways[size:] += ways[:-size].copy()
    wins = int(sizes[differ > 0].sum())
    found = matched.wilcoxon(np.array(values), "one-sided")
    assert found.p == pytest.approx(int(ways[wins:].sum()) / 2**differ.size, rel=1e-12)
    assert found.method == "exact"


@pytest.mark.parametrize(("sides", "alternative"), ALTERNATIVES)
def test_t_tests_are_those_of_scipy(sides: Sides, alternative: str) -> None:
    source = np.random.default_rng(2)
    for units in (2, 3, 10, 100):
        a, b = source.normal(0, 1, units), source.normal(0.3, 2, units)
        oracle = stats.ttest_rel(a, b, alternative=alternative)
        found = matched.t(a - b, sides)
        assert (found.p, found.statistic) == (pytest.approx(oracle.pvalue, rel=1e-10), pytest.approx(oracle.statistic))
        oracle = stats.ttest_ind(a, b, alternative=alternative)
        found = independent.two_sample_t(a, b, sides)
        assert (found.p, found.statistic) == (pytest.approx(oracle.pvalue, rel=1e-10), pytest.approx(oracle.statistic))
        oracle = stats.ttest_ind(a, b[1:], alternative=alternative) if units > 2 else oracle
        assert units == 2 or independent.two_sample_t(a, b[1:], sides).p == pytest.approx(oracle.pvalue, rel=1e-10)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-600, 2.0**600])
def test_t_does_not_depend_on_the_unit(scale: float) -> None:
    """However small or large the values: squares of the smallest are 0 in floating point."""
    a, b = np.array([1.0, 3.0, 2.0, 5.0]), np.array([0.0, 1.0, 4.0, 1.0])
    assert matched.t(scale * (a - b)) == matched.t(a - b)
    assert independent.two_sample_t(scale * a, scale * b) == independent.two_sample_t(a, b)


def test_mcnemar_of_yeh_modifiers() -> None:
    """28 modifiers that only method I finds, 6 that only II does (Yeh 2000, section 3.3)."""
    assert matched.mcnemar(28, 6).p == pytest.approx(1.951e-4, rel=1e-3)
    assert matched.mcnemar(28, 6, "one-sided").p == pytest.approx(9.756e-5, rel=1e-4)
    oracle = statsmodels_mcnemar([[19, 28], [6, 50]], exact=True)
    assert matched.mcnemar(28, 6).p == pytest.approx(oracle.pvalue, rel=1e-12)
    with pytest.raises(ValueError, match="cannot be negative"):
        matched.mcnemar(-1, 2)


@pytest.mark.parametrize(("sides", "alternative"), [("two-sided", "two-sided"), ("one-sided", "larger")])
def test_z_is_that_of_statsmodels(sides: Sides, alternative: str) -> None:
    for hits_a, units_a, hits_b, units_b in ((47, 103, 25, 103), (5, 50, 9, 40), (1, 10, 10, 10)):
        statistic, p = proportions_ztest([hits_a, hits_b], [units_a, units_b], alternative=alternative)
        found = independent.z(hits_a, units_a, hits_b, units_b, sides)
        assert (found.p, found.statistic) == (pytest.approx(p, rel=1e-10), pytest.approx(statistic))


def test_chi_square_of_yeh_modifiers() -> None:
    """χ² = 2.38 for the precision of methods I and II, and so a level between 10% and 20% (Yeh 2000, section 2.2)."""
    found = independent.chi_square(47, 48, 25, 14)
    assert found.statistic == pytest.approx(2.38, abs=0.005)
    assert 0.1 < found.p < 0.2
    for table in ((47, 48, 25, 14), (1, 2, 3, 4), (100, 3, 50, 0)):
        oracle = stats.chi2_contingency(np.array(table).reshape(2, 2), correction=False)
        assert independent.chi_square(*table).p == pytest.approx(oracle.pvalue, rel=1e-10)
    better = independent.chi_square(25, 14, 47, 48, "one-sided").p
    worse = independent.chi_square(47, 48, 25, 14, "one-sided").p
    assert better == pytest.approx(found.p / 2)
    assert better + worse == pytest.approx(1)


@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
def test_no_difference_anywhere_is_p_1(sides: Sides) -> None:
    zeros = np.zeros(10)
    for outcome in (
        matched.sign(zeros, sides),
        matched.wilcoxon(zeros, sides),
        matched.t(zeros, sides),
        matched.mcnemar(0, 0, sides),
        independent.two_sample_t(zeros, zeros, sides),
        independent.z(0, 10, 0, 12, sides),
        independent.z(10, 10, 12, 12, sides),
        independent.chi_square(0, 5, 0, 7, sides),
        independent.chi_square(0, 0, 3, 7, sides),
    ):
        assert outcome.p == 1.0


@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
def test_swapping_the_systems_mirrors(sides: Sides) -> None:
    values = np.array([3, -1, 4, 1, -5, 9, 2, 6])
    for test in (matched.sign, matched.wilcoxon, matched.t):
        here, there = test(values, sides).p, test(-values, sides).p
        assert (here == there) if sides == "two-sided" else (here + there >= 1 - 1e-12)


def test_nothing_is_divided_by_a_variance_of_0() -> None:
    for differences in (np.full(5, 0.1), np.full(2, -3)):
        with pytest.raises(ValueError, match="no variance to divide by"):
            matched.t(differences)
    with pytest.raises(ValueError, match="no variance to divide by"):
        independent.two_sample_t([1, 1], [2, 2])
    assert matched.t(np.zeros(5)).p == independent.two_sample_t([2, 2], [2, 2]).p == 1.0


def test_data_that_a_test_cannot_use_are_refused() -> None:
    with pytest.raises(ValueError, match="equal denominators"):
        matched.differences(Sums.of_two([1, 2], [3, 4], [1, 2], [3, 5]))
    assert matched.differences(Sums.of_two([1, 2], [3, 4], [0, 5], [3, 4])).tolist() == [1, -3]
    with pytest.raises(ValueError, match="at least two units"):
        matched.t([1.0])
    with pytest.raises(ValueError, match="not a number"):
        matched.sign([1.0, np.nan])
    with pytest.raises(ValueError, match="dimensions"):
        matched.sign([[1.0]])
    with pytest.raises(ValueError, match="three values"):
        independent.two_sample_t([1], [2])
    with pytest.raises(ValueError, match="not a proportion"):
        independent.z(3, 2, 1, 2)
    with pytest.raises(ValueError, match="cannot be negative"):
        independent.chi_square(1, -1, 2, 2)


def test_correlation_is_pearson() -> None:
    source = np.random.default_rng(3)
    for scale in (1.0, 1e-200, 1e200):
        a = source.normal(0, 1, 50) * scale
        b = a + source.normal(0, 1, 50) * scale
        with np.errstate(over="ignore", under="ignore"):
            expected = float(stats.pearsonr(a / scale, b / scale).statistic)
        assert correlation(a, b) == pytest.approx(expected, rel=1e-12)
    assert correlation([1, 2, np.nan, 4], [2, 4, 5, 8]) == pytest.approx(1.0)
    assert correlation([1, 1, 1], [1, 2, 3]) is None
    assert correlation([1], [2]) is None
    with pytest.raises(ValueError, match="shapes"):
        correlation([1, 2], [1])


def test_correlations_of_many_are_those_of_each_pair() -> None:
    values = np.random.default_rng(1992).normal(size=(8, 40)) * [[1], [1e200], [1e-200], [1], [1], [1], [0], [1]]
    values[3, :5] = np.nan
    values[4] = 7.0
    values[5, 5:] = 1e6 + values[5, 5:]  # what is left of it beside system 3 has a tiny share of its variance
    values[7] = np.nan
    values[7, :2] = 1.0, 2.0
    pairs = list(combinations(range(8), 2))
    for (a, b), found in zip(pairs, correlations(values, pairs), strict=True):
        expected = correlation(values[a], values[b])
        assert (found is None) == (expected is None) == (bool({4, 6} & {a, b}) or (a, b) == (3, 7))
        assert found is None or found == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_correlation_and_inflation_of_yeh() -> None:
    """0.35 between the recalls of methods I and II, and about 41% more at 0.50 (Yeh 2000, sections 2.1 and 3.3)."""
    one = [1] * 47 + [0] * 56
    two = [1] * 19 + [0] * 28 + [1] * 6 + [0] * 50
    assert correlation(one, two) == pytest.approx(0.35, abs=0.005)
    alike = np.array([[3.0, -1, -2, 0], [1.5, 2.5, -1, -3], [3.0, -1, -2, 0], [0, 0, 0, 0]])
    alike[1] *= np.sqrt(14 / float(alike[1] @ alike[1]))  # of equal variance
    r = correlation(alike[0], alike[1])
    assert r is not None
    assert inflations(alike, [(0, 1), (0, 2), (0, 3)]) == [pytest.approx(1 / np.sqrt(1 - r)), None, 1.0]


@pytest.mark.parametrize("spread", [0.1, 1.0])
def test_inflation_is_that_of_resamples(spread: float) -> None:
    """Of ratios of sums with unequal variances: the bootstrap standard deviation of the difference as it would be for
    independent systems, over what it is. Taking r alone would be off by up to half of it."""
    source = np.random.default_rng(4)
    under = source.integers(1, 20, (2, 400))
    common = source.normal(0, 1, 400)
    shares = 1 / (1 + np.exp(-(common + np.array([[spread], [3.0]]) * source.normal(0, 1, (2, 400)))))
    over = source.binomial(under, shares)
    values = over.sum(axis=1) / under.sum(axis=1)
    influences = (over - values[:, None] * under) / under.sum(axis=1, keepdims=True)
    drawn = source.integers(0, 400, (4000, 400))
    resampled = [over[k][drawn].sum(axis=1) / under[k][drawn].sum(axis=1) for k in (0, 1)]
    apart = np.sqrt(resampled[0].var() + resampled[1].var())
    [factor] = inflations(influences, [(0, 1)])
    assert factor == pytest.approx(apart / (resampled[0] - resampled[1]).std(), rel=0.05)
