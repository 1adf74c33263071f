"""The page of the imports: the files that the numbers come from, with how they were read and their digests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evalhouse.warehouse.render.site.contents import (
    Link,
    ListCell,
    ListColumn,
    Listing,
    PageBlock,
    PageHeading,
    Paragraphs,
)
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.web.addresses import HOME, Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages.parts import answer

MOST_LISTED = 500
"""The number of imports that are listed."""


def heading(address: Address, links: Links) -> PageHeading:
    """What the page is about."""
    return PageHeading("Where the numbers come from", (Link("Evaluations", links.to(HOME)),))


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """A row for each import."""
    imports = inquiry.one("show imports")
    yield Listing(
        "Imports",
        (
            ListColumn("import", "number"),
            ListColumn("file", "name"),
            ListColumn("read as"),
            ListColumn("rows", "number"),
            ListColumn("texts", "number"),
            ListColumn("loaded"),
            ListColumn("simulated"),
            ListColumn("SHA-256", "hash"),
        ),
        tuple(_import(row) for row in imports.rows[:MOST_LISTED]),
        titled=False,
        empty="nothing was loaded yet",
    )
    if len(imports.rows) > MOST_LISTED:
        yield Paragraphs((f"The first {MOST_LISTED:,} of {len(imports.rows):,} imports.",))
    yield answer(imports, links, drawn=False)


def _import(row: Mapping[str, Cell]) -> tuple[ListCell, ...]:
    source = str(row["source"])
    # The folder of a file on the machine that loaded it tells other readers nothing.
    name = PurePath(source).name if PurePath(source).is_absolute() else source
    shown = ("reader", "imported_at", "simulated", "sha256")
    reader, loaded, simulated, digest = (str(row[column]) for column in shown)
    texts = f"{row['texts']:,}" if row["texts"] else ""
    return str(row["import"]), name, reader, f"{row['rows']:,}", texts, loaded, simulated, digest[:12]
