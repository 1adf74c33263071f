"""The default engine: queries run in the warehouse's own database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.database import Database
from warehouse.sql import Sql


@dataclass(frozen=True, slots=True)
class DuckDBEngine:
    """Runs compiled queries on a database."""

    database: Database

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.database.rows(query)

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""
        return self.database.columns(query)
