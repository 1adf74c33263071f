"""Rank sets and clusters by their definitions, and comparisons over test sets against SciPy and Demšar (2006)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from evalhouse.warehouse.significance import independent
from evalhouse.warehouse.significance.distributions import chi_square_tail
from evalhouse.warehouse.significance.groups import clusters, letters, places, rank_limits
from evalhouse.warehouse.significance.multiple import holm

DEMSAR = """
.763 .768 .771 .798 / .599 .591 .590 .569 / .954 .971 .968 .967 / .628 .661 .654 .657 / .882 .888 .886 .898
/ .936 .931 .916 .931 / .661 .668 .609 .685 / .583 .583 .563 .625 / .775 .838 .866 .875 / 1 1 1 1
/ .940 .962 .965 .962 / .619 .666 .614 .669 / .972 .981 .975 .975 / .957 .978 .946 .970
"""
"""Areas under the ROC curve of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets (Demšar 2006, table 6)."""


def demsar() -> np.ndarray:
    return np.array([[float(cell) for cell in row.split()] for row in DEMSAR.split("/")]).T


def test_a_rank_lies_behind_all_that_are_better_and_before_all_that_are_worse() -> None:
    better = np.zeros((4, 4), dtype=bool)
    better[0, 1:] = better[1, 3] = True
    low, high = rank_limits(better)
    assert low.tolist() == [1, 2, 2, 3]
    assert high.tolist() == [1, 3, 4, 4]


def test_every_order_that_agrees_with_who_is_better_has_its_ranks_in_the_sets() -> None:
    source = np.random.default_rng(5)
    for _ in range(50):
        truth = source.permutation(6)
        known = source.random((6, 6)) < 0.4
        better = known & (truth[:, None] < truth[None, :])
        low, high = rank_limits(better)
        assert (low <= truth + 1).all()
        assert (truth + 1 <= high).all()


@pytest.mark.parametrize(
    ("pairs", "numbers"),
    [
        ([], (1, 1, 1, 1)),
        ([(0, 1), (0, 2), (0, 3)], (1, 2, 2, 2)),
        ([(0, 2), (0, 3), (1, 2), (1, 3)], (1, 1, 2, 2)),
        ([(0, 2), (0, 3), (1, 3)], (1, 1, 1, 1)),
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], (1, 2, 3, 4)),
    ],
)
def test_a_cluster_begins_below_who_is_better_than_all_that_follow(
    pairs: list[tuple[int, int]], numbers: tuple[int, ...]
) -> None:
    better = np.zeros((4, 4), dtype=bool)
    for a, b in pairs:
        better[a, b] = True
    assert clusters(better, [0, 1, 2, 3]) == numbers
    turned = better[np.ix_([3, 2, 1, 0], [3, 2, 1, 0])]
    assert clusters(turned, [3, 2, 1, 0]) == numbers


def test_equal_values_share_the_better_rank() -> None:
    assert places([0.5, 0.9, 0.5, 0.1], lowest_first=False) == (2, 1, 2, 4)
    assert places([0.5, 0.9, 0.5, 0.1], lowest_first=True) == (2, 4, 2, 1)


def test_what_is_no_square_is_refused() -> None:
    for of_matrix in (rank_limits, lambda matrix: clusters(matrix, [0, 1])):
        with pytest.raises(ValueError, match="must be square"):
            of_matrix(np.zeros((2, 3)))


# --- over test sets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_friedman_is_that_of_scipy(seed: int) -> None:
    source = np.random.default_rng(seed)
    values = source.integers(0, 6, (3 + seed, 5 + seed)).astype(float)
    found = independent.friedman(values)
    other = stats.friedmanchisquare(*values)
    assert found.statistic == pytest.approx(other.statistic, rel=1e-10)
    assert found.p == pytest.approx(other.pvalue, rel=1e-10)
    of_scipy = stats.rankdata(-values.T, axis=1)
    assert np.array_equal(independent.ranks(values).T, of_scipy)


def test_systems_that_tie_everywhere_do_not_differ() -> None:
    found = independent.friedman(np.ones((3, 4)))
    assert (found.statistic, found.p) == (0.0, 1.0)
    assert not independent.wilcoxon_holm(np.ones((3, 4)), 0.05).any()


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_one_system_or_test_set_has_no_ranks_to_test(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="needs at least two systems and two test sets"):
        independent.friedman(np.ones(shape))


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 9, 40])
@pytest.mark.parametrize("square", [0.0, 0.3, 4.0, 60.0])
def test_the_chi_square_tail_is_that_of_scipy(degrees: int, square: float) -> None:
    assert chi_square_tail(square, degrees) == pytest.approx(stats.chi2.sf(square, degrees), rel=1e-10)


@pytest.mark.parametrize(
    ("systems", "level", "q"),
    [(2, 0.05, 1.960), (3, 0.05, 2.343), (4, 0.05, 2.569), (10, 0.05, 3.164), (4, 0.10, 2.291), (10, 0.10, 2.920)],
)
def test_critical_values_are_those_that_demsar_prints(systems: int, level: float, q: float) -> None:
    """Demšar (2006), table 5(a)."""
    assert independent.range_quantile(level, systems) / np.sqrt(2) == pytest.approx(q, abs=1e-3)


def test_the_example_of_demsar() -> None:
    """Section 3.2.4: CD 1.25 at 0.05, where no two differ; 1.12 at 0.10, where C4.5 is worse than both with m, and
    C4.5+cf belongs to neither group: overlapping cliques. The printed mean ranks, 3.143, 2.000, 2.893 and 1.964, do not
    follow to half a rank of one data set from the printed values."""
    values = demsar()
    mean = independent.ranks(values).mean(axis=1)
    assert mean == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=0.5 / 14 + 1e-3)
    assert independent.critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert independent.critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)
    assert not independent.better_by(mean, 1.25).any()
    better = independent.better_by(mean, independent.critical_difference(4, 14, 0.10))
    assert np.argwhere(better).tolist() == [[1, 0], [3, 0]]
    order = np.argsort(mean).tolist()
    assert letters(better | better.T, order).members == ((3, 1, 2), (2, 0))


@pytest.mark.parametrize("seed", range(6))
def test_pairs_are_those_of_scipy_adjusted_by_holm(seed: int) -> None:
    source = np.random.default_rng(seed)
    values = source.random((5, 12)) + 0.25 * np.arange(5)[:, None]
    pairs = list(combinations(range(5), 2))
    adjusted = holm([stats.wilcoxon(values[a], values[b]).pvalue for a, b in pairs])
    better = independent.wilcoxon_holm(values, 0.05)
    assert better.any()
    for (a, b), p in zip(pairs, adjusted, strict=True):
        assert (better[a, b] or better[b, a]) == (p <= 0.05)
        if better[a, b]:
            assert np.median(values[a]) > np.median(values[b])
