"""Threads change how long a test takes and no number; what comes from several threads comes in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from tests.significance import brute
from warehouse.significance import bootstrap, multiple
from warehouse.significance.paired import Many, Paired
from warehouse.significance.parallel import in_order
from warehouse.significance.shuffles import coins, randomization
from warehouse.significance.shuffles import functional as arbitrary

SHUFFLES = 2 * coins.CHUNK + 777
"""More than two chunks, the last of which is not whole."""


def many(systems: int = 4, documents: int = 60) -> Many:
    return Many(*brute.f(brute.muc_counts(np.random.default_rng(5), systems, documents)))


def items() -> Paired:
    """Right and wrong answers: one distinct difference, so that the heads among its coins are drawn."""
    a, b = np.random.default_rng(6).integers(0, 2, (2, 9000))
    paired = Paired(a, np.ones_like(a), b, np.ones_like(b))
    assert randomization.plan(paired, SHUFFLES).method == "grouped"
    return paired


PAIRS = list(combinations(range(12), 2))
"""More than are worked on at once."""


def no_ratio(threads: int) -> object:
    """The square of a count over another."""
    a, b = np.random.default_rng(7).integers(0, 6, (2, 2, 20))
    return arbitrary.pair(
        a,
        b,
        lambda sums: np.square(sums[0]) / (sums[1] + 1),
        lambda sums: Fraction(sums[0] ** 2, sums[1] + 1),
        SHUFFLES,
        threads=threads,
    )


WORKS: dict[str, Callable[[int], object]] = {
    "coins of a pair of many units": lambda threads: randomization.pair(
        many(2, 9_000).pair(0, 1), 777, threads=threads
    ),
    "coins of a pair": lambda threads: randomization.pair(many().pair(0, 1), SHUFFLES, threads=threads),
    "twelve coins at once": lambda threads: randomization.pair(many().pair(0, 1), 120_000, threads=threads),
    "heads that are drawn": lambda threads: randomization.pair(items(), SHUFFLES, threads=threads),
    "all pairs": lambda threads: randomization.all_pairs([many()], SHUFFLES, threads=threads).tolist(),
    "all pairs, one-sided": lambda threads: randomization.all_pairs(
        [many()], SHUFFLES, sides="one-sided", threads=threads
    ).tolist(),
    "a measure that is no ratio": no_ratio,
    "permuted labels": lambda threads: multiple.tukey(many(), 5000, threads=threads).tolist(),
    "intervals": lambda threads: bootstrap.intervals([many()], [(0, 1), (1, 2)], [1.0], threads=threads).tolist(),
    "intervals of many pairs": lambda threads: bootstrap.intervals([many(12)], PAIRS, [1.0], threads=threads).tolist(),
    "intervals of normal sums": lambda threads: bootstrap.intervals(
        [many(2, 30_000)], [(0, 1)], [1.0], threads=threads
    ).tolist(),
    "the test of resamples": lambda threads: bootstrap.pair(many().pair(0, 1), 3000, threads=threads),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS.keys())
def test_no_number_depends_on_the_threads(work: Callable[[int], object]) -> None:
    alone = work(1)
    assert work(2) == alone
    assert work(5) == alone


def test_intervals_of_many_pairs_are_those_of_each() -> None:
    assert len(PAIRS) > bootstrap.PAIRS_AT_ONCE
    at_once = bootstrap.intervals([many(12)], PAIRS, [1.0], threads=2)[0]
    for place in (0, 1, bootstrap.PAIRS_AT_ONCE - 1, bootstrap.PAIRS_AT_ONCE, len(PAIRS) - 1):
        np.testing.assert_array_equal(at_once[place], bootstrap.intervals([many(12)], [PAIRS[place]], [1.0])[0, 0])


def test_what_is_done_is_told_in_order_in_the_thread_that_asked() -> None:
    told: list[tuple[int, int]] = []
    randomization.pair(
        many().pair(0, 1), SHUFFLES, tick=lambda done: told.append((done, threading.get_ident())), threads=3
    )
    assert told == [(done, threading.get_ident()) for done in (10_000, 20_000, SHUFFLES)]


def test_results_come_in_the_order_of_the_tasks_and_by_several_threads() -> None:
    both = threading.Barrier(2, timeout=30)

    def slower_first(task: int) -> int:
        if task < 2:
            both.wait()  # passes only where two tasks run at once
        time.sleep(0.02 if task == 0 else 0)
        return task

    assert list(in_order(slower_first, range(9), 2)) == list(range(9))


def test_no_more_is_begun_than_threads_can_hold() -> None:
    begun: list[int] = []

    def work(task: int) -> int:
        begun.append(task)
        return task

    results = in_order(work, iter(range(1000)), 3)
    assert [next(results), next(results)] == [0, 1]
    results.close()  # type: ignore[attr-defined]
    assert len(begun) <= 6


def test_what_goes_wrong_is_raised_where_its_result_would_be() -> None:
    def work(task: int) -> int:
        if task == 2:
            raise KeyError(task)
        return task

    for threads in (1, 4):
        results = in_order(work, range(5), threads)
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(KeyError):
            next(results)
