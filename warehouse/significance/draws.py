"""Random draws: the result of a test, how many draws it makes, and how they are computed in chunks.

Draws come in chunks of a fixed size, each with a random generator of its own, so neither the number of threads nor
the available memory changes a result. This module must not know what is drawn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from math import isnan
from sys import float_info
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr, replace

from evalhouse.warehouse.process.stopping import STARTING

if TYPE_CHECKING:
    from concurrent.futures import Future


# === the result of a test =============================================================================================
# It holds only what the test found. It must not hold a verdict, a level or text.

Sides = Literal["two-sided", "one-sided"]
"""One-sided asks whether the first system is better: it counts signed differences, first minus second."""

Method = Literal["exact", "approximate", "analytic", "anytime", "planned"]

SMALLEST = float_info.min
"""The smallest p: a p-value below the range of floating point is set to this, because p is never 0."""


class Looked(Struct, frozen=True):
    """What a test that looks more than once found besides p: the number of looks so far, and the largest e-value, or
    the boundary of a plan: the p of its last look alone at or below which it stops. A plan `goes_on` before all planned
    units have come, unless it has stopped.
    """

    looks: int
    e_value: float | None = None
    boundary: float | None = None
    goes_on: bool = False


class Outcome(Struct, frozen=True):
    """The p-value of one comparison and how it was found.

    `p` lies in (0, 1]; a smaller value is set to SMALLEST, and a value that rounding puts above 1 is set to 1. `method`
    is exact (every exchange was counted), approximate (random shuffles), analytic (a formula with a known
    distribution), anytime (an e-value) or planned (shuffles over several looks). `shuffles` is the number of shuffles,
    and `nge` the number of those that are at least as extreme as the observed data; both are None if nothing was
    shuffled. `statistic` is the test's own statistic, None if it has none besides the difference itself; after several
    looks, it is the difference where p was reached. Raises ValueError if p is NaN.
    """

    p: float
    method: Method
    shuffles: int | None = None
    nge: int | None = None
    statistic: float | None = None
    looked: Looked | None = None

    def __post_init__(self) -> None:
        if isnan(self.p):
            raise ValueError("p is not a number")
        force_setattr(self, "p", min(1.0, max(SMALLEST, float(self.p))))


def approximate(nge: int, shuffles: int) -> Outcome:
    """The outcome for nge extreme ones among `shuffles` shuffles: p = (nge + 1) / (shuffles + 1) (Chinchor 1992, table
    2).
    """
    return Outcome((nge + 1) / (shuffles + 1), "approximate", shuffles, nge)


def check_sides(sides: str) -> None:
    """Raises ValueError for anything but two-sided and one-sided."""
    if sides not in ("two-sided", "one-sided"):
        raise ValueError(f"sides is {sides!r} and can be 'two-sided' or 'one-sided'")


def check_shuffles(shuffles: int) -> None:
    """Raises ValueError for less than one shuffle."""
    if shuffles < 1:
        raise ValueError(f"shuffles is {shuffles} and must be at least 1")


# === number of draws and generators ===================================================================================

Stream = int | tuple[int, ...]
"""What distinguishes streams of one seed, such as a number for the test set: integers that are not negative."""

COINS, GROUPED, LABELS, RESAMPLES, POWER, SLICES, PERMUTED, CURVES, OWN_COINS = range(9)
"""The purposes of draws, so that different kinds of draws never share random numbers."""


class Draws(Struct, frozen=True):
    """A number of shuffles, or of resamples for the bootstrap, from a seed and a stream, after the first `before`
    draws.

    A longer run begins with the draws of a shorter one, so that a run can be continued. Raises ValueError for fewer
    than one shuffle, and if the seed, the stream or `before` is negative.
    """

    shuffles: int
    seed: int = 1992
    stream: Stream = 0
    before: int = 0

    def __post_init__(self) -> None:
        check_shuffles(self.shuffles)
        if self.before < 0:
            raise ValueError(f"a run cannot go on after {self.before} shuffles")
        if min(self._words()) < 0:
            raise ValueError(f"the seed and the stream are {self._words()}, and none can be negative")

    def generator(self, chunk: int, purpose: int) -> np.random.Generator:
        """The random generator for one chunk; `purpose` is one of the constants above."""
        spawn = (chunk,) if purpose == COINS else (chunk, purpose)
        return np.random.Generator(np.random.SFC64(np.random.SeedSequence(self._words(), spawn_key=spawn)))

    def chunks(self, size: int) -> Iterator[tuple[int, int]]:
        """The number of each chunk, and how many of its draws are used. Only the last chunk may be used in part.

        Raises ValueError for a run that would continue in the middle of a chunk.
        """
        if self.before % size:
            raise ValueError(f"a run goes on after whole chunks of {size}, and not after {self.before} shuffles")
        for chunk, first in enumerate(range(0, self.shuffles, size), self.before // size):
            yield chunk, min(size, self.shuffles - first)

    def parted(self, total: int) -> tuple[Draws | None, Draws | None]:
        """The draws among the first `total` of the whole run, and those after them. Either is None if it is empty."""
        first = min(max(total - self.before, 0), self.shuffles)
        rest = self.shuffles - first
        return (
            replace(self, shuffles=first) if first else None,
            replace(self, shuffles=rest, before=self.before + first) if rest else None,
        )

    def _words(self) -> list[int]:
        return [self.seed, *(self.stream if isinstance(self.stream, tuple) else (self.stream,))]


# === threads and progress =============================================================================================
# How a long computation is run and observed. Threads deliver results in order, and neither threads nor the progress
# callback may change a number. numpy lets other threads run while it computes.

Given = TypeVar("Given")
Made = TypeVar("Made")

Progress = Callable[[float], None]
"""A callback that receives the finished share of a computation, from 0 to 1. An exception that it raises ends the
computation.
"""


def silent(share: float) -> None:
    """The callback that ignores progress."""


class Work(Struct, frozen=True):
    """How a computation is run: the number of threads, and the callback `progress` for the finished share."""

    threads: int = 1
    progress: Progress = silent

    def part(self, place: int, parts: int, size: int = 1) -> Work:
        """The work for one of several equal parts, numbered from 0, or for `size` of them from `place` on."""
        return Work(self.threads, lambda share: self.progress((place + share * size) / parts))


ALONE = Work()
"""One thread and no progress callback."""


def in_order(make: Callable[[Given], Made], tasks: Iterable[Given], threads: int) -> Iterator[Made]:
    """The result of `make` for each task, in the order of the tasks, computed by `threads` threads.

    At most threads + 1 tasks are ahead of the results that were taken, so memory is bounded. If the consumer stops,
    tasks that were not begun are dropped. An exception in a task is raised in place of its result.
    """
    tasks = iter(tasks)
    first = list(islice(tasks, 2))
    if threads < 2 or len(first) < 2:
        yield from map(make, chain(first, tasks))
        return
    # This import is slow, and most queries do not need a second thread.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        begun: deque[Future[Made]] = deque()
        try:
            for task in chain(first, tasks):
                with STARTING:
                    begun.append(pool.submit(make, task))
                if len(begun) > threads:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
