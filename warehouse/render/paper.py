"""Tables on paper, for LaTeX and Typst: which columns a panel has, which texts are broken into lines, and where a word
may be broken.

Only characters are counted here, as on a terminal. LaTeX and Typst measure type, and make a panel fit its line.
"""

from __future__ import annotations

import re
import sys

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.render.panels import Rectangle, panels, spans
from evalhouse.warehouse.render.rectangle import narrow, notes_below, unbounded_rectangles
from evalhouse.warehouse.render.style import Style, width
from evalhouse.warehouse.results import Result

LINE = 84
"""The most characters of a panel, with GAP between two columns: as many digits as a line of \\scriptsize has in the
class article at ten points.
"""

READABLE = 0.86
"""A panel of at most such a share of the characters fits the line in \\footnotesize."""

GAP = 2

NARROWEST = 14
"""A text is not broken into shorter lines than this."""

LONGEST_HEADING = 24
"""Longer headings are broken into lines of this length."""

WIDEST_LETTERS = 0.5
"""If the letters of groups would take a larger share of the line than this, they are not aligned by group."""

LONG, WIDE = 0.2, 0.8
"""A word that takes a larger share of a line than the first number may be broken after punctuation. A part of it that
takes a larger share than the second number is cut into pieces as long as the first.
"""

LONGEST_PART = 36
"""A longer part of a word is cut in any case: a line of text has room for so many of the widest letters."""

_F = re.compile(r"\bF\(beta=([0-9]+)(?:\)|, (?=[^)]*\)))")
_INDICES = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")

_BEHIND_SIGNS = re.compile(r"(?<=[-=,;:/()_])(?<!\d,)(?=.)")


class Printed(Struct, frozen=True):
    """What a paper prints of a result, with measures as papers write them."""

    sentence: str
    caption: str
    rectangles: tuple[Rectangle, ...]
    notes: tuple[str, ...]


def printed(result: Result, style: Style) -> Printed:
    """The texts and the rectangles of a result, with F₁ for F(beta=1)."""
    return Printed(
        with_index(result.sentence),
        with_index(result.caption),
        tuple(map(_with_indices, unbounded_rectangles(result, style))),
        tuple(map(with_index, notes_below(result))),
    )


def _with_indices(rectangle: Rectangle) -> Rectangle:
    # Figures are numbers, and their texts stand beside them.
    return replace(
        rectangle,
        title=with_index(rectangle.title),
        headings=tuple(map(with_index, rectangle.headings)),
        rows=tuple(tuple(map(with_index, row)) for row in rectangle.rows),
    )


def with_index(text: str) -> str:
    """F₁ for F(beta=1), and F₁(match=exact) for F(beta=1, match=exact)."""
    return _F.sub(lambda found: f"F{found[1].translate(_INDICES)}{'' if found[0].endswith(')') else '('}", text)


def on_paper(rectangle: Rectangle, line: int = LINE) -> list[Rectangle]:
    """A rectangle as panels of at most so many characters, whose `limits` say how long the texts of a column are.
    Texts are broken before columns are divided.
    """
    rectangle = _without_wide_letters(rectangle, line)
    # Nothing is shortened on paper.
    parts = panels(rectangle, lambda part: _within(part, line).width <= line, sys.maxsize)
    return [_within(part, line) for part in parts]


def is_broken(panel: Rectangle, place: int) -> bool:
    """Whether a column has texts that are broken into lines."""
    return _longest(panel, place) > panel.limits[place]


def heading_is_broken(heading: str) -> bool:
    """Whether a heading is broken into lines."""
    return width(heading.rstrip()) > LONGEST_HEADING


def _within(part: Rectangle, line: int) -> Rectangle:
    """The same columns with texts as narrow as larger type needs them, or else as the line does."""
    readable = _break_texts(part, int(READABLE * line))
    return readable if readable.width <= READABLE * line else _break_texts(part, line)


def _break_texts(part: Rectangle, line: int) -> Rectangle:
    """The same columns with texts as narrow as a line needs them, if they can be."""
    headings = [heading.rpartition("\n")[2] for heading in part.headings]
    limits = [max(_longest(part, place), _wide(heading)) for place, heading in enumerate(headings)]
    for head, places in spans(part.headings):
        limits[places[-1]] += max(0, _wide(head) - sum(limits[place] for place in places) - GAP * (len(places) - 1))
    texts = [place for place, numeric in enumerate(part.numeric) if not numeric and place not in part.spaced]
    over = sum(limits) + GAP * (len(limits) - 1) - line
    if texts:
        narrow(limits, dict.fromkeys(texts, NARROWEST), over)
    return replace(part, limits=tuple(limits), gap=GAP)


def _longest(part: Rectangle, place: int) -> int:
    return max((width(row[place].rstrip()) for row in part.rows), default=0)


def _wide(heading: str) -> int:
    return min(width(heading.rstrip()), LONGEST_HEADING)


def _without_wide_letters(rectangle: Rectangle, line: int) -> Rectangle:
    """The same rectangle, with the letters of very many groups as a text that can be broken into lines."""
    wide = frozenset(place for place in rectangle.spaced if _longest(rectangle, place) > WIDEST_LETTERS * line)
    rows = tuple(
        tuple(" ".join(text.split()) if place in wide else text for place, text in enumerate(row))
        for row in rectangle.rows
    )
    return replace(rectangle, rows=rows, spaced=rectangle.spaced - wide) if wide else rectangle


def short_enough(word: str, within: int = LINE) -> list[str]:
    """A word in parts, for lines of so many characters; a line may end after each part."""
    if width(word) <= LONG * within:
        return [word]
    return [part for piece in _BEHIND_SIGNS.split(word) for part in _divide_piece(piece, within)]


def _divide_piece(piece: str, within: int) -> list[str]:
    """A part of a word, divided again if it is about as long as the line."""
    if width(piece) <= min(WIDE * within, LONGEST_PART):
        return [piece]
    step = max(1, int(LONG * within))
    return [piece[start : start + step] for start in range(0, len(piece), step)]
