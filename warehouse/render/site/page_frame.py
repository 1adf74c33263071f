"""The parts that every page has around its content: the head, with title and style, and the link that skips to the
content.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files as resources

from warehouse.render.vegalite import dark
from warehouse.render.web import text

SKIP = '<a class="skip" href="#content">Skip to the content</a>'
"""The first element that the keyboard reaches."""


def head(title: str, first: Sequence[str], last: Sequence[str]) -> list[str]:
    """The lines before the body. `first` is the policy of what may be loaded, and `last` is the style."""
    return [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        *first,
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{text(title)}</title>",
        *last,
        "</head>",
    ]


def looks() -> str:
    """The style sheet that all pages share."""
    return resource("page.css") + dark.rules(".picture svg")


def resource(name: str) -> str:
    """A file of this package."""
    return resources("warehouse.render.site").joinpath(name).read_text(encoding="utf-8")
