"""Reads all bytes of a text once before DuckDB does, to check that no line is too long, and to count the text that
DuckDB must deliver.

DuckDB drops rows that it cannot read at the start or end of a file (a last line of 40 MB, a first line if quotes are
off). So the text that it was given is compared with the text that it returned. Memory holds one chunk of the file. What
the bytes mean is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from warehouse.loading.staging.lines import CHUNK, Document
from warehouse.store.sql import Sql, join

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


def filled_lines(document: Document, longest: int) -> int:
    """How many lines are not blank. Raises DataError as `survey` does."""
    count, number, rest = 0, 1, b""
    for chunk in _chunks(document):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > longest or (lines and max(map(len, lines)) > longest):
            ahead = next((place for place, line in enumerate((*lines, rest)) if len(line) > longest), 0)
            raise document.refusal(f"this line is longer than {longest:,} bytes", number + ahead)
        count += sum(1 for line in lines if line and not line.isspace())
        number += len(lines)
    return count + bool(rest.strip())


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
