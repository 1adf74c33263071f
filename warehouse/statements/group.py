"""`group`: tests every pair like `compare`, and makes significance groups from the verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import TestedPairs, result_of
from evalhouse.warehouse.comparing.decisions import Decided, decisions
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, batches, comparison_queries, count_of_pairs
from evalhouse.warehouse.notes import Note
from evalhouse.warehouse.plans import conventions
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.groups import spelled_out
from evalhouse.warehouse.plans.labels import taken_together_on, unit_of
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import averaged_entries, check_two, tested_entries, testing_of
from evalhouse.warehouse.results import Cell, CellKind, Column, Result, TableRows
from evalhouse.warehouse.statements import sentences

ROWS = ("test_set", "task", "measure", "rank", "system", "value", "letters", "undecided")
SUMMARY = ("test_set", "task", "measure", "letter", "systems", "size", "best", "worst", "high", "low", "spread")

LISTED = 12
"""If a group has more systems than this, or there are more groups than letters, people see the best and the worst of
each instead of all."""


class GroupPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    over: p.OverTestSets | None = None
    """How the test sets are taken together, if they are."""

    @property
    def grouped_entries(self) -> tuple[p.Entry, ...]:
        """An entry for each grouping of all systems by all measures."""
        return self.entries if self.over is None else self.entries[:1]


def resolve(written: n.Group, scope: Scope) -> GroupPlan:
    statement, over = spelled_out(written, scope)
    entries = tested_entries(statement, statement.test_sets, scope)
    for entry in entries:
        check_two("group", entry.systems, entry, statement)
    if statement.over:
        entries = averaged_entries(statement, entries)
    return GroupPlan(to_text(written), entries, testing_of(statement, entries, scope), over)


def compile(plan: GroupPlan) -> Queries:
    return tuple(
        query for entry in plan.entries for query in comparison_queries(plan.how, entry, plan.over is not None)
    )


def answer(plan: GroupPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per system in the order of its value, with its letters; the summary has one row per group."""
    rows, summary = TableRows(ROWS), TableRows(SUMMARY)
    tested = TestedPairs.by(plan.how)
    pairs = count_of_pairs(plan.grouped_entries)
    for batch in batches(plan.how, plan.entries, facts, plan.over, ranked=True):
        of_batch = decisions(batch, workforce, pairs)
        for comparison in batch:
            decided = {pair: of_batch[comparison.statistic.label, pair] for pair in comparison.pairs}
            tested.add(comparison, of_batch)
            tested.look_at_pairs(comparison, of_batch)
            tested.noted.extend(_add_groups(comparison, decided, rows, summary))
    by_convention = conventions.notes(plan.grouped_entries, partial(conventions.of_letters, rows), "verdict", "pairs")
    labels = list(dict.fromkeys(map(str, rows.cells("measure"))))
    columns, summary_columns = _columns(plan, rows, summary, labels)
    table = rows.table(columns)
    where = taken_together_on(plan.entries, plan.over)
    taken = where if plan.over is not None else ""
    return result_of(
        plan.text,
        plan.entries,
        f"{', '.join(labels)} {where}",
        table,
        tested=tested,
        notes=(*(plan.over.notes if plan.over is not None else ()), *by_convention, *tested.notes),
        summary_table=summary.table(summary_columns),
        sentence=sentences.of_groups(table, taken),
    )


def _columns(
    plan: GroupPlan, rows: TableRows, summary: TableRows, labels: list[str]
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    from evalhouse.warehouse.comparing.notes import are_few

    # After z comes aa.
    numbered = any(len(str(letter)) > 1 for letter in summary.cells("letter"))
    large = numbered or any(int(str(size)) > LISTED for size in summary.cells("size"))
    several = len(set(zip(rows.cells("test_set"), rows.cells("measure"), strict=True))) > 1
    unit: CellKind = unit_of(plan.entries)
    shown = (
        Column("test_set", "name", on_screen=several),
        Column("task", "text", on_screen=False),
        Column("measure", "name", on_screen=several),
    )
    columns = (
        *shown,
        Column("rank", "count"),
        Column("system", "name"),
        Column("value", unit, "value" if several else labels[0]),
        Column("letters", "letters", "groups"),
        Column("undecided", "text", on_screen=are_few(rows.cells("undecided"))),
    )
    summary_columns = (
        *shown,
        Column("letter", "letters" if numbered else "name", "group"),
        Column("systems", "text", on_screen=not large),
        Column("size", "count", "systems", on_screen=large),
        Column("best", "name", "from", on_screen=large),
        Column("worst", "name", "to", on_screen=large),
        Column("high", unit),
        Column("low", unit),
        Column("spread", unit),
    )
    return columns, summary_columns


def _add_groups(
    comparison: Comparison, decided: Mapping[Pair, Decided], rows: TableRows, summary: TableRows
) -> Iterator[str]:
    """Adds the rows of one statistic on one test set, and yields the notes."""
    from evalhouse.warehouse.comparing.notes import subject_of, undecided_note
    from evalhouse.warehouse.significance.groups import letters

    names = [system.name for system in comparison.entry.systems]
    values = [value or 0.0 for value in comparison.values]
    sign = 1 if comparison.statistic.measure.lower_is_better else -1
    order = sorted(range(len(names)), key=lambda place: (sign * values[place], names[place]))
    different = np.zeros((len(names), len(names)), dtype=np.bool_)
    undecided: dict[int, list[str]] = {}
    for (a, b), judged in decided.items():
        different[a, b] = different[b, a] = judged.verdict == "significant"
        if judged.verdict == "undecided":
            undecided.setdefault(a, []).append(names[b])
            undecided.setdefault(b, []).append(names[a])
    groups = letters(different, order)
    head: dict[str, Cell] = {
        "test_set": comparison.entry.test_set.name,
        "task": comparison.entry.kind.name,
        "measure": comparison.statistic.label,
    }
    for rank, place in enumerate(order, 1):
        own = " ".join(groups.letters[place])
        unsure = ", ".join(undecided.get(place, ())) or None
        rows.add(**head, rank=rank, system=names[place], value=values[place], letters=own, undecided=unsure)
    known = list(dict.fromkeys(letter for place in order for letter in groups.letters[place]))
    known.sort(key=lambda letter: (len(letter), letter))
    for letter, members in zip(known, groups.members, strict=True):
        low, high = sorted((values[members[0]], values[members[-1]]))
        systems = ", ".join(names[place] for place in members)
        best, worst = names[members[0]], names[members[-1]]
        of_group: dict[str, Cell] = {"letter": letter, "systems": systems, "size": len(members)}
        summary.add(**head, **of_group, best=best, worst=worst, high=high, low=low, spread=high - low)
    for pair, judged in decided.items():
        if judged.verdict == "undecided":
            yield undecided_note(comparison.how, subject_of(comparison, pair), judged.enough)
    if undecided:
        yield Note(subject_of(comparison), "systems of an undecided pair share a letter, though they may differ")
    if not groups.complete:
        neighbours = "too many groups to list; only those of neighbours in the ranking are shown"
        yield Note(subject_of(comparison), neighbours)


def weigh(plan: GroupPlan, facts: Facts) -> Iterator[Line]:
    from evalhouse.warehouse.comparing.explanation import explain_tests

    return explain_tests(batches(plan.how, plan.entries, facts, plan.over), plan.how)


GROUP = Statement(
    node=n.Group,
    usage=Usage(
        "group MEASURE, …",
        "significance groups: systems that share a letter do not differ significantly",
        "group F for all on TST3 level 0.10 confidence 0.99",
        of_rows="""\
>>> [(row["system"], row["letters"]) for row in eh.group(rows, "accuracy", "all")]
[('new', 'a'), ('base', 'a')]
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)
