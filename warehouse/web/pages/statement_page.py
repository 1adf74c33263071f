"""The page of any statement: the statement in a box, and its answer."""

from __future__ import annotations

from collections.abc import Iterator

from grammar.errors import QueryError
from warehouse.render.diagnostics import diagnosis
from warehouse.render.site.contents import Failure, Form, FormField, Link, PageBlock, PageHeading
from warehouse.web.addresses import Address
from warehouse.web.inquiry import Inquiry
from warehouse.web.links import HOME, Links
from warehouse.web.pages.parts import answer, pairs_of

LONGEST_TITLE = 80
"""A statement used as a title is cut after this many characters."""


def heading(address: Address, links: Links) -> PageHeading:
    """The statement, in one line."""
    statement = " ".join(address.one_of("q").split())
    title = f"{statement[:LONGEST_TITLE]}…" if len(statement) > LONGEST_TITLE else statement
    return PageHeading(title, (Link("Evaluations", links.to(HOME)),), asks=False)


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """The box, and one answer after another up to the first error."""
    statement = address.one_of("q").replace("\r\n", "\n")
    box = FormField("q", "Statement", "statement", chosen=(statement,))
    yield Form("", links.to(HOME), (box,), button="Ask", completes=links.completing)
    try:
        for result in inquiry.all_of(statement):
            yield answer(result, links)
            yield from pairs_of(result, links)
    except QueryError as error:
        yield Failure(diagnosis(error, statement))
