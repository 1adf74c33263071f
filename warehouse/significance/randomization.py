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

from warehouse.significance import coins, lookup, product
from warehouse.significance.coins import Stream
from warehouse.significance.distinct import Distinct
from warehouse.significance.extreme import Extreme
from warehouse.significance.outcome import Outcome, Sides, approximate, check_shuffles
from warehouse.significance.paired import Integers, Many, Paired
from warehouse.significance.parallel import in_order

Tick = Callable[[int], None]
"""Called after each chunk with the number of shuffles done so far; whatever it raises ends the test."""

UNITS_A_GROUP = 400
"""From so many differing units for each distinct difference on, binomial draws cost less than a coin a unit."""

COUNTED_UNITS = 20_000
COUNTED_A_GROUP = 8
"""From so many differing units on, and so many for each distinct difference, the heads among the coins of units that
differ alike are counted, 64 at a time; that costs less than to look their sums up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a pair will be shuffled, and why.

    The method is `identical` (nothing to shuffle), `lookup` (coins read from tables of sums), `counted` (the heads
    among the coins of each distinct difference) or `grouped` (one binomial draw for each). `bytes` is about the memory
    held at once.
    """

    method: Literal["identical", "lookup", "counted", "grouped"]
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
    if differing >= UNITS_A_GROUP:
        distinct = Distinct.of(paired)
        if differing >= UNITS_A_GROUP * distinct.size:
            reason = f"{differing} differing units have only {distinct.size} distinct differences"
            return Plan("grouped", reason, paired.units, differing, 8 * 8 * coins.CHUNK), distinct
        if differing >= max(COUNTED_UNITS, COUNTED_A_GROUP * distinct.size):
            reason = f"{differing} differing units have {distinct.size} distinct differences"
            words = -(-int(distinct.count.max()) // 64)
            return Plan("counted", reason, paired.units, differing, 8 * (8 + words) * coins.CHUNK), distinct
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
    """Approximate randomization of two systems, by so many threads, which change no number.

    The coins depend on seed, stream and number of units alone (see `coins`), so another measure on the same units, and
    another pair, meet the same shuffles; only a pair that `plan` calls counted or grouped has draws of its own.
    Identical systems give p = 1. Raises ValueError for fewer than one shuffle.
    """
    extreme = Extreme.of(paired, sides)
    chosen, distinct = _plan(paired, shuffles)
    if chosen.method == "identical":
        return approximate(shuffles, shuffles)
    nge = done = 0
    for u, v in _differences(paired, chosen, distinct, extreme, shuffles, seed, stream, threads):
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
    for u, v in _differences(paired, chosen, distinct, extreme, shuffles, seed, stream):
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
    chosen: Plan,
    distinct: Distinct | None,
    extreme: Extreme,
    shuffles: int,
    seed: int,
    stream: Stream,
    threads: int = 1,
) -> Iterator[tuple[Integers, Integers]]:
    """u and v of each shuffle, a chunk at a time."""
    if distinct is not None:
        heads = _binomial if chosen.method == "grouped" else _heads
        yield from _grouped(distinct, heads, shuffles, seed, stream, threads)
        return
    sums = lookup.Sums.of(*paired.differences())
    for numerator, denominator in lookup.shuffled(sums, shuffles, seed, stream, threads):
        yield extreme.u - 2 * numerator, extreme.v - 2 * denominator


Heads = Callable[[np.random.Generator, int], Integers]
"""Draws how many of so many coins are heads, in each shuffle of a chunk."""


def _binomial(source: np.random.Generator, count: int) -> Integers:
    return source.binomial(count, 0.5, coins.CHUNK).astype(np.int64, copy=False)


def _heads(source: np.random.Generator, count: int) -> Integers:
    size = next((size for size in (1, 2, 4) if count <= 8 * size), 8)
    rows, rest = -(-count // (8 * size)), count % (8 * size)
    words = source.integers(0, 2**64, size=rows * coins.CHUNK * size // 8, dtype=np.uint64)
    # Little-endian words on every machine, so that the parts are the same.
    parts = words.astype("<u8", copy=False).view(f"<u{size}").reshape(rows, coins.CHUNK)
    if rest:
        parts[-1] &= 2**rest - 1
    found: Integers = np.bitwise_count(parts).sum(axis=0, dtype=np.int64)
    return found


def _grouped(
    distinct: Distinct, heads: Heads, shuffles: int, seed: int, stream: Stream, threads: int
) -> Iterator[tuple[Integers, Integers]]:
    """u and v where the units with the same difference are drawn at once: their signs add up to 2·Binomial(count, ½) −
    count."""

    def drawn(numbered: tuple[int, int]) -> tuple[Integers, Integers]:
        chunk, used = numbered
        source = coins.generator(seed, stream, chunk, purpose=coins.GROUPED)
        u = np.zeros(used, dtype=np.int64)
        v = np.zeros(used, dtype=np.int64)
        for numerator, denominator, count in zip(
            distinct.numerator.tolist(), distinct.denominator.tolist(), distinct.count.tolist(), strict=True
        ):
            signs = 2 * heads(source, count)[:used] - count
            u += signs * numerator
            v += signs * denominator
        return u, v

    yield from in_order(drawn, coins.chunks(shuffles), threads)
