"""Tests of any function of sums, compared with the definition by brute force, and with the kernels for ratios, which
are also functions of sums.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from itertools import combinations as all_combinations
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from evalhouse.warehouse.significance import multiple
from evalhouse.warehouse.significance.bootstrap import estimates
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import (
    INTERVALS,
    IntervalKind,
    IntervalPlan,
    Simultaneous,
)
from evalhouse.warehouse.significance.bootstrap.resamples import resample_units
from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test
from evalhouse.warehouse.significance.draws import Draws, Sides
from evalhouse.warehouse.significance.exact import counting, dynamic
from evalhouse.warehouse.significance.shuffles.randomization import functional_test, randomization_test
from evalhouse.warehouse.significance.sums import Sums, Valuation
from tests.significance import brute

BOTH_SIDES: tuple[Sides, Sides] = ("two-sided", "one-sided")


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    quotients = np.full(sums.shape[1], np.nan)
    np.divide(sums[0], sums[1], out=quotients, where=sums[1] != 0)
    return quotients


def exact_ratio(sums: tuple[int, ...]) -> Fraction | None:
    return Fraction(sums[0], sums[1]) if sums[1] else None


@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
@pytest.mark.parametrize("seed", range(5))
def test_a_ratio_meets_the_same_shuffles_as_the_kernel_for_ratios(seed: int, sides: str) -> None:
    source = np.random.default_rng(seed)
    under = source.integers(0, 6, (2, 37))
    over = source.binomial(under, 0.5)
    a, b = np.stack((over[0], under[0])), np.stack((over[1], under[1]))
    found = functional_test(Sums.of_two_counts(a, b, Valuation(ratio, exact_ratio)), Draws(9999, seed, 7), sides)
    expected = randomization_test(Sums.of_two(over[0], under[0], over[1], under[1]), Draws(9999, seed, 7), sides)
    assert found == expected


def test_an_undefined_pseudo_system_counts_with_0() -> None:
    a, b = np.array([[1, 0], [1, 0]]), np.array([[0, 0], [0, 1]])
    found = functional_test(Sums.of_two_counts(a, b, Valuation(ratio, exact_ratio)), Draws(999, 1, 1))
    expected = randomization_test(Sums.of_two(a[0], a[1], b[0], b[1]), Draws(999, 1, 1))
    assert found == expected


def test_identical_systems_have_p_1() -> None:
    counts = np.array([[3, 1, 2], [4, 4, 4]])
    assert functional_test(Sums.of_two_counts(counts, counts, Valuation(ratio, exact_ratio)), Draws(99)).p == 1.0


def test_an_undefined_system_is_refused() -> None:
    nothing = np.zeros((2, 3), dtype=np.int64)
    with pytest.raises(ValueError, match="undefined"):
        functional_test(Sums.of_two_counts(nothing, nothing + 1, Valuation(ratio, exact_ratio)), Draws(99))


# --- a function with a square root, by the definition -----------------------------------------------------------------

DIGITS = Context(prec=60)


def correlated(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Matthews's correlation of right and wrong decisions (Matthews 1975)."""
    a, b, c, d = sums
    under = np.sqrt((a + b) * (a + c) * (b + d) * (c + d))
    correlations = np.full(sums.shape[1], np.nan)
    np.divide(a * d - b * c, under, out=correlations, where=under != 0)
    return correlations


def exactly_correlated(sums: tuple[int, ...]) -> Decimal | None:
    a, b, c, d = sums
    under = (a + b) * (a + c) * (b + d) * (c + d)
    return DIGITS.divide(Decimal(a * d - b * c), DIGITS.sqrt(Decimal(under))) if under else None


MATTHEWS = Valuation(correlated, exactly_correlated)
RATIO = Valuation(ratio, exact_ratio)


def decisions(source: np.random.Generator, systems: int, units: int, size: int = 1) -> NDArray[np.int64]:
    """Decisions on documents, so many to a unit, in the cells a, b, c, d; of shape (systems, 4, units)."""
    relevant = source.random((units, size)) < 0.4
    counts = np.zeros((systems, 4, units), dtype=np.int64)
    for system in range(systems):
        yes = source.random((units, size)) < np.where(relevant, 0.7, 0.3)
        for cell, where in enumerate((relevant & yes, ~relevant & yes, relevant & ~yes, ~relevant & ~yes)):
            counts[system, cell] = where.sum(axis=1)
    return counts


def by_brute_force(paired: Sums, sides: str) -> Fraction:
    """Every exchange, in decimal numbers of 60 digits; those nearer than 1e-50 are ties."""
    units = paired.counts[0].shape[1]

    def difference(exchange: tuple[bool, ...]) -> Decimal:
        changed = np.array(exchange)
        first = np.where(changed, paired.counts[1], paired.counts[0]).sum(axis=1)
        second = paired.table.sum(axis=(1, 2)) - first
        values = [paired.valuation.exactly(tuple(sums.tolist())) or 0 for sums in (first, second)]
        a, b = (DIGITS.divide(*map(Decimal, Fraction(value).as_integer_ratio())) for value in values)
        found = DIGITS.subtract(a, b)
        return found.copy_abs() if sides == "two-sided" else found

    observed = difference((False,) * units)
    exchanges = brute.all_exchanges(units)
    reached = sum(DIGITS.subtract(difference(exchange), observed) >= Decimal("-1e-50") for exchange in exchanges)
    return Fraction(reached, 2**units)


@pytest.mark.parametrize("sides", BOTH_SIDES)
@pytest.mark.parametrize("size", [1, 3])
def test_the_exact_test_counts_every_exchange(sides: Sides, size: int) -> None:
    """With documents alike and unlike, ties and pseudo systems without a value."""
    source = np.random.default_rng(size)
    tested = 0
    while tested < 12:
        units = int(source.integers(2, 11))
        try:
            paired = Sums.of_counts(decisions(source, 2, units, size), MATTHEWS).pair(0, 1)
        except ValueError:
            continue  # a system without a value
        tested += 1
        expected = by_brute_force(paired, sides)
        assert dynamic.exact_functional_test(paired, sides).p == float(expected)


def test_equal_values_by_unequal_counts_tie() -> None:
    """Exchanging both kinds of units mirrors the difference, whose last digits are not those of the observed one."""
    a, b = decisions(np.random.default_rng(3), 2, 12)
    paired = Sums.of_two_counts(a, b, MATTHEWS)
    mirrored = Sums.of_two_counts(b, a, MATTHEWS)
    assert dynamic.exact_functional_test(paired) == dynamic.exact_functional_test(mirrored)
    assert dynamic.exact_functional_test(paired).p == float(by_brute_force(paired, "two-sided"))


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_shuffles_come_near_the_exact_level(sides: Sides) -> None:
    """Within four standard errors, for thousands of documents of few kinds."""
    paired = Sums.of_counts(decisions(np.random.default_rng(4), 2, 400), MATTHEWS).pair(0, 1)
    level = dynamic.exact_functional_test(paired, sides).p
    shuffles = 50_000
    estimate = functional_test(paired, Draws(shuffles), sides).p
    assert abs(estimate - level) <= 4 * sqrt(level * (1 - level) / shuffles) + 1 / shuffles


@pytest.mark.long
@pytest.mark.parametrize("documents", [100, pytest.param(200, marks=pytest.mark.soak)])
def test_the_exact_test_of_a_ratio_is_that_of_the_kernel_for_ratios(documents: int) -> None:
    source = np.random.default_rng(5)
    under = source.integers(1, 3, (2, documents))
    over = source.binomial(under, [[0.5], [0.6]])
    for sides in BOTH_SIDES:
        as_function = Sums.of_two_counts(np.stack((over[0], under[0])), np.stack((over[1], under[1])), RATIO)
        expected = counting.exact_test(Sums.of_two(over[0], under[0], over[1], under[1]), sides).p
        assert dynamic.exact_functional_test(as_function, sides).p == pytest.approx(expected, rel=1e-9)


def test_what_an_exact_test_costs_is_known_beforehand() -> None:
    source = np.random.default_rng(6)
    few = Sums.of_counts(decisions(source, 2, 3000), MATTHEWS).pair(0, 1)
    assert dynamic.cost(few).way == "combinations"
    assert dynamic.cost(few).distinct == 2
    assert dynamic.cost(few).affordable
    same = Sums.of_two_counts(few.counts[0], few.counts[0], MATTHEWS)
    assert dynamic.cost(same).way == "identical"
    assert dynamic.exact_functional_test(same).p == 1.0
    many = Sums.of_counts(source.integers(0, 1000, (2, 4, 500)), MATTHEWS).pair(0, 1)
    assert not dynamic.cost(many).possible
    with pytest.raises(ValueError, match="the exact test would take about"):
        dynamic.exact_functional_test(many)


# --- resamples, permuted labels and families: a ratio as a function is what the ratio is ------------------------------


def both_ways(systems: int) -> tuple[Sums, Sums]:
    """The same ratio of sums, as one and as a function."""
    over, under = brute.f(brute.muc_counts(np.random.default_rng(7), systems, 40))
    return Sums.of_ratios(over, under), Sums.of_counts(np.stack((over, under), axis=1), RATIO)


@pytest.mark.parametrize("family", ["each", "together"])
@pytest.mark.parametrize("kind", INTERVALS, ids=[kind.name for kind in INTERVALS])
def test_intervals_are_those_of_the_ratio(
    kind: IntervalKind, family: Simultaneous, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A studentized one but for its gradients, which are found by differences."""
    monkeypatch.setattr(estimates, "near_student", lambda influences, *asked: np.zeros(len(influences), dtype=bool))
    many, counts = both_ways(3)
    pairs, asked = [(0, 1), (2, 0)], IntervalPlan(kind=kind, family=family)
    expected, found = (Bootstrap(Draws(999)).differences(systems, pairs, asked) for systems in (many, counts))
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-4 if kind.studentizes else 1e-12)
    np.testing.assert_allclose(found.high, expected.high, rtol=1e-4 if kind.studentizes else 1e-12)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-5)


def test_standard_errors_of_mcc_are_near_the_spread_of_resamples() -> None:
    counts = Sums.of_counts(decisions(np.random.default_rng(11), 2, 150), MATTHEWS)
    drawn = np.concatenate(list(resample_units(150, Draws(2000))))
    first, second = (correlated(system @ drawn.T) for system in counts.counts.astype(np.float64))
    assert Bootstrap().values(counts).errors == pytest.approx([first.std(), second.std()], rel=0.06)
    assert Bootstrap().differences(counts, [(0, 1)]).errors == pytest.approx((first - second).std(), rel=0.06)


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_other_tests_are_those_of_the_ratio(sides: Sides) -> None:
    many, counts = both_ways(4)
    expected = bootstrap_test(many.pair(0, 1), Draws(999), sides)
    assert bootstrap_test(counts.pair(0, 1), Draws(999), sides) == expected
    np.testing.assert_array_equal(multiple.tukey(counts, Draws(999), sides), multiple.tukey(many, Draws(999), sides))


def test_the_spread_is_that_of_the_ratio_to_first_order() -> None:
    many, counts = both_ways(3)
    for a, b in [(0, 1), (1, 2)]:
        assert counts.spread(a, b) == pytest.approx(many.spread(a, b), rel=1e-2)


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_westfall_young_of_one_pair_is_its_own_level(sides: Sides) -> None:
    counts = Sums.of_counts(decisions(np.random.default_rng(8), 4, 60), MATTHEWS)
    draws = Draws(2999)
    pairs = list(all_combinations(range(4), 2))
    single = np.array([functional_test(counts.pair(a, b), draws, sides).p for a, b in pairs])
    assert multiple.westfall_young(counts, pairs[:1], draws, sides)[0] == single[0]
    levels = multiple.westfall_young(counts, pairs, draws, sides)
    assert (levels >= single).all()
    assert (levels <= np.minimum(1, single * len(pairs)) + 0.05).all()


def test_the_spread_is_the_standard_deviation_of_the_shuffles() -> None:
    paired = Sums.of_counts(decisions(np.random.default_rng(9), 2, 300), MATTHEWS).pair(0, 1)
    source = np.random.default_rng(10)
    signs = source.integers(0, 2, (300, 4000)) * 2 - 1
    more = (paired.counts[0] - paired.counts[1]) @ signs
    totals = paired.table.sum(axis=(1, 2))[:, None]
    values = paired.value((totals + more) / 2) - paired.value((totals - more) / 2)
    assert paired.spread(0, 1) == pytest.approx(values.std(), rel=0.05)
