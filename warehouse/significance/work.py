"""How a long computation is run and observed: threads, whose results come in order, and a progress callback.

Neither may change a number. It is made for chunks of shuffles and resamples, each with a random generator of its own;
numpy lets other threads run while it computes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from warehouse.interrupting import STARTING

if TYPE_CHECKING:
    from concurrent.futures import Future

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
