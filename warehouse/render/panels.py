"""What every table is before it is drawn: a rectangle of texts, in which a figure may have marks; and its panels, where
it is too wide for the page.

It knows no result, no terminal and no markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from grammar.value import value
from warehouse.render.style import width

GAP, TIGHT = 3, 1
"""What stands between two columns, and what does where they are moved together."""


@value
class Figure:
    """A value with what is printed beside it: whether it is the best or the second of its column, a raised mark, half
    of its interval, and the ranks that it may have.

    The rooms are the longest texts of the column at their places, so that values stand below one another.
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


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Headings, of one or two lines, rows of texts, for each column whether it is a number, and how wide it may be.

    A text that is wider than its column is broken into lines; nothing else is. In the columns `spaced` blanks are
    meant: each letter of a group stands below its like. A cell that is one of the `figures`, known by its row and its
    column, has its text in the rows, too.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    limits: tuple[int, ...]
    gap: int = GAP
    title: str = ""
    """What tells it from others of the same result; empty where it is alone."""
    spaced: frozenset[int] = frozenset()
    legend: str = ""
    """What the marks in it mean."""
    figures: Mapping[tuple[int, int], Figure] = field(default_factory=dict)
    keys: int = 0
    """So many columns at its left say what a row is of, and stand in each of its panels."""
    left_out: tuple[str, ...] = ()
    """The columns for which there is no room."""
    more: int = 0
    """How many rows it has beside these, which are not shown."""
    as_records: bool = False
    """Whether a row is too long for a line even without them; then all its cells stand one below the other."""

    @property
    def width(self) -> int:
        """How many columns of the terminal a line takes."""
        return sum(self.limits) + self.gap * (len(self.limits) - 1)

    def of_columns(self, places: Sequence[int]) -> Rectangle:
        """The same with some of its columns."""
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
    """A rectangle as one or more, each of which fits: its columns are divided, those below one head together if that
    can be. Keys are shortened to `shortest` letters where a single column does not fit beside them.
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
    """The columns that are no keys, those below one head together."""
    below = ([place for place in places if place >= rectangle.keys] for _, places in spans(rectangle.headings))
    return [places for places in below if places]


def spans(headings: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The first lines of headings of two lines, each with the places it stands over; others are one at a time."""
    upper = [heading.partition("\n")[0] if "\n" in heading else "" for heading in headings]
    spanning: list[tuple[str, list[int]]] = []
    for head, group in groupby(range(len(upper)), key=upper.__getitem__):
        places = list(group)
        spanning += [(head, places)] if head else [("", [place]) for place in places]
    return spanning


def _with_keys(rectangle: Rectangle, places: Sequence[int]) -> Rectangle:
    return rectangle.of_columns([*range(rectangle.keys), *places])


def _narrower(rectangle: Rectangle, key: int) -> Rectangle:
    """The same with a key that is one letter shorter."""
    limit = rectangle.limits[key] - 1
    return replace(
        rectangle,
        rows=tuple((*row[:key], middle(row[key], limit), *row[key + 1 :]) for row in rectangle.rows),
        limits=(*rectangle.limits[:key], limit, *rectangle.limits[key + 1 :]),
    )


def widths(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[int]:
    """How wide the widest line of each column is."""
    columns = zip(headings, *rows, strict=True)
    return [max(width(line) for text in column for line in text.split("\n")) for column in columns]


def middle(text: str, longest: int) -> str:
    """A text that is no longer than that: what is too much is left out in the middle."""
    if len(text) <= longest:
        return text
    head = longest // 2
    return text[:head] + "…" + text[len(text) - (longest - 1 - head) :]
