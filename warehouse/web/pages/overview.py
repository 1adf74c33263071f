"""The page of the warehouse: what to ask, the systems by test sets, the test sets themselves, and the systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    Views,
)
from evalhouse.warehouse.session.first_questions import FirstTable, first_tables
from evalhouse.warehouse.web.addresses import Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages.parts import answer, answer_statement

MOST_LISTED = 500
"""The number of systems or imports that are listed."""


def heading(address: Address, links: Links) -> PageHeading:
    """The title of the top page, which is above all others."""
    return PageHeading("Evaluations")


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """Questions to begin with, results, test sets and systems."""
    test_sets, systems, imports = (inquiry.one(f"show {what}") for what in ("test sets", "systems", "imports"))
    if any(row["simulated"] == "yes" for row in imports.rows):
        yield Paragraphs(
            ("Simulated data: some rows of this warehouse are simulated; captions of results on them say so.",)
        )
    # What was observed comes before what was printed.
    tables = sorted(first_tables(inquiry.catalog, named=inquiry.measures), key=lambda table: not table.by_document)
    yield from _questions(tables, links)
    yield from _results(inquiry, tables, links)
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
    yield Views("The sources", (Link("Where the numbers come from", links.to(Address("imports"))),), alike=False)


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


MOST_QUESTIONS = 3

MOST_TABLES = 6
"""With more kinds of results than this, those of the other test sets are on their own pages."""

MOST_COLUMNS = 12
"""With more test sets than this, only what systems have over all of them is shown, if that has sense."""


def _questions(tables: Sequence[FirstTable], links: Links) -> Iterator[PageBlock]:
    """Questions to begin with, where a server answers."""
    questions = [question for table in tables[:1] for question in table.questions_on(table.pair)]
    found = tuple(Link(question, links.asking(question)) for question in questions[:MOST_QUESTIONS])
    if found and all(link.href for link in found):
        yield Views("Questions to begin with", found, alike=False)


def _results(inquiry: Inquiry, tables: Sequence[FirstTable], links: Links) -> Iterator[PageBlock]:
    """The systems on the test sets of each kind, with the average over these as the last column where it has sense."""
    if tables:
        yield Headline("Results", "results")
    for table in tables[:MOST_TABLES]:
        few = len(table.test_sets) <= MOST_COLUMNS
        shown = answer_statement(inquiry, table.plain if few or not table.averaged else table.together)
        yield shown if isinstance(shown, Failure) else answer(shown, links)
    if len(tables) > MOST_TABLES:
        yield Paragraphs((f"The first {MOST_TABLES} of {len(tables):,} tables; each test set below has its own page.",))
