"""How much memory the program takes at most: 2 GB, unless EVALHOUSE_MEMORY sets another size.

DuckDB gets half of it and spills the rest to disk. The operating system enforces the whole limit and then refuses more
memory. So a query or a file that needs more ends with an error, and the machine does not swap. Only the installed
command has this limit: a Python program that opens a warehouse manages its own memory.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

MOST = 2_000_000_000
"""How many bytes the program takes, unless another size is set."""

_STACK = 8 * 2**20
"""How many bytes are counted for a thread, although it uses a fraction of them."""

_UNITS = {"M": 10**6, "G": 10**9, "T": 10**12}


def allowed() -> int:
    """How many bytes the program may take: EVALHOUSE_MEMORY, or the default if it is not a size or below 500 MB."""
    said = re.fullmatch("([0-9]{1,6})([MGT])B?", os.environ.get("EVALHOUSE_MEMORY", "").strip().upper())
    size = int(said[1]) * _UNITS[said[2]] if said else MOST
    return size if size >= 500 * 10**6 else MOST


def of_database() -> str:
    """How much memory DuckDB may use, in the form of its setting: half of what is allowed, and at most half of what the
    machine has.
    """
    share = allowed() // 2
    with suppress(AttributeError, ValueError, OSError):
        share = min(share, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return f"{share // 10**6}MB"


def bound() -> None:
    """From now on the operating system refuses this process more memory than is allowed, if the system supports such
    limits.
    """
    try:
        import resource
    except ImportError:
        return
    most = allowed() + _STACK * 2 * (os.cpu_count() or 1)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
