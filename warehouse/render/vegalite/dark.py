"""What becomes of the colours of pictures where a page is dark. Pictures as files of their own stay as they are, as do
those that are printed.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def rules(within: str) -> str:
    """Style sheet for pictures as SVG within some element of a page."""
    lines = [
        f'{within} [{what}="{colour}"] {{ {what}: {dark}; }}'
        for colour, dark in DARK.items()
        for what in ("fill", "stroke")
    ]
    return "\n".join(["@media screen and (prefers-color-scheme: dark) {", *lines, "}"]) + "\n"
