"""The one way for readers to open files: anywhere, or only in the folder that a script is confined to.

It also limits the unpacked size of files.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from evalhouse.warehouse.faults import DataError, Fault

# === limits of unpacked size ==========================================================================================
# In bytes, and as a multiple of the size of the packed file. A `Meter` counts the bytes that come out of one packed
# file while it is read, over all members of an archive together. Nothing is unpacked ahead of the count. It must not
# know how files are packed, and opens none.

MOST = 16 * 10**9
"""How many bytes may come out of a packed file, unless another limit is set."""

LARGEST_RATIO = 200
"""How many times its size a packed file may become, unless a limit in bytes is set. Tables of text become 3 to 30 times
larger.
"""

UNSUSPICIOUS = 100 * 10**6
"""How many bytes may come out of a file of any size, because a small table may repeat the same text in every row."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Bound(Struct, frozen=True):
    """How many bytes may come out of a packed file, and at which ratio; None for any ratio."""

    most: int = MOST
    ratio: int | None = LARGEST_RATIO


def bound_of(size: str) -> Bound:
    """The limit in bytes for a size such as 500MB or 20G, at any ratio. Raises ValueError if it is not a size."""
    said = re.fullmatch(r"([0-9]{1,15})(?: ?([KMGT]?)B?)?", size.strip(), flags=re.IGNORECASE | re.ASCII)
    if said is None:
        raise ValueError(f"{size!r} is not a size such as 500MB or 20GB")
    return Bound(int(said[1]) * _UNITS[(said[2] or "").upper()], None)


class Unpacking(Protocol):
    """Something that returns some bytes at a time."""

    def read(self, size: int, /) -> bytes:
        """Returns at most this many bytes; none at the end."""


class Meter:
    """Counts what comes out of one packed file."""

    def __init__(self, source: Path, packed: int, bound: Bound) -> None:
        """A meter for a file whose stored size is this many bytes."""
        self._source, self._bound = source, bound
        self._by_ratio = None if bound.ratio is None else max(UNSUSPICIOUS, packed * bound.ratio)
        self._unpacked = 0

    def count(self, size: int) -> None:
        """Counts bytes that came out, or that the file says will come out. Raises DataError if they are too many."""
        self._unpacked += size
        if self._unpacked > self._bound.most:
            raise self._refusal(f"it holds more than {self._bound.most:,} bytes, unpacked")
        if self._by_ratio is not None and self._unpacked > self._by_ratio:
            raise self._refusal(f"unpacked, it is more than {self._bound.ratio} times as large")

    def _refusal(self, what: str) -> DataError:
        return DataError((Fault(str(self._source), None, f"{what}; load --max-unpacked SIZE allows more"),))

    def reading(self, unpacking: Unpacking) -> io.BufferedReader:
        """A stream of the bytes that are unpacked while they are read, which counts them."""
        return io.BufferedReader(_Counted(unpacking, self.count), buffer_size=128 * 1024)


class _Counted(io.RawIOBase):
    def __init__(self, unpacking: Unpacking, count: Callable[[int], None]) -> None:
        # read1, if there is one, also returns the bytes just before damaged ones.
        self._some: Callable[[int], bytes] = getattr(unpacking, "read1", unpacking.read)
        self._count = count

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        into = memoryview(buffer)
        read = self._some(len(into))
        into[: len(read)] = read
        self._count(len(read))
        return len(read)


# === opening files ====================================================================================================

LIFTS = "--allow-files lets its statements read and write files anywhere"


class Door(Struct, frozen=True):
    """Where files may be opened: in one folder and below it, after links are followed, or everywhere."""

    inside: Path | None = None
    unpacked: Bound = field(default_factory=Bound)

    def open(self, file: Path) -> BufferedReader:
        """The bytes of a file. Raises OSError if the file cannot be opened, and DataError if it must not be opened."""
        try:
            str(file.absolute()).encode()
        except UnicodeEncodeError:
            raise DataError((Fault(str(file), None, "the path is not UTF-8, and DuckDB can open no other"),)) from None
        opened = open(file, "rb", opener=_at_once)  # noqa: SIM115
        try:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                # Such a file may be endless, and it can be read only once.
                no_file = "is a pipe or a device, not a file; save its output to a file and load that"
                raise DataError((Fault(str(file), None, no_file),))
            if self.inside is not None:
                # This is checked on the open file, so that the file that is read is the file that was checked.
                real = os.path.realpath(file)
                is_inside = Path(real).is_relative_to(os.path.realpath(self.inside))
                if not is_inside or not os.path.samestat(os.stat(real), os.fstat(opened.fileno())):
                    raise DataError((Fault(str(file), None, f"is outside the script's folder; {LIFTS}"),))
        except BaseException:
            opened.close()
            raise
        return opened

    def names(self, folder: Path) -> list[str]:
        """The sorted names of the files in a folder; empty if files in the folder must not be opened."""
        if self.inside is not None and not folder.resolve().is_relative_to(self.inside.resolve()):
            return []
        return sorted(os.listdir(folder))


def _at_once(path: str, flags: int) -> int:
    """Opens a file without waiting for a program at the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


EVERYWHERE = Door()
"""The door for files that a person names."""
