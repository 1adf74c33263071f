"""Draws a statement and its answer on a page: the statement in colours, tables that can be sorted, the picture, the
notes and the signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from warehouse.charts import Chart
from warehouse.render.panels import Rectangle
from warehouse.render.rectangle import notes_below, unbounded_rectangles
from warehouse.render.site.pieces import Piece
from warehouse.render.style import Style
from warehouse.render.web import table, text
from warehouse.results import Result

Linked = Callable[[Rectangle], Mapping[tuple[int, int], str]]
"""The links of a rectangle's cells, by row and column."""


def no_links(rectangle: Rectangle) -> Mapping[tuple[int, int], str]:
    """Links no cell."""
    return {}


def highlighted(pieces: Sequence[Piece]) -> str:
    """A statement with each piece in the colour of its kind."""
    return f'<pre class="query"><code>{coloured(pieces)}</code></pre>'


def coloured(pieces: Sequence[Piece]) -> str:
    """The same as inline text."""
    return "".join(
        lines(piece.text) if piece.kind == "blank" else f'<span class="{piece.kind}">{lines(piece.text)}</span>'
        for piece in pieces
    )


def tables(result: Result, title: str, style: Style, linked: Linked = no_links) -> list[str]:
    """The tables of a result, each in a box that scrolls if there is not enough space."""
    drawn = unbounded_rectangles(result, style)
    captions = [f"{title}: {rectangle.title}" if rectangle.title else title for rectangle in drawn]
    if result.summary_table.rows and len(drawn) > 1:
        captions[-1] = f"{title}: summary"
    # The numbers of a triangle depend on its order, so it must not be sorted.
    sortable = result.triangle is None
    return [
        f'<div class="table">{table(rectangle, sortable=sortable, caption=caption, links=linked(rectangle))}</div>'
        for rectangle, caption in zip(drawn, captions, strict=True)
    ]


def listed_notes(result: Result) -> list[str]:
    """The notes below a result."""
    items = [f"<li>{text(note)}</li>" for note in notes(result)]
    return ['<ul class="notes">', *items, "</ul>"] if items else []


def signature(result: Result) -> str:
    """The signature, which lists everything that determines the result."""
    return f'<p class="signature">Signature: <code>{text(result.signature)}</code></p>'


def notes(result: Result) -> tuple[str, ...]:
    """The text below a result, except what its picture already says."""
    if result.chart is not None:
        return tuple(note for note in result.notes if note not in result.chart.notes)
    return notes_below(result)


def lines(plain: str) -> str:
    """A text of several lines. Every character is visible, and none is markup."""
    return "\n".join(text(line) for line in plain.split("\n"))


# --- pictures ---------------------------------------------------------------------------------------------------------


def picture(chart: Chart, name: str) -> str:
    """A picture as part of the page, with a description in words. Raises WarehouseError if pictures cannot be drawn."""
    return f'<div class="picture" role="img" aria-label="{text(described(chart))}">{_svg(chart, name)}</div>'


def described(chart: Chart) -> str:
    """A description of a picture and the text below it, for readers who cannot see it."""
    return " ".join([chart.alternative or chart.title, *(f"{note[:1].upper()}{note[1:]}." for note in chart.notes)])


@lru_cache(maxsize=64)
def _svg(chart: Chart, name: str) -> str:
    """A picture as part of the page. The names of its parts differ from those of other pictures."""
    from warehouse.render.vega import svg

    def fitted(tag: re.Match[str]) -> str:
        # The picture as a whole has a description. The labels of its parts, which are a third of its size, are never
        # read.
        bare = re.sub(r'\s(role|aria-\w+|xmlns(:\w+)?)="[^"]*"', "", tag[0])
        return re.sub(r'(\sid="|url\(#|href="#)', rf"\g<1>{name}-", bare)

    # vl-convert writes &gt; for every > that does not end a tag.
    return re.sub(r"<[a-z][^>]*>", fitted, svg(chart))
