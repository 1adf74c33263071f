"""PAGES is the only table of the pages: the heading and the content of each. A page is a function that takes a
session's answers and an address and yields its blocks one at a time, so that finished blocks are shown while the rest
is being computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from evalhouse.warehouse.render.site.contents import PageBlock, PageHeading
from evalhouse.warehouse.web.addresses import Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages import document, imports, leaderboard, overview, pair, parts, system


class PageKind(Struct, frozen=True):
    """A kind of page: its heading, which needs no computation, and its blocks."""

    heading: Callable[[Address, Links], PageHeading]
    blocks: Callable[[Inquiry, Address, Links], Iterator[PageBlock]]


PAGES: Mapping[str, PageKind] = {
    "warehouse": PageKind(overview.heading, overview.blocks),
    "imports": PageKind(imports.heading, imports.blocks),
    "statement": PageKind(parts.heading, parts.blocks),
    "test set": PageKind(leaderboard.heading, leaderboard.blocks),
    "pair": PageKind(pair.heading, pair.blocks),
    "document": PageKind(document.heading, document.blocks),
    "system": PageKind(system.heading, system.blocks),
}
"""The pages by kind of address. If the address of the warehouse's page contains a statement, the page is that of the
statement.
"""


def page_of(address: Address) -> PageKind:
    """The kind of page at an address."""
    return PAGES["statement" if address.kind == "warehouse" and address.one_of("q") else address.kind]
