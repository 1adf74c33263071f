"""The page of a pair of systems on a test set: the result of the test in a sentence and as a picture, all measures, the
slices in which they differ, and the documents behind the difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalhouse.grammar.lexicon import as_word
from evalhouse.warehouse.plans.offers import Offer, best_value, typed_name
from evalhouse.warehouse.render.site.contents import (
    Failure,
    Form,
    FormField,
    Headline,
    Link,
    PageBlock,
    PageHeading,
    VerdictSentence,
)
from evalhouse.warehouse.render.style import cell
from evalhouse.warehouse.results import CellKind, Result
from evalhouse.warehouse.store.catalog import KnownTestSet
from evalhouse.warehouse.web.addresses import HOME, Address, Links
from evalhouse.warehouse.web.inquiry import Inquiry, MissingError, offer_of
from evalhouse.warehouse.web.pages.pair_documents import CHOICES, documents_of_pair
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
        yield answer(pictured, links, "The difference under chance alone")
        measures = offer.first if chosen in offer.first else (chosen, *offer.first)
        if len(measures) > 1:
            compared = answer_statement(inquiry, f"compare {', '.join(measures)} for {pair}{missing}")
            yield (compared if isinstance(compared, Failure) else answer(compared, links, "All measures", cards=True))
    by = _attributes(inquiry, test_set, address)
    if by:
        yield from _slices(inquiry, links, f"differ {chosen} for {pair}{missing} by {', '.join(by)}")
    best = best_value(inquiry.catalog, offer.kind, test_set, chosen)
    yield from documents_of_pair(inquiry, address, links, f"documents {chosen} for {pair}{missing}", best)


def _possible(inquiry: Inquiry, test_set: KnownTestSet) -> list[str]:
    """The attributes by which the difference can be split."""
    return [f"document.{as_word(name)}" for name in inquiry.catalog.splitting_attributes(test_set.id, MOST_VALUES)]


def _attributes(inquiry: Inquiry, test_set: KnownTestSet, address: Address) -> list[str]:
    """The attributes by which it is split: the chosen ones, or the first."""
    return list(address.all_of("by")) or _possible(inquiry, test_set)[:MOST_ATTRIBUTES]


def _form(address: Address, links: Links, offer: Offer, chosen: str, attributes: Sequence[str]) -> Form:
    measures = dict.fromkeys((chosen, *offer.measures))
    choice = FormField("measure", "Measure", "one of", tuple((name, name) for name in measures), (chosen,))
    listed = tuple((name, value) for name, value in address.chosen if name in CHOICES)
    hidden = ((("of", offer.kind.name),) if offer.several else ()) + listed
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
