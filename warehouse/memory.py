"""How much memory the program takes at most: 2 GB, unless EVALHOUSE_MEMORY sets another size.

DuckDB gets half of it, less during a load, and spills the rest to disk. The operating system enforces the whole limit
and then refuses more memory. So a query or a file that needs more ends with an error, and the machine does not swap.
Only the installed command has this limit: a Python program that opens a warehouse manages its own memory.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

MOST = 2_000_000_000
"""How many bytes the program takes, unless another size is set."""

LEAST = 500_000_000
"""The smallest size that can be set, in bytes."""

SETTING = "EVALHOUSE_MEMORY"
"""The variable of the environment that sets another size."""

LOADING = 300_000_000
"""How many bytes DuckDB may use while a file is loaded, unless more than MOST is allowed."""

ALLOCATOR = ("DUCKDB_JE_MALLOC_CONF", "retain:false")
"""A variable of the environment that DuckDB's allocator reads when it is loaded, and its value."""

_STACK = 8 * 2**20
"""How many bytes are counted for a thread, although it uses a fraction of them."""

_UNITS = {"M": 10**6, "G": 10**9, "T": 10**12}


def allowed() -> int:
    """How many bytes the program may take. Raises ValueError if EVALHOUSE_MEMORY is not a size, or is too small."""
    written = os.environ.get(SETTING, "").strip()
    if not written:
        return MOST
    found = re.fullmatch("([0-9]{1,6})([MGT])B?", written.upper())
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if size < LEAST:
        raise ValueError(
            f"{SETTING} is {written!r}, and must be a whole number of MB, GB or TB, at least "
            f"{LEAST // 10**6}MB, such as 8GB"
        )
    return size


def more(needed: int | None = None) -> str:
    """What allows more memory, as a hint: as many bytes as are needed, or more than now if that is not known."""
    size = max(8 * 10**9, 2 * allowed()) if needed is None else needed
    return f"{SETTING}={-(-size // 10**9)}GB allows more"


def of_database() -> str:
    """How much memory DuckDB may use, in the form of its setting."""
    return f"{share_of_database() // 10**6}MB"


def of_loading() -> str:
    """How much memory DuckDB may use while a file is loaded, in the form of its setting."""
    share = share_of_database()
    return f"{(share if allowed() > MOST else min(share, LOADING)) // 10**6}MB"


def share_of_database() -> int:
    """How many bytes DuckDB may use: half of what is allowed, and at most half of what the machine has."""
    return min(allowed(), _of_machine() or allowed()) // 2


def _of_machine() -> int:
    """How many bytes the machine has; 0 where it does not say."""
    with suppress(AttributeError, ValueError, OSError):
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    return 0


_bounded: list[bool] = []


def most() -> int:
    """How many bytes an answer may take: in a bounded process what is allowed; in any other what is allowed or what the
    machine has, whichever is more.
    """
    return allowed() if _bounded else max(allowed(), _of_machine())


def keep_no_addresses() -> None:
    """Keeps DuckDB's allocator from reserving addresses of memory that it has freed. `bound` counts them, and halfway
    through a long load they were a gigabyte. DuckDB must not have been imported yet.
    """
    os.environ.setdefault(*ALLOCATOR)


def bound() -> None:
    """From now on the operating system refuses this process more memory than is allowed, if the system supports such
    limits.
    """
    try:
        import resource
    except ImportError:
        return
    _bounded[:] = [True]
    most = allowed() + _STACK * 2 * (os.cpu_count() or 1)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
