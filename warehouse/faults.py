"""What can be wrong with data and with a warehouse, as data. Drawing it is the business of rendering."""

from __future__ import annotations

from grammar.errors import EvalhouseError
from grammar.value import value


@value
class Fault:
    """One thing wrong in a file. `line` counts from 1 and is None where the file as a whole is meant."""

    source: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


class DataError(EvalhouseError):
    """A file that cannot be loaded: up to 20 faults, how many there are in all, and what would help. Nothing was
    stored.

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


class UnreadableError(Exception):
    """An input file that DuckDB could not read; the text is DuckDB's own, for a reader to turn into faults."""


class WarehouseError(EvalhouseError):
    """A warehouse that cannot be opened or written: what is so, and what would help.

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
    """More memory is needed than there may be. What would need less is for whoever asked for it to say."""

    def __init__(self) -> None:
        super().__init__(
            "the query needs more memory or temporary disk space than there is",
            ("EVALHOUSE_MEMORY=8GB allows more memory",),
        )


class DiskFullError(WarehouseError):
    """There was no room to write. What has become of the change is for whoever made it to say."""

    def __init__(self) -> None:
        super().__init__("the disk is full", ("make room on it; what does not fit into memory is written there, too",))
