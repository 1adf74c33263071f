"""Opening what is to be read: files, compressed files, and the members of archives, as lines of text.

Nothing is unpacked to disk, and what comes out is bounded, so that a small archive cannot fill a large machine.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import itertools
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from warehouse.faults import DataError
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.door import Door
from warehouse.loading.staging.json_values import JSONError, values
from warehouse.loading.staging.staged import Staging
from warehouse.loading.staging.unpacking import Meter

LONGEST_LINE = 16 * 1024 * 1024
"""The longest line that is read, in bytes."""

CHUNK = 1024 * 1024
"""How many bytes are turned into lines at a time."""

MOST_MEMBERS = 100_000
"""How many members of an archive are looked at."""

Compression = Literal["none", "gzip", "zstd"]
COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".tgz": "gzip", ".zst": "zstd"}


def start_of(staging: Staging, size: int = 4) -> bytes:
    """The first bytes of a file as they are stored. Raises DataError where there is no such file, or it is empty."""
    source = staging.source
    try:
        if source.is_dir():
            raise staging.refusal("this is a folder, not a file")
        with staging.door.open(source) as file:
            start = file.read(size)
    except FileNotFoundError:
        raise staging.refusal("there is no such file") from None
    except OSError as error:
        raise staging.refusal(f"the file cannot be read: {error.strerror}") from None
    if not start:
        raise staging.refusal("the file is empty")
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise staging.refusal("the file is UTF-16; it must be UTF-8")
    return start


def compression_of(source: Path) -> Compression:
    """How a file is compressed, by the last part of its name."""
    return COMPRESSIONS.get(source.suffix.lower(), "none")


def is_archive(source: Path) -> bool:
    """Whether a file holds others, by its name."""
    return source.name.lower().endswith((".tar", ".tar.gz", ".tgz", ".tar.zst"))


@contextlib.contextmanager
def open_bytes(door: Door, source: Path, compression: Compression) -> Iterator[io.BufferedReader]:
    """The bytes of a file, unpacked while they are read, and no more than the door lets through."""
    with door.open(source) as stored:
        meter = Meter(source, os.fstat(stored.fileno()).st_size, door.unpacked)
        if compression == "gzip":
            with gzip.open(stored, "rb") as unpacking:
                yield meter.reading(unpacking)
        elif compression == "zstd":
            from warehouse.loading.staging.zstandard import zstd

            with zstd.ZstdFile(stored) as unpacking:
                yield meter.reading(unpacking)
        else:
            yield stored


def meter_of(staging: Staging) -> Meter:
    """What counts the bytes of all members of an archive. Raises OSError."""
    with staging.door.open(staging.source) as stored:
        return Meter(staging.source, os.fstat(stored.fileno()).st_size, staging.door.unpacked)


def damages() -> tuple[type[Exception], ...]:
    """What reading raises where compressed data is cut off or damaged."""
    from warehouse.loading.staging.zstandard import zstd

    return (EOFError, gzip.BadGzipFile, zlib.error, zstd.ZstdError)


@dataclass(frozen=True, slots=True)
class Document:
    """One text to read: a file, or a member of an archive, whose name then is `member`."""

    staging: Staging
    binary: IO[bytes]
    member: str | None = None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each line without its end, and its number, from 1.

        Raises DataError where a line is not UTF-8 or too long, and where compressed data is cut off.
        """
        return enumerate(itertools.chain.from_iterable(text.split("\n") for text in self.texts()), start=1)

    def texts(self, size: int = CHUNK) -> Iterator[str]:
        """The lines as `lines` gives them, about so many bytes at a time with line ends between them, as that is
        several times faster.
        """
        before, rest = 0, b""
        with self.unbroken():
            while chunk := self.binary.read(size):
                whole, end, rest = (rest + chunk).rpartition(b"\n")
                if end:
                    yield from self._decoded(whole, before)
                    before += whole.count(b"\n") + 1
                if len(rest) > LONGEST_LINE:
                    raise self.refusal(f"this line is longer than {LONGEST_LINE:,} bytes", before + 1)
            if rest:
                yield from self._decoded(rest, before)

    def _decoded(self, whole: bytes, before: int) -> Iterator[str]:
        """The lines of some bytes, of which so many stand before them."""
        encoding = "utf-8" if before else "utf-8-sig"
        try:
            text = whole.decode(encoding)
        except UnicodeDecodeError as error:
            good, ended, _ = whole[: len(whole) - len(error.object) + error.start].rpartition(b"\n")
            if ended:
                yield from self._decoded(good, before)
                before += good.count(b"\n") + 1
            raise self.refusal("this line is not UTF-8", before + 1) from None
        yield "\n".join(line.rstrip("\r") for line in text.split("\n")) if "\r" in text else text

    def whole(self, most: int) -> bytes:
        """All of it, at most so many bytes. Raises DataError where there are more."""
        with self.unbroken():
            raw = self.binary.read(most + 1)
        if len(raw) > most:
            raise self.refusal(f"this is larger than {most} bytes")
        return raw

    def json(self, most: int) -> Any:
        """What all of it says in JSON. Raises DataError where it is not JSON, or larger than so many bytes."""
        return self.staging.json(self.whole(most), "this", member=self.member)

    def json_line(self, number: int, line: str) -> Any:
        """What a line of it says in JSON. Raises DataError where it is not JSON."""
        return self.staging.json(line, "this line", number, self.member)

    def items(self, of: str) -> Iterator[Any]:
        """What each item of a list in JSON says, one at a time. Raises DataError where it is not such a list."""
        chunks = codecs.iterdecode(iter(lambda: self.binary.read(CHUNK), b""), "utf-8-sig")
        try:
            with self.unbroken():
                first = next(chunks, "")
                if first.strip() and not first.lstrip().startswith("["):
                    raise self.refusal(f"this is not a list of {of}")
                for place, item in enumerate(values(itertools.chain((first,), chunks)), start=1):
                    # An item has no line ends any more, so what is wrong with one is told by its number.
                    yield self.staging.json(item, f"number {place} of the {of}", member=self.member)
        except JSONError as error:
            raise self.refusal("this is not JSON", error.line) from None
        except UnicodeDecodeError:
            raise self.refusal("this is not JSON") from None

    def unbroken(self) -> contextlib.AbstractContextManager[None]:
        """Turns what Python says of damaged compressed data, while it is read, into a refusal."""
        return _unbroken(self.staging)

    def refusal(self, message: str, line: int | None = None) -> DataError:
        """The error for a text with one fault."""
        return self.staging.refusal(message, line, self.member)


@contextlib.contextmanager
def _unbroken(staging: Staging) -> Iterator[None]:
    """Turns what Python says of damaged compressed data into a refusal."""
    try:
        yield
    except tarfile.TarError:
        raise staging.refusal("the archive is cut off or damaged") from None
    except Exception as error:
        if not isinstance(error, damages()):
            raise
        raise staging.refusal(*damage(staging.door, staging.source)) from None


def damage(door: Door, source: Path) -> tuple[str, int | None]:
    """What is to be said of a compressed file that is damaged, and on which line: the first that is not there whole.

    An archive has no lines of its own.
    """
    compression, line = compression_of(source), 1
    with contextlib.suppress(*damages()), open_bytes(door, source, compression) as unpacking:
        while some := unpacking.read1(CHUNK):
            line += some.count(b"\n")
    return f"the {compression} data is cut off or damaged", None if is_archive(source) else line


def documents(staging: Staging) -> Iterator[Document]:
    """The texts in a file: its regular members if it is a tar archive, else the file itself.

    A document must be read before the next one is asked for. Raises DataError if the file is not there, or is damaged.
    """
    start_of(staging)
    if is_archive(staging.source):
        yield from _members(staging)
        return
    with open_bytes(staging.door, staging.source, compression_of(staging.source)) as binary:
        yield Document(staging, binary)


def filled_lines(staging: Staging) -> Iterator[tuple[Document, int, str]]:
    """The lines of a file that are not blank, each with its text and number. Raises DataError as `documents` does."""
    for document in documents(staging):
        for number, line in document.lines():
            if line.strip():
                yield document, number, line


def _members(staging: Staging) -> Iterator[Document]:
    meter = meter_of(staging)
    with (
        _unbroken(staging),
        open_bytes(staging.door, staging.source, compression_of(staging.source)) as unpacking,
        tarfile.open(fileobj=unpacking, mode="r|*") as archive,
    ):
        for count, member in enumerate(archive):
            if count >= MOST_MEMBERS:
                raise staging.refusal(f"the archive has more than {MOST_MEMBERS} members")
            meter.count(member.size)  # which may be more than what is stored of it
            binary = archive.extractfile(member) if member.isreg() else None
            if binary is not None:
                yield Document(staging, binary, shown(member.name.removeprefix("./"), 200)[1:-1])


def brief(said: str) -> str:
    """The first sentence of what DuckDB or Python said of an input."""
    first = said.strip().split("\n")[0]
    return shown(re.sub(r"^(?:\w+ )*Error: ", "", first).rstrip(" ."), 160)[1:-1]
