"""How close the shuffles come to what numpy can do at all: each kernel beside its floor, measured in the same run.

    python benchmarks/floors.py [--runs 9]

prints three Markdown tables, in processor seconds of one thread, the least of several runs. The first two are about the
pair W3 and the 100 systems W6 of `significance.py`. A floor is the time of the steps that cannot be left out, each
measured alone on arrays of the same size: random words, lookups, products, differences. The third asks whether one draw
from the exact distribution of the sum of some units is cheaper than their coins.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command has it; read when numpy loads

import numpy as np
from significance import extraction, measured

from evalhouse.warehouse.significance.draws import OWN_COINS, Draws
from evalhouse.warehouse.significance.exact.counting import exact_test
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.coins import OPEN, SLICE, BinomialTable, Shuffler
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.sums import Sums

SHUFFLES = 100_000
LONG = Draws(2**20)
SHORT = Draws(10_000)


Work = Callable[[], object]


def drained(draw: Callable[[], Any]) -> Work:
    """Takes everything from an iterator, and keeps nothing."""
    return lambda: deque(draw(), maxlen=0)


def least(works: dict[Any, Work], runs: int) -> dict[Any, float]:
    """The least processor seconds of each piece of work; they are done in turns."""
    best = dict.fromkeys(works, np.inf)
    for _ in range(runs):
        for name, work in works.items():
            began = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - began)
    return best


# --- one pair ---------------------------------------------------------------------------------------------------------


def random_words(words: int, size: int) -> None:
    """So many random words of 64 bits, `size` at a time."""
    source = SHORT.generator(0, OWN_COINS).bit_generator
    for _ in range(-(-words // size)):
        source.random_raw(size)


def lookups(rows: int, width: int, shuffles: int, size: int) -> None:
    """One lookup for each of `rows` tables of 2^width numbers and each shuffle, `size` shuffles at a time, where the
    places are known."""
    tables = np.zeros((rows, 1 << width), dtype=np.int32)
    places = np.random.default_rng(1).integers(0, 1 << width, size)
    found = np.empty(size, dtype=np.int32)
    for _ in range(-(-shuffles // size)):
        for table in tables:
            np.take(table, places, out=found, mode="wrap")


def of_a_pair(paired: Sums, runs: int) -> None:
    """Prints what the sums of a pair take beside random words and lookups alone."""
    columns = paired.differences()
    differing = int(np.count_nonzero(np.any(columns, axis=0)))
    rows, fields = coins.rows(paired.units), -(-differing // coins.OWN_WIDTH)
    words, at_once = -(-fields // coins.OWN_FIELDS) * SHUFFLES, coins.CHUNKS_AT_ONCE * coins.CHUNK
    kernels: dict[str, tuple[Work, Work, Work]] = {
        f"8 common coins a lookup ({rows} lookups a shuffle)": (
            drained(partial(coins.sums_over_exchanged, columns, Draws(SHUFFLES))),
            partial(random_words, rows * SHUFFLES // 8, rows * coins.CHUNK // 8),
            partial(lookups, rows, 8, SHUFFLES, coins.CHUNK),
        ),
        f"12 coins of the pair's own a lookup ({fields} lookups)": (
            drained(partial(coins.sums_with_own_coins, columns, Draws(SHUFFLES))),
            partial(random_words, words, coins.CHUNK),
            partial(lookups, fields, coins.OWN_WIDTH, SHUFFLES, at_once),
        ),
    }
    works = {(name, part): work for name, three in kernels.items() for part, work in enumerate(three)}
    took = least(works, runs)
    print(f"| sums of a pair of {paired.units:,} documents, ns a shuffle | kernel | words | lookups | kernel / floor |")
    print("|---|---|---|---|---|")
    for name in kernels:
        kernel, of_words, of_lookups = (1e9 * took[name, part] / SHUFFLES for part in range(3))
        print(f"| {name} | {kernel:.0f} | {of_words:.0f} | {of_lookups:.0f} | {kernel / (of_words + of_lookups):.2f} |")
    whole = least({"shuffles": lambda: randomization_test(paired, LONG), "exact": lambda: exact_test(paired)}, runs)
    print(f"\n2^20 shuffles of this pair take {whole['shuffles']:.2f} s, and the exact test {whole['exact']:.2f} s.\n")


# --- all pairs --------------------------------------------------------------------------------------------------------


def product(size: int) -> Work:
    """A product of two square matrices, which is as fast as products get."""
    left, right = np.random.default_rng(1).random((2, size, size), dtype=np.float32)
    out = np.empty_like(left)
    return lambda: np.matmul(left, right, out=out)


def differences(pairs: int, shuffles: int, size: int) -> None:
    """For each pair and shuffle two differences and one comparison, which are the least that a decision takes."""
    first, second = np.ones((2, size), dtype=np.float32)
    over, under, answer = np.empty_like(first), np.empty_like(first), np.empty(size, dtype=np.bool_)
    for _ in range(pairs * shuffles // size):
        np.subtract(first, second, out=over)
        np.subtract(second, first, out=under)
        np.greater_equal(over, under, out=answer)


def of_all_pairs(many: Sums, runs: int) -> None:
    """Prints what all pairs take beside the fastest product and the fewest decisions."""
    size, shuffles = 1024, SHORT.shuffles
    pairs = many.systems * (many.systems - 1) // 2
    slice_of_one = SLICE // many.systems
    took = least(
        {
            "sums": drained(lambda: Shuffler([many.columns]).slices(SHORT)),
            "sgemm": product(size),
            "decisions": partial(differences, pairs, shuffles, slice_of_one),
            "all": lambda: all_pairs_test([many], SHORT),
        },
        runs,
    )
    operations = 2 * 2 * many.systems * many.units * shuffles
    peak = 2 * size**3 / took["sgemm"]
    floor = operations / peak
    moved = many.units * shuffles * (1 / 8 + 1 + 4) + 2 * many.systems * shuffles * 4
    print(
        f"| {many.systems} systems, {many.units:,} documents, {shuffles:,} shuffles | kernel | floor | kernel / floor |"
    )
    print("|---|---|---|---|")
    print(
        f"| signed sums: {operations / 1e9:.1f} billion operations in float32, {moved / 1e6:.0f} MB of coins and sums "
        f"| {took['sums']:.3f} s | {floor:.3f} s at {peak / 1e9:.0f} billion a second | {took['sums'] / floor:.2f} |"
    )
    rest = took["all"] - took["sums"]
    print(
        f"| decisions on {pairs:,} pairs: {pairs * shuffles / 1e6:.0f} million | {rest:.3f} s "
        f"| {took['decisions']:.3f} s for two differences and a comparison each | {rest / took['decisions']:.2f} |"
    )
    whole = floor + took["decisions"]
    print(f"| together | {took['all']:.3f} s | {whole:.3f} s | {took['all'] / whole:.2f} |\n")


# --- the sum of a block of units in one draw --------------------------------------------------------------------------


BITS = (11, 16)
"""How many bits are looked up at first; the better of the two is taken."""


def distribution(over: Any, under: Any) -> tuple[Any, Any]:
    """The sums of both columns over random subsets, packed into one number, and their probabilities."""
    lowest = [int(np.minimum(column, 0).sum()) for column in (over, under)]
    likely = np.zeros([int(np.abs(column).sum()) + 1 for column in (over, under)])
    likely[-lowest[0], -lowest[1]] = 1.0
    # The sums so far are in this rectangle.
    top, bottom, left, right = -lowest[0], -lowest[0] + 1, -lowest[1], -lowest[1] + 1
    for down, across in zip(over.tolist(), under.tolist(), strict=True):
        half = likely[top:bottom, left:right] / 2
        likely[top:bottom, left:right] = half
        likely[top + down : bottom + down, left + across : right + across] += half
        top, bottom = min(top, top + down), max(bottom, bottom + down)
        left, right = min(left, left + across), max(right, right + across)
    rows, columns = np.nonzero(likely)
    return (rows + lowest[0]) + ((columns + lowest[1]) << 32), likely[rows, columns]


def inversion(likely: Any, bits: int) -> BinomialTable:
    """A table from which places are drawn with these probabilities, with the draws of binomial numbers."""
    shares = np.cumsum(likely)
    edges = np.ldexp(shares[shares < 1], 64).astype(np.uint64)
    inside = np.bincount((edges >> np.uint64(64 - bits)).astype(np.intp), minlength=1 << bits)
    return BinomialTable(0, edges, np.where(inside > 0, OPEN, np.cumsum(inside)))


def prepared(over: Any, under: Any) -> BinomialTable:
    """Everything that one draw needs."""
    return inversion(distribution(over, under)[1], max(BITS))


def drawn(table: BinomialTable, sums: Any) -> None:
    """The sum of a block in each of SHORT's shuffles."""
    np.take(sums, table.draw(SHORT.generator(0, OWN_COINS), SHORT.shuffles))


def of_blocks(paired: Sums, runs: int) -> None:
    """Prints what the sum of the smallest differences takes by one draw, and their part of what all coins take."""
    columns = paired.differences()
    differing = np.flatnonzero(np.any(columns, axis=0))
    order = differing[np.argsort(np.abs(columns).sum(axis=0)[differing], kind="stable")]
    print("| smallest differences | sums they can have | tables, ms | one draw, ns | their coins, ns |")
    print("|---|---|---|---|---|")
    for units in (32, 64, 128, 256, 512):
        block = [column[order[:units]] for column in columns]
        sums, likely = distribution(*block)
        took = least(
            {
                "prepare": partial(prepared, *block),
                **{bits: partial(drawn, inversion(likely, bits), sums) for bits in BITS},
                "coins": drained(partial(coins.sums_with_own_coins, columns, Draws(4 * SHORT.shuffles))),
            },
            runs,
        )
        draw = 1e9 * min(took[bits] for bits in BITS) / SHORT.shuffles
        of_coins = 1e9 * took["coins"] / (4 * SHORT.shuffles) * units / len(differing)
        print(f"| {units} | {len(sums):,} | {1e3 * took['prepare']:.1f} | {draw:.1f} | {of_coins:.1f} |", flush=True)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="times the shuffles beside what numpy can do at all")
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    pair = measured(extraction(2, 2000, 3), "F").pair(0, 1)
    of_a_pair(pair, runs)
    of_all_pairs(measured(extraction(100, 1000, 6), "F"), runs)
    of_blocks(pair, runs)


if __name__ == "__main__":
    main()
