"""Runs a GeneralityPlan: how many documents the key calls relevant, optional and nonrelevant, and the three
generalities.
"""

from __future__ import annotations

from warehouse.filtering.generality import KeyCounts, generalities
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import signature, title
from warehouse.results import Cell, Column, Result, Table
from warehouse.store.catalog import Catalog

LABELS = ("relevant", "optional", "nonrelevant")


def generality(plan: p.GeneralityPlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a test set and `by` value. Documents that the key says nothing of do not count."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for test_set in plan.test_sets:
        counts: dict[tuple[Cell, ...], dict[str, int]] = {}
        for row in engine.rows(sql.key_counts(test_set, plan.by, plan.where)):
            counts.setdefault(tuple(row[:-2]), {})[row[-2]] = row[-1]
        for by in sorted(counts, key=lambda values: [(value is None, str(value)) for value in values]):
            key = tuple(counts[by].get(label, 0) for label in LABELS)
            found = generalities(KeyCounts(*key))
            rows.append((test_set.name, *by, sum(key), *key, found.judged, found.strict, found.generality))
        if not counts:
            notes.append(f"{test_set.name} has no key labels{' that meet the condition' if plan.where else ''}")
    columns = (
        Column("test_set", "name"),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("documents", "count"),
        *(Column(label, "count") for label in LABELS),
        Column("generality_judged", "proportion", "(4)"),
        Column("generality_strict", "proportion", "(4')"),
        Column("generality", "proportion", "(4'')"),
    )
    entries = [p.Entry(test_set, "filtering", (), ()) for test_set in plan.test_sets]
    names = ", ".join(test_set.name for test_set in plan.test_sets)
    return Result(
        statement=plan.text,
        caption=title(f"generality of {names} as in Lewis and Tong 1992", entries, catalog),
        signature=signature(plan.text, entries, catalog),
        table=Table(columns, tuple(rows)),
        notes=tuple(notes),
    )
