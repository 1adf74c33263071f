"""How wide a table will be when LaTeX has set it, and in which type, broken or divided it fits within a line.

The widths are those of Computer Modern, which is wider than the letters of most styles. Nothing here writes LaTeX.
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
"""Points of a line and of a page in the class article, in letters of 10 points: no class for papers of one column has
narrower lines.
"""

_HUNDREDTHS_OF_POINTS = {
    278: "il!',.:;[]‘’", 306: "fj|", 334: " ", 360: "_", 362: "I", 389: "t()", 392: "r", 395: "s", 445: "cez†‡",
    473: "?", 501: "0123456789ago$`\"*/\\^{}~↓↑–“”", 514: "J", 528: "kqvxy", 556: "bdhnpuS", 612: "Z", 626: "L",
    653: "F", 681: "EP", 709: "B", 723: "wCT", 737: "R", 751: "AHNUVXY", 764: "D", 778: "KOQ&-+<=>@±×−≤≥",
    785: "G", 834: "m#%", 917: "M", 1001: "—", 1028: "W", 1334: "…",
}  # fmt: skip
"""Letters of ten points by their widths, as pdfLaTeX measures them; a hyphen may be a sign, which is wider."""

_EMS = {letter: points / 1000 for points, letters in _HUNDREDTHS_OF_POINTS.items() for letter in letters}


@value
class TypeSize:
    """A size of type: its command, points on either side of a column, points from line to line, and how wide its
    letters are beside those of ten points.
    """

    command: str
    room: float
    leading: float
    scale: float

    def width_of(self, text: str) -> float:
        """Points that a text takes."""
        return self.scale * sum(map(_letter, text))


SIZES = (
    TypeSize(r"\normalsize", 6, 12, 10.0),
    TypeSize(r"\small", 5, 11, 9.26),
    TypeSize(r"\footnotesize", 4, 9.5, 8.5),
    TypeSize(r"\scriptsize", 3, 8, 8.1),
)
"""The sizes of type, the largest first."""

DIVIDED = SIZES[2]
"""What does not fit as it is in this size or a larger one is broken into lines or divided."""

BOLD = 1.16
"""How much wider bold letters are."""

RAISED, BESIDE = 0.88, 0.5
"""The size of a raised mark, and points that stand behind it."""

LEAST, NARROWEST = 70.0, 25.0
"""A column of texts that are broken into lines is not narrower than this many points, or where there is no other way
than that many.
"""

LONGEST_HEADING = 90.0
"""Headings that are wider than so many points are broken into lines of that width, where a table is too wide."""

WIDEST_LETTERS = 0.5
"""Letters of groups that would take more of the line than this do not stand each below its like."""


@dataclass(frozen=True, slots=True)
class SetTable:
    """A rectangle, or a part of its columns, as it will be set: its type, the columns whose texts are broken into lines
    with their widths in points, and whether headings are broken that are wider than LONGEST_HEADING.
    """

    rectangle: Rectangle
    size: TypeSize
    broken: Mapping[int, float] = field(default_factory=dict)
    headings_broken: bool = False

    @property
    def height(self) -> float:
        """Points from its first line to its last, about."""
        lines = 2 + any("\n" in heading for heading in self.rectangle.headings)
        for row in self.rectangle.rows:
            lines += max([1, *(lines_of(row[place], width, self.size) for place, width in self.broken.items())])
        return 1.08 * lines * self.size.leading + 2 * self.size.leading


def set_within(rectangle: Rectangle, width: float) -> tuple[SetTable, ...]:
    """A rectangle as one panel or more, none wider than so many points. Tried are, in this order: smaller types down to
    \\footnotesize; texts broken into lines, down to \\scriptsize; panels in \\footnotesize.
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
    """Whether a panel is not wider than so many points."""
    return sum(_columns(panel)) <= width + 0.01


def _panel(rectangle: Rectangle, size: TypeSize, width: float | None = None, least: float = 0.0) -> SetTable:
    """A panel in a size, where a width is given with its texts broken so as to fit, if they can be so wide at least."""
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
    """The same, letters of very many groups as a text that can be broken into lines."""
    wide = frozenset(
        place for place in rectangle.spaced if _natural(rectangle, place, DIVIDED) > WIDEST_LETTERS * width
    )
    rows = tuple(
        tuple(" ".join(text.split()) if place in wide else text for place, text in enumerate(row))
        for row in rectangle.rows
    )
    return replace(rectangle, rows=rows, spaced=rectangle.spaced - wide) if wide else rectangle


def _columns(panel: SetTable) -> list[float]:
    """Points that each column takes, the room on either side included."""
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
    """Points that a heading takes."""
    natural = panel.size.width_of(heading.rstrip())
    return min(natural, LONGEST_HEADING) if panel.headings_broken else natural


def heading_is_broken(panel: SetTable, heading: str) -> bool:
    """Whether a heading is broken into lines."""
    return panel.headings_broken and panel.size.width_of(heading.rstrip()) > LONGEST_HEADING


def _natural(rectangle: Rectangle, place: int, size: TypeSize) -> float:
    """Points that the widest text of a column takes on one line, its heading aside."""
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
    """Points of a figure with all that stands beside it."""
    beside = f" ± {figure.half_room}" * bool(figure.half_room) + f" ({figure.ranks_room})" * bool(figure.ranks_room)
    number = size.width_of(figure.number) * (BOLD if figure.best else 1)
    return number + RAISED * size.width_of(figure.mark_room) + BESIDE + size.width_of(beside)


def lines_of(text: str, width: float, size: TypeSize) -> int:
    """On how many lines a text will stand, about."""
    return max(1, ceil(1.15 * size.width_of(text) / width))


@cache
def _letter(sign: str) -> float:
    """How wide a letter is, in ems of ten points; an accent takes no room, and of other alphabets all are wide."""
    base = unicodedata.normalize("NFD", sign)[:1]
    return _EMS.get(base, 0.0 if unicodedata.combining(sign) else 1.1)
