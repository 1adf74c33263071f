"""Draws charts in Vega-Lite, and as files: SVG, PNG, PDF, or a page with tooltips.

A chart becomes plain dictionaries and lists that contain all data. Names are always data and never parts of an
expression, so no name is ever executed. Nothing is fetched from the network.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from evalhouse.warehouse.charts import Bins, Brackets, Chart, Panel, Rule, Shades, Squares
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.render.marks import (
    FAINT,
    FONT,
    GREY,
    SIZE,
    VERMILION,
    WIDE,
    Spec,
    at_ends,
    beside_points,
    extent,
    groups,
    layers,
    size,
)
from evalhouse.warehouse.render.style import Theme, clean
from evalhouse.warehouse.results import as_json

# === dark colours =====================================================================================================
# For dark pages, or where dark pictures are requested. Printed pictures do not change.

DARK: Mapping[str, str] = {
    "white": "#14181d",
    "#000": "#e6e9ed",
    "black": "#e6e9ed",
    "#222222": "#e6e9ed",
    "#767676": "#a3acb6",
    "#888": "#a3acb6",
    "#BBBBBB": "#5a636e",
    "#EEEEEE": "#2a3138",
    "#F2F2F2": "#1d232a",
    "#F5C76A": "#6b5210",
    "#CFE1EC": "#1f3a4d",
    "#A6CCE2": "#224f6b",
    "#7DB5D8": "#27628a",
    "#0072B2": "#56b4e9",
    "#005A8C": "#8accf0",
    "#00436B": "#bfe4f8",
    "#9CC7E4": "#2b5876",
    "#D55E00": "#f0803c",
    "#009E73": "#2fc79b",
    "#CC79A7": "#e09cc4",
    "#E69F00": "#f0b840",
}
"""For each colour, the colour that replaces it. It contrasts with dark paper as much as the original does with white.
"""


def darken(svg: str) -> str:
    """A picture as SVG in the colours of dark paper."""
    return _COLOUR.sub(lambda found: f'{found[1]}="{DARK.get(found[2], found[2])}"', svg)


_COLOUR = re.compile('(?<= )(fill|stroke)="([^"]*)"')


def rules(within: str, theme: Theme = "auto") -> str:
    """A style sheet for the SVG pictures inside an element of a page. The pictures are dark if the reader's system is
    dark, or always.
    """
    if theme == "light":
        return ""
    lines = [
        f'{within} [{what}="{colour}"] {{ {what}: {dark}; }}'
        for colour, dark in DARK.items()
        for what in ("fill", "stroke")
    ]
    # On a page that draws the picture itself, the background of the picture is not a rectangle.
    lines.append(f"{within} {{ background-color: {DARK['white']} !important; }}")
    if theme == "auto":
        lines = ["@media screen and (prefers-color-scheme: dark) {", *lines, "}"]
    return "\n".join(lines) + "\n"


# === charts in Vega-Lite ==============================================================================================

LINE = 14
"""The height of a line of text below the picture."""

BETWEEN = 110
"""The approximate distance between panels that are side by side."""

ABOVE_BENEATH = 46
"""The distance between the axes of a panel and those of the panel below it. The numbers of the horizontal axis are
drawn there.
"""

LEAST = 420.0
"""The least width for titles, unless a narrow picture is requested."""

NARROW = 480.0
"""If a picture must be narrower than this, its panels are drawn one below the other."""


def spec(chart: Chart) -> Spec:
    """The specification of the whole chart."""
    panels = _stack_panels(chart.panels)
    drawn = panels[0] if len(panels) == 1 else {"concat": panels, "columns": columns(chart)}
    wide = _width(chart)
    subtitle = _lines(clean(chart.subtitle), wide)
    below = [line for text in (*_meanings(chart), *chart.legend, *chart.notes) for line in _lines(clean(text), wide)]
    colour = VERMILION if chart.simulated else GREY
    return {
        "title": {
            "text": _lines(clean(chart.title), wide * 0.7),
            "subtitle": ["SIMULATED DATA", *subtitle] if chart.simulated else subtitle,
            "anchor": "start",
            "frame": "group",
            "offset": 12,
        },
        "description": clean(chart.alternative),
        "background": "white",
        "padding": 12,
        "spacing": 24,
        "vconcat": [drawn, _footer(below, wide)] if below else [drawn],
        "config": {
            "font": f"{clean(chart.font)}, {FONT}" if chart.font else FONT,
            "title": {"fontSize": 15, "subtitleFontSize": SIZE, "subtitleColor": colour},
            "axis": {
                "labelFontSize": SIZE,
                "titleFontSize": SIZE + 1,
                "titleFontWeight": "normal",
                "gridColor": "#EEEEEE",
            },
            "text": {"fontSize": SIZE},
            "view": {"stroke": FAINT},
            "concat": {"spacing": 28},
        },
    }


def _stack_panels(panels: Sequence[Panel]) -> list[Spec]:
    """The panels, each above the ones that are drawn below it."""
    stacks: list[list[Spec]] = []
    for panel in panels:
        if panel.beneath:
            stacks[-1].append(_panel(panel))
        else:
            stacks.append([_panel(panel)])
    return [
        stack[0] if len(stack) == 1 else {"vconcat": stack, "spacing": ABOVE_BENEATH, "bounds": "flush"}
        for stack in stacks
    ]


def _meanings(chart: Chart) -> list[str]:
    """The meanings of the marks whose look is specific to this drawing."""
    kinds = {type(mark) for panel in chart.panels for mark in panel.marks}
    lines = "lines" if any(len(panel.marks_of(Rule)) > 1 for panel in chart.panels) else "line"
    # A picture has other colours on dark paper, so its legend names none.
    extreme = f"bars beyond the {lines}: as extreme as observed, or more"
    meanings = {
        Bins: extreme,
        Squares: "* significant, ? undecided",
        Shades: "the stronger the colour, the larger the share of the gold class",
    }
    return [meaning for kind, meaning in meanings.items() if kind in kinds]


def columns(chart: Chart) -> int:
    """The number of panels side by side."""
    side_by_side = sum(not panel.beneath for panel in chart.panels)
    if side_by_side == 1 or (chart.width is not None and chart.width < NARROW):
        return 1
    return 2 if side_by_side in (2, 4) or size(chart.panels[0])[0] > 300 else 3


def _width(chart: Chart) -> float:
    side_by_side = columns(chart)
    wide = side_by_side * size(chart.panels[0])[0] + (side_by_side - 1) * BETWEEN
    return wide if chart.width is not None else max(wide, LEAST)


def _lines(text: str, wide: float) -> list[str]:
    """Breaks a text into lines that fit. It never breaks a word."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if extent(longer) > wide and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _footer(lines: list[str], wide: float) -> Spec:
    """The legend and the notes, as a picture of their own: a chart has only one title, and that is at the top."""
    text = {"type": "text", "align": "left", "baseline": "top", "color": GREY, "x": 0, "y": 0, "lineHeight": LINE}
    return {
        "data": {"values": [{"text": lines}]},
        "mark": text,
        "encoding": {"text": {"field": "text"}},
        "width": wide,
        "height": LINE * len(lines),
        "view": {"stroke": None},
    }


def _panel(panel: Panel) -> Spec:
    wide, high = size(panel)
    marks = [*layers(panel), *beside_points(panel), *at_ends(panel)]
    drawn: Spec = {"width": wide, "height": high, "layer": marks}
    if panel.title:
        title = clean(panel.title)
        drawn["title"] = {"text": title, "anchor": "start", "frame": "group", "fontSize": 12, "offset": 8}
    brackets = [bracket for mark in panel.marks_of(Brackets) for bracket in mark.groups]
    return {"hconcat": [drawn, groups(brackets, panel, high)], "spacing": 8} if brackets else drawn


# === charts as files ==================================================================================================
# The packages that do it are the extra `plot`.

RESOLUTION = 2.0
"""The pixels of a PNG per point."""


def available() -> None:
    """Raises WarehouseError if the extra is not installed."""
    _converter()


def svg(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as SVG, on white or dark paper. Raises WarehouseError if the extra is not installed."""
    described, scale = _fit_chart(chart)
    drawn: str = _converter().vegalite_to_svg(described, allowed_base_urls=[])
    if chart.width is not None:
        drawn = _SIZE.sub(lambda size: f'{size[1]}="{float(size[2]) * scale:.6g}"', drawn, count=2)
    # vl-convert numbers clips across all pictures of a process; the same chart must always give the same text.
    numbers: dict[str, str] = {}
    drawn = re.sub(r"(?<=clip)\d+(?=[\")])", lambda clip: numbers.setdefault(clip[0], str(len(numbers))), drawn)
    return darken(drawn) if theme == "dark" else drawn


def svg_of_page(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as SVG that is dark if the reader's system is dark. Raises WarehouseError if the extra is not
    installed.
    """
    drawn = svg(chart, theme)
    return drawn.replace(">", ">\n<style>\n" + rules("svg") + "</style>", 1) if theme == "auto" else drawn


def png(chart: Chart, theme: Theme = "auto") -> bytes:
    """The chart as PNG. Raises WarehouseError if the extra is not installed."""
    if theme == "dark":
        in_the_dark: bytes = _converter().svg_to_png(svg(chart, theme), scale=RESOLUTION)
        return in_the_dark
    described, scale = _fit_chart(chart)
    drawn: bytes = _converter().vegalite_to_png(described, scale=RESOLUTION * scale, allowed_base_urls=[])
    return drawn


def pdf(chart: Chart, theme: Theme = "auto") -> bytes:
    """The chart as PDF. Raises WarehouseError if the extra is not installed."""
    if theme == "dark":
        return _reproducible(_converter().svg_to_pdf(svg(chart, theme)))
    described, scale = _fit_chart(chart)
    drawn: bytes = _converter().vegalite_to_pdf(described, scale=scale, allowed_base_urls=[])
    return _reproducible(drawn)


def _reproducible(drawn: bytes) -> bytes:
    """The same PDF with its objects in the order in which they are reached from its root. vl-convert writes fonts in an
    order that changes from one drawing to the next, but the same chart must always give the same bytes.
    """
    try:
        import pikepdf
    except ImportError:
        raise _missing("pikepdf") from None
    written = io.BytesIO()
    with pikepdf.open(io.BytesIO(drawn)) as pdf:
        pdf.save(written, deterministic_id=True)
    return written.getvalue()


_SIZE = re.compile(r'(?<=\s)(width|height)="([\d.]+)"')

NARROWEST = 80.0
"""The minimum width of axes in points. If a picture must be narrower than this allows, it is scaled down as a whole."""


def _fit_chart(chart: Chart) -> tuple[Spec, float]:
    """What to draw, and the scale at which the picture gets the requested width. Letters keep their size as long as the
    axes can shrink.
    """
    drawn, wide = spec(chart), WIDE
    if chart.width is None:
        return drawn, 1.0
    for _ in range(2):
        wide = max(wide + (chart.width - _wide(drawn)) / columns(chart), NARROWEST)
        drawn = spec(replace(chart, panels=tuple(replace(panel, wide=wide) for panel in chart.panels)))
    return drawn, chart.width / _wide(drawn)


def _wide(described: Spec) -> float:
    """The resulting width of a picture in points."""
    size = _SIZE.search(_converter().vegalite_to_svg(described, allowed_base_urls=[]))
    return float(size[2]) if size else WIDE


def _head(theme: Theme) -> str:
    """The head of a page with a picture. The page fits narrow windows, and is light or dark like the reader's system or
    as requested.
    """
    schemes = "light dark" if theme == "auto" else theme
    return f"""\
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{schemes}">
<style>
#vega-chart {{ max-width: 100%; }}
#vega-chart svg.marks {{ max-width: 100%; height: auto; }}
{rules("svg.marks", theme)}</style>
"""


def page(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as a self-contained page with tooltips. Raises WarehouseError if the extra is not installed."""
    # The menu of the page saves the picture. Its other entries are removed, because they lead to another site.
    menu = {"export": True, "source": False, "compiled": False, "editor": False}
    whole = {**_fit_chart(chart)[0], "usermeta": {"embedOptions": {"actions": menu}}}
    drawn: str = _converter().vegalite_to_html(_without_tags(whole), bundle=True, renderer="svg")
    # A tag in a name would close the script that contains it.
    return drawn.replace(_LESS_THAN, "\\u003c").replace("<head>", "<head>\n" + _head(theme), 1)


_LESS_THAN = "-evalhouse-less-than-"


def _without_tags(value: Any) -> Any:
    """A description in which a word replaces each `<` of its texts."""
    if isinstance(value, str):
        return value.replace("<", _LESS_THAN)
    if isinstance(value, dict):
        return {key: _without_tags(part) for key, part in value.items()}
    return [_without_tags(part) for part in value] if isinstance(value, list | tuple) else value


def vega_lite(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as Vega-Lite on white paper, for other programs to draw."""
    return as_json({"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **spec(chart)}) + "\n"


Draw = Callable[[Chart, Theme], str | bytes]

FILES: dict[str, Draw] = {
    ".svg": svg,
    ".png": png,
    ".pdf": pdf,
    ".html": page,
    ".json": vega_lite,
}
"""The function that draws each file extension."""


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise _missing("vl-convert-python") from None
    return vl_convert


def _missing(package: str) -> WarehouseError:
    return WarehouseError(
        f"writing a picture to a file needs the package {package}", ('pip install "evalhouse[plot]"',)
    )
