"""Imports DuckDB. The other modules of this room import it from here, and no other room imports it."""

from __future__ import annotations

import duckdb

__all__ = ["LIBRARY", "duckdb"]

LIBRARY = duckdb.__version__
"""The version of DuckDB that is in use."""
