"""The parts that several pages share, and the page of any statement."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.render.diagnostics import diagnosis
from evalhouse.warehouse.render.html import HEADINGS
from evalhouse.warehouse.render.panels import Rectangle
from evalhouse.warehouse.render.shortening import for_page
from evalhouse.warehouse.render.site.contents import (
    Copies,
    Explanation,
    Failure,
    Form,
    FormField,
    Link,
    PageBlock,
    PageHeading,
    ShownAnswer,
    Views,
)
from evalhouse.warehouse.render.style import clean
from evalhouse.warehouse.results import Cell, Grid, Result
from evalhouse.warehouse.shell.help import help_topic, overview, topic, unknown
from evalhouse.warehouse.web.addresses import HOME, Address, AddressKind, Links
from evalhouse.warehouse.web.inquiry import Inquiry

# === shared parts =====================================================================================================
# Answers with their links, the copies and files of an answer, and the text shown if a question has no answer.

MOST_ROWS = 500
"""A page shows at most this many rows of a table. The files contain all of them."""


MISSING = (("", "are an error"), ("drop", "are left out"), ("zero", "count as nothing"))
"""The ways to treat documents that a system lacks."""


MOST_PAIRS = 20
"""The number of pairs of an answer that are linked."""


def answer_statement(inquiry: Inquiry, statement: str) -> Result | Failure:
    """The answer to a statement, or its error."""
    try:
        return inquiry.one(statement)
    except QueryError as error:
        return Failure(diagnosis(error, statement))


def answer(
    result: Result,
    links: Links,
    title: str = "",
    *,
    drawn: bool = True,
    folded: bool = True,
    cards: bool = False,
    closed: bool = False,
) -> ShownAnswer:
    """A result as a block, with names linked to their pages. If the block has its own title, the caption is
    below it.
    """
    copies = copies_of(result.statement, links)
    linked = _Linked(result, links)
    if drawn:
        result = for_page(result, MOST_ROWS, "the files have them all")
    caption = result.caption if title else ""
    name = title or result.caption or result.statement
    return ShownAnswer(name, result, copies, linked, drawn, folded, caption, cards, closed)


def pairs_of(result: Result, links: Links) -> Iterator[Views]:
    """The pages of the pairs that a result compares, unless there are too many to choose from."""
    if not {"test_set", "system_a", "system_b"} <= set(result.columns):
        return
    columns = [result.table.column(name) for name in ("test_set", "system_a", "system_b")]
    pairs = list(dict.fromkeys(zip(*(map(str, column) for column in columns), strict=True)))
    several = len({test_set for test_set, _, _ in pairs}) > 1
    found = tuple(
        Link(f"{a} and {b}{f' on {test_set}' if several else ''}", links.to(Address("pair", (test_set, a, b))))
        for test_set, a, b in pairs[:MOST_PAIRS]
    )
    if len(pairs) <= MOST_PAIRS and all(link.href for link in found):
        yield Views("Pairs of this answer", found, alike=False)


def copies_of(statement: str, links: Links) -> Copies:
    """How to ask a statement elsewhere, and where its answer is available as files."""
    database = f" --db {shlex.quote(links.database)}" if links.database else ""
    opened = f"evalhouse.open({links.database!r})" if links.database else "evalhouse.open()"
    return Copies(
        again=links.asking(statement),
        elsewhere=(
            ("On the command line", f"evalhouse query {_for_shells(statement)}{database}"),
            ("In Python", f"{opened}.run({statement!r})"),
        ),
        files=links.files(statement),
    )


def _for_shells(statement: str) -> str:
    """A statement in quotes. Invisible characters are written as codes, which a shell decodes between $' and '."""
    if clean(statement) == statement:
        return shlex.quote(statement)
    shown = (f"\\U{ord(c):08x}" if clean(c) != c else f"\\{c}" if c in "\\'" else c for c in statement)
    return f"$'{''.join(shown)}'"


class _Linked:
    """The links of the cells of a result: names of systems, test sets and documents link to their pages. In a grid the
    heading of a test set, in row HEADINGS, links to its leaderboard, and a value to the pair with the best system.
    """

    def __init__(self, result: Result, links: Links) -> None:
        self._links = links
        columns = result.table.columns
        self._headings: dict[str, AddressKind] = {
            column.heading or column.name: _LEADS[column.name] for column in columns if column.name in _LEADS
        }
        if result.triangle is not None:
            # Its columns are those of pairs, and each of its lines has the name of one system.
            self._headings["system"] = "system"
        self._names = {
            clean(str(name)): str(name)
            for column in columns
            if column.name in _LEADS
            for name in result.table.column(column.name)
            if name is not None
        }
        self._test_set = _only(result, "test_set")
        self._grid = result.grid if result.grid is not None and result.grid.across == "test_set" else None
        self._values = _values_of(result) if self._grid is not None else {}
        kinds = {*result.table.column("task")} - {None} if self._grid is not None else set()
        # The kind of rows is a choice where a statement has to name it.
        self._kind = tuple(("of", str(kind)) for kind in kinds if f" of {kind} " in result.statement)

    def __call__(self, rectangle: Rectangle) -> Mapping[tuple[int, int], str]:
        places = {
            place: self._headings[heading]
            for place, heading in enumerate(rectangle.headings)
            if heading in self._headings
        }
        found = {}
        for number, row in enumerate(rectangle.rows):
            shown = {kind: self._names.get(row[place], "") for place, kind in places.items()}
            for place, kind in places.items():
                name = self._names.get(row[place])
                test_set = self._test_set or shown.get("test set", "")
                if name and (kind != "document" or test_set):
                    names = (test_set, name) if kind == "document" else (name,)
                    found[number, place] = self._links.to(Address(kind, names))
        if self._grid is not None:
            found |= self._of_grid(self._grid, rectangle)
        return {place: href for place, href in found.items() if href}

    def _of_grid(self, grid: Grid, rectangle: Rectangle) -> Mapping[tuple[int, int], str]:
        """The links of the headings and of the values of a grid."""
        test_sets = {heading: test_set for test_set, heading in grid.test_sets}
        measures = {measure.heading: measure for measure in grid.measures}
        found = {}
        for place, heading in enumerate(rectangle.headings):
            over, _, lower = heading.partition("\n")
            test_set, measure = test_sets.get(over, ""), measures.get(lower)
            ranked = self._values.get((test_set, measure.label), {}) if measure else {}
            if not (ranked and measure):
                continue
            found[HEADINGS, place] = self._links.to(Address("test set", (test_set,), self._kind))
            best = sorted(ranked, key=lambda system: ranked[system], reverse=not measure.lower_is_better)[:2]
            for row, system in enumerate(grid.systems):
                if system in ranked and len(best) > 1:
                    # The best one is with the second on the page that the second leads to.
                    behind = best[1] if system == best[0] else system
                    found[row, place] = self._links.to(Address("pair", (test_set, behind, best[0]), self._kind))
        return found


def _values_of(result: Result) -> Mapping[tuple[str, str], Mapping[str, float]]:
    """The values that rest on documents, by test set and measure, then by system."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in result.table.records():
        value, documents = row["value"], row["documents"]
        if value is not None and documents is not None:
            known = found.setdefault((str(row["test_set"]), str(row["measure"])), {})
            known[str(row["system"])] = float(str(value))
    return found


_LEADS: dict[str, AddressKind] = {
    "system": "system",
    "system_a": "system",
    "system_b": "system",
    "test_set": "test set",
    "document": "document",
}
"""The kinds of pages that the columns of results link to."""


def _only(result: Result, column: str) -> str:
    """The only value of a column; empty if there are several values, or no such column."""
    if column not in result.columns:
        return ""
    values: set[Cell] = set(result.table.column(column))
    return str(values.pop()) if len(values) == 1 else ""


# === the page of a statement ==========================================================================================
# The statement in a box, and its answer.

LONGEST_TITLE = 80
"""A statement used as a title is cut after this many characters."""


def heading(address: Address, links: Links) -> PageHeading:
    """The statement, in one line."""
    statement = " ".join(address.one_of("q").split())
    title = f"{statement[:LONGEST_TITLE]}…" if len(statement) > LONGEST_TITLE else statement
    return PageHeading(title, (Link("Evaluations", links.to(HOME)),), asks=False)


def blocks(inquiry: Inquiry, address: Address, links: Links) -> Iterator[PageBlock]:
    """The box, and help on a word, or one answer after another up to the first error."""
    statement = address.one_of("q").replace("\r\n", "\n")
    box = FormField("q", "Statement", "statement", chosen=(statement,))
    yield Form("", links.to(HOME), (box,), button="Ask", completes=links.completing)
    word = help_topic(statement)
    if word is not None:
        explained = topic(word, inquiry.catalog) if word else overview()
        yield Failure(unknown(word, inquiry.catalog)) if explained is None else Explanation(explained)
        return
    try:
        for result in inquiry.all_of(statement):
            yield answer(result, links)
            yield from pairs_of(result, links)
    except QueryError as error:
        yield Failure(diagnosis(error, statement))
