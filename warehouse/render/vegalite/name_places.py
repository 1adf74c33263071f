"""Places names beside points and at the ends of lines in Vega-Lite, so that no two names overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from warehouse.charts import Panel, Path, Points
from warehouse.charts import labelling as geometry
from warehouse.charts.labelling import Box, spread_out
from warehouse.render.style import clean
from warehouse.render.vegalite.frame import Pixels, layer, pixel, place, size
from warehouse.render.vegalite.looks import BESIDE, FAINT, GREY, INK, LINE, SIZE, Spec, extent, in_words, short

WORDS = {"field": "text", "type": "nominal"}
GAP = 7.0
"""Points between a name and its point."""

DOT = 4.0
"""The radius of a point, with a small margin."""


def beside_points(panel: Panel) -> list[Spec]:
    """The names of labelled points. A name that does not fit appears only in the tooltip."""
    marks = [mark for mark in panel.marks_of(Points) if mark.labelled]
    labelled = [(point, mark) for mark in marks for point in mark.points]
    if not labelled:
        return []
    wide, high = size(panel)
    pixels = [pixel(point.x, point.y, panel) for point, _ in labelled]
    texts = [short(point.name) for point, _ in labelled]
    sizes = [(extent(text) + 2, SIZE * LINE) for text in texts]
    # Names may extend to the right of the axes, where nothing else is drawn.
    placed = geometry.place(pixels, sizes, (wide + BESIDE, high), GAP, _taken(panel))
    lines, names = [], []
    for point, text, label, (_, mark) in zip(pixels, texts, placed, labelled, strict=True):
        if label is None:
            continue
        x, y = place(label.x, label.y, panel)
        names.append({"x": x, "y": y, "text": text, "ink": GREY if mark.hollow else INK})
        if label.far:
            near = label.x if label.x > point[0] else min(label.x + extent(text), point[0])
            (from_x, from_y), (to_x, to_y) = place(*point, panel), place(near, label.y, panel)
            lines.append({"x": from_x, "y": from_y, "x2": to_x, "y2": to_y})
    ink = {"field": "ink", "type": "nominal", "scale": None}
    text_mark = {"type": "text", "align": "left", "baseline": "middle", "clip": False}
    drawn = [layer(lines, {"type": "rule", "color": FAINT, "clip": False}, panel)] if lines else []
    return [*drawn, layer(names, text_mark, panel, text=WORDS, color=ink)] if names else drawn


def _taken(panel: Panel) -> list[Box]:
    """The areas of lines and of their labels, where names must not be placed."""
    boxes = []
    for path in panel.marks_of(Path):
        pixels = [pixel(x, y, panel) for x, y in path.points]
        if not path.faint:
            boxes += [(x - 3, y - 3, x + 3, y + 3) for x, y in _along(pixels)]
        if path.label and pixels:
            boxes.append(_above(path, panel))
    return boxes


def on_lines(paths: Sequence[Path], panel: Panel) -> Spec | None:
    """The labels at the ends of lines inside the axes, except where a point is."""
    points = [pixel(point.x, point.y, panel) for mark in panel.marks_of(Points) for point in mark.points]
    free = []
    for path in paths:
        if path.label and path.points:
            left, top, right, bottom = _above(path, panel)
            if not any(left - DOT < x < right + DOT and top - DOT < y < bottom + DOT for x, y in points):
                free.append({"x": path.points[-1][0], "y": path.points[-1][1], "text": clean(path.label)})
    text = {"type": "text", "align": "right", "dy": -5, "dx": -2, "fontSize": 9, "color": GREY}
    return layer(free, text, panel, text=WORDS) if free else None


def _above(path: Path, panel: Panel) -> Box:
    """A label's place above its line."""
    x, y = pixel(*path.points[-1], panel)
    return x - len(path.label) * 6, y - 11, x, y


def _along(pixels: Sequence[Pixels]) -> Iterator[Pixels]:
    """Places along a line, each only a few points from the next."""
    for (x, y), (to_x, to_y) in pairwise(pixels):
        steps = int(max(abs(to_x - x), abs(to_y - y)) // 5) + 1
        for step in range(steps):
            yield x + (to_x - x) * step / steps, y + (to_y - y) * step / steps


def at_ends(panel: Panel) -> list[Spec]:
    """The names at the start and the end of lines, moved apart where they would overlap."""
    drawn: list[Spec] = []
    high = size(panel)[1]
    for named, away in ((panel.named_starts(), -1), (panel.named_ends(), 1)):
        if not named:
            continue
        edge = pixel(*named[0][1], panel)[0]
        wanted = [pixel(*point, panel)[1] for _, point in named]
        stands = spread_out(wanted, SIZE * LINE, 0, high)
        text = {"type": "text", "align": "left" if away > 0 else "right", "baseline": "middle", "clip": False}
        if panel.x.nominal:
            # The value is written beside the name, so the two need no connecting line.
            names: list[Spec] = [
                {"y": place(0, to, panel)[1], "text": f"{short(name)} {in_words(y, panel.y)}"}
                for (name, (_, y)), to in zip(named, stands, strict=True)
            ]
            drawn.append(layer(names, {**text, "x": edge + away * 8}, panel, across=None, text=WORDS))
            continue
        names, lines = [], []
        for (name, _), at, to in zip(named, wanted, stands, strict=True):
            (from_x, from_y), (to_x, to_y) = place(edge + away * 8, at, panel), place(edge + away * 18, to, panel)
            lines.append({"x": from_x, "y": from_y, "x2": to_x, "y2": to_y})
            names.append({"x": to_x, "y": to_y, "text": short(name)})
        drawn.append(layer(lines, {"type": "rule", "color": FAINT, "clip": False}, panel))
        drawn.append(layer(names, {**text, "dx": away * 3}, panel, text=WORDS))
    return drawn
