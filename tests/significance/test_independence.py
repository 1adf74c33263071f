"""A pair has the same result to the last digit alone, with its systems exchanged, and among other pairs, whichever
method computes it. Long runs of pairs that differ in many units are left to `test_own_coins.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalKind, IntervalPlan, LimitSides
from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test
from evalhouse.warehouse.significance.draws import Draws, Sides
from evalhouse.warehouse.significance.exact import counting, dynamic
from evalhouse.warehouse.significance.shuffles import randomization
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import functional_test, randomization_test, shuffle_method
from evalhouse.warehouse.significance.sums import Sums
from tests.significance import brute
from tests.significance.test_functional import MATTHEWS, decisions

SYSTEMS = 4
SHUFFLES = 299
DRAWS = Draws(SHUFFLES, 7, 8)


def ratios(source: np.random.Generator, units: int) -> Sums:
    return Sums.of_ratios(*brute.random_counts(source, units, SYSTEMS))


def extraction(source: np.random.Generator, units: int) -> Sums:
    return Sums.of_ratios(*brute.f(brute.muc_counts(source, SYSTEMS, units, possible_varies=True)))


def values(source: np.random.Generator, units: int) -> Sums:
    """Of many digits, more than floating point has of their sums."""
    over = np.rint(2.0**57 / units * source.normal(size=(SYSTEMS, units))).astype(np.int64)
    return Sums.of_ratios(over, np.ones_like(over), slack=units)


def items(source: np.random.Generator, units: int) -> Sums:
    right = source.random((SYSTEMS, units)) < 0.5
    return Sums.of_ratios(right, np.ones_like(right, dtype=np.int64))


def matthews(source: np.random.Generator, units: int) -> Sums:
    counts = decisions(source, SYSTEMS, units + 4)
    counts[:, :, :4] = np.eye(4, dtype=np.int64)  # each system has all four cells, so that its value is defined
    return Sums.of_counts(counts, MATTHEWS)


KINDS: tuple[Callable[[np.random.Generator, int], Sums], ...] = (ratios, extraction, values, items, matthews)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), units=st.integers(2, 40))
def test_shuffles_of_a_pair(
    make: Callable[[np.random.Generator, int], Sums], sides: Sides, seed: int, units: int
) -> None:
    """One-sided, the shuffles that favour one system and those that favour the other are all, ties counted twice."""
    many = make(np.random.default_rng(seed), units)
    together = all_pairs_test([many], DRAWS, sides)[0] if many.is_ratio else None
    for a, b in combinations(range(SYSTEMS), 2):
        outcome, mirrored = (_shuffled(many, pair, sides) for pair in ((a, b), (b, a)))
        if sides == "two-sided":
            assert mirrored == outcome
        elif a != b:
            assert mirrored + outcome >= SHUFFLES
        if together is not None:
            assert (together[a, b], together[b, a]) == (outcome, mirrored)


def _shuffled(many: Sums, pair: tuple[int, int], sides: Sides) -> int:
    paired = many.pair(*pair)
    test = randomization_test if paired.is_ratio else functional_test
    return test(paired, DRAWS, sides).nge or 0


@pytest.mark.parametrize("make", KINDS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32), units=st.integers(2, 12))
def test_exact_levels_of_a_pair(make: Callable[[np.random.Generator, int], Sums], seed: int, units: int) -> None:
    many = make(np.random.default_rng(seed), units)
    for a, b in combinations(range(SYSTEMS), 2):
        found, mirrored = (
            counting.exact_test(paired).p if paired.is_ratio else dynamic.exact_functional_test(paired).p
            for paired in (many.pair(a, b), many.pair(b, a))
        )
        assert mirrored == found


@pytest.mark.long
@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("kind", INTERVALS, ids=[kind.name for kind in INTERVALS])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), units=st.integers(2, 400), bounds=st.sampled_from(["both", "lower", "upper"]))
def test_intervals_of_a_pair(
    make: Callable[[np.random.Generator, int], Sums],
    kind: IntervalKind,
    seed: int,
    units: int,
    bounds: LimitSides,
) -> None:
    many, plan, pairs = make(np.random.default_rng(seed), units), IntervalPlan(0.1, kind, bounds), [(0, 1), (3, 2)]
    found = Bootstrap(DRAWS).differences(many, [*pairs, (0, 2), (0, 3)], plan)
    for place, (a, b) in enumerate(pairs):
        alone = Bootstrap(DRAWS).differences(many.pair(a, b), [(0, 1)], plan)
        turned = Bootstrap(DRAWS).differences(many.pair(b, a), [(0, 1)], plan.turned)
        limits = (found.low[place], found.high[place])
        np.testing.assert_array_equal((alone.low[0], alone.high[0]), limits)
        np.testing.assert_array_equal((-turned.high[0], -turned.low[0]), limits)


@pytest.mark.parametrize("make", KINDS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32), units=st.integers(2, 60))
def test_resamples_of_a_pair(make: Callable[[np.random.Generator, int], Sums], seed: int, units: int) -> None:
    many = make(np.random.default_rng(seed), units)
    for a, b in ((0, 1), (3, 2)):
        assert bootstrap_test(many.pair(a, b), DRAWS) == bootstrap_test(many.pair(b, a), DRAWS)


# --- very many units --------------------------------------------------------------------------------------------------


def large(make: Callable[[np.random.Generator, int], Sums]) -> Sums:
    return make(np.random.default_rng(5), 21_000)


@pytest.mark.long
@pytest.mark.parametrize("make", [extraction, values, items])
@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
def test_shuffles_of_very_many_units(
    make: Callable[[np.random.Generator, int], Sums], sides: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the order of the units where coins are drawn for each, and in any where they are drawn for each difference."""
    many = large(make)
    assert many.is_ratio
    together = all_pairs_test([many], DRAWS, sides)[0]
    order = np.random.default_rng(6).permutation(many.units)
    for a, b in ((0, 1), (1, 0), (3, 2)):
        pair = many.pair(a, b)
        assert randomization_test(pair, DRAWS, sides).nge == together[a, b]
        if shuffle_method(pair).method == "grouped":
            shuffled = Sums.of_ratios(many.numerators[:, order], many.denominators[:, order], many.slack).pair(a, b)
            assert randomization_test(shuffled, DRAWS, sides).nge == together[a, b]
    assert (shuffle_method(many.pair(0, 1)).method == "grouped") == (make is items)
    if sides == "one-sided":
        assert (together + together.T >= SHUFFLES).all()
        monkeypatch.setattr(randomization, "GROUPED_UNITS", 10**9)
        by_coins = all_pairs_test([many], DRAWS, sides)[0]
        assert (by_coins == together).all() == (make is not items)


@pytest.mark.long
@pytest.mark.parametrize("make", [extraction, values, items, matthews])
@pytest.mark.parametrize("kind", INTERVALS, ids=[kind.name for kind in INTERVALS])
def test_intervals_of_very_many_units(make: Callable[[np.random.Generator, int], Sums], kind: IntervalKind) -> None:
    """In whatever order the units stand."""
    many, plan = large(make), IntervalPlan(kind=kind)
    order = np.random.default_rng(6).permutation(many.units)
    if many.is_ratio:
        shuffled: Sums = Sums.of_ratios(many.numerators[:, order], many.denominators[:, order], many.slack)
    else:
        shuffled = Sums.of_counts(many.counts[:, :, order], many.valuation)
    found = Bootstrap().differences(many, [(0, 1), (3, 2), (1, 3)], plan)
    for place, (a, b) in enumerate(((0, 1), (3, 2))):
        alone = Bootstrap().differences(shuffled.pair(b, a), [(0, 1)], plan)
        assert (-alone.high[0], -alone.low[0]) == (found.low[place], found.high[place])
