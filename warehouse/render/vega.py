"""Charts as files: SVG, PNG, PDF, or a page with tooltips, made by vl-convert, which is the extra `plot`.

Nothing is fetched from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from warehouse.charts import Chart
from warehouse.faults import WarehouseError
from warehouse.render.pdf import in_order
from warehouse.render.style import Theme
from warehouse.render.vegalite import columns, dark, spec
from warehouse.render.vegalite.looks import WIDE, Spec

RESOLUTION = 2.0
"""Pixels of a PNG for each point."""


def available() -> None:
    """Raises WarehouseError where the extra is not installed."""
    _converter()


def svg(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as SVG, on white paper or dark. Raises WarehouseError where the extra is not installed."""
    described, scale = _fitted(chart)
    drawn: str = _converter().vegalite_to_svg(described, allowed_base_urls=[])
    if chart.width is not None:
        drawn = _SIZE.sub(lambda size: f'{size[1]}="{float(size[2]) * scale:.6g}"', drawn, count=2)
    # vl-convert numbers clips through all pictures that a process makes; the same chart is to be the same text.
    numbers: dict[str, str] = {}
    drawn = re.sub(r"(?<=clip)\d+(?=[\")])", lambda clip: numbers.setdefault(clip[0], str(len(numbers))), drawn)
    return dark.darkened(drawn) if theme == "dark" else drawn


def svg_of_page(chart: Chart, theme: Theme = "auto") -> str:
    """The same, dark where its reader is, too. Raises WarehouseError where the extra is not installed."""
    drawn = svg(chart, theme)
    return drawn.replace(">", ">\n<style>\n" + dark.rules("svg") + "</style>", 1) if theme == "auto" else drawn


def png(chart: Chart, theme: Theme = "auto") -> bytes:
    """The chart as PNG. Raises WarehouseError where the extra is not installed."""
    if theme == "dark":
        in_the_dark: bytes = _converter().svg_to_png(svg(chart, theme), scale=RESOLUTION)
        return in_the_dark
    described, scale = _fitted(chart)
    drawn: bytes = _converter().vegalite_to_png(described, scale=RESOLUTION * scale, allowed_base_urls=[])
    return drawn


def pdf(chart: Chart, theme: Theme = "auto") -> bytes:
    """The chart as PDF. Raises WarehouseError where the extra is not installed."""
    if theme == "dark":
        return in_order(_converter().svg_to_pdf(svg(chart, theme)))
    described, scale = _fitted(chart)
    drawn: bytes = _converter().vegalite_to_pdf(described, scale=scale, allowed_base_urls=[])
    return in_order(drawn)


_SIZE = re.compile(r'(?<=\s)(width|height)="([\d.]+)"')

NARROWEST = 80.0
"""Axes are no narrower than this, in points; a picture that is to be narrower still is made smaller as a whole."""


def _fitted(chart: Chart) -> tuple[Spec, float]:
    """What to draw, and how many times as large, so that the picture is as wide as it was asked for: its letters keep
    their size, as far as the axes can give way.
    """
    drawn, wide = spec(chart), WIDE
    if chart.width is None:
        return drawn, 1.0
    for _ in range(2):
        wide = max(wide + (chart.width - _wide(drawn)) / columns(chart), NARROWEST)
        drawn = spec(replace(chart, panels=tuple(replace(panel, wide=wide) for panel in chart.panels)))
    return drawn, chart.width / _wide(drawn)


def _wide(described: Spec) -> float:
    """How wide a picture becomes, in points."""
    size = _SIZE.search(_converter().vegalite_to_svg(described, allowed_base_urls=[]))
    return float(size[2]) if size else WIDE


def _head(theme: Theme) -> str:
    """What a page with a picture has in its head: it fits narrow windows, and is light or dark as its reader is, or as
    it is to be.
    """
    schemes = "light dark" if theme == "auto" else theme
    return f"""\
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="{schemes}">
<style>
#vega-chart {{ max-width: 100%; }}
#vega-chart svg.marks {{ max-width: 100%; height: auto; }}
{dark.rules("svg.marks", theme)}</style>
"""


def page(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as a page that needs nothing else, with tooltips. Raises WarehouseError where the extra is not
    installed.
    """
    # The menu of the page saves the picture; the rest of what it could do leads to a site elsewhere.
    menu = {"export": True, "source": False, "compiled": False, "editor": False}
    whole = {**_fitted(chart)[0], "usermeta": {"embedOptions": {"actions": menu}}}
    drawn: str = _converter().vegalite_to_html(_without_tags(whole), bundle=True, renderer="svg")
    # Within a script a tag that a name holds would end it.
    return drawn.replace(_LESS_THAN, "\\u003c").replace("<head>", "<head>\n" + _head(theme), 1)


_LESS_THAN = "-evalhouse-less-than-"


def _without_tags(value: Any) -> Any:
    """A description with a word for each `<` in its texts."""
    if isinstance(value, str):
        return value.replace("<", _LESS_THAN)
    if isinstance(value, dict):
        return {key: _without_tags(part) for key, part in value.items()}
    return [_without_tags(part) for part in value] if isinstance(value, list | tuple) else value


def described(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as Vega-Lite, for other programs to draw, on white paper."""
    from warehouse.results import as_json

    return as_json({"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **spec(chart)}) + "\n"


Draw = Callable[[Chart, Theme], str | bytes]

FILES: dict[str, Draw] = {
    ".svg": svg,
    ".png": png,
    ".pdf": pdf,
    ".html": page,
    ".json": described,
}
"""What draws which ending of a file."""


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise WarehouseError(
            "writing a picture to a file needs the package vl-convert-python", ('pip install "evalhouse[plot]"',)
        ) from None
    return vl_convert
