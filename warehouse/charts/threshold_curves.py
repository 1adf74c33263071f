"""Curves over confidence thresholds with their bands, and the systems' own decisions as points."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warehouse.charts import Axis, Bands, Dash, Mark, Panel, Path, Point, Points, Ribbon, Unit
from warehouse.charts.axes import limits, limits_of

DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")

MOST_BANDS = 4
"""With more systems than this, the bands would hide one another."""


class ThresholdCurve(Struct, frozen=True):
    """A system: its curve as (x, y), its band as (x, low, high), and its own decisions and its best threshold as (x,
    y). A system without confidences has only decisions.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...]
    own: tuple[float, float] | None
    best: tuple[float, float] | None = None


def threshold_curves(
    title: str, across: tuple[str, Unit] | None, up: tuple[str, Unit], systems: Sequence[ThresholdCurve]
) -> Panel:
    """A panel of curves of one measure against another, or against the threshold if the other is None."""
    drawn = [system for system in systems if system.points]
    banded = drawn if len(drawn) <= MOST_BANDS else []
    owns = [system.own for system in systems if system.own is not None]
    xs = [x for system in drawn for x, _ in system.points] + [x for x, _ in owns]
    ys = [y for system in drawn for _, y in system.points] + [y for _, y in owns]
    ys += [end for system in banded for _, low, high in system.band for end in (low, high)]
    x = Axis("threshold", "number", *limits(xs)) if across is None else Axis(*across, *limits_of(across[1], xs))
    marks: list[Mark] = []
    if banded:
        marks.append(Bands(tuple(Ribbon(system.band, system.name) for system in banded)))
    # Curves begin and end at the same places, so their names are written beside the points on them.
    marks += [Path(system.points, system.name, DASHES[place % len(DASHES)]) for place, system in enumerate(drawn)]
    own = tuple(Point(*system.own, system.name) for system in systems if system.own is not None)
    best = tuple(Point(*system.best, f"{system.name}, best") for system in drawn if system.best is not None)
    marks += [Points(own, labelled=True), Points(best, labelled=True, hollow=True)]
    return Panel(title, x, Axis(*up, *limits_of(up[1], ys)), tuple(marks))
