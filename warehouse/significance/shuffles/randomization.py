"""Approximate randomization: shuffles of two systems' tuples, and how many are at least as extreme as observed.

Stratified shuffling (Noreen 1989, section 2.7; Chinchor 1992): in each exchange unit a fair coin decides whether the
two systems' tuples change places. nge counts the shuffles whose difference is at least the observed one, ties included,
and p = (nge + 1) / (shuffles + 1). Memory is bounded by a chunk of shuffles and never grows to shuffles × units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Integers
from evalhouse.warehouse.significance.draws import ALONE, GROUPED, Draws, Outcome, Sides, Work, approximate
from evalhouse.warehouse.significance.extreme import Extreme, ExtremeFunction
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.two_systems import Distinct

GROUPED_UNITS = 20_000
UNITS_A_GROUP = 256
"""From GROUPED_UNITS units on, with at least UNITS_A_GROUP differing units for each distinct difference, one draw for
each difference is cheaper than one coin for each unit. It is not much more expensive than the share of a pair if all
pairs are shuffled at once. The draws then depend only on the differences of the pair, and not on the order of the
units.
"""


class ShuffleMethod(Struct, frozen=True):
    """How a pair will be shuffled, and why.

    The method is `identical` (nothing to shuffle), `lookup` (coins are read from tables of sums) or `grouped` (for each
    distinct difference, the number of units that change places is drawn). `bytes` is the approximate memory held at
    once.
    """

    method: Literal["identical", "lookup", "grouped"]
    reason: str
    units: int
    differing: int
    bytes: int


def shuffle_method(paired: Sums) -> ShuffleMethod:
    """The method that `randomization_test` will use for these data. It depends on them alone."""
    return _method(paired)[0]


def _method(paired: Sums) -> tuple[ShuffleMethod, Distinct | None]:
    numerator, denominator = paired.differences()
    differing = int(np.count_nonzero((numerator != 0) | (denominator != 0)))
    if not differing:
        return ShuffleMethod("identical", "the systems do not differ in any unit", paired.units, 0, 0), None
    distinct = few_distinct(paired)
    if distinct is not None:
        reason = f"{differing} differing units have only {distinct.size} distinct differences"
        memory = 10 * 8 * coins.CHUNK + sum(map(coins.memory_of_tables, set(distinct.count.tolist())))
        return ShuffleMethod("grouped", reason, paired.units, differing, memory), distinct
    reason, memory = "8 coins are read at once from tables of sums", coins.memory_of_lookup(paired.units)
    if _has_own_coins(paired.units, differing):
        width = coins.OWN_WIDTH
        reason += f", and after {coins.COMMON_FIRST:,} shuffles {width} coins of the {differing} differing units"
        memory = max(memory, coins.memory_of_own_coins(differing))
    return ShuffleMethod("lookup", reason, paired.units, differing, memory), None


def few_distinct(paired: Sums) -> Distinct | None:
    """The distinct differences of a pair that is shuffled by groups; None for a pair that is shuffled by coins."""
    if paired.units < GROUPED_UNITS:
        return None
    distinct = Distinct.of(paired)
    return distinct if draws_by_itself(paired.units, distinct.units, distinct.size) else None


def _has_own_coins(units: int, differing: int) -> bool:
    """Whether a pair that is shuffled by coins has its own in a long run."""
    return differing >= coins.OWN_DIFFERING and units < GROUPED_UNITS


def draws_by_itself(units: int, differing: int, distinct: int) -> bool:
    """Whether a pair with these numbers of units, differing units and distinct differences is shuffled by groups."""
    return units >= GROUPED_UNITS and 0 < UNITS_A_GROUP * distinct <= differing


def randomization_test(paired: Sums, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Outcome:
    """Approximate randomization of two systems (Noreen 1989; Chinchor 1992).

    The coins depend only on the seed, the stream and the number of units (see `coins`), so other measures on the same
    units and other pairs have the same shuffles. Only a pair with `few_distinct` differences has draws of its own, and
    after the first 100,000 shuffles a pair with 1,000 differing units (see `coins`). Identical systems give p = 1.
    """
    extreme = Extreme.of(paired, sides)
    chosen, distinct = _method(paired)
    if chosen.method == "identical":
        return approximate(draws.shuffles, draws.shuffles)
    nge = done = 0
    for u, v in _differences(paired, chosen, distinct, extreme, draws, work.threads):
        nge += int(np.count_nonzero(extreme.contains(u, v)))
        done += int(u.shape[0])
        work.progress(done / draws.shuffles)
    return approximate(nge, draws.shuffles)


def functional_test(paired: Sums, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Outcome:
    """Approximate randomization of two systems by a function of sums (Noreen 1989, section 2.7).

    The coins are those of `randomization_test`, so such a measure has the same shuffles as ratios. The value of a
    pseudo system counts as 0 if it is undefined. Identical systems give p = 1.
    """
    extreme = ExtremeFunction.of(paired, sides)
    differences = paired.differences()
    if not any(column.any() for column in differences):
        return approximate(draws.shuffles, draws.shuffles)
    start = np.array(paired.totals(0))[:, None]
    nge = done = 0
    for lost in coins.sums_over_exchanged(differences, draws, work.threads):
        sums = (start - np.stack(lost)).astype(np.float64)
        nge += int(np.count_nonzero(extreme.contains(sums)))
        done += sums.shape[1]
        work.progress(done / draws.shuffles)
    return approximate(nge, draws.shuffles)


def null_differences(paired: Sums, draws: Draws) -> NDArray[np.float64]:
    """The differences of the pseudo systems in the same shuffles, of shape (shuffles,), for a picture.

    Each is ΣN_A/ΣD_A − ΣN_B/ΣD_B, without the factor of the measure and in floating point. Do not count these to get p;
    `randomization_test` compares exactly.
    """
    extreme = Extreme.of(paired)
    chosen, distinct = _method(paired)
    null = np.zeros(draws.shuffles)
    if chosen.method == "identical":
        return null
    done = 0
    for u, v in _differences(paired, chosen, distinct, extreme, draws):
        null[done : done + u.shape[0]] = extreme.difference(u, v)
        done += int(u.shape[0])
    return null


def null_differences_of_function(paired: Sums, draws: Draws) -> NDArray[np.float64]:
    """The same for a function of sums: the differences of the values of the pseudo systems, where an undefined value
    counts as 0.
    """
    start, other = (np.array(paired.totals(system), dtype=np.float64)[:, None] for system in (0, 1))
    totals = start + other
    value = paired.valuation.or_zero
    chunks = coins.sums_over_exchanged(paired.differences(), draws, 1)
    return np.concatenate([value(start - lost) - value(totals - start + lost) for lost in map(np.stack, chunks)])


def _differences(
    paired: Sums,
    chosen: ShuffleMethod,
    distinct: Distinct | None,
    extreme: Extreme,
    draws: Draws,
    threads: int = 1,
) -> Iterator[tuple[Integers, Integers]]:
    """u and v of each shuffle, a chunk at a time."""
    if distinct is not None:
        # A reversed pair has the same draws with the opposite sign.
        sign = _sign(paired.differences())
        for u, v in _grouped_sums(distinct, draws):
            yield sign * u, sign * v
        return
    common, own = draws.parted(coins.COMMON_FIRST) if _has_own_coins(chosen.units, chosen.differing) else (draws, None)
    sums: list[Iterator[list[Integers]]] = []
    if common is not None:
        sums.append(coins.sums_over_exchanged(paired.differences(), common, threads))
    if own is not None:
        sums.append(coins.sums_with_own_coins(paired.differences(), own, threads))
    for numerator, denominator in chain(*sums):
        yield extreme.u - 2 * numerator, extreme.v - 2 * denominator


def _sign(differences: Sequence[Integers]) -> int:
    """1 or −1, with the opposite sign for the opposite differences, whatever the order of the units; sums may wrap
    around.
    """
    sums = [int((side**power).sum()) for power in (1, 3) for side in differences]
    return next((1 if total > 0 else -1 for total in sums if total), 1)


def _grouped_sums(distinct: Distinct, draws: Draws) -> Iterator[tuple[Integers, Integers]]:
    """u and v if units with the same difference are drawn together: the signs of `count` such units sum to 2·kept −
    count, where `kept` of them keep their places. This uses one thread, because the calls are too short to share the
    interpreter.
    """
    tables = {count: coins.BinomialTable.of(count) for count in set(distinct.count.tolist())}
    differences = list(
        zip(distinct.numerator.tolist(), distinct.denominator.tolist(), distinct.count.tolist(), strict=True)
    )
    for chunk, used in draws.chunks(coins.CHUNK):
        source = draws.generator(chunk, GROUPED)
        u, v, product = (np.zeros(coins.CHUNK, dtype=np.int64) for _ in range(3))
        for numerator, denominator, count in differences:
            signs = tables[count].draw(source, coins.CHUNK)
            signs *= 2
            signs -= count
            u += np.multiply(signs, numerator, out=product)
            v += np.multiply(signs, denominator, out=product)
        yield u[:used], v[:used]
