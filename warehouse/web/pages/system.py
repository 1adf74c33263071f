"""The page of a system: its values on all its test sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from evalhouse.warehouse.kinds import KINDS, Kind
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
)
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.web.addresses import HOME, Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages.leaderboard import caption_of, extent_of, interval, measured_columns
from evalhouse.warehouse.web.pages.parts import answer, answer_statement


def heading(address: Address, links: Links) -> PageHeading:
    """The name of the system."""
    return PageHeading(address.names[0], (Link("Evaluations", links.to(HOME)),))


class _SameQuestion(Struct, frozen=True):
    """Test sets that are asked the same question about the system."""

    task: Kind
    measures: tuple[str, ...]


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """A table for each kind of rows and measures."""
    (name,) = address.names
    numbers = inquiry.system(name)
    found: dict[_SameQuestion, list[str]] = {}
    several = False
    for test_set in inquiry.catalog.test_sets:
        for offer in inquiry.offers(test_set):
            if numbers & inquiry.catalog.systems_with(offer.kind.name, test_set.id):
                alike = _SameQuestion(offer.kind, offer.first)
                found.setdefault(alike, []).append(inquiry.catalog.short_name(test_set))
                several = several or offer.several
    order = list(KINDS)
    for alike, test_sets in sorted(found.items(), key=lambda item: order.index(item[0].task.name)):
        of = f" of {alike.task.name}" if several else ""
        yield from _values(inquiry, links, alike, name, test_sets, of)
        if len(numbers) > 1:
            runs = answer_statement(
                inquiry, f"score {', '.join(alike.measures)} {_tail(name, test_sets, of)} runs apart"
            )
            yield runs if isinstance(runs, Failure) else answer(runs, links, "Each run by itself")


def _tail(name: str, test_sets: Sequence[str], of: str) -> str:
    return f"for {typed_name(name)} on {', '.join(map(typed_name, test_sets))}{of}"


def _values(
    inquiry: Inquiry, links: Links, alike: _SameQuestion, name: str, test_sets: Sequence[str], of: str
) -> Iterator[PageBlock]:
    """One row per test set, with the interval of the first measure."""
    tail = _tail(name, test_sets, of)
    first, *others = alike.measures
    if not alike.task.by_document:
        # Printed figures have no intervals, and one caption names all tasks of which they were printed.
        first, others = ", ".join(alike.measures), []
    values = answer_statement(inquiry, f"score {first} {tail}{' interval' if alike.task.by_document else ''}")
    if isinstance(values, Failure):
        # With too few documents for an interval, there are still values.
        values = answer_statement(inquiry, f"score {first} {tail}")
    more = answer_statement(inquiry, f"score {', '.join(others)} {tail}") if others else None
    for wrong in (values, more):
        if isinstance(wrong, Failure):
            yield wrong
            return
    results = [result for result in (values, more) if result is not None and not isinstance(result, Failure)]
    column, *rest = [one for result in results for one in measured_columns(result)]
    rows: dict[str, dict[str, Cell]] = {}
    for result in results:
        for row in result.rows:
            # The system may lack the first measure on a test set. Where it has it, its documents are counted.
            known = rows.setdefault(str(row["test_set"]), {})
            rows[str(row["test_set"])] = {**row, **known}
    extent = extent_of(rows.values(), column)
    columns = [ListColumn("test set", "name"), ListColumn("documents", "number"), ListColumn(column.name, "number")]
    columns += [ListColumn("95% CI", "interval")] * column.has_interval
    columns += [ListColumn(one.name, "number") for one in rest]
    listed: list[tuple[ListCell, ...]] = []
    for test_set, row in rows.items():
        cells: list[ListCell] = [Link(test_set, links.to(Address("test set", (test_set,), (("of", alike.task.name),))))]
        counted = row.get("documents")
        one_by_one = links.asking(f"score {first} {_tail(name, [test_set], of)} by document")
        number = "–" if counted is None else f"{counted:,}"
        cells += [Link(number, one_by_one if alike.task.by_document else ""), column.shown(row)]
        cells += [interval(row, column, extent)] if column.has_interval else []
        listed.append((*cells, *(one.shown(row) for one in rest)))
    yield Headline(alike.task.meaning.partition(":")[0].capitalize())
    yield Listing(caption_of(results), tuple(columns), tuple(listed))
    for result in results:
        yield answer(result, links, drawn=False)
