"""The documents behind the difference of two systems, as the list on their page: which of them are listed, who is right
on each, and what the outputs differ in. Each choice is in the address, so that no script is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans.offers import typed_name
from evalhouse.warehouse.render.rectangle import beginning
from evalhouse.warehouse.render.site.contents import (
    Failure,
    Form,
    FormField,
    Headline,
    Judged,
    Link,
    ListCell,
    ListColumn,
    Listing,
    PageBlock,
    Pager,
    Paragraphs,
    Views,
)
from evalhouse.warehouse.render.site.differing import differing
from evalhouse.warehouse.render.style import cell
from evalhouse.warehouse.results import Cell, Column, Result
from evalhouse.warehouse.store.catalog import KnownTestSet
from evalhouse.warehouse.web.addresses import Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry
from evalhouse.warehouse.web.pages.parts import answer, answer_statement

CHOICES = ("only", "alike", "text", "attribute", "share")
"""The names under which an address says which documents are listed."""

MOST_VALUES = 40
"""An attribute with more values than this is not offered as a choice."""

Row = Mapping[str, Cell]


def documents_of_pair(
    inquiry: Inquiry, address: Address, links: Links, statement: str, best: float
) -> Iterator[PageBlock]:
    """One page of the documents behind the difference, with the largest contributions first. `best` is what a right
    answer counts, if each answer is right or wrong.
    """
    name, first, second = address.names
    only = address.one_of("only")
    chosen = f"{statement} only {typed_name(only)}" if only in (first, second) else statement
    found = answer_statement(inquiry, chosen)
    yield Headline("The documents behind it", "documents")
    if isinstance(found, Failure):
        yield found
        return
    # Whether every document is right or wrong shows in all documents, not in those that are listed.
    whole = found if chosen == statement else answer_statement(inquiry, statement)
    right = best if isinstance(whole, Result) and _right_or_wrong(whole) else None
    yield from _ways(address, links, judged=right is not None)
    test_set = inquiry.test_set(name)
    if links.asking(""):
        yield _filter(inquiry, test_set, address, links, found)
    try:
        kept, said = _listed(inquiry, test_set, address, found.table.records(), right)
    except ValueError as error:
        yield Failure(f"error: {error}")
        return
    noun = _noun(found)
    if said:
        yield Paragraphs((f"{len(kept):,} of {len(found.table.rows):,} {plural(noun)}: {'; '.join(said)}.",))
    at_once = links.documents_at_once
    pages = max(1, -(-len(kept) // at_once))
    wanted = address.one_of("page", "1")
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() and len(wanted) < 9 else 1
    shown = [column for column in found.table.columns if column.on_screen]
    yield Listing(
        found.caption,
        tuple(ListColumn(column.heading or column.name, _KINDS.get(column.kind, "number")) for column in shown),
        tuple(_document(row, shown, address, links, right) for row in kept[(page - 1) * at_once : page * at_once]),
        empty=f"no {noun} is like that",
        stepped=True,
    )
    if pages > 1:
        place = f"{(page - 1) * at_once + 1:,}–{min(page * at_once, len(kept)):,} of {len(kept):,}"
        before, after = (
            _at_documents(links, address.choosing(page=str(to))) if 1 <= to <= pages else ""
            for to in (page - 1, page + 1)
        )
        yield Pager(place, before, after)
    yield answer(found, links, drawn=False)


def _right_or_wrong(found: Result) -> bool:
    """Whether each answer of either system is right or wrong."""
    values = {*found.table.column("value_a"), *found.table.column("value_b")} - {None}
    return bool(values) and values <= {0.0, 1.0}


# --- which documents are listed ---------------------------------------------------------------------------------------


def _ways(address: Address, links: Links, *, judged: bool) -> Iterator[PageBlock]:
    """The choices by who is right, or else by whom a document speaks for."""
    first, second = address.names[1:]
    if judged:
        of_systems = [(f"only {name} is right", {"only": name}) for name in (first, second)]
        of_both = [("both are right", {"alike": "both"}), ("neither is right", {"alike": "neither"})]
    else:
        of_systems = [(f"for {name}", {"only": name}) for name in (first, second)]
        of_both = [("for neither", {"alike": "neither"})]
    views = []
    for label, chosen in [("all", {}), *of_systems, *of_both]:
        current = all(address.one_of(word) == chosen.get(word, "") for word in ("only", "alike"))
        there = address.choosing(**{"page": "", "only": "", "alike": "", **chosen})
        views.append((Link(label, "" if current else _at_documents(links, there)), current))
    # A site of files has no page for each choice.
    if all(link.href or current for link, current in views):
        yield Views("Which documents", tuple(link for link, _ in views))


def _filter(inquiry: Inquiry, test_set: KnownTestSet, address: Address, links: Links, found: Result) -> Form:
    """The choices by what texts hold, by an attribute and by the size of the share."""
    columns = {column.name: column for column in found.table.columns}
    fields = []
    if any(columns[name].on_screen for name in ("input", "reference", "output_a", "output_b") if name in columns):
        fields.append(FormField("text", "A text holds", "text", chosen=address.all_of("text"), hint="a word"))
    values = inquiry.attribute_values(test_set, MOST_VALUES)
    if values:
        options = [("", "any"), *((f"{name}={value}", f"{name}: {value}") for name, value in values)]
        fields.append(FormField("attribute", "Attribute", "one of", tuple(options), address.all_of("attribute")))
    if columns["share"].on_screen:
        fields.append(FormField("share", "Share of at least, %", "text", chosen=address.all_of("share"), hint="5"))
    own = {choice.name for choice in fields}
    kept = tuple((name, value) for name, value in address.chosen if name not in own and name != "page")
    action = _at_documents(links, Address(address.kind, address.names))
    return Form("", action, tuple(fields), kept, button="Filter")


def _listed(
    inquiry: Inquiry, test_set: KnownTestSet, address: Address, rows: Sequence[Row], right: float | None
) -> tuple[list[Row], list[str]]:
    """The documents that are listed, and in words how they were chosen. Raises ValueError."""
    said, tests = list[str](), list[Callable[[Row], bool]]()
    match address.one_of("alike"):
        case "both":
            tests.append(lambda row: row["value_a"] == row["value_b"] == right)
        case "neither":
            tests.append(lambda row: row["value_a"] == row["value_b"] != right)
    if words := address.one_of("text").strip():
        holding = inquiry.documents_holding(test_set, address.names[1:], words)
        tests.append(lambda row: row["document"] in holding)
        said.append(f"a text holds “{words}”")
    if chosen := address.one_of("attribute"):
        name, _, value = chosen.partition("=")
        having = inquiry.documents_with(test_set, name, value)
        tests.append(lambda row: row["document"] in having)
        said.append(f"{name} is {value}")
    if written := address.one_of("share").strip().removesuffix("%"):
        try:
            least = float(written) / 100
        except ValueError:
            raise ValueError(f"{written} is not a share in per cent, such as 5 or 2.5") from None
        tests.append(lambda row: row["share"] is not None and abs(float(str(row["share"]))) >= least)
        said.append(f"its share of the difference is at least {written}%")
    return [row for row in rows if all(test(row) for test in tests)], said


def _noun(found: Result) -> str:
    (column,) = (column for column in found.table.columns if column.name == "document")
    return column.heading or column.name


# --- a document in the list -------------------------------------------------------------------------------------------

_KINDS = {"name": "name", "text": "text", "passage": "text"}
"""The kinds of columns that are not numeric."""


def _document(
    row: Row, shown: Sequence[Column], address: Address, links: Links, right: float | None
) -> tuple[ListCell, ...]:
    """A row of the list. The page of a document shows all of its texts, the list only their beginnings."""
    outputs = [beginning(row.get(name)) for name in ("output_a", "output_b")]
    marked = dict[str, ListCell]()
    if all(isinstance(output, str) for output in outputs):
        marked = dict(zip(("output_a", "output_b"), differing(*map(str, outputs)), strict=True))

    def drawn(column: Column) -> ListCell:
        value = row[column.name]
        if column.name in marked:
            return marked[column.name]
        shown = cell(column.kind, beginning(value) if column.kind == "passage" else value)
        if column.name in ("value_a", "value_b") and right is not None and value is not None:
            return Judged(shown, value == right)
        return Link(shown, _page_of(row, address, links)) if column.name == "document" else shown

    return tuple(map(drawn, shown))


def _page_of(row: Row, address: Address, links: Links) -> str:
    """The page of a document, with the two systems side by side if pages can have choices."""
    name, *pair = address.names
    there = Address("document", (name, str(row["document"])))
    return links.to(Address(there.kind, there.names, tuple(("beside", system) for system in pair))) or links.to(there)


def _at_documents(links: Links, address: Address) -> str:
    """The documents of a page; empty if there is no such page."""
    href = links.to(address)
    return f"{href}#documents" if href else ""
