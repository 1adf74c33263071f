"""Randomization of any function of sums agrees with the kernels for ratios, shuffle by shuffle."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.significance.paired import Paired
from warehouse.significance.shuffles import functional as arbitrary
from warehouse.significance.shuffles import randomization


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
    found = arbitrary.pair(a, b, ratio, exact_ratio, 9999, seed, 7, sides)
    expected = randomization.pair(Paired(over[0], under[0], over[1], under[1]), 9999, seed, 7, sides)
    assert found == expected


def test_an_undefined_pseudo_system_counts_with_0() -> None:
    a, b = np.array([[1, 0], [1, 0]]), np.array([[0, 0], [0, 1]])
    found = arbitrary.pair(a, b, ratio, exact_ratio, 999, 1, 1)
    expected = randomization.pair(Paired(a[0], a[1], b[0], b[1]), 999, 1, 1)
    assert found == expected


def test_identical_systems_have_p_1() -> None:
    counts = np.array([[3, 1, 2], [4, 4, 4]])
    assert arbitrary.pair(counts, counts, ratio, exact_ratio, 99).p == 1.0


def test_an_undefined_system_is_refused() -> None:
    nothing = np.zeros((2, 3), dtype=np.int64)
    with pytest.raises(ValueError, match="undefined"):
        arbitrary.pair(nothing, nothing + 1, ratio, exact_ratio, 99)
