"""New warehouses for tests that load into them: each is a copy of one that the process made once.

A new warehouse is completed and written to disk before it appears, which takes longer than most tests. The tests of
making warehouses call `evalhouse.warehouse.store.replacement` itself, and `test_database.py` checks that the copy
equals what that makes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.store import replacement
from evalhouse.warehouse.store.connecting import open_new
from evalhouse.warehouse.store.database import Database


def create(path: Path) -> Database:
    """A new, empty warehouse at `path`, open for loading in place."""
    with path.open("xb") as file:
        file.write(_made())
    return open_new(path)


@cache
def _made() -> bytes:
    with temporary() as folder:
        replacement.create(folder / "empty.duckdb").close()
        return (folder / "empty.duckdb").read_bytes()
