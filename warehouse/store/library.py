"""DuckDB itself and its version. The modules of this room take it from here, and no other room imports it at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb
else:
    try:
        # The compiled part of the same package. What is around it (relations, expressions, query graphs) is not used
        # here, and importing it takes longer than most questions.
        import _duckdb as duckdb
    except ImportError:  # releases that keep it elsewhere
        import duckdb

__all__ = ["LIBRARY", "duckdb"]

LIBRARY = duckdb.__version__
"""The version of DuckDB that reads and writes here."""
