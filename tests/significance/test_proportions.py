"""The intervals of shares of right items, beside SciPy's, and by their laws."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalhouse.warehouse.significance.proportions import CLOPPER_PEARSON, WILSON, ShareInterval, right_or_wrong
from evalhouse.warehouse.significance.sums import Sums

KINDS = [(WILSON, "wilson"), (CLOPPER_PEARSON, "exact")]
SHARES = st.integers(1, 400).flatmap(lambda items: st.tuples(st.integers(0, items), st.just(items)))


@pytest.mark.parametrize(("kind", "method"), KINDS)
@pytest.mark.parametrize("items", [1, 2, 7, 40, 1000])
def test_it_is_that_of_scipy(kind: ShareInterval, method: str, items: int) -> None:
    for right in {0, 1, items // 3, items // 2, items - 1, items}:
        for level in (0.01, 0.05, 0.2):
            low, high = stats.binomtest(right, items).proportion_ci(1 - level, method)
            assert kind.limits(right, items, level) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


@given(SHARES, st.sampled_from([WILSON, CLOPPER_PEARSON]))
def test_it_mirrors_holds_the_share_and_stays_between_0_and_1(share: tuple[int, int], kind: ShareInterval) -> None:
    right, items = share
    low, high = kind.limits(right, items, 0.05)
    assert 0 <= low <= right / items <= high <= 1
    mirrored = kind.limits(items - right, items, 0.05)
    assert mirrored == (pytest.approx(1 - high, abs=1e-12), pytest.approx(1 - low, abs=1e-12))
    narrower = kind.limits(right, items, 0.2)
    assert low <= narrower[0] <= narrower[1] <= high


@given(st.integers(1, 40), st.fractions(0, 1, max_denominator=50))
def test_clopper_and_pearsons_never_misses_more_often_than_promised(items: int, true: Fraction) -> None:
    """On either side, summed exactly over all numbers of right items."""
    chances = [comb(items, k) * true**k * (1 - true) ** (items - k) for k in range(items + 1)]
    limits = [CLOPPER_PEARSON.limits(k, items, 0.1) for k in range(items + 1)]
    assert sum(chance for chance, (low, _) in zip(chances, limits, strict=True) if low > true) <= Fraction(1, 20)
    assert sum(chance for chance, (_, high) in zip(chances, limits, strict=True) if high < true) <= Fraction(1, 20)


def test_only_items_that_are_right_or_wrong_have_a_share() -> None:
    """One item in a unit at most: passages with several, partly right answers and other numbers have none."""
    numerators, denominators = (
        [[1, 0, 1], [2, 0, 1], [1, 1, 1], [1, 0, 0]],
        [[1, 1, 1], [2, 1, 1], [1, 1, 3], [1, 0, 1]],
    )
    many = Sums.of_ratios(numerators, denominators)
    assert right_or_wrong(many, 1.0).tolist() == [True, False, False, True]
    assert not right_or_wrong(many, 100.0).any()
