"""Opens input files, compressed files and members of archives, and reads them as lines of text.

Nothing is unpacked to disk, and the unpacked size is limited, so that a small archive cannot fill a large machine.
What the bytes mean is not known here.
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
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.door import Door, Meter
from evalhouse.warehouse.loading.staging.json_values import JSONError, parse_json, values
from evalhouse.warehouse.loading.staging.reader import Start, as_text
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.store.sql import Sql, join

# === files and lines ==================================================================================================

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
            from evalhouse.warehouse.loading.staging.zstandard import zstd

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
    from evalhouse.warehouse.loading.staging.zstandard import zstd

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
                    yield from self._decode(whole, before)
                    before += whole.count(b"\n") + 1
                if len(rest) > LONGEST_LINE:
                    raise self.refusal(f"this line is longer than {LONGEST_LINE:,} bytes", before + 1)
            if rest:
                yield from self._decode(rest, before)

    def _decode(self, whole: bytes, before: int) -> Iterator[str]:
        """The lines of some bytes. `before` is the number of lines before them."""
        encoding = "utf-8" if before else "utf-8-sig"
        try:
            text = whole.decode(encoding)
        except UnicodeDecodeError as error:
            good, ended, _ = whole[: len(whole) - len(error.object) + error.start].rpartition(b"\n")
            if ended:
                yield from self._decode(good, before)
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
        names: set[str] = set()
        for count, member in enumerate(archive):
            if count >= MOST_MEMBERS:
                raise staging.refusal(f"the archive has more than {MOST_MEMBERS} members")
            meter.count(member.size)  # this may be more than the bytes that are stored of it
            if member.isdir():
                continue
            called = quote_cell(member.name.removeprefix("./"), 200)[1:-1]
            if called in names:
                raise staging.refusal("the archive has several members of this name", member=called)
            names.add(called)
            binary = archive.extractfile(member) if member.isreg() else None
            if binary is None:
                what = "a link" if member.issym() or member.islnk() else "a pipe or a device"
                raise staging.refusal(f"this is {what}; unpack the archive and load its folder", member=called)
            yield Document(staging, binary, called)


def brief(said: str) -> str:
    """The first sentence of an error message of DuckDB or Python about an input."""
    first = said.strip().split("\n")[0]
    return quote_cell(re.sub(r"^(?:\w+ )*Error: ", "", first).rstrip(" ."), 160)[1:-1]


# === surveying a text =================================================================================================
# All bytes of a text are read once before DuckDB reads it, to check that no line is too long and to count the text that
# DuckDB must deliver. DuckDB drops rows that it cannot read at the start or end of a file (a last line of 40 MB, a
# first line if quotes are off), so the text that it was given is compared with the text that it returned. Memory holds
# one chunk of the file.

LONGEST_ROW = 2_000_000
"""The longest line of a table, in bytes. DuckDB does not take longer ones."""

_END = re.compile(rb"[\r\n]")
_LINE_FEED, _BLANK = 10, 32
_FEW = 64 * 1024
"""How many bytes of a plain text are counted at a time: so many stay in the cache of a processor."""

_NOT_OF_CELLS = b'"\r\n'


class Survey(Struct, frozen=True):
    """How many bytes of text the cells of a file have, with separators but without quotes and line ends, and whether
    there are quotes and apostrophes.
    """

    text: int
    quotes: bool
    apostrophes: bool


def survey(document: Document, longest: int = LONGEST_ROW) -> Survey:
    """Reads a text to its end. Raises DataError if a line has more than `longest` bytes, or on a read error."""
    text, quotes, apostrophes, number, begun = 0, False, False, 1, 0
    first = True
    for chunk in _chunks(document):
        if first:
            chunk, first = chunk.removeprefix(b"\xef\xbb\xbf"), False
        end = _END.search(chunk)
        if begun + (end.start() if end else len(chunk)) > longest:
            raise document.refusal(f"this line is longer than {longest:,} bytes", number)
        if end:
            last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
            begun = len(chunk) - 1 - last
            number += chunk.count(b"\n")
        else:
            begun += len(chunk)
        text += len(chunk.translate(None, _NOT_OF_CELLS))
        quotes = quotes or b'"' in chunk
        apostrophes = apostrophes or b"'" in chunk
    return Survey(text, quotes, apostrophes)


class PlainText(Struct, frozen=True):
    """A text in which one blank or line feed follows each cell, and nothing else is white space: how many lines and how
    many cells it has, and whether it is ASCII. A last line without a line feed is counted as if it had one.
    """

    lines: int
    cells: int
    ascii: bool


def plain_text(document: Document) -> PlainText | None:
    """Counts the cells of a text if it is plain; otherwise None. Raises DataError on a read error."""
    import numpy

    lines, cells, is_ascii, last = 0, 0, True, _LINE_FEED
    for chunk in _chunks(document, _FEW):
        if not (lines or cells) and chunk.startswith(b"\xef\xbb\xbf"):
            return None
        letters = numpy.frombuffer(chunk, numpy.uint8)
        ends, white = letters == _LINE_FEED, letters <= _BLANK
        of_chunk = int(numpy.count_nonzero(ends)), int(numpy.count_nonzero(white))
        if (last <= _BLANK and white[0]) or (white[1:] & white[:-1]).any():
            return None  # a blank line, or an empty cell
        if of_chunk[1] > of_chunk[0] + int(numpy.count_nonzero(letters == _BLANK)):
            return None
        lines, cells, last = lines + of_chunk[0], cells + of_chunk[1], chunk[-1]
        is_ascii = is_ascii and chunk.isascii()
    if last == _BLANK:
        return None
    unended = last != _LINE_FEED
    return PlainText(lines + unended, cells + unended, is_ascii)


def text_of(header: tuple[str, ...]) -> int:
    """The length of a row with these cells, as a survey counts it."""
    text = "".join(header).encode(errors="surrogatepass").translate(None, _NOT_OF_CELLS)
    return len(text) + len(header) - 1


def _chunks(document: Document, many: int = CHUNK) -> Iterator[bytes]:
    with document.unbroken():
        while chunk := document.binary.read(many):
            yield chunk


def text_of_cells(columns: int, quotes: bool) -> Sql:
    """The length of a row with the columns c0, c1, … as a survey counts it, in SQL."""

    def cell(place: int) -> str:
        # A cell may contain the characters that quotes protect; these are not counted.
        plain = f"strlen(c{place})"
        if quotes:
            bare = f"strlen(replace(replace(replace(c{place}, '\"', ''), chr(10), ''), chr(13), ''))"
            special = " or ".join(f"contains(c{place}, {sign})" for sign in ("'\"'", "chr(10)", "chr(13)"))
            plain = f"case when {special} then {bare} else {plain} end"
        return f"coalesce({plain}, 0)"

    # This is a list, because a sum of so many columns would be nested deeper than DuckDB allows.
    return "list_sum([" + join(", ", (Sql(cell(place)) for place in range(columns))) + f"])::bigint + {columns - 1}"


# === first records ====================================================================================================
# Reads the first records of a table or of JSON lines if the start of the file is too short to contain a record. They
# only serve to recognize the file: long cells are cut, and an incomplete record is left out.

MORE = 4 * 1024 * 1024
"""How many bytes of a file are read if its start has no complete record."""

_SHOWN = 1_000
"""How many characters of a cell are kept. No name is that long."""

_LONG = re.compile(rf'"(?:[^"]|"")*(?:"|\Z)|[^",\t\n]{{{_SHOWN},}}')
"""A quoted cell, which may go on after the text, or a long cell without quotes."""


def has_no_record(start: Start) -> bool:
    """Whether a file goes on after its start, and the start does not contain even one complete record."""
    if start.whole:
        return False
    if start.first.lstrip().startswith("{"):
        return not start.records
    return all(len(record) < len(start.columns) for record in start.records)


def with_records(start: Start, text: str, *, whole: bool) -> Start:
    """The start of a file with the records from more of its text; `whole` says that this is the whole text."""
    rows = tuple(
        {name: cell[:_SHOWN] for name, cell in record.items()} for record in _records(start, text, whole=whole)
    )
    return replace(start, rows=rows, named=start.columns.union(*rows)) if rows else start


def _records(start: Start, text: str, *, whole: bool) -> list[dict[str, str]]:
    if start.first.lstrip().startswith("{"):
        return _objects(text)
    cut = replace(start, text=_LONG.sub(_short, text), whole=whole)
    return [record for record in cut.records if len(record) == len(start.columns)]


def _objects(text: str) -> list[dict[str, str]]:
    """The first object of JSON lines; empty unless a second object follows."""
    first, _, others = text.lstrip().partition("\n")
    if not others.lstrip().startswith("{"):
        return []
    try:
        record = parse_json(first)
    except (JSONError, ValueError):
        return []
    return [{key: as_text(item) for key, item in record.items()}] if isinstance(record, dict) else []


def _short(cell: re.Match[str]) -> str:
    """A cell on one line, shortened if it is long."""
    text = cell[0]
    if not text.startswith('"'):
        return text[:_SHOWN]
    inside = text.strip('"')[:_SHOWN].replace('"', " ").replace("\n", " ").replace("\r", " ")
    return f'"{inside}"'
