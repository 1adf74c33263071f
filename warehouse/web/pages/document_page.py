"""The page of a document: what each system made of it, and what it was worth."""

from __future__ import annotations

from collections.abc import Iterator

from grammar.lexicon import quoted
from warehouse.render.site.contents import Failure, Link, PageBlock, PageHeading
from warehouse.web.addresses import Address
from warehouse.web.inquiry import Inquiry, MissingError, typed
from warehouse.web.links import HOME, Links
from warehouse.web.offered import offers
from warehouse.web.pages.parts import answer, answered


def heading(address: Address, links: Links) -> PageHeading:
    """The name of the document."""
    test_set, document = address.names
    trail = (Link("Evaluations", links.to(HOME)), Link(test_set, links.to(Address("test set", (test_set,)))))
    return PageHeading(f"{document} of {test_set}", trail)


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """The values of all systems, for each kind of rows."""
    name, document = address.names
    found = False
    for offer in offers(inquiry, inquiry.test_set(name)):
        if not offer.task.by_document:
            continue
        statement = (
            f"score {', '.join(offer.first)} for all on {typed(name)}{offer.of} where document = {quoted(document)}"
        )
        scored = answered(inquiry, statement)
        if isinstance(scored, Failure) or not scored.table.rows:
            continue
        found = True
        yield answer(scored, links)
    if not found:
        raise MissingError(f"there is no document {document!r} on {name}")
