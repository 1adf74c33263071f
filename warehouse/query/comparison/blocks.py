"""The tests of many pairs in blocks that an engine may share out, with the outcomes of all at once.

What is decided for all pairs together, exact or shuffles and in which way these are made, is decided before they are
parted; coins depend on the seed and the test set alone. Tests that look at all systems at once are not parted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grammar.errors import QueryError
from warehouse.query.comparison.pairs import Arena
from warehouse.query.comparison.procedures import SHUFFLES, Outcomes, Pair, choose, outcomes, shuffled, together
from warehouse.query.comparison.sums import Arithmetic, Ratios, Sums
from warehouse.query.engine import DuckDBEngine, silent

WHOLE = frozenset({"tukey"})
"""The tests that look at all systems at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some pairs of arenas that have the same observations, with the contenders of these pairs alone.

    `places` are those of the contenders among all. `at_once` says whether shuffles are one product over systems, None
    where the test does not shuffle pairs together.
    """

    arenas: tuple[Arena, ...]
    places: tuple[int, ...]
    at_once: bool | None


def tested(arenas: Sequence[Arena], engine: DuckDBEngine) -> Outcomes:
    """The outcome of each statistic and pair of one test set, by the engine's own means."""
    if engine.blocks < 2 or not arenas or len(arenas[0].pairs) < 2 or arenas[0].how.test in WHOLE or arenas[0].runs:
        return outcomes(arenas, engine.told, engine.threads)
    found: Outcomes = {}
    for of_block in engine.each(outcomes_of, list(parted(arenas, engine.blocks))):
        if of_block is None:
            # A test refuses a pair, and says which where all are tested in their order.
            return outcomes(arenas, engine.told, engine.threads)
        found.update(of_block)
    return found


def outcomes_of(block: Block) -> Outcomes | None:
    """The outcomes of a block, by the places of contenders among all; None where a test refuses a pair."""
    try:
        found = outcomes(block.arenas) if block.at_once is None else shuffled(block.arenas, silent, 1, block.at_once)
    except QueryError:
        return None
    return {(label, (block.places[a], block.places[b])): outcome for (label, (a, b)), outcome in found.items()}


def parted(arenas: Sequence[Arena], blocks: int) -> Iterator[Block]:
    """The blocks, about as many as there should be of each kind of work."""
    common: list[Arena] = []
    for arena in arenas:
        if arena.how.test == "randomization" and isinstance(arena.sums, Ratios):
            if not choose(arena).exactly:
                shuffles = arena.how.shuffles or SHUFFLES
                common.append(replace(arena, how=replace(arena.how, shuffles=shuffles)))
                continue
            arena = replace(arena, how=replace(arena.how, exact=True))
        for pairs in _cuts(arena.pairs, blocks):
            yield _block((arena,), pairs, None)
    if common:
        at_once = together(common[0])
        parts = _tiles(common[0].pairs, blocks) if at_once else _cuts(common[0].pairs, blocks)
        for pairs in parts:
            yield _block(common, pairs, at_once)


def _cuts(pairs: Sequence[Pair], blocks: int) -> Iterator[Sequence[Pair]]:
    """Pairs one after another, in so many parts that are about alike."""
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


def _block(arenas: Sequence[Arena], pairs: Sequence[Pair], at_once: bool | None) -> Block:
    places = tuple(sorted({place for pair in pairs for place in pair}))
    own = {place: number for number, place in enumerate(places)}
    renumbered = tuple((own[a], own[b]) for a, b in pairs)
    return Block(tuple(_only(arena, places, renumbered) for arena in arenas), places, at_once)


def _only(arena: Arena, places: tuple[int, ...], pairs: tuple[Pair, ...]) -> Arena:
    """An arena with some of its contenders, and without the observations, which no test looks at."""
    some = np.array(places, dtype=np.intp)
    if isinstance(arena.sums, Arithmetic):
        kept: Sums = replace(arena.sums, counts=arena.sums.counts[some], known=arena.sums.known[some])
    else:
        numerators, denominators = arena.sums.numerators[some], arena.sums.denominators[some]
        kept = replace(arena.sums, numerators=numerators, denominators=denominators, known=arena.sums.known[some])
    contenders = tuple(arena.field.contenders[place] for place in places)
    seen = replace(arena.seen, contenders=contenders, counts={}, known={}, values=None)
    return replace(arena, field=replace(arena.field, contenders=contenders), seen=seen, sums=kept, pairs=pairs)
