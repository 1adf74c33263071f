"""Heads among many coins: the distribution against exact sums and SciPy, and draws that follow it."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

from warehouse.significance import coins
from warehouse.significance.heads import GUIDE, OPEN, Heads

FIRST_DRAWS = [44, 42, 57, 52, 45, 50, 43, 47]


@pytest.mark.parametrize("count", [*range(1, 40), 64, 150, 1001])
def test_the_edges_are_the_distribution_function(count: int) -> None:
    heads = Heads.of(count)
    below = Fraction(sum(comb(count, k) for k in range(heads.lowest)), 2**count)
    for place, edge in enumerate(heads.edges.tolist()):
        below += Fraction(comb(count, heads.lowest + place), 2**count)
        assert abs(Fraction(edge, 2**64) - below) < Fraction(1, 10**14)


@pytest.mark.parametrize("count", [10_000, 1_000_001, 10**8])
def test_the_edges_of_many_coins_are_those_of_scipy(count: int) -> None:
    heads = Heads.of(count)
    places = heads.lowest + np.arange(len(heads.edges))
    found = np.ldexp(heads.edges.astype(np.float64), -64)
    np.testing.assert_allclose(found, stats.binom.cdf(places, count, 0.5), rtol=0, atol=1e-11)


@pytest.mark.parametrize("count", [1, 2, 7, 150, 5000, 10**6])
def test_the_guide_says_what_the_edges_say(count: int) -> None:
    heads = Heads.of(count)
    numbers = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    looked_up = heads.guide[(numbers >> np.uint64(64 - GUIDE)).astype(np.intp)]
    decided = looked_up != OPEN
    np.testing.assert_array_equal(looked_up[decided], np.searchsorted(heads.edges, numbers, side="right")[decided])
    assert decided.any() or count > 10**5


@pytest.mark.parametrize("count", [1, 2, 5, 33, 150, 2000])
def test_draws_follow_the_distribution(count: int) -> None:
    heads = Heads.of(count)
    source = coins.generator(1992, count, 0, purpose=coins.GROUPED)
    drawn = np.concatenate([heads.draw(source, coins.CHUNK) for _ in range(20)])
    assert drawn.min() >= 0
    assert drawn.max() <= count
    expected = stats.binom.pmf(np.arange(count + 1), count, 0.5) * drawn.size
    often = expected >= 5
    observed = np.bincount(drawn, minlength=count + 1)
    cells = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    kept = wanted > 0.5
    assert stats.chisquare(cells[kept], wanted[kept] * cells[kept].sum() / wanted[kept].sum()).pvalue > 1e-4


def test_the_draws_are_the_same_on_every_machine() -> None:
    """A change of these numbers changes the results of every seed for pairs whose differences are drawn together."""
    source = coins.generator(1992, (7,), 0, purpose=coins.GROUPED)
    assert Heads.of(100).draw(source, 8).tolist() == FIRST_DRAWS


def test_heads_need_a_coin() -> None:
    with pytest.raises(ValueError, match="heads among 0 coins"):
        Heads.of(0)
