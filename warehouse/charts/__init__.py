"""Pictures as data: panels of marks on two axes, with their titles and notes. Each module builds one form of panel.

Numbers and texts only. What a mark looks like on a terminal or in a file is the business of rendering; where the
numbers come from is the business of queries. Names are as they are stored: whoever draws them makes them safe.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import exp, log
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from warehouse.significance.shuffles.confidence import Verdict

Unit = Literal["proportion", "difference", "number", "probability", "count", "name"]
"""What the numbers along an axis are. Proportions and differences of them are shown times 100; on an axis of names a
number is the place of a name, from 0.
"""

IN_PERCENT = ("proportion", "difference")

Dash = Literal["solid", "dashed", "dotted"]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`; one of names has no numbers of its own. Names on a vertical axis go down."""

    title: str
    unit: Unit
    low: float = 0.0
    high: float = 1.0
    names: tuple[str, ...] = ()
    log: bool = False

    @property
    def nominal(self) -> bool:
        """Whether names stand along it."""
        return self.unit == "name"

    @property
    def in_percent(self) -> bool:
        """Whether its numbers are shown times 100."""
        return self.unit in IN_PERCENT

    @property
    def label(self) -> str:
        """Its title, and the unit of its numbers."""
        return f"{self.title} (%)" if self.in_percent else self.title

    def share(self, value: float) -> float:
        """How far along the axis a value is, from 0 to 1; a name is in the middle of its part."""
        if self.nominal:
            return (value + 0.5) / len(self.names)
        if self.log:
            return (log(value) - log(self.low)) / (log(self.high) - log(self.low))
        return (value - self.low) / (self.high - self.low)

    def value(self, share: float) -> float:
        """The value so far along the axis."""
        if self.nominal:
            return share * len(self.names) - 0.5
        if self.log:
            return exp(log(self.low) + share * (log(self.high) - log(self.low)))
        return self.low + share * (self.high - self.low)

    def holds(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        return self.nominal or self.low <= value <= self.high


def written(value: float, unit: Unit) -> str:
    """A number in a sentence."""
    return f"{100 * value:.2f}" if unit in IN_PERCENT else f"{value:.4g}"


def p_written(p: float) -> str:
    """A p-value in a sentence; it is never 0."""
    return f"p = {p:.4f}" if p >= 0.0001 else "p < .0001"


# --- marks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float
    name: str
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """Measured points. `labelled` asks for the name beside each; `hollow` points are computed and not measured."""

    points: tuple[Point, ...]
    labelled: bool = False
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Spans:
    """Intervals along the horizontal axis: (low, high, place on the vertical axis). `thick` ones stand out."""

    spans: tuple[tuple[float, float, float], ...]
    thick: bool = False


@dataclass(frozen=True, slots=True)
class Ribbon:
    """Around a line: (x, low, high), in the order of x, each x once."""

    around: tuple[tuple[float, float, float], ...]
    name: str


@dataclass(frozen=True, slots=True)
class Bands:
    """What is shaded around the first lines of a panel, in their order."""

    ribbons: tuple[Ribbon, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A line through points, dashed so that lines are told apart without colour.

    A `faint` one is there to read values from. `label` stands at its last point inside the axes, `start` and `end`
    before its first and behind its last.
    """

    points: tuple[tuple[float, float], ...]
    name: str
    dash: Dash = "solid"
    faint: bool = False
    label: str = ""
    start: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Bin:
    """How many shuffles have a difference from `low` to `high`; `counted` says that they are as extreme as observed."""

    low: float
    high: float
    count: int
    counted: bool


@dataclass(frozen=True, slots=True)
class Bins:
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from 0 to its length, up or down, between two places of the horizontal axis."""

    low: float
    high: float
    length: float
    name: str


@dataclass(frozen=True, slots=True)
class Bars:
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A vertical line at one place, with what it says."""

    at: float
    label: str
    dash: Dash = "solid"


@dataclass(frozen=True, slots=True)
class Square:
    """What a comparison of two says, by their places: the level, and what follows from it."""

    row: int
    column: int
    level: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Squares:
    squares: tuple[Square, ...]


@dataclass(frozen=True, slots=True)
class Bracket:
    """The places of systems that are not told apart, and the letter that stands for them."""

    letter: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Brackets:
    groups: tuple[Bracket, ...]


Mark = Points | Spans | Bands | Path | Bins | Bars | Rule | Squares | Brackets
M = TypeVar("M", Points, Spans, Bands, Path, Bins, Bars, Rule, Squares, Brackets)

# --- what they stand on -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Panel:
    """Marks on two axes, in the order in which they are drawn; `wide`, in points, where that is not left to the
    drawing. One that stands `beneath` has the horizontal axis of the panel before it.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    wide: float | None = None
    beneath: bool = False

    def marks_of(self, kind: type[M]) -> list[M]:
        """The marks of a kind, in their order."""
        return [mark for mark in self.marks if isinstance(mark, kind)]

    def named_starts(self) -> list[tuple[str, tuple[float, float]]]:
        """The names before lines, each with the first point of its line."""
        return [(path.start, path.points[0]) for path in self.marks_of(Path) if path.start]

    def named_ends(self) -> list[tuple[str, tuple[float, float]]]:
        """The names behind lines, each with the last point of its line."""
        return [(path.end, path.points[-1]) for path in self.marks_of(Path) if path.end]


MOST_PANELS = 24
"""More panels than this are no picture."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture: what it shows (measure, test set), how it was got (task, sample size, test), panels, a legend of what
    the marks mean, and whether anything in it was simulated.

    `alternative` says in a sentence or two what there is to see, for who cannot see it. A picture in a file is as wide
    as `width`, in points of 1/96 inch, and its letters are those of `font`, where they were asked for.
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
        """The whole description as plain lists and dictionaries; each mark says of which kind it is."""
        plain = asdict(self)
        for panel, drawn in zip(self.panels, plain["panels"], strict=True):
            drawn["marks"] = [
                {"mark": type(mark).__name__.casefold(), **fields}
                for mark, fields in zip(panel.marks, drawn["marks"], strict=True)
            ]
        return plain
