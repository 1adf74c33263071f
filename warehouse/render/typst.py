"""The Typst format: figures with tables that are never wider than the text. Every text is a string, so none of it can
be markup.

Typst itself makes columns as wide as the line allows, and breaks their texts. A very wide table is divided into panels.
"""

from __future__ import annotations

import re

from evalhouse.warehouse.render.panels import Figure, Rectangle, spans
from evalhouse.warehouse.render.paper import LINE, is_broken, on_paper, printed, short_enough
from evalhouse.warehouse.render.style import Style, clean
from evalhouse.warehouse.results import Result

_SIGN = re.compile(r"(?:(?<=[\[ ])|^)-(?=\d)")
"""A sign before a number."""

SMALLER = 0.7
"""A table that takes a larger share of the characters of a line than this is set in smaller type."""

MAY_BREAK = r"\u{200b}"
"""A place in a string where a line may end."""


def typst(result: Result, style: Style) -> str:
    """A figure that may continue over pages, with its notes below. The signature is a comment at the top."""
    shown = printed(result, style)
    sentence = [f"#block({text(shown.sentence)})"] if shown.sentence else []
    lines = [f"// {clean(result.signature)}", *sentence, "#[", "#show figure: set block(breakable: true)", "#figure("]
    if shown.caption:
        lines.append(f"  caption: figure.caption(position: top, {text(shown.caption)}),")
    lines += ["  kind: table,", "  supplement: [Table],", "  {"]
    for rectangle in shown.rectangles:
        for number, panel in enumerate(on_paper(rectangle)):
            if rectangle.title and not number:
                lines.append(f"    block(emph({text(rectangle.title)}))")
            lines += [f"    {line}" for line in _table(panel)]
    label = f" <{result.grid.label}>" if result.grid and result.grid.label else ""
    lines += ["  },", f"){label}"]
    lines += [f"#block(text(size: 0.85em, {text(note)}))" for note in shown.notes]
    return "\n".join([*lines, "]"]) + "\n\n"


def _table(panel: Rectangle) -> list[str]:
    """A table in its size."""
    size = "0.85em" if panel.width > SMALLER * LINE else "1em"
    sides = ("right" if numeric else "left" for numeric in panel.numeric)
    rows = [
        f"  {', '.join(_cell(panel, number, place, content) for place, content in enumerate(row))},"
        for number, row in enumerate(panel.rows)
    ]
    return [
        f"block(text(size: {size}, table(",
        f"  columns: ({', '.join(['auto'] * len(panel.headings))},),",
        f"  align: ({', '.join(sides)},),",
        "  stroke: none,",
        "  inset: (x: 0.45em, y: 0.3em),",
        "  table.hline(),",
        f"  table.header({', '.join(_head(panel))}),",
        "  table.hline(stroke: 0.5pt),",
        *rows,
        "  table.hline(),",
        ")))",
    ]


def _head(panel: Rectangle) -> list[str]:
    """The headings. If there are test sets, each is named above its columns, with a rule of its own."""
    lower = [text(heading.rpartition("\n")[2].rstrip()) for heading in panel.headings]
    if not any("\n" in heading for heading in panel.headings):
        return lower
    above, rules = [], []
    for head, places in spans(panel.headings):
        above.append(f"table.cell(colspan: {len(places)}, align: center, {text(head.rstrip())})" if head else '""')
        if head:
            rules.append(f"table.hline(start: {places[0]}, end: {places[-1] + 1}, stroke: 0.5pt)")
    return [*above, *rules, *lower]


def _cell(panel: Rectangle, number: int, place: int, content: str) -> str:
    figure = panel.figures.get((number, place))
    if figure is not None:
        return _mark_figure(figure)
    if place in panel.spaced:
        return f"raw({_string(content.rstrip())})"
    if panel.numeric[place]:
        return _string(_number(content.rstrip()))
    return text(content.rstrip(), panel.limits[place] if is_broken(panel, place) else LINE)


def _mark_figure(figure: Figure) -> str:
    """A figure with its marks. Space is kept for marks that only other figures of its column have."""
    number = _string(_number(figure.number))
    parts = [f"strong({number})" if figure.best else f"underline({number})" if figure.second else number]
    if figure.mark_room:
        # Letters differ in width, so the rest of the longest mark would not fill the space of a missing one exactly.
        room, mark = f"super({_string(figure.mark_room)})", f"super({_string(figure.mark)})"
        beside = [f"box(width: 0pt, align(left, {mark}))"] if figure.mark else []
        parts += [room] if mark == room else [*beside, f"hide({room})"]
    if figure.half_room:
        lacking = figure.half_room[: len(figure.half_room) - len(figure.half)]
        shown = [_string(" ± "), *_hidden_marks(_string(lacking), lacking), _string(figure.half)]
        parts += shown if figure.half else [f"hide({_string(f' ± {figure.half_room}')})"]
    if figure.ranks_room:
        lacking = figure.ranks_room[len(figure.ranks) :]
        parts.append(_string(f" ({figure.ranks})") if figure.ranks else f"hide({_string(' ()')})")
        parts += _hidden_marks(_string(lacking), lacking)
    return " + ".join(parts)


def _hidden_marks(shown: str, lacking: str) -> list[str]:
    return [f"hide({shown})"] if lacking else []


def _number(written: str) -> str:
    """A number or an interval, with signs as they are printed."""
    return _SIGN.sub("−", written)


def text(plain: str, within: int = LINE) -> str:
    """A text as a string that may be broken within long words, for lines of so many characters."""
    words = (map(_escape, short_enough(word, within)) for word in clean(plain).split(" "))
    return f'"{" ".join(map(MAY_BREAK.join, words))}"'


def _string(plain: str) -> str:
    """A string of Typst."""
    return f'"{_escape(plain)}"'


def _escape(plain: str) -> str:
    """The text between the quotes of a string, escaped."""
    return plain.replace("\\", "\\\\").replace('"', '\\"')
