"""Keeps the measures that users define: each as the text of its statement, under its name. What the text means is
not known here.
"""

from __future__ import annotations

from datetime import UTC, datetime

from warehouse.store import fingerprints
from warehouse.store.database import Database
from warehouse.store.sql import Sql


def keep(database: Database, name: str, text: str) -> None:
    """Stores a definition in place of one of the same name, in any case."""
    with database.transaction():
        database.run(Sql("delete from definition where lower(name) = lower(?)", (name,)))
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        database.run(Sql("insert into definition values (?, ?, ?::timestamp)", (name, text, now)))
        fingerprints.keep(database)
