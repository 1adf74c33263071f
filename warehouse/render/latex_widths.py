"""Calculates how wide a table will be in LaTeX, and in which type size, with which line breaks or panels it fits the
line.

The widths are those of Computer Modern, which is wider than the fonts of most styles. Nothing here writes LaTeX.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil

from grammar.value import value
from warehouse.render.panels import Figure, Rectangle, panels, spans

TEXT_WIDTH, TEXT_HEIGHT = 345.0, 550.0
"""The width of a line and the height of a page in points, in the class article with letters of 10 points. No class for
one-column papers has narrower lines.
"""

_HUNDREDTHS_OF_POINTS = {
    278: "il!',.:;[]‘’", 306: "fj|", 334: " ", 360: "_", 362: "I", 389: "t()", 392: "r", 395: "s", 445: "cez†‡",
    473: "?", 501: "0123456789ago$`\"*/\\^{}~↓↑–“”", 514: "J", 528: "kqvxy", 556: "bdhnpuS", 612: "Z", 626: "L",
    653: "F", 681: "EP", 709: "B", 723: "wCT", 737: "R", 751: "AHNUVXY", 764: "D", 778: "KOQ&-+<=>@±×−≤≥",
    785: "G", 834: "m#%", 917: "M", 1001: "—", 1028: "W", 1334: "…",
}  # fmt: skip
"""The widths of letters at ten points, as pdfLaTeX measures them. A hyphen may be a minus sign, which is wider."""

_EMS = {letter: points / 1000 for points, letters in _HUNDREDTHS_OF_POINTS.items() for letter in letters}


@value
class TypeSize:
    """A size of type: its command, the points on either side of a column, the points from line to line, and the size of
    its letters, of which the normal size is ten points.
    """

    command: str
    room: float
    leading: float
    scale: float

    def width_of(self, text: str) -> float:
        """The width of a text in points."""
        return self.scale * sum(map(_letter, text))


SIZES = (
    TypeSize(r"\normalsize", 6, 12, 10.0),
    TypeSize(r"\small", 5, 11, 9.26),
    TypeSize(r"\footnotesize", 4, 9.5, 8.5),
    TypeSize(r"\scriptsize", 3, 8, 8.1),
)
"""The sizes of type, the largest first."""

DIVIDED = SIZES[2]
"""A table that does not fit in this size or a larger one is broken into lines or divided."""

BOLD = 1.16
"""The width of bold letters relative to normal ones."""

RAISED, BESIDE = 0.88, 0.5
"""The size of a raised mark, and the points after it."""

LEAST, NARROWEST = 70.0, 25.0
"""The minimum width in points of a column whose texts are broken into lines: the first, or the second if nothing else
helps.
"""

LONGEST_HEADING = 90.0
"""In a table that is too wide, headings wider than this many points are broken into lines of this width."""

WIDEST_LETTERS = 0.5
"""If the letters of groups would take a larger share of the line than this, they are not aligned by group."""


@dataclass(frozen=True, slots=True)
class SetTable:
    """A rectangle, or some of its columns, as it will be set: its type size, the columns whose texts are broken into
    lines with their widths in points, and whether headings wider than LONGEST_HEADING are broken.
    """

    rectangle: Rectangle
    size: TypeSize
    broken: Mapping[int, float] = field(default_factory=dict)
    headings_broken: bool = False

    @property
    def height(self) -> float:
        """The approximate height in points, from the first line to the last."""
        lines = 2 + any("\n" in heading for heading in self.rectangle.headings)
        for row in self.rectangle.rows:
            lines += max([1, *(lines_of(row[place], width, self.size) for place, width in self.broken.items())])
        return 1.08 * lines * self.size.leading + 2 * self.size.leading


def set_within(rectangle: Rectangle, width: float) -> tuple[SetTable, ...]:
    """A rectangle as one or more panels, none wider than this many points. The function tries in order: smaller type
    down to \\footnotesize; texts broken into lines, down to \\scriptsize; panels in \\footnotesize.
    """
    rectangle = _without_wide_letters(rectangle, width)
    for size in SIZES[: SIZES.index(DIVIDED) + 1]:
        if fits(whole := _panel(rectangle, size), width):
            return (whole,)
    for size in SIZES[SIZES.index(DIVIDED) :]:
        if fits(broken := _panel(rectangle, size, width, LEAST), width):
            return (broken,)

    def fitted(part: Rectangle) -> bool:
        return fits(_panel(part, DIVIDED, width, LEAST), width)

    # Nothing is shortened on paper.
    parts = panels(rectangle, fitted, sys.maxsize)
    return tuple(_panel(part, DIVIDED, width, LEAST if fitted(part) else NARROWEST) for part in parts)


def fits(panel: SetTable, width: float) -> bool:
    """Whether a panel is at most this many points wide."""
    return sum(_columns(panel)) <= width + 0.01


def _panel(rectangle: Rectangle, size: TypeSize, width: float | None = None, least: float = 0.0) -> SetTable:
    """A panel in a type size. If a width is given, its texts are broken to fit, provided that they keep their minimum
    width.
    """
    whole = SetTable(rectangle, size, headings_broken=width is not None)
    if width is None or fits(whole, width):
        return whole
    natural = _columns(whole)
    texts = [
        place
        for place, numeric in enumerate(rectangle.numeric)
        if not numeric and place not in rectangle.spaced and natural[place] - 2 * size.room > least
    ]
    left = width - sum(taken for place, taken in enumerate(natural) if place not in texts)
    broken: dict[int, float] = {}
    for number, place in enumerate(sorted(texts, key=natural.__getitem__)):
        share = left / (len(texts) - number) - 2 * size.room
        if natural[place] - 2 * size.room > share:
            broken[place] = max(share, least)
        left -= min(natural[place], share + 2 * size.room)
    return SetTable(rectangle, size, broken, headings_broken=True)


def _without_wide_letters(rectangle: Rectangle, width: float) -> Rectangle:
    """The same rectangle, with the letters of very many groups as a text that can be broken into lines."""
    wide = frozenset(
        place for place in rectangle.spaced if _natural(rectangle, place, DIVIDED) > WIDEST_LETTERS * width
    )
    rows = tuple(
        tuple(" ".join(text.split()) if place in wide else text for place, text in enumerate(row))
        for row in rectangle.rows
    )
    return replace(rectangle, rows=rows, spaced=rectangle.spaced - wide) if wide else rectangle


def _columns(panel: SetTable) -> list[float]:
    """The width of each column in points, including the space on either side."""
    rectangle, size = panel.rectangle, panel.size
    taken = []
    for place, heading in enumerate(rectangle.headings):
        natural = panel.broken.get(place, _natural(rectangle, place, size))
        if place not in panel.broken:
            natural = max(natural, _heading(panel, heading.rpartition("\n")[2]))
        taken.append(natural + 2 * size.room)
    for head, places in spans(rectangle.headings):
        if head:
            over = _heading(panel, head) + 2 * size.room
            taken[places[-1]] += max(0.0, over - sum(taken[place] for place in places))
    return taken


def _heading(panel: SetTable, heading: str) -> float:
    """The width of a heading in points."""
    natural = panel.size.width_of(heading.rstrip())
    return min(natural, LONGEST_HEADING) if panel.headings_broken else natural


def heading_is_broken(panel: SetTable, heading: str) -> bool:
    """Whether a heading is broken into lines."""
    return panel.headings_broken and panel.size.width_of(heading.rstrip()) > LONGEST_HEADING


def _natural(rectangle: Rectangle, place: int, size: TypeSize) -> float:
    """The width of the widest text of a column on one line in points, without its heading."""
    if place in rectangle.spaced:
        cells = [0.525 * size.scale * len(row[place]) for row in rectangle.rows]
    else:
        cells = [
            _figure(figure, size) if (figure := rectangle.figures.get((number, place))) else _text(row[place], size)
            for number, row in enumerate(rectangle.rows)
        ]
    return max(cells, default=0.0)


def _text(text: str, size: TypeSize) -> float:
    return size.width_of(text.rstrip())


def _figure(figure: Figure, size: TypeSize) -> float:
    """The width in points of a figure with everything beside it."""
    beside = f" ± {figure.half_room}" * bool(figure.half_room) + f" ({figure.ranks_room})" * bool(figure.ranks_room)
    number = size.width_of(figure.number) * (BOLD if figure.best else 1)
    return number + RAISED * size.width_of(figure.mark_room) + BESIDE + size.width_of(beside)


def lines_of(text: str, width: float, size: TypeSize) -> int:
    """The approximate number of lines that a text takes."""
    return max(1, ceil(1.15 * size.width_of(text) / width))


@cache
def _letter(sign: str) -> float:
    """The width of a letter, in ems of ten points. An accent takes no space, and letters of other alphabets count as
    wide.
    """
    base = unicodedata.normalize("NFD", sign)[:1]
    return _EMS.get(base, 0.0 if unicodedata.combining(sign) else 1.1)
