"""Pictures as data: panels of marks on two axes, with their titles and notes. Each module builds one type of panel.

There are only numbers and texts here. Rendering decides how a mark looks on a terminal or in a file, and queries
provide the numbers. Names are as they are stored: the code that draws them must escape them.
"""

from __future__ import annotations

from math import ceil, exp, log
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct, to_builtins

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.shuffles.sequential import Verdict

Unit = Literal["proportion", "difference", "number", "probability", "count", "name"]
"""The unit of the numbers along an axis. Proportions and their differences are shown times 100. On an axis of names, a
number is the position of a name, counted from 0.
"""

IN_PERCENT = ("proportion", "difference")

Dash = Literal["solid", "dashed", "dotted"]


class Axis(Struct, frozen=True):
    """An axis from `low` to `high`. An axis of names has no numbers. Names on a vertical axis run downwards."""

    title: str
    unit: Unit
    low: float = 0.0
    high: float = 1.0
    names: tuple[str, ...] = ()
    log: bool = False

    @property
    def nominal(self) -> bool:
        """Whether this is an axis of names."""
        return self.unit == "name"

    @property
    def in_percent(self) -> bool:
        """Whether its numbers are shown times 100."""
        return self.unit in IN_PERCENT

    @property
    def label(self) -> str:
        """The title, and the unit of the numbers."""
        return f"{self.title} (%)" if self.in_percent else self.title

    def share(self, value: float) -> float:
        """The position of a value along the axis, from 0 to 1. A name is in the middle of its segment."""
        if self.nominal:
            return (value + 0.5) / len(self.names)
        if self.log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        """The value at a position along the axis."""
        if self.nominal:
            return share * len(self.names) - 0.5
        if self.log:
            return exp(log(self.low) + share * (log(self.high) - log(self.low)))
        return self.low + share * (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return self.nominal or self.low <= value <= self.high


def format_value(value: float, unit: Unit) -> str:
    """A number as it is written in a sentence, with as many decimals as in a table."""
    if unit in IN_PERCENT:
        return f"{100 * value:z.2f}"
    return plain(value, 4) if not value or abs(value) >= 0.001 else f"{value:.4g}"


def plain(value: float, decimals: int) -> str:
    """A number without needless zeros: 1,250; 0.5."""
    written = f"{value:z,.{decimals}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def format_p(p: float) -> str:
    """A p-value as it is written in a sentence; it is never 0."""
    return f"p = {p:.4f}" if p >= 0.0001 else "p < .0001"


# --- marks ------------------------------------------------------------------------------------------------------------


class Point(Struct, frozen=True):
    x: float
    y: float
    name: str
    verdict: Verdict | None = None


class Points(Struct, frozen=True):
    """Measured points. `labelled` requests a name beside each point. `hollow` points are computed, not measured."""

    points: tuple[Point, ...]
    labelled: bool = False
    hollow: bool = False


class Spans(Struct, frozen=True):
    """Intervals along the horizontal axis: (low, high, place on the vertical axis). `thick` intervals are
    emphasized.
    """

    spans: tuple[tuple[float, float, float], ...]
    thick: bool = False


class Ribbon(Struct, frozen=True):
    """An area around a line: (x, low, high), ordered by x, with each x once."""

    around: tuple[tuple[float, float, float], ...]
    name: str


class Bands(Struct, frozen=True):
    """The shaded areas around the first lines of a panel, in the order of the lines."""

    ribbons: tuple[Ribbon, ...]


class Path(Struct, frozen=True):
    """A line through points, dashed so that lines can be distinguished without colour.

    A `faint` line is a guide for reading values. `label` is written at its last point inside the axes, `start` before
    its first point, and `end` after its last point.
    """

    points: tuple[tuple[float, float], ...]
    name: str
    dash: Dash = "solid"
    faint: bool = False
    label: str = ""
    start: str = ""
    end: str = ""


class Bin(Struct, frozen=True):
    """The number of shuffles with a difference from `low` to `high`. `counted` means that they are as extreme as the
    observed difference.
    """

    low: float
    high: float
    count: int
    counted: bool


class Bins(Struct, frozen=True):
    bins: tuple[Bin, ...]


class Bar(Struct, frozen=True):
    """A bar from 0 to its length, up or down, between two places of the horizontal axis."""

    low: float
    high: float
    length: float
    name: str


class Bars(Struct, frozen=True):
    bars: tuple[Bar, ...]


class Rule(Struct, frozen=True):
    """A vertical line at one place, with its label."""

    at: float
    label: str
    dash: Dash = "solid"


class Square(Struct, frozen=True):
    """The comparison of two systems, known by their places: the p-value and the verdict."""

    row: int
    column: int
    level: float
    verdict: Verdict


class Squares(Struct, frozen=True):
    squares: tuple[Square, ...]


class Shade(Struct, frozen=True):
    """How many documents a square stands for, known by its row and column, and which share of its row they are: None in
    a row without documents.
    """

    row: int
    column: int
    count: float
    share: float | None

    def level(self, levels: int) -> int:
        """Which of some equal levels its share lies in, from 1; 0 where there is nothing."""
        return min(ceil(self.share * levels), levels) if self.share else 0


class Shades(Struct, frozen=True):
    """Squares that are darker, the larger their share is."""

    shades: tuple[Shade, ...]


class Bracket(Struct, frozen=True):
    """The places of systems that do not differ significantly, and the letter that they share."""

    letter: str
    members: tuple[int, ...]


class Brackets(Struct, frozen=True):
    groups: tuple[Bracket, ...]


Mark = Points | Spans | Bands | Path | Bins | Bars | Rule | Squares | Shades | Brackets
M = TypeVar("M", Points, Spans, Bands, Path, Bins, Bars, Rule, Squares, Shades, Brackets)

# --- what marks are drawn on ------------------------------------------------------------------------------------------


class Panel(Struct, frozen=True):
    """Marks on two axes, in the order in which they are drawn. `wide` is the width in points, if the drawing does not
    choose it. A panel that is `beneath` another shares the horizontal axis of the panel before it.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    wide: float | None = None
    beneath: bool = False

    def marks_of(self, kind: type[M]) -> list[M]:
        """The marks of one kind, in order."""
        return [mark for mark in self.marks if isinstance(mark, kind)]

    def named_starts(self) -> list[tuple[str, tuple[float, float]]]:
        """The names at the start of lines, each with the first point of its line."""
        return [(path.start, path.points[0]) for path in self.marks_of(Path) if path.start]

    def named_ends(self) -> list[tuple[str, tuple[float, float]]]:
        """The names at the end of lines, each with the last point of its line."""
        return [(path.end, path.points[-1]) for path in self.marks_of(Path) if path.end]


MOST_PANELS = 24
"""A chart may not have more panels than this."""


class Chart(Struct, frozen=True):
    """A picture: what it shows (measure, test set), how it was computed (task, sample size, test), panels, a legend of
    the marks, and whether any of its data were simulated.

    `alternative` describes the picture in a sentence or two for readers who cannot see it. If `width` (in points of
    1/96 inch) and `font` are given, a picture in a file has that width and that font.
    """

    title: str
    subtitle: str
    panels: tuple[Panel, ...]
    legend: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    simulated: bool = False
    alternative: str = ""
    width: float | None = None
    font: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The whole description as plain lists and dictionaries. Each mark names its kind."""
        plain: dict[str, Any] = to_builtins(self)
        for panel, drawn in zip(self.panels, plain["panels"], strict=True):
            drawn["marks"] = [
                {"mark": type(mark).__name__.casefold(), **fields}
                for mark, fields in zip(panel.marks, drawn["marks"], strict=True)
            ]
        return plain
