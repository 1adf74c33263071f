"""The colours of pictures on dark pages, or where dark pictures are requested. Printed pictures do not change."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warehouse.render.style import Theme

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
    "#0072B2": "#56b4e9",
    "#9CC7E4": "#2b5876",
    "#D55E00": "#f0803c",
    "#009E73": "#2fc79b",
    "#CC79A7": "#e09cc4",
    "#E69F00": "#f0b840",
}
"""For each colour, the colour that replaces it. It contrasts with dark paper as much as the original does with white.
"""


def darkened(svg: str) -> str:
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
