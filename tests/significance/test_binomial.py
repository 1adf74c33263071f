"""BinomialTable: the distribution for many coins against exact sums and SciPy, and draws that follow it."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from evalhouse.warehouse.significance.draws import GROUPED, Draws
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.coins import MANY_COINS, OPEN, BinomialTable, memory_of_tables

FIRST_DRAWS = {
    100: [44, 42, 57, 52, 45, 50, 43, 47],
    10000: [4942, 4923, 5066, 5021, 4952, 4995, 4934, 4967],
    10000000: [4998161, 4997574, 5002086, 5000672, 4998491, 4999855, 4997911, 4998963],
}


@pytest.mark.parametrize("count", [*range(1, 40), 64, 150, 1001])
def test_the_edges_are_the_distribution_function(count: int) -> None:
    table = BinomialTable.of(count)
    below = Fraction(sum(comb(count, k) for k in range(table.lowest)), 2**count)
    for place, edge in enumerate(table.edges.tolist()):
        below += Fraction(comb(count, table.lowest + place), 2**count)
        assert abs(Fraction(edge, 2**64) - below) < Fraction(1, 10**14)


@pytest.mark.parametrize("count", [10_000, 1_000_001, 10**8])
def test_the_edges_of_many_coins_are_those_of_scipy(count: int) -> None:
    table = BinomialTable.of(count)
    places = table.lowest + np.arange(len(table.edges))
    found = np.ldexp(table.edges.astype(np.float64), -64)
    np.testing.assert_allclose(found, stats.binom.cdf(places, count, 0.5), rtol=0, atol=1e-11)


@pytest.mark.parametrize("count", [1, 2, 7, 150, MANY_COINS - 1, MANY_COINS, 10**6])
def test_the_guide_says_what_the_edges_say(count: int) -> None:
    table = BinomialTable.of(count)
    numbers = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    looked_up = table.guide[(numbers >> np.uint64(64 - table.bits)).astype(np.intp)]
    decided = looked_up != OPEN
    np.testing.assert_array_equal(looked_up[decided], np.searchsorted(table.edges, numbers, side="right")[decided])
    assert decided.mean() > 0.9


class Chosen:
    """Random bits that are no chance: the first sixteen of four numbers, then what is left of those that need it."""

    def __init__(self, numbers: list[int], undecided: list[bool]) -> None:
        self._words = [
            [sum((number >> 48) << 16 * place for place, number in enumerate(numbers))],
            [(number & (2**48 - 1)) << 16 for number, needed in zip(numbers, undecided, strict=True) if needed],
        ]
        self.bit_generator = self

    def random_raw(self, size: int) -> NDArray[np.uint64]:
        words = self._words.pop(0)
        assert len(words) == size
        return np.array(words, dtype=np.uint64)


@pytest.mark.parametrize("count", [5, 150, 10_000])
def test_a_draw_on_an_edge_is_decided_by_all_64_bits(count: int) -> None:
    """At an edge the next number of heads begins; the number before it is the last of the one below."""
    table = BinomialTable.of(count)
    for place in range(len(table.edges) // 3, len(table.edges) // 2 + 1):
        edge = int(table.edges[place])
        numbers = [edge - 1, edge, edge + 1, edge]
        source: Any = Chosen(numbers, [bool(table.guide[number >> (64 - table.bits)] == OPEN) for number in numbers])
        one_more = table.lowest + place + 1
        assert table.draw(source, 4).tolist() == [one_more - 1, one_more, one_more, one_more]


@pytest.mark.parametrize("count", [1, 2, 5, 33, 150, 2000])
def test_draws_follow_the_distribution(count: int) -> None:
    table = BinomialTable.of(count)
    source = Draws(1, 1992, count).generator(0, GROUPED)
    drawn = np.concatenate([table.draw(source, coins.CHUNK) for _ in range(20)])
    assert drawn.min() >= 0
    assert drawn.max() <= count
    expected = stats.binom.pmf(np.arange(count + 1), count, 0.5) * drawn.size
    often = expected >= 5
    observed = np.bincount(drawn, minlength=count + 1)
    cells = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    kept = wanted > 0.5
    assert stats.chisquare(cells[kept], wanted[kept] * cells[kept].sum() / wanted[kept].sum()).pvalue > 1e-4


@pytest.mark.parametrize(("count", "first"), FIRST_DRAWS.items())
def test_the_draws_are_the_same_on_every_machine(count: int, first: list[int]) -> None:
    """A change of these numbers changes the results of every seed for pairs whose differences are drawn together.

    Of ten million coins the first bits decide nothing.
    """
    source = Draws(1, 1992, (7,)).generator(0, GROUPED)
    assert BinomialTable.of(count).draw(source, 8).tolist() == first


def test_the_memory_of_the_tables_is_known_before() -> None:
    for count in (1, 150, 5000, 10**7):
        table = BinomialTable.of(count)
        assert 0.5 < memory_of_tables(count) / (table.guide.nbytes + table.edges.nbytes) < 2


def test_draws_come_four_at_a_time() -> None:
    with pytest.raises(ValueError, match="6 draws"):
        BinomialTable.of(10).draw(np.random.default_rng(1), 6)


def test_heads_need_a_coin() -> None:
    with pytest.raises(ValueError, match="heads among 0 coins"):
        BinomialTable.of(0)
