"""Draws each kind of mark of a chart in Vega-Lite. LAYERS is the table by kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from warehouse.charts import Bands, Bars, Bins, Bracket, Panel, Path, Point, Points, Rule, Spans, Squares
from warehouse.render.style import clean
from warehouse.render.vegalite.frame import at, channel, layer
from warehouse.render.vegalite.looks import BLUE, DASHES, FAINT, GREY, INK, LINES, VERMILION, Spec, distinct, in_words
from warehouse.render.vegalite.name_places import on_lines

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
    return {"name": clean(point.name), "across": in_words(point.x, panel.x), "up": in_words(point.y, panel.y)}


def _tooltip_channel(panel: Panel) -> list[Spec]:
    shown = [{"field": "name", "title": "name"}]
    if not panel.x.nominal:
        shown.append({"field": "across", "title": clean(panel.x.title)})
    if not panel.y.nominal:
        shown.append({"field": "up", "title": clean(panel.y.title)})
    return [{"type": "nominal", **field} for field in shown]


def _spans(mark: Spans, panel: Panel) -> list[Spec]:
    values = [{"x": low, "x2": high, "y": at(row, panel.y)} for low, high, row in mark.spans]
    looks: Spec = {"color": BLUE, "strokeWidth": 8} if mark.thick else {"color": INK, "strokeWidth": 1.2}
    return [layer(values, {"type": "rule", **looks}, panel)] if values else []


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
            {"type": "line", "strokeWidth": 1 if paths[0].faint else 1.6},
            panel,
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
            {"x": bar.low, "x2": bar.high, "y": bar.count, "y2": 0, "shuffles": f"{bar.count:,}"}
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
            }
            for bar in mark.bars
            if (bar.length > 0 if up else bar.length < 0)
        ]
        if values:
            shown = [{"field": field, "type": "nominal"} for field in ("name", "up")]
            # The stroke closes the gaps that rounding leaves between narrow bars.
            looks = {"type": "rect", "color": colour, "stroke": colour, "strokeWidth": 0.4}
            drawn.append(layer(values, looks, panel, tooltip=shown))
    return drawn


def _rule(mark: Rule, panel: Panel) -> list[Spec]:
    if panel.y.nominal:
        looks: Spec = {"type": "rule", "color": GREY, "strokeDash": DASHES[mark.dash]}
        across = {"field": "x", **channel(panel.x, across=True)}
        return [{"data": {"values": [{"x": mark.at}]}, "mark": looks, "encoding": {"x": across}}]
    values: list[Spec] = [{"x": mark.at, "y": panel.y.low, "y2": panel.y.high}]
    looks = {"type": "rule", "color": VERMILION, "strokeWidth": 1.6, "strokeDash": DASHES[mark.dash]}
    drawn = [layer(values, looks, panel)]
    if mark.label:
        right = mark.at > (panel.x.low + panel.x.high) / 2
        text: Spec = {"type": "text", "align": "right" if right else "left", "dx": -6 if right else 6, "dy": 9}
        words: Spec = {"x": mark.at, "y": panel.y.high, "text": f"{clean(mark.label)} {in_words(mark.at, panel.x)}"}
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
            "p": f"{square.level:.4g}",
            "verdict": square.verdict,
        }
        for square in mark.squares
    ]
    shown = [{"field": field, "type": "nominal"} for field in ("name", "p", "verdict")]
    rect = {"type": "rect", "stroke": "white", "strokeWidth": 1}
    fill, ink = ({"field": field, "type": "nominal", "scale": None} for field in ("fill", "ink"))
    words = {"field": "text", "type": "nominal"}
    return [
        layer(values, rect, panel, color=fill, tooltip=shown),
        layer(values, {"type": "text", "fontSize": 9}, panel, color=ink, text=words),
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
