"""How a result is to be drawn, and how single cells are written. No layout here."""

from __future__ import annotations

import unicodedata
from typing import Literal

from grammar.value import value
from warehouse.results import UNSAFE, Cell, CellKind

UNDEFINED = "–"

Theme = Literal["auto", "light", "dark"]
"""What pictures stand on: what their reader's page stands on, light paper, or dark."""


@value
class Style:
    """What the reader asked for: decimals (None for the kind's own), the width of the screen, whether colour is
    wanted, and what pictures stand on.
    """

    digits: int | None = None
    width: int = 100
    colour: bool = False
    theme: Theme = "auto"


def clean(text: str) -> str:
    """Text with every character that is not plainly visible shown by its code: \\u202e."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) in UNSAFE else c for c in text)


def clean_lines(text: str) -> str:
    """A text of several lines, every character of which is visible."""
    return "\n".join(clean(line) for line in text.split("\n"))


def width(text: str) -> int:
    """How many columns a text of one line takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def cell(kind: CellKind, value: Cell, digits: int | None = None) -> str:
    """A cell for people: proportions as percentages, thousands marked, a dash where there is nothing."""
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
        case _:
            return str(value)


def _probability(value: float, digits: int) -> str:
    """Fixed digits, and what is below the smallest that they can show as <.0001: a p is never 0."""
    if 0 <= value < 10.0**-digits:
        return below(digits)
    return f"{value:.{digits}f}"


def below(digits: int) -> str:
    """What stands for a p that so many digits cannot show: <.0001 for four."""
    return f"<.{'1'.rjust(digits, '0')}" if digits else "<1"
