"""Draws the marks of a chart in Vega-Lite: their looks, axes and layers, and the places of names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from evalhouse.warehouse.charts import (
    Axis,
    Bands,
    Bars,
    Bins,
    Bracket,
    Panel,
    Path,
    Point,
    Points,
    Rule,
    Shades,
    Spans,
    Squares,
    axes,
    format_value,
    plain,
)
from evalhouse.warehouse.charts.axes import Box, spread_out, ticks_of
from evalhouse.warehouse.render.style import cell, clean, width
from evalhouse.warehouse.results import as_json

# === colours, sizes and wording =======================================================================================
# Those of pictures that are written as files.

Spec = dict[str, Any]
"""A part of a description in Vega-Lite."""

# Colours that everyone can distinguish (Okabe & Ito 2008) and that differ in lightness when printed.
BLUE, ORANGE, VERMILION, INK, GREY, FAINT = "#0072B2", "#E69F00", "#D55E00", "#222222", "#767676", "#BBBBBB"
LINES = (BLUE, VERMILION, "#009E73", "#CC79A7", INK, ORANGE)
DASHES = {"solid": [1, 0], "dashed": [6, 4], "dotted": [2, 3]}

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SIZE = 11
"""The size of letters in points. A letter is assumed to be LETTER times as wide."""
LETTER = 0.64
LINE_HEIGHT = 1.15
"""The height of a line of text, relative to the size of its letters."""

ROW = 20
WIDE, HIGH = 460.0, 400.0
SQUARE = 30
SHADE = 44
"""How wide a square with the number of its documents is."""
BESIDE = 60
"""How far names may reach beyond the right end of the axes."""

MOST_NAME = 40
"""Longer names are shortened in the middle. The tooltip shows them in full."""


def short(name: str) -> str:
    """A name as it is shown, shortened if it is too long."""
    name = clean(name)
    half = MOST_NAME // 2
    return name if len(name) <= MOST_NAME else f"{name[:half]}…{name[-half:]}"


def distinct(names: Sequence[str]) -> list[str]:
    """The names as they are shown, each unique: names that look the same are numbered."""
    distinct_names: dict[str, None] = {}
    for name in names:
        shown, times = short(name), 1
        while shown in distinct_names:
            times += 1
            shown = f"{short(name)} ({times})"
        distinct_names[shown] = None
    return list(distinct_names)


def extent(text: str) -> float:
    """The approximate width of a text in points."""
    return width(text) * SIZE * LETTER


def in_words(value: float, axis: Axis) -> str:
    """A number on an axis, written in words."""
    return clean(axis.names[round(value)]) if axis.nominal else format_value(value, axis.unit)


# === axes and layers ==================================================================================================

Pixels = tuple[float, float]


def size(panel: Panel) -> Pixels:
    """The width and height of the axes of a panel, in points."""
    if panel.marks_of(Squares):
        side = float(SQUARE * len(panel.y.names))
        return side, side
    if panel.marks_of(Shades):
        return float(SHADE * len(panel.x.names)), float(SQUARE * len(panel.y.names))
    wide = WIDE if panel.wide is None else panel.wide
    if panel.y.nominal:
        return wide if panel.beneath else wide - 60.0, float(ROW * len(panel.y.names))
    high = HIGH * (0.65 if panel.marks_of(Bins) else 1.0)
    return wide, high if wide >= WIDE else high * max(wide / WIDE, 0.6)


def layer(values: Sequence[Spec], mark: Spec, panel: Panel, across: Any = "x", **encoding: Any) -> Spec:
    """A layer of marks at given x and y, up to x2 and y2. `across` is None if the mark itself says where it is placed
    horizontally. What is `spoken` of a mark is in its row; otherwise nothing is, because Vega would read out numbers
    without their unit, and colours.
    """
    both: Spec = {"y": {"field": "y", **channel(panel.y, across=False)}}
    if across is not None:
        both["x"] = {"field": "x", **channel(panel.x, across=True)}
    both |= {end: {"field": end} for end in ("x2", "y2") if any(end in row for row in values)}
    is_spoken = any("spoken" in row for row in values)
    if is_spoken:
        both["description"] = {"field": "spoken", "type": "nominal"}
    looks = {"clip": True, "aria": is_spoken, **mark}
    return {"data": {"values": list(values)}, "mark": looks, "encoding": {**both, **encoding}}


def channel(axis: Axis, across: bool) -> Spec:
    """An axis in Vega-Lite, either of names or of numbers."""
    shown: Spec
    if axis.nominal:
        domain = distinct(axis.names)
        turned = across and (len(domain) > 2 or max(map(extent, domain), default=0.0) > 90)
        shown = {"labelLimit": 260, "title": None, "grid": False, "ticks": False, "domain": False, "labelPadding": 8}
        shown["labelAngle"] = -90 if turned else 0
        return {"type": "nominal", "scale": {"domain": domain}, "sort": None, "axis": shown}
    known = ticks_of(axis)
    values, labels = [value for value, _ in known], [text.replace("-", "\N{MINUS SIGN}") for _, text in known]
    shown = {
        "title": clean(axis.label),
        "values": values,
        # Vega would write numbers in its own way, but a tick has one label in all drawings.
        "labelExpr": f"{as_json(labels)}[indexof({as_json(values)}, datum.value)]",
        # Vega would speak its limits without the unit; what is spoken of a mark names the axis.
        "aria": False,
        "grid": across or axis.unit != "count",
    }
    kind = "log" if axis.log else "linear"
    scale = {"domain": [axis.low, axis.high], "nice": False, "zero": False, "type": kind}
    return {"type": "quantitative", "scale": scale, "axis": shown}


def at(value: float, axis: Axis) -> Any:
    """A place on an axis as data."""
    return distinct(axis.names)[round(value)] if axis.nominal else value


def pixel(x: float, y: float, panel: Panel) -> Pixels:
    """The position of a place on two axes of numbers, in points from the left and from the top."""
    wide, high = size(panel)
    return panel.x.share(x) * wide, (1 - panel.y.share(y)) * high


def place(x: float, y: float, panel: Panel) -> tuple[float, float]:
    """The place on two axes of numbers at a position, given in points from the left and from the top."""
    wide, high = size(panel)
    return panel.x.value(x / wide), panel.y.value(1 - y / high)


# === places of names ==================================================================================================
# Beside points and at the ends of lines, so that no two names overlap.

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
    sizes = [(extent(text) + 2, SIZE * LINE_HEIGHT) for text in texts]
    # Names may extend to the right of the axes, where nothing else is drawn.
    placed = axes.place(pixels, sizes, (wide + BESIDE, high), GAP, _areas_taken(panel))
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


def _areas_taken(panel: Panel) -> list[Box]:
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
        stands = spread_out(wanted, SIZE * LINE_HEIGHT, 0, high)
        text = {"type": "text", "align": "left" if away > 0 else "right", "baseline": "middle", "clip": False}
        if panel.x.nominal:
            # The value is written beside the name, so the two need no connecting line.
            names: list[Spec] = [
                {
                    "y": place(0, to, panel)[1],
                    "text": f"{short(name)} {in_words(y, panel.y)}",
                    "spoken": f"{clean(name)}: {clean(panel.y.label)} {in_words(y, panel.y)}",
                }
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


# === kinds of marks ===================================================================================================
# LAYERS is the table by kind.

FILLS = {"significant": BLUE, "undecided": "#F5C76A", "not significant": "#F2F2F2"}
INKS = {"significant": "white", "undecided": INK, "not significant": INK}
MARKS = {"significant": "*", "undecided": "?", "not significant": ""}
"""Verdicts differ by lightness, and also by a sign after the p-value, so that they can be read without colour."""


def layers(panel: Panel) -> list[Spec]:
    """The marks of a panel in order. Lines of one kind share a layer, which is drawn much faster."""
    drawn: list[Spec] = []
    # Shaded areas are drawn below all lines.
    for bands in panel.marks_of(Bands):
        drawn += _bands(bands, panel)
    paths = panel.marks_of(Path)
    for faint in (True, False):
        drawn += _paths([path for path in paths if path.faint == faint], panel)
    for mark in panel.marks:
        if type(mark) in LAYERS:
            drawn += LAYERS[type(mark)](mark, panel)
    return drawn


def _points(mark: Points, panel: Panel) -> list[Spec]:
    values: list[Spec] = [
        {"x": at(point.x, panel.x), "y": at(point.y, panel.y), **_tooltips(point, panel)} for point in mark.points
    ]
    if not values:
        return []
    looks: Spec = {"stroke": "white", "fill": BLUE, "size": 64}
    if mark.hollow:
        looks = {"stroke": INK, "fill": "white", "size": 42}
    dots = {"type": "point", "shape": "circle", "filled": True, "strokeWidth": 1.2, "opacity": 1, "clip": False}
    colours = [_of_its_line(point, panel) for point in mark.points]
    own: Spec = {}
    if any(colours):
        # A dot that belongs to no line must not look as if it belonged to the first.
        values = [{**value, "colour": colour or INK} for value, colour in zip(values, colours, strict=True)]
        own = {"stroke" if mark.hollow else "fill": {"field": "colour", "type": "nominal", "scale": None}}
    return [layer(values, {**dots, **looks}, panel, tooltip=_tooltip_channel(panel), **own)]


def _of_its_line(point: Point, panel: Panel) -> str | None:
    """The colour of the line that a point belongs to: the line has the point's name, or the part of the name before a
    comma.
    """
    lines = [path.name for path in panel.marks_of(Path) if not path.faint]
    name = next((name for name in (point.name, point.name.rpartition(", ")[0]) if name in lines), None)
    return None if name is None else LINES[lines.index(name) % len(LINES)]


def _tooltips(point: Point, panel: Panel) -> Spec:
    shown = {"name": clean(point.name), "across": in_words(point.x, panel.x), "up": in_words(point.y, panel.y)}
    numbers = [f"{axis.label} {shown[of]}" for of, axis in (("across", panel.x), ("up", panel.y)) if not axis.nominal]
    return {**shown, "spoken": f"{shown['name']}: {clean(', '.join(numbers))}"}


def _tooltip_channel(panel: Panel) -> list[Spec]:
    shown = [{"field": "name", "title": "name"}]
    if not panel.x.nominal:
        shown.append({"field": "across", "title": clean(panel.x.label)})
    if not panel.y.nominal:
        shown.append({"field": "up", "title": clean(panel.y.label)})
    return [{"type": "nominal", **field} for field in shown]


def _spans(mark: Spans, panel: Panel) -> list[Spec]:
    values = [
        {
            "x": low,
            "x2": high,
            "y": at(row, panel.y),
            "spoken": f"{in_words(row, panel.y)}: {_range(low, high, panel.x)}",
        }
        for low, high, row in mark.spans
    ]
    looks: Spec = {"color": BLUE, "strokeWidth": 8} if mark.thick else {"color": INK, "strokeWidth": 1.2}
    return [layer(values, {"type": "rule", **looks}, panel)] if values else []


def _range(low: float, high: float, axis: Axis) -> str:
    return f"{clean(axis.label)} from {in_words(low, axis)} to {in_words(high, axis)}"


def _bands(mark: Bands, panel: Panel) -> list[Spec]:
    drawn = []
    for number, ribbon in enumerate(mark.ribbons):
        values = [{"x": x, "y": low, "y2": high, "name": clean(ribbon.name)} for x, low, high in ribbon.around]
        if values:
            looks = {"type": "area", "color": LINES[number % len(LINES)], "opacity": 0.16}
            drawn.append(layer(values, looks, panel, tooltip=[{"field": "name", "type": "nominal"}]))
    return drawn


def _paths(paths: Sequence[Path], panel: Panel) -> list[Spec]:
    """Lines, either all faint or none of them, each with its own dash, and the labels at their ends inside the axes."""
    if not paths:
        return []
    values = []
    for number, path in enumerate(paths):
        colour = FAINT if path.faint else INK if path.name == "guessing" else LINES[number % len(LINES)]
        looks = {"line": number, "name": clean(path.name), "colour": colour, "dash": DASHES[path.dash]}
        values += [
            {"x": at(x, panel.x), "y": at(y, panel.y), "order": order, **looks}
            for order, (x, y) in enumerate(path.points)
        ]
    drawn = [
        layer(
            values,
            {"type": "line", "strokeWidth": 1 if paths[0].faint else 1.6, "aria": True},
            panel,
            description={"field": "name", "type": "nominal"},
            detail={"field": "line", "type": "nominal"},
            order={"field": "order", "type": "quantitative"},
            color={"field": "colour", "type": "nominal", "scale": None},
            strokeDash={"field": "dash", "type": "nominal", "scale": None},
            tooltip=[{"field": "name", "type": "nominal"}],
        )
    ]
    labels = on_lines(paths, panel)
    return [*drawn, labels] if labels else drawn


def _bins(mark: Bins, panel: Panel) -> list[Spec]:
    drawn = []
    for counted, colour in ((False, "#9CC7E4"), (True, INK)):
        values = [
            {
                "x": bar.low,
                "x2": bar.high,
                "y": bar.count,
                "y2": 0,
                "shuffles": f"{bar.count:,}",
                "spoken": clean(f"{_range(bar.low, bar.high, panel.x)}: {bar.count:,} {panel.y.title}"),
            }
            for bar in mark.bins
            if bar.counted == counted and bar.count
        ]
        if values:
            looks = {"type": "rect", "color": colour, "stroke": "white", "strokeWidth": 0.4}
            drawn.append(layer(values, looks, panel, tooltip=[{"field": "shuffles", "type": "nominal"}]))
    return drawn


def _bars(mark: Bars, panel: Panel) -> list[Spec]:
    drawn = []
    for up, colour in ((True, BLUE), (False, VERMILION)):
        values = [
            {
                "x": bar.low,
                "x2": bar.high,
                "y": bar.length,
                "y2": 0,
                "name": clean(bar.name),
                "up": in_words(bar.length, panel.y),
                "spoken": clean(f"{bar.name}: {panel.y.label} {in_words(bar.length, panel.y)}"),
            }
            for bar in mark.bars
            if (bar.length > 0 if up else bar.length < 0)
        ]
        if values:
            titles = {"name": "name", "up": clean(panel.y.label)}
            shown = [{"field": field, "type": "nominal", "title": title} for field, title in titles.items()]
            # The stroke closes the gaps that rounding leaves between narrow bars.
            looks = {"type": "rect", "color": colour, "stroke": colour, "strokeWidth": 0.4}
            drawn.append(layer(values, looks, panel, tooltip=shown))
    return drawn


def _rule(mark: Rule, panel: Panel) -> list[Spec]:
    if panel.y.nominal:
        looks: Spec = {"type": "rule", "color": GREY, "strokeDash": DASHES[mark.dash], "aria": False}
        across = {"field": "x", **channel(panel.x, across=True)}
        return [{"data": {"values": [{"x": mark.at}]}, "mark": looks, "encoding": {"x": across}}]
    values: list[Spec] = [{"x": mark.at, "y": panel.y.low, "y2": panel.y.high}]
    looks = {"type": "rule", "color": VERMILION, "strokeWidth": 1.6, "strokeDash": DASHES[mark.dash]}
    drawn = [layer(values, looks, panel)]
    if mark.label:
        right = mark.at > (panel.x.low + panel.x.high) / 2
        text: Spec = {"type": "text", "align": "right" if right else "left", "dx": -6 if right else 6, "dy": 9}
        label = f"{clean(mark.label)} {in_words(mark.at, panel.x)}"
        words: Spec = {"x": mark.at, "y": panel.y.high, "text": label, "spoken": label}
        drawn.append(layer([words], {**text, "color": VERMILION}, panel, text={"field": "text", "type": "nominal"}))
    return drawn


def _squares(mark: Squares, panel: Panel) -> list[Spec]:
    names = distinct(panel.y.names)
    whole = [clean(name) for name in panel.y.names]
    values = [
        {
            "x": names[square.column],
            "y": names[square.row],
            "text": _level(square.level) + MARKS[square.verdict],
            "fill": FILLS[square.verdict],
            "ink": INKS[square.verdict],
            "name": f"{whole[square.column]} and {whole[square.row]}",
            "p": cell("probability", square.level),
            "verdict": square.verdict,
            "spoken": f"{whole[square.column]} and {whole[square.row]}: p {cell('probability', square.level)}, "
            f"{square.verdict}",
        }
        for square in mark.squares
    ]
    shown = [{"field": field, "type": "nominal"} for field in ("name", "p", "verdict")]
    rect = {"type": "rect", "stroke": "white", "strokeWidth": 1}
    fill, ink = ({"field": field, "type": "nominal", "scale": None} for field in ("fill", "ink"))
    words = {"field": "text", "type": "nominal"}
    return [
        layer(values, rect, panel, color=fill, tooltip=shown),
        layer(values, {"type": "text", "fontSize": 9, "aria": False}, panel, color=ink, text=words),
    ]


SHADES = (
    ("#F2F2F2", INK),
    ("#CFE1EC", INK),
    ("#A6CCE2", INK),
    ("#7DB5D8", INK),
    (BLUE, "white"),
    ("#005A8C", "white"),
    ("#00436B", "white"),
)
"""The fill of a square and the ink of its number: of none, then of up to each sixth of the documents of its line."""


def _shades(mark: Shades, panel: Panel) -> list[Spec]:
    across, down = distinct(panel.x.names), distinct(panel.y.names)
    values = []
    for shade in mark.shades:
        fill, ink = SHADES[shade.level(len(SHADES) - 1)]
        gold, answer = clean(panel.y.names[shade.row]), clean(panel.x.names[shade.column])
        share = cell("proportion", shade.share)
        number = plain(shade.count, 1)
        values.append(
            {
                "x": across[shade.column],
                "y": down[shade.row],
                "text": number,
                "fill": fill,
                "ink": ink,
                "gold": gold,
                "answer": answer,
                "documents": number,
                "share": share,
                "spoken": f"gold {gold}, answer {answer}: {number}, {share}% of {gold}",
            }
        )
    shown = [{"field": field, "type": "nominal"} for field in ("gold", "answer", "documents", "share")]
    rect = {"type": "rect", "stroke": "white", "strokeWidth": 1}
    fill_of, ink_of = ({"field": field, "type": "nominal", "scale": None} for field in ("fill", "ink"))
    return [
        layer(values, rect, panel, color=fill_of, tooltip=shown),
        layer(values, {"type": "text", "fontSize": 10, "aria": False}, panel, color=ink_of, text=WORDS),
    ]


def _level(level: float) -> str:
    """A p-value in a small square: .042, <.001, 1.0."""
    if level >= 0.9995:
        return "1.0"
    return "<.001" if level < 0.001 else f"{level:.3f}"[1:]


LAYERS: dict[type, Callable[[Any, Panel], list[Spec]]] = {
    Points: _points,
    Spans: _spans,
    Bins: _bins,
    Bars: _bars,
    Rule: _rule,
    Squares: _squares,
    Shades: _shades,
}


def groups(brackets: Sequence[Bracket], panel: Panel, high: float) -> Spec:
    """Draws one column per group beside a ranking: a dot for each member, joined by a bar."""
    names = distinct(panel.y.names)
    letters = [group.letter for group in brackets]
    axis = {"orient": "top", "labelAngle": 0, "title": "groups", "domain": False, "ticks": False, "grid": False}
    across = {"field": "letter", "type": "nominal", "scale": {"domain": letters}, "sort": None, "axis": axis}
    down: Spec = {"field": "y", "type": "nominal", "scale": {"domain": names}, "sort": None, "axis": None}
    bars = [
        {"letter": group.letter, "y": names[min(group.members)], "y2": names[max(group.members)]} for group in brackets
    ]
    dots = [{"letter": group.letter, "y": names[place]} for group in brackets for place in group.members]
    return {
        "width": max(16 * len(letters), 44),
        "height": high,
        "view": {"stroke": None},
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "rule", "color": INK, "strokeWidth": 2.5, "strokeCap": "round"},
                "encoding": {"x": across, "y": down, "y2": {"field": "y2"}},
            },
            {
                "data": {"values": dots},
                "mark": {"type": "point", "filled": True, "color": INK, "size": 34, "opacity": 1},
                "encoding": {"x": across, "y": down},
            },
        ],
    }
