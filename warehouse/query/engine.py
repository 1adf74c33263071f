"""The default engine: queries run in the warehouse's own database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from warehouse.store.database import Database
from warehouse.store.sql import Sql
from warehouse.threads import allowed

Task = TypeVar("Task")
Done = TypeVar("Done")

Told = Callable[[float], None]
"""Is told what share of a long computation is done, from 0 to 1; whatever it raises ends the computation."""


def silent(share: float) -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True)
class DuckDBEngine:
    """Runs compiled queries on a database.

    `told` hears how far the computations on what they bring are, which are done by so many threads;
    tests of many pairs are shared out in so many `blocks`.
    """

    database: Database
    told: Told = silent
    threads: int = field(default_factory=allowed)
    blocks: int = 1

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.database.rows(query)

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""
        return self.database.columns(query)

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of a query that someone typed."""
        return self.database.untrusted(text)

    def each(self, work: Callable[[Task], Done], tasks: Sequence[Task]) -> list[Done]:
        """What the work makes of each task, in the order of the tasks."""
        return [work(task) for task in tasks]

    def interrupt(self) -> None:
        """Stops what runs in another thread."""
        self.database.interrupt()
