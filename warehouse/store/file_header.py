"""Reads the first bytes of a file, so that a file that is not a warehouse is refused before DuckDB opens it.

This module only reads the file: it does not import duckdb and runs no SQL. The byte offsets are those of DuckDB's
storage format.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from grammar.value import value
from warehouse.faults import WarehouseError

_MAGIC = slice(8, 12)
_LIBRARY_VERSION = slice(52, 84)
_HEADER = 4096
_HEADERS = 3 * _HEADER
"""A DuckDB file begins with three headers; the newer of the last two says how many blocks follow."""
_BLOCK_SIZES = tuple(2**power for power in range(14, 19))


@value
class Extent:
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
    try:
        with path.open("rb") as file:
            head = file.read(_LIBRARY_VERSION.stop)
    except OSError:
        return ""
    return head[_LIBRARY_VERSION].split(b"\0")[0].decode("ascii", "replace").removeprefix("v")


def _extent(head: bytes, size: int) -> Extent:
    if len(head) < _HEADERS:
        return Extent(size, _HEADERS, 1)
    # Each of the two headers has: checksum, iteration, two places of metadata, number of blocks, size of a block.
    _, blocks, block = max(struct.unpack_from("<8xQ16xQQ", head, place) for place in (_HEADER, 2 * _HEADER))
    if block not in _BLOCK_SIZES:
        # The file has an unknown format. DuckDB will report that.
        return Extent(size, _HEADERS, 1)
    return Extent(size, _HEADERS + int(blocks) * int(block), int(block))
