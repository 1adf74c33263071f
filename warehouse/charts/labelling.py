"""Places names beside their points so that names overlap neither each other nor other points.

This is geometry only. It is the same for a terminal, whose unit is a character, and for a file, whose unit is a pixel.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

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
