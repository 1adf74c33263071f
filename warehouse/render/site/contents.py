"""A page of the site as data: a heading, then one block after another.

Pages are described here and drawn elsewhere. Nothing here asks questions or makes addresses. The code that describes
a page decides where its links lead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from evalhouse.grammar.editing.highlighting import tokens
from evalhouse.grammar.study import PROSE
from evalhouse.warehouse.charts import Chart
from evalhouse.warehouse.render.html import table, text
from evalhouse.warehouse.render.panels import Rectangle
from evalhouse.warehouse.render.rectangle import has_summary, notes_below, unbounded_rectangles
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import Result

# === pieces of a statement ============================================================================================
# They are highlighted.


class Piece(Struct, frozen=True):
    """A part of a statement: its kind (keyword, name, number, text, variable, comment, operator, error, or blank) and
    its text.
    """

    kind: str
    text: str


def pieces_of(text: str) -> tuple[Piece, ...]:
    """A statement as pieces, without the prose in it."""
    pieces: list[Piece] = []
    end = 0
    for token in tokens(text):
        blank = text[end : token.span.start]
        written = text[token.span.start : token.span.end]
        end = token.span.end
        if written.startswith(PROSE):
            continue
        if blank:
            pieces.append(Piece("blank", blank))
        pieces.append(Piece(token.kind, written))
    return tuple(pieces)


# === a statement and its answer =======================================================================================
# The statement in colours, tables that can be sorted, the picture, the notes and the signature, as HTML.

Linked = Callable[[Rectangle], Mapping[tuple[int, int], str]]
"""The links of a rectangle's cells, by row and column."""


def no_links(rectangle: Rectangle) -> Mapping[tuple[int, int], str]:
    """Links no cell."""
    return {}


def highlight(pieces: Sequence[Piece]) -> str:
    """A statement with each piece in the colour of its kind."""
    return f'<pre class="query"><code>{colour_text(pieces)}</code></pre>'


def colour_text(pieces: Sequence[Piece]) -> str:
    """The same as inline text."""
    return "".join(
        lines(piece.text) if piece.kind == "blank" else f'<span class="{piece.kind}">{lines(piece.text)}</span>'
        for piece in pieces
    )


def tables(result: Result, title: str, style: Style, linked: Linked = no_links, *, cards: str = "") -> list[str]:
    """The tables of a result, each in a box that scrolls if there is not enough space. If `cards` is the name of the
    heading above them, their rows are cards, one line a cell, on a screen as narrow as a telephone's.
    """
    drawn = unbounded_rectangles(result, style)
    captions = [f"{title}: {rectangle.title}" if rectangle.title else title for rectangle in drawn]
    if has_summary(result) and len(drawn) > 1:
        captions[-1] = f"{title}: summary"
    # The numbers of a triangle depend on its order, so it must not be sorted.
    sortable = result.triangle is None
    if cards:
        of_cards = [table(rows, sortable=sortable, links=linked(rows), cards=cards) for rows in drawn]
        return [f'<div class="table cards">{drawn_table}</div>' for drawn_table in of_cards]
    return [
        f'<div class="table">{table(rectangle, sortable=sortable, caption=caption, links=linked(rectangle))}</div>'
        for rectangle, caption in zip(drawn, captions, strict=True)
    ]


def listed_notes(result: Result, *, drawn: bool = True) -> list[str]:
    """The notes below a result, which may be drawn elsewhere."""
    items = [f"<li>{text(note)}</li>" for note in notes(result, drawn=drawn)]
    return ['<ul class="notes">', *items, "</ul>"] if items else []


def sentence(result: Result) -> list[str]:
    """What the rows of a result say, above them; none where no sentence can sum them up."""
    return [f'<p class="sentence">{text(result.sentence)}</p>'] if result.sentence else []


def proof(result: Result) -> list[str]:
    """How that was found, in few words, below the rows."""
    return [f'<p class="proof">{text(result.foot)}</p>'] if result.signed and result.foot else []


def signature(result: Result) -> str:
    """The signature, which lists everything that determines the result."""
    return f'<p class="signature">Signature: <code>{text(result.signature)}</code></p>'


def notes(result: Result, *, drawn: bool = True) -> tuple[str, ...]:
    """The text below a result, except what its picture already says, and what is said of tables that are not `drawn`:
    how many of their rows are shown, and what their marks mean.
    """
    if result.chart is not None:
        return tuple(note for note in result.folded_notes if note not in result.chart.notes)
    return notes_below(result) if drawn else result.folded_notes


def lines(plain: str) -> str:
    """A text of several lines. Every character is visible, and none is markup."""
    return "\n".join(text(line) for line in plain.split("\n"))


# --- pictures ---------------------------------------------------------------------------------------------------------


def picture(chart: Chart, name: str) -> str:
    """A picture as part of the page, with a description in words. Raises WarehouseError if pictures cannot be drawn."""
    return f'<div class="picture" role="img" aria-label="{text(describe_chart(chart))}">{_svg(chart, name)}</div>'


def describe_chart(chart: Chart) -> str:
    """A description of a picture and the text below it, for readers who cannot see it."""
    return " ".join([chart.alternative or chart.title, *(f"{note[:1].upper()}{note[1:]}." for note in chart.notes)])


@lru_cache(maxsize=64)
def _svg(chart: Chart, name: str) -> str:
    """A picture as part of the page. The names of its parts differ from those of other pictures."""
    from evalhouse.warehouse.render.vegalite import svg

    def fitted(tag: re.Match[str]) -> str:
        # The picture as a whole has a description. The labels of its parts, which are a third of its size, are never
        # read.
        bare = re.sub(r'\s(role|aria-\w+|xmlns(:\w+)?)="[^"]*"', "", tag[0])
        return re.sub(r'(\sid="|url\(#|href="#)', rf"\g<1>{name}-", bare)

    # vl-convert writes &gt; for every > that does not end a tag.
    return re.sub(r"<[a-z][^>]*>", fitted, svg(chart))


# === blocks of a page =================================================================================================


class Link(Struct, frozen=True):
    """A text that links to a page."""

    label: str
    href: str


class PageHeading(Struct, frozen=True):
    """The topic of a page: its title, the pages above it, and whether the box for statements is at its top."""

    title: str
    trail: tuple[Link, ...] = ()
    asks: bool = True


class Paragraphs(Struct, frozen=True):
    """Sentences, each in its own paragraph."""

    sentences: tuple[str, ...]


class VerdictSentence(Struct, frozen=True):
    """A finding in one sentence. `sign` is its look: significant, open or plain."""

    sentence: str
    sign: str = "plain"


class Copies(Struct, frozen=True):
    """The ways to reuse an answer: the link that asks it again, the same question for other programs with the names of
    these, and its files.
    """

    again: str = ""
    elsewhere: tuple[tuple[str, str], ...] = ()
    files: tuple[Link, ...] = ()


class ShownAnswer(Struct, frozen=True):
    """A statement with its answer. If the answer is drawn elsewhere on the page, only the statement and its notes are
    shown.
    """

    title: str
    result: Result
    copies: Copies
    linked: Linked = no_links
    drawn: bool = True
    folded: bool = True
    """Whether the data of a picture are folded."""
    caption: str = ""
    """What the answer is about and how it was tested, if the title does not say it."""
    cards: bool = False
    """Whether each row is a card where the screen is narrow."""
    closed: bool = False
    """Whether all but the title is folded, because the page shows the values elsewhere."""


class IntervalBar(Struct, frozen=True):
    """A value with its limits, drawn on a scale that the whole column shares."""

    value: float | None
    low: float | None
    high: float | None
    least: float
    most: float
    text: str
    """The limits as text."""


class ListColumn(Struct, frozen=True):
    """A heading with its column: texts, numbers, letters or intervals."""

    heading: str
    kind: str = "text"
    hint: str = ""
    """The meaning of the heading, shown when the pointer is on it."""


class Marked(Struct, frozen=True):
    """A text in pieces, each with whether it is marked, because another text does not have it there."""

    pieces: tuple[tuple[str, bool], ...]


class Judged(Struct, frozen=True):
    """What a system got on a document, where that is either right or wrong."""

    text: str
    right: bool


class Tick(Struct, frozen=True):
    """A box to tick: what is sent if it is ticked, and what it is called where it is not seen."""

    name: str
    value: str
    label: str


class Ticked(Struct, frozen=True):
    """Where the ticked rows of a list are sent, what the button says, and hidden values that are sent with them."""

    action: str
    button: str
    hidden: tuple[tuple[str, str], ...] = ()


ListCell = str | Link | IntervalBar | Marked | Judged | Tick


Order = Literal["ascending", "descending"]


class Listing(Struct, frozen=True):
    """A table whose cells may be links and intervals. The first column that is not numeric names the rows."""

    title: str
    columns: tuple[ListColumn, ...]
    rows: tuple[tuple[ListCell, ...], ...]
    empty: str = "nothing yet"
    """The text shown if there are no rows."""
    titled: bool = True
    """Whether the title is visible. It can be hidden if a heading directly above says the same."""
    stepped: bool = False
    """Whether the keys j and k step through the links of its rows."""
    order: tuple[int, Order] | None = None
    """The column by which the rows are sorted, if by any."""
    ticked: Ticked | None = None
    """What is done with the rows that are ticked, if rows can be."""


ChoiceKind = Literal["boxes", "one of", "text", "statement"]


class FormField(Struct, frozen=True):
    """A field of a form: its name in the address, its label, its kind, the choices as they are sent and as they are
    labelled, and the current choice.
    """

    name: str
    label: str
    kind: ChoiceKind
    options: tuple[tuple[str, str], ...] = ()
    chosen: tuple[str, ...] = ()
    hint: str = ""


class Form(Struct, frozen=True):
    """Choices that lead to a page, and hidden values that are sent with them."""

    title: str
    action: str
    choices: tuple[FormField, ...]
    hidden: tuple[tuple[str, str], ...] = ()
    button: str = "Show"
    completes: str = ""
    """Where a field for statements gets its completions; empty if no server answers."""


class Pager(Struct, frozen=True):
    """The links to what comes before and after: the parts of a long list with the position in it, or other pages."""

    said: str
    before: str = ""
    after: str = ""
    label: str = "Pages of the list"


class Views(Struct, frozen=True):
    """Pages that show the same thing in other ways, where the current one has no link; or other pages that readers may
    continue with.
    """

    title: str
    links: tuple[Link, ...]
    alike: bool = True
    """Whether they show the same thing."""


class Texts(Struct, frozen=True):
    """The texts of one document, beside or below each other, each with its author and its score."""

    title: str
    texts: tuple[tuple[str | Link, str, str | Marked], ...]


class Failure(Struct, frozen=True):
    """An error with its place and what would be right, as it is drawn for people."""

    text: str
    title: str = "Not answered"


class Explanation(Struct, frozen=True):
    """Help on a word, in lines as a terminal shows them."""

    text: str


class Headline(Struct, frozen=True):
    """A heading for the blocks after it."""

    title: str
    anchor: str = ""


PageBlock = (
    Explanation
    | Failure
    | Form
    | Headline
    | Listing
    | Pager
    | Paragraphs
    | ShownAnswer
    | Texts
    | VerdictSentence
    | Views
)


class Surroundings(Struct, frozen=True):
    """The parts that all pages of a site share: the links at the top, the addresses of the style sheet and the script,
    and the text at the bottom.
    """

    home: Link
    ask: str
    """The address that statements are sent to; empty if no server answers them."""
    completes: str
    assets: Mapping[str, str]
    foot: tuple[str, ...] = ()
    policy: str = ""
    """What a page may load and run, if no server sends this policy as a header."""
    canonical: str = ""
    """The future address of the page, if it is known."""
