"""A page of the site as data: a head, and one block after another. Nothing here draws, asks or makes addresses: where a
link leads to is said by whoever describes the page.
"""

from __future__ import annotations

from collections.abc import Mapping

from grammar.value import value
from warehouse.render.site.drawn_answers import Linked, no_links
from warehouse.results import Result


@value
class Link:
    """A text that leads somewhere."""

    label: str
    href: str


@value
class PageHeading:
    """What a page is about: its title, the pages above it, and whether the box for statements stands at its top."""

    title: str
    trail: tuple[Link, ...] = ()
    asks: bool = True


@value
class Paragraphs:
    """Sentences, a paragraph each."""

    sentences: tuple[str, ...]


@value
class VerdictSentence:
    """What was found, in a sentence; `sign` says which look it has: significant, open or plain."""

    sentence: str
    sign: str = "plain"


@value
class Copies:
    """What can be taken away of an answer: where it can be asked again, how it is asked elsewhere, by what that is
    called, and where its files are.
    """

    again: str = ""
    elsewhere: tuple[tuple[str, str], ...] = ()
    files: tuple[Link, ...] = ()


@value
class ShownAnswer:
    """A statement with its answer. Where the answer is drawn elsewhere on the page, the statement and its notes are
    shown.
    """

    title: str
    result: Result
    copies: Copies
    linked: Linked = no_links
    drawn: bool = True
    folded: bool = True
    """Whether the numbers of a picture are folded up."""
    caption: str = ""
    """What the answer is of and how it was tested, where the title does not say it."""


@value
class IntervalBar:
    """A value with its limits, drawn on a scale that all of its column share."""

    value: float | None
    low: float | None
    high: float | None
    least: float
    most: float
    text: str
    """The limits as they are written."""


@value
class ListColumn:
    """A heading, and what stands below it: texts, numbers, letters or intervals."""

    heading: str
    kind: str = "text"
    hint: str = ""
    """What the heading means, for whoever points at it."""


ListCell = str | Link | IntervalBar


@value
class Listing:
    """A table of which cells may be links and intervals. The first column that is no number names the rows."""

    title: str
    columns: tuple[ListColumn, ...]
    rows: tuple[tuple[ListCell, ...], ...]
    empty: str = "nothing yet"
    """What is said where there are no rows."""
    titled: bool = True
    """Whether the title is seen; a heading right above it may say the same."""


@value
class FormField:
    """A field of a form: its name in the address, what it is called, its kind (boxes, one of, text, statement), what
    can be chosen, as it is sent and as it is called, and what is chosen.
    """

    name: str
    label: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()
    chosen: tuple[str, ...] = ()
    hint: str = ""


@value
class Form:
    """Choices that lead to a page, with what is sent along unseen."""

    title: str
    action: str
    choices: tuple[FormField, ...]
    hidden: tuple[tuple[str, str], ...] = ()
    button: str = "Show"
    completes: str = ""
    """Where a field for statements finds what may be typed next; empty where nobody answers."""


@value
class Pager:
    """Where one is in a long list, and the ways on and back."""

    said: str
    before: str = ""
    after: str = ""


@value
class Views:
    """Pages that show the same thing in other ways, of which the one that is shown leads nowhere; or other pages that
    one may go on to.
    """

    title: str
    links: tuple[Link, ...]
    alike: bool = True
    """Whether they show the same."""


@value
class Texts:
    """Texts of one document, beside or below each other, each with who wrote it and what it was worth."""

    title: str
    texts: tuple[tuple[str | Link, str, str], ...]


@value
class Failure:
    """What is wrong, with its place and what would be right, as it is drawn for people."""

    text: str
    title: str = "Not answered"


@value
class Headline:
    """A heading that later blocks stand below."""

    title: str
    anchor: str = ""


@value
class Beside:
    """Blocks that stand beside each other where there is room."""

    blocks: tuple[PageBlock, ...]


PageBlock = (
    Beside | Failure | Form | Headline | Listing | Pager | Paragraphs | ShownAnswer | Texts | VerdictSentence | Views
)


@value
class Surroundings:
    """What is the same on all pages of a site: links at the top, where the look and the script are, and what stands at
    the bottom.
    """

    home: Link
    ask: str
    """Where statements are sent; empty where nobody answers them."""
    completes: str
    assets: Mapping[str, str]
    foot: tuple[str, ...] = ()
    policy: str = ""
    """What a page may load and run, where no server says it."""
    canonical: str = ""
    """The address that the page will have, where that is known."""
