"""Renders results as text. FORMATS is the only table of formats, in display order; `render` looks up a format and draws
the result. The module that draws is imported only then, because rich alone takes a tenth of a second.

Rendering sees only results: it computes nothing new, and it never prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from evalhouse.warehouse.process.lazy import lazy
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import Result

__all__ = ["FORMATS", "WORKBOOK", "Format", "Style", "find_format", "format_for", "render", "render_all"]


class Format(Struct, frozen=True):
    """A way to draw a result as text that ends with a line break."""

    name: str
    meaning: str
    suffix: str
    """The extension of files in this format."""
    drawing: Callable[[Result, Style], str | Iterator[str]]
    """Draws a result as one text, or as parts that follow each other."""
    document: Callable[[Sequence[Result], Style], str] | None = None
    """Draws several results as one document; None if results can simply follow each other."""
    has_notes: bool = False
    """Whether the drawing includes the notes."""
    media_type: str = "text/plain"
    """What a web server calls files in this format."""

    @property
    def whole(self) -> bool:
        """Whether several results form one document in which results cannot simply follow each other."""
        return self.document is not None

    def draw(self, result: Result, style: Style) -> str:
        """Draws a result as text."""
        return "".join(self.parts(result, style))

    def parts(self, result: Result, style: Style) -> Iterable[str]:
        """Draws a result as text in one or more parts."""
        drawn = self.drawing(result, style)
        return (drawn,) if isinstance(drawn, str) else drawn

    def draw_all(self, results: Sequence[Result], style: Style) -> str:
        """Draws several results as one document."""
        if self.document is not None:
            return self.document(results, style)
        return "".join(self.draw(result, style) for result in results)


# --- the table --------------------------------------------------------------------------------------------------------

FORMATS: tuple[Format, ...] = (
    Format(
        "table",
        "a table for people; the default on a terminal",
        ".txt",
        lazy("evalhouse.warehouse.render.console:table"),
    ),
    Format(
        "json",
        "one object per statement: statement, sentence, caption, signature, columns, rows, summary, notes",
        ".json",
        lazy("evalhouse.warehouse.render.data:json"),
        has_notes=True,
        media_type="application/json",
    ),
    Format("ndjson", "one object per row", ".ndjson", lazy("evalhouse.warehouse.render.data:ndjson")),
    Format(
        "csv",
        "the rows, comma-separated with a header line",
        ".csv",
        lazy("evalhouse.warehouse.render.data:csv"),
        media_type="text/csv",
    ),
    Format(
        "tsv",
        "the rows, tab-separated with a header line; the default in a pipe",
        ".tsv",
        lazy("evalhouse.warehouse.render.data:tsv"),
    ),
    Format(
        "markdown",
        "a sentence and a table with its notes, in Markdown",
        ".md",
        lazy("evalhouse.warehouse.render.markup:markdown"),
        has_notes=True,
        media_type="text/markdown",
    ),
    Format(
        "latex",
        "a sentence and a table for a paper, with booktabs: caption, notes, and the signature as a comment",
        ".tex",
        lazy("evalhouse.warehouse.render.latex:latex"),
        has_notes=True,
        media_type="application/x-tex",
    ),
    Format(
        "typst",
        "a sentence and a figure for a paper in Typst: caption, notes, and the signature as a comment",
        ".typ",
        lazy("evalhouse.warehouse.render.typst:typst"),
        has_notes=True,
    ),
    Format(
        "html",
        "a self-contained page; a click on a heading sorts the table",
        ".html",
        lazy("evalhouse.warehouse.render.html:html"),
        lazy("evalhouse.warehouse.render.html:page"),
        has_notes=True,
    ),
)

FOR_SCREENS = FORMATS[0]
"""The format for reading on a terminal."""

WORKBOOK = ".xlsx"
"""The extension of workbooks, which are binary and can therefore only be written to files."""


def render(result: Result, format: str, style: Style) -> str:
    """Draws a result in one of FORMATS. Raises KeyError if there is no such format."""
    return find_format(format).draw(result, style)


def render_all(results: Sequence[Result], format: str, style: Style) -> str | bytes:
    """Draws results as one document in one of FORMATS, or as a workbook if `format` is WORKBOOK."""
    if format == WORKBOOK:
        # An extra of its own, imported only here.
        from evalhouse.warehouse.render.workbook import workbook

        return workbook(results, style)
    return find_format(format).draw_all(results, style)


def format_for(suffix: str) -> str | None:
    """The format for a file with this extension, as `render_all` takes it; None if no format has it."""
    wanted = suffix.casefold()
    if wanted == WORKBOOK:
        return WORKBOOK
    return next((format.name for format in FORMATS if format.suffix == wanted), None)


def find_format(name: str) -> Format:
    """The format with this name. Raises KeyError if there is none."""
    return {format.name: format for format in FORMATS}[name]
