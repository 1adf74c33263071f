"""Contributions of exchange units: they add up to the difference, and have the expected values in simple cases."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.measures.forms import Exact
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.slices import contributions, to_digits
from evalhouse.warehouse.significance.sums import Sums, Valuation

counts = st.integers(0, 50)
units = st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=12)


@given(units)
def test_of_a_ratio_they_add_up_to_the_difference(rows: list[tuple[int, int, int, int]]) -> None:
    over_a, under_a, over_b, under_b = np.array([*rows, (0, 1, 0, 1)], dtype=np.int64).T
    found = contributions(Sums.of_ratios(np.stack((over_a, over_b)), np.stack((under_a, under_b))))
    whole = Fraction(int(over_a.sum()), int(under_a.sum())) - Fraction(int(over_b.sum()), int(under_b.sum()))
    assert found.sum() == pytest.approx(float(whole), abs=1e-12 * (1 + float(np.abs(found).sum())))
    same = (over_a == over_b) & (under_a == under_b)
    assert not found[same].any()


@given(units)
def test_of_a_ratio_they_turn_about_with_the_systems(rows: list[tuple[int, int, int, int]]) -> None:
    over_a, under_a, over_b, under_b = np.array([*rows, (0, 1, 0, 1)], dtype=np.int64).T
    there = Sums.of_ratios(np.stack((over_a, over_b)), np.stack((under_a, under_b)))
    back = Sums.of_ratios(np.stack((over_b, over_a)), np.stack((under_b, under_a)))
    assert contributions(there) == pytest.approx(-contributions(back), abs=1e-12)


def test_of_a_ratio_they_are_the_shapley_value_of_numerators_and_denominators() -> None:
    over, under = np.array([[3, 1, 4], [1, 1, 5]]), np.array([[5, 2, 7], [4, 2, 3]])
    found = contributions(Sums.of_ratios(over, under))
    n_a, n_b, d_a, d_b = (Fraction(int(row.sum())) for row in (*over, *under))
    # Each of the two changes first, and the two orders are averaged.
    by_over = ((n_a - n_b) / d_b + (n_a - n_b) / d_a) / 2
    by_under = ((n_b / d_a - n_b / d_b) + (n_a / d_a - n_a / d_b)) / 2
    assert by_over + by_under == n_a / d_a - n_b / d_b
    for unit in range(3):
        share = Fraction(int(over[0, unit] - over[1, unit]), 1) / (n_a - n_b) * by_over
        share += Fraction(int(under[0, unit] - under[1, unit]), 1) / (d_a - d_b) * by_under
        assert found[unit] == pytest.approx(float(share))


def test_of_a_mean_they_are_the_differences_over_the_number() -> None:
    values = np.array([[1, 0, 1, 1], [0, 0, 1, 0]])
    assert contributions(Sums.of_ratios(values, np.ones_like(values))).tolist() == [0.25, 0.0, 0.0, 0.25]


def product(sums: Floats) -> Floats:
    return np.asarray(sums[0] * sums[1])


def _counted(values: object, exactly: object, of: list[list[list[int]]]) -> Sums:
    return Sums.of_counts(np.array(of, dtype=np.int64), Valuation(values, exactly))


def test_of_a_product_they_are_its_shapley_value_along_the_way() -> None:
    def exactly(sums: tuple[int, ...]) -> Exact:
        return Fraction(sums[0] * sums[1])

    two = _counted(product, exactly, [[[3, 2], [1, 6]], [[1, 1], [2, 2]]])
    # On the straight way from (2, 4) to (5, 7) the mean of the second factor is 5.5, that of the first 3.5.
    assert contributions(two) == pytest.approx([2 * 5.5 - 1 * 3.5, 1 * 5.5 + 4 * 3.5], rel=1e-9)


@pytest.mark.parametrize("steep", [False, True])
@given(rows=st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=9))
def test_of_a_function_they_add_up_to_the_difference(steep: bool, rows: list[tuple[int, int, int, int]]) -> None:
    def values(sums: Floats) -> Floats:
        x, y = sums
        # A fourth root is steep at 0, a minimum has a corner.
        return np.asarray((x / (y + 1)) ** 0.25 if steep else np.minimum(1.0, x / (y + 1)) * y)

    def exactly(sums: tuple[int, ...]) -> Exact:
        return Fraction(float(values(np.array(sums, dtype=np.float64)[:, None])[0]))

    x_a, y_a, x_b, y_b = np.array(rows, dtype=np.int64).T
    two = Sums.of_counts(np.stack((np.stack((x_a, y_a)), np.stack((x_b, y_b)))), Valuation(values, exactly))
    first, second = two.values()
    found = contributions(two)
    assert found.sum() == pytest.approx(first - second, abs=1e-9 * (1 + float(np.abs(found).sum())))


def test_they_are_of_two_systems() -> None:
    with pytest.raises(ValueError, match="needs two systems"):
        contributions(Sums.of_ratios(np.ones((3, 2), dtype=np.int64), np.ones((3, 2), dtype=np.int64)))


def test_derivatives_keep_eight_digits() -> None:
    given = np.array([0.0, 1 / 3, -123456789.0, 9.99999999e-5, 1e-12, np.nan, np.inf])
    found = to_digits(given)
    assert found[:3].tolist() == [0.0, 0.33333333, -123456790.0]
    assert found[3:5].tolist() == pytest.approx([1e-4, 1e-12], rel=1e-15)
    assert np.isnan(found[5])
    assert np.isinf(found[6])
