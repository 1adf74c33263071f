"""The page of a document: what was asked and what is right, what each system answered, grouped by right and wrong, and
the values of all systems. Two systems may be chosen that stand side by side first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalhouse.grammar.lexicon import quote
from evalhouse.warehouse.plans.offers import best_value, typed_name
from evalhouse.warehouse.render.site.contents import Link, Marked, PageBlock, PageHeading, Pager, Texts
from evalhouse.warehouse.render.site.differing import differing, unmarked
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
    """The documents beside this one, the texts, if they are stored, and the values of all systems, for each kind of
    rows.
    """
    name, document = address.names
    test_set = inquiry.test_set(name)
    scored: list[Result] = []
    rights = dict[str, bool]()
    for offer in inquiry.offers(test_set):
        if offer.kind.by_document:
            measures, where = ", ".join(offer.first), f"document = {quote(document)}"
            # Each run has an answer of its own.
            apart = " runs apart" if inquiry.catalog.models else ""
            statement = f"score {measures} for all on {typed_name(name)}{offer.of}{apart} where {where}"
            found = answer_statement(inquiry, statement)
            if isinstance(found, Result) and found.table.rows:
                rights = rights or _rights(found, best_value(inquiry.catalog, offer.kind, test_set, offer.first[0]))
                scored.append(found)
    stored = inquiry.texts(test_set, document)
    if not (scored or stored):
        raise MissingError(f"there is no document {document!r} on {name}")
    before, after = (
        links.to(Address(address.kind, (name, there), address.chosen)) if there is not None else ""
        for there in inquiry.beside(test_set, document)
    )
    if before or after:
        yield Pager("", before, after, "Documents beside this one")
    for kind, title in (("input", "What was asked"), ("reference", "What is right")):
        given = tuple((_who(one, links), "", _text(one)) for one in stored if one.kind == kind)
        if given:
            yield Texts(title, given)
    outputs = [one for one in stored if one.kind == "output"]
    yield from _answers(outputs, scored, rights, _only(stored, "reference"), address.all_of("beside"), links)
    for result in scored:
        # Beside an answer stands what it is worth, so the table is for those who want it.
        yield answer(result, links, "Values of all systems" if outputs else "", closed=bool(outputs))


def _answers(
    outputs: Sequence[StoredText],
    scored: Sequence[Result],
    rights: Mapping[str, bool],
    reference: StoredText | None,
    beside: Sequence[str],
    links: Links,
) -> Iterator[Texts]:
    """What the systems answered: the two that were chosen side by side, with what they differ in marked; the others by
    right and wrong, with what differs from the reference marked.
    """
    worth = {
        str(row["system"]): ", ".join((*_sign(rights, str(row["system"])), _worth(result, row)))
        for result in reversed(scored)
        for row in result.rows
    }
    own = {one.system: one for one in outputs}
    pair = [own[system] for system in beside if system in own]
    if len(pair) == 2:
        marked = differing(*map(_text, pair))
        yield Texts(
            f"{pair[0].system} and {pair[1].system}",
            tuple(
                (_who(one, links), worth.get(str(one.system), ""), text) for one, text in zip(pair, marked, strict=True)
            ),
        )
        outputs = [one for one in outputs if one not in pair]
    groups = {
        "Right": [one for one in outputs if rights.get(str(one.system)) is True],
        "Wrong": [one for one in outputs if rights.get(str(one.system)) is False],
        "What the systems answered": [one for one in outputs if rights.get(str(one.system)) is None],
    }
    for title, those in groups.items():
        if those:
            yield Texts(
                title,
                tuple((_who(one, links), worth.get(str(one.system), ""), _against(one, reference)) for one in those),
            )


def _rights(result: Result, best: float) -> dict[str, bool]:
    """Which systems are right by the first measure, if by it each is right or wrong; `best` is what a right answer
    counts.
    """
    name = next(column.name for column in result.table.columns if column.kind in _VALUES and column.on_screen)
    values = {str(row["system"]): row[name] for row in result.rows if row[name] is not None}
    return {system: value == best for system, value in values.items()} if set(values.values()) <= {0.0, 1.0} else {}


def _against(output: StoredText, reference: StoredText | None) -> Marked:
    """An output, in which the words are marked that the reference does not have."""
    return unmarked(_text(output)) if reference is None else differing(_text(output), _text(reference))[0]


def _only(stored: Sequence[StoredText], kind: str) -> StoredText | None:
    """The only text of a kind; None if there are several or none."""
    found = [one for one in stored if one.kind == kind]
    return found[0] if len(found) == 1 else None


def _who(stored: StoredText, links: Links) -> str | Link:
    """The system that produced a text, if a system did."""
    return "" if stored.system is None else Link(stored.system, links.to(Address("system", (stored.system,))))


def _text(stored: StoredText) -> str:
    """A text, and how much of it is not shown."""
    left = stored.length - len(stored.text)
    return f"{stored.text}\n… {left:,} more characters" if left > 0 else stored.text


def _sign(rights: Mapping[str, bool], system: str) -> tuple[str, ...]:
    """Whether a system is right, if that is known."""
    return ("✓ right" if rights[system] else "✗ wrong",) if system in rights else ()


_VALUES = ("proportion", "number")
"""The kinds of columns that hold values of measures."""


def _worth(result: Result, row: Mapping[str, Cell]) -> str:
    """The score of a system's answer, in one line."""
    values = [column for column in result.table.columns if column.kind in _VALUES and column.on_screen]
    return ", ".join(f"{column.name} {cell(column.kind, row[column.name])}" for column in values)
