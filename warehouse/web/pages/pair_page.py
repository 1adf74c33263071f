"""The page of a pair of systems on a test set: what the test says, in a sentence and as a picture; the slices in which
they differ, and the documents, those first on which they differ most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warehouse.render.site.contents import (
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
)
from warehouse.render.style import cell
from warehouse.results import Cell, CellKind, Result
from warehouse.web.addresses import Address
from warehouse.web.inquiry import Inquiry, MissingError, typed
from warehouse.web.links import HOME, Links
from warehouse.web.offered import Offer, offer_of
from warehouse.web.pages.parts import answer, answered

MOST_ATTRIBUTES = 6
"""By so many attributes of documents the difference is split unasked."""


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
    if offer is None or not offer.task.by_document:
        raise MissingError(f"{name} has no results document by document")
    chosen = address.one_of("measure", offer.first[0])
    if links.asking(""):
        yield _form(address, links, offer, chosen)
    pair = f"{typed(first)}, {typed(second)} on {typed(name)}{offer.of}"
    compared = answered(inquiry, f"compare {chosen} for {pair}")
    if isinstance(compared, Failure):
        yield compared
    else:
        yield verdict(compared)
        pictured = answered(inquiry, f"plot compare {chosen} for {pair}")
        yield (
            pictured
            if isinstance(pictured, Failure)
            else answer(pictured, links, "The difference, if chance alone made it")
        )
    measures = offer.first if chosen in offer.first else (chosen, *offer.first)
    if len(measures) > 1:
        side_by_side = answered(inquiry, f"compare {', '.join(measures)} for {pair}")
        yield side_by_side if isinstance(side_by_side, Failure) else answer(side_by_side, links, "All measures")
    yield from _slices(inquiry, links, chosen, pair)
    yield from _documents(inquiry, address, links, chosen, pair)


def _form(address: Address, links: Links, offer: Offer, chosen: str) -> Form:
    measures = dict.fromkeys((chosen, *offer.measures))
    choice = FormField("measure", "Measure", "one of", tuple((name, name) for name in measures), (chosen,))
    hidden = (("of", offer.task.name),) if offer.several else ()
    return Form("", links.to(Address(address.kind, address.names)), (choice,), hidden)


def verdict(compared: Result) -> VerdictSentence:
    """What a comparison of one pair found, in two sentences."""
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
    sentence = f"{where}: a difference of {shown('difference')}{points}{limits}. {decided}"
    return VerdictSentence(sentence, _SIGNS.get(str(row["verdict"]), "plain"))


_SIGNS = {"significant": "significant", "undecided": "open"}


def _slices(inquiry: Inquiry, links: Links, measure: str, pair: str) -> Iterator[PageBlock]:
    """The values of both, split by each attribute of documents."""
    attributes = inquiry.catalog.attributes.get("document", ())
    split = []
    for attribute in attributes[:MOST_ATTRIBUTES]:
        found = answered(inquiry, f"score {measure} for {pair} by document.{typed(attribute)}")
        if isinstance(found, Result):
            split.append(answer(found, links, f"By {attribute}"))
    if split:
        yield Headline("Where they differ", "slices")
        yield from split


def _documents(inquiry: Inquiry, address: Address, links: Links, measure: str, pair: str) -> Iterator[PageBlock]:
    """The documents, those first on which the values differ most, a page of them."""
    found = answered(inquiry, f"score {measure} for {pair} by document")
    if isinstance(found, Failure):
        yield found
        return
    test_set, first, second = address.names
    rows = _differences(found, first, second)
    at_once = links.documents_at_once
    pages = max(1, -(-len(rows) // at_once))
    wanted = address.one_of("page", "1")
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() and len(wanted) < 9 else 1
    kind = next(column.kind for column in found.table.columns if column.name == _value_column(found))
    difference: CellKind = "difference" if kind == "proportion" else "number"
    yield Headline("Documents", "documents")
    shown: list[tuple[ListCell, ...]] = [
        (
            Link(document, links.to(Address("document", (test_set, document)))),
            cell(kind, a),
            cell(kind, b),
            cell(difference, None if a is None or b is None else a - b),
        )
        for document, a, b in rows[(page - 1) * at_once : page * at_once]
    ]
    columns = (ListColumn("document", "name"), *(ListColumn(name, "number") for name in (first, second, "difference")))
    yield Listing(f"{measure} of each document, the largest differences first", columns, tuple(shown))
    if pages > 1:
        said = f"{(page - 1) * at_once + 1:,}–{min(page * at_once, len(rows)):,} of {len(rows):,}"
        before, after = (
            f"{there}#documents" if 1 <= to <= pages and (there := links.to(address.choosing(page=str(to)))) else ""
            for to in (page - 1, page + 1)
        )
        yield Pager(said, before, after)
    yield answer(found, links, drawn=False)


def _value_column(found: Result) -> str:
    """The one column of values."""
    known = {"test_set", "task", "system", "document", "documents", "source"}
    return next(name for name in found.columns if name not in known)


def _differences(found: Result, first: str, second: str) -> list[tuple[str, float | None, float | None]]:
    """Documents with the values of both, the largest differences first, and those last that one of them lacks."""
    values: dict[str, dict[Cell, float]] = {}
    column = _value_column(found)
    for row in found.rows:
        of_document = values.setdefault(str(row["document"]), {})
        if isinstance(value := row[column], int | float):
            of_document[row["system"]] = value
    both = [(document, of.get(first), of.get(second)) for document, of in values.items()]
    return sorted(both, key=lambda row: (-abs(row[1] - row[2]) if None not in row else 1.0, row[0]))  # type: ignore[operator]
