"""The options for drawing a result, and how single cells are written. There is no layout here."""

from __future__ import annotations

import unicodedata
from typing import Literal

from msgspec import Struct

from evalhouse.warehouse.results import UNSAFE, Cell, CellKind

UNDEFINED = "–"

Theme = Literal["auto", "light", "dark"]
"""The background of pictures: the same as the reader's page, light, or dark."""


class Style(Struct, frozen=True):
    """The reader's options: decimals (None for the default of each kind), the width of the screen, whether colour is
    wanted, the background of pictures, and whether the whole signature stands below a table.
    """

    digits: int | None = None
    width: int = 100
    colour: bool = False
    theme: Theme = "auto"
    signature: bool = False


def clean(text: str) -> str:
    """The text with every character that is not plainly visible replaced by its code: \\u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) in UNSAFE else c for c in text)


def clean_lines(text: str) -> str:
    """A text of several lines in which every character is visible."""
    return "\n".join(clean(line) for line in text.split("\n"))


def folded(text: str, columns: int) -> str:
    """The text with lines that end between words, none longer than this, if its words are not. Of a quoted line with a
    mark below it, the words around the mark are kept.
    """
    from textwrap import wrap

    lines = text.split("\n")
    marked = {place - 1 for place, line in enumerate(lines) if line.strip() and not line.strip("^ ")}
    drawn: list[str] = []
    for place, line in enumerate(lines):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        if place in marked:
            drawn += _around_mark(line, lines[place + 1], columns)
        if place in marked or place - 1 in marked:
            continue
        is_short = width(line) <= columns
        broken = wrap(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        drawn += [line] if is_short else broken
    return "\n".join(drawn)


def _around_mark(line: str, mark: str, columns: int) -> tuple[str, str]:
    """As much of a quoted line as finds room, and the mark below it."""
    if width(line) <= columns:
        return line, mark
    indent = len(line) - len(line.lstrip())
    start = next(place for place in range(len(line) + 1) if width(line[:place]) >= mark.index("^"))
    end = next(place for place in range(start, len(line) + 1) if width(line[start:place]) >= mark.count("^"))
    start, end = start - indent, end - indent
    head, tail = window(line[indent:], start, end, columns - indent)
    left, right = ("…" if head else ""), ("…" if tail < len(line) - indent else "")
    quoted = line[indent:]
    before = width(left + quoted[head:start])
    marked = max(1, width(quoted[start : min(end, tail)]))
    return f"{line[:indent]}{left}{quoted[head:tail]}{right}", f"{' ' * (indent + before)}{'^' * marked}"


def window(line: str, start: int, end: int, room: int) -> tuple[int, int]:
    """From where to where a line is shown in this room, with dots where it is cut: around what stands from `start` to
    `end`, or its beginning if that is longer. It is cut between words, if it can be.
    """
    if width(line) <= room:
        return 0, len(line)
    room = max(room - 2, 1)  # for the dots
    head = max(0, min(start, (start + end - room) // 2 + (start + end - room) % 2, len(line) - room))
    tail = min(len(line), head + room)
    while width(line[head:tail]) > room:
        head, tail = (head + 1, tail) if head < start and tail <= end else (head, tail - 1)
    if head and (space := line.find(" ", head, start)) >= 0:
        head = space + 1
    if tail < len(line) and (space := line.rfind(" ", end, tail)) > 0:
        tail = space
    return head, tail


def width(text: str) -> int:
    """The number of columns that a text of one line takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cell(kind: CellKind, value: Cell, digits: int | None = None) -> str:
    """A cell for people: proportions as percentages, thousands with separators, and a dash for missing values."""
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return clean(value)
    match kind:
        case "proportion":
            return f"{100 * value:z.{2 if digits is None else digits}f}"
        case "difference":
            return f"{100 * value:+.{2 if digits is None else digits}f}"
        case "probability":
            return _probability(value, 4 if digits is None else digits)
        case "count":
            return f"{value:,}"
        case "number":
            return f"{value:z.{4 if digits is None else digits}f}"
        case "name" | "text" | "whole" | "letters" | "passage":
            return str(value)


def _probability(value: float, digits: int) -> str:
    """A p-value with fixed digits. If it is too small for them, it is written as <.0001, because a p-value is
    never 0.
    """
    if 0 <= value < 10.0**-digits:
        return below(digits)
    return f"{value:.{digits}f}"


def below(digits: int) -> str:
    """The text for a p-value too small for this many digits: <.0001 for four."""
    return f"<.{'1'.rjust(digits, '0')}" if digits else "<1"
