"""`show`: what there is, from the database, from the catalog, and from the tables of measures and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.kinds import KINDS, Kind
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, quantity
from evalhouse.warehouse.measures import MEASURES
from evalhouse.warehouse.measures.measure import plain
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.plans.user_measures import defined_measure, is_made_of
from evalhouse.warehouse.results import Cell, Column, Result, Table, TableRows
from evalhouse.warehouse.significance.tests import TESTS
from evalhouse.warehouse.store.catalog import KnownTestSet
from evalhouse.warehouse.store.sql import Sql

CountNames = tuple[str, ...]
"""The names of counts."""


class ShowPlan(Struct, frozen=True):
    """What is known without asking the database is a `table`; else a query brings the rows of `columns`."""

    text: str
    what: str
    table: Table | None
    query: Sql | None = None
    columns: tuple[Column, ...] = ()
    observed: tuple[tuple[Cell, Cell, str], ...] | None = None
    """Of test sets, by evaluation and name, how many of what is observed on them, where it has a name of its own."""
    groups: tuple[tuple[Cell, Cell, str], ...] = ()
    """The groups of test sets, by evaluation and name, and the test sets that are in them."""


def resolve(statement: n.Show, scope: Scope) -> ShowPlan:
    text, what = to_text(statement), statement.what
    if what in _LISTED:
        return ShowPlan(text, what, _LISTED[what](scope))
    write, columns = _QUERIED[what]
    query = write(scope.catalog.models)
    columns = tuple(column for column in columns if scope.catalog.models or column.name != "runs")
    observed = tuple(_count_observed(scope)) if any(column.name == "observed" for column in columns) else None
    return ShowPlan(text, what, None, query, columns, observed, tuple(_groups(scope)) if observed is not None else ())


def compile(plan: ShowPlan) -> Queries:
    return () if plan.query is None else (Query(plan.what, plan.query),)


def answer(plan: ShowPlan, facts: Facts, workforce: Workforce) -> Result:
    """The things of one kind, a row each. Columns without content, such as labels where there are none, are not shown
    on screen.
    """
    table = plan.table or Table(plan.columns, tuple(facts[plan.what]))
    if plan.observed is not None:
        rows = TableRows.of(plan.columns)
        said = {(evaluation, test_set): text for evaluation, test_set, text in plan.observed}
        groups = {(evaluation, test_set): parts for evaluation, test_set, parts in plan.groups}
        for row in table.records():
            place = row["evaluation"], row["test_set"]
            observed = said.get(place) or quantity(cast(int, row["documents"]), PLAIN_NOUN)
            rows.add(**row | {"observed": observed, "parts": groups.pop(place, None)})
        for (evaluation, group), parts in groups.items():  # those without figures of their own
            rows.add(**dict.fromkeys(rows.names) | {"evaluation": evaluation, "test_set": group, "parts": parts})
        table = rows.table(plan.columns)
    shown = tuple(
        replace(column, on_screen=False) if table.rows and not any(table.column(column.name)) else column
        for column in table.columns
    )
    return Result(plan.text, plan.what, plan.text, replace(table, columns=shown))


def _count_observed(scope: Scope) -> Iterator[tuple[Cell, Cell, str]]:
    """How many of what is observed on each test set that has a noun, or more than one."""
    catalog = scope.catalog
    for test_set in catalog.test_sets:
        counts = {
            noun: catalog.documents(task.name, test_set.id)
            for task in KINDS.values()
            if task.by_document and (noun := catalog.observed(task.name, test_set.id).noun)
        }
        if counts:
            text = ", ".join(quantity(count, noun) for noun, count in counts.items())
            yield test_set.evaluation or None, test_set.name, text


def _groups(scope: Scope) -> Iterator[tuple[Cell, Cell, str]]:
    """What is in each group of test sets."""
    catalog = scope.catalog
    for group in catalog.groups.values():
        names = [catalog.short_name(part) for part in group.parts]
        place = group.test_set.evaluation or None, group.test_set.name
        yield *place, f"{quantity(len(names), 'test set')}: {some(names)}"


def _measures(scope: Scope) -> Table:
    counted_on = _counted_on(scope)
    columns = (
        Column("measure", "name"),
        Column("task", "text"),
        Column("better", "text"),
        Column("parameters", "text", spare=1),
        Column("meaning", "text"),
        Column("test_sets", "text", on_screen=bool(scope.catalog.test_sets)),
        Column("source", "text", on_screen=False),
    )
    rows = TableRows.of(columns)
    for measure in MEASURES:
        parameters = [
            parameter.name if parameter.default is None else f"{parameter.name}={plain(parameter.default)}"
            for parameter in measure.parameters
        ]
        kinds = [
            [test_set for test_set in test_sets if not measure.of_labels or scope.catalog.labels_of(test_set.id)]
            for (task, counts), test_sets in counted_on.items()
            if task.name == measure.kind and is_made_of(measure, counts)
        ]
        if scope.of_attempts(measure.name) is not None:
            kinds.append([test_set for test_set in scope.catalog.test_sets if scope.replicates_are_attempts(test_set)])
        rows.add(
            measure=measure.name,
            task=measure.kind,
            better=_better(measure.lower_is_better),
            parameters=", ".join(parameters) or None,
            meaning=measure.meaning,
            test_sets=_test_set_names(scope, kinds),
            source=measure.source,
        )
    for name, text in scope.catalog.definitions.items():
        kinds = [
            test_sets
            for (task, counts), test_sets in counted_on.items()
            if defined_measure(name, task, scope.catalog.definitions, counts)
        ]
        rows.add(
            measure=name,
            task=None,
            better=_better(False),
            parameters=None,
            meaning=text.partition(" = ")[2],
            test_sets=_test_set_names(scope, kinds),
            source=None,
        )
    for task in KINDS.values():
        if task.imported is None:
            continue
        by_name: dict[str, list[KnownTestSet]] = {}
        for test_set in scope.catalog.test_sets:
            for name in scope.catalog.measures_of(task.name, test_set.id):
                by_name.setdefault(name, []).append(test_set)
        for name, having in sorted(by_name.items()):
            stored = scope.catalog.stored_as(task.name, having[0].id, name)
            declared = scope.catalog.declared_measure(stored[1])
            better = _better(task.imported(name, stored, declared).lower_is_better)
            said = "" if declared.lower_is_better is None else "; direction declared when it was loaded"
            said += "; a share, as declared when it was loaded" if declared.is_share else ""
            rows.add(
                measure=name,
                task=task.name,
                better=better,
                parameters=None,
                meaning=f"{task.figures_are}{said}",
                test_sets=_test_set_names(scope, [having]),
                source=None,
            )
    # What can be asked here stands first.
    place = rows.names.index("test_sets")
    return Table(columns, tuple(sorted(rows.rows, key=lambda row: not row[place])))


def _counted_on(scope: Scope) -> Mapping[tuple[Kind, CountNames], list[KnownTestSet]]:
    """The test sets that can be asked about by task and counts, which say what measures there are."""
    found: dict[tuple[Kind, CountNames], list[KnownTestSet]] = {}
    for test_set in scope.catalog.test_sets:
        for task in KINDS.values():
            if scope.can_be_asked_of(task, test_set):
                counts = scope.catalog.counts_of(task.name, test_set.id)
                found.setdefault((task, counts), []).append(test_set)
    return found


def _test_set_names(scope: Scope, kinds: Iterable[Iterable[KnownTestSet]]) -> str | None:
    """The names of the test sets of some kinds, each once; None where there are none."""
    names = {scope.catalog.short_name(test_set) for test_sets in kinds for test_set in test_sets}
    return ", ".join(sorted(names)) or None


def _better(lower: bool) -> str:
    return "lower" if lower else "higher"


def _tests(scope: Scope) -> Table:
    columns = (Column("test", "name"), Column("meaning", "text"), Column("source", "text"))
    return Table(columns, tuple((test.name, test.meaning, test.source) for test in TESTS))


def _variables(scope: Scope) -> Table:
    columns = (Column("variable", "name"), Column("value", "text"))
    listed = sorted(scope.variables.items())
    return Table(columns, tuple((f"${name}", ", ".join(to_text(item) for item in items)) for name, items in listed))


_LISTED: Mapping[str, Callable[[Scope], Table]] = {"measures": _measures, "tests": _tests, "variables": _variables}
"""What is listed without asking the database, in the words after `show`."""


def _always(query: Sql) -> Callable[[Mapping[int, str]], Sql]:
    """A query that runs of models do not change."""
    return lambda models: query


_QUERIED: Mapping[str, tuple[Callable[[Mapping[int, str]], Sql], tuple[Column, ...]]] = {
    "systems": (
        scores.all_systems,
        (
            Column("system", "name"),
            Column("test_sets", "text"),
            Column("runs", "count"),
            Column("score_tuples", "count"),
            Column("counts", "count"),
            Column("decisions", "count"),
            Column("values", "count"),
            Column("rankings", "count"),
            Column("numbers", "count"),
            Column("published", "count"),
        ),
    ),
    "test sets": (
        scores.all_test_sets,
        (
            Column("test_set", "name"),
            Column("evaluation", "name"),
            Column("documents", "count", on_screen=False),
            Column("observed", "text"),
            Column("systems", "count"),
            Column("relevant", "count"),
            Column("optional", "count"),
            Column("nonrelevant", "count"),
            Column("parts", "text"),
        ),
    ),
    "evaluations": (_always(scores.ALL_EVALUATIONS), (Column("evaluation", "name"), Column("test_sets", "count"))),
    "imports": (
        _always(scores.ALL_IMPORTS),
        (
            Column("import", "whole"),
            Column("source", "name"),
            Column("reader", "text", spare=1),
            Column("rows", "count"),
            Column("texts", "count", spare=3),
            Column("imported_at", "text", spare=2),
            Column("simulated", "text"),
            Column("sha256", "text", on_screen=False),
            Column("options", "text", on_screen=False),
            Column("version", "text", on_screen=False),
        ),
    ),
    "texts": (
        scores.all_texts,
        (
            Column("test_set", "name"),
            Column("evaluation", "name"),
            Column("kind", "text"),
            Column("systems", "count"),
            Column("documents", "count"),
            Column("texts", "count"),
            Column("characters", "count"),
        ),
    ),
    "attributes": (
        _always(scores.ALL_ATTRIBUTES),
        (Column("attribute", "name"), Column("rows", "count"), Column("values", "text")),
    ),
}
"""What the database lists, in the words after `show`, of warehouses whose systems are runs of these models."""


SHOW = Statement(
    node=n.Show,
    usage=Usage("show …", "list what there is: systems, test sets, measures, tests, imports, …", "show test sets"),
    resolve=resolve,
    compile=compile,
    answer=answer,
)
