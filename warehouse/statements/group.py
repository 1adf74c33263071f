"""Runs a GroupPlan: every pair tested as `compare` does, and from the verdicts the significance groups. It knows no
SQL.
"""

from __future__ import annotations

import numpy as np

from warehouse.query import plan as p
from warehouse.query.comparison.blocks import tested
from warehouse.query.comparison.pairs import Comparison, comparisons
from warehouse.query.comparison.procedures import Pair
from warehouse.query.comparison.verdicts import (
    Decided,
    comparison_notes,
    decide,
    hopeless,
    testing_signature,
    testing_title,
)
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import on, title
from warehouse.results import Cell, Column, Kind, Result, Table
from warehouse.significance.groups import letters
from warehouse.significance.tests import named_adjustment, named_test
from warehouse.significance.work import Work
from warehouse.store.catalog import Catalog

Rows = list[tuple[Cell, ...]]


def group(plan: p.GroupPlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a system in the order of its value, with its letters; the summary has a row a group."""
    rows: Rows = []
    summary: Rows = []
    notes: list[str] = []
    methods: list[Cell] = []
    families_of: list[dict[Pair, Decided]] = []
    shuffles: list[Cell] = []
    for entry in plan.entries:
        for batch in comparisons(plan.how, entry, None, engine, ranked=True):
            found = tested(batch, Work(engine.threads, engine.told), engine)
            for comparison in batch:
                decided = decide(comparison, found)
                families_of.append(decided)
                methods += [each.outcome.method for each in decided.values()]
                shuffles += [each.outcome.shuffles for each in decided.values()]
                notes += [*comparison_notes(comparison), *_grouped(comparison, decided, rows, summary)]
    imported = any(entry.task == "values" for entry in plan.entries)
    several = len({(row[0], row[2]) for row in rows}) > 1
    labels = list(dict.fromkeys(str(row[2]) for row in rows))
    test = testing_title(plan.how, methods, shuffles)
    families = sorted({len(decided) for decided in families_of})
    pairs = " and ".join(map(str, families))
    adjusted = f"; adjusted by {plan.how.adjust} in families of {pairs} pairs"
    if not named_adjustment(plan.how.adjust).adjusts:
        count = sum(map(len, families_of))
        adjusted = (
            "" if named_test(plan.how.test).whole_family or count == 1 else f"; {count} comparisons, not adjusted"
        )
    kind: Kind = "number" if imported else "proportion"
    shown = (
        Column("test_set", "name", on_screen=several),
        Column("task", "text", on_screen=False),
        Column("measure", "name", on_screen=several),
    )
    columns = (
        *shown,
        Column("rank", "count"),
        Column("system", "name"),
        Column("value", kind, "value" if several else labels[0]),
        Column("letters", "letters", "groups"),
    )
    summary_columns = (
        *shown,
        Column("letter", "name", "group"),
        Column("systems", "text"),
        Column("high", kind),
        Column("low", kind),
        Column("spread", kind),
    )
    return Result(
        statement=plan.text,
        caption=title(f"{', '.join(labels)} on {on(plan.entries)}: {test}{adjusted}", plan.entries, catalog),
        signature=testing_signature(plan.text, plan.how, plan.entries, shuffles, catalog),
        table=Table(columns, tuple(rows)),
        summary_table=Table(summary_columns, tuple(summary)),
        notes=tuple(dict.fromkeys([*hopeless(plan.how), *notes])),
    )


def _grouped(comparison: Comparison, decided: dict[Pair, Decided], rows: Rows, summary: Rows) -> list[str]:
    """Adds the rows of one statistic on one test set, and gives what there is to note."""
    names = [contender.name for contender in comparison.entry.contenders]
    values = [value or 0.0 for value in comparison.values]
    sign = 1 if comparison.statistic.measure.lower_is_better else -1
    order = sorted(range(len(names)), key=lambda place: (sign * values[place], names[place]))
    different = np.zeros((len(names), len(names)), dtype=np.bool_)
    for (a, b), each in decided.items():
        different[a, b] = different[b, a] = each.verdict == "different"
    found = letters(different, order)
    head = (comparison.entry.test_set.name, comparison.entry.task, comparison.statistic.label)
    for rank, place in enumerate(order, 1):
        rows.append((*head, rank, names[place], values[place], " ".join(found.letters[place])))
    known = list(dict.fromkeys(letter for place in order for letter in found.letters[place]))
    known.sort(key=lambda letter: (len(letter), letter))
    for letter, members in zip(known, found.members, strict=True):
        high, low = sorted((values[members[0]], values[members[-1]]), reverse=True)
        summary.append((*head, letter, ", ".join(names[place] for place in members), high, low, high - low))
    where = f"{comparison.statistic.label} on {comparison.entry.test_set.name}"
    unsure = sum(each.verdict == "undecided" for each in decided.values())
    notes = []
    if unsure:
        notes.append(f"{where}: {unsure} pairs are undecided and so not told apart; more shuffles would settle them")
    if not found.complete:
        notes.append(
            f"{where}: there are too many groups to list, so only those of neighbours in the ranking are shown"
        )
    return notes
