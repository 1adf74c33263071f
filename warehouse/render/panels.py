"""The form of every table before it is drawn: a rectangle of texts whose figures may have marks. A table too wide for
the page is divided into panels.

This module does not know results, terminals or markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.render.style import width

GAP, TIGHT = 3, 1
"""The space between two columns, and the space where columns are moved together."""


class Figure(Struct, frozen=True):
    """A value with what is printed beside it: whether it is the best or the second of its column, a raised mark, half
    of its interval, and its possible ranks.

    The rooms are the lengths of the longest texts of the column in each position, which align the values.
    """

    number: str
    best: bool = False
    second: bool = False
    mark: str = ""
    mark_room: str = ""
    half: str = ""
    half_room: str = ""
    ranks: str = ""
    ranks_room: str = ""


class Rectangle(Struct, frozen=True):
    """Headings of one or two lines, rows of texts, whether each column is numeric, and how wide each column may be.

    Only a text wider than its column is broken into lines. In the columns `spaced`, spaces have a meaning: they align
    the letters of each group. A cell of `figures`, known by its row and column, also has its text in the rows.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    limits: tuple[int, ...]
    gap: int = GAP
    title: str = ""
    """The title that distinguishes it from other rectangles of the same result; empty if it is the only one."""
    spaced: frozenset[int] = frozenset()
    legend: str = ""
    """The meaning of the marks in it."""
    figures: Mapping[tuple[int, int], Figure] = field(default_factory=dict)
    keys: int = 0
    """The number of columns at its left that identify a row. They are repeated in each of its panels."""
    left_out: tuple[str, ...] = ()
    """The columns that do not fit."""
    more: int = 0
    """The number of further rows that are not shown."""
    as_records: bool = False
    """Whether a row is too long for a line even without the left-out columns. Then its cells are listed one below the
    other.
    """

    @property
    def width(self) -> int:
        """The width of a line on the terminal, in columns."""
        return sum(self.limits) + self.gap * (len(self.limits) - 1)

    def of_columns(self, places: Sequence[int]) -> Rectangle:
        """The same rectangle with only some of its columns."""
        at = {place: new for new, place in enumerate(places)}
        return replace(
            self,
            headings=tuple(self.headings[place] for place in places),
            rows=tuple(tuple(row[place] for place in places) for row in self.rows),
            numeric=tuple(self.numeric[place] for place in places),
            limits=tuple(self.limits[place] for place in places),
            spaced=frozenset(at[place] for place in self.spaced if place in at),
            figures={(row, at[place]): known for (row, place), known in self.figures.items() if place in at},
        )


def panels(rectangle: Rectangle, fits: Callable[[Rectangle], bool], shortest: int) -> list[Rectangle]:
    """A rectangle as one or more panels that fit. Its columns are divided; columns below one heading stay together if
    possible. Keys are shortened to `shortest` letters if not even a single column fits beside them.
    """
    if fits(rectangle):
        return [rectangle]
    others = range(rectangle.keys, len(rectangle.headings))
    while not all(fits(_with_keys(rectangle, [place])) for place in others):
        longest = max(range(rectangle.keys), key=lambda key: rectangle.limits[key], default=None)
        if longest is None or rectangle.limits[longest] <= shortest:
            break
        rectangle = _narrower(rectangle, longest)
    found: list[list[int]] = []
    for group in _groups(rectangle):
        if found and fits(_with_keys(rectangle, [*found[-1], *group])):
            found[-1] += group
        elif fits(_with_keys(rectangle, group)):
            found.append(group)
        else:
            found.append([])
            for place in group:
                if found[-1] and not fits(_with_keys(rectangle, [*found[-1], place])):
                    found.append([])
                found[-1].append(place)
    return [_with_keys(rectangle, places) for places in found if places]


def _groups(rectangle: Rectangle) -> list[list[int]]:
    """The columns that are not keys, grouped by shared heading."""
    below = ([place for place in places if place >= rectangle.keys] for _, places in spans(rectangle.headings))
    return [places for places in below if places]


def spans(headings: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The first lines of headings with two lines, each with the columns that it covers. Other headings cover one column
    each.
    """
    upper = [heading.partition("\n")[0] if "\n" in heading else "" for heading in headings]
    spanning: list[tuple[str, list[int]]] = []
    for head, group in groupby(range(len(upper)), key=upper.__getitem__):
        places = list(group)
        spanning += [(head, places)] if head else [("", [place]) for place in places]
    return spanning


def _with_keys(rectangle: Rectangle, places: Sequence[int]) -> Rectangle:
    return rectangle.of_columns([*range(rectangle.keys), *places])


def _narrower(rectangle: Rectangle, key: int) -> Rectangle:
    """The same rectangle with one key shortened by one letter."""
    limit = rectangle.limits[key] - 1
    return replace(
        rectangle,
        rows=tuple((*row[:key], middle(row[key], limit), *row[key + 1 :]) for row in rectangle.rows),
        limits=(*rectangle.limits[:key], limit, *rectangle.limits[key + 1 :]),
    )


def widths(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[int]:
    """The width of the widest line of each column."""
    columns = zip(headings, *rows, strict=True)
    return [max(width(line) for text in column for line in text.split("\n")) for column in columns]


def middle(text: str, longest: int) -> str:
    """A text of at most this length; characters in the middle are left out."""
    if len(text) <= longest:
        return text
    head = longest // 2
    return text[:head] + "…" + text[len(text) - (longest - 1 - head) :]
