"""`coverage`: on how many documents each system was scored, which are absent, and whether systems can be compared."""

from __future__ import annotations

from dataclasses import replace

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.printer import to_text
from grammar.value import value
from warehouse.query import plan as p
from warehouse.query.compile import presence
from warehouse.query.engine import Workforce
from warehouse.query.labels import noun_of, on, signature, some, title
from warehouse.query.path import Facts, Queries, Query, Statement, Usage
from warehouse.query.resolving.entries import named
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.systems import systems_of
from warehouse.query.table_rows import TableRows
from warehouse.results import Column, Result
from warehouse.store.catalog import KnownTestSet
from warehouse.tasks import TASKS, Task
from warehouse.tasks.observed import plural

NAMED = 5
"""How many of the documents that a system lacks are named."""

COLUMNS = (
    Column("test_set", "name"),
    Column("task", "text"),
    Column("system", "name"),
    Column("documents", "count"),
    Column("scored", "count"),
    Column("absent", "count"),
    Column("failed", "count", on_screen=False),
    Column("reasons", "text", on_screen=False),
    Column("names", "text"),
    Column("comparable", "text"),
)


@value
class CoveragePlan:
    text: str
    entries: tuple[p.Entry, ...]


def resolve(statement: n.Coverage, scope: Scope) -> CoveragePlan:
    given = scope.task(statement.task)
    by_document = [task for task in TASKS.values() if task.by_document]
    tasks = [task for task in by_document if given in (None, task)]
    if statement.task is not None and not tasks:
        names = " or ".join(task.name for task in by_document)
        wrong = f"{statement.task.text} has no rows by document, so nothing can be absent"
        raise QueryError(wrong, statement.task.span, (f"say of {names}",))
    chosen = scope.test_sets(statement.test_sets)
    stored = [
        (test_set, task) for test_set, _ in chosen for task in tasks if scope.catalog.has_rows(task.name, test_set.id)
    ]
    for test_set, place in chosen:
        if (named(statement.test_sets) or len(chosen) == 1) and test_set.id not in {there.id for there, _ in stored}:
            rows = " or ".join(task.rows for task in tasks)
            raise QueryError(f"{scope.catalog.short_name(test_set)} has no {rows}", place.span)
    entries = [_entry(statement, scope, test_set, task, elsewhere=len(stored) > 1) for test_set, task in stored]
    entries = [entry for entry in entries if entry.systems]
    names_of_all = {system.name.casefold() for entry in entries for system in entry.systems}
    for item in statement.systems.items if statement.systems else ():
        if isinstance(item, n.Name) and stored and item.text.casefold() not in names_of_all:
            # The first test set says that it is not there.
            systems_of(scope, n.Systems((item,)), stored[0][1], stored[0][0])
    if not entries:
        raise QueryError("no test set has rows for this", statement.span)
    return CoveragePlan(to_text(statement), tuple(entries))


def _entry(statement: n.Coverage, scope: Scope, test_set: KnownTestSet, task: Task, elsewhere: bool) -> p.Entry:
    """The systems of a task; `elsewhere` leaves out those that have rows only of another task or test set."""
    systems = systems_of(scope, statement.systems, task, test_set, elsewhere)
    for system in systems:
        if isinstance(system, p.Baseline):
            place = statement.systems.span if statement.systems else statement.span
            raise QueryError(f"{system.name} is computed from the key, so no document of it can be absent", place)
    names = scope.catalog.measures_of(task.name, test_set.id) if task.imported is not None else ()
    statistics = [scope.statistic(n.MeasureCall(name), task, test_set) for name in names]
    return scope.entry(test_set, task, statistics, systems)


def compile(plan: CoveragePlan) -> Queries:
    return tuple(query for entry in plan.entries for query in _queries(entry))


def _queries(entry: p.Entry) -> Queries:
    return (
        Query(_name("scored", entry), presence.documents_scored(entry)),
        Query(_name("by measure", entry), presence.scored(entry)),
        Query(_name("by any", entry), presence.scored_by_any(entry)),
        Query(_name("absent", entry), presence.absent(entry, NAMED)),
    )


def _name(what: str, entry: p.Entry) -> str:
    return f"{what} of {entry.task.name} on {entry.test_set.name!r}"


def answer(plan: CoveragePlan, facts: Facts, workforce: Workforce) -> Result:
    """A row a test set, task and system. Documents count that the test set has, whoever was scored on them.

    `comparable` says whether the system can be compared with every other one of the rows without `missing`: all were
    scored on the same documents, with every measure.
    """
    rows = TableRows.of(COLUMNS)
    notes: list[str] = []
    for entry in plan.entries:
        scored, lacking = dict(facts[_name("scored", entry)]), _lacking(entry, facts)
        absent: dict[int, list[str]] = {}
        for number, name in facts[_name("absent", entry)]:
            absent.setdefault(number, []).append(name)
        for system in entry.stored_systems:
            count = scored.get(system.id, 0)
            rows.add(
                test_set=entry.test_set.name,
                task=entry.task.name,
                system=system.name,
                documents=entry.documents,
                scored=count,
                absent=entry.documents - count,
                failed=None,
                reasons=None,
                names=", ".join(absent.get(system.id, [])) or None,
                comparable="no" if lacking else "yes",
            )
        if lacking:
            names = some([system.name for system in entry.stored_systems if system.id in lacking])
            measures = "" if len(entry.statistics) < 2 else " by every measure"
            notes.append(
                f"{entry.task.name} on {entry.test_set.name}: not every {entry.noun} was scored{measures} for {names}; "
                "comparisons with them need missing drop or missing zero"
            )
    called = plural(noun_of(plan.entries))
    columns = [replace(column, heading=called) if column.name == "documents" else column for column in COLUMNS]
    asked = {entry.test_set.id: entry for entry in plan.entries}.values()
    return Result(
        statement=plan.text,
        caption=title(f"{called} scored on {on(list(asked))}", plan.entries),
        signature=signature(plan.text, plan.entries),
        table=rows.table(columns),
        notes=tuple(notes),
    )


def _lacking(entry: p.Entry, facts: Facts) -> set[int]:
    """The systems that were not scored on every document that another one was, by every measure that it was."""
    any_system = dict(facts[_name("by any", entry)])
    complete: dict[int, int] = {}
    for number, measure, documents in facts[_name("by measure", entry)]:
        complete[number] = complete.get(number, 0) + (documents == any_system[measure])
    return {system.id for system in entry.stored_systems if complete.get(system.id, 0) < len(any_system)}


def subject(entry: p.Entry) -> str:
    names = ", ".join(system.name for system in entry.systems)
    return f"{plural(entry.noun)} with {entry.task.rows} on {entry.test_set.name} for {names}"


COVERAGE = Statement(
    node=n.Coverage,
    usage=Usage(
        "coverage", "on which documents each system was scored, and which are absent", "coverage for all on TST3"
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    executor="counts in the database",
)
