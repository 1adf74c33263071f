"""Draws charts as files (SVG, PNG, PDF, or a page with tooltips). The packages that do it are the extra `plot`.

Nothing is fetched from the network.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from warehouse.charts import Chart
from warehouse.faults import WarehouseError
from warehouse.render.style import Theme
from warehouse.render.vegalite import columns, dark, spec
from warehouse.render.vegalite.looks import WIDE, Spec

RESOLUTION = 2.0
"""The pixels of a PNG per point."""


def available() -> None:
    """Raises WarehouseError if the extra is not installed."""
    _converter()


def svg(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as SVG, on white or dark paper. Raises WarehouseError if the extra is not installed."""
    described, scale = _fitted(chart)
    drawn: str = _converter().vegalite_to_svg(described, allowed_base_urls=[])
    if chart.width is not None:
        drawn = _SIZE.sub(lambda size: f'{size[1]}="{float(size[2]) * scale:.6g}"', drawn, count=2)
    # vl-convert numbers clips across all pictures of a process; the same chart must always give the same text.
    numbers: dict[str, str] = {}
    drawn = re.sub(r"(?<=clip)\d+(?=[\")])", lambda clip: numbers.setdefault(clip[0], str(len(numbers))), drawn)
    return dark.darkened(drawn) if theme == "dark" else drawn


def svg_of_page(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as SVG that is dark if the reader's system is dark. Raises WarehouseError if the extra is not
    installed.
    """
    drawn = svg(chart, theme)
    return drawn.replace(">", ">\n<style>\n" + dark.rules("svg") + "</style>", 1) if theme == "auto" else drawn


def png(chart: Chart, theme: Theme = "auto") -> bytes:
    """The chart as PNG. Raises WarehouseError if the extra is not installed."""
    if theme == "dark":
        in_the_dark: bytes = _converter().svg_to_png(svg(chart, theme), scale=RESOLUTION)
        return in_the_dark
    described, scale = _fitted(chart)
    drawn: bytes = _converter().vegalite_to_png(described, scale=RESOLUTION * scale, allowed_base_urls=[])
    return drawn


def pdf(chart: Chart, theme: Theme = "auto") -> bytes:
    """The chart as PDF. Raises WarehouseError if the extra is not installed."""
    if theme == "dark":
        return _reproducible(_converter().svg_to_pdf(svg(chart, theme)))
    described, scale = _fitted(chart)
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


def _fitted(chart: Chart) -> tuple[Spec, float]:
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
{dark.rules("svg.marks", theme)}</style>
"""


def page(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as a self-contained page with tooltips. Raises WarehouseError if the extra is not installed."""
    # The menu of the page saves the picture. Its other entries are removed, because they lead to another site.
    menu = {"export": True, "source": False, "compiled": False, "editor": False}
    whole = {**_fitted(chart)[0], "usermeta": {"embedOptions": {"actions": menu}}}
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


def described(chart: Chart, theme: Theme = "auto") -> str:
    """The chart as Vega-Lite on white paper, for other programs to draw."""
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
