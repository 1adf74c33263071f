"""DuckDB and its files: the one import of DuckDB, the header of a file, and DuckDB's errors.

Other modules of the store import DuckDB from here, and no other room imports it. This module runs no SQL.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
from msgspec import Struct

from evalhouse.warehouse.faults import DiskFullError, MemoryShortError, UnreadableError, WarehouseError
from evalhouse.warehouse.process.memory import more

__all__ = ["LIBRARY", "RELEASE", "duckdb", "release"]


# === the import of DuckDB =============================================================================================


def release(version: str) -> tuple[int, ...]:
    """The first two numbers of a version: (1, 4) for 1.4.5. Releases with the same two read the same files."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


LIBRARY = duckdb.__version__
"""The version of DuckDB that is in use."""

RELEASE = release(LIBRARY)
"""Its first two numbers."""


# === the header of a file =============================================================================================
# The first bytes are read before DuckDB opens the file, so that a file that is not a warehouse is refused. DuckDB must
# not be used here. The byte offsets are those of DuckDB's storage format.

_MAGIC = slice(8, 12)
_FORMAT = slice(12, 20)
_LIBRARY_VERSION = slice(52, 84)
_HEADER = 4096
_HEADERS = 3 * _HEADER
"""A DuckDB file begins with three headers; the newer of the last two says how many blocks follow."""
COMMON_FORMAT = 67
"""The newest format of files that every DuckDB from 1.4 on reads and writes; DuckDB calls it v1.4.0."""
_NEEDED = {64: "1.0", 65: "1.2", 66: "1.3", COMMON_FORMAT: "1.4", 68: "1.5", 69: "2.0"}
"""For each format, the first release of DuckDB that reads it."""
_FORMAT_IN_HEADERS = 999
"""What DuckDB 2.0 writes in place of a format of its own. The last two headers have the number."""
_BLOCK_SIZES = tuple(2**power for power in range(14, 19))


class Extent(Struct, frozen=True):
    """The size of a file, its size with all the blocks that its headers count, and the size of a block, in bytes."""

    size: int
    whole: int
    block: int

    @property
    def blocks(self) -> int:
        """How many complete blocks there are."""
        return (self.size - _HEADERS) // self.block

    @property
    def lacking(self) -> int:
        """How many blocks are missing or incomplete."""
        return -((self.size - self.whole) // self.block) if self.size < self.whole else 0

    @property
    def ends_within_a_block(self) -> bool:
        """Whether the last block is incomplete."""
        return self.size < self.whole and (self.whole - self.size) % self.block > 0


def check_file(path: Path) -> None:
    """Raises WarehouseError if there is no DuckDB file at `path`."""
    try:
        if path.is_dir():
            raise WarehouseError(f"{path} is a folder, not a warehouse")
        with path.open("rb") as file:
            head = file.read(_HEADERS)
    except FileNotFoundError:
        raise WarehouseError(f"there is no warehouse {path}", (f"evalhouse init {path} makes one",)) from None
    except OSError as error:
        raise WarehouseError(f"{path} cannot be read: {error.strerror}") from None
    if not head:
        raise WarehouseError(f"{path} is empty", ("restore it from a backup, or remove it and make a new one",))
    if head.startswith(b"SQLite format 3\0"):
        raise WarehouseError(
            f"{path} is an SQLite database, not a warehouse", ("export its tables as CSV files and load them",)
        )
    if head[_MAGIC] != b"DUCK":
        raise WarehouseError(f"{path} is not a warehouse", ("a warehouse is a DuckDB file made by evalhouse init",))
    if len(head) < _HEADERS:
        raise cut_off_error(path)


def extent_of(path: Path) -> Extent:
    """The size of a file as its headers say, and its actual size.

    Do not call it for a file that this process has open: closing the file would release DuckDB's lock on it. Raises
    WarehouseError if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return _extent(file.read(_HEADERS), file.seek(0, os.SEEK_END))
    except OSError as error:
        raise WarehouseError(f"{path} cannot be read: {error.strerror}") from None


def cut_off_error(path: Path) -> WarehouseError:
    """The error for a file that is shorter than it must be."""
    extent = extent_of(path)
    how = f": it has {extent.size} bytes of {extent.whole}" if extent.size < extent.whole else ""
    return WarehouseError(f"{path} is cut off{how}", ("restore it from a backup",))


def written_by(path: Path) -> str:
    """The version of DuckDB that wrote a file, such as 1.2.0; empty if there is no file or the file does not say."""
    return _head(path)[_LIBRARY_VERSION].split(b"\0")[0].decode("ascii", "replace").removeprefix("v")


def format_of(path: Path) -> int:
    """The number of the format of a file; 0 if there is no file or the file does not say."""
    head = _head(path)
    if len(head) < _HEADERS:
        return 0
    number = int.from_bytes(head[_FORMAT], "little")
    return _newest_header(head).format if number == _FORMAT_IN_HEADERS else number


def needed_release(path: Path) -> str:
    """The first release of DuckDB that reads a file, such as 2.0; empty if its format is unknown."""
    return _NEEDED.get(format_of(path), "")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEADERS)
    except OSError:
        return b""


def _extent(head: bytes, size: int) -> Extent:
    if len(head) < _HEADERS:
        return Extent(size, _HEADERS, 1)
    newest = _newest_header(head)
    if newest.block not in _BLOCK_SIZES:
        # The file has an unknown format. DuckDB will report that.
        return Extent(size, _HEADERS, 1)
    return Extent(size, _HEADERS + newest.blocks * newest.block, newest.block)


class _Header(NamedTuple):
    """One of the last two headers: how often it was written, the number and the size of blocks, and the format."""

    iteration: int
    blocks: int
    block: int
    format: int


def _newest_header(head: bytes) -> _Header:
    # Each has: checksum, iteration, two places of metadata, number and size of blocks, size of a vector, format.
    return max(_Header._make(struct.unpack_from("<8xQ16xQQ8xQ", head, place)) for place in (_HEADER, 2 * _HEADER))


# === DuckDB's errors ==================================================================================================
# They become errors that name the file and say what helps.

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
        return _damage_error(path, f"a checksum is wrong{where}")
    if "enough bytes" in text and path is not None:
        return cut_off_error(path)
    if isinstance(error, duckdb.FatalException | duckdb.InternalException | duckdb.SerializationException):
        return _damage_error(path, first_sentence(text)[1])
    if isinstance(error, duckdb.OutOfMemoryException):
        return MemoryShortError(more())
    return WarehouseError(f"{path or 'the warehouse'}: {first_sentence(text)[1]}")


def _damage_error(path: Path | None, how: str) -> WarehouseError:
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
