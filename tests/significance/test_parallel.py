"""Threads change how long a test takes but none of its numbers; results from several threads arrive in order."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import get_args

import numpy as np
import pytest

from evalhouse.warehouse.significance import multiple
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import AT_ONCE, Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import (
    INTERVALS,
    IntervalKind,
    IntervalPlan,
    Simultaneous,
)
from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test
from evalhouse.warehouse.significance.draws import Draws, Work, in_order
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import functional_test, randomization_test, shuffle_method
from evalhouse.warehouse.significance.shuffles.studentized import all_pairs_studentized, studentized_test
from evalhouse.warehouse.significance.sums import Sums, Valuation
from tests.significance import brute

SHUFFLES = 2 * coins.CHUNK + 777
"""More than two chunks, the last of which is not whole."""


def many(systems: int = 4, documents: int = 60) -> Sums:
    return Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(5), systems, documents)))


def items() -> Sums:
    """Right and wrong answers: one distinct difference, so that the heads among its coins are drawn."""
    a, b = np.random.default_rng(6).integers(0, 2, (2, 21_000))
    paired = Sums.of_two(a, np.ones_like(a), b, np.ones_like(b))
    assert shuffle_method(paired).method == "grouped"
    return paired


PAIRS = list(combinations(range(12), 2))
"""More than are worked on at once."""


SQUARE = Valuation(lambda sums: np.square(sums[0]) / (sums[1] + 1), lambda sums: Fraction(sums[0] ** 2, sums[1] + 1))
"""The square of a count over another, which is not a ratio of sums."""


def functions() -> Sums:
    return Sums.of_counts(np.random.default_rng(7).integers(0, 6, (2, 2, 20)), SQUARE)


def rare() -> Sums:
    """More items than are drawn one by one, of which few differ."""
    right = np.ones((2, 21_000), dtype=np.int64)
    right[1, :30] = 0
    return Sums.of_ratios(right, np.ones_like(right))


def intervals(plan: IntervalPlan, work: Work) -> list[object]:
    """Of many pairs, of a function, and of units that are counted by kind."""
    found = [
        Bootstrap(work=work).differences(systems, pairs, plan)
        for systems, pairs in ((many(12), PAIRS), (functions(), PAIRS[:1]), (rare(), PAIRS[:1]))
    ]
    return [(limits.low.tolist(), limits.high.tolist()) for limits in found]


WORKS: dict[str, Callable[[Work], object]] = {
    "coins of a pair of many units": lambda work: randomization_test(many(2, 9_000).pair(0, 1), Draws(777), work=work),
    "coins of a pair": lambda work: randomization_test(many().pair(0, 1), Draws(SHUFFLES), work=work),
    "heads that are drawn": lambda work: randomization_test(items(), Draws(SHUFFLES), work=work),
    "all pairs": lambda work: all_pairs_test([many()], Draws(SHUFFLES), work=work).tolist(),
    "all pairs, one-sided": lambda work: all_pairs_test([many()], Draws(SHUFFLES), "one-sided", work).tolist(),
    "a measure that is no ratio": lambda work: functional_test(functions().pair(0, 1), Draws(SHUFFLES), work=work),
    "standard errors of a pair": lambda work: studentized_test(many().pair(0, 1), Draws(SHUFFLES), work=work),
    "standard errors of all pairs": lambda work: all_pairs_studentized([many()], Draws(SHUFFLES), work=work).tolist(),
    "standard errors of a function": lambda work: studentized_test(functions().pair(0, 1), Draws(SHUFFLES), work=work),
    "permuted labels": lambda work: multiple.tukey(many(), Draws(5000), work=work).tolist(),
    "permuted labels of a function": lambda work: multiple.tukey(functions(), Draws(5000), work=work).tolist(),
    **{
        f"intervals, {kind.name}, {family}": partial(intervals, IntervalPlan(kind=kind, family=family))
        for kind in INTERVALS
        for family in get_args(Simultaneous)
    },
    "the test of resamples": lambda work: bootstrap_test(many().pair(0, 1), Draws(3000), work=work),
}


@pytest.mark.long
@pytest.mark.parametrize("run", WORKS.values(), ids=WORKS.keys())
def test_no_number_depends_on_the_threads(run: Callable[[Work], object]) -> None:
    alone = run(Work(1))
    assert run(Work(2)) == alone
    assert run(Work(5)) == alone


@pytest.mark.parametrize("kind", INTERVALS, ids=[kind.name for kind in INTERVALS])
def test_intervals_of_many_pairs_are_those_of_each(kind: IntervalKind) -> None:
    assert len(PAIRS) > AT_ONCE
    plan = IntervalPlan(kind=kind)
    at_once = Bootstrap(work=Work(threads=2)).differences(many(12), PAIRS, plan)
    for place in (0, 1, AT_ONCE - 1, AT_ONCE, len(PAIRS) - 1):
        alone = Bootstrap().differences(many(12), [PAIRS[place]], plan)
        assert (at_once.low[place], at_once.high[place]) == (alone.low[0], alone.high[0])


def test_progress_is_heard_in_order_in_the_thread_that_asked() -> None:
    heard: list[tuple[float, int]] = []
    work = Work(3, lambda share: heard.append((share, threading.get_ident())))
    randomization_test(many().pair(0, 1), Draws(SHUFFLES), work=work)
    assert heard == [(done / SHUFFLES, threading.get_ident()) for done in (10_000, 20_000, SHUFFLES)]


def test_results_come_in_the_order_of_the_tasks_and_by_several_threads() -> None:
    both = threading.Barrier(2, timeout=60)

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
