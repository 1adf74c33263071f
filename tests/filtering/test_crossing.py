"""Where one system overtakes another: closed forms, and the ends of the confidence set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.filtering.projection import INTERVALS, crossing_region, crossings, project, subtract
from evalhouse.warehouse.significance.arrays import Floats
from tests.filtering.test_projection import formula

SHARES = st.tuples(st.floats(0.02, 0.98), st.floats(0.02, 0.98))


def between(name: str, first: tuple[float, float], second: tuple[float, float]) -> Callable[[Floats], Floats]:
    def difference(at: Floats) -> Floats:
        one, other = (
            project(formula(name), np.array(recall), np.array(fallout), at) for recall, fallout in (first, second)
        )
        return subtract(one, other)

    return difference


@given(first=SHARES, second=SHARES)
def test_f_and_accuracy_cross_where_algebra_says(first: tuple[float, float], second: tuple[float, float]) -> None:
    (r, f), (s, e) = first, second
    if abs(r - s) < 0.01 or abs(f - e) < 0.01:
        return
    # F: r(g + s·g + e(1 − g)) = s(g + r·g + f(1 − g)); accuracy: r·g + (1 − f)(1 − g) = s·g + (1 − e)(1 − g).
    for name, odds in (
        ("F", (s * f - r * e) / (r - s)),
        ("Jaccard", (s * f - r * e) / (r - s)),
        ("accuracy", (f - e) / (r - s)),
    ):
        found = crossings(between(name, first, second)).at
        if 1e-5 < odds < 1e5:
            assert found == pytest.approx([odds / (1 + odds)], rel=1e-6)
        elif odds < 0:
            assert found == ()


@given(first=SHARES, second=SHARES)
def test_precision_never_crosses(first: tuple[float, float], second: tuple[float, float]) -> None:
    """Its order is that of fallout over recall at every generality."""
    assert crossings(between("precision", first, second)).at == ()


def test_systems_that_are_alike_do_not_cross() -> None:
    found = crossings(between("MCC", (0.7, 0.2), (0.7, 0.2)))
    assert (found.at, found.first, found.last) == ((), 0, 0)


def test_a_difference_may_change_its_sign_more_than_once() -> None:
    found = crossings(lambda at: (at - 0.2) * (at - 0.7))
    assert found.at == pytest.approx((0.2, 0.7))
    assert (found.first, found.last) == (1, 1)


def test_the_confidence_set_is_where_intervals_hold_0() -> None:
    middle = np.log(INTERVALS / (1 - INTERVALS))
    found = crossing_region(middle - 1, middle + 1)
    assert (found.low, found.high) == pytest.approx((1 / (1 + np.e), 1 / (1 + 1 / np.e)), rel=1e-6)
    assert found.parts == 1


def test_a_confidence_set_may_go_on_to_the_ends_or_not_be_there() -> None:
    ones = np.ones(len(INTERVALS))
    assert crossing_region(-ones, ones) == crossing_region(0 * ones, 0 * ones)
    assert (crossing_region(-ones, ones).low, crossing_region(-ones, ones).high) == (0.0, 1.0)
    assert (crossing_region(ones, 2 * ones).low, crossing_region(ones, 2 * ones).parts) == (None, 0)
    half = np.where(INTERVALS < 0.5, -1.0, 1.0)
    assert crossing_region(half, ones).low == 0.0
    dip = np.where(np.abs(INTERVALS - 0.5) < 0.3, 1.0, -1.0)
    assert crossing_region(dip, ones).parts == 2
    flipped = np.where(INTERVALS < 0.5, -1.0, 1.0)
    assert crossing_region(flipped - 0.1, flipped + 0.1).parts == 1
