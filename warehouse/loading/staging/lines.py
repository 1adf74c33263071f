"""Opening what is to be read: files, compressed files, and the members of archives, as lines of text.

Nothing is unpacked to disk, and what comes out is bounded, so that a small archive cannot fill a large machine.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import re
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from warehouse.faults import DataError
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.staged import Staging

LONGEST_LINE = 64 * 1024 * 1024
"""The longest line that is read, in bytes."""

CHUNK = 1024 * 1024
"""How many bytes are turned into lines at a time."""

MOST_MEMBERS = 100_000
"""How many members of an archive are looked at."""

LARGEST_ARCHIVE = 8 * 1024**3
"""How many bytes the members of an archive may have together, unpacked."""

Compression = Literal["none", "gzip", "zstd"]
COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".tgz": "gzip", ".zst": "zstd"}


def start_of(staging: Staging, size: int = 4) -> bytes:
    """The first bytes of a file as they are stored. Raises DataError where there is no such file, or it is empty."""
    source = staging.source
    try:
        if source.is_dir():
            raise staging.refusal("this is a folder, not a file")
        with source.open("rb") as file:
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


def open_bytes(source: Path, compression: Compression) -> IO[bytes]:
    """The bytes of a file, unpacked while they are read."""
    if compression == "gzip":
        return io.BufferedReader(gzip.open(source, "rb"))
    if compression == "zstd":
        from warehouse.loading.staging.zstandard import zstd

        return io.BufferedReader(zstd.ZstdFile(source))
    return source.open("rb")


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
        return enumerate(self._texts(), start=1)

    def _texts(self) -> Iterator[str]:
        before, rest = 0, b""
        with _unbroken(self.staging):
            while chunk := self.binary.read(CHUNK):
                whole, end, rest = (rest + chunk).rpartition(b"\n")
                if end:
                    yield from self._decoded(whole, before)
                    before += whole.count(b"\n") + 1
                if len(rest) > LONGEST_LINE:
                    raise self.refusal(f"this line is longer than {LONGEST_LINE} bytes", before + 1)
            if rest:
                yield from self._decoded(rest, before)

    def _decoded(self, whole: bytes, before: int) -> Iterator[str]:
        """The lines of some bytes, of which so many stand before them; all at once, as that is many times faster."""
        try:
            text = whole.decode("utf-8" if before else "utf-8-sig")
        except UnicodeDecodeError:
            yield from self._until_undecodable(whole, before)
        else:
            lines = text.split("\n")
            yield from (line.rstrip("\r") for line in lines) if "\r" in text else lines

    def _until_undecodable(self, whole: bytes, before: int) -> Iterator[str]:
        for number, raw in enumerate(whole.split(b"\n"), start=before + 1):
            try:
                yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r")
            except UnicodeDecodeError:
                raise self.refusal("this line is not UTF-8", number) from None

    def whole(self, most: int) -> bytes:
        """All of it, at most so many bytes. Raises DataError where there are more."""
        with _unbroken(self.staging):
            raw = self.binary.read(most + 1)
        if len(raw) > most:
            raise self.refusal(f"this is larger than {most} bytes")
        return raw

    def json(self, most: int) -> Any:
        """What all of it says in JSON. Raises DataError where it is not JSON, or larger than so many bytes."""
        try:
            return json.loads(self.whole(most))
        except (ValueError, RecursionError) as error:
            raise self.refusal("this is not JSON", getattr(error, "lineno", None)) from None

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
        raise staging.refusal(f"the {compression_of(staging.source)} data is cut off or damaged") from None


def documents(staging: Staging) -> Iterator[Document]:
    """The texts in a file: its regular members if it is a tar archive, else the file itself.

    A document must be read before the next one is asked for. Raises DataError if the file is not there, or is damaged.
    """
    start_of(staging)
    if is_archive(staging.source):
        yield from _members(staging)
        return
    with open_bytes(staging.source, compression_of(staging.source)) as binary:
        yield Document(staging, binary)


def _members(staging: Staging) -> Iterator[Document]:
    unpacked = 0
    with (
        _unbroken(staging),
        open_bytes(staging.source, compression_of(staging.source)) as unpacking,
        tarfile.open(fileobj=unpacking, mode="r|*") as archive,
    ):
        for count, member in enumerate(archive):
            if count >= MOST_MEMBERS:
                raise staging.refusal(f"the archive has more than {MOST_MEMBERS} members")
            unpacked += member.size
            if unpacked > LARGEST_ARCHIVE:
                raise staging.refusal(f"the archive holds more than {LARGEST_ARCHIVE} bytes, unpacked")
            binary = archive.extractfile(member) if member.isreg() else None
            if binary is not None:
                yield Document(staging, binary, shown(member.name.removeprefix("./"), 200)[1:-1])


def brief(said: str) -> str:
    """The first sentence of what DuckDB or Python said of an input."""
    first = said.strip().split("\n")[0]
    return shown(re.sub(r"^(?:\w+ )*Error: ", "", first).rstrip(" ."), 160)[1:-1]
