"""Looking more than once: what e-values and plans promise whatever the data, and the e-value by its definition."""

from __future__ import annotations

from math import cosh, exp, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.significance.draws import Draws, Sides
from evalhouse.warehouse.significance.looking import STAKES, contributions, look_by_plan, looks_at_any_time
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.spending import SPENDINGS, Spending, find_spending
from evalhouse.warehouse.significance.sums import Sums, Valuation


def _f(sums: np.ndarray) -> np.ndarray:
    """A function of sums that is no ratio of two of them: the geometric mean of two shares."""
    without = np.full(sums.shape[1:], np.nan)
    return np.asarray(np.divide(np.sqrt(sums[0] * sums[1]), sums[2], out=without, where=sums[2] > 0))


FUNCTION = Valuation(_f, lambda sums: None)


@st.composite
def ratios(draw: st.DrawFn) -> Sums:
    """Two systems by numerators and denominators, with and without the same denominators."""
    units = draw(st.integers(1, 30))
    over = draw(st.lists(st.integers(0, 9), min_size=2 * units, max_size=2 * units))
    more = draw(st.lists(st.integers(0, 9), min_size=2 * units, max_size=2 * units))
    numerators = np.array(over).reshape(2, units)
    denominators = numerators + np.array(more).reshape(2, units)
    if draw(st.booleans()):
        denominators = np.full((2, units), 9)
    denominators[:, -1] += 1
    return Sums.of_ratios(numerators, denominators)


@st.composite
def functions(draw: st.DrawFn) -> Sums:
    units = draw(st.integers(1, 20))
    counts = draw(st.lists(st.integers(0, 9), min_size=6 * units, max_size=6 * units))
    return Sums.of_counts(np.array(counts, dtype=np.int64).reshape(2, 3, units), FUNCTION)


anything = ratios() | functions()
sides = st.sampled_from(["two-sided", "one-sided"])


def turned(paired: Sums) -> Sums:
    return paired.only((1, 0))


@given(anything, st.sampled_from([2, 3, 7, 1000]))
def test_an_e_value_is_the_same_when_all_counts_are_multiplied(paired: Sums, times: int) -> None:
    larger = Sums(tuple(column * times for column in paired.columns), paired.valuation)
    assert looks_at_any_time(larger).p == pytest.approx(looks_at_any_time(paired).p, rel=1e-9)


@given(anything)
def test_an_exchange_of_the_systems_turns_the_sign_and_nothing_else(paired: Sums) -> None:
    assert contributions(turned(paired)).tolist() == (-contributions(paired)).tolist()
    assert looks_at_any_time(turned(paired)).p == pytest.approx(looks_at_any_time(paired).p, rel=1e-12)


@given(anything, st.data())
def test_an_exchange_of_one_unit_turns_the_sign_of_its_contribution_alone(paired: Sums, data: st.DataObject) -> None:
    unit = data.draw(st.integers(0, paired.units - 1))
    columns = [column.copy() for column in paired.columns]
    for column in columns:
        column[:, unit] = column[::-1, unit]
    expected = contributions(paired)
    expected[unit] *= -1
    assert contributions(Sums(tuple(columns), paired.valuation)).tolist() == pytest.approx(expected.tolist(), rel=1e-12)


@given(anything, sides)
def test_units_at_the_end_change_nothing_of_what_was_before(paired: Sums, of_sides: Sides) -> None:
    largest = [looks_at_any_time(paired.first(units), of_sides).e_value for units in range(1, paired.units + 1)]
    assert largest == sorted(largest)
    whole = contributions(paired)
    for units in range(1, paired.units):
        assert contributions(paired.first(units)).tolist() == whole[:units].tolist()


def test_the_e_value_of_right_and_wrong_items_by_its_definition() -> None:
    """Where all differences are of one size, a stake is λ itself, and units that tie change nothing."""
    first, second = [1, 1, 0, 1, 1, 0, 1, 1, 1], [0, 0, 0, 1, 0, 1, 0, 0, 0]
    paired = Sums.of_ratios([first, second], np.ones((2, 9), dtype=int))
    worth, most = dict.fromkeys([*STAKES, *(-stake for stake in STAKES)], 1.0), 1.0
    for difference in (a - b for a, b in zip(first, second, strict=True)):
        worth = {stake: has * exp(stake * difference) / cosh(stake * difference) for stake, has in worth.items()}
        most = max(most, sum(worth.values()) / len(worth))
    found = looks_at_any_time(paired)
    assert found.e_value == pytest.approx(most)
    assert (found.p, found.reached) == (1 / found.e_value, 9)


def test_numbers_too_large_for_64_bits_are_multiplied_all_the_same() -> None:
    small = np.array([[3, 1, 4, 1, 5], [2, 7, 1, 8, 2]])
    plain = Sums.of_ratios(small, np.full((2, 5), 9))
    large = Sums.of_ratios(small * 2**50, np.full((2, 5), 9 * 2**50))
    assert looks_at_any_time(large).e_value == pytest.approx(looks_at_any_time(plain).e_value)


# === by a plan ========================================================================================================


@st.composite
def plans(draw: st.DrawFn) -> tuple[Sums, list[int]]:
    """Two systems, and after how many units one looks."""
    paired = draw(anything)
    ends = draw(st.sets(st.integers(1, paired.units), min_size=1, max_size=5))
    return paired, sorted(ends)


spendings = st.sampled_from(SPENDINGS)
DRAWS = Draws(199)


@given(plans(), spendings, st.sampled_from([0.01, 0.05, 0.3]), sides)
def test_a_crossing_stays_and_p_is_at_most_the_level_if_and_only_if_it_is_crossed(
    plan: tuple[Sums, list[int]], spending: Spending, level: float, of_sides: Sides
) -> None:
    paired, ends = plan
    shares = [end / paired.units for end in ends]
    before = None
    for looks in range(1, len(ends) + 1):
        found = look_by_plan(paired, ends[:looks], shares[:looks], spending, level, DRAWS, of_sides)
        assert (found.p <= level) == found.crossed
        if before is not None and before.crossed:
            assert found == before
        before = found


@given(plans(), spendings)
def test_units_that_come_later_change_no_look_before(plan: tuple[Sums, list[int]], spending: Spending) -> None:
    paired, ends = plan
    shares = [end / 40 for end in ends]
    whole = look_by_plan(paired, ends, shares, spending, 0.05, DRAWS)
    alone = look_by_plan(paired.first(ends[-1]), ends, shares, spending, 0.05, DRAWS)
    assert whole == alone


@given(ratios(), spendings, sides)
def test_one_look_at_all_units_is_the_test_without_a_plan(paired: Sums, spending: Spending, of_sides: Sides) -> None:
    found = look_by_plan(paired, [paired.units], [1.0], spending, 0.05, DRAWS, of_sides)
    fixed = randomization_test(paired, DRAWS, of_sides)
    assert (found.p, found.nge, found.crossed) == (fixed.p, fixed.nge, fixed.p <= 0.05)


@given(spendings, st.sampled_from([0.001, 0.01, 0.05, 0.2, 0.9]), st.lists(st.floats(0.001, 2), min_size=2))
def test_what_is_spent_grows_to_the_level(spending: Spending, level: float, shares: list[float]) -> None:
    spent = [spending.of(level, share) for share in sorted(shares)]
    assert all(0 <= value <= level for value in spent)
    assert spent == sorted(spent)
    assert spending.of(level, 1.0) == level


def test_spending_as_published() -> None:
    """Lan and DeMets 1983: at two fifths, 2 − 2Φ(1.96/√.4) and α·ln(1 + (e − 1)·.4)."""
    assert find_spending(None).of(0.05, 0.4) == pytest.approx(0.00194, abs=1e-5)
    assert find_spending("pocock").of(0.05, 0.4) == pytest.approx(0.02616, abs=1e-5)


def test_of_all_paths_no_more_stop_than_may() -> None:
    """Each path in the place of the observed one: of all of them, no more than the level stop by the last look."""
    source = np.random.default_rng(7)
    differences, level, stopped = source.integers(-3, 4, 12), 0.25, 0
    signs = np.array([[1 if number >> unit & 1 else -1 for unit in range(12)] for number in range(0, 4096, 41)])
    for row in signs:
        values = differences * row
        paired = Sums.of_ratios([np.maximum(values, 0), np.maximum(-values, 0)], np.full((2, 12), 3))
        stopped += look_by_plan(paired, [4, 8, 12], [1 / 3, 2 / 3, 1.0], SPENDINGS[1], level, Draws(399)).crossed
    assert stopped <= floor(len(signs) * level) + 5
