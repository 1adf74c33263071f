"""How wide a table will be when LaTeX has set it, and in which type, broken or divided it fits within a line.

The widths are those of Computer Modern, which is wider than the letters of most styles. Nothing here writes LaTeX.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import ceil

from warehouse.render.panels import Figure, Rectangle, panels, spans

TEXT_WIDTH, TEXT_HEIGHT = 345.0, 550.0
"""Points of a line and of a page in the class article, in letters of 10 points: no class for papers of one column has
narrower lines.
"""

_THOUSANDTHS = {
    278: "ijl,.:;!'`I|[]‘’", 306: "f", 333: " _", 361: "I", 389: "t()", 392: "r", 394: "s", 444: "ecz†‡", 472: "?",
    500: "0123456789agoq$*/{}\\^~\"–“”↓↑", 514: "J", 528: "kvxy", 556: "bdhnpuS", 611: "Z", 625: "L", 653: "F",
    681: "EP", 708: "B", 722: "CTwN", 736: "R", 750: "AHMUVXYGKDOQ", 778: "+-<=>&@±×−≤≥", 833: "m#%", 917: "MW—",
}  # fmt: skip
"""The letters by their widths, in thousandths of an em of ten points; a hyphen may be a sign, which is wider."""

_EMS = {letter: thousandths / 1000 for thousandths, letters in _THOUSANDTHS.items() for letter in letters}


@dataclass(frozen=True, slots=True)
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
    TypeSize(r"\small", 5, 11, 9.25),
    TypeSize(r"\footnotesize", 4, 9.5, 8.5),
    TypeSize(r"\scriptsize", 3, 8, 8.0),
)
"""The sizes of type, the largest first."""

DIVIDED = SIZES[2]
"""What does not fit as it is in this size or a larger one is broken into lines or divided."""

BOLD = 1.16
"""How much wider bold letters are."""

RAISED = 0.75
"""The size of a raised mark."""

LEAST, NARROWEST = 70.0, 25.0
"""A column of texts that are broken into lines is not narrower than this many points, or where there is no other way
than that many.
"""

LEAST_HEAD = 110.0
"""What stands over columns is broken into lines no narrower than this many points."""


@dataclass(frozen=True, slots=True)
class SetTable:
    """A rectangle, or a part of its columns, as it will be set: its type, the columns whose texts are broken into lines
    with their widths in points, and the widths of heads that are broken, by the first column below each.
    """

    rectangle: Rectangle
    size: TypeSize
    broken: Mapping[int, float] = field(default_factory=dict)
    head_widths: Mapping[int, float] = field(default_factory=dict)

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
    return sum(_columns(panel)) <= width


def _panel(rectangle: Rectangle, size: TypeSize, width: float | None = None, least: float = 0.0) -> SetTable:
    """A panel in a size, where a width is given with its texts broken so as to fit, if they can be so wide at least."""
    head_widths = {
        places[0]: LEAST_HEAD
        for head, places in spans(rectangle.headings)
        if head and size.width_of(head) > LEAST_HEAD and width is not None
    }
    whole = SetTable(rectangle, size, head_widths=head_widths)
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
    return SetTable(rectangle, size, broken, head_widths)


def _columns(panel: SetTable) -> list[float]:
    """Points that each column takes, the room on either side included."""
    rectangle, size = panel.rectangle, panel.size
    taken = [
        (panel.broken[place] if place in panel.broken else _natural(rectangle, place, size)) + 2 * size.room
        for place in range(len(rectangle.headings))
    ]
    for head, places in spans(rectangle.headings):
        if head:
            over = panel.head_widths.get(places[0], size.width_of(head)) + 2 * size.room
            taken[places[-1]] += max(0.0, over - sum(taken[place] for place in places))
    return taken


def _natural(rectangle: Rectangle, place: int, size: TypeSize) -> float:
    """Points that the widest text of a column takes on one line."""
    if place in rectangle.spaced:
        cells = [0.525 * size.scale * len(row[place]) for row in rectangle.rows]
    else:
        cells = [
            _figure(figure, size) if (figure := rectangle.figures.get((number, place))) else _text(row[place], size)
            for number, row in enumerate(rectangle.rows)
        ]
    return max([_text(rectangle.headings[place].rpartition("\n")[2], size), *cells])


def _text(text: str, size: TypeSize) -> float:
    return size.width_of(text.rstrip())


def _figure(figure: Figure, size: TypeSize) -> float:
    """Points of a figure with all that stands beside it."""
    beside = f" ± {figure.half_room}" * bool(figure.half_room) + f" ({figure.ranks_room})" * bool(figure.ranks_room)
    number = size.width_of(figure.number) * (BOLD if figure.best else 1)
    return number + RAISED * size.width_of(figure.mark_room) + size.width_of(beside)


def lines_of(text: str, width: float, size: TypeSize) -> int:
    """On how many lines a text will stand, about."""
    return max(1, ceil(1.15 * size.width_of(text) / width))


@cache
def _letter(sign: str) -> float:
    """How wide a letter is, in ems of ten points; an accent takes no room, and of other alphabets all are wide."""
    base = unicodedata.normalize("NFD", sign)[:1]
    return _EMS.get(base, 1.4 if base == "…" else 0.0 if unicodedata.combining(sign) else 1.1)
