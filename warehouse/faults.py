"""Errors of data and of warehouses, as data. `warehouse/render/diagnostics.py` draws them."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from evalhouse.grammar.errors import EvalhouseError


class Fault(Struct, frozen=True):
    """One error in a file. `line` counts from 1; it is None if the error is about the whole file."""

    source: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


class DataError(EvalhouseError):
    """A file that cannot be loaded: up to 20 faults, the total number of faults, and hints. Nothing was stored.

    Examples
    --------
    >>> import evalhouse as eh
    >>> try:
    ...     eh.create().load("absent.csv")
    ... except eh.LoadError as error:
    ...     print(error)
    absent.csv: there is no such file
    """

    def __init__(self, faults: tuple[Fault, ...], total: int | None = None, hints: tuple[str, ...] = ()) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults
        self.total = len(faults) if total is None else total
        self.hints = hints

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.faults, self.total, self.hints), {"drawn": self.drawn}


def file_error(path: Path, message: str) -> DataError:
    """What is wrong with a file as a whole."""
    return DataError((Fault(str(path), None, message),))


class UnreadableError(Exception):
    """An input file that DuckDB could not read. The text is DuckDB's own; the reader turns it into faults."""


class WarehouseError(EvalhouseError):
    """A warehouse that cannot be opened or written: the problem, and hints.

    Examples
    --------
    >>> import evalhouse as eh
    >>> try:
    ...     eh.open("absent.duckdb")
    ... except eh.WarehouseError as error:
    ...     print(error)
    there is no warehouse absent.duckdb
      evalhouse.create("absent.duckdb") makes one
    """

    def __init__(self, message: str, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints

    def __reduce__(self) -> tuple[object, ...]:
        return WarehouseError, (self.message, self.hints), {"drawn": self.drawn}


class MemoryShortError(WarehouseError):
    """The work needs more memory than is allowed. The caller knows what would need less, and says so."""

    def __init__(self, more: str) -> None:
        super().__init__("the query needs more memory or temporary disk space than there is", (more,))


class DiskFullError(WarehouseError):
    """There was no room on the disk. The caller knows what happened to the change, and says so."""

    def __init__(self) -> None:
        super().__init__("the disk is full", ("make room on it; what does not fit into memory is written there, too",))
