"""Stores the measures that users define: the text of each statement under the name of its measure. What the text means
is not known here.
"""

from __future__ import annotations

from datetime import UTC, datetime

from warehouse.store import fingerprints
from warehouse.store.database import Database
from warehouse.store.sql import Sql


def keep(database: Database, name: str, text: str) -> None:
    """Stores a definition. It replaces one of the same name, ignoring case."""
    with database.transaction():
        database.run(Sql("delete from definition where lower(name) = lower(?)", (name,)))
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        database.run(Sql("insert into definition values (?, ?, ?::timestamp)", (name, text, now)))
        fingerprints.keep(database)
