"""The tests of many pairs, in blocks that an engine can distribute; the outcomes are the same as without blocks.

What is decided for all pairs together, exact or shuffles and in which way these are made, is decided before they are
parted; coins depend on the seed and the test set alone. Tests that look at all systems at once are not parted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grammar.errors import QueryError
from grammar.value import value
from warehouse.query.comparison.pairs import Comparison, Pair, only
from warehouse.query.comparison.procedures import SHUFFLES, Outcomes, choose, outcomes, shuffled, together
from warehouse.query.comparison.sums import RatioSums
from warehouse.query.engine import Workforce
from warehouse.significance.tests import named_test
from warehouse.significance.work import ALONE


@value
class Block:
    """Some pairs of comparisons that have the same observations, with the systems of these pairs alone.

    `places` are those of the systems among all. `at_once` says whether shuffles are one product over systems, None
    where the test does not shuffle pairs together.
    """

    comparisons: tuple[Comparison, ...]
    places: tuple[int, ...]
    at_once: bool | None


def tested(comparisons: Sequence[Comparison], workforce: Workforce) -> Outcomes:
    """The outcome of each statistic and pair of one test set, in blocks where they are shared out."""
    if (
        workforce.blocks < 2
        or not comparisons
        or len(comparisons[0].pairs) < 2
        or named_test(comparisons[0].how.test).whole_family
        or comparisons[0].replicates
    ):
        return outcomes(comparisons, workforce.work)
    by_pair: Outcomes = {}
    for of_block in workforce.share_out(outcomes_of, list(parted(comparisons, workforce.blocks))):
        if of_block is None:
            # A test refuses a pair, and says which where all are tested in their order.
            return outcomes(comparisons, workforce.work)
        by_pair.update(of_block)
    return by_pair


def outcomes_of(block: Block) -> Outcomes | None:
    """The outcomes of a block, by the places of systems among all; None where a test refuses a pair."""
    try:
        if block.at_once is None:
            by_pair = outcomes(block.comparisons)
        else:
            by_pair = shuffled(block.comparisons, ALONE, block.at_once)
    except QueryError:
        return None
    return {(label, (block.places[a], block.places[b])): outcome for (label, (a, b)), outcome in by_pair.items()}


def parted(comparisons: Sequence[Comparison], blocks: int) -> Iterator[Block]:
    """The blocks, about as many as there should be of each kind of work."""
    common: list[Comparison] = []
    for comparison in comparisons:
        how = comparison.how
        if named_test(how.test).exchanges:
            exactly = choose(comparison).exactly
            how = replace(how, exact=True) if exactly else replace(how, shuffles=how.shuffles or SHUFFLES)
            comparison = replace(comparison, how=how)
            if not exactly and isinstance(comparison.sums, RatioSums):
                common.append(comparison)
                continue
        for pairs in _cuts(comparison.pairs, blocks):
            yield _block((comparison,), pairs, None)
    if common:
        at_once = together(common[0])
        parts = _tiles(common[0].pairs, blocks) if at_once else _cuts(common[0].pairs, blocks)
        for pairs in parts:
            yield _block(common, pairs, at_once)


def _cuts(pairs: Sequence[Pair], blocks: int) -> Iterator[Sequence[Pair]]:
    """Pairs one after another, in this many parts of about the same size."""
    size = -(-len(pairs) // blocks)
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _tiles(pairs: Sequence[Pair], blocks: int) -> Iterator[Sequence[Pair]]:
    """Pairs of few systems: those between two groups of systems, or within one."""
    groups = 1
    while groups * (groups + 1) // 2 < blocks:
        groups += 1
    systems = max(map(max, pairs)) + 1
    tiles: dict[tuple[int, ...], list[Pair]] = {}
    for pair in pairs:
        tiles.setdefault(tuple(sorted(place * groups // systems for place in pair)), []).append(pair)
    yield from tiles.values()


def _block(comparisons: Sequence[Comparison], pairs: Sequence[Pair], at_once: bool | None) -> Block:
    restricted = [only(comparison, pairs) for comparison in comparisons]
    return Block(tuple(comparison for comparison, _ in restricted), restricted[0][1], at_once)
