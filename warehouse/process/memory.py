"""How much memory and how many threads the program may use."""

from __future__ import annotations

import _thread
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

# === the limit of memory ==============================================================================================
# 2 GB, unless EVALHOUSE_MEMORY sets another size. DuckDB gets half of it, less during a load, and spills the rest to
# disk. The operating system enforces the whole limit and then refuses more memory, so a query or a file that needs more
# ends with an error, and the machine does not swap. Only the installed command has this limit: a Python program that
# opens a warehouse manages its own memory.

DEFAULT_MEMORY = 2_000_000_000
"""How many bytes the program takes, unless another size is set."""

LEAST = 500_000_000
"""The smallest size that can be set, in bytes."""

SETTING = "EVALHOUSE_MEMORY"
"""The variable of the environment that sets another size."""

LOADING = 300_000_000
"""How many bytes DuckDB may use while a file is loaded, unless more than DEFAULT_MEMORY is allowed."""

ALLOCATOR = ("DUCKDB_JE_MALLOC_CONF", "retain:false")
"""A variable of the environment that DuckDB's allocator reads when it is loaded, and its value."""

_STACK = 8 * 2**20
"""How many bytes are counted for a thread, although it uses a fraction of them."""

_UNITS = {"M": 10**6, "G": 10**9, "T": 10**12}


def memory_allowed() -> int:
    """How many bytes the program may take. Raises ValueError if EVALHOUSE_MEMORY is not a size, or is too small."""
    written = os.environ.get(SETTING, "").strip()
    if not written:
        return DEFAULT_MEMORY
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
    size = max(8 * 10**9, 2 * memory_allowed()) if needed is None else needed
    return f"{SETTING}={-(-size // 10**9)}GB allows more"


def of_database() -> str:
    """How much memory DuckDB may use, in the form of its setting."""
    return f"{share_of_database() // 10**6}MB"


def of_loading() -> str:
    """How much memory DuckDB may use while a file is loaded, in the form of its setting."""
    share = share_of_database()
    return f"{(share if memory_allowed() > DEFAULT_MEMORY else min(share, LOADING)) // 10**6}MB"


def share_of_database() -> int:
    """How many bytes DuckDB may use: half of what is allowed, and at most half of what the machine has."""
    return min(memory_allowed(), _of_machine() or memory_allowed()) // 2


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
    return memory_allowed() if _bounded else max(memory_allowed(), _of_machine())


def keep_no_addresses() -> None:
    """Keeps DuckDB's allocator from reserving addresses of memory that it has freed. `limit_memory` counts them, and
    halfway through a long load they were a gigabyte. DuckDB must not have been imported yet.
    """
    os.environ.setdefault(*ALLOCATOR)


def limit_memory() -> None:
    """From now on the operating system refuses this process more memory than is allowed, if the system supports such
    limits.
    """
    try:
        import resource
    except ImportError:
        return
    _bounded[:] = [True]
    most = memory_allowed() + _STACK * 2 * (os.cpu_count() or 1)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


# === the number of threads ============================================================================================
# The threads of DuckDB, and those that share the chunks of shuffles. Their number changes how long an answer takes, and
# nothing else.

MOST_THREADS = 1024

_said: list[int] = []


def allow_threads(threads: int) -> None:
    """Sets the number of threads, beginning with the next warehouse that is opened."""
    _said[:] = [threads]


def threads_allowed() -> int:
    """The number of threads that was set, else one for each processor that the process may use."""
    if _said:
        return _said[0]
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # systems without this call
        return os.cpu_count() or 1


# --- matrices ---------------------------------------------------------------------------------------------------------

_LIBRARIES = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
"""The module of numpy that multiplies matrices; it is called otherwise before numpy 2."""

_CALLED = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")
"""What the functions of OpenBLAS for its threads are called, in numpy's wheels and elsewhere."""

_inside: list[int] = []
"""The number of threads that OpenBLAS had before, once for each block that runs now."""

_changing = _thread.allocate_lock()


@contextmanager
def one_for_matrices() -> Iterator[None]:
    """Inside the block, OpenBLAS multiplies matrices with one thread. The products of tests and intervals are small and
    come from several threads; threads of OpenBLAS would wait for each other and take three times as long.

    Nothing changes if numpy is not imported or multiplies with another library.
    """
    found = _of_openblas() if os.environ.get("OPENBLAS_NUM_THREADS") != "1" else None
    if found is None:
        yield
        return
    current, change = found
    with _changing:
        _inside.append(_inside[0] if _inside else current())
        change(1)
    try:
        yield
    finally:
        with _changing:
            before = _inside.pop()
            if not _inside:
                change(before)


def _of_openblas() -> tuple[Callable[[], int], Callable[[int], object]] | None:
    """The functions that get and set the number of threads of OpenBLAS."""
    module = next((sys.modules[name] for name in _LIBRARIES if name in sys.modules), None)
    if module is None or module.__file__ is None:
        return None
    import ctypes

    library = ctypes.CDLL(module.__file__)
    for called in _CALLED:
        # The functions of the libraries that a library was linked with are found, too.
        if hasattr(library, called.format("set")):
            return library[called.format("get")], library[called.format("set")]
    return None
