"""Turns DuckDB's errors into errors that name the file and say what helps. Runs no SQL."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from warehouse.faults import DiskFullError, MemoryShortError, UnreadableError, WarehouseError
from warehouse.memory import more
from warehouse.store.file_header import cut_off, needed_release, written_by
from warehouse.store.library import LIBRARY, RELEASE, duckdb, release

_RESTORE = "restore it from a backup"


def why_not_opened(error: duckdb.Error, path: Path, writable: bool) -> WarehouseError:
    """Why a file could not be attached."""
    text = str(error)
    if "Could not set lock" in text or "onflicting lock" in text:
        holder = re.search(r"PID (\d+)", text)
        who = f"process {holder[1]}" if holder else "another program"
        does = "open in" if writable else "being written by"
        return WarehouseError(f"{path} is {does} {who}", ("wait until it is done, or end it",))
    if "WAL" in text and "does not match" in text:
        return WarehouseError(
            f"{path}.wal does not belong to {path}: it was written for an older state of it",
            (f"if the warehouse was restored from a backup, remove {path}.wal",),
        )
    writer = written_by(path) or "of an unknown version"
    needed = needed_release(path)
    if release(needed or writer) > RELEASE:
        return WarehouseError(
            f"{path} was written by DuckDB {writer}, and this is DuckDB {LIBRARY}",
            (
                f"install duckdb {needed or writer} or a newer one",
                "with that, evalhouse copy makes a file that DuckDB 1.4 reads, too",
            ),
        )
    if "version number" in text:
        return WarehouseError(
            f"{path} was written by DuckDB {writer}, which DuckDB {LIBRARY} cannot read",
            ("a version of DuckDB between the two can read it, and write what this one reads",),
        )
    return as_warehouse_error(error, path)


@contextlib.contextmanager
def sentences(path: Path | None) -> Iterator[None]:
    """Turns every DuckDB error raised inside the block into a WarehouseError."""
    try:
        yield
    except duckdb.Error as error:
        raise as_warehouse_error(error, path) from None


@contextlib.contextmanager
def while_reading(path: Path | None) -> Iterator[None]:
    """DuckDB errors inside the block mean that the file being read is bad, unless DuckDB ran out of memory or was
    stopped.
    """
    try:
        yield
    except (duckdb.OutOfMemoryException, duckdb.InterruptException) as error:
        raise as_warehouse_error(error, path) from None
    except duckdb.Error as error:
        raise UnreadableError(str(error)) from None


@contextlib.contextmanager
def while_writing(path: Path | None) -> Iterator[None]:
    """Turns DuckDB errors inside the block into an OSError if the file being written is the cause."""
    try:
        yield
    except duckdb.IOException as error:
        raise OSError(first_sentence(str(error))[1]) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, path) from None


def as_warehouse_error(error: duckdb.Error, path: Path | None) -> WarehouseError:
    """A DuckDB error about the warehouse at `path`, or in memory, as our error."""
    text = str(error)
    if isinstance(error, duckdb.InterruptException):
        return WarehouseError("interrupted")
    if "No space left" in text or "Disk quota" in text:
        return DiskFullError()
    gone = re.search(r"(?:No files found|Cannot open file).*?([a-z_]+/[0-9a-f]{32}\.parquet)", text)
    if gone and path is None:
        return WarehouseError(
            f"{gone[1]}, a file of the lake, was removed while it was needed",
            ("evalhouse compact removes what only a forgotten past has; ask again",),
        )
    if re.search("checksum|orrupt", text):
        place = re.search(r"location (\d+)", text)
        where = f" in the block at byte {int(place[1]):,}" if place else ""
        return _damaged(path, f"a checksum is wrong{where}")
    if "enough bytes" in text and path is not None:
        return cut_off(path)
    if isinstance(error, duckdb.FatalException | duckdb.InternalException | duckdb.SerializationException):
        return _damaged(path, first_sentence(text)[1])
    if isinstance(error, duckdb.OutOfMemoryException):
        return MemoryShortError(more())
    return WarehouseError(f"{path or 'the warehouse'}: {first_sentence(text)[1]}")


def _damaged(path: Path | None, how: str) -> WarehouseError:
    hints = (_RESTORE, f"evalhouse check --db {path} says whether the file itself is damaged") if path else ()
    return WarehouseError(f"{path or 'the warehouse'} is damaged: {how}", hints)


def first_sentence(text: str) -> tuple[int | None, str]:
    """DuckDB's message as (line in the statement, one sentence): without its kind, the quoted SQL and the caret."""
    line = re.search(r"^LINE (\d+):", text, flags=re.MULTILINE)
    first, *more = text.strip().split("\n")
    sentence = re.sub(r"^(?:\w+ )*Error: ", "", first).rstrip(" .!")
    if more and re.match("Did you mean|Candidate bindings", more[0].strip()):
        sentence += "; " + more[0].strip()[0].lower() + more[0].strip()[1:]
    return (int(line[1]) if line else None), sentence
