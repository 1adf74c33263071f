"""How many threads the process may compute with: DuckDB's, and those that share out chunks of shuffles.

They change how long an answer takes and nothing in it.
"""

from __future__ import annotations

import os

MOST = 1024

_said: list[int] = []


def allow(threads: int) -> None:
    """Lets the process compute with so many threads, from the next warehouse on that is opened."""
    _said[:] = [threads]


def allowed() -> int:
    """As many as were asked for, else one for each processor that the process may use."""
    if _said:
        return _said[0]
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # systems that do not tell
        return os.cpu_count() or 1
