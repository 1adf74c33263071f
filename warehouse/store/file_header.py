"""Reads the first bytes of a file, so that a file that is not a warehouse is refused before DuckDB opens it.

This module only reads the file: it does not import duckdb and runs no SQL. The byte offsets are those of DuckDB's
storage format.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from warehouse.faults import WarehouseError

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
        raise cut_off(path)


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


def cut_off(path: Path) -> WarehouseError:
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
