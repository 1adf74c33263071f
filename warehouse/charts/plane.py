"""Systems in the plane of two measures, with the results of guessing and lines of equal F, in the form of figures 3 to
8 of Lewis and Tong (1992).
"""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Mark, Panel, Path, Point, Points, Unit
from warehouse.charts.axes import limits_of

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
