"""The page of a system: its values on all its test sets."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.render.site.contents import Failure, Link, PageBlock, PageHeading
from warehouse.web.addresses import Address
from warehouse.web.inquiry import Inquiry, typed
from warehouse.web.links import HOME, Links
from warehouse.web.offered import offers
from warehouse.web.pages.parts import answer, answered


def heading(address: Address, links: Links) -> PageHeading:
    """The name of the system."""
    return PageHeading(address.names[0], (Link("Evaluations", links.to(HOME)),))


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """An answer for each test set and kind of rows."""
    (name,) = address.names
    number = inquiry.system(name)
    for test_set in inquiry.catalog.test_sets:
        for offer in offers(inquiry, test_set):
            if number not in inquiry.catalog.systems_with(offer.task.name, test_set.id):
                continue
            here = typed(inquiry.catalog.short_name(test_set))
            interval = " interval" if offer.task.by_document else ""
            tail = f"for {typed(name)} on {here}{offer.of}"
            scored = answered(inquiry, f"score {', '.join(offer.first)} {tail}{interval}")
            if isinstance(scored, Failure) and interval:
                scored = answered(inquiry, f"score {', '.join(offer.first)} {tail}")
            yield scored if isinstance(scored, Failure) else answer(scored, links)
