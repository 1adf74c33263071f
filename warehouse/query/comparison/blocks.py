"""The tests of many pairs, in blocks that an engine can distribute; the outcomes are the same as without blocks.

What is decided for all pairs together, exact or shuffles and in which way these are made, is decided before they are
parted; coins depend on the seed and the test set alone. Tests and adjustments that look at all systems at once are
parted by their shuffles: each chunk has random numbers of its own, and what they count is added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from grammar.errors import QueryError
from warehouse.query.comparison.pairs import Comparison, Pair, only
from warehouse.query.comparison.procedures import (
    SHUFFLES,
    Outcomes,
    choose,
    draws_of,
    outcomes,
    reached,
    shuffled,
    together,
)
from warehouse.query.engine import Workforce, cuts
from warehouse.significance.outcome import approximate
from warehouse.significance.paired import Integers
from warehouse.significance.work import ALONE


class Block(Struct, frozen=True):
    """Some pairs of comparisons that have the same observations, with the systems of these pairs alone.

    `places` are those of the systems among all. `at_once` says whether shuffles are one product over systems, None
    where the test does not shuffle pairs together.
    """

    comparisons: tuple[Comparison, ...]
    places: tuple[int, ...]
    at_once: bool | None


def tested(comparisons: Sequence[Comparison], workforce: Workforce) -> Outcomes:
    """The outcome of each statistic and pair of one test set, in blocks where they are shared out."""
    if workforce.blocks < 2 or not comparisons or len(comparisons[0].pairs) < 2:
        return outcomes(comparisons, workforce.work)
    if comparisons[0].how.test.whole_family:
        return _of_families(comparisons, workforce)
    by_pair: Outcomes = {}
    for of_block in workforce.share_out(outcomes_of, list(parted(comparisons, workforce.blocks))):
        if of_block is None:
            # A test refuses a pair, and says which where all are tested in their order.
            return outcomes(comparisons, workforce.work)
        by_pair.update(of_block)
    return by_pair


def reached_in(comparison: Comparison, workforce: Workforce) -> Integers | None:
    """In how many shuffles of the family each pair is reached, where the adjustment needs that; of shape (pairs,)."""
    if comparison.how.adjustment.reached is None:
        return None
    parts = list(_spans(comparison, workforce.blocks))
    if len(parts) < 2:
        return reached(comparison)
    counts: Integers = np.sum(workforce.share_out(reached, parts), axis=0)
    return counts


def _of_families(comparisons: Sequence[Comparison], workforce: Workforce) -> Outcomes:
    """The outcomes of a test that looks at all systems at once: what is counted in each part of the shuffles, added."""
    parts = [part for comparison in comparisons for part in _spans(comparison, workforce.blocks)]
    if len(parts) == len(comparisons):
        return outcomes(comparisons, workforce.work)
    nge: Counter[tuple[str, Pair]] = Counter()
    shuffles: Counter[tuple[str, Pair]] = Counter()
    for of_part in workforce.share_out(_of_span, parts):
        for key, outcome in of_part.items():
            nge[key] += outcome.nge or 0
            shuffles[key] += outcome.shuffles or 0
    return {key: approximate(count, shuffles[key]) for key, count in nge.items()}


def _of_span(comparison: Comparison) -> Outcomes:
    return outcomes([comparison])


def _spans(comparison: Comparison, blocks: int) -> Iterator[Comparison]:
    """A comparison in parts, each with some whole chunks of its shuffles."""
    draws, chunk = draws_of(comparison), comparison.how.test.chunk
    size = -(-draws.shuffles // (blocks * chunk)) * chunk
    for start in range(0, draws.shuffles, size):
        how = replace(comparison.how, shuffles=min(size, draws.shuffles - start))
        yield replace(comparison, how=how, before=draws.before + start)


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
        if how.test.exchanges and not comparison.replicates:
            exactly = choose(comparison).exactly
            how = replace(how, exact=True) if exactly else replace(how, shuffles=how.shuffles or SHUFFLES)
            comparison = replace(comparison, how=how)
            if not exactly and comparison.sums.is_ratio:
                common.append(comparison)
                continue
        for pairs in cuts(comparison.pairs, blocks):
            yield _block((comparison,), pairs, None)
    if common:
        at_once = all(map(together, common))
        parts = _tiles(common[0].pairs, blocks) if at_once else cuts(common[0].pairs, blocks)
        for pairs in parts:
            yield _block(common, pairs, at_once)


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
