"""The page of a document: each system's output and its score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalhouse.grammar.lexicon import quote
from evalhouse.warehouse.plans.offers import typed_name
from evalhouse.warehouse.render.site.contents import Link, PageBlock, PageHeading, Texts
from evalhouse.warehouse.render.style import cell
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.web.addresses import HOME, Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry, MissingError, StoredText
from evalhouse.warehouse.web.pages.parts import answer, answer_statement


def heading(address: Address, links: Links) -> PageHeading:
    """The name of the document."""
    test_set, document = address.names
    trail = (Link("Evaluations", links.to(HOME)), Link(test_set, links.to(Address("test set", (test_set,)))))
    return PageHeading(f"{document} of {test_set}", trail)


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """The texts, if they are stored, and the values of all systems, for each kind of rows."""
    name, document = address.names
    test_set = inquiry.test_set(name)
    scored: list[Result] = []
    for offer in inquiry.offers(test_set):
        if offer.kind.by_document:
            measures, where = ", ".join(offer.first), f"document = {quote(document)}"
            # Each run has an answer of its own.
            apart = " runs apart" if inquiry.catalog.models else ""
            statement = f"score {measures} for all on {typed_name(name)}{offer.of}{apart} where {where}"
            found = answer_statement(inquiry, statement)
            if isinstance(found, Result) and found.table.rows:
                scored.append(found)
    stored = inquiry.texts(test_set, document)
    if not (scored or stored):
        raise MissingError(f"there is no document {document!r} on {name}")
    for kind, title in (("input", "What was asked"), ("reference", "What is right")):
        given = tuple((_who(one, links), "", _text_markup(one)) for one in stored if one.kind == kind)
        if given:
            yield Texts(title, given)
    worth = {str(row["system"]): _worth(result, row) for result in reversed(scored) for row in result.rows}
    answers = tuple(
        (_who(one, links), worth.get(str(one.system), ""), _text_markup(one)) for one in stored if one.kind == "output"
    )
    if answers:
        yield Texts("What the systems answered", answers)
    for result in scored:
        yield answer(result, links)


def _who(stored: StoredText, links: Links) -> str | Link:
    """The system that produced a text, if a system did."""
    return "" if stored.system is None else Link(stored.system, links.to(Address("system", (stored.system,))))


def _text_markup(stored: StoredText) -> str:
    """A text, and how much of it is not shown."""
    left = stored.length - len(stored.text)
    return f"{stored.text}\n… {left:,} more characters" if left > 0 else stored.text


def _worth(result: Result, row: Mapping[str, Cell]) -> str:
    """The score of a system's answer, in one line."""
    known = ("proportion", "number")
    values = [column for column in result.table.columns if column.kind in known and column.on_screen]
    return ", ".join(f"{column.name} {cell(column.kind, row[column.name])}" for column in values)
