"""Exact randomization: the definition in fractions, published examples, and agreement of all methods with one
another.
"""

from __future__ import annotations

import csv
import tracemalloc
from fractions import Fraction
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalhouse.warehouse.significance.draws import Draws, Sides
from evalhouse.warehouse.significance.exact import counting, dynamic, fourier
from evalhouse.warehouse.significance.exact.lattice import Lattice, affordable_together, enumerate_exchanges, halves
from evalhouse.warehouse.significance.extreme import Extreme
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.two_systems import Distinct
from tests.significance import brute

BOTH_SIDES: tuple[Sides, Sides] = ("two-sided", "one-sided")
SCORES = Path(__file__).parents[3] / "shared" / "data" / "muc4" / "score_tuples.csv"


def modifiers() -> Any:
    """Yeh (2000, section 3.3): modifier relations that methods I and II find, as (right, found, wanted) of each
    method."""
    cells = [(1, 1, 1, 19), (1, 0, 1, 28), (0, 1, 1, 6), (0, 0, 1, 50), (1, 1, 0, 5), (1, 0, 0, 43), (0, 1, 0, 9)]
    found = np.array([[one, two] for one, two, _, times in cells for _ in range(times)]).T
    wanted = np.array([want for _, _, want, times in cells for _ in range(times)])
    return found * wanted, found, np.stack((wanted, wanted))


def upper(paired: Sums) -> tuple[Lattice, Extreme]:
    seen = Extreme.of(paired, "one-sided")
    return Lattice.of(Distinct.of(paired)), seen if seen.sign > 0 else seen.opposite()


@pytest.mark.long
@pytest.mark.parametrize("sides", BOTH_SIDES)
@pytest.mark.parametrize("kind", [brute.ANY_COUNTS, brute.EQUAL_DENOMINATORS])
def test_exact_is_the_share_of_all_exchanges(kind: str, sides: Sides) -> None:
    """Hundreds of small cases with negative numerators and empty denominators, by whatever way is chosen and all
    others."""
    source = np.random.default_rng(1)
    for trial in range(100):
        units = int(source.integers(1, 9))
        counts = brute.random_counts(source, units, no_denominator=(0.3, 0.7)[trial % 2], kind=kind)
        paired = brute.paired(counts, slack=trial % 3 if kind == brute.EQUAL_DENOMINATORS else 0)
        assert counting.exact_test(paired, sides).p == float(brute.exact(paired, sides))
        lattice, seen = upper(paired)
        if seen.sign == 0 or not lattice.count.size:
            continue
        for strict in (False, True):
            share = dynamic.tail(lattice, seen, strict)
            assert fourier.tail(lattice, seen, strict) == share
            assert enumerate_exchanges(lattice, seen, strict) == share
            if seen.flat:
                assert halves(lattice, seen, strict) == share


@pytest.mark.parametrize("possible_varies", [False, True])
@pytest.mark.parametrize("beta_square", [(1, 1), (1, 4), (4, 1)])
def test_f_with_three_betas(beta_square: tuple[int, int], possible_varies: bool) -> None:
    source = np.random.default_rng(2)
    for _ in range(10):
        paired = brute.paired(brute.f(brute.muc_counts(source, 2, 8, possible_varies), beta_square))
        for sides in BOTH_SIDES:
            assert counting.exact_test(paired, sides).p == float(brute.exact(paired, sides))


def test_yeh_modifiers() -> None:
    right, found, wanted = modifiers()
    recall = Sums.of_two(right[0], wanted[0], right[1], wanted[1])
    precision = Sums.of_two(right[1], found[1], right[0], found[0])
    f = brute.paired((right, found + wanted))
    assert counting.exact_test(recall, "one-sided").p == pytest.approx(9.756e-5, rel=1e-4)
    assert counting.exact_test(recall.pair(1, 0), "one-sided").p > 0.999
    assert counting.exact_test(recall, "two-sided").p == pytest.approx(1.951e-4, rel=1e-3)
    assert counting.exact_test(f, "one-sided").p == pytest.approx(0.014776, abs=5e-7)
    assert counting.exact_test(precision, "one-sided").p == pytest.approx(0.019994, abs=5e-7)


def test_scipy_permutation_test_of_all_exchanges() -> None:
    source = np.random.default_rng(3)
    ones = np.ones(11, dtype=int)
    for _ in range(5):
        a, b = source.integers(0, 9, (2, 11))
        for sides, alternative in (("two-sided", "two-sided"), ("one-sided", "greater")):
            oracle = stats.permutation_test(
                (a, b),
                lambda x, y, axis: x.sum(axis) - y.sum(axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=np.inf,
                alternative=alternative,
            )
            assert counting.exact_test(Sums.of_two(a, ones, b, ones), sides).p == pytest.approx(
                oracle.pvalue, rel=1e-12
            )


def test_items_right_or_wrong_are_a_binomial_test() -> None:
    for wins, losses in ((0, 1), (5, 5), (28, 6), (600, 400), (40_000, 39_500)):
        right = np.repeat([[1, 0], [0, 1]], [wins, losses], axis=1)
        ones = np.ones(wins + losses, dtype=int)
        paired = Sums.of_two(right[0], ones, right[1], ones)
        assert counting.cost(paired).way == "binomial"
        for sides, alternative in (("two-sided", "two-sided"), ("one-sided", "greater")):
            oracle = stats.binomtest(wins, wins + losses, alternative=alternative).pvalue
            assert counting.exact_test(paired, sides).p == pytest.approx(oracle, rel=1e-10)


def test_systems_that_do_not_differ_have_p_1() -> None:
    alike = Sums.of_two([3, 1], [5, 2], [3, 1], [5, 2])
    assert counting.cost(alike).way == "identical"
    assert [counting.exact_test(alike, sides).p for sides in BOTH_SIDES] == [1.0, 1.0]
    tied = Sums.of_two([3, 1], [5, 2], [1, 3], [2, 5])
    assert counting.exact_test(tied, "two-sided").p == 1.0


def test_swapping_the_systems_mirrors() -> None:
    source = np.random.default_rng(4)
    for _ in range(30):
        paired = brute.paired(brute.random_counts(source, 12))
        assert counting.exact_test(paired).p == pytest.approx(counting.exact_test(paired.pair(1, 0)).p, rel=1e-13)
        both = counting.exact_test(paired, "one-sided").p + counting.exact_test(paired.pair(1, 0), "one-sided").p
        assert both >= 1 - 1e-12  # the exchanges just as good as observed are counted on both sides


def test_exact_levels_are_valid() -> None:
    """Of all 2^units data sets that exchanges make of one, no larger share than α has p ≤ α."""
    source = np.random.default_rng(5)
    tops, bottoms = brute.random_counts(source, 7, no_denominator=0.2)
    for sides in BOTH_SIDES:
        levels = []
        for exchange in product((False, True), repeat=7):
            swap = np.array(exchange)
            here = [np.where(swap, rows[::-1], rows) for rows in (tops, bottoms)]
            if here[1].any(axis=1).all():
                levels.append(counting.exact_test(brute.paired((here[0], here[1])), sides).p)
        for level in sorted(set(levels)):
            assert np.mean(np.array(levels) <= level + 1e-12) <= level + 1e-9


def test_approximate_lies_within_four_standard_errors_of_exact() -> None:
    counts = brute.muc_counts(np.random.default_rng(6), 4, 80, possible_varies=True)
    measures = [
        Sums.of_ratios(*brute.recall(counts)),
        Sums.of_ratios(*brute.precision(counts)),
        Sums.of_ratios(*brute.f(counts)),
    ]
    for sides in BOTH_SIDES:
        nge = all_pairs_test(measures, Draws(20_000), sides=sides)
        for index, many in enumerate(measures):
            for a, b in ((0, 1), (1, 3), (2, 0)):
                level = counting.exact_test(many.pair(a, b), sides).p
                estimate = (nge[index, a, b] + 1) / 20_001
                assert abs(estimate - level) <= 4 * sqrt(level * (1 - level) / 20_000) + 1 / 20_000


@pytest.mark.parametrize("worse", [0.0, 0.15, 0.4])
def test_the_transform_has_the_relative_accuracy_of_the_table(worse: float) -> None:
    """Down to levels of 1e-13 and less, where an untilted transform has no correct digit."""
    source = np.random.default_rng(7)
    counts = brute.muc_counts(source, 2, 160)
    counts[0, :, 2] = source.binomial(counts[0, :, 2], 1 - worse)
    for tops, bottoms in (brute.recall(counts), brute.precision(counts), brute.f(counts)):
        lattice, seen = upper(brute.paired((tops, bottoms)))
        assert fourier.tail(lattice, seen, False) == pytest.approx(dynamic.tail(lattice, seen, False), rel=1e-9)


def test_all_units_in_favour_of_one_system() -> None:
    """p is 2 / 2^units to the last digits, however it is found."""
    source = np.random.default_rng(8)
    tops = np.stack((source.integers(5, 30, 300), np.zeros(300, dtype=int)))
    bottoms = np.full((2, 300), 30)
    lattice, seen = upper(brute.paired((tops, bottoms)))
    assert counting.exact_test(brute.paired((tops, bottoms))).p == pytest.approx(2.0**-299, rel=1e-12)
    assert fourier.tail(lattice, seen, False) == pytest.approx(2.0**-300, rel=1e-9)


def test_values_in_fixed_point_with_few_units() -> None:
    """Large counts without a common factor have no table; the sums of two halves are counted instead."""
    source = np.random.default_rng(9)
    values = source.integers(0, 2**40, (2, 30))
    ones = np.ones(30, dtype=int)
    paired = Sums.of_two(values[0], ones, values[1], ones)
    assert counting.cost(paired).way == "halves"
    level = counting.exact_test(paired).p
    estimate = randomization_test(paired, Draws(20_000)).p
    assert abs(estimate - level) <= 4 * sqrt(level * (1 - level) / 20_000)
    assert (level * 2**30).is_integer()
    small = Sums.of_two(values[0, :8], values[1, :8] + 1, values[1, :8], values[0, :8] + 1)
    assert counting.cost(small).way == "listing"
    assert Fraction(counting.exact_test(small).p) == brute.exact(small, "two-sided")


def test_the_cost_is_known_before() -> None:
    source = np.random.default_rng(10)
    small = counting.cost(brute.paired(brute.f(brute.muc_counts(source, 2, 100))))
    assert small.way == "table"
    assert small.affordable
    large = counting.cost(brute.paired(brute.f(brute.muc_counts(source, 2, 6000))))
    assert large.way == "transform"
    assert not large.affordable
    assert large.possible
    values = source.integers(0, 2**50, (2, 100))
    impossible = Sums.of_two(values[0], np.ones(100, dtype=int), values[1], np.ones(100, dtype=int))
    assert not counting.cost(impossible).possible
    with pytest.raises(ValueError, match="the exact test would take about"):
        counting.exact_test(impossible)
    assert affordable_together([small] * 3)
    assert not affordable_together([small] * 10_000)
    assert not affordable_together([small, large])


def test_common_factors_and_combinations_are_divided_out() -> None:
    """Any unit's difference is (0, 6), (4, 3) or their sum: the smallest lattice has a cell for each whole
    combination."""
    lattice = Lattice.of(Distinct(np.array([0, 4, 4]), np.array([6, 3, 9]), np.array([1, 1, 1])))
    assert lattice.across * lattice.down == 24
    back = lattice.across * lattice.x + lattice.slant * lattice.y, lattice.down * lattice.y
    flipped = {(abs(u), v if u > 0 else abs(v)) for u, v in zip(*(axis.tolist() for axis in back), strict=True)}
    assert flipped == {(0, 6), (4, 3), (4, 9)} or flipped == {(0, 6), (4, -3), (4, -9)}


@pytest.mark.long
def test_a_thousand_documents_within_their_memory() -> None:
    """F of 1,000 documents in 300 MB, within four standard errors of the approximate level."""
    paired = brute.paired(brute.f(brute.muc_counts(np.random.default_rng(12), 2, 1000)))
    assert counting.cost(paired).way == "transform"
    tracemalloc.start()
    level = counting.exact_test(paired).p
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300e6
    estimate = randomization_test(paired, Draws(50_000)).p
    assert abs(estimate - level) <= 4 * sqrt(level * (1 - level) / 50_000) + 1 / 50_000


@pytest.mark.skipif(not SCORES.exists(), reason="the MUC-4 score tuples are not beside the project")
@pytest.mark.parametrize(
    ("a", "b", "published"), [("GE", "GE-CMU", 0.0415), ("GE", "UMASS", 0.0994), ("GE-CMU", "UMASS", 0.8918)]
)
def test_published_levels_of_muc4(a: str, b: str, published: float) -> None:
    """F on TST3 (Chinchor 1992), whose 9,999 shuffles leave an error of about 0.01."""
    fields = ("possible", "actual", "correct", "partial")
    with SCORES.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["test_set"] == "TST3"]
    counts = [[[int(row[field]) for field in fields] for row in rows if row["site"] == site] for site in (a, b)]
    assert counting.exact_test(brute.paired(brute.f(np.array(counts)))).p == pytest.approx(published, abs=0.01)


# Seed, documents, largest value; p two-sided and one-sided.
OF_R = [
    (1, 8, 3, 0.15625, 0.078125),
    (2, 12, 5, 0.083984375, 0.0419921875),
    (3, 20, 9, 0.277099609375, 0.8902587890625),
    (4, 35, 4, 6.47306442260742e-05, 3.23653221130371e-05),
    (5, 60, 20, 0.249030107242419, 0.124515053621209),
    (6, 100, 1, 1.45519152283669e-11, 7.27595761418343e-12),
]
"""What perm.test of exactRankTests 0.8.35 says with R 4.2.2 (paired, exact), and for both sides oneway_test of coin
1.4.2 (y ~ system | document, distribution "exact")."""


@pytest.mark.parametrize(("seed", "documents", "largest", "two_sided", "one_sided"), OF_R)
def test_the_mean_has_the_levels_of_r(
    seed: int, documents: int, largest: int, two_sided: float, one_sided: float
) -> None:
    source = np.random.default_rng(seed)
    first, second = (source.integers(0, largest + 1, documents) for _ in range(2))
    second = np.where(source.random(documents) < 0.25, first, np.maximum(second - 1, 0))
    paired = Sums.of_ratios(np.stack((first, second)), np.ones((2, documents), dtype=np.int64)).pair(0, 1)
    assert counting.exact_test(paired).p == pytest.approx(two_sided, rel=1e-12)
    assert counting.exact_test(paired, "one-sided").p == pytest.approx(one_sided, rel=1e-12)
