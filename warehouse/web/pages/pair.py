"""The page of a pair of systems on a test set: the result of the test in a sentence and as a picture, the slices in
which they differ, and the documents, sorted by difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from evalhouse.grammar.lexicon import as_word
from evalhouse.warehouse.plans.offers import Offer, typed_name
from evalhouse.warehouse.render.rectangle import beginning
from evalhouse.warehouse.render.site.contents import (
    Beside,
    Failure,
    Form,
    FormField,
    Headline,
    Link,
    ListCell,
    ListColumn,
    Listing,
    PageBlock,
    PageHeading,
    Pager,
    VerdictSentence,
    Views,
)
from evalhouse.warehouse.render.style import cell
from evalhouse.warehouse.results import Cell, CellKind, Column, Result
from evalhouse.warehouse.store.catalog import KnownTestSet
from evalhouse.warehouse.web.addresses import HOME, Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry, MissingError, offer_of
from evalhouse.warehouse.web.pages.parts import MISSING, answer, answer_statement

MOST_ATTRIBUTES = 4
"""The number of attributes of documents by which the difference is split by default."""

MOST_VALUES = 40
"""An attribute that is not numeric defines slices only if it has at most this many values."""


def heading(address: Address, links: Links) -> PageHeading:
    """Both systems."""
    test_set, first, second = address.names
    trail = (Link("Evaluations", links.to(HOME)), Link(test_set, links.to(Address("test set", (test_set,)))))
    return PageHeading(f"{first} and {second} on {test_set}", trail)


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """The verdict, its picture, all measures, slices and documents."""
    name, first, second = address.names
    test_set = inquiry.test_set(name)
    for system in (first, second):
        inquiry.system(system)
    offer = offer_of(inquiry, test_set, address.one_of("of"))
    if offer is None or not offer.kind.by_document:
        raise MissingError(f"{name} has no results document by document")
    chosen = address.one_of("measure", offer.first[0])
    if links.asking(""):
        yield _form(address, links, offer, chosen, _possible(inquiry, test_set))
    missing = f" missing {word}" if (word := address.one_of("missing")) else ""
    pair = f"{typed_name(first)}, {typed_name(second)} on {typed_name(name)}{offer.of}"
    pictured = answer_statement(inquiry, f"plot compare {chosen} for {pair}{missing}")
    if isinstance(pictured, Failure):
        yield pictured
    else:
        yield verdict(pictured, simulated=inquiry.catalog.simulated(offer.kind.name, test_set.id))
        shown: list[PageBlock] = [answer(pictured, links, "The difference under chance alone")]
        measures = offer.first if chosen in offer.first else (chosen, *offer.first)
        if len(measures) > 1:
            compared = answer_statement(inquiry, f"compare {', '.join(measures)} for {pair}{missing}")
            shown.append(compared if isinstance(compared, Failure) else answer(compared, links, "All measures"))
        yield Beside(tuple(shown))
    by = _attributes(inquiry, test_set, address)
    if by:
        yield from _slices(inquiry, links, f"differ {chosen} for {pair}{missing} by {', '.join(by)}")
    yield from _documents(inquiry, address, links, f"documents {chosen} for {pair}{missing}")


def _possible(inquiry: Inquiry, test_set: KnownTestSet) -> list[str]:
    """The attributes by which the difference can be split."""
    return [f"document.{as_word(name)}" for name in inquiry.catalog.splitting_attributes(test_set.id, MOST_VALUES)]


def _attributes(inquiry: Inquiry, test_set: KnownTestSet, address: Address) -> list[str]:
    """The attributes by which it is split: the chosen ones, or the first."""
    return list(address.all_of("by")) or _possible(inquiry, test_set)[:MOST_ATTRIBUTES]


def _form(address: Address, links: Links, offer: Offer, chosen: str, attributes: Sequence[str]) -> Form:
    measures = dict.fromkeys((chosen, *offer.measures))
    choice = FormField("measure", "Measure", "one of", tuple((name, name) for name in measures), (chosen,))
    hidden = (("of", offer.kind.name),) if offer.several else ()
    missing = FormField("missing", "Missing documents", "one of", MISSING, address.all_of("missing"))
    choices = [choice, missing]
    if attributes:
        by = address.all_of("by") or tuple(attributes[:MOST_ATTRIBUTES])
        choices.append(FormField("by", "Slices by", "boxes", tuple((name, name) for name in attributes), by))
    action = links.to(Address(address.kind, address.names))
    return Form("Choose measure and slices", action, tuple(choices), hidden)


def verdict(compared: Result, *, simulated: bool) -> VerdictSentence:
    """The result of comparing one pair, in two sentences, which mention simulated data."""
    row = compared.rows[0]
    kinds: Mapping[str, CellKind] = {column.name: column.kind for column in compared.table.columns}

    def shown(name: str) -> str:
        return cell(kinds[name], row[name])

    first, second = row["system_a"], row["system_b"]
    where = f"{row['measure']} of {first} on {row['test_set']} is {shown('value_a')}, of {second} {shown('value_b')}"
    limits = ""
    if row.get("ci_low") is not None and row.get("ci_high") is not None:
        limits = f", 95% interval {shown('ci_low')} to {shown('ci_high')}"
    column = "p" if row.get("p_adjusted") is None else "p_adjusted"
    p = shown(column)
    points = " points" if kinds["difference"] == "difference" else ""
    found = f"p {p.replace('<', '< ')}" if p.startswith("<") else f"p = {p}"
    decided = f"It is {row['verdict']} at {row['level']} ({found})."
    data = "On simulated data " if simulated else ""
    sentence = f"{data}{where}: a difference of {shown('difference')}{points}{limits}. {decided}"
    return VerdictSentence(sentence, _SIGNS.get(str(row["verdict"]), "plain"))


_SIGNS = {"significant": "significant", "undecided": "open"}


def _slices(inquiry: Inquiry, links: Links, statement: str) -> Iterator[PageBlock]:
    """The difference by slices, as a picture and a table."""
    yield Headline("Where it comes from", "slices")
    split = answer_statement(inquiry, f"plot {statement}")
    if isinstance(split, Failure):
        # There may be an answer even if there is no picture.
        split = answer_statement(inquiry, statement)
    yield (
        split if isinstance(split, Failure) else answer(split, links, "Slices by attributes of documents", folded=False)
    )


def _documents(inquiry: Inquiry, address: Address, links: Links, statement: str) -> Iterator[PageBlock]:
    """One page of the documents behind the difference, with the largest contributions first."""
    only = address.one_of("only")
    chosen = f"{statement} only {typed_name(only)}" if only in address.names[1:] else statement
    found = answer_statement(inquiry, chosen)
    yield Headline("The documents behind it", "documents")
    if isinstance(found, Failure):
        yield found
        return
    ways = (("all", ""), *((f"for {name}", name) for name in address.names[1:]))
    to = [(label, name, address.choosing(only=name, page="")) for label, name in ways]
    views = tuple(Link(label, "" if name == only else _at_documents(links, there)) for label, name, there in to)
    if all(link.href or name == only for link, (_, name, _) in zip(views, to, strict=True)):
        yield Views("Which documents", views)
    rows, at_once = found.table.rows, links.documents_at_once
    pages = max(1, -(-len(rows) // at_once))
    wanted = address.one_of("page", "1")
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() and len(wanted) < 9 else 1
    shown = [column for column in found.table.columns if column.on_screen]
    yield Listing(
        found.caption,
        tuple(ListColumn(column.heading or column.name, _KINDS.get(column.kind, "number")) for column in shown),
        tuple(
            tuple(_document(row, column, links, address.names[0]) for column in shown)
            for row in replace(found.table, rows=rows[(page - 1) * at_once : page * at_once]).records()
        ),
    )
    if pages > 1:
        said = f"{(page - 1) * at_once + 1:,}–{min(page * at_once, len(rows)):,} of {len(rows):,}"
        before, after = (
            _at_documents(links, address.choosing(page=str(to))) if 1 <= to <= pages else ""
            for to in (page - 1, page + 1)
        )
        yield Pager(said, before, after)
    yield answer(found, links, drawn=False)


_KINDS = {"name": "name", "text": "text", "passage": "text"}
"""The kinds of columns that are not numeric."""


def _document(row: Mapping[str, Cell], column: Column, links: Links, test_set: str) -> ListCell:
    # The page of a document shows all of its texts.
    value = beginning(row[column.name]) if column.kind == "passage" else row[column.name]
    shown = cell(column.kind, value)
    if column.name != "document":
        return shown
    return Link(shown, links.to(Address("document", (test_set, str(row["document"])))))


def _at_documents(links: Links, address: Address) -> str:
    """The documents of a page; empty if there is no such page."""
    href = links.to(address)
    return f"{href}#documents" if href else ""
