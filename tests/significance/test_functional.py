"""Randomization of any function of sums agrees with the kernels for ratios, shuffle by shuffle."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from warehouse.significance.draws import Draws
from warehouse.significance.paired import Paired
from warehouse.significance.shuffles.functional import functional_test
from warehouse.significance.shuffles.randomization import randomization_test
from warehouse.significance.valuation import PairedCounts, Valuation


def ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(sums[0], sums[1], out=np.full(sums.shape[1], np.nan), where=sums[1] != 0)


def exact_ratio(sums: tuple[int, ...]) -> Fraction | None:
    return Fraction(sums[0], sums[1]) if sums[1] else None


@pytest.mark.parametrize("sides", ["two-sided", "one-sided"])
@pytest.mark.parametrize("seed", range(5))
def test_a_ratio_meets_the_same_shuffles_as_the_kernel_for_ratios(seed: int, sides: str) -> None:
    source = np.random.default_rng(seed)
    under = source.integers(0, 6, (2, 37))
    over = source.binomial(under, 0.5)
    a, b = np.stack((over[0], under[0])), np.stack((over[1], under[1]))
    found = functional_test(PairedCounts(a, b, Valuation(ratio, exact_ratio)), Draws(9999, seed, 7), sides)  # type: ignore[arg-type]
    expected = randomization_test(Paired(over[0], under[0], over[1], under[1]), Draws(9999, seed, 7), sides)  # type: ignore[arg-type]
    assert found == expected


def test_an_undefined_pseudo_system_counts_with_0() -> None:
    a, b = np.array([[1, 0], [1, 0]]), np.array([[0, 0], [0, 1]])
    found = functional_test(PairedCounts(a, b, Valuation(ratio, exact_ratio)), Draws(999, 1, 1))
    expected = randomization_test(Paired(a[0], a[1], b[0], b[1]), Draws(999, 1, 1))
    assert found == expected


def test_identical_systems_have_p_1() -> None:
    counts = np.array([[3, 1, 2], [4, 4, 4]])
    assert functional_test(PairedCounts(counts, counts, Valuation(ratio, exact_ratio)), Draws(99)).p == 1.0


def test_an_undefined_system_is_refused() -> None:
    nothing = np.zeros((2, 3), dtype=np.int64)
    with pytest.raises(ValueError, match="undefined"):
        functional_test(PairedCounts(nothing, nothing + 1, Valuation(ratio, exact_ratio)), Draws(99))
