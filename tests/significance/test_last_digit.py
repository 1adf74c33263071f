"""Exact p-values to the last digit: as floats equal to fractions found by enumeration, never 0 and never above 1."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from math import comb
from sys import float_info

import numpy as np
import pytest
from scipy import stats

from evalhouse.warehouse.significance import independent, matched
from evalhouse.warehouse.significance.distributions import EXACT, binomial_tail
from evalhouse.warehouse.significance.draws import SMALLEST, Outcome, Sides
from evalhouse.warehouse.significance.exact import counting, dynamic, fourier
from evalhouse.warehouse.significance.exact.lattice import Lattice
from evalhouse.warehouse.significance.extreme import Extreme
from evalhouse.warehouse.significance.sums import Sums, Valuation
from evalhouse.warehouse.significance.two_systems import Distinct
from tests.significance import brute
from tests.significance.test_exact_randomization import upper
from tests.significance.test_functional import BOTH_SIDES, exact_ratio, ratio


def by_adding_units(paired: Sums, sides: Sides) -> Fraction:
    """The exact level from all distinct sums (u, v), built up unit by unit in Python's integers; δ in fractions."""
    sums = Counter({(0, 0): 1})
    for step_u, step_v in zip(*(column.tolist() for column in paired.differences()), strict=True):
        grown: Counter[tuple[int, int]] = Counter()
        for (u, v), ways in sums.items():
            grown[u + step_u, v + step_v] += ways
            grown[u - step_u, v - step_v] += ways
        sums = grown
    (top_a, bottom_a), (top_b, bottom_b) = paired.totals(0), paired.totals(1)
    top, bottom = top_a + top_b, bottom_a + bottom_b

    def difference(u: int, v: int) -> Fraction:
        first = Fraction(top + u, bottom + v) if bottom + v else Fraction(0)
        return first - (Fraction(top - u, bottom - v) if bottom - v else Fraction(0))

    observed = difference(top_a - top_b, bottom_a - bottom_b)
    reached = 0
    for (u, v), ways in sums.items():
        here = difference(u, v)
        reached += ways * (abs(here) >= abs(observed) if sides == "two-sided" else here >= observed)
    return Fraction(reached, 2**paired.units)


def drawn(source: np.random.Generator, units: int, scale: int, equal: bool) -> Sums:
    """Two systems of which one is better to a random degree."""
    bottoms = source.integers(1, scale + 1, (2, units))
    if equal:
        bottoms[:] = bottoms[0]
    tops = source.binomial(bottoms, np.array([[source.random()], [0.5]]))
    return Sums.of_two(tops[0], bottoms[0], tops[1], bottoms[1])


@pytest.mark.parametrize("sides", BOTH_SIDES)
@pytest.mark.parametrize("equal", [False, True])
def test_levels_are_the_fractions_of_enumeration(equal: bool, sides: Sides) -> None:
    """Hundreds of small pairs, by whatever way is chosen."""
    source = np.random.default_rng(1)
    for _ in range(150):
        paired = drawn(source, int(source.integers(1, 10)), int(source.choice([1, 3, 50])), equal)
        assert counting.exact_test(paired, sides).p == float(brute.exact(paired, sides))


@pytest.mark.long
@pytest.mark.parametrize("equal", [False, True])
def test_levels_of_up_to_62_units_are_those_fractions(equal: bool) -> None:
    source = np.random.default_rng(2)
    ways = set()
    for _ in range(60):
        paired = drawn(source, int(source.integers(10, 63)), 3 if equal else 2, equal)
        ways.add(counting.cost(paired).way)
        for sides in BOTH_SIDES:
            assert counting.exact_test(paired, sides).p == float(by_adding_units(paired, sides))
    assert "table" in ways


def test_the_transform_of_up_to_44_units_gives_the_fraction_of_the_table() -> None:
    source = np.random.default_rng(3)
    compared = 0
    for trial in range(80):
        paired = drawn(source, int(source.integers(5, fourier.WHOLE_UNITS + 1)), (9, 200)[trial % 2], trial % 2 == 1)
        lattice, seen = upper(paired)
        if seen.sign and lattice.count.size:
            share = fourier.tail(lattice, seen, False)
            assert isinstance(share, Fraction)
            assert share == dynamic.tail(lattice, seen, False)
            compared += 1
    assert compared > 60


def test_the_transform_is_right_to_14_decimals_where_it_is_not_tilted() -> None:
    """What the bound of 44 units rests on: half of 2^-44 is 2.8e-14."""
    source = np.random.default_rng(4)
    for trial in range(40):
        paired = drawn(source, int(source.integers(fourier.WHOLE_UNITS + 1, 63)), (5, 200)[trial % 2], trial % 2 == 1)
        lattice, seen = upper(paired)
        if seen.sign and lattice.count.size and lattice.units > fourier.WHOLE_UNITS:
            share = Fraction(fourier.tail(lattice, seen, False))
            assert abs(share - Fraction(dynamic.tail(lattice, seen, False))) < Fraction(1, 10**14)


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_functions_of_sums_have_the_fractions_of_ratios(sides: Sides) -> None:
    source = np.random.default_rng(5)
    for _ in range(40):
        units = int(source.choice([8, 30, 62]))
        ones = np.ones(units, dtype=int)
        right = source.random((2, units)) < np.array([[0.7], [0.5]])
        paired = Sums.of_two(right[0], ones, right[1], ones)
        counts = [np.stack((row, ones)).astype(np.int64) for row in right]
        as_function = Sums.of_two_counts(counts[0], counts[1], Valuation(ratio, exact_ratio))
        expected = by_adding_units(paired, sides)
        assert dynamic.exact_functional_test(as_function, sides).p == float(expected)


def test_simple_fractions() -> None:
    """Seven items that only the first system has right."""
    right, ones = np.repeat([[1, 0], [0, 1]], [7, 0], axis=1), np.ones(7, dtype=int)
    paired = Sums.of_two(right[0], ones, right[1], ones)
    assert counting.exact_test(paired).p == matched.sign(right[0]).p == matched.wilcoxon(right[0]).p == 1 / 64
    assert counting.exact_test(paired, "one-sided").p == 1 / 128
    assert counting.exact_test(paired.pair(1, 0), "one-sided").p == 1.0


# --- fair coins -------------------------------------------------------------------------------------------------------


def test_fair_coins_are_counted() -> None:
    for trials in (1, 2, 3, 10, 53, 54, 64, 65, 200):
        for successes in range(-1, trials + 3):
            ways = sum(comb(trials, heads) for heads in range(max(0, successes), trials + 1))
            assert binomial_tail(successes, trials) == ways / 2**trials


@pytest.mark.long
def test_many_fair_coins_are_right_to_the_last_digit() -> None:
    source = np.random.default_rng(6)
    for trials in (EXACT - 1, EXACT, EXACT + 1, 1500, 2999, 3000):
        spread = trials**0.5
        some = [round(trials / 2 + spread * step) for step in source.normal(0, 2, 12)]
        ways = list(accumulate(comb(trials, heads) for heads in range(trials + 1)))  # at least trials − place heads
        for successes in (1, 2, trials // 2, trials // 2 + 1, trials - 1, trials, *some):
            assert binomial_tail(successes, trials) == ways[trials - successes] / 2**trials


@pytest.mark.parametrize("trials", [10**4, 10**5 + 1, 10**6, 10**7 + 1])
def test_very_many_fair_coins_are_the_binomial_distribution_of_scipy(trials: int) -> None:
    for steps in (-3, -1, 0, 1, 3, 20):
        successes = trials // 2 + round(steps * trials**0.5 / 2)
        expected = stats.binom.sf(successes - 1, trials, 0.5)
        assert binomial_tail(successes, trials) == pytest.approx(expected, rel=1e-9)
    assert binomial_tail((trials + 1) // 2, trials) + binomial_tail(trials // 2 + 1, trials) == 1.0


# --- never 0, never above 1 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [1075, 1200, 5000])
def test_no_level_is_0(items: int) -> None:
    """All items right against all wrong: 2^(1 − items) is too small for floating point."""
    ones, none = np.ones(items, dtype=int), np.zeros(items, dtype=int)
    paired = Sums.of_two(ones, ones, none, ones)
    for sides in BOTH_SIDES:
        counts = Sums.of_two_counts(np.stack((ones, ones)), np.stack((none, ones)), Valuation(ratio, exact_ratio))
        found = [
            counting.exact_test(paired, sides),
            dynamic.exact_functional_test(counts, sides),
            matched.sign(ones, sides),
            matched.mcnemar(items, 0, sides),
        ]
        assert [outcome.p for outcome in found] == [SMALLEST] * len(found)


def test_no_level_of_many_uneven_units_is_0() -> None:
    """By the transform, which has no table of so many units."""
    source = np.random.default_rng(7)
    tops, ones = source.integers(5, 30, 1500), np.ones(1500, dtype=int)
    paired = Sums.of_two(tops, ones, np.zeros_like(tops), ones)
    assert counting.cost(paired).way == "transform"
    assert counting.exact_test(paired).p == SMALLEST == float_info.min
    lattice, seen = Lattice.of(Distinct.of(paired)), Extreme.of(paired, "one-sided")
    assert fourier.tail(lattice, seen, False) < SMALLEST


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_no_level_of_a_formula_is_0(sides: Sides) -> None:
    many = np.arange(1, 100_001)
    assert matched.t(many / 1e6 + 1, sides).p == SMALLEST
    assert matched.wilcoxon(many, sides).p == SMALLEST
    assert independent.two_sample_t(many / 1e6 + 1, many / 1e6, sides).p == SMALLEST
    assert independent.z(10**5, 10**5, 0, 10**5, sides).p == SMALLEST
    assert independent.chi_square(10**5, 0, 0, 10**5, sides).p == SMALLEST


def test_an_outcome_has_a_level_above_0_and_up_to_1() -> None:
    assert Outcome(0.0, "exact").p == SMALLEST
    assert Outcome(5e-324, "exact").p == SMALLEST
    assert Outcome(1.0 + 1e-15, "exact").p == 1.0
    with pytest.raises(ValueError, match="not a number"):
        Outcome(float("nan"), "exact")
