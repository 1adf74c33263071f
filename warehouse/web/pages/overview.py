"""The page of the warehouse: its evaluations and test sets, its systems, and the sources of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evalhouse.warehouse.render.site.contents import (
    Headline,
    Link,
    ListCell,
    ListColumn,
    Listing,
    PageBlock,
    PageHeading,
    Paragraphs,
)
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.web.addresses import Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages.parts import answer

MOST_LISTED = 500
"""The number of systems or imports that are listed."""


def heading(address: Address, links: Links) -> PageHeading:
    """The title of the top page, which is above all others."""
    return PageHeading("Evaluations")


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """Test sets, systems and imports."""
    test_sets, systems, imports = (inquiry.one(f"show {what}") for what in ("test sets", "systems", "imports"))
    if any(row["simulated"] == "yes" for row in imports.rows):
        yield Paragraphs(
            ("Simulated data: some rows of this warehouse are simulated; captions of results on them say so.",)
        )
    known = inquiry.catalog.test_sets
    of_test_sets = [row for row in test_sets.rows if row["observed"] is not None]
    names = [inquiry.catalog.short_name(test_set) for test_set in known]
    yield Headline("Test sets", "test-sets")
    yield Listing(
        "Test sets",
        (
            ListColumn("evaluation", "name"),
            ListColumn("test set", "name"),
            ListColumn("observed"),
            ListColumn("systems", "number"),
        ),
        tuple(
            (
                str(row["evaluation"] or "–"),
                Link(name, links.to(Address("test set", (name,)))),
                str(row["observed"]),
                str(row["systems"]),
            )
            for name, row in zip(names, of_test_sets, strict=True)
        ),
        titled=False,
        empty="no test sets yet: load some with evalhouse load",
    )
    yield answer(test_sets, links, drawn=False)
    yield Headline("Systems", "systems")
    runs = any(column.name == "runs" for column in systems.table.columns)
    yield Listing(
        "Systems",
        (
            ListColumn("system", "name"),
            ListColumn("test sets"),
            *((ListColumn("runs", "number"),) if runs else ()),
            ListColumn("rows", "number"),
        ),
        tuple(
            (
                Link(str(row["system"]), links.to(Address("system", (str(row["system"]),)))),
                str(row["test_sets"] or "–"),
                *((f"{row['runs']:,}",) if runs else ()),
                f"{sum(cell for name, cell in row.items() if isinstance(cell, int) and name != 'runs'):,}",
            )
            for row in systems.rows[:MOST_LISTED]
        ),
        titled=False,
        empty="no system yet",
    )
    if len(systems.rows) > MOST_LISTED:
        yield Paragraphs((f"The first {MOST_LISTED:,} of {len(systems.rows):,} systems.",))
    yield answer(systems, links, drawn=False)
    yield Headline("Where the numbers come from", "imports")
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
