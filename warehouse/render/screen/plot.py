"""Draws points and lines on two axes on a terminal: planes of two measures, slopes and curves."""

from __future__ import annotations

from itertools import pairwise
from math import ceil

from rich.text import Text

from warehouse.charts import Bands, Bars, Panel, Path, Point, Points, Spans, written
from warehouse.charts.labelling import place, spread_out
from warehouse.render.panels import middle
from warehouse.render.screen.canvas import Canvas, marked, tick_line
from warehouse.render.style import Style, clean, width

ROWS = 18
SCALE = 7
"""The columns for the numbers beside the axis."""
MOST = 100
LONGEST = 20
"""The maximum length of names at the ends of lines."""

_DASHES = {"solid": (1, 0), "dashed": (4, 3), "dotted": (1, 3)}


def plot(panel: Panel, style: Style) -> list[Text]:
    """The plane with its ticks. Names that do not fit are listed in a line below, with their values."""
    paths = panel.marks_of(Path)
    starts, ends = (
        [middle(clean(name), LONGEST) for name, _ in named] for named in (panel.named_starts(), panel.named_ends())
    )
    rows = max(ROWS, min(len(ends) + 1, 40))
    before = max(map(width, starts), default=0) + (1 if starts else 0)
    behind = max(map(width, ends), default=0) + (1 if ends else 0)
    columns = max(20, min(style.width, MOST) - SCALE - 1 - before - behind)
    canvas = Canvas(columns, rows)
    for bars in panel.marks_of(Bars):
        _bars(bars, panel, canvas)
    for bands in panel.marks_of(Bands):
        _bands(bands, panel, canvas)
    for path in paths:
        _path(path, panel, canvas)
    for mark in panel.marks_of(Spans):
        for low, high, at in mark.spans:
            _path(Path(((low, at), (high, at)), "interval", "dashed"), panel, canvas)
    left_out = _points(panel, canvas)
    for path in paths:
        column, row = _label_of(path, _share(*path.points[-1], panel), canvas)
        if path.label and canvas.free(column, row, width(path.label)):
            canvas.text(column, row, path.label, "dim")
    lines = _framed(panel, canvas, before, behind)
    title = f"{panel.y.label} against {panel.x.label}" if not panel.x.nominal else panel.y.label
    below = []
    if left_out:
        x, y = panel.x.unit, panel.y.unit
        named = ", ".join(f"{clean(at.name)} ({written(at.x, x)}, {written(at.y, y)})" for at in left_out)
        below.append(Text(f"not named above: {named}", "dim"))
    if panel.x.nominal:
        names = Canvas(before + SCALE + 1 + columns, 1)
        for number, name in enumerate(panel.x.names):
            text = clean(name)
            names.text(before + SCALE + 1 + (0 if number == 0 else columns - width(text)), 0, text, "bold")
        return [Text(title, "dim"), *lines, names.line_of(0), *below]
    return [Text(title, "dim"), *lines, tick_line(panel.x, columns, before + SCALE + 1), *below]


def _share(x: float, y: float, panel: Panel) -> tuple[float, float]:
    """A position from the left and from the top, from 0 to 1. Lines between names go from edge to edge."""
    across = x / max(len(panel.x.names) - 1, 1) if panel.x.nominal else panel.x.share(x)
    return across, 1 - panel.y.share(y)


def _bars(bars: Bars, panel: Panel, canvas: Canvas) -> None:
    """Draws each bar as dots from its end to the line of 0."""
    ground = 1 - panel.y.share(0.0)
    for dot in range(canvas.columns * 2):
        at = panel.x.value((dot + 0.5) / (canvas.columns * 2))
        bar = next((bar for bar in bars.bars if bar.low <= at < bar.high), None)
        end = ground if bar is None else 1 - panel.y.share(bar.length)
        steps = max(1, ceil(abs(end - ground) * canvas.rows * 8))
        for step in range(steps):
            canvas.dot((dot + 0.5) / (canvas.columns * 2), ground + (end - ground) * step / steps, "cyan")


def _bands(bands: Bands, panel: Panel, canvas: Canvas) -> None:
    """Draws the edges of shaded areas as faint, widely spaced dots."""
    for ribbon in bands.ribbons:
        for edge in (1, 2):
            points = tuple((part[0], part[edge]) for part in ribbon.around)
            _path(Path(points, ribbon.name, "dotted", faint=True), panel, canvas)


def _path(path: Path, panel: Panel, canvas: Canvas) -> None:
    on, off = _DASHES[path.dash]
    look = "dim" if path.faint else ""
    inside = [_share(x, y, panel) for x, y in path.points]
    # One line from end to end, so that the dashes do not restart at each point.
    done = 0
    for start, end in pairwise(inside):
        steps = int(max(abs(end[0] - start[0]) * canvas.columns * 2, abs(end[1] - start[1]) * canvas.rows * 4)) + 1
        for step in range(steps):
            if (done + step) % (on + off) < on:
                share = step / steps
                canvas.dot(start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share, look)
        done += steps


def _label_of(path: Path, end: tuple[float, float], canvas: Canvas) -> tuple[int, int]:
    """The start of a line's label, placed so that the label ends with the line."""
    column = int(end[0] * canvas.columns) - width(path.label) - 1
    return max(column, 0), min(int(end[1] * canvas.rows), canvas.rows - 1)


def _points(panel: Panel, canvas: Canvas) -> list[Point]:
    """Draws points and their names, and returns the measured points whose names did not fit."""
    named: list[tuple[Point, Points, tuple[int, int]]] = []
    for mark in panel.marks_of(Points):
        for point in mark.points:
            if not (panel.x.holds(point.x) and panel.y.holds(point.y)):
                continue
            x, y = _share(point.x, point.y, panel)
            at = min(int(x * canvas.columns), canvas.columns - 1), min(int(y * canvas.rows), canvas.rows - 1)
            canvas.point(*at, hollow=mark.hollow)
            if mark.labelled:
                named.append((point, mark, at))
    texts = [middle(clean(point.name), LONGEST) for point, _, _ in named]
    centres = [(column + 0.5, row + 0.5) for _, _, (column, row) in named]
    area = (float(canvas.columns) + 0.5, float(canvas.rows))
    taken = []
    for path in (path for path in panel.marks_of(Path) if path.label):
        column, row = _label_of(path, _share(*path.points[-1], panel), canvas)
        taken.append((column + 0.5, float(row), column + width(path.label) + 0.5, row + 1.0))
    sizes = [(float(width(text)), 1.0) for text in texts]
    placed = place(centres, sizes, area, 1.0, taken, reach=(1.0, 2.0))
    left_out = []
    for (point, mark, _), text, label in zip(named, texts, placed, strict=True):
        if label is not None:
            canvas.text(int(label.x - 0.5), int(label.y), text, "dim" if mark.hollow else "")
        elif not mark.hollow:
            left_out.append(point)
    return left_out


def _framed(panel: Panel, canvas: Canvas, before: int, behind: int) -> list[Text]:
    """The rows of a canvas with the numbers of the vertical axis, and the names at both ends of its lines."""
    numbers = {
        min(int((1 - panel.y.share(value)) * canvas.rows), canvas.rows - 1): text
        for value, text in marked(panel.y, canvas.rows // 3)
    }
    sides = []
    for named in (panel.named_starts(), panel.named_ends()):
        names: dict[int, str] = {}
        wanted = [_share(*point, panel)[1] * canvas.rows for _, point in named]
        # Sorted by row, a whole number: rounding must not put two names into the same row.
        for (name, _), place_of_name in zip(named, spread_out(wanted, 1.0, 0.0, canvas.rows - 1.0), strict=True):
            at = int(place_of_name + 1e-9)
            while at in names and at < canvas.rows - 1:
                at += 1
            names[at] = middle(clean(name), LONGEST)
        sides.append(names)
    lines = []
    for row, line in enumerate(canvas.lines()):
        start, end = (side.get(row, "") for side in sides)
        text = Text(f"{numbers.get(row, ''):>{SCALE}}", "dim")
        if before:
            text.append(" " * (before - width(start)) + start, "")
        text.append("│" if not before else " ", "dim").append_text(line)
        lines.append(text.append(f" {end}" if behind else ""))
    return lines
