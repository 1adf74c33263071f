"""Calculates the limits and ticks of axes, and the places of names beside points.

It works with numbers only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.charts import Axis, Panel, Unit, plain

# === limits and ticks =================================================================================================

STEPS = (1.0, 2.0, 5.0)

NARROWEST = 1e-306
"""Axes are no narrower than this: parts of anything smaller have few digits, or are 0."""


def limits(
    values: Iterable[float], within: tuple[float, float] | None = None, room: float = 0.04
) -> tuple[float, float]:
    """Round limits that contain all values with some space around them, but do not exceed `within`."""
    known = list(values)
    if not known:
        return within or (0.0, 1.0)
    low, high = min(known), max(known)
    margin = max((high - low) * room, 0.005 if within else abs(high) * 0.05 or abs(low) * 0.05 or 0.5, NARROWEST)
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


def ticks_of(axis: Axis, most: int = 6) -> tuple[tuple[float, str], ...]:
    """The ticks of an axis of numbers, each with its label. Counts have whole numbers alone."""
    values = ticks(axis.low, axis.high, most, axis.log)
    return tuple((value, _label(value, axis)) for value in values if axis.unit != "count" or value % 1 == 0)


def _label(value: float, axis: Axis) -> str:
    shown = 100 * value if axis.in_percent else value
    return plain(shown, 10) if not shown or 1e-6 <= abs(shown) < 1e15 else f"{shown:.6g}"


def round_step(span: float, most: int) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that divides a span into at most this many parts."""
    if span <= 0:
        return 1.0
    power = 10.0 ** floor(log10(span / most))
    return next(step * power for step in (*STEPS, 10.0) if span / (step * power) <= most + 1e-9)


def _exactly(count: int, step: float) -> float:
    """count · step without the noise of floating point: 0.3, not 0.30000000000000004."""
    return float(f"{count * step:.12g}")


def share_axes(panels: Sequence[Panel]) -> tuple[Panel, ...]:
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


# === places of names ==================================================================================================
# Names overlap neither each other nor other points. This is the same for a terminal, whose unit is a character, and for
# a file, whose unit is a pixel.

Box = tuple[float, float, float, float]
"""Left, top, right, bottom; down is positive."""


class Label(Struct, frozen=True):
    """The left end of a name, at half its height. `far` requests a line from the point to the name."""

    x: float
    y: float
    far: bool = False


def place(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    area: tuple[float, float],
    gap: float,
    taken: Sequence[Box] = (),
    reach: Sequence[float] = (1.0, 2.5, 4.5, 7.0),
) -> list[Label | None]:
    """Finds a place for the name of each point, given the width and height of each name and of the area. The place is
    None if there is none.

    Names are placed beside their points if possible, otherwise above, below and at the corners, and then farther away.
    The point with the most neighbours chooses first, so that the hardest names are placed while there is space. `gap`
    is the distance of a name from its point; `reach` holds multiples of it that are tried in turn; `taken` holds areas
    where no name may be.
    """
    boxes: list[Box] = [(x - gap * 0.7, y - gap * 0.7, x + gap * 0.7, y + gap * 0.7) for x, y in points]
    boxes += taken
    crowd = [
        sum(abs(x - other_x) < size[0] and abs(y - other_y) < 3 * size[1] for other_x, other_y in points)
        for (x, y), size in zip(points, sizes, strict=True)
    ]
    labels: list[Label | None] = [None] * len(points)
    waiting = sorted(range(len(points)), key=lambda number: (-crowd[number], number))
    for times in reach:
        left = []
        for number in waiting:
            label = _first_free(points[number], sizes[number], area, gap * times, boxes, far=times > 2)
            if label is None:
                left.append(number)
                continue
            labels[number] = label
            boxes.append(_box(label.x, label.y, sizes[number]))
        waiting = left
    return labels


def _first_free(
    point: tuple[float, float],
    size: tuple[float, float],
    area: tuple[float, float],
    gap: float,
    boxes: Sequence[Box],
    far: bool,
) -> Label | None:
    (x, y), (width, height) = point, size
    middle, beside, across = x - width / 2, (height + gap) / 2, gap * 0.75
    for left, at in (
        (x + gap, y),
        (x - gap - width, y),
        (middle, y - beside),
        (middle, y + beside),
        (x + across, y - beside),
        (x + across, y + beside),
        (x - across - width, y - beside),
        (x - across - width, y + beside),
    ):
        box = _box(left, at, size)
        inside = box[0] >= 0 and box[1] >= 0 and box[2] <= area[0] and box[3] <= area[1]
        if inside and not any(_overlap(box, other) for other in boxes):
            return Label(left, at, far)
    return None


def _box(x: float, y: float, size: tuple[float, float]) -> Box:
    return x, y - size[1] / 2, x + size[0], y + size[1] / 2


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def spread_out(wanted: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Places from low to high, as close as possible to the desired ones but at least this far apart, for the names at
    the ends of lines. If there is not enough space, they are spaced evenly.
    """
    order = sorted(range(len(wanted)), key=lambda number: (wanted[number], number))
    if len(order) > 1 and least * (len(order) - 1) > high - low:
        least = (high - low) / (len(order) - 1)
    # Names that touch form a group around the mean of their desired places, as springs would arrange them.
    runs: list[list[int]] = []
    starts: list[float] = []
    for number in order:
        runs.append([number])
        starts.append(_start(runs[-1], wanted, least, low, high))
        while len(runs) > 1 and starts[-2] + least * len(runs[-2]) > starts[-1] + 1e-9:
            last = runs.pop()
            starts.pop()
            runs[-1] += last
            starts[-1] = _start(runs[-1], wanted, least, low, high)
    places = [0.0] * len(wanted)
    for run, start in zip(runs, starts, strict=True):
        for place_in_run, number in enumerate(run):
            places[number] = start + least * place_in_run
    return places


def _start(run: Sequence[int], wanted: Sequence[float], least: float, low: float, high: float) -> float:
    mean = sum(wanted[number] for number in run) / len(run)
    start = mean - least * (len(run) - 1) / 2
    return min(max(start, low), high - least * (len(run) - 1))
