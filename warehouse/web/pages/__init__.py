"""PAGES is the only table of the pages: the heading and the content of each. A page is a function that takes a
session's answers and an address and yields its blocks one at a time, so that finished blocks are shown while the rest
is being computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from warehouse.render.site.contents import PageBlock, PageHeading
from warehouse.web.addresses import Address
from warehouse.web.inquiry import Inquiry
from warehouse.web.links import Links
from warehouse.web.pages import document_page, leaderboard, overview, pair_page, statement_page, system_page


class PageKind(Struct, frozen=True):
    """A kind of page: its heading, which needs no computation, and its blocks."""

    heading: Callable[[Address, Links], PageHeading]
    blocks: Callable[[Inquiry, Address, Links], Iterator[PageBlock]]


PAGES: Mapping[str, PageKind] = {
    "warehouse": PageKind(overview.heading, overview.blocks),
    "statement": PageKind(statement_page.heading, statement_page.blocks),
    "test set": PageKind(leaderboard.heading, leaderboard.blocks),
    "pair": PageKind(pair_page.heading, pair_page.blocks),
    "document": PageKind(document_page.heading, document_page.blocks),
    "system": PageKind(system_page.heading, system_page.blocks),
}
"""The pages by kind of address. If the address of the warehouse's page contains a statement, the page is that of the
statement.
"""


def page_of(address: Address) -> PageKind:
    """The kind of page at an address."""
    return PAGES["statement" if address.kind == "warehouse" and address.one_of("q") else address.kind]
