"""What answers queries: Engine, which every engine looks like, and the default one, the warehouse's own database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from warehouse.store.database import Database
from warehouse.store.sql import Sql
from warehouse.threads import allowed

Piece = TypeVar("Piece")
Done = TypeVar("Done")

Told = Callable[[float], None]
"""Is told what share of a long computation is done, from 0 to 1; whatever it raises ends the computation."""


def silent(share: float) -> None:
    """Nobody is told."""


def in_turn(work: Callable[[Piece], Done], pieces: Sequence[Piece]) -> list[Done]:
    """What the work makes of each piece, one after another."""
    return [work(piece) for piece in pieces]


@dataclass(frozen=True, slots=True)
class Labour:
    """How computations on facts are done, which changes nothing in their outcome: by so many threads, telling how far
    they are; tests of many pairs in so many `blocks`, which `each` shares out.
    """

    told: Told = silent
    threads: int = field(default_factory=allowed)
    blocks: int = 1
    each: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]] = in_turn


class Engine(Protocol):
    """Answers queries, and says how computations on what they bring are done."""

    @property
    def labour(self) -> Labour: ...

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of a query that someone typed."""

    def interrupt(self) -> None:
        """Stops what runs in another thread."""


@dataclass(frozen=True, slots=True)
class DuckDBEngine:
    """Runs queries on the database of a warehouse."""

    database: Database
    labour: Labour = field(default_factory=Labour)

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.database.rows(query)

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""
        return self.database.columns(query)

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of a query that someone typed."""
        return self.database.untrusted(text)

    def interrupt(self) -> None:
        """Stops what runs in another thread."""
        self.database.interrupt()
