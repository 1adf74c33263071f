"""Approximate randomization: shuffles of two systems' tuples, and how many come out as extreme as observed.

Stratified shuffling (Noreen 1989, section 2.7; Chinchor 1992): in each exchange unit a fair coin decides whether the
two systems' tuples change places. nge counts the shuffles whose difference is at least the observed one, ties included,
and p = (nge + 1) / (shuffles + 1). Memory is bounded by a chunk of shuffles and never grows to shuffles × units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warehouse.significance.distinct import Distinct
from warehouse.significance.extreme import Extreme
from warehouse.significance.outcome import Outcome, Sides, approximate, check_shuffles
from warehouse.significance.paired import Integers, Many, Paired
from warehouse.significance.shuffles import all_pairs as product
from warehouse.significance.shuffles import binomial as heads
from warehouse.significance.shuffles import coins, lookup
from warehouse.significance.shuffles.coins import Stream

Tick = Callable[[int], None]
"""Called after each chunk with the number of shuffles done so far; whatever it raises ends the test."""

GROUPED_UNITS = 2_000
UNITS_A_GROUP = 32
"""From so many differing units on, and so many for each distinct difference, a draw for each difference costs less than
a coin a unit. Below, all pairs meet the same coins, and cost little."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a pair will be shuffled, and why.

    The method is `identical` (nothing to shuffle), `lookup` (coins read from tables of sums) or `grouped` (the number
    of heads drawn for each distinct difference). `bytes` is about the memory held at once.
    """

    method: Literal["identical", "lookup", "grouped"]
    reason: str
    units: int
    differing: int
    bytes: int


def plan(paired: Paired, shuffles: int) -> Plan:
    """What `pair` will do with these data; it follows from the data and the number of shuffles alone."""
    return _plan(paired, shuffles)[0]


def _plan(paired: Paired, shuffles: int) -> tuple[Plan, Distinct | None]:
    check_shuffles(shuffles)
    numerator, denominator = paired.differences()
    differing = int(np.count_nonzero((numerator != 0) | (denominator != 0)))
    if not differing:
        return Plan("identical", "the systems do not differ in any unit", paired.units, 0, 0), None
    if differing >= GROUPED_UNITS:
        distinct = Distinct.of(paired)
        if differing >= UNITS_A_GROUP * distinct.size:
            reason = f"{differing} differing units have only {distinct.size} distinct differences"
            memory = 10 * 8 * coins.CHUNK + sum(map(heads.memory, set(distinct.count.tolist())))
            return Plan("grouped", reason, paired.units, differing, memory), distinct
    reason = f"{lookup.bits(paired.units, shuffles)} coins are read at once from tables of sums"
    memory = lookup.memory(paired.units, shuffles)
    return Plan("lookup", reason, paired.units, differing, memory), None


def pair(
    paired: Paired,
    shuffles: int,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
    tick: Tick | None = None,
    threads: int = 1,
) -> Outcome:
    """Approximate randomization of two systems, where coins are looked up by so many threads, which change no number.

    The coins depend on seed, stream and number of units alone (see `coins`), so another measure on the same units, and
    another pair, meet the same shuffles; only a pair that `plan` calls grouped has draws of its own.
    Identical systems give p = 1. Raises ValueError for fewer than one shuffle.
    """
    extreme = Extreme.of(paired, sides)
    chosen, distinct = _plan(paired, shuffles)
    if chosen.method == "identical":
        return approximate(shuffles, shuffles)
    nge = done = 0
    for u, v in _differences(paired, distinct, extreme, shuffles, seed, stream, threads):
        nge += int(np.count_nonzero(extreme.contains(u, v)))
        done += int(u.shape[0])
        if tick is not None:
            tick(done)
    return approximate(nge, shuffles)


def null_differences(
    paired: Paired, shuffles: int, seed: int = 1992, stream: Stream = 0, tick: Tick | None = None
) -> NDArray[np.float64]:
    """The differences of the pseudo systems in the same shuffles, of shape (shuffles,), for a picture.

    Each is ΣN_A/ΣD_A − ΣN_B/ΣD_B, without the factor of the measure and in floating point: to count them is the
    business of `pair`.
    """
    extreme = Extreme.of(paired)
    chosen, distinct = _plan(paired, shuffles)
    null = np.zeros(shuffles)
    if chosen.method == "identical":
        return null
    done = 0
    for u, v in _differences(paired, distinct, extreme, shuffles, seed, stream):
        null[done : done + u.shape[0]] = extreme.difference(u, v)
        done += int(u.shape[0])
        if tick is not None:
            tick(done)
    return null


def all_pairs(
    measures: Sequence[Many],
    shuffles: int,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
    tick: Tick | None = None,
    threads: int = 1,
) -> NDArray[np.int64]:
    """Approximate randomization of every pair of systems for one or more measures over the same shuffles.

    Returns nge, of shape (measures, systems, systems): entry [m, a, b] compares system a, as the first, with system b;
    the diagonal is `shuffles`. p is (nge + 1) / (shuffles + 1). The coins are those of `pair`. Raises ValueError where
    the measures do not have the same number of systems and units, and for fewer than one shuffle.
    """
    check_shuffles(shuffles)
    return product.count(measures, shuffles, seed, stream, sides, tick, threads)


def _differences(
    paired: Paired,
    distinct: Distinct | None,
    extreme: Extreme,
    shuffles: int,
    seed: int,
    stream: Stream,
    threads: int = 1,
) -> Iterator[tuple[Integers, Integers]]:
    """u and v of each shuffle, a chunk at a time."""
    if distinct is not None:
        yield from _grouped(distinct, shuffles, seed, stream)
        return
    sums = lookup.Sums.of(*paired.differences())
    for numerator, denominator in lookup.shuffled(sums, shuffles, seed, stream, threads):
        yield extreme.u - 2 * numerator, extreme.v - 2 * denominator


def _grouped(distinct: Distinct, shuffles: int, seed: int, stream: Stream) -> Iterator[tuple[Integers, Integers]]:
    """u and v where the units with the same difference are drawn at once: the signs of so many add up to 2·heads −
    count. By one thread, since the calls are too short for taking turns at the interpreter.
    """
    tables = {count: heads.Heads.of(count) for count in set(distinct.count.tolist())}
    differences = list(
        zip(distinct.numerator.tolist(), distinct.denominator.tolist(), distinct.count.tolist(), strict=True)
    )
    for chunk, used in coins.chunks(shuffles):
        source = coins.generator(seed, stream, chunk, purpose=coins.GROUPED)
        u, v, product = (np.zeros(coins.CHUNK, dtype=np.int64) for _ in range(3))
        for numerator, denominator, count in differences:
            signs = tables[count].draw(source, coins.CHUNK)
            signs *= 2
            signs -= count
            u += np.multiply(signs, numerator, out=product)
            v += np.multiply(signs, denominator, out=product)
        yield u[:used], v[:used]
