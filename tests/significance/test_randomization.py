"""Approximate randomization: published examples, agreement with the definition on the same random draws, and laws."""

from __future__ import annotations

from itertools import combinations, permutations
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from evalhouse.warehouse.significance.draws import Draws, Sides, Work
from evalhouse.warehouse.significance.shuffles import coins, randomization
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import null_differences, randomization_test, shuffle_method
from evalhouse.warehouse.significance.sums import Sums
from tests.significance import brute

FIRST_COINS = [[40, 78, 67, 28], [30, 186, 60, 231], [242, 67, 149, 23]]
BOTH_SIDES: tuple[Sides, Sides] = ("two-sided", "one-sided")


def coins_of(units: int, draws: Draws) -> list[tuple[bool, ...]]:
    """The coins as they are documented: for each shuffle whether each unit changes places."""
    found = []
    for chunk, used in draws.chunks(coins.CHUNK):
        rows = np.concatenate([block for _, block in coins.blocks(units, draws, chunk, used)])
        found.append(np.unpackbits(rows, axis=0, bitorder="little")[:units].T.astype(bool))
    return [tuple(row) for row in np.concatenate(found).tolist()]


def test_chinchor_example() -> None:
    """Three systems of 100 messages: A and B are alike, C is worse everywhere (Chinchor 1992)."""
    possible = np.full(100, 10)
    better, worse = np.full(100, 8), np.full(100, 2)
    alike = Sums.of_two(better, possible, better, possible)
    unlike = Sums.of_two(better, possible, worse, possible)
    assert randomization_test(alike, Draws(9999)).p == 1.0
    assert randomization_test(unlike, Draws(9999)).p == 1 / (9999 + 1)


def test_systems_of_equal_totals_differ_never_less_than_observed() -> None:
    """Ties count: with an observed difference of 0 every shuffle is at least as extreme."""
    paired = Sums.of_two([5, 1, 3, 0], [7, 5, 9, 1], [3, 3, 0, 3], [5, 9, 1, 7])
    assert randomization_test(paired, Draws(500)).nge == 500


@pytest.mark.parametrize("kind", [brute.ANY_COUNTS, brute.EQUAL_DENOMINATORS])
@pytest.mark.parametrize("scale", [1, 3, 10**9, 10**15])
def test_every_shuffle_is_counted_as_defined(scale: int, kind: str) -> None:
    """On the documented coins nge equals the count in fractions, for a pair alone and among all pairs, ties and all."""
    source = np.random.default_rng(scale % 97)
    shuffles = 40
    for trial in range(12):
        units = int(source.integers(1, 20))
        counts = brute.random_counts(source, units, 3, scale, no_denominator=(0.2, 0.7)[trial % 2], kind=kind)
        slack = trial % 3 if kind == brute.EQUAL_DENOMINATORS else 0
        many = Sums.of_ratios(*counts, slack=slack)
        drawn = coins_of(units, Draws(shuffles, 7, (1, trial)))
        for sides in BOTH_SIDES:
            nge = all_pairs_test([many], Draws(shuffles, 7, (1, trial)), sides)[0]
            for a, b in [(0, 1), (1, 0), (0, 2), (2, 1)]:
                expected = brute.extreme(many.pair(a, b), iter(drawn), sides)
                assert randomization_test(many.pair(a, b), Draws(shuffles, 7, (1, trial)), sides).nge == expected
                assert nge[a, b] == expected


def test_a_pair_meets_the_same_shuffles_alone_and_among_all() -> None:
    counts = brute.muc_counts(np.random.default_rng(3), 5, 60, possible_varies=True)
    measures = [
        Sums.of_ratios(*brute.recall(counts)),
        Sums.of_ratios(*brute.precision(counts)),
        Sums.of_ratios(*brute.f(counts, (1, 4))),
    ]
    for sides in BOTH_SIDES:
        nge = all_pairs_test(measures, Draws(9999, 11, 5), sides)
        assert nge.shape == (3, 5, 5)
        for index, many in enumerate(measures):
            assert (nge[index].diagonal() == 9999).all()
            for a, b in combinations(range(5), 2):
                assert nge[index, a, b] == randomization_test(many.pair(a, b), Draws(9999, 11, 5), sides).nge
                assert nge[index, b, a] == randomization_test(many.pair(b, a), Draws(9999, 11, 5), sides).nge


def test_counts_too_large_for_a_product_are_counted_the_same() -> None:
    """Above 2^53 the pairs are counted one by one, above 2^24 in double precision; scaling changes no nge."""
    counts = brute.muc_counts(np.random.default_rng(4), 4, 40)
    tops, bottoms = brute.f(counts)
    plain = all_pairs_test([Sums.of_ratios(tops, bottoms)], Draws(1000))
    for scale, dtype in ((10**6, np.float64), (10**14, None)):
        # One unit more with an odd difference in the last place, so that the common factor cannot be divided out.
        odd = np.arange(4)[:, None]
        large = Sums.of_ratios(np.hstack((tops * scale, odd)), np.hstack((bottoms, np.zeros_like(odd))))
        assert coins.Shuffler([large.columns]).dtype == dtype
        found = all_pairs_test([large], Draws(1000))
        assert found.shape == plain.shape
        for a, b in combinations(range(4), 2):
            assert found[0, a, b] == randomization_test(large.pair(a, b), Draws(1000)).nge


@pytest.mark.long
@pytest.mark.parametrize("scale", [1, 7, 10**5, 10**9, 10**12])
def test_all_pairs_at_once_count_what_each_pair_counts(scale: int) -> None:
    """With equal and unequal denominators, units without any, ties and systems that do not differ; of every size."""
    source = np.random.default_rng(scale)
    for trial in range(40):
        systems, units = int(source.integers(2, 6)), int(source.integers(1, 30))
        bottoms = source.integers(0, 4, (systems, units)) * scale
        if trial % 3 == 0:
            bottoms = np.tile(source.integers(1, 4, units) * scale, (systems, 1))
        if trial % 5 == 0:
            bottoms = np.where(source.random((systems, units)) < 0.6, 0, bottoms)
        tops = source.integers(0, 4, (systems, units)) * scale + source.integers(0, 1 + trial % 2, (systems, units))
        if (bottoms.sum(axis=1) == 0).any():
            continue
        many = Sums.of_ratios(tops, bottoms)
        for sides in BOTH_SIDES:
            nge = all_pairs_test([many], Draws(300, 5, 3), sides)[0]
            for a, b in permutations(range(systems), 2):
                assert nge[a, b] == randomization_test(many.pair(a, b), Draws(300, 5, 3), sides).nge


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_memory_and_length_do_not_change_the_shuffles(monkeypatch: pytest.MonkeyPatch, sides: Sides) -> None:
    counts = brute.f(brute.muc_counts(np.random.default_rng(5), 3, 70))
    many = Sums.of_ratios(*counts)
    shuffles = coins.CHUNK + 1000
    before = randomization_test(many.pair(0, 1), Draws(shuffles), sides=sides).nge
    of_all = all_pairs_test([many], Draws(shuffles), sides=sides)
    monkeypatch.setattr(coins, "ROWS", 3)
    assert randomization_test(many.pair(0, 1), Draws(shuffles), sides=sides).nge == before
    monkeypatch.setattr(coins, "SLICE", 1)
    monkeypatch.setattr(coins, "SPREAD", 4096)
    np.testing.assert_array_equal(all_pairs_test([many], Draws(shuffles), sides=sides), of_all)
    monkeypatch.setattr(coins, "TABLES", 0)
    assert randomization_test(many.pair(0, 1), Draws(shuffles), sides=sides).nge == before


def test_a_longer_run_begins_with_the_shorter_one() -> None:
    paired = brute.paired(brute.f(brute.muc_counts(np.random.default_rng(6), 2, 30)))
    long = null_differences(paired, Draws(coins.CHUNK + 500))
    np.testing.assert_array_equal(long[:300], null_differences(paired, Draws(300)))
    np.testing.assert_array_equal(long[: coins.CHUNK + 1], null_differences(paired, Draws(coins.CHUNK + 1)))


def test_null_differences_are_those_counted() -> None:
    paired = brute.paired(brute.random_counts(np.random.default_rng(8), 10, no_denominator=0.6))
    expected = [float(value) for value in brute.differences(paired, iter(coins_of(10, Draws(200))))]
    np.testing.assert_allclose(null_differences(paired, Draws(200)), expected, rtol=0, atol=1e-12)


def test_swapping_the_systems_mirrors() -> None:
    counts = brute.f(brute.muc_counts(np.random.default_rng(9), 2, 50))
    paired = brute.paired(counts)
    assert randomization_test(paired, Draws(5000)) == randomization_test(paired.pair(1, 0), Draws(5000))
    null = null_differences(paired, Draws(5000))
    np.testing.assert_array_equal(null_differences(paired.pair(1, 0), Draws(5000)), -null)


def test_seed_and_stream_decide_and_nothing_else() -> None:
    paired = brute.paired(brute.f(brute.muc_counts(np.random.default_rng(10), 2, 50)))
    first = null_differences(paired, Draws(100, seed=1, stream=(2, 3)))
    np.testing.assert_array_equal(first, null_differences(paired, Draws(100, seed=1, stream=(2, 3))))
    assert (first != null_differences(paired, Draws(100, seed=2, stream=(2, 3)))).any()
    assert (first != null_differences(paired, Draws(100, seed=1, stream=(2, 4)))).any()
    with pytest.raises(ValueError, match="negative"):
        randomization_test(paired, Draws(10, seed=-1))


def test_the_coins_are_the_same_on_every_machine() -> None:
    """A change of these bytes changes the results of every seed."""
    (_, block), *_ = coins.blocks(20, Draws(4, 1992, (7,)), 0, 4)
    assert block.tolist() == FIRST_COINS


def test_grouped_draws_follow_the_same_law_as_coins() -> None:
    """A million items of 0 and 1 are one draw a shuffle, within four standard errors of the exact significance
    level."""
    source = np.random.default_rng(11)
    a, b = source.random(200_000) < 0.600, source.random(200_000) < 0.602
    paired = Sums.of_two(a, np.ones(a.shape, dtype=int), b, np.ones(b.shape, dtype=int))
    assert shuffle_method(paired).method == "grouped"
    wins, losses = int((a & ~b).sum()), int((b & ~a).sum())
    exact = stats.binomtest(max(wins, losses), wins + losses).pvalue
    estimate = randomization_test(paired, Draws(9999)).p
    assert abs(estimate - exact) < 4 * sqrt(exact * (1 - exact) / 9999)


@pytest.mark.long
def test_grouped_draws_of_ratios_agree_with_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(12)
    right = source.random((2, 40_000)) < [[0.5], [0.505]]
    found = right | (source.random((2, 40_000)) < 0.4)
    paired = Sums.of_two(right[0], found[0], right[1], found[1])
    few = Sums.of_two(right[0, :400], found[0, :400], right[1, :400], found[1, :400])
    assert shuffle_method(few).method == "lookup"
    assert shuffle_method(paired).method == "grouped"
    by_groups = randomization_test(paired, Draws(9999)).p
    monkeypatch.setattr(randomization, "GROUPED_UNITS", 10**9)
    by_coins = all_pairs_test([Sums.of_ratios(right, found)], Draws(9999))[0, 0, 1] / 9999
    assert abs(by_coins - by_groups) < 4 * sqrt(2 * 0.25 / 9999)


def test_shuffles_are_bounded_in_memory() -> None:
    source = np.random.default_rng(13)
    counts = source.integers(0, 10**6, (4, 30_000))
    method = shuffle_method(Sums.of_two(*counts))
    assert method.method == "lookup"
    assert method.bytes < 200e6
    same = Sums.of_two(counts[0], counts[1], counts[0], counts[1])
    assert shuffle_method(same).method == "identical"
    assert randomization_test(same, Draws(10)).p == 1.0


def test_progress_is_heard_and_can_end_the_test() -> None:
    paired = brute.paired(brute.f(brute.muc_counts(np.random.default_rng(14), 2, 30)))
    seen: list[float] = []
    randomization_test(paired, Draws(2 * coins.CHUNK + 5), work=Work(progress=seen.append))
    assert seen == [share / (2 * coins.CHUNK + 5) for share in (coins.CHUNK, 2 * coins.CHUNK, 2 * coins.CHUNK + 5)]

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        randomization_test(paired, Draws(10**9), work=Work(progress=stop))
    many = Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(14), 3, 30)))
    with pytest.raises(KeyboardInterrupt):
        all_pairs_test([many], Draws(10**9), work=Work(progress=stop))


def test_what_cannot_be_shuffled_is_refused() -> None:
    paired = Sums.of_two([1], [1], [0], [1])
    with pytest.raises(ValueError, match="shuffles is 0"):
        randomization_test(paired, Draws(0))
    with pytest.raises(ValueError, match="sides is 'left'"):
        randomization_test(paired, Draws(10), sides="left")
    with pytest.raises(ValueError, match="no measure"):
        all_pairs_test([], Draws(10))
    with pytest.raises(ValueError, match="different systems or units"):
        all_pairs_test(
            [Sums.of_ratios([[1], [1]], [[1], [1]]), Sums.of_ratios([[1, 1], [1, 1]], [[1, 1], [1, 1]])], Draws(10)
        )


def test_scipy_counts_the_same_share() -> None:
    """scipy.stats.permutation_test, exact for few units, as the oracle of the approximate significance level."""
    source = np.random.default_rng(15)
    values = source.integers(0, 20, (2, 12))
    ones = np.ones(12, dtype=int)
    for sides, alternative in (("two-sided", "two-sided"), ("one-sided", "greater")):
        exact = stats.permutation_test(
            (values[0], values[1]),
            lambda x, y, axis: x.mean(axis) - y.mean(axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=np.inf,
            alternative=alternative,
        ).pvalue
        estimate = randomization_test(Sums.of_two(values[0], ones, values[1], ones), Draws(20_000), sides=sides).p
        assert abs(estimate - exact) < 4 * sqrt(exact * (1 - exact) / 20_000)


def test_p_is_super_uniform_under_the_null() -> None:
    """Of systems that do not differ, no larger share than α has p ≤ α, within three standard errors of 1,000
    comparisons."""
    source = np.random.default_rng(16)
    levels = []
    for trial in range(1000):
        bottoms = source.integers(0, 8, (2, 15)) + 1
        tops = source.binomial(bottoms, 0.5)
        levels.append(
            randomization_test(Sums.of_two(tops[0], bottoms[0], tops[1], bottoms[1]), Draws(199, stream=trial)).p
        )
    for level in (0.01, 0.05, 0.1, 0.25, 0.5):
        assert np.mean(np.array(levels) <= level) <= level + 3 * sqrt(level * (1 - level) / 1000)


def test_p_falls_as_the_difference_grows() -> None:
    """With the same sizes of differences, the larger their sum the smaller p: the null distribution is the same."""
    values = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3])
    ones = np.ones(10, dtype=int)
    seen = []
    for losses in range(6):
        signed = np.where(np.arange(10) < losses, -values, values)
        seen.append(
            (abs(int(signed.sum())), randomization_test(Sums.of_two(signed, ones, 0 * ones, ones), Draws(5000)).p)
        )
    for (larger, p), (smaller, q) in combinations(sorted(seen, reverse=True), 2):
        assert larger >= smaller
        assert p <= q


@pytest.mark.parametrize(
    ("first", "second", "dtypes"),
    [(15, 15, [np.int32]), (16, 15, [np.int64]), (31, 30, [np.int32] * 2), (40, 20, [np.int64]), (59, 0, [np.int64])],
)
def test_sums_are_packed_as_tightly_as_they_fit(first: int, second: int, dtypes: list[type]) -> None:
    """Two columns whose absolute sums have so many bits, at both ends of what their words can hold."""
    for sign in (1, -1):
        columns = [np.array([sign * max(2**bits - 11, 0)] + [sign * min(bits, 1)] * 10) for bits in (first, second)]
        tables = coins.PackedColumns.of(columns).tables(8)
        assert [table.dtype for table in tables] == dtypes
        every = [np.concatenate(sums) for sums in zip(*coins.sums_over_exchanged(columns, Draws(500)), strict=True)]
        drawn = np.array(coins_of(11, Draws(500)))
        for column, sums in zip(columns, every, strict=True):
            np.testing.assert_array_equal(sums, drawn @ column)


NGE_TOGETHER = 879
"""A change of this number changes the results of every seed for such pairs."""


def test_many_units_that_differ_alike_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn together and looked up, a pair has the same level but for chance; length changes nothing."""
    source = np.random.default_rng(3)
    under = source.integers(5, 8, (2, 30_000))
    over = source.binomial(under, [[0.5], [0.502]])
    pair = Sums.of_two(over[0], under[0], over[1], under[1])
    chosen = shuffle_method(pair)
    assert chosen.method == "grouped"
    assert "distinct differences" in chosen.reason
    together = randomization_test(pair, Draws(9999))
    long = null_differences(pair, Draws(2 * coins.CHUNK))
    assert (long[:9999] == null_differences(pair, Draws(9999))).all()
    assert abs(np.corrcoef(long[: coins.CHUNK], long[coins.CHUNK :])[0, 1]) < 0.05
    assert randomization_test(pair, Draws(2 * coins.CHUNK + 1), work=Work(threads=3)).nge == NGE_TOGETHER
    monkeypatch.setattr(randomization, "GROUPED_UNITS", 10**9)
    assert shuffle_method(pair).method == "lookup"
    looked_up = randomization_test(pair, Draws(9999))
    assert together.p == pytest.approx(looked_up.p, abs=0.02)
    assert 0.001 < looked_up.p < 0.999
