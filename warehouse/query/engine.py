"""What answers queries: Engine, which every engine looks like, and the default one, the warehouse's own database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from warehouse.significance.work import ALONE, Work, in_order
from warehouse.store.database import Database
from warehouse.store.sql import Sql

Portion = TypeVar("Portion")
Done = TypeVar("Done")


def in_turn(work: Callable[[Portion], Done], pieces: Sequence[Portion]) -> list[Done]:
    """What the work makes of each piece, one after another."""
    return [work(piece) for piece in pieces]


def cuts(pieces: Sequence[Portion], blocks: int) -> Iterator[Sequence[Portion]]:
    """Pieces one after another, in at most this many parts of about the same size."""
    size = -(-len(pieces) // blocks)
    for start in range(0, len(pieces), size or 1):
        yield pieces[start : start + size]


class Workforce(Struct, frozen=True):
    """Who does the computations on facts: the threads of `work`, or for long computations those to whom `share_out`
    gives the `blocks` into which they are divided. The outcome is the same.
    """

    work: Work = ALONE
    blocks: int = 1
    share_out: Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]] = in_turn

    def part(self, place: int, parts: int, size: int = 1) -> Workforce:
        """The same for one of several equal parts, numbered from 0, or for `size` of them from `place` on."""
        return replace(self, work=self.work.part(place, parts, size))

    def done(self, work: Callable[[Portion], Done], pieces: Sequence[Portion]) -> Iterator[Done]:
        """What the work makes of each piece, in order: shared out where there are blocks, else by the threads."""
        if self.blocks > 1 and len(pieces) > 1:
            return iter(self.share_out(work, pieces))
        return in_order(work, pieces, self.work.threads)

    def for_each(self, work: Callable[[Portion, Work], Done], pieces: Sequence[Portion]) -> Iterator[Done]:
        """What the work makes of each piece, in order: shared out where there are blocks, else one after another, each
        with all threads and its part of the progress.
        """
        if self.blocks > 1 and len(pieces) > 1:
            parts = list(cuts(pieces, self.blocks))
            return chain.from_iterable(self.share_out(partial(_in_turn_alone, work), parts))
        return (work(piece, self.work.part(number, len(pieces))) for number, piece in enumerate(pieces))


def _in_turn_alone(work: Callable[[Portion, Work], Done], pieces: Sequence[Portion]) -> list[Done]:
    return [work(piece, ALONE) for piece in pieces]


ONE_THREAD = Workforce()
"""One thread does everything, and progress is not reported."""


class Engine(Protocol):
    """Answers queries, and says who does the computations on what they bring."""

    @property
    def workforce(self) -> Workforce: ...

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name; masked where there are nulls."""

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The column names and rows of a query that someone typed."""

    def interrupt(self) -> None:
        """Stops what runs in another thread."""

    def close(self) -> None:
        """Closes the database and what else answers."""


class DuckDBEngine(Struct, frozen=True):
    """Runs queries on the database of a warehouse."""

    database: Database
    workforce: Workforce = ONE_THREAD

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

    def close(self) -> None:
        """Closes the database."""
        self.database.close()
