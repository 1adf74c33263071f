"""Imports DuckDB. The other modules of this room import it from here, and no other room imports it."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    # The functions of the library are bound when they are first called, because binding all ten thousand takes as long
    # as several queries.
    on_import = sys.getdlopenflags() if hasattr(sys, "getdlopenflags") else None
    if on_import is not None:
        sys.setdlopenflags(os.RTLD_LAZY)
    try:
        # This is the compiled part of the package. The Python code around it (relations, expressions, query graphs) is
        # not used here, and importing it takes longer than most queries.
        import _duckdb as duckdb
    except ImportError:  # other releases keep it elsewhere
        import duckdb
    finally:
        if on_import is not None:
            sys.setdlopenflags(on_import)

__all__ = ["LIBRARY", "RELEASE", "duckdb", "release"]


def release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version: (1, 4) for 1.4.5. Releases with the same two read the same files."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


LIBRARY = duckdb.__version__
"""The version of DuckDB that is in use."""

RELEASE = release(LIBRARY)
"""Its first two numbers."""
