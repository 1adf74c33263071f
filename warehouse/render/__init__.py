"""Results as text. FORMATS is the one table of formats, in display order; `render` looks one up and draws.

Rendering sees results only: it computes nothing that is not already there, and it never prints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse.render.style import Style
from warehouse.results import Result

__all__ = ["FORMATS", "Format", "Style", "render"]


@dataclass(frozen=True, slots=True)
class Format:
    """A way to draw a result as text that ends with a line break."""

    name: str
    meaning: str
    draw: Callable[[Result, Style], str]
    suffix: str = ""
    """The ending of files that are written in this format; empty where none is."""


def _table(result: Result, style: Style) -> str:
    # rich costs a tenth of a second to import, and only this format needs it.
    from warehouse.render.console import table

    return table(result, style)


def _text(name: str) -> Callable[[Result, Style], str]:
    def draw(result: Result, style: Style) -> str:
        from warehouse.render import text

        drawn: str = getattr(text, name)(result, style)
        return drawn

    return draw


FORMATS: tuple[Format, ...] = (
    Format("table", "a table for people; the default on a terminal", _table),
    Format(
        "json", "one object a statement: statement, caption, signature, columns, rows, summary, notes", _text("json")
    ),
    Format("ndjson", "one object a row", _text("ndjson"), ".ndjson"),
    Format("csv", "the rows, comma-separated with a header line", _text("csv"), ".csv"),
    Format("tsv", "the rows, tab-separated with a header line; the default in a pipe", _text("tsv"), ".tsv"),
)


def render(result: Result, format: str, style: Style) -> str:
    """A result in one of FORMATS. Raises KeyError for a format that is not there."""
    return {each.name: each for each in FORMATS}[format].draw(result, style)
