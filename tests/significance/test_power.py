"""Power by simulation: against enumeration, formulas, and the figures of papers."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.draws import Draws, Sides
from evalhouse.warehouse.significance.exact.counting import exact_test
from evalhouse.warehouse.significance.exact.dynamic import exact_functional_test
from evalhouse.warehouse.significance.power.pilots import LEAST_UNITS, limits_of_variance
from evalhouse.warehouse.significance.power.populations import (
    Oriented,
    Population,
    RightOrWrong,
    Shifted,
    binomial_levels,
    normal_levels,
    population_of,
)
from evalhouse.warehouse.significance.power.simulation import Criterion, SimulatedPower, Simulation
from evalhouse.warehouse.significance.sums import Sums, Valuation

TWO_SIDED = Criterion(0.05, "two-sided")


def many(numerators: object, denominators: object) -> Sums:
    return Sums.of_ratios(np.array(numerators), np.array(denominators))


def simulation(population: Population | None, criterion: Criterion = TWO_SIDED, simulations: int = 4000) -> Simulation:
    assert population is not None
    return Simulation(population, criterion, Draws(simulations, 1992, 7))


def power(population: Population | None, units: int, amount: float, criterion: Criterion = TWO_SIDED) -> float:
    (found,) = simulation(population, criterion).powers(units, [amount])
    assert found is not None
    return found.power


def of_values(values_a: Floats, values_b: Floats) -> Population | None:
    """The population of values with four digits."""
    whole = np.rint(np.stack((values_a, values_b)) * 10_000).astype(np.int64)
    return population_of(Sums.of_ratios(whole, np.ones_like(whole)), 1e-4, shifted=True)


def noise(simulations: int = 4000) -> float:
    """Four standard errors of a power, at most."""
    return 4 * 0.5 / sqrt(simulations)


# --- values -----------------------------------------------------------------------------------------------------------


def test_values_have_the_power_of_the_t_test() -> None:
    rng = np.random.default_rng(1)
    differences = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    population = of_values(differences + (base := rng.normal(size=2000)), base)
    sd = float(np.std(differences))
    for units, amount in ((30, 0.3), (30, 0.6), (100, 0.2), (400, 0.1), (5000, 0.04)):
        expected = TTestPower().power(amount / sd, units, 0.05)
        assert power(population, units, amount) == pytest.approx(expected, abs=noise())


@pytest.mark.long
def test_values_need_as_many_documents_as_the_formula_says() -> None:
    """Miller 2024, section 5: n = (z_α/2 + z_β)² · ω² / δ², where ω² is the variance of the paired differences."""
    rng = np.random.default_rng(2)
    population = of_values(rng.normal(0.1, 0.4, 3000), rng.normal(0, 0.3, 3000))
    variance = 0.4**2 + 0.3**2
    for amount, wanted in ((0.03, 0.8), (0.05, 0.9), (0.1, 0.8)):
        quantiles = stats.norm.ppf(0.975) + stats.norm.ppf(wanted)
        expected = quantiles**2 * variance / amount**2
        assert simulation(population).needed(amount, wanted) == pytest.approx(expected, rel=0.08)
        detectable = simulation(population).detectable(round(expected), wanted)
        assert detectable == pytest.approx(amount, rel=0.06)


def truncated(amount: float, error: float) -> float:
    """How much larger than it is a normal estimate seems, where it is beyond 1.96 of its standard error."""
    beyond = stats.norm.isf(0.025) - amount / error
    return 1 + error / amount * float(stats.norm.pdf(beyond) / stats.norm.sf(beyond))


def test_what_is_found_is_exaggerated_as_a_truncated_mean_is() -> None:
    differences = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    for amount in (0.15, 0.2, 0.4):
        (found,) = simulation(of_values(differences, np.zeros(2000))).powers(200, [amount])
        assert found is not None
        assert found.exaggeration == pytest.approx(truncated(amount, 1 / sqrt(200)), rel=0.03)


def test_differences_are_shifted_by_their_denominators() -> None:
    """Clusters of several documents, some of which do not differ: centred, then shifted, then summed."""
    rng = np.random.default_rng(11)
    sizes = rng.integers(1, 6, 60)
    values = rng.integers(0, 50, (2, 60)) * sizes
    values[1, :20] = values[0, :20]
    population = Shifted.of(Sums.of_ratios(values, np.stack((sizes, sizes))), 0.1)
    shifted = population.centred + 0.7 * population.weights
    assert shifted.sum() / population.denominators.sum() == pytest.approx(0.7)
    assert (shifted[:20] == 0).all()
    samples = population._drawn(30, 50, [0.3, 0.7], np.random.default_rng(12), "two-sided")
    drawn = shifted[(units := np.random.default_rng(12).integers(0, 60, (50, 30)))]
    assert samples.differences[1] == pytest.approx(drawn.sum(axis=1) / population.denominators[units].sum(axis=1))
    squares = (drawn**2).sum(axis=1)
    levels = normal_levels(drawn.sum(axis=1) / np.sqrt(squares), (drawn**4).sum(axis=1) / squares**2, 0.0, "two-sided")
    many = (drawn != 0).sum(axis=1) > 12
    assert samples.levels[1][many] == pytest.approx(levels[many])
    assert np.abs(samples.levels[1] - levels).max() < 0.03


def test_one_sided_power_is_in_one_direction() -> None:
    differences = stats.norm.ppf((np.arange(2000) + 0.5) / 2000)
    population = of_values(differences, np.zeros(2000))
    expected = TTestPower().power(0.2, 100, 0.05, alternative="larger")
    assert power(population, 100, 0.2, Criterion(0.05, "one-sided")) == pytest.approx(expected, abs=noise())


def test_2000_sentences_have_about_75_percent_power_for_1_bleu() -> None:
    """Card et al. 2020, section 5: to exchange the two translations of a sentence leaves BLEU as it is in 13 of 100,
    and else changes it by Laplace(−2δ / (n · 0.87), 25.8 / n); with n = 2,000 and δ = 1 they find a power of .75. The
    type M error of a normal estimate with that standard error follows from its truncated mean.
    """
    sentences, zero = 2000, 0.13
    changes = stats.laplace.ppf((np.arange(round(sentences * (1 - zero))) + 0.5) / round(sentences * (1 - zero)))
    # Half of what an exchange changes, times the sentences: what a sentence adds to a mean.
    differences = np.append(25.8 / 2 * changes, np.zeros(round(sentences * zero)))
    population = of_values(differences, np.zeros(sentences))
    (found,) = simulation(population).powers(sentences, [1.0])
    exaggeration = truncated(1.0, sqrt(0.87 * 2 * (25.8 / 2) ** 2 / sentences))
    assert found == SimulatedPower(pytest.approx(0.75, abs=0.025), pytest.approx(exaggeration, abs=0.02))


# --- right or wrong ---------------------------------------------------------------------------------------------------


def mcnemar_power(units: int, only_first: float, only_second: float, level: float = 0.05) -> float:
    """By enumeration: of all numbers of items that only one system has right, those that the exact test finds."""
    either, total = only_first + only_second, 0.0
    for differing in range(units + 1):
        chance = comb(units, differing) * either**differing * (1 - either) ** (units - differing)
        for ahead in range(differing + 1):
            p = stats.binomtest(ahead, differing).pvalue if differing else 1.0
            if p <= level:
                share = only_first / either
                total += chance * comb(differing, ahead) * share**ahead * (1 - share) ** (differing - ahead)
    return total


def right_or_wrong(units: int, only_first: int, only_second: int) -> Sums:
    a = np.zeros(units, dtype=np.int64)
    b = a.copy()
    a[:only_first], b[only_first : only_first + only_second] = 1, 1
    return Sums.of_ratios(np.stack((a, b)), np.ones((2, units), dtype=np.int64))


@pytest.mark.long
@pytest.mark.parametrize(("units", "amount"), [(10, 0.2), (30, 0.1), (60, 0.15)])
def test_right_or_wrong_has_the_power_of_exact_mcnemar(units: int, amount: float) -> None:
    population = population_of(right_or_wrong(50, 9, 6), 1.0, shifted=False)
    assert isinstance(population, RightOrWrong)
    expected = mcnemar_power(units, (0.3 + amount) / 2, (0.3 - amount) / 2)
    assert power(population, units, amount) == pytest.approx(expected, abs=noise())


@pytest.mark.long
def test_right_or_wrong_agrees_with_units_drawn_one_by_one() -> None:
    systems = right_or_wrong(50, 9, 6)
    drawn = Oriented.of(systems, 1.0)
    for units in (8, 40, 200):
        at_once = power(population_of(systems, 1.0, shifted=False), units, 0.1)
        assert power(drawn, units, 0.1) == pytest.approx(at_once, abs=noise() * sqrt(2))


# --- ratios and functions ---------------------------------------------------------------------------------------------

SMALL = many([[3, 0, 2, 4], [1, 2, 2, 1]], [[4, 2, 3, 5], [3, 4, 2, 5]])
"""Four documents of which F may be asked."""


def enumerated_power(systems: Sums, units: int, amount: float, sides: Sides) -> float:
    """Every sample of documents, with every way to give their rows to the two systems."""
    population = Oriented.of(systems, 1.0)
    ahead = (1 + population.bias(amount)) / 2
    sums, differences = population.sums.astype(np.int64), population.differences.astype(np.int64)
    total = 0.0
    for drawn in product(range(systems.units), repeat=units):
        for speaks in product((1, -1), repeat=units):
            rows = differences[list(drawn)] * np.array(speaks)[:, None]
            first, second = ((sums[list(drawn)] + side * rows) // 2 for side in (1, -1))
            p = exact_test(Sums.of_two(first[:, 0], first[:, 1], second[:, 0], second[:, 1]), sides).p
            chance = np.prod([ahead if one > 0 else 1 - ahead for one in speaks]) / systems.units**units
            total += chance * (p <= 0.3)
    return float(total)


@pytest.mark.long
@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
@pytest.mark.parametrize("amount", [0.1, 0.3])
def test_ratios_have_the_power_of_all_samples(amount: float, sides: Sides) -> None:
    criterion = Criterion(0.3, sides)
    found = power(population_of(SMALL, 1.0, shifted=False), 4, amount, criterion)
    assert found == pytest.approx(enumerated_power(SMALL, 4, amount, sides), abs=noise())


def of_ratios(units: int = 120, seed: int = 3) -> Sums:
    rng = np.random.default_rng(seed)
    denominators = rng.integers(1, 9, (2, units))
    return Sums.of_ratios(np.minimum(denominators, rng.integers(0, 7, (2, units))), denominators)


def brute_powers(systems: Sums, units: int, amount: float, samples: int) -> float:
    """Samples drawn one by one, each with its exact test."""
    population = Oriented.of(systems, 1.0)
    rng, found = np.random.default_rng(4), 0
    sums, differences = population.sums.astype(np.int64), population.differences.astype(np.int64)
    for _ in range(samples):
        drawn = rng.integers(0, systems.units, units)
        speaks = np.where(rng.random(units) < (1 + population.bias(amount)) / 2, 1, -1)
        rows = differences[drawn] * speaks[:, None]
        first, second = ((sums[drawn] + side * rows) // 2 for side in (1, -1))
        found += int(exact_test(Sums.of_two(first[:, 0], first[:, 1], second[:, 0], second[:, 1])).p <= 0.05)
    return found / samples


@pytest.mark.long
@pytest.mark.parametrize(("units", "amount"), [(12, 0.2), (15, 0.2), (40, 0.1)])
def test_ratios_have_the_power_of_brute_simulation(units: int, amount: float) -> None:
    systems = of_ratios()
    expected = brute_powers(systems, units, amount, 1000)
    found = power(population_of(systems, 1.0, shifted=False), units, amount)
    assert found == pytest.approx(expected, abs=4 * sqrt(0.25 / 1000 + 0.25 / 4000))


def test_an_orientation_makes_the_difference() -> None:
    """Expected sums at the bias give the difference asked for, and a sample has it on average."""
    population = population_of(of_ratios(), 1.0, shifted=False)
    assert isinstance(population, Oriented)
    for amount in (0.02, 0.1, 0.9 * population.reach):
        bias = population.bias(amount)
        sums, differences = population.sums.sum(axis=0), bias * population.differences.sum(axis=0)
        first, second = (sums + differences) / 2, (sums - differences) / 2
        assert first[0] / first[1] - second[0] / second[1] == pytest.approx(amount)
        (samples,) = population.samples(900, [amount], Draws(70, 1, 1), "two-sided")
        assert samples.differences.mean() == pytest.approx(amount, abs=4 * population.spread(0.0).exchanged / 250)
    with pytest.raises(ValueError, match=r"not by 0\.9"):
        population.bias(0.9)


ROOT_OF_SHARE = Valuation(
    lambda sums: np.sqrt(np.divide(sums[0], sums[1], out=np.zeros(sums[0].shape), where=sums[1] > 0)),
    lambda sums: (Decimal(sums[0]) / sums[1]).sqrt() if sums[1] else None,
)


@pytest.mark.long
@pytest.mark.parametrize("units", [8, 13])
def test_functions_of_sums_have_the_power_of_brute_simulation(units: int) -> None:
    systems = of_ratios(40)
    counts = np.stack((systems.numerators, systems.denominators), axis=1)
    population = population_of(Sums.of_counts(counts, ROOT_OF_SHARE), 1.0, shifted=False)
    assert isinstance(population, Oriented)
    rng, found, amount, samples = np.random.default_rng(9), 0, 0.2, 200
    sums, differences = population.sums.astype(np.int64), population.differences.astype(np.int64)
    for _ in range(samples):
        drawn = rng.integers(0, 40, units)
        speaks = np.where(rng.random(units) < (1 + population.bias(amount)) / 2, 1, -1)
        first, second = (((sums[drawn] + side * differences[drawn] * speaks[:, None]) // 2).T for side in (1, -1))
        found += int(exact_functional_test(Sums.of_two_counts(first, second, ROOT_OF_SHARE)).p <= 0.05)
    assert power(population, units, amount) == pytest.approx(found / samples, abs=4 * sqrt(0.25 / samples))


# --- p of samples -----------------------------------------------------------------------------------------------------


def test_few_items_that_are_right_alone_are_counted() -> None:
    differing = np.array([0, 1, 5, 6, 30, 900, 1000, 5000])
    for ahead in (differing // 2, differing * 2 // 3, differing):
        for sides, alternative in (("two-sided", "two-sided"), ("one-sided", "greater")):
            expected = [
                stats.binomtest(a, d, alternative=alternative).pvalue if d else 1.0
                for a, d in zip(ahead.tolist(), differing.tolist(), strict=True)
            ]
            assert binomial_levels(ahead, differing, sides) == pytest.approx(expected, rel=1e-9, abs=2e-5)


def test_the_fourth_moment_brings_p_near_the_exact_one() -> None:
    """Of 20 and 40 differences, some of them large: p that decide are more than twice as near as normal ones."""
    rng, off = np.random.default_rng(10), []
    for units in (20, 40) * 60:
        whole = np.rint(1000 * rng.laplace(size=units)).astype(np.int64)
        whole += round(2 * float(np.sqrt(np.mean(whole.astype(float) ** 2) / units)))
        ones = np.ones(units, dtype=np.int64)
        exact = exact_test(Sums.of_two(whole, ones, 0 * whole, ones)).p
        if not 0.005 < exact < 0.1:
            continue
        squares = whole.astype(np.float64) ** 2
        z, kurtosis = np.array([whole.sum() / sqrt(squares.sum())]), float((squares**2).sum() / squares.sum() ** 2)
        off.append([abs(float(normal_levels(z, k, 0.0, "two-sided")[0]) - exact) for k in (kurtosis, 0.0)])
    with_moment, without = np.mean(off, axis=0)
    assert len(off) > 40
    assert with_moment < 0.0015
    assert with_moment < without / 2


# --- what holds of all ------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("units", [20, 100, 3000])
def test_without_a_difference_the_power_is_the_size_of_the_test(units: int) -> None:
    rng = np.random.default_rng(5)
    values = of_values(rng.normal(0.3, 1, 500), rng.normal(0, 1, 500))
    for population in (values, population_of(of_ratios(), 1.0, shifted=False)):
        for level in (0.05, 0.01):
            size = power(population, units, 0.0, Criterion(level, "two-sided"))
            assert size == pytest.approx(level, abs=4 * sqrt(level * (1 - level) / 4000) + 0.05 * level)
    exact = population_of(right_or_wrong(50, 9, 6), 1.0, shifted=False)
    assert power(exact, units, 0.0) <= 0.05 + noise() * 0.44


@pytest.mark.long
def test_an_outlier_is_drawn_and_not_taken_for_normal() -> None:
    """Of 400 differences one is a hundred times as large as the others; a sign flip test of such samples, by hand."""
    rng = np.random.default_rng(6)
    differences = np.append(rng.normal(size=399), 100.0)
    population = of_values(differences, np.zeros(400))
    assert isinstance(population, Shifted)
    assert population.kurtosis > 300
    found = 0
    for _ in range(200):
        sample = population.centred[rng.integers(0, 400, 1200)] + 1.0
        flips = rng.choice((-1.0, 1.0), (199, 1200))
        found += int((np.count_nonzero(np.abs(flips @ sample) >= abs(sample.sum())) + 1) / 200 <= 0.05)
    assert power(population, 1200, 1.0) == pytest.approx(found / 200, abs=4 * sqrt(0.25 / 200))


def test_power_grows_with_the_difference_and_with_the_documents() -> None:
    for population in (
        population_of(of_ratios(), 1.0, shifted=False),
        of_values(*np.random.default_rng(7).normal(size=(2, 90))),
    ):
        powers = [
            [found.power for found in simulation(population).powers(n, [0.02, 0.1, 0.2]) if found]
            for n in (20, 80, 320)
        ]
        assert (np.diff(powers, axis=1) > -0.002).all()
        assert (np.diff(powers, axis=0) > -noise()).all()


def test_shuffles_cost_power_and_bound_p() -> None:
    population = of_values(*np.random.default_rng(8).normal(size=(2, 200)))
    exact, shuffled = (simulation(population, Criterion(0.05, "two-sided", *more)) for more in ((), (99, 4)))
    assert exact.least(100) == 2.0**-99
    assert shuffled.least(100) == 0.01
    assert 0 < exact.least(10**9) < 1e-300
    few, all_of_them = shuffled.powers(100, [0.4])[0], exact.powers(100, [0.4])[0]
    assert few is not None
    assert all_of_them is not None
    assert few.power < all_of_them.power
    assert few.power == pytest.approx(all_of_them.power, abs=0.08)


def test_what_is_out_of_reach_has_no_power() -> None:
    population = population_of(right_or_wrong(100, 6, 4), 1.0, shifted=False)
    found = simulation(population).powers(100, [0.05, 0.11])
    assert found[0] is not None
    assert found[1] is None
    assert simulation(population).needed(0.11, 0.8) is None
    assert simulation(population).detectable(10, 0.8) is None
    assert simulation(population).needed(1e-6, 0.8) is None


def test_few_documents_that_are_needed_are_counted_one_by_one() -> None:
    """With six documents that all speak for one system p is 2/2⁶ = .03, and with five it cannot be below .05."""
    population = population_of(right_or_wrong(10, 10, 0), 1.0, shifted=False)
    assert simulation(population).needed(1.0, 0.8) == 6


def test_the_same_seed_gives_the_same_powers_whatever_else_is_asked() -> None:
    population = population_of(of_ratios(), 1.0, shifted=False)
    alone = simulation(population).powers(50, [0.1])
    assert simulation(population).powers(50, [0.05, 0.1, 0.9])[1:2] == alone
    assert simulation(population).powers(50, [0.1]) == alone


def test_systems_that_never_differ_are_no_population() -> None:
    same = many([[1, 0, 1], [1, 0, 1]], [[1, 1, 1], [1, 1, 1]])
    assert population_of(same, 1.0, shifted=False) is None
    assert population_of(same, 1.0, shifted=True) is None
    one_size = many([[3, 0, 1, 1], [1, 0, 1, 1]], [[1, 1, 1, 1], [1, 1, 1, 1]])
    assert isinstance(population_of(one_size, 1.0, shifted=True), RightOrWrong)
    assert population_of(many([[2, 3], [2, 3]], [[4, 5], [4, 5]]), 1.0, shifted=False) is None


# === how well a pilot determines the number ===========================================================================


def test_fewer_than_six_units_leave_a_variance_uncertain_by_a_factor_of_twenty() -> None:
    """The limits that χ² gives to a variance of normally distributed differences."""
    apart = [stats.chi2.ppf(0.975, units - 1) / stats.chi2.ppf(0.025, units - 1) for units in (5, LEAST_UNITS)]
    assert apart[0] > 20 > apart[1]
    with pytest.raises(ValueError, match="at least 6 are needed"):
        limits_of_variance(5, 3.0)


@pytest.mark.parametrize("units", [20, 100, 1000])
def test_for_normal_differences_its_limits_are_near_those_of_chi_square(units: int) -> None:
    low, high = limits_of_variance(units, 3.0 * (units - 1) / (units + 1))
    freedom = units - 1
    expected = freedom / stats.chi2.ppf(0.975, freedom), freedom / stats.chi2.ppf(0.025, freedom)
    assert (low, high) == pytest.approx(expected, rel=1.2 / sqrt(units))


@given(st.integers(LEAST_UNITS, 10_000), st.floats(1, 500), st.floats(1, 500))
def test_the_observed_variance_lies_within_and_more_units_or_lighter_tails_tell_more(
    units: int, one: float, other: float
) -> None:
    lighter, heavier = sorted((one, other))
    low, high = limits_of_variance(units, heavier)
    narrow = limits_of_variance(units, lighter)
    more = limits_of_variance(2 * units, heavier)
    assert 0 < low <= narrow[0] <= narrow[1] <= high
    assert high / low >= more[1] / more[0]
    assert narrow[1] >= 1
