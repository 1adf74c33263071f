"""Runs a ComparePlan: observations from the database, a significance test a pair, a Result. It knows no SQL and
draws nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from warehouse.query import plan as p
from warehouse.query.comparison.blocks import tested
from warehouse.query.comparison.pairs import Comparison, comparisons
from warehouse.query.comparison.procedures import Pair, intervals
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
from warehouse.results import Cell, Column, Result, Table, Triangle
from warehouse.significance.confidence import shuffles_to_decide
from warehouse.significance.correlation import correlations, inflation
from warehouse.significance.tests import named_adjustment, named_test
from warehouse.significance.work import Work
from warehouse.store.catalog import Catalog

FEW = 6
"""With fewer differing units than this a two-sided exact test cannot reach the level 0.05."""

ONE_BY_ONE = 10
"""Notes about more pairs than this are one note about all of them."""

COLUMNS = (
    Column("test_set", "name", on_screen=False),
    Column("task", "text", on_screen=False),
    Column("measure", "name"),
    Column("system_a", "name", "A"),
    Column("system_b", "name", "B"),
    Column("value_a", "proportion", "A"),
    Column("value_b", "proportion", "B"),
    Column("difference", "difference"),
    Column("test", "text", on_screen=False),
    Column("sides", "text", on_screen=False),
    Column("method", "text", on_screen=False),
    Column("shuffles", "count", on_screen=False),
    Column("nge", "count", on_screen=False),
    Column("p", "probability"),
    Column("p_adjusted", "probability", on_screen=False),
    Column("confidence", "number"),
    Column("level", "number", on_screen=False),
    Column("verdict", "text"),
    Column("documents", "count", on_screen=False),
    Column("units", "count", on_screen=False),
    Column("differing", "count", on_screen=False),
    Column("correlation", "number", on_screen=False),
    Column("inflation", "number", on_screen=False),
    Column("ci_low", "difference", "95% from"),
    Column("ci_high", "difference", "to"),
    Column("statistic", "number", on_screen=False),
    Column("seed", "whole", on_screen=False),
)
_NAMES = tuple(column.name for column in COLUMNS)


def compare(plan: p.ComparePlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A significance test for each pair of systems, measure and test set."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for entry in plan.entries:
        for batch in comparisons(plan.how, entry, plan.against, engine):
            found = tested(batch, Work(engine.threads, engine.told), engine)
            ranges = intervals(batch, Work(engine.threads))
            for comparison in batch:
                decided = decide(comparison, found)
                rows += _rows(comparison, decided, ranges)
                notes += comparison_notes(comparison)
    many = (
        plan.against is None
        and plan.how.sides == "two-sided"
        and any(len(entry.contenders) > 2 for entry in plan.entries)
    )
    table = Table(_columns(plan, rows), tuple(rows))
    return Result(
        statement=plan.text,
        caption=_caption(plan, table, catalog),
        signature=testing_signature(plan.text, plan.how, plan.entries, table.column("shuffles"), catalog),
        table=table,
        notes=tuple(dict.fromkeys([*hopeless(plan.how), *notes, *_notes(plan, table)])),
        triangle=replace(TRIANGLE, cell="p_adjusted" if named_adjustment(plan.how.adjust).adjusts else "p")
        if many
        else None,
    )


TRIANGLE = Triangle(
    within=("test_set", "measure"),
    first="system_a",
    second="system_b",
    first_value="value_a",
    second_value="value_b",
    cell="p",
    mark="verdict",
)
"""All pairs of more than two systems as a triangle of significance levels."""


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(
    comparison: Comparison, decided: Mapping[Pair, Decided], ranges: Mapping[tuple[str, Pair], tuple[float, float]]
) -> Iterator[tuple[Cell, ...]]:
    """A row a pair."""
    how, label = comparison.how, comparison.statistic.label
    of_all: dict[str, Cell] = {
        "test_set": comparison.entry.test_set.name,
        "task": comparison.entry.task,
        "measure": label,
        "test": how.test,
        "sides": how.sides,
        "level": float(how.level),
        "documents": comparison.seen.documents,
        "seed": how.seed,
    }
    names, units = [contender.name for contender in comparison.entry.contenders], comparison.seen.units
    differing = [None] * len(comparison.pairs) if comparison.runs else comparison.sums.differing(comparison.pairs)
    alike = correlations(np.stack(comparison.unit_values), comparison.pairs)
    for pair, unlike, r in zip(comparison.pairs, differing, alike, strict=True):
        a, b = pair
        judged = decided[pair]
        outcome, statistic, (low, high) = judged.outcome, judged.outcome.statistic, ranges[label, pair]
        row = of_all | {
            "system_a": names[a],
            "system_b": names[b],
            "value_a": comparison.values[a],
            "value_b": comparison.values[b],
            "difference": comparison.difference(a, b),
            "method": outcome.method,
            "shuffles": outcome.shuffles,
            "nge": outcome.nge,
            "p": outcome.p,
            "p_adjusted": judged.adjusted,
            "confidence": judged.confidence,
            "verdict": judged.verdict,
            "units": len(comparison.runs[a]) + len(comparison.runs[b]) if comparison.runs else units,
            "differing": unlike,
            "correlation": r,
            "inflation": None if r is None else inflation(r),
            "ci_low": low,
            "ci_high": high,
            "statistic": statistic if statistic is None or isfinite(statistic) else None,
        }
        yield tuple(map(row.get, _NAMES))


# --- what it is called ------------------------------------------------------------------------------------------------


def _columns(plan: p.ComparePlan, table_rows: Sequence[tuple[Cell, ...]]) -> tuple[Column, ...]:
    """The columns, fitted for the screen: two systems stand in the headings of their values, other columns show what
    varies.
    """
    places = {column.name: place for place, column in enumerate(COLUMNS)}
    pairs = {(row[places["system_a"]], row[places["system_b"]]) for row in table_rows}
    headings: dict[str, str] = {}
    hidden: set[str] = set()
    if len(pairs) == 1:
        (first, second) = next(iter(pairs))
        headings = {"value_a": str(first), "value_b": str(second)}
        hidden = {"system_a", "system_b"}
    shown = {"test_set"} if len(plan.entries) > 1 else set()
    if any(row[places["p_adjusted"]] is not None for row in table_rows):
        shown.add("p_adjusted")
    values = {"value_a", "value_b", "difference", "ci_low", "ci_high"}
    imported = any(entry.task == "values" for entry in plan.entries)
    return tuple(
        replace(
            column,
            heading=headings.get(column.name, column.heading),
            kind="number" if imported and column.name in values else column.kind,
            on_screen=(column.on_screen or column.name in shown) and column.name not in hidden,
        )
        for column in COLUMNS
    )


def _caption(plan: p.ComparePlan, table: Table, catalog: Catalog) -> str:
    measures = ", ".join(dict.fromkeys(str(measure) for measure in table.column("measure")))
    test = testing_title(plan.how, table.column("method"), table.column("shuffles"))
    count = len(table.rows)
    sizes = set(Counter(zip(table.column("test_set"), table.column("measure"), strict=True)).values())
    family = ""
    if named_adjustment(plan.how.adjust).adjusts:
        family = f"; adjusted by {plan.how.adjust} in families of {_pairs(sizes)}"
    elif named_test(plan.how.test).whole_family:
        family = f"; levels hold for families of {_pairs(sizes)}"
    elif count > 1:
        family = f"; {count} comparisons, not adjusted"
    return title(f"{measures} on {on(plan.entries)}: {test}{family}", plan.entries, catalog)


# --- notes ------------------------------------------------------------------------------------------------------------


def _pairs(sizes: set[int]) -> str:
    """1 pair; 3 and 10 pairs."""
    return f"{' and '.join(map(str, sorted(sizes)))} pair{'s' if sizes != {1} else ''}"


def _notes(plan: p.ComparePlan, table: Table) -> Iterator[str]:
    """What a reader of the table would be misled without: of a few pairs one by one, of many how many there are."""
    few = table.records_where("differing", lambda units: isinstance(units, int) and 0 < units < FEW)
    independent = table.records_where("test", lambda name: named_test(str(name)).kind == "independent")
    undecided = table.records_where("verdict", lambda verdict: verdict == "undecided")
    if len(few) <= ONE_BY_ONE:
        for row in few:
            yield f"{_who(row)}: only {row['differing']} of {row['units']} units differ, so no test can tell much"
    else:
        yield f"{len(few):,} pairs differ in fewer than {FEW} units, so no test can tell much of them"
    assumed = "assumes that the two systems' answers are independent"
    if len(independent) <= ONE_BY_ONE:
        for row in independent:
            yield f"{_who(row)}: {row['test']} {assumed}; {_correlated(row)} (Yeh 2000, section 2.1)"
    else:
        known = [row["inflation"] for row in independent if isinstance(row["inflation"], float)]
        taken = f"; it takes the standard deviation for up to {max(known):.2f} times what it is" if known else ""
        yield f"{independent[0]['test']} {assumed}{taken} (Yeh 2000, section 2.1)"
    unsure = f"p is at most {plan.how.level} but not with confidence {plan.how.confidence}"
    needed = {id(row): _needed(plan, row) for row in undecided}
    if len(undecided) <= ONE_BY_ONE:
        for row in undecided:
            more = needed[id(row)]
            way = f"about {more:,} shuffles would decide it, and so would exact" if more else "exact would decide it"
            yield f"{_who(row)}: undecided, {unsure}; {way}"
    else:
        decidable = [more for more in needed.values() if more]
        most = f"{max(decidable):,} shuffles would decide {len(decidable):,} of them, and " if decidable else ""
        yield f"{len(undecided):,} pairs are undecided, {unsure}; {most}exact would decide all"


def _who(row: Mapping[str, Cell]) -> str:
    return f"{row['system_a']} and {row['system_b']}, {row['measure']} on {row['test_set']}"


def _correlated(row: Mapping[str, Cell]) -> str:
    """What a test that assumes independence makes of two systems that are correlated."""
    r, factor = row["correlation"], row["inflation"]
    if not isinstance(r, float):
        return "their correlation is not defined"
    taken = f", so it takes the standard deviation for {factor:.2f} times what it is"
    return f"their correlation is {r:.3f}{taken if isinstance(factor, float) else ''}"


def _needed(plan: p.ComparePlan, row: Mapping[str, Cell]) -> int | None:
    """How many shuffles would decide an undecided pair; None where only exact does."""
    nge, shuffles = row["nge"], row["shuffles"]
    if not isinstance(nge, int) or not isinstance(shuffles, int):
        return None
    return shuffles_to_decide(nge, shuffles, float(plan.how.level), float(plan.how.confidence))
