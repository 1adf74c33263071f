"""A measure against generality: its value at other generalities if fallout stays as assumed, the uncertainty of that,
the measured point, and the best system in each range.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from warehouse.charts import Axis, Bands, Dash, Mark, Panel, Path, Point, Points, Ribbon, Spans, Unit
from warehouse.charts.axes import limits

DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")

CurvePoints = tuple[tuple[float, float], ...]


class Projected(Struct, frozen=True):
    """A system: the curve and the measured point as (generality, value); the points asked for as (generality, value,
    name of the generality, empty if it was given as a number); the band of the curve as (generality, low, high); and
    the uncertainty of a point's generality as (low, high, value).
    """

    name: str
    curve: CurvePoints
    wanted: tuple[tuple[float, float, str], ...]
    measured: tuple[float, float] | None
    band: tuple[tuple[float, float, float], ...] = ()
    spans: tuple[tuple[float, float, float], ...] = ()


class BestWhere(Struct, frozen=True):
    """The generalities at which a system has the best value, and those at which it may have it."""

    name: str
    leads: Sequence[bool]
    may: Sequence[bool]


def projection(
    title: str, measure: str, unit: Unit, systems: Sequence[Projected], crossings: Sequence[tuple[float, str]] = ()
) -> Panel:
    """A panel of curves over generality. The axis is logarithmic if it spans more than a factor of five. A vertical
    line marks each of the `crossings`, which are generalities with a label.
    """
    everywhere = [
        at
        for system in systems
        for at in (
            *system.curve,
            *((x, y) for x, y, _ in system.wanted),
            *([system.measured] if system.measured else []),
        )
    ]
    heights = [y for _, y in everywhere] + [end for system in systems for _, *ends in system.band for end in ends]
    x = _generality([at for at, _ in everywhere])
    # Axes of shares end at 0 and 1. Measures that may be negative, such as MCC, have axes that go below 0.
    y = Axis(measure, unit, *limits(heights, (0.0, 1.0) if all(0 <= at <= 1 for at in heights) else None))
    marks: list[Mark] = [Bands(tuple(Ribbon(system.band, system.name) for system in systems))]
    # The label of a line is at its end and thus below the edge, each lower than the one before.
    marks += [
        Path(((at, y.low), (at, y.value(0.95 - 0.06 * place))), name, "dotted", faint=True, label=name)
        for place, (at, name) in enumerate(crossings)
    ]
    marks += [
        Path(system.curve, system.name, DASHES[place % len(DASHES)], end=system.name)
        for place, system in enumerate(systems)
    ]
    across = [(max(left, x.low), min(right, x.high), at) for system in systems for left, right, at in system.spans]
    marks += [Spans(tuple(across))] if across else []
    wanted = tuple(
        Point(x, y, f"{system.name}, {by}" if by else system.name) for system in systems for x, y, by in system.wanted
    )
    estimated = any(by for system in systems for *_, by in system.wanted)
    marks.append(Points(wanted, labelled=estimated, hollow=True))
    measured = [Point(*system.measured, system.name) for system in systems if system.measured]
    return Panel(title, x, y, (*marks, Points(tuple(measured))))


def _generality(generalities: Sequence[float]) -> Axis:
    low, high = min(generalities), max(generalities)
    log = low > 0 and high > 5 * low
    return Axis("generality", "number", *((low, high) if log else limits(generalities, (0.0, 1.0))), log=log)


def best(above: Panel, generalities: Sequence[float], systems: Sequence[BestWhere]) -> Panel:
    """A strip below the curves: one row per system, thick where its value is the best and thin where it may be."""

    def stretches(chosen: Sequence[bool], row: int) -> Iterator[tuple[float, float, float]]:
        for inside, places in groupby(range(len(generalities)), lambda place: chosen[place]):
            first, *_, last = (*places,) * 2
            if inside:
                # A range begins and ends halfway to the next point outside it.
                low, high = (max(min(at, len(generalities) - 1), 0) for at in (first - 1, last + 1))
                yield (
                    (generalities[first] + generalities[low]) / 2,
                    (generalities[last] + generalities[high]) / 2,
                    float(row),
                )

    thin = tuple(span for row, system in enumerate(systems) for span in stretches(system.may, row))
    thick = tuple(span for row, system in enumerate(systems) for span in stretches(system.leads, row))
    names = Axis("best", "name", names=tuple(system.name for system in systems))
    return Panel("", above.x, names, (Spans(thin), Spans(thick, thick=True)), above.wide, beneath=True)
