"""How many threads the process may compute with: those of DuckDB, and those that share the chunks of shuffles.

The number of threads changes how long an answer takes, and nothing else.
"""

from __future__ import annotations

import os

MOST = 1024

_said: list[int] = []


def allow(threads: int) -> None:
    """Sets the number of threads, beginning with the next warehouse that is opened."""
    _said[:] = [threads]


def allowed() -> int:
    """The number of threads that was set, else one for each processor that the process may use."""
    if _said:
        return _said[0]
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # systems without this call
        return os.cpu_count() or 1
