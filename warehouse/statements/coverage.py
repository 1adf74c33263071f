"""`coverage`: on how many documents each system was scored, which are absent, which failed and why, and whether systems
can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.kinds import KINDS, VALUES, Kind
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans import fact_rows
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.entries import are_named
from evalhouse.warehouse.plans.labels import noun_of, on, some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.plans.runs import SaidOfRuns, with_runs
from evalhouse.warehouse.plans.systems import Chosen, means, meant_by, systems_of
from evalhouse.warehouse.results import Column, Result, TableRows
from evalhouse.warehouse.statements import sentences
from evalhouse.warehouse.store.catalog import KnownTestSet

NAMED = 5
"""How many missing documents are named."""

COLUMNS = (
    Column("test_set", "name"),
    Column("task", "text"),
    Column("system", "name"),
    Column("runs", "count"),
    Column("documents", "count"),
    Column("scored", "count"),
    Column("absent", "count"),
    Column("failed", "count", on_screen=False),
    Column("reasons", "text", on_screen=False),
    Column("names", "text", spare=1),
    Column("comparable", "text"),
)


class CoveragePlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]


def resolve(statement: n.Coverage, scope: Scope) -> CoveragePlan:
    given = scope.task(statement.task)
    by_document = [task for task in KINDS.values() if task.by_document]
    tasks = [task for task in by_document if given in (None, task)]
    if statement.task is not None and not tasks:
        names = " or ".join(task.name for task in by_document)
        wrong = f"{statement.task.text} figures have no documents, so none can be absent"
        raise QueryError(wrong, statement.task.span, (f"add of {names}",))
    chosen = scope.test_sets(statement.test_sets)
    failing = {test_set.id: _failing(scope, test_set, statement.runs_apart) for test_set, _ in chosen}
    stored = [
        (test_set, task) for test_set, _ in chosen for task in tasks if scope.catalog.has_rows(task.name, test_set.id)
    ]
    there = {test_set.id for test_set, _ in stored}
    if statement.task is None:
        # A system that failed altogether has no rows at all.
        stored += [(test_set, VALUES) for test_set, _ in chosen if test_set.id not in there and failing[test_set.id]]
    for test_set, place in chosen:
        if (are_named(statement.test_sets) or len(chosen) == 1) and test_set.id not in {
            there.id for there, _ in stored
        }:
            rows = " or ".join(task.rows for task in tasks)
            raise QueryError(f"{scope.catalog.short_name(test_set)} has no {rows}", place.span)
    several = len(stored) > 1
    entries = [_entry(statement, scope, test_set, task, several, failing[test_set.id]) for test_set, task in stored]
    entries = [entry for entry in entries if entry.systems]
    names_of_all = {system.name.casefold() for entry in entries for system in entry.systems}
    for item in statement.systems.items if statement.systems else ():
        if isinstance(item, n.Name) and stored and item.text.casefold() not in names_of_all:
            # The first test set says that it is not there.
            said = SaidOfRuns(apart=statement.runs_apart)
            systems_of(scope, n.Systems((item,)), stored[0][1], stored[0][0], said=said)
    if not entries:
        raise QueryError("no test set has rows for this", statement.span)
    return CoveragePlan(to_text(statement), _with_left_out(entries, [test_set for test_set, _ in chosen], scope))


def _with_left_out(entries: Sequence[p.Entry], chosen: Sequence[KnownTestSet], scope: Scope) -> tuple[p.Entry, ...]:
    """The entries, the first of each test set with the systems that are absent from it, of whatever kind their rows
    are, and all with the test sets that have nothing.
    """
    there: dict[int, set[str]] = {}
    for entry in entries:
        there.setdefault(entry.test_set.id, set()).update(system.name for system in entry.systems)
    names = sorted(set().union(*there.values()))
    passed_over = tuple(scope.catalog.short_name(test_set) for test_set in chosen if test_set.id not in there)
    first = {entry.test_set.id: entry for entry in reversed(entries)}
    found = []
    for entry in entries:
        number = entry.test_set.id
        absent = tuple(name for name in names if name not in there[number]) if entry is first[number] else ()
        found.append(replace(entry, absent=absent, passed_over=passed_over))
    return tuple(found)


def _failing(scope: Scope, test_set: KnownTestSet, apart: bool) -> tuple[p.StoredSystem, ...]:
    """The systems that failed on something of a test set and have no rows there of any kind: single runs, by the names
    of their models unless they stand apart.
    """
    catalog = scope.catalog
    numbers = catalog.systems_failing(test_set.id)
    for task in (task for task in KINDS.values() if numbers and task.by_document):
        numbers -= catalog.systems_with(task.name, test_set.id)
    called = catalog.system_names | (catalog.run_names if apart else catalog.models)
    return tuple(p.StoredSystem(number, called[number]) for number in numbers)


def _match_systems(node: n.Systems | None, systems: tuple[p.StoredSystem, ...]) -> tuple[p.StoredSystem, ...]:
    """Those of some systems that a list means."""
    return tuple(system for system in systems if meant_by(node, system.name))


def _without(node: n.Systems | None, systems: tuple[p.StoredSystem, ...]) -> n.Systems:
    """A list of systems without the names of some; of all systems where there is none."""
    if node is None:
        return n.Systems((n.All(),))
    items = tuple(item for item in node.items if not _names(item, systems))
    return replace(node, items=items, excepted=tuple(item for item in node.excepted if not _names(item, systems)))


def _names(item: object, systems: tuple[p.StoredSystem, ...]) -> bool:
    """Whether an item of a list names one of some systems."""
    return isinstance(item, n.Name | n.Text) and any(means(item, system.name) for system in systems)


def _entry(
    statement: n.Coverage,
    scope: Scope,
    test_set: KnownTestSet,
    task: Kind,
    elsewhere: bool,
    failing: tuple[p.StoredSystem, ...],
) -> p.Entry:
    """The systems of a task and those that only failed; `elsewhere` leaves out those that have rows only of another
    task or test set.
    """
    others, meant = _without(statement.systems, failing), _match_systems(statement.systems, failing)
    said = SaidOfRuns(apart=statement.runs_apart)
    chosen = Chosen(())
    if others.items:
        chosen = systems_of(scope, others, task, test_set, elsewhere or bool(meant), said)
    for system in chosen.systems:
        if isinstance(system, p.Baseline):
            place = statement.systems.span if statement.systems else statement.span
            raise QueryError(f"{system.name} is computed from the key, so none of its documents can be absent", place)
    names = scope.catalog.measures_of(task.name, test_set.id) if task.imported is not None else ()
    statistics = [scope.statistic(n.MeasureCall(name), task, test_set) for name in names]
    chosen = _with_failing(chosen, meant)
    return scope.entry(test_set, task, statistics, chosen.systems, replication=chosen.replicates)


def _with_failing(chosen: Chosen, failing: tuple[p.StoredSystem, ...]) -> Chosen:
    """The systems with those that failed altogether: runs of a system among them are its runs, and others systems."""
    if not failing:
        return chosen
    of_names: dict[str, tuple[int, ...]] = {}
    for run in failing:
        of_names[run.name] = (*of_names.get(run.name, ()), run.id)
    known = chosen.replicates or p.Replicates("", (), ())
    known = with_runs(known, chosen.systems)
    runs = tuple(
        (number, (*many, *of_names.pop(name, ()))) for name, (number, many) in zip(known.names, known.runs, strict=True)
    )
    added = tuple(p.StoredSystem(many[0], name) for name, many in of_names.items())
    runs = (*runs, *((many[0], many) for many in of_names.values()))
    replicates = replace(known, runs=runs, names=(*known.names, *of_names))
    systems = sorted((*chosen.systems, *added), key=lambda system: system.name)
    several = any(len(many) > 1 for _, many in runs)
    return replace(chosen, systems=tuple(systems), replicates=replicates if several else chosen.replicates)


def compile(plan: CoveragePlan) -> Queries:
    return tuple(query for entry in plan.entries for query in _queries(entry))


def _queries(entry: p.Entry) -> Queries:
    return (
        Query(_name("scored", entry), fact_rows.documents_scored(entry)),
        Query(_name("by measure", entry), fact_rows.documents_by_measure(entry)),
        Query(_name("by any", entry), fact_rows.scored_by_any(entry)),
        Query(_name("absent", entry), fact_rows.absent(entry, NAMED)),
        Query(_name("failed", entry), fact_rows.failures_of(entry)),
        Query(_name("names failed", entry), fact_rows.failed_names(entry, NAMED)),
        Query(_name("failed elsewhere", entry), fact_rows.failed_elsewhere(entry)),
    )


def _name(what: str, entry: p.Entry) -> str:
    return f"{what} of {entry.kind.name} on {entry.test_set.name!r}"


def answer(plan: CoveragePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per test set, task and system. All documents of the test set count, whoever was scored on them, and
    also those that failed; a document that failed and was scored anyway counts as both.

    `comparable` says whether the system can be compared with every other one of the rows without `missing`: all were
    scored on the same documents, with every measure.
    """
    several = any(entry.units.grouped is not None for entry in plan.entries)
    rows = TableRows.of([column for column in COLUMNS if several or column.name != "runs"])
    notes: list[str] = []
    for entry in plan.entries:
        scored, lacking = dict(facts[_name("scored", entry)]), _lacking(entry, facts)
        unscored: dict[int, list[str]] = {}
        for number, name in (*facts[_name("absent", entry)], *facts[_name("names failed", entry)]):
            unscored.setdefault(number, []).append(name)
        failures: dict[int, list[tuple[str, bool, int, int]]] = {}
        for number, reason, whole, documents, without in facts[_name("failed", entry)]:
            failures.setdefault(number, []).append((reason, whole, documents, without))
        [(elsewhere,)] = facts[_name("failed elsewhere", entry)]
        for system in entry.stored_systems:
            count, of_system = scored.get(system.id, 0), failures.get(system.id, [])
            documents = entry.units.documents + elsewhere
            without = sum(part for _, whole, _, part in of_system if not whole)
            first = sorted(dict.fromkeys(unscored.get(system.id, [])))[:NAMED]
            rows.add(
                test_set=entry.test_set.name,
                task=entry.kind.name,
                system=system.name,
                **({"runs": len(entry.units.runs.get(system.id, (0,)))} if several else {}),
                documents=documents,
                scored=count,
                absent=documents - count - without,
                failed=sum(number for _, whole, number, _ in of_system if not whole),
                reasons=", ".join(map(_reason, of_system)) or None,
                names=", ".join(first) or None,
                comparable="no" if lacking or not count else "yes",
            )
        if lacking:
            names = some([system.name for system in entry.stored_systems if system.id in lacking])
            measures = "" if len(entry.statistics) < 2 else " on every measure"
            notes.append(
                f"{entry.kind.name} on {entry.test_set.name}: not every {entry.units.noun} was scored{measures} for "
                f"{names}; comparisons with them need missing drop or missing zero"
            )
    called = plural(noun_of(plan.entries))
    some_failed = any(facts[_name("failed", entry)] for entry in plan.entries)
    columns = [
        replace(column, heading=called)
        if column.name == "documents"
        else replace(column, on_screen=column.on_screen or some_failed)
        for column in COLUMNS
        if several or column.name != "runs"
    ]
    first_entries = {entry.test_set.id: entry for entry in plan.entries}.values()
    what = f"{called} scored on {on(list(first_entries))}"
    how = "of systems with several runs, in all of them" if several else ""
    # Nothing is averaged here.
    entries = [entry.in_runs() for entry in plan.entries]
    table = rows.table(columns)
    sentence = sentences.of_coverage(table, called)
    return result_of(plan.text, entries, what, table, how=how, notes=notes, about_measures=False, sentence=sentence)


def _reason(failure: tuple[str, bool, int, int]) -> str:
    """error 2; of a run as a whole: error of the run."""
    reason, whole, documents, _ = failure
    return f"{reason} of the run" if whole else f"{reason} {documents:,}"


def _lacking(entry: p.Entry, facts: Facts) -> set[int]:
    """The systems that were not scored on every document that another one was, by every measure that it was."""
    any_system = dict(facts[_name("by any", entry)])
    complete: dict[int, int] = {}
    for number, measure, documents in facts[_name("by measure", entry)]:
        complete[number] = complete.get(number, 0) + (documents == any_system[measure])
    return {system.id for system in entry.stored_systems if complete.get(system.id, 0) < len(any_system)}


def subject(entry: p.Entry) -> str:
    names = ", ".join(system.name for system in entry.systems)
    return f"{plural(entry.units.noun)} with {entry.kind.rows} on {entry.test_set.name} for {names}"


COVERAGE = Statement(
    node=n.Coverage,
    usage=Usage(
        "coverage",
        "which documents were scored for each system, which are absent, and which failed",
        "coverage for all on TST3",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    executor="counts in the database",
)
