"""How many threads the process may compute with: those of DuckDB, and those that share the chunks of shuffles.

The number of threads changes how long an answer takes, and nothing else.
"""

from __future__ import annotations

import _thread
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
