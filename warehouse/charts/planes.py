"""Charts of two measures, of all pairs of systems, and of documents as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalhouse.warehouse.charts import (
    Axis,
    Bar,
    Bars,
    Mark,
    Panel,
    Path,
    Point,
    Points,
    Rule,
    Shade,
    Shades,
    Spans,
    Square,
    Squares,
    Unit,
)
from evalhouse.warehouse.charts.axes import limits, limits_of
from evalhouse.warehouse.significance.shuffles.sequential import Verdict

# === planes of two measures ===========================================================================================
# With the results of guessing and lines of equal F, in the form of figures 3 to 8 of Lewis and Tong (1992).

EQUAL_F = tuple(tenth / 10 for tenth in range(1, 10))
MARKED_SHARES = (0.25, 0.5, 0.75)
"""The shares judged relevant at random that are marked on the line of guessing. A share of 1 is allrel."""


def plane(
    title: str,
    measures: tuple[str, str],
    units: tuple[Unit, Unit],
    systems: Sequence[tuple[str, float, float]],
    computed: Sequence[str] = (),
    guessing: Sequence[tuple[float, float, float]] = (),
    equal_f: bool = False,
) -> Panel:
    """A panel of (name, x, y). `guessing` has (share, x, y) along the line of guessing. `equal_f` requests the lines of
    equal F in a plane of recall and precision.
    """
    xs, ys = [x for _, x, _ in systems], [y for _, _, y in systems]
    x = _axis(measures[0], units[0], xs)
    # Guessing is the baseline for every system, so it is always visible.
    y = _axis(measures[1], units[1], [*ys, *(at for _, at_x, at in guessing if x.low <= at_x <= x.high)])
    marks: list[Mark] = []
    if equal_f:
        marks += [path for path in (_equal_f(value, x, y) for value in EQUAL_F) if len(path.points) > 1]
    if guessing:
        marks.append(Path(tuple((at_x, at_y) for _, at_x, at_y in guessing), "guessing", "dashed"))
        marked = [
            (share, at_x, at_y)
            for share, at_x, at_y in guessing
            if share in MARKED_SHARES and x.low <= at_x <= x.high and y.low <= at_y <= y.high
        ]
        marks.append(Points(tuple(Point(at_x, at_y, f"s={share:g}") for share, at_x, at_y in marked), True, True))
    points = [Point(at_x, at_y, name) for name, at_x, at_y in systems]
    marks.append(Points(tuple(point for point in points if point.name not in computed), labelled=True))
    if computed:
        marks.append(Points(tuple(point for point in points if point.name in computed), labelled=True, hollow=True))
    return Panel(title, x, y, tuple(marks))


def _axis(measure: str, unit: Unit, values: Sequence[float]) -> Axis:
    return Axis(measure, unit, *limits_of(unit, values, room=0.08))


def _equal_f(value: float, x: Axis, y: Axis) -> Path:
    """The line where 2·P·R / (P + R) is `value`, inside the axes: P = F·R / (2R − F). Exchanging P and R gives the same
    line.
    """
    steps = 160
    points = []
    for step in range(steps + 1):
        at = x.low + (x.high - x.low) * step / steps
        if 2 * at > value:
            other = value * at / (2 * at - value)
            if y.low <= other <= y.high:
                points.append((at, other))
    return Path(tuple(points), f"F = {100 * value:.0f}", "dotted", faint=True, label=f"F {100 * value:.0f}")


# === every system against every other =================================================================================
# The p-value and the verdict, in the form of figures 3 to 6 of Chinchor (1992).


def matrix(title: str, ranked: Sequence[str], levels: Mapping[frozenset[str], tuple[float, Verdict]]) -> Panel:
    """A panel of the pairs of ranked systems, with the better system of each pair at the top."""
    squares = []
    for row, lower in enumerate(ranked):
        for column, upper in enumerate(ranked[:row]):
            level_and_verdict = levels.get(frozenset((lower, upper)))
            if level_and_verdict:
                squares.append(Square(row, column, *level_and_verdict))
    names = tuple(ranked)
    return Panel(title, Axis("", "name", names=names), Axis("system", "name", names=names), (Squares(tuple(squares)),))


# === classes of the key against classes answered ======================================================================


def confusion(
    title: str,
    gold: Sequence[str],
    answers: Sequence[str],
    counted: Mapping[tuple[str, str], tuple[float, float | None]],
) -> Panel:
    """A panel with a line for each class of the key and a column for each answer. `counted` has the number of documents
    of both, and their share of the class.
    """
    shades = tuple(
        Shade(row, column, *counted[name, said])
        for row, name in enumerate(gold)
        for column, said in enumerate(answers)
        if (name, said) in counted
    )
    across, down = Axis("answer", "name", names=tuple(answers)), Axis("gold", "name", names=tuple(gold))
    return Panel(title, across, down, (Shades(shades),))


# === sorted bars ======================================================================================================
# One bar per document, sorted by length: one below the other with names if there are few, otherwise side by side.

NAMED = 40
"""Up to this many bars are drawn below one another, each with its name."""

MOST_BARS = 400
"""If there are more bars than this, neighbouring bars are merged into one, which has their average height."""


def together(count: int) -> int:
    """How many neighbouring bars are merged into one."""
    return -(-count // MOST_BARS)


def sorted_bars(title: str, measure: str, noun: str, unit: Unit, lengths: Sequence[tuple[str, float]]) -> Panel:
    """A panel of bars from 0 to the length given with each name, in the order given."""
    if len(lengths) <= NAMED:
        left, right = limits([0.0, *(length for _, length in lengths)])
        spans = tuple((min(0.0, length), max(0.0, length), float(row)) for row, (_, length) in enumerate(lengths))
        dots = tuple(Point(length, float(row), name) for row, (name, length) in enumerate(lengths))
        names = tuple(name for name, _ in lengths)
        marks = (Rule(0.0, "", "dashed"), Spans(spans), Points(dots))
        return Panel(title, Axis(measure, unit, left, right), Axis(noun, "name", names=names), marks)
    step = together(len(lengths))
    bars = []
    for start in range(0, len(lengths), step):
        some = lengths[start : start + step]
        name = some[0][0] if len(some) == 1 else f"{some[0][0]} and {len(some) - 1:,} more"
        bars.append(Bar(float(start), float(start + len(some)), sum(length for _, length in some) / len(some), name))
    low, high = limits([0.0, *(bar.length for bar in bars)])
    across, up = Axis(noun, "count", 0.0, float(len(lengths))), Axis(measure, unit, low, high)
    return Panel(title, across, up, (Bars(tuple(bars)),))
