"""Results as text. FORMATS is the one table of formats, in display order; `render` looks one up and draws.

Rendering sees results only: it computes nothing that is not already there, and it never prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warehouse.render.style import Style
from warehouse.results import Result

__all__ = ["FORMATS", "WORKBOOK", "Format", "Style", "format_for", "render", "render_all"]

Draw = Callable[[Result, Style], str]
DrawAll = Callable[[Sequence[Result], Style], str | bytes]


@dataclass(frozen=True, slots=True)
class Format:
    """A way to draw a result as text that ends with a line break."""

    name: str
    meaning: str
    draw: Draw
    suffix: str
    """The ending of files that are written in this format."""
    whole: DrawAll | None = None
    """Draws several results as one document, for formats in which results cannot simply follow each other."""
    has_notes: bool = False
    """Whether the drawing includes the notes."""


# Each drawing is imported when it is used: rich alone takes a tenth of a second.


def _table(result: Result, style: Style) -> str:
    from warehouse.render.console import table

    return table(result, style)


def _json(result: Result, style: Style) -> str:
    from warehouse.render.data import json

    return json(result, style)


def _ndjson(result: Result, style: Style) -> str:
    from warehouse.render.data import ndjson

    return ndjson(result, style)


def _csv(result: Result, style: Style) -> str:
    from warehouse.render.data import csv

    return csv(result, style)


def _tsv(result: Result, style: Style) -> str:
    from warehouse.render.data import tsv

    return tsv(result, style)


def _markdown(result: Result, style: Style) -> str:
    from warehouse.render.markup import markdown

    return markdown(result, style)


def _latex(result: Result, style: Style) -> str:
    from warehouse.render.markup import latex

    return latex(result, style)


def _html(result: Result, style: Style) -> str:
    from warehouse.render.web import html

    return html(result, style)


def _page(results: Sequence[Result], style: Style) -> str:
    from warehouse.render.web import page

    return page(results, style)


FORMATS: tuple[Format, ...] = (
    Format("table", "a table for people; the default on a terminal", _table, ".txt"),
    Format(
        "json",
        "one object a statement: statement, caption, signature, columns, rows, summary, notes",
        _json,
        ".json",
        has_notes=True,
    ),
    Format("ndjson", "one object a row", _ndjson, ".ndjson"),
    Format("csv", "the rows, comma-separated with a header line", _csv, ".csv"),
    Format("tsv", "the rows, tab-separated with a header line; the default in a pipe", _tsv, ".tsv"),
    Format(
        "markdown",
        "a table with its caption and notes, in Markdown",
        _markdown,
        ".md",
        has_notes=True,
    ),
    Format(
        "latex",
        "a table for a paper, with the package booktabs: caption, notes, and the signature as a comment",
        _latex,
        ".tex",
        has_notes=True,
    ),
    Format(
        "html",
        "a page that needs nothing else; a click on a heading sorts the table",
        _html,
        ".html",
        whole=_page,
        has_notes=True,
    ),
)

WORKBOOK = ".xlsx"
"""The ending of workbooks, which are binary and so can only be files."""


def render(result: Result, format: str, style: Style) -> str:
    """A result in one of FORMATS. Raises KeyError for a format that is not there."""
    return _named(format).draw(result, style)


def render_all(results: Sequence[Result], format: str, style: Style) -> str | bytes:
    """Results as one document in one of FORMATS, or as a workbook where `format` is WORKBOOK."""
    if format == WORKBOOK:
        # An extra of its own, imported only here.
        from warehouse.render.workbook import workbook

        return workbook(results, style)
    known = _named(format)
    return known.whole(results, style) if known.whole else "".join(known.draw(result, style) for result in results)


def format_for(suffix: str) -> str | None:
    """What a file of this ending is written in, as `render_all` takes it; None where nothing has that ending."""
    wanted = suffix.casefold()
    if wanted == WORKBOOK:
        return WORKBOOK
    return next((format.name for format in FORMATS if format.suffix == wanted), None)


def _named(format: str) -> Format:
    return {known.name: known for known in FORMATS}[format]
