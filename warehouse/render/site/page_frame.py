"""What every page has around its contents: the head, with title and look, and the way to skip to the contents."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files as resources

from warehouse.render.vegalite import dark
from warehouse.render.web import text

SKIP = '<a class="skip" href="#content">Skip to the content</a>'
"""The first that the keyboard reaches."""


def head(title: str, first: Sequence[str], last: Sequence[str]) -> list[str]:
    """The lines up to the body. What may be loaded stands `first`, and what the page looks like `last`."""
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
    """The style sheet of what all pages have."""
    return resource("page.css") + dark.rules(".picture svg")


def resource(name: str) -> str:
    """A file of this room."""
    return resources("warehouse.render.site").joinpath(name).read_text(encoding="utf-8")
