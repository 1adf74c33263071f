"""The data that a comparison accepts."""

from __future__ import annotations

import numpy as np
import pytest

from evalhouse.warehouse.significance.extreme import Extreme
from evalhouse.warehouse.significance.sums import Sums


def test_counts_that_are_no_data_of_a_comparison_are_refused() -> None:
    ones = [1, 1]
    with pytest.raises(ValueError, match="must hold integers"):
        Sums.of_two([0.5, 1.0], ones, ones, ones)
    with pytest.raises(ValueError, match="dimensions"):
        Sums.of_two([ones], ones, ones, ones)
    with pytest.raises(ValueError, match="has 3 units and numerator_a has 2"):
        Sums.of_two(ones, ones, [1, 1, 1], ones)
    with pytest.raises(ValueError, match="a denominator is negative"):
        Sums.of_two(ones, [2, -1], ones, ones)
    with pytest.raises(ValueError, match="sum to 2\\^60 or more"):
        Sums.of_two([2**59, 2**59], ones, ones, ones)
    with pytest.raises(ValueError, match="have the shape"):
        Sums.of_ratios([ones, ones], [[1], [1]])
    with pytest.raises(ValueError, match="at least two systems"):
        Sums.of_ratios([ones], [ones])


def test_an_undefined_measure_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="the first system is undefined"):
        Sums.of_two([1], [0], [1], [1])
    with pytest.raises(ValueError, match="the second system is undefined"):
        Sums.of_two([1], [1], [1], [0])
    with pytest.raises(ValueError, match="system 1 is undefined"):
        Sums.of_ratios([[1], [1]], [[1], [0]])
    with pytest.raises(ValueError, match="undefined"):
        Sums.of_two([], [], [], [])


def test_slack_is_for_equal_denominators() -> None:
    assert Sums.of_two([1], [1], [0], [1], slack=2).slack == 2
    with pytest.raises(ValueError, match="denominators differ"):
        Sums.of_two([1], [1], [0], [2], slack=1)
    with pytest.raises(ValueError, match="cannot be negative"):
        Sums.of_two([1], [1], [0], [1], slack=-1)


def test_what_was_given_cannot_be_changed_afterwards() -> None:
    paired = Sums.of_two([1, 2], [3, 4], [1, 1], [3, 4])
    with pytest.raises(ValueError, match="read-only"):
        paired.numerators[0][0] = 5


def test_a_pair_of_many_is_the_pair() -> None:
    many = Sums.of_ratios([[1, 2], [3, 4], [5, 6]], [[1, 1], [2, 2], [3, 3]])
    pair = many.pair(2, 0)
    assert (pair.totals(0), pair.totals(1)) == ((11, 6), (3, 2))
    turned = pair.pair(1, 0)
    assert (turned.totals(0), turned.totals(1)) == ((3, 2), (11, 6))
    np.testing.assert_array_equal(many.values(), [1.5, 7 / 4, 11 / 6])


def test_the_threshold_is_where_the_answer_changes() -> None:
    source = np.random.default_rng(5)
    for _ in range(200):
        tops, bottoms = source.integers(-9, 30, (2, 4)), source.integers(0, 9, (2, 4))
        if not bottoms.any(axis=1).all():
            continue
        seen = Extreme.of(Sums.of_two(tops[0], bottoms[0], tops[1], bottoms[1]), "one-sided")
        for v in {0, 1, -2, seen.denominators, -seen.denominators}:
            if abs(v) <= seen.denominators:
                least = seen.least(v)
                u = np.array([least - 1, least])
                assert seen.contains(u, np.array([v, v])).tolist() == [False, True]
                assert seen.least(v, strict=True) in (least, least + 1)
