"""Imports DuckDB. The other modules of this room import it from here, and no other room imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    try:
        # This is the compiled part of the package. The Python code around it (relations, expressions, query graphs) is
        # not used here, and importing it takes longer than most queries.
        import _duckdb as duckdb
    except ImportError:  # other releases keep it elsewhere
        import duckdb

__all__ = ["LIBRARY", "duckdb"]

LIBRARY = duckdb.__version__
"""The version of DuckDB that is in use."""
