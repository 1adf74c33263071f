"""A statement and its answer on a page: the statement in colours, tables that can be sorted, the picture, notes and
signature.
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
"""Where cells of a rectangle lead to, by row and column."""


def no_links(rectangle: Rectangle) -> Mapping[tuple[int, int], str]:
    """No cell leads anywhere."""
    return {}


def highlighted(pieces: Sequence[Piece]) -> str:
    """A statement, each piece in the colour of its kind."""
    return f'<pre class="query"><code>{coloured(pieces)}</code></pre>'


def coloured(pieces: Sequence[Piece]) -> str:
    """The same within a line."""
    return "".join(
        lines(piece.text) if piece.kind == "blank" else f'<span class="{piece.kind}">{lines(piece.text)}</span>'
        for piece in pieces
    )


def tables(result: Result, title: str, style: Style, linked: Linked = no_links) -> list[str]:
    """The tables of a result, each in a box that scrolls where it has no room."""
    drawn = unbounded_rectangles(result, style)
    captions = [f"{title}: {rectangle.title}" if rectangle.title else title for rectangle in drawn]
    if result.summary_table.rows and len(drawn) > 1:
        captions[-1] = f"{title}: summary"
    # A triangle has its order in its numbers; sorted, it would be none.
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
    """What names all that decides the result."""
    return f'<p class="signature">Signature: <code>{text(result.signature)}</code></p>'


def notes(result: Result) -> tuple[str, ...]:
    """What stands below a result, except what its picture already says."""
    if result.chart is not None:
        return tuple(note for note in result.notes if note not in result.chart.notes)
    return notes_below(result)


def lines(plain: str) -> str:
    """A text of several lines, every character of which is visible and none is markup."""
    return "\n".join(text(line) for line in plain.split("\n"))


# --- pictures ---------------------------------------------------------------------------------------------------------


def picture(chart: Chart, name: str) -> str:
    """A picture as part of the page, described in words. Raises WarehouseError where pictures cannot be drawn."""
    return f'<div class="picture" role="img" aria-label="{text(described(chart))}">{_svg(chart, name)}</div>'


def described(chart: Chart) -> str:
    """What a picture shows and what stands below it, for readers who cannot see it."""
    return " ".join([chart.alternative or chart.title, *(f"{note[:1].upper()}{note[1:]}." for note in chart.notes)])


@lru_cache(maxsize=64)
def _svg(chart: Chart, name: str) -> str:
    """A picture as part of the page, its parts known by names that no other picture has."""
    from warehouse.render.vega import svg

    def fitted(tag: re.Match[str]) -> str:
        # The picture as a whole is described in words; what its parts are called, a third of its size, is not read.
        bare = re.sub(r'\s(role|aria-\w+|xmlns(:\w+)?)="[^"]*"', "", tag[0])
        return re.sub(r'(\sid="|url\(#|href="#)', rf"\g<1>{name}-", bare)

    # In what vl-convert draws, a > that ends no tag is written as &gt;.
    return re.sub(r"<[a-z][^>]*>", fitted, svg(chart))
