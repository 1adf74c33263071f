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
    """The text with lines that end between words, none longer than this, if its words are not. A quoted line with a
    mark below it stays as it is, and so does the mark.
    """
    from textwrap import wrap

    lines = text.split("\n")
    marked = {place - 1 for place, line in enumerate(lines) if line.strip() and not line.strip("^ ")}
    drawn: list[str] = []
    for place, line in enumerate(lines):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        is_short = width(line) <= columns or place in marked or place - 1 in marked
        broken = wrap(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        drawn += [line] if is_short else broken
    return "\n".join(drawn)


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
