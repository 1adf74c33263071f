"""A page of the site as data: a heading, then one block after another. Nothing here draws, asks questions or makes
addresses. The code that describes a page decides where its links lead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from warehouse.render.site.drawn_answers import Linked, no_links
from warehouse.results import Result


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


ListCell = str | Link | IntervalBar


class Listing(Struct, frozen=True):
    """A table whose cells may be links and intervals. The first column that is not numeric names the rows."""

    title: str
    columns: tuple[ListColumn, ...]
    rows: tuple[tuple[ListCell, ...], ...]
    empty: str = "nothing yet"
    """The text shown if there are no rows."""
    titled: bool = True
    """Whether the title is visible. It can be hidden if a heading directly above says the same."""


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
    """The position in a long list, and the links to its previous and next parts."""

    said: str
    before: str = ""
    after: str = ""


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
    texts: tuple[tuple[str | Link, str, str], ...]


class Failure(Struct, frozen=True):
    """An error with its place and what would be right, as it is drawn for people."""

    text: str
    title: str = "Not answered"


class Headline(Struct, frozen=True):
    """A heading for the blocks after it."""

    title: str
    anchor: str = ""


class Beside(Struct, frozen=True):
    """Blocks that are drawn side by side if there is space."""

    blocks: tuple[PageBlock, ...]


PageBlock = (
    Beside | Failure | Form | Headline | Listing | Pager | Paragraphs | ShownAnswer | Texts | VerdictSentence | Views
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
