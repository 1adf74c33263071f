"""Who does a long computation and who watches it: threads, whose results come in order, and what hears of progress.

Neither changes a number. Made for chunks of shuffles and resamples, each with a generator of its own; numpy lets other
threads go on while it computes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from grammar.value import value
from warehouse.interrupting import STARTING

if TYPE_CHECKING:
    from concurrent.futures import Future

Given = TypeVar("Given")
Made = TypeVar("Made")

Progress = Callable[[float], None]
"""Hears what share of a computation is done, from 0 to 1; whatever it raises ends the computation."""


def silent(share: float) -> None:
    """Nobody listens."""


@value
class Work:
    """How a computation is done: by so many threads, while `progress` hears the share done."""

    threads: int = 1
    progress: Progress = silent

    def part(self, place: int, parts: int, size: int = 1) -> Work:
        """The work for one of several equal parts, the first having place 0; or for `size` of them, from `place` on."""
        return Work(self.threads, lambda share: self.progress((place + share * size) / parts))


ALONE = Work()
"""One thread, and nobody listens."""


def in_order(make: Callable[[Given], Made], tasks: Iterable[Given], threads: int) -> Iterator[Made]:
    """What is made of each task, in the order of the tasks, by so many threads.

    At most one task more than there are threads is ahead of what was taken, so memory is bounded by the threads. Tasks
    that were not begun are dropped where the taker stops, and an exception in making it is raised where its result
    would be.
    """
    tasks = iter(tasks)
    first = list(islice(tasks, 2))
    if threads < 2 or len(first) < 2:
        yield from map(make, chain(first, tasks))
        return
    # Imports a good deal, and most questions need no second thread.
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
