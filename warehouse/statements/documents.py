"""`documents`: the documents behind a difference, largest contributions first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.charts import format_value
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.notes import missing_notes
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import Function
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import difference_text, missing_caption, noun_of, on, unit_of
from evalhouse.warehouse.plans.names import Scope, text_of
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.plans.scores import LONGEST_SHOWN, texts
from evalhouse.warehouse.plans.testing import pairs_of
from evalhouse.warehouse.plans.unit_rows import document_ids
from evalhouse.warehouse.results import CellKind, Column, Result, Table, TableRows, TableSection
from evalhouse.warehouse.significance.arrays import Places
from evalhouse.warehouse.statements import sentences

if TYPE_CHECKING:
    from evalhouse.warehouse.comparing.slices import Listed

SHOWN = 20
"""This many documents of each pair are shown on screen and on paper by default."""

MOST_ROWS = 1_000_000

ROWS = (
    "test_set",
    "measure",
    "system_a",
    "system_b",
    "document",
    "value_a",
    "value_b",
    "difference",
    "contribution",
    "share",
    "input",
    "reference",
    "output_a",
    "output_b",
)

MANY = 10_000
"""With more documents than this, texts are cut after BRIEF characters."""

BRIEF = 300


class DocumentsPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    only: str | None
    limit: int | None
    single: Mapping[tuple[int, int], tuple[int, str]] = {}
    """The stored system, and its name, that a system of a test set is which has one run and is called otherwise."""


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Documents, scope: Scope) -> DocumentsPlan:
    entries, how = pairs_of(statement, scope)
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            said = "compares documents with one another, so it cannot be split by document"
            raise QueryError(f"{statistic.label} {said}", node.span)
    limit = scope.whole(statement.limit, "limit", 1, 10**9)
    single = _single_runs(entries, scope)
    return DocumentsPlan(to_text(statement), entries, how, _only(statement.only, entries), limit, single)


def _single_runs(entries: Sequence[p.Entry], scope: Scope) -> dict[tuple[int, int], tuple[int, str]]:
    """The stored systems that systems of a single run are, by test set and system."""
    found: dict[tuple[int, int], tuple[int, str]] = {}
    for entry in entries:
        runs = entry.units.runs
        for system in entry.stored_systems:
            many = runs.get(system.id, (system.id,))
            stored = scope.catalog.system_names.get(many[0]) if len(many) == 1 else None
            if stored is not None and stored != system.name:
                found[entry.test_set.id, system.id] = many[0], stored
    return found


def _only(node: n.Name | n.Variable | None, entries: Sequence[p.Entry]) -> str | None:
    """The system that documents must favour, one of those compared."""
    if node is None:
        return None
    text = text_of(node, node, "the name of a system")
    known = list(dict.fromkeys(system.name for entry in entries for system in entry.systems))
    for name in known:
        if name.casefold() == text.casefold():
            return name
    raise QueryError(f"{text} is not one of the systems compared", node.span, hints(text, known, "systems"))


def compile(plan: DocumentsPlan) -> Queries:
    from evalhouse.warehouse.comparing.slices import listed_queries

    listing = tuple(query for entry in plan.entries for query in listed_queries(plan.how, entry))
    of_entries = (_texts(plan, entry) for entry in plan.entries)
    return (*listing, *{query.name: query for query in of_entries}.values())


def _texts(plan: DocumentsPlan, entry: p.Entry) -> Query:
    """The texts of the documents of an entry; of systems that are made of several runs none is the output."""
    systems = [system for system in _stored_as(plan, entry) if system > 0]
    longest = LONGEST_SHOWN if entry.units.documents <= MANY else BRIEF
    documents = document_ids(entry)
    return texts(entry.test_set.id, systems, documents, longest=longest, called=f"texts on {entry.test_set.name!r}")


def _stored_as(plan: DocumentsPlan, entry: p.Entry) -> Iterator[int]:
    """The stored systems of an entry, and numbers below 0 for systems that are made of several."""
    test_set = entry.test_set.id
    return (plan.single.get((test_set, system.id), (system.id, ""))[0] for system in entry.stored_systems)


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: DocumentsPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair and document."""
    rows, notes = TableRows(ROWS), list[str]()
    ends: list[int] = []
    with_texts: set[str] = set()
    pairs: list[Listed] = []
    for one in listed_pairs(plan, facts):
        order = choose_documents(plan, one)
        stored = _stored_texts(one, plan, facts)
        with_texts.update(*stored.values())
        if len(rows.rows) + len(order) > MOST_ROWS:
            raise QueryError(
                f"that would be more than {MOST_ROWS:,} rows", hints=("name two systems, or write limit 1000",)
            )
        _add(one, order, stored, rows)
        ends.append(len(rows.rows))
        pairs.append(one)
        notes += _notes(one)
    table = rows.table(_columns(plan, pairs, with_texts))
    if with_texts and any(entry.units.documents > MANY for entry in plan.entries):
        notes.append(f"with this many documents, texts are cut after {BRIEF} characters")
    called = plural(noun_of(plan.entries))
    whole = _whole(pairs[0]) if len(pairs) == 1 else ""
    how = "; ".join(filter(None, (whole, missing_caption(plan.how.missing, plan.entries))))
    only = f", those that favour {plan.only}" if plan.only is not None else ""
    measures = ", ".join(dict.fromkeys(one.comparison.statistic.label for one in pairs))
    what = (
        f"{called} behind {measures} of {' − '.join(pairs[0].systems)}"
        if len(pairs) == 1
        else (f"{called} behind differences of {measures}")
    )
    return result_of(
        plan.text,
        plan.entries,
        f"{what} on {on(plan.entries)}{only}",
        table,
        how=how,
        settings=(f"missing {plan.how.missing}",),
        notes=notes,
        sections=_sections(plan, pairs, table, ends),
        one_by_one=True,
        sentence=sentences.of_documents(table, noun_of(plan.entries)),
    )


def listed_pairs(plan: DocumentsPlan, facts: Facts) -> Iterator[Listed]:
    """Every pair of the plan; where documents are to speak for one system, those with that system."""
    from evalhouse.warehouse.comparing.slices import list_pairs

    for entry in plan.entries:
        yield from (one for one in list_pairs(plan.how, entry, facts) if plan.only in (None, *one.systems))


def choose_documents(plan: DocumentsPlan, one: Listed) -> Places:
    """The places of the documents of a pair that are shown, in their order: what makes most of the difference first,
    what speaks against it last; of equal systems what speaks for the first.
    """
    turned = -1.0 if plan.only == one.systems[1] else 1.0
    if plan.only is not None:
        weight = turned * one.for_first
    else:
        weight = one.contributed * np.sign(one.difference) if one.difference is not None else one.for_first
    order = np.argsort(-weight, kind="stable")
    if plan.only is not None:
        order = order[weight[order] > 0]
    return order[: plan.limit]


TextsOf = dict[str, dict[str, str]]
"""The texts of documents by the name of the document, then by the column that they stand in."""


def _stored_texts(one: Listed, plan: DocumentsPlan, facts: Facts) -> TextsOf:
    """The texts of a pair: of several references each, of several inputs or outputs the first; an input of their own is
    that of the first system that has one.
    """
    entry = one.comparison.entry
    a, b = (
        plan.single.get((entry.test_set.id, system.id), (0, system.name))[1]
        if isinstance(system, p.StoredSystem)
        else system.name
        for system in (entry.systems[place] for place in one.pair)
    )
    found: TextsOf = {}
    for document, system, kind, text, _ in facts[f"texts on {one.comparison.entry.test_set.name!r}"]:
        own = found.setdefault(document, {})
        if kind == "reference":
            own["reference"] = f"{own['reference']}\n{text}" if "reference" in own else text
        elif kind == "input" and system in (None, a, b):
            own.setdefault("input", text)
        elif kind == "output" and system in (a, b):
            own.setdefault("output_a" if system == a else "output_b", text)
    return found


def _add(one: Listed, order: Places, stored: TextsOf, rows: TableRows) -> None:
    entry, statistic = one.comparison.entry, one.comparison.statistic
    a, b = one.systems
    named, first, second, contributed = (
        array[order].tolist() for array in (one.names, one.first, one.second, one.contributed)
    )
    for name, value_a, value_b, part in zip(named, first, second, contributed, strict=True):
        own = stored.get(name, {})
        known_a, known_b = (None if value != value else value for value in (value_a, value_b))
        rows.add(
            test_set=entry.test_set.name,
            measure=statistic.label,
            system_a=a,
            system_b=b,
            document=name,
            value_a=known_a,
            value_b=known_b,
            difference=None if known_a is None or known_b is None else known_a - known_b,
            contribution=part,
            # A zero share is 0, not −0.
            share=None if one.difference is None else part / one.difference + 0.0,
            input=own.get("input"),
            reference=own.get("reference"),
            output_a=own.get("output_a"),
            output_b=own.get("output_b"),
        )


# --- what it is called ------------------------------------------------------------------------------------------------


def _columns(plan: DocumentsPlan, pairs: Sequence[Listed], with_texts: Collection[str]) -> tuple[Column, ...]:
    number: CellKind = unit_of(plan.entries)
    difference: CellKind = "number" if number == "number" else "difference"
    same = {one.systems for one in pairs}
    a, b = same.pop() if len(same) == 1 else ("A", "B")
    equal = any(one.difference is None for one in pairs)
    return (
        Column("test_set", "name", on_screen=False),
        Column("measure", "name", on_screen=False),
        Column("system_a", "name", on_screen=False),
        Column("system_b", "name", on_screen=False),
        Column("document", "name", noun_of(plan.entries)),
        Column("value_a", number, a),
        Column("value_b", number, b),
        Column("difference", difference, spare=1),
        Column("contribution", difference, on_screen=equal),
        Column("share", "proportion", "share %", on_screen=not all(one.difference is None for one in pairs)),
        Column("input", "passage", on_screen="input" in with_texts, spare=5),
        Column("reference", "passage", on_screen="reference" in with_texts, spare=4),
        Column("output_a", "passage", f"output of {a}", on_screen="output_a" in with_texts, spare=2),
        Column("output_b", "passage", f"output of {b}", on_screen="output_b" in with_texts, spare=3),
    )


def _sections(
    plan: DocumentsPlan, pairs: Sequence[Listed], table: Table, ends: Sequence[int]
) -> tuple[TableSection, ...]:
    """One section per pair, of which a screen shows the first documents."""
    sections = []
    for one, start, end in zip(pairs, [0, *ends], ends, strict=False):
        heading = f"{_title_of(one)}: {_whole(one)}" if len(pairs) > 1 else ""
        sections.append(TableSection(heading, table.rows[start:end], None if plan.limit is not None else SHOWN))
    return tuple(sections)


def _title_of(one: Listed) -> str:
    """F of GE − UMASS on TST3."""
    entry, label = one.comparison.entry, one.comparison.statistic.label
    return f"{label} of {' − '.join(one.systems)} on {entry.test_set.name}"


def _whole(one: Listed) -> str:
    first, second = (one.comparison.values[place] for place in one.pair)
    return difference_text(first, second, one.difference, one.comparison.entry.unit)


def _notes(one: Listed) -> Iterator[str]:
    """How many documents favour each system, and by how much."""
    yield from missing_notes(one.comparison)
    noun, unit = one.comparison.entry.units.noun, one.comparison.entry.unit
    speaking = [side[side > 0] for side in (one.for_first, -one.for_first)]
    if not any(len(side) for side in speaking):
        yield f"{_title_of(one)}: the two systems do not differ on any {noun}"
        return
    a, b = (
        f"{name}, by {format_value(float(side.sum()), unit)} in total" if len(side) else name
        for side, name in zip(speaking, one.systems, strict=True)
    )
    favour = ["favours" if len(side) == 1 else "favour" for side in speaking]
    neither = len(one.contributed) - sum(map(len, speaking))
    none = f"; {neither:,} favour neither" if neither else ""
    yield (
        f"{_title_of(one)}: {quantity(len(speaking[0]), noun)} {favour[0]} {a}; "
        f"{len(speaking[1]):,} {favour[1]} {b}{none}"
    )
    most = max((float(side.max()) for side in speaking if len(side)), default=0.0)
    if one.difference is not None and most > abs(one.difference):
        yield f"{_title_of(one)}: what favours each system nearly cancels out, so shares exceed 100"


def subject(entry: p.Entry) -> str:
    names = ", ".join(system.name for system in entry.systems)
    return f"{plural(entry.units.noun)} of {entry.kind.name} on {entry.test_set.name} for {names}"


def weigh(plan: DocumentsPlan, facts: Facts) -> Iterator[Line]:
    """How the difference of each statistic is shared out."""
    for statistic in dict.fromkeys(statistic for entry in plan.entries for statistic in entry.statistics):
        of_sums = isinstance(statistic.computation, Function) and not statistic.averaged
        way = (
            "along the line of sums (Aumann and Shapley 1974)"
            if of_sums
            else "between numerators and denominators (Kitagawa 1955)"
        )
        yield "shares", f"{statistic.label}: the difference of the totals, shared out {way}"


DOCUMENTS = Statement(
    node=n.Documents,
    usage=Usage(
        "documents MEASURE, …",
        "the documents behind a difference, largest contributions first",
        "documents F for GE, UMASS on TST3",
        of_rows="""\
>>> r = eh.documents(rows, "accuracy", "new", "base", limit=3)
>>> [(row["document"], row["value_a"], row["value_b"]) for row in r]
[('Q15', 1.0, 0.0), ('Q18', 1.0, 0.0), ('Q21', 1.0, 0.0)]
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    weigh=weigh,
)
