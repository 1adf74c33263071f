"""Runs a ShowPlan: what there is, from the catalog and from the tables of measures and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from grammar.printer import to_text
from warehouse.measures import MEASURES
from warehouse.measures.measure import plain
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.resolving.substitution import Variables
from warehouse.results import Cell, Column, Result, Table
from warehouse.significance.tests import TESTS
from warehouse.store.catalog import Catalog

Rows = list[tuple[Cell, ...]]


def show(plan: p.ShowPlan, engine: DuckDBEngine, catalog: Catalog, variables: Variables) -> Result:
    """The things of one kind, a row each."""
    columns, rows = _SHOWN[plan.what](engine, catalog, variables)
    return Result(plan.text, plan.what, plan.text, Table(columns, tuple(rows)))


Shown = tuple[tuple[Column, ...], Rows]


def _queried(query: Any, *columns: Column) -> Callable[..., Shown]:
    def ask(engine: DuckDBEngine, catalog: Catalog, variables: Any) -> Shown:
        return columns, engine.rows(query)

    return ask


def _measures(engine: DuckDBEngine, catalog: Catalog, variables: Any) -> Shown:
    rows: Rows = [
        (
            measure.name,
            measure.task,
            ", ".join(
                f"{parameter.name}={plain(parameter.default)}"
                for parameter in measure.parameters
                if parameter.default is not None
            )
            or None,
            measure.meaning,
            measure.source,
        )
        for measure in MEASURES
    ]
    rows += [(name, None, None, text.partition(" = ")[2], None) for name, text in catalog.definitions.items()]
    for task, meaning in (("values", "mean of the imported values"), ("published", "as printed")):
        on: dict[str, list[str]] = {}
        for test_set in catalog.test_sets:
            for name in catalog.measures_of(task, test_set.id):
                on.setdefault(name, []).append(catalog.short_name(test_set))
        rows += [(name, task, None, f"{meaning} on {', '.join(where)}", None) for name, where in sorted(on.items())]
    columns = (
        Column("measure", "name"),
        Column("task", "text"),
        Column("parameters", "text"),
        Column("meaning", "text"),
        Column("source", "text", on_screen=False),
    )
    return columns, rows


def _tests(engine: DuckDBEngine, catalog: Catalog, variables: Any) -> Shown:
    return (Column("test", "name"), Column("meaning", "text"), Column("source", "text")), [
        (test.name, test.meaning, test.source) for test in TESTS
    ]


def _variables(engine: DuckDBEngine, catalog: Catalog, variables: Variables) -> Shown:
    rows: Rows = [(f"${name}", ", ".join(to_text(item) for item in items)) for name, items in sorted(variables.items())]
    return (Column("variable", "name"), Column("value", "text")), rows


_SHOWN: Mapping[str, Callable[..., Shown]] = {
    "systems": _queried(
        sql.ALL_SYSTEMS,
        Column("system", "name"),
        Column("test_sets", "text"),
        Column("score_tuples", "count"),
        Column("decisions", "count"),
        Column("values", "count"),
        Column("published", "count"),
    ),
    "test sets": _queried(
        sql.ALL_TEST_SETS,
        Column("test_set", "name"),
        Column("evaluation", "name"),
        Column("documents", "count"),
        Column("systems", "count"),
        Column("relevant", "count"),
        Column("optional", "count"),
        Column("nonrelevant", "count"),
    ),
    "evaluations": _queried(sql.ALL_EVALUATIONS, Column("evaluation", "name"), Column("test_sets", "count")),
    "measures": _measures,
    "tests": _tests,
    "imports": _queried(
        sql.ALL_IMPORTS,
        Column("import", "whole"),
        Column("source", "name"),
        Column("reader", "text"),
        Column("rows", "count"),
        Column("imported_at", "text"),
        Column("simulated", "text"),
        Column("sha256", "text", on_screen=False),
        Column("options", "text", on_screen=False),
        Column("version", "text", on_screen=False),
    ),
    "variables": _variables,
    "attributes": _queried(
        sql.ALL_ATTRIBUTES,
        Column("attribute", "name"),
        Column("rows", "count"),
        Column("values", "text"),
    ),
}
"""What each kind is shown with, in the words after `show`."""
