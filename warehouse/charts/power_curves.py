"""Power against the number of documents: one curve per difference, and the number of documents that there are."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warehouse.charts import Axis, Dash, Mark, Panel, Path, Point, Points

DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")


class PowerCurve(Struct, frozen=True):
    """The probability that a difference is detected, as (documents, power)."""

    name: str
    points: tuple[tuple[float, float], ...]


def power_curves(title: str, noun: str, curves: Sequence[PowerCurve], there: int, wanted: float) -> Panel:
    """A panel of curves over the number of documents, on a logarithmic axis, with the desired power as a faint line."""
    numbers = [x for curve in curves for x, _ in curve.points] + [float(there)]
    # Leave some space on either side, so that no line is drawn on the edge.
    x = Axis(noun, "count", 0.8 * min(numbers), 1.25 * max(numbers), log=True)
    marks: list[Mark] = [
        Path(((x.low, wanted), (x.high, wanted)), "wanted", faint=True),
        Path(((there, 1.0), (there, 0.0)), f"there are {there:,}", "dotted", faint=True),
        *(
            Path(curve.points, curve.name, DASHES[place % len(DASHES)], end=curve.name)
            for place, curve in enumerate(curves)
        ),
        Points(tuple(Point(*at, curve.name) for curve in curves for at in curve.points), hollow=True),
    ]
    return Panel(title, x, Axis("power", "proportion", 0.0, 1.0), tuple(marks))
