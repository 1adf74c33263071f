"""A measure against generality: what it would be at others if fallout stays as assumed, and the measured point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.charts import Axis, Dash, Mark, Panel, Path, Point, Points, Unit
from warehouse.charts.axes import limits

DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")

CurvePoints = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Projected:
    """A system: the curve, the points asked for, and the measured one, each as (generality, value)."""

    name: str
    curve: CurvePoints
    wanted: CurvePoints
    measured: tuple[float, float] | None


def projection(title: str, measure: str, unit: Unit, systems: Sequence[Projected]) -> Panel:
    """A panel of curves over generality, which is logarithmic where it spans more than a factor of five."""
    everywhere = [
        at
        for system in systems
        for at in (*system.curve, *system.wanted, *([system.measured] if system.measured else []))
    ]
    xs = [x for x, _ in everywhere]
    log = bool(xs) and min(xs) > 0 and max(xs) > 5 * min(xs)
    x = Axis("generality", "number", *((min(xs), max(xs)) if log else limits(xs, (0.0, 1.0))), log=log)
    y = Axis(measure, unit, *limits([value for _, value in everywhere], (0.0, 1.0)))
    marks: list[Mark] = [
        Path(system.curve, system.name, DASHES[place % len(DASHES)], end=system.name)
        for place, system in enumerate(systems)
    ]
    marks.append(Points(tuple(Point(*at, system.name) for system in systems for at in system.wanted), hollow=True))
    measured = [Point(*system.measured, system.name) for system in systems if system.measured]
    return Panel(title, x, y, (*marks, Points(tuple(measured))))
