"""Adjusted p-values compared with other implementations, and the tests of whole families compared with their
definitions.
"""

from __future__ import annotations

import tracemalloc
from itertools import combinations, permutations, product
from math import sqrt

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalhouse.warehouse.significance import multiple
from evalhouse.warehouse.significance.draws import Draws, Work
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import null_differences
from evalhouse.warehouse.significance.sums import Sums
from tests.significance import brute

LEVELS = [0.01, 0.04, 0.03, 0.005, 0.6, 0.03, 1.0, 0.0001]


@pytest.mark.long
def test_adjustments_equal_those_of_statsmodels_and_scipy() -> None:
    source = np.random.default_rng(1)
    for levels in (LEVELS, [0.03], source.random(50).tolist(), (source.integers(0, 5, 40) / 100).tolist()):
        for adjust, name in (
            (multiple.bonferroni, "bonferroni"),
            (multiple.holm, "holm"),
            (multiple.benjamini_hochberg, "fdr_bh"),
        ):
            np.testing.assert_allclose(adjust(levels), multipletests(levels, method=name)[1], rtol=1e-12)
        np.testing.assert_allclose(
            multiple.benjamini_hochberg(levels), stats.false_discovery_control(levels), rtol=1e-12
        )


def test_missing_levels_pass_through_uncounted() -> None:
    for adjust in (multiple.bonferroni, multiple.holm, multiple.benjamini_hochberg):
        found = adjust([None, 0.01, float("nan"), 0.04])
        assert np.isnan(found[[0, 2]]).all()
        np.testing.assert_array_equal(found[[1, 3]], adjust([0.01, 0.04]))
        assert adjust([]).shape == (0,)
        with pytest.raises(ValueError, match="not between 0 and 1"):
            adjust([0.5, 1.5])


def test_westfall_young_follows_its_definition() -> None:
    """Step-down maxima over the very shuffles of the single pairs."""
    many = Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(2), 4, 30)))
    pairs = list(combinations(range(4), 2))
    shuffles = 300
    observed, null = [], []
    for a, b in pairs:
        paired = many.pair(a, b)
        delta_n, delta_d = paired.differences()
        total_n, total_d = (sum(of) for of in zip(paired.totals(0), paired.totals(1), strict=True))
        spread = 2 * sqrt(float(((total_d * delta_n - total_n * delta_d) ** 2).sum())) / total_d**2
        values = many.values()
        observed.append(abs(values[a] - values[b]) / spread)
        null.append(np.abs(null_differences(paired, Draws(shuffles))) / spread)
    order = np.argsort(-np.array(observed))
    expected, running = np.empty(len(pairs)), 0.0
    for place, pair in enumerate(order):
        largest = np.max([null[other] for other in order[place:]], axis=0)
        running = max(running, (np.count_nonzero(largest >= observed[pair] - 1e-9) + 1) / (shuffles + 1))
        expected[pair] = running
    np.testing.assert_array_equal(multiple.westfall_young(many, pairs, Draws(shuffles)), expected)


def test_westfall_young_lies_between_single_and_bonferroni_like_levels() -> None:
    many = Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(3), 6, 60)))
    pairs = list(combinations(range(6), 2))
    for sides in ("two-sided", "one-sided"):
        single = (all_pairs_test([many], Draws(4000), sides=sides)[0] + 1) / 4001
        levels = np.array([single[pair] for pair in pairs])
        adjusted = multiple.westfall_young(many, pairs, Draws(4000), sides=sides)
        assert (adjusted >= levels).all()
        assert (adjusted <= np.minimum(1, levels * len(pairs)) + 0.05).all()
        alone = multiple.westfall_young(many, [(4, 1)], Draws(4000), sides=sides)
        assert alone[0] == single[4, 1]


@pytest.mark.long
def test_a_family_keeps_its_error_rate() -> None:
    """Seventeen alike systems on documents of unlike difficulty: some level of the 136 pairs is at most 0.05 in no more
    than a twentieth of 120 families, within three standard errors.
    """
    source = np.random.default_rng(4)
    wrong = {"holm": 0, "maxt": 0, "tukey": 0}
    unadjusted = 0
    pairs = list(combinations(range(17), 2))
    for trial in range(120):
        bottoms = source.integers(1, 9, (17, 30))
        many = Sums.of_ratios(source.binomial(bottoms, source.beta(2, 2, 30)), bottoms)
        nge = all_pairs_test([many], Draws(2999, stream=trial))[0]
        levels = [(nge[pair] + 1) / 3000 for pair in pairs]
        unadjusted += min(levels) <= 0.05
        wrong["holm"] += bool(multiple.holm(levels).min() <= 0.05)
        wrong["maxt"] += bool(multiple.westfall_young(many, pairs, Draws(399, stream=trial)).min() <= 0.05)
        wrong["tukey"] += bool((multiple.tukey(many, Draws(399, stream=trial)) + 1).min() / 400 <= 0.05)
    assert unadjusted / 120 > 0.5
    for errors in wrong.values():
        assert errors / 120 <= 0.05 + 3 * sqrt(0.05 * 0.95 / 120)


def test_systems_that_do_not_differ_have_level_1() -> None:
    many = Sums.of_ratios([[3, 1], [3, 1], [0, 2]], [[4, 4], [4, 4], [4, 4]])
    assert multiple.westfall_young(many, [(0, 1), (0, 2)], Draws(50))[0] == 1.0
    assert multiple.tukey(many, Draws(50))[0, 1] == 50
    assert multiple.westfall_young(many, [], Draws(50)).shape == (0,)
    with pytest.raises(ValueError, match="not a pair of 3 systems"):
        multiple.westfall_young(many, [(0, 3)], Draws(50))


def test_tukey_of_two_systems_is_randomization() -> None:
    """Permuting two labels is exchanging the pair, so the levels agree within four standard errors."""
    many = Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(5), 2, 25)))
    for sides in ("two-sided", "one-sided"):
        level = (all_pairs_test([many], Draws(10_000))[0, 0, 1] + 1) / 10_001
        estimate = (
            multiple.tukey(many, Draws(10_000), sides=sides).max(initial=0, where=~np.eye(2, dtype=bool)) + 1
        ) / 10_001
        if sides == "two-sided":
            assert abs(level - estimate) < 4 * sqrt(2 * level * (1 - level) / 10_000)
        else:
            assert estimate == 1.0  # the difference of the worse less the better is never more than the range


def test_tukey_follows_its_definition() -> None:
    """All 6³ ways to permute three systems' labels in three units, within four standard errors."""
    tops, bottoms = np.array([[3, 1, 4], [1, 5, 0], [2, 2, 2]]), np.array([[4, 3, 5], [6, 5, 1], [2, 7, 2]])
    many = Sums.of_ratios(tops, bottoms)
    ranges = []
    for labels in product(permutations(range(3)), repeat=3):
        places = np.array(labels).T
        pseudo = np.take_along_axis(tops, places, 0).sum(1) / np.take_along_axis(bottoms, places, 0).sum(1)
        ranges.append(np.ptp(pseudo))
    nge = multiple.tukey(many, Draws(20_000))
    values = many.values()
    for a, b in combinations(range(3), 2):
        level = np.mean(np.array(ranges) >= abs(values[a] - values[b]) - 1e-12)
        assert abs(nge[a, b] / 20_000 - level) <= 4 * sqrt(level * (1 - level) / 20_000)
        assert nge[a, b] == nge[b, a]


def test_longer_runs_begin_with_shorter_ones_and_progress_is_heard() -> None:
    many = Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(6), 3, 10)))
    seen: list[float] = []
    multiple.tukey(many, Draws(multiple.LABELS_CHUNK + 3), work=Work(progress=seen.append))
    assert seen == [multiple.LABELS_CHUNK / (multiple.LABELS_CHUNK + 3), 1.0]
    multiple.westfall_young(many, [(0, 1)], Draws(coins.CHUNK + 3), work=Work(progress=seen.append))
    assert seen[2:] == [coins.CHUNK / (coins.CHUNK + 3), 1.0]
    assert (multiple.tukey(many, Draws(400)) >= multiple.tukey(many, Draws(399))).all()
    with pytest.raises(ValueError, match="shuffles is 0"):
        multiple.tukey(many, Draws(0))


def test_pairs_with_counts_of_their_own_are_reached_as_in_a_family_of_all_and_held_one_at_a_time() -> None:
    many = Sums.of_ratios(np.random.default_rng(7).integers(0, 9, (16, 12)), np.full((16, 12), 9))
    pairs, draws = list(combinations(range(16), 2)), Draws(12_000, 1992, (3,))
    alone = multiple.FamilyOfPairs(
        lambda place: multiple.SpreadFamily(many.pair(*pairs[place]), [(0, 1)], "two-sided"), len(pairs)
    )
    tracemalloc.start()
    reached = multiple.count_reached_by_largest(alone, draws)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    together = multiple.SpreadFamily(many, pairs, "two-sided")
    np.testing.assert_array_equal(reached, multiple.count_reached_by_largest(together, draws))
    assert peak < len(pairs) * coins.CHUNK * 8 / 4
