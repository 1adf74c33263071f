"""The page of the warehouse: its evaluations and test sets, its systems, and the sources of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.offers import typed_name
from evalhouse.warehouse.render.site.contents import (
    Failure,
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
from evalhouse.warehouse.session.first_questions import first_tables
from evalhouse.warehouse.web.addresses import Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages.parts import answer, answer_statement

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
    yield from _groups(inquiry, links)
    yield answer(test_sets, links, drawn=False)
    yield from _over_test_sets(inquiry, links)
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


def _groups(inquiry: Inquiry, links: Links) -> Iterator[PageBlock]:
    """The groups of test sets, if there are any, and what is in each; where a server answers, their tables."""
    catalog = inquiry.catalog
    if not catalog.groups:
        return
    rows: list[tuple[ListCell, ...]] = []
    for group in catalog.groups.values():
        name, parts = catalog.short_name(group.test_set), list(map(catalog.short_name, group.parts))
        measures = [offer.first[0] for offer in inquiry.offers(group.parts[0])]
        asking = links.asking(f"table {measures[0]} for all on {typed_name(name)}") if measures else ""
        rows.append((Link(name, asking), f"{len(parts):,}", some(parts)))
    columns = ListColumn("group", "name"), ListColumn("test sets", "number"), ListColumn("which")
    yield Listing("Groups of test sets", columns, tuple(rows))


MOST_COLUMNS = 12
"""With more test sets than this, only what systems have over all of them is shown."""


def _over_test_sets(inquiry: Inquiry, links: Links) -> Iterator[PageBlock]:
    """The systems on the test sets of each kind, with the average over these as the last column."""
    tables = [table for table in first_tables(inquiry.catalog, named=inquiry.measures) if table.averaged]
    if tables:
        yield Headline("Averages over test sets", "averages")
    for table in tables:
        few = len(table.test_sets) <= MOST_COLUMNS
        shown = answer_statement(inquiry, table.plain if few else table.together)
        yield shown if isinstance(shown, Failure) else answer(shown, links)


def _import(row: Mapping[str, Cell]) -> tuple[ListCell, ...]:
    source = str(row["source"])
    # The folder of a file on the machine that loaded it tells other readers nothing.
    name = PurePath(source).name if PurePath(source).is_absolute() else source
    shown = ("reader", "imported_at", "simulated", "sha256")
    reader, loaded, simulated, digest = (str(row[column]) for column in shown)
    texts = f"{row['texts']:,}" if row["texts"] else ""
    return str(row["import"]), name, reader, f"{row['rows']:,}", texts, loaded, simulated, digest[:12]
