"""Imports DuckDB. The other modules of this room import it from here, and no other room imports it."""

from __future__ import annotations

import re

import duckdb

__all__ = ["LIBRARY", "RELEASE", "duckdb", "release"]


def release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version: (1, 4) for 1.4.5. Releases with the same two read the same files."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


LIBRARY = duckdb.__version__
"""The version of DuckDB that is in use."""

RELEASE = release(LIBRARY)
"""Its first two numbers."""
