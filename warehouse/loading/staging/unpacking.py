"""How much a packed file may become: bounded by a number of bytes and by how many times its own size that is.

A `Meter` counts what comes out of one packed file, all members of an archive together, while it is read; nothing is
unpacked ahead of that. It does not know how files are packed, and opens none.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from warehouse.faults import DataError, Fault

MOST = 16 * 10**9
"""How many bytes may come out of a packed file, unless something else is said."""

LARGEST_RATIO = 200
"""How many times its size a packed file may become, unless the size is said; tables of text become 3 to 30 times."""

UNSUSPICIOUS = 100 * 10**6
"""So many bytes may come out of a file of any size: a small table may say the same in every row."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True, slots=True)
class Bound:
    """How many bytes may come out of a packed file, and at which ratio; None is any."""

    most: int = MOST
    ratio: int | None = LARGEST_RATIO


def bound_of(size: str) -> Bound:
    """The bound that a size such as 500MB or 20G sets, at any ratio. Raises ValueError where it is not a size."""
    said = re.fullmatch(r"([0-9]{1,15})(?: ?([KMGT]?)B?)?", size.strip(), flags=re.IGNORECASE | re.ASCII)
    if said is None:
        raise ValueError(f"{size!r} is not a size such as 500MB or 20GB")
    return Bound(int(said[1]) * _UNITS[(said[2] or "").upper()], None)


class Unpacking(Protocol):
    """What gives some bytes at a time."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


class Meter:
    """Counts what comes out of one packed file."""

    def __init__(self, source: Path, packed: int, bound: Bound) -> None:
        """For a file that has so many bytes as it is stored."""
        self._source, self._bound = source, bound
        self._by_ratio = None if bound.ratio is None else max(UNSUSPICIOUS, packed * bound.ratio)
        self._unpacked = 0

    def count(self, size: int) -> None:
        """Counts bytes that came out, or are said to come. Raises DataError where they are too many."""
        self._unpacked += size
        if self._unpacked > self._bound.most:
            raise self._refusal(f"it holds more than {self._bound.most:,} bytes, unpacked")
        if self._by_ratio is not None and self._unpacked > self._by_ratio:
            raise self._refusal(f"unpacked, it is more than {self._bound.ratio} times as large")

    def _refusal(self, what: str) -> DataError:
        return DataError((Fault(str(self._source), None, f"{what}; load --max-unpacked SIZE allows more"),))

    def reading(self, unpacking: Unpacking) -> io.BufferedReader:
        """The bytes of something that is unpacked while it is read, counted."""
        return io.BufferedReader(_Counted(unpacking, self.count), buffer_size=128 * 1024)


class _Counted(io.RawIOBase):
    def __init__(self, unpacking: Unpacking, count: Callable[[int], None]) -> None:
        # read1, where there is one, also gives the bytes that stand right before damaged ones.
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
