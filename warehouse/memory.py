"""How much memory the program takes at most: 2 GB, unless EVALHOUSE_MEMORY says another size.

DuckDB holds half of it and spills the rest to disk. The whole is kept by the system, which then refuses more memory, so
that a question or a file that needs more ends with an error and not with a machine that swaps. Only the installed
command has such a bound: a Python program that opens a warehouse has memory of its own.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

MOST = 2_000_000_000
"""How many bytes the program takes, unless something else is said."""

_STACK = 8 * 2**20
"""What a thread counts for, though it uses a fraction."""

_UNITS = {"M": 10**6, "G": 10**9, "T": 10**12}


def allowed() -> int:
    """How many bytes the program may take, by EVALHOUSE_MEMORY, unless that is not a size, or below 500 MB."""
    said = re.fullmatch("([0-9]{1,6})([MGT])B?", os.environ.get("EVALHOUSE_MEMORY", "").strip().upper())
    size = int(said[1]) * _UNITS[said[2]] if said else MOST
    return size if size >= 500 * 10**6 else MOST


def of_database() -> str:
    """What DuckDB may hold of it, as its setting wants it, and no more than half of what the machine has."""
    share = allowed() // 2
    with suppress(AttributeError, ValueError, OSError):
        share = min(share, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    return f"{share // 10**6}MB"


def bound() -> None:
    """From here on the system gives this process no more memory than is allowed, where it keeps such bounds."""
    try:
        import resource
    except ImportError:
        return
    most = allowed() + _STACK * 2 * (os.cpu_count() or 1)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
