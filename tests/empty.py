"""New warehouses for tests that load into them: each is a copy of one that the process made once.

What is made is whole and on disk before it appears, which takes longer than most tests. The tests of making itself call
`warehouse.store.replacement`, and `test_database.py` sees that the copy is what that makes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from warehouse.publishing import temporary
from warehouse.store import replacement
from warehouse.store.database import Database, open_new


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
