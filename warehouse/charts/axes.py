"""Calculates the limits of an axis and the places of its ticks. It works with numbers only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10

from msgspec.structs import replace

from warehouse.charts import Panel, Unit

STEPS = (1.0, 2.0, 5.0)


def limits(
    values: Iterable[float], within: tuple[float, float] | None = None, room: float = 0.04
) -> tuple[float, float]:
    """Round limits that contain all values with some space around them, but do not exceed `within`."""
    known = list(values)
    if not known:
        return within or (0.0, 1.0)
    low, high = min(known), max(known)
    margin = max((high - low) * room, 0.005 if within else abs(high) * 0.05 or abs(low) * 0.05 or 0.5)
    low, high = low - margin, high + margin
    if within:
        low, high = max(low, within[0]), min(high, within[1])
    step = round_step(high - low, 16)
    low, high = _exactly(floor(low / step + 1e-9), step), _exactly(ceil(high / step - 1e-9), step)
    return low, high


def limits_of(unit: Unit, values: Sequence[float], room: float = 0.04) -> tuple[float, float]:
    """Limits for values of a unit. If proportions lie between 0 and 1, as nearly all do, so does their axis."""
    within = unit == "proportion" and all(0 <= value <= 1 for value in values)
    return limits(values, (0.0, 1.0) if within else None, room)


def ticks(low: float, high: float, most: int = 6, log: bool = False) -> tuple[float, ...]:
    """Round numbers from low to high, at most this many. On a logarithmic axis they are 1, 2 and 5 times powers
    of ten.
    """
    if log:
        powers = range(floor(log10(low)) - 1, ceil(log10(high)) + 1)
        candidates = [_exactly(int(step), 10.0**power) for power in powers for step in STEPS]
        inside = [tick for tick in candidates if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        tens = [tick for tick in inside if abs(log10(tick) - round(log10(tick))) < 1e-9]
        return tuple(inside if len(inside) <= most or len(tens) < 2 else tens)
    step = round_step(high - low, most)
    return tuple(_exactly(place, step) for place in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1))


def round_step(span: float, most: int) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that divides a span into at most this many parts."""
    if span <= 0:
        return 1.0
    power = 10.0 ** floor(log10(span / most))
    return next(step * power for step in (*STEPS, 10.0) if span / (step * power) <= most + 1e-9)


def _exactly(count: int, step: float) -> float:
    """count · step without the noise of floating point: 0.3, not 0.30000000000000004."""
    return float(f"{count * step:.12g}")


def shared(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Panels of rows of names. Panels with the same measure get the same axis limits, so that readers can compare them
    by eye.
    """

    def alike(panel: Panel) -> tuple[object, ...] | None:
        return (panel.x.title, panel.x.unit, panel.x.log) if panel.y.nominal and not panel.x.nominal else None

    ends: dict[tuple[object, ...], tuple[float, float]] = {}
    for panel in panels:
        if key := alike(panel):
            low, high = ends.get(key, (panel.x.low, panel.x.high))
            ends[key] = min(low, panel.x.low), max(high, panel.x.high)

    def on_common(panel: Panel) -> Panel:
        key = alike(panel)
        if key is None:
            return panel
        low, high = ends[key]
        return replace(panel, x=replace(panel.x, low=low, high=high))

    return tuple(map(on_common, panels))
