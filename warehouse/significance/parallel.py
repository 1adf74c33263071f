"""Work done by several threads at once, whose results come in order, so that no number depends on how many there are.

Made for chunks of shuffles and resamples, each with a generator of its own; numpy lets other threads go on while it
computes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

from warehouse.interrupting import STARTING

if TYPE_CHECKING:
    from concurrent.futures import Future

Given = TypeVar("Given")
Made = TypeVar("Made")


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
