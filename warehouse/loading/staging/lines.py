"""Opens input files, compressed files and members of archives, and reads them as lines of text.

Nothing is unpacked to disk, and the unpacked size is limited, so that a small archive cannot fill a large machine.
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
from pathlib import Path
from typing import IO, Any, Literal

from msgspec import Struct

from warehouse.faults import DataError
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.door import Door
from warehouse.loading.staging.json_values import JSONError, values
from warehouse.loading.staging.staged import Staging
from warehouse.loading.staging.unpacking import Meter

EMPTY = "the file is empty"
BLANK = "there are only blank lines in the file"

LONGEST_LINE = 16 * 1024 * 1024
"""The longest line that is read, in bytes."""

CHUNK = 1024 * 1024
"""How many bytes are split into lines at a time."""

MOST_MEMBERS = 100_000
"""How many members of an archive are read at most."""

Compression = Literal["uncompressed", "gzip", "zstd"]
COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".tgz": "gzip", ".zst": "zstd"}


def start_of(staging: Staging, size: int = 4) -> bytes:
    """The first bytes of a file as they are stored. Raises DataError if the file does not exist or is empty."""
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
        raise staging.refusal(EMPTY)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise staging.refusal("the file is UTF-16; it must be UTF-8")
    return start


def compression_of(source: Path) -> Compression:
    """How a file is compressed, according to the last part of its name."""
    return COMPRESSIONS.get(source.suffix.lower(), "uncompressed")


def is_archive(source: Path) -> bool:
    """Whether a file contains other files, according to its name."""
    return source.name.lower().endswith((".tar", ".tar.gz", ".tgz", ".tar.zst"))


@contextlib.contextmanager
def open_bytes(door: Door, source: Path, compression: Compression) -> Iterator[io.BufferedReader]:
    """The bytes of a file, unpacked while they are read, up to the size that the door allows."""
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
    """A meter that counts the bytes of all members of an archive together. Raises OSError."""
    with staging.door.open(staging.source) as stored:
        return Meter(staging.source, os.fstat(stored.fileno()).st_size, staging.door.unpacked)


def damages() -> tuple[type[Exception], ...]:
    """The exceptions that reading raises if compressed data are cut off or damaged."""
    from warehouse.loading.staging.zstandard import zstd

    return (EOFError, gzip.BadGzipFile, zlib.error, zstd.ZstdError)


class Document(Struct, frozen=True):
    """One text to read: a file, or a member of an archive; then `member` is its name."""

    staging: Staging
    binary: IO[bytes]
    member: str | None = None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yields each line without its end, and its number from 1.

        Raises DataError if a line is not UTF-8 or too long, or if compressed data are cut off.
        """
        return enumerate(itertools.chain.from_iterable(text.split("\n") for text in self.texts()), start=1)

    def texts(self, size: int = CHUNK) -> Iterator[str]:
        """Yields the same lines as `lines`, joined by line ends into texts of about this many bytes. This is several
        times faster.
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
        """The lines of some bytes. `before` is the number of lines before them."""
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
        """The whole text. Raises DataError if it has more than this many bytes."""
        with self.unbroken():
            raw = self.binary.read(most + 1)
        if len(raw) > most:
            raise self.refusal(f"this is larger than {most:,} bytes")
        return raw

    def json(self, most: int) -> Any:
        """Parses the whole text as JSON. Raises DataError if it is not JSON, or larger than this many bytes."""
        return self.staging.json(self.whole(most), "this", member=self.member)

    def json_line(self, number: int, line: str) -> Any:
        """Parses one line as JSON. Raises DataError if it is not JSON."""
        return self.staging.json(line, "this line", number, self.member)

    def items(self, of: str) -> Iterator[Any]:
        """Parses each item of a JSON list, one at a time. Raises DataError if the text is not such a list."""
        chunks = codecs.iterdecode(iter(lambda: self.binary.read(CHUNK), b""), "utf-8-sig")
        try:
            with self.unbroken():
                first = next(chunks, "")
                if first.strip() and not first.lstrip().startswith("["):
                    raise self.refusal(f"this is not a list of {of}")
                for place, item in enumerate(values(itertools.chain((first,), chunks)), start=1):
                    # An item no longer has line ends, so an error in it is reported with the number of the item.
                    yield self.staging.json(item, f"number {place} of the {of}", member=self.member)
        except JSONError as error:
            raise self.refusal("this is not JSON", error.line) from None
        except UnicodeDecodeError:
            raise self.refusal("this is not JSON") from None

    def unbroken(self) -> contextlib.AbstractContextManager[None]:
        """Turns Python's errors for damaged compressed data into a DataError, while the data are read."""
        return _unbroken(self.staging)

    def refusal(self, message: str, line: int | None = None) -> DataError:
        """The error for a text with one fault."""
        return self.staging.refusal(message, line, self.member)


@contextlib.contextmanager
def _unbroken(staging: Staging) -> Iterator[None]:
    """Turns Python's errors for damaged compressed data into a DataError."""
    try:
        yield
    except tarfile.TarError:
        raise staging.refusal("the archive is cut off or damaged") from None
    except Exception as error:
        if not isinstance(error, damages()):
            raise
        raise staging.refusal(*damage(staging.door, staging.source)) from None


def damage(door: Door, source: Path) -> tuple[str, int | None]:
    """The error for a damaged compressed file, with the first line that is incomplete.

    An archive has no lines of its own.
    """
    compression, line = compression_of(source), 1
    with contextlib.suppress(*damages()), open_bytes(door, source, compression) as unpacking:
        while some := unpacking.read1(CHUNK):
            line += some.count(b"\n")
    return f"the {compression} data is cut off or damaged", None if is_archive(source) else line


def documents(staging: Staging) -> Iterator[Document]:
    """The texts in a file: the regular members of a tar archive, or else the file itself.

    Read each document before asking for the next one. Raises DataError if the file does not exist or is damaged.
    """
    start_of(staging)
    if is_archive(staging.source):
        yield from _members(staging)
        return
    with open_bytes(staging.door, staging.source, compression_of(staging.source)) as binary:
        yield Document(staging, binary)


def filled_lines(staging: Staging) -> Iterator[tuple[Document, int, str]]:
    """The lines of a file that are not blank, as text and number. Raises DataError as `documents` does."""
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
            meter.count(member.size)  # this may be more than the bytes that are stored of it
            binary = archive.extractfile(member) if member.isreg() else None
            if binary is not None:
                yield Document(staging, binary, shown(member.name.removeprefix("./"), 200)[1:-1])


def brief(said: str) -> str:
    """The first sentence of an error message of DuckDB or Python about an input."""
    first = said.strip().split("\n")[0]
    return shown(re.sub(r"^(?:\w+ )*Error: ", "", first).rstrip(" ."), 160)[1:-1]
