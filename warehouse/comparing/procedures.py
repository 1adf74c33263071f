"""Tests comparisons: hands the numbers of each pair to the significance tests and collects the outcomes.

All comparisons of a call are on one test set and have the same pairs, and there is an outcome for each statistic and
pair. If a test refuses its input, that becomes an error of the query. This module must not know what a test is or
what it computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, only
from evalhouse.warehouse.comparing.sums import Orders
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.plans.path import Workforce, cuts
from evalhouse.warehouse.significance.arrays import Floats, Integers
from evalhouse.warehouse.significance.draws import ALONE, Draws, Outcome, Work, approximate, in_order
from evalhouse.warehouse.significance.exact.lattice import POSSIBLE_BYTES, Cost, affordable_together
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import TESTS, Exchange, Test
from evalhouse.warehouse.significance.two_systems import TwoSystems, Unrounded

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.multiple import Family

# === from comparisons to outcomes =====================================================================================

SHUFFLES = 9999
"""How many shuffles where none were asked for and an exact test is not affordable (Chinchor 1992)."""

Outcomes = dict[tuple[str, Pair], Outcome]
"""Keyed by the label of the statistic and the places of the two systems."""


def outcomes(comparisons: Sequence[Comparison], work: Work = ALONE) -> Outcomes:
    """The outcome of each statistic and pair of one test set. Raises QueryError where a test refuses a pair."""
    if not comparisons:
        return {}
    test = comparisons[0].how.test
    _check_units(test, comparisons[0])
    if test.exchanges:
        return _outcomes_of_exchanges(comparisons, work)
    by_pair: Outcomes = {}
    for place, comparison in enumerate(comparisons):
        part = work.part(place, len(comparisons))
        by_pair |= _of_family(test, comparison, part) if test.whole_family else _of_pairs(test, comparison, part)
    return by_pair


def _check_units(test: Test, comparison: Comparison) -> None:
    """Raises QueryError where there are fewer exchange units than a test needs to keep its level."""
    units, where = comparison.observations.units, comparison.entry.test_set.name
    if units < test.units and not comparison.replicates:
        there = "is 1" if units == 1 else f"are {units}"
        called = quantity(test.units, comparison.entry.units.exchange_noun)
        raise QueryError(
            f"test {test.name} needs {called} to keep its level, but there {there} on {where}",
            hints=(f"test {TESTS[0].name} keeps its level with any number of them",),
        )


# --- what the tests are handed ----------------------------------------------------------------------------------------


def draws_of(comparison: Comparison) -> Draws:
    """The draws of a comparison: as many as were asked for, after those that were made before."""
    return Draws(comparison.how.shuffles or SHUFFLES, comparison.how.seed, comparison.stream, comparison.before)


def paired_sums(comparison: Comparison, pair: Pair) -> Sums:
    """The sums of two systems, in the order in which tests take them."""
    a, b = comparison.in_order(pair)
    return comparison.sums_of(a, b).pair(0, 1) if comparison.uneven else comparison.sums.pair(a, b)


def _exchange(comparison: Comparison) -> Exchange:
    """How the test exchanges tuples."""
    exchange = comparison.how.test.exchange
    if exchange is None:
        raise ValueError(f"test {comparison.how.test_name} does not exchange tuples")
    return exchange


def _names(comparison: Comparison, pair: Pair) -> str:
    return " and ".join(comparison.entry.systems[place].name for place in pair)


# --- one pair at a time, and whole families ---------------------------------------------------------------------------


def _of_pairs(test: Test, comparison: Comparison, work: Work) -> Outcomes:
    """One pair after another."""
    by_pair: Outcomes = {}
    results = in_order(partial(_of_pair, test, comparison), comparison.pairs, work.threads)
    for done, (pair, outcome) in enumerate(zip(comparison.pairs, results, strict=True), start=1):
        by_pair[comparison.statistic.label, pair] = outcome
        work.progress(done / len(comparison.pairs))
    return by_pair


def _of_pair(test: Test, comparison: Comparison, pair: Pair) -> Outcome:
    sums, sides = comparison.sums, comparison.how.sides
    try:
        if test.of_areas is not None and isinstance(sums, Orders):
            return test.of_areas(sums.ranked.of_two(*comparison.in_order(pair)), sides)
        assert test.of_pair is not None
        return test.of_pair(_two_systems(comparison, pair), draws_of(comparison), sides)
    except ValueError as error:
        raise _refusal(comparison, pair, error) from None


def _refusal(comparison: Comparison, pair: Pair, error: ValueError) -> QueryError:
    """The error of a test that refuses a pair."""
    return QueryError(
        f"{comparison.how.test_name} does not fit {comparison.statistic.label} of {_names(comparison, pair)}: {error}",
        hints=(f"test {TESTS[0].name} fits every measure (Yeh 2000, section 3.2)",),
    )


def _two_systems(comparison: Comparison, pair: Pair) -> TwoSystems:
    """What a test may look at of a pair. Raises ValueError where the sums are no data for a test."""
    paired, statistic = paired_sums(comparison, pair), comparison.statistic
    if paired.is_function:
        return TwoSystems(paired, Fraction(1), statistic.averaged, statistic.proportion)
    sums = comparison.ratios_of(*comparison.in_order(pair))
    counted = sums.all_counted
    unrounded = None
    if sums.measured is not None:
        values, doubts = sums.measured.values, sums.measured.doubts
        unrounded = Unrounded(values[0], values[1], doubts[0] + doubts[1])
    return TwoSystems(
        paired,
        sums.factor,
        averaged=statistic.averaged and not counted,
        proportion=statistic.proportion or counted,
        unrounded=unrounded,
    )


def _of_family(test: Test, comparison: Comparison, work: Work) -> Outcomes:
    """All pairs at once."""
    assert test.of_family is not None
    draws = draws_of(comparison)
    nge = test.of_family(comparison.many, draws, comparison.how.sides, work)
    return {
        (comparison.statistic.label, pair): approximate(int(nge[comparison.in_order(pair)]), draws.shuffles)
        for pair in comparison.pairs
    }


# --- exchanges: exact or by shuffles ----------------------------------------------------------------------------------


class Choice(Struct, frozen=True):
    """How the pairs of a comparison are exchanged: exact or by shuffles, and why. Costs are of the pairs, in their
    order.
    """

    exactly: bool
    reason: str
    costs: tuple[Cost, ...]


def choose(comparison: Comparison, priced: bool = False) -> Choice:
    """Exact where it is asked for, or where nothing is asked for and all pairs together are affordable; else
    shuffles. The costs of shuffled pairs are left out unless all are to be `priced`.
    """
    how, adjustment = comparison.how, comparison.how.adjustment
    if not how.test.exact:
        return Choice(False, f"test {how.test_name} always uses shuffles", ())
    if how.shuffles is not None:
        return Choice(False, f"{how.shuffles:,} shuffles were asked for", ())
    if adjustment.by_shuffles:
        return Choice(False, f"{adjustment.name} adjusts by shuffles", ())
    if how.exact:
        return Choice(True, "exact was asked for", _costs(comparison))
    costs = affordable_costs(comparison)
    if costs is not None:
        return Choice(True, "every exchange can be counted at little cost", costs)
    reason = "counting every exchange of all pairs would take long, and exact was not asked for"
    return Choice(False, reason, _costs(comparison) if priced else ())


def affordable_costs(comparison: Comparison) -> tuple[Cost, ...] | None:
    """What counting every exchange of each pair takes, None where that is too much to be done unasked, or cannot be."""
    if not comparison.how.test.exact:
        return None
    costs: list[Cost] = []
    for pair in comparison.pairs:
        costs.append(cost_exactly(paired_sums(comparison, pair)))
        if not affordable_together(costs):
            return None
    return tuple(costs)


def _costs(comparison: Comparison) -> tuple[Cost, ...]:
    return tuple(cost_exactly(paired_sums(comparison, pair)) for pair in comparison.pairs)


def cost_exactly(paired: Sums) -> Cost:
    """What counting every exchange of a pair takes."""
    from evalhouse.warehouse.significance.exact import counting, dynamic

    return counting.cost(paired) if paired.is_ratio else dynamic.cost(paired)


def _outcomes_of_exchanges(comparisons: Sequence[Comparison], work: Work) -> Outcomes:
    """Some statistics are tested exactly, the others over common shuffles."""
    by_pair: Outcomes = {}
    common: list[Comparison] = []
    for place, comparison in enumerate(comparisons):
        part = work.part(place, len(comparisons))
        if comparison.replicates:
            by_pair |= _of_replicates(comparison)
        elif (choice := choose(comparison)).exactly:
            by_pair |= count_exactly(comparison, choice.costs, part)
        elif comparison.sums.is_function:
            by_pair |= outcomes_of_shuffles([comparison], part, at_once=False)
        else:
            common.append(comparison)
    if common:
        part = work.part(len(comparisons) - len(common), len(comparisons), len(common))
        by_pair |= outcomes_of_shuffles(common, part, all(map(together, common)))
    return by_pair


def _of_replicates(comparison: Comparison) -> Outcomes:
    """The replicates of two systems divided anew: every division where there are not too many, else shuffles."""
    from evalhouse.warehouse.significance import replicates

    how = comparison.how
    by_pair: Outcomes = {}
    for pair in comparison.pairs:
        a, b = (comparison.replicates[place] for place in comparison.in_order(pair))
        ways = replicates.divisions(len(a), len(b))
        if how.exact and ways > replicates.MOST_DIVISIONS:
            raise QueryError(
                f"{len(a)} and {len(b)} replicates can be divided in {ways:.0e} ways, too many to go through",
                hints=(f"write shuffles {SHUFFLES} instead",),
            )
        drawn = how.shuffles is not None or ways > replicates.MOST_DIVISIONS
        draws = draws_of(comparison) if drawn else None
        try:
            outcome = _exchange(comparison).of_replicates(a, b, draws, how.sides)
        except ValueError as error:
            raise _refusal(comparison, pair, error) from None
        by_pair[comparison.statistic.label, pair] = outcome
    return by_pair


def count_exactly(comparison: Comparison, costs: Sequence[Cost], work: Work) -> Outcomes:
    """The exact test of each pair, several at a time as far as memory goes."""
    from evalhouse.warehouse.significance.exact import counting, dynamic

    for pair, cost in zip(comparison.pairs, costs, strict=True):
        if not cost.possible:
            raise QueryError(
                f"the exact test of {_names(comparison, pair)} would take about {cost.operations:.0e} steps and "
                f"{cost.bytes / 1e9:.1f} GB",
                hints=(f"write shuffles {SHUFFLES} instead",),
            )
    at_once = POSSIBLE_BYTES // max(1, *(cost.bytes for cost in costs))

    def tested(pair: Pair) -> Outcome:
        paired, sides = paired_sums(comparison, pair), comparison.how.sides
        if paired.is_ratio:
            return counting.exact_test(paired, sides)
        return dynamic.exact_functional_test(paired, sides)

    by_pair: Outcomes = {}
    results = in_order(tested, comparison.pairs, min(work.threads, at_once))
    for pair, outcome in zip(comparison.pairs, results, strict=True):
        by_pair[comparison.statistic.label, pair] = outcome
        work.progress(len(by_pair) / len(comparison.pairs))
    return by_pair


def together(comparison: Comparison) -> bool:
    """Whether one product over systems serves all pairs better than a pair at a time, and is as fine."""
    alike = comparison.sums.is_ratio and not comparison.uneven
    return alike and len(comparison.pairs) > len(comparison.entry.systems)


def outcomes_of_shuffles(comparisons: Sequence[Comparison], work: Work, at_once: bool) -> Outcomes:
    """Common shuffles of all comparisons: all pairs `at_once`, which must be ratios, or one after another."""
    draws, sides, exchange = draws_of(comparisons[0]), comparisons[0].how.sides, _exchange(comparisons[0])
    by_pair: Outcomes = {}
    if at_once:
        nge = exchange.of_all_pairs([comparison.many for comparison in comparisons], draws, sides, work).tolist()
        for comparison, of_measure in zip(comparisons, nge, strict=True):
            for pair in comparison.pairs:
                a, b = comparison.in_order(pair)
                by_pair[comparison.statistic.label, pair] = approximate(of_measure[a][b], draws.shuffles)
        return by_pair
    questions = [(comparison, pair) for comparison in comparisons for pair in comparison.pairs]
    for place, (comparison, pair) in enumerate(questions):
        paired, part = paired_sums(comparison, pair), work.part(place, len(questions))
        by_pair[comparison.statistic.label, pair] = exchange.of_pair(paired, draws, sides, part)
    return by_pair


def statistics(comparison: Comparison) -> dict[Pair, float]:
    """The observed statistics of the pairs, where the test exchanges something else than the differences themselves."""
    exchange = comparison.how.test.exchange
    if exchange is None or exchange.statistics is None or comparison.replicates:
        return {}
    if comparison.uneven:
        alone = (exchange.statistics(paired_sums(comparison, pair), [(0, 1)]) for pair in comparison.pairs)
        return {pair: float(found[0]) for pair, found in zip(comparison.pairs, alone, strict=True)}
    turned = [comparison.in_order(pair) for pair in comparison.pairs]
    return dict(zip(comparison.pairs, exchange.statistics(comparison.many, turned).tolist(), strict=True))


# --- adjustment -------------------------------------------------------------------------------------------------------


def count_reached(comparison: Comparison, work: Work = ALONE) -> Integers | None:
    """In how many shuffles of the family each pair is reached, where the adjustment needs that; of shape (pairs,)."""
    adjustment = comparison.how.adjustment
    if adjustment.reached is None:
        return None
    return adjustment.reached(_family(comparison), draws_of(comparison), work)


def adjust_levels(comparison: Comparison, levels: Floats) -> Floats:
    """The levels of all pairs, adjusted; the family is all pairs of one statistic on one test set. Where the adjustment
    needs the shuffles of the family, `levels` are what follows from those that `count_reached` counts.
    """
    adjustment = comparison.how.adjustment
    if adjustment.stepped is not None:
        return adjustment.stepped(_family(comparison), levels)
    return levels if adjustment.of_levels is None else adjustment.of_levels(levels.tolist())


def _family(comparison: Comparison) -> Family:
    """The statistics of all pairs over common shuffles."""
    family, sides = _exchange(comparison).family, comparison.how.sides
    if comparison.uneven:
        from evalhouse.warehouse.significance.multiple import FamilyOfPairs

        def alone(place: int) -> Family:
            return family(paired_sums(comparison, comparison.pairs[place]), [(0, 1)], sides)

        return FamilyOfPairs(alone, len(comparison.pairs))
    return family(comparison.many, [comparison.in_order(pair) for pair in comparison.pairs], sides)


# === blocks of pairs ==================================================================================================
# The tests of many pairs, in blocks that an engine can distribute. The outcomes are the same as without blocks, because
# what concerns all pairs together (exact or shuffles, and how these are made) is decided before they are divided, and
# coins depend only on the seed and the test set. Tests and adjustments that look at all systems at once are divided by
# their shuffles: each chunk has random numbers of its own, and its counts are added up.


class Block(Struct, frozen=True):
    """Some pairs of comparisons that have the same observations, with the systems of these pairs alone.

    `places` are those of the systems among all. `at_once` says whether shuffles are one product over systems, None
    where the test does not shuffle pairs together.
    """

    comparisons: tuple[Comparison, ...]
    places: tuple[int, ...]
    at_once: bool | None


def find_outcomes(comparisons: Sequence[Comparison], workforce: Workforce) -> Outcomes:
    """The outcome of each statistic and pair of one test set, in blocks where they are shared out."""
    if workforce.blocks < 2 or not comparisons or len(comparisons[0].pairs) < 2:
        return outcomes(comparisons, workforce.work)
    if comparisons[0].how.test.whole_family:
        return _of_families(comparisons, workforce)
    by_pair: Outcomes = {}
    for of_block in workforce.share_out(outcomes_of, list(split_blocks(comparisons, workforce.blocks))):
        if of_block is None:
            # A test refuses a pair, and says which where all are tested in their order.
            return outcomes(comparisons, workforce.work)
        by_pair.update(of_block)
    return by_pair


def count_reached_in(comparison: Comparison, workforce: Workforce) -> Integers | None:
    """In how many shuffles of the family each pair is reached, where the adjustment needs that; of shape (pairs,)."""
    if comparison.how.adjustment.reached is None:
        return None
    parts = list(_spans(comparison, workforce.blocks))
    if len(parts) < 2:
        return count_reached(comparison)
    counts: Integers = np.sum(workforce.share_out(count_reached, parts), axis=0)
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
            by_pair = outcomes_of_shuffles(block.comparisons, ALONE, block.at_once)
    except QueryError:
        return None
    return {(label, (block.places[a], block.places[b])): outcome for (label, (a, b)), outcome in by_pair.items()}


def split_blocks(comparisons: Sequence[Comparison], blocks: int) -> Iterator[Block]:
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
