"""The files that all pages share: the style sheet, the script and the icon."""

from __future__ import annotations

import hashlib
from functools import cache

from warehouse.render.site.page_frame import looks, resource
from warehouse.render.web import SORTING


@cache
def asset(name: str) -> bytes:
    """A file by its name. Raises KeyError if there is none."""
    return _MADE[name]().encode()


@cache
def version(name: str) -> str:
    """A version that changes when the file changes."""
    return hashlib.sha256(asset(name)).hexdigest()[:12]


def _looks() -> str:
    return looks() + resource("site.css")


def _script() -> str:
    return SORTING + resource("site.js")


def _icon() -> str:
    return resource("icon.svg")


_MADE = {"evalhouse.css": _looks, "evalhouse.js": _script, "evalhouse.svg": _icon}

NAMES = tuple(_MADE)
"""The names of all files."""

KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
"""The media types of the files by their extensions."""
