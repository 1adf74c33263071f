"""Coins of a pair alone, in the later shuffles of a long run: the documented coins, the exact law, and what may not
change any number."""

from __future__ import annotations

from collections import Counter
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalhouse.warehouse.significance.arrays import Booleans
from evalhouse.warehouse.significance.draws import OWN_COINS, Draws, Sides, Work
from evalhouse.warehouse.significance.exact import counting
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.randomization import null_differences, randomization_test, shuffle_method
from evalhouse.warehouse.significance.sums import Sums
from tests.significance import brute
from tests.significance.test_randomization import BOTH_SIDES, coins_of

FIRST_SUMS = [[74, 83, 109, 96], [8, 9, 13, 10]]
"""A change of these sums changes the results of every seed for long runs."""


def own_coins_of(paired: Sums, draws: Draws) -> Booleans:
    """The coins as they are documented: for each shuffle whether each unit changes places. Agreeing units never do."""
    numerator, denominator = paired.differences()
    differing = np.flatnonzero((numerator != 0) | (denominator != 0))
    found = []
    for chunk, used in draws.chunks(coins.CHUNK):
        source = draws.generator(chunk, OWN_COINS)
        exchanged = np.zeros((coins.CHUNK, paired.units), dtype=bool)
        for first in range(0, len(differing), 60):
            words = source.integers(0, 2**64, size=coins.CHUNK, dtype=np.uint64)
            for bit, unit in enumerate(differing[first : first + 60].tolist()):
                exchanged[:, unit] = words >> np.uint64(bit) & np.uint64(1) == 1
        found.append(exchanged[:used])
    return np.concatenate(found)


CHOSEN = (0, 1, 12, 59, 60, 120, 129)
"""Units in the same word, in the same place of other words, and the last."""


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair has coins of its own after the first chunk."""
    monkeypatch.setattr(coins, "COMMON_FIRST", coins.CHUNK)
    monkeypatch.setattr(coins, "OWN_DIFFERING", 1)


def extraction(units: int, seed: int = 1) -> Sums:
    return brute.paired(brute.f(brute.muc_counts(np.random.default_rng(seed), 2, units)))


@pytest.mark.parametrize("units", [1, 11, 12, 13, 60, 61, 150])
def test_sums_are_those_of_the_documented_coins(units: int) -> None:
    paired = extraction(units)
    draws = Draws(coins.CHUNK + 30, 7, (1, units))
    drawn = own_coins_of(paired, draws)
    parts = coins.sums_with_own_coins(paired.differences(), draws)
    for column, sums in zip(paired.differences(), zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(np.concatenate(sums), drawn @ column)


def test_the_sums_are_the_same_on_every_machine() -> None:
    columns = [np.arange(1, 18), np.ones(17, dtype=np.int64)]
    assert [sums.tolist() for sums in next(coins.sums_with_own_coins(columns, Draws(4)))] == FIRST_SUMS


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("kind", [brute.ANY_COUNTS, brute.EQUAL_DENOMINATORS])
@pytest.mark.parametrize("scale", [1, 10**9, 10**15])
def test_every_shuffle_is_counted_as_defined(scale: int, kind: str) -> None:
    """Common coins first, then its own, counted in fractions, ties and all."""
    paired = brute.paired(brute.random_counts(np.random.default_rng(scale % 97), 15, 2, scale, kind=kind))
    draws = Draws(coins.CHUNK + 60, 3)
    first, rest = draws.parted(coins.CHUNK)
    assert first is not None
    assert rest is not None
    for sides in BOTH_SIDES:
        of_first = randomization_test(paired, first, sides).nge
        assert of_first is not None
        expected = of_first + brute.extreme(paired, map(tuple, own_coins_of(paired, rest).tolist()), sides)
        assert randomization_test(paired, draws, sides).nge == expected


@pytest.mark.usefixtures("soon")
def test_a_run_begins_with_the_common_coins_and_goes_on_where_it_stopped() -> None:
    paired, chunk = extraction(80), coins.CHUNK
    whole = null_differences(paired, Draws(3 * chunk + 7))
    np.testing.assert_array_equal(whole[:chunk], null_differences(paired, Draws(chunk)))
    for begin, end in ((0, 2), (chunk, 1), (2 * chunk, 1)):
        part = null_differences(paired, Draws(end * chunk, before=begin))
        np.testing.assert_array_equal(part, whole[begin : begin + end * chunk])
    np.testing.assert_array_equal(null_differences(paired.pair(1, 0), Draws(3 * chunk + 7)), -whole)
    expected = [float(value) for value in brute.differences(paired, iter(coins_of(80, Draws(200))))]
    np.testing.assert_allclose(whole[:200], expected, rtol=0, atol=1e-12)


def test_only_long_runs_of_pairs_that_differ_often_have_them() -> None:
    """The first 100,000 shuffles are the common ones, and so are those of pairs that differ in few units."""
    often, rarely = extraction(1300), extraction(200)
    assert "after 100,000 shuffles" in shuffle_method(often).reason
    assert "after" not in shuffle_method(rarely).reason
    for paired, changed in ((often, True), (rarely, False)):
        longer = null_differences(paired, Draws(coins.COMMON_FIRST + 10))
        np.testing.assert_array_equal(longer[: coins.CHUNK], null_differences(paired, Draws(coins.CHUNK)))
        ((chunk, used),) = Draws(10, before=coins.COMMON_FIRST).chunks(coins.CHUNK)
        rows = np.concatenate([block for _, block in coins.blocks(paired.units, Draws(10), chunk, used)])
        common = np.unpackbits(rows, axis=0, bitorder="little")[: paired.units].T.astype(bool)
        values = [float(value) for value in brute.differences(paired, (tuple(row) for row in common.tolist()))]
        assert (np.abs(longer[-10:] - values) > 1e-9).any() == changed


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_neither_threads_nor_what_is_summed_at_once_change_a_number(
    monkeypatch: pytest.MonkeyPatch, sides: Sides
) -> None:
    paired, draws = extraction(130), Draws(6 * coins.CHUNK + 17)
    before = randomization_test(paired, draws, sides)
    assert randomization_test(paired, draws, sides, Work(threads=3)) == before
    monkeypatch.setattr(coins, "CHUNKS_AT_ONCE", 1)
    assert randomization_test(paired, draws, sides) == before


@pytest.mark.parametrize(("before", "shuffles", "parts"), [(0, 5, [5, 0]), (20, 5, [0, 5]), (0, 30, [20, 10])])
def test_a_run_is_parted_by_the_number_of_all_its_shuffles(before: int, shuffles: int, parts: list[int]) -> None:
    first, rest = Draws(shuffles, before=before).parted(20)
    assert [part.shuffles if part else 0 for part in (first, rest)] == parts
    assert rest is None or rest.before == max(before, 20)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_all_exchanges_are_equally_likely(seed: int) -> None:
    """Each of the 128 exchanges of seven units, by a chi-square test that fails once in ten million times."""
    columns = [1 << np.arange(7), np.zeros(7, dtype=np.int64)]
    (numbers, _), *_ = coins.sums_with_own_coins(columns, Draws(2 * coins.CHUNK, seed))
    assert stats.chisquare([Counter(numbers.tolist())[number] for number in range(128)]).pvalue > 1e-7


def test_coins_of_units_and_shuffles_are_independent() -> None:
    """Neighbouring units, those in the same place of neighbouring words, and the same unit in other shuffles."""
    shuffles = 4 * coins.CHUNK
    units = np.arange(130)
    # Twice the number of exchanged units is added, so that all units differ.
    sums = [next(coins.sums_with_own_coins([(units == unit) + 2], Draws(shuffles)))[0] for unit in CHOSEN]
    own = np.stack(sums) % 2
    series = np.vstack((own, own[:1, ::-1], np.roll(own[:1], 1, axis=1), np.roll(own[:1], coins.CHUNK, axis=1)))
    off_diagonal = np.asarray(np.corrcoef(series))[~np.eye(len(series), dtype=bool)]
    assert np.abs(off_diagonal).max() < 5 / sqrt(shuffles)


@pytest.mark.long
@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_p_agrees_with_the_exact_test_in_both_tails(sides: Sides) -> None:
    """Within four standard errors, for the better and the worse system of a pair that hardly differs."""
    counts = brute.muc_counts(np.random.default_rng(3), 2, 2000)
    exchanged = np.random.default_rng(4).random(2000) < 0.5
    paired = brute.paired(brute.f(np.where(exchanged[None, :, None], counts[::-1], counts)))
    draws = Draws(200_000, before=coins.COMMON_FIRST)
    for pair in (paired, paired.pair(1, 0)):
        exact = counting.exact_test(pair, sides).p
        assert 0.001 < exact < 0.999
        estimate = randomization_test(pair, draws, sides).p
        assert abs(estimate - exact) < 4 * sqrt(exact * (1 - exact) / draws.shuffles)
