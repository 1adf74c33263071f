"""What the first bytes of a file say, so that what is no warehouse is told apart before DuckDB sees it.

Reads the file and nothing else; neither imports duckdb nor runs SQL. The places are those of DuckDB's storage format.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from warehouse.faults import WarehouseError

_MAGIC = slice(8, 12)
_LIBRARY_VERSION = slice(52, 84)
_HEADER = 4096
_HEADERS = 3 * _HEADER
"""A DuckDB file begins with three headers; the newer of the last two says how many blocks follow."""
_BLOCK_SIZES = tuple(2**power for power in range(14, 19))


@dataclass(frozen=True, slots=True)
class Extent:
    """How long a file is with all its blocks, and how long a block, in bytes, by its headers."""

    whole: int
    block: int


def check_file(path: Path, *, log: bool = False) -> Extent:
    """How long the file should be. Raises WarehouseError if there is no whole DuckDB file at `path`, or if an
    unfinished log lies beside it, unless a `log` is allowed.
    """
    try:
        if path.is_dir():
            raise WarehouseError(f"{path} is a folder, not a warehouse")
        with path.open("rb") as file:
            head = file.read(_HEADERS)
        size = path.stat().st_size
    except FileNotFoundError:
        raise WarehouseError(f"there is no warehouse {path}", (f"evalhouse init {path} makes one",)) from None
    except OSError as error:
        raise WarehouseError(f"{path} cannot be read: {error.strerror}") from None
    if size == 0:
        raise WarehouseError(f"{path} is empty", ("restore it from a backup, or remove it and make a new one",))
    if head.startswith(b"SQLite format 3\0"):
        raise WarehouseError(
            f"{path} is an SQLite database, not a warehouse", ("export its tables as CSV files and load them",)
        )
    if head[_MAGIC] != b"DUCK":
        raise WarehouseError(f"{path} is not a warehouse", ("a warehouse is a DuckDB file made by evalhouse init",))
    extent = _extent(head)
    if size < extent.whole and (size < _HEADERS or (extent.whole - size) % extent.block):
        raise cut_off(path, size, extent.whole)
    if not log and path.with_name(path.name + ".wal").exists():
        raise WarehouseError(
            f"{path}.wal lies beside the warehouse: what wrote to it did not finish",
            ("evalhouse load --in-place finishes or undoes what it began", "so does the program that began it"),
        )
    return extent


def check_free(path: Path, extent: Extent, free: int) -> None:
    """Raises WarehouseError if a file lacks more blocks than its `free` ones, which DuckDB may leave out at the end.

    Does not open the file: closing it would let go of the lock that this process holds on it by then.
    """
    size = path.stat().st_size
    if extent.whole - size > free * extent.block:
        raise cut_off(path, size, extent.whole)


def cut_off(path: Path, size: int, whole: int) -> WarehouseError:
    """What is said of a file that is shorter than it must be."""
    return WarehouseError(f"{path} is cut off: it has {size} bytes of {whole}", ("restore it from a backup",))


def written_by(path: Path) -> str:
    """The version of DuckDB that wrote a file, such as 1.2.0; empty where there is no file or it does not say."""
    try:
        with path.open("rb") as file:
            head = file.read(_LIBRARY_VERSION.stop)
    except OSError:
        return ""
    return head[_LIBRARY_VERSION].split(b"\0")[0].decode("ascii", "replace").removeprefix("v")


def _extent(head: bytes) -> Extent:
    """How long a file is by its headers. DuckDB opens a file that was cut off and fails later."""
    if len(head) < _HEADERS:
        return Extent(_HEADERS, 1)
    # Each of the two: checksum, iteration, two places of metadata, number of blocks, size of a block.
    _, blocks, size = max(struct.unpack_from("<8xQ16xQQ", head, place) for place in (_HEADER, 2 * _HEADER))
    # Other sizes of a block are not of the format that is known here, and DuckDB will say so.
    return Extent(_HEADERS + int(blocks) * int(size), int(size)) if size in _BLOCK_SIZES else Extent(_HEADERS, 1)
