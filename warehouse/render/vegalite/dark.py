"""What becomes of the colours of pictures where a page is dark, or where dark ones are asked for. What is printed stays
as it is.
"""

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
"""By colour the one that takes its place, as far from the dark paper as it is from white."""


def darkened(svg: str) -> str:
    """A picture as SVG in the colours of dark paper."""
    return _COLOUR.sub(lambda found: f'{found[1]}="{DARK.get(found[2], found[2])}"', svg)


_COLOUR = re.compile('(?<= )(fill|stroke)="([^"]*)"')


def rules(within: str, theme: Theme = "auto") -> str:
    """Style sheet for pictures as SVG within some element of a page, which is dark where its reader is, or where it is
    to be.
    """
    if theme == "light":
        return ""
    lines = [
        f'{within} [{what}="{colour}"] {{ {what}: {dark}; }}'
        for colour, dark in DARK.items()
        for what in ("fill", "stroke")
    ]
    # In a page that draws the picture itself its paper is no rectangle.
    lines.append(f"{within} {{ background-color: {DARK['white']} !important; }}")
    if theme == "auto":
        lines = ["@media screen and (prefers-color-scheme: dark) {", *lines, "}"]
    return "\n".join(lines) + "\n"
