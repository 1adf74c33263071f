"""Which contenders and statistics a question means on each test set, and of which task.

The part of resolution that all questions about systems share.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm

from grammar import nodes as n
from grammar.editing.hints import listing
from grammar.errors import QueryError
from grammar.span import Span
from warehouse.measures import Task
from warehouse.query import plan as p
from warehouse.query.resolving.conditions import dimension_of
from warehouse.query.resolving.names import ROWS, Scope
from warehouse.query.resolving.systems import contenders, present_on
from warehouse.store.catalog import KnownTestSet


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question says of measures, task and systems, whichever statement it stands in."""

    measures: tuple[n.MeasureCall | n.Mean, ...]
    task: n.Name | None
    systems: n.Systems | None
    span: Span
    replicates: n.Attribute | None = None


def entries_on(test_sets: n.TestSets | None, asked: Wanted, scope: Scope) -> tuple[p.Entry, ...]:
    """The contenders and statistics on each test set.

    Where several test sets are asked, one without rows is left out if it was not named, and so is a system on a test
    set where it has no rows, if it has some on another.
    """
    chosen = scope.test_sets(test_sets)
    entries = []
    for test_set, place in chosen:
        try:
            entries.append(entry_on(asked, scope, test_set, place, elsewhere=len(chosen) > 1))
        except _NoRowsError as error:
            if named(test_sets) or len(chosen) == 1:
                raise QueryError(error.message, error.span, error.hints) from None
    if not entries:
        raise QueryError("no test set has rows for this", asked.span)
    if len(chosen) > 1:
        _check_found(asked, entries, chosen, scope)
    return tuple(entries)


def _check_found(
    asked: Wanted, entries: list[p.Entry], chosen: list[tuple[KnownTestSet, n.Node]], scope: Scope
) -> None:
    """Raises the error of the first test set for a system that was named and has rows on none of them."""
    found = {contender.name.casefold() for entry in entries for contender in entry.contenders}
    for item in asked.systems.items if asked.systems else ():
        if isinstance(item, n.Name | n.Text) and item.text.casefold() not in found:
            alone = replace(asked, systems=n.Systems((item,)))
            entry_on(alone, scope, *chosen[0])


def named(test_sets: n.TestSets | None) -> bool:
    """Whether the test sets were called by their names, and not all or by a pattern."""
    return test_sets is not None and not any(isinstance(item, n.All | n.Pattern) for item in test_sets.items)


class _NoRowsError(QueryError):
    """A test set that has no rows for a question; no error where the question is asked of all test sets."""


def entry_on(asked: Wanted, scope: Scope, test_set: KnownTestSet, place: n.Node, elsewhere: bool = False) -> p.Entry:
    """The contenders and statistics on one test set; `elsewhere` leaves out systems that have rows only on another."""
    task = _task(asked, scope, test_set, place, elsewhere)
    statistics = [scope.statistic(measure, task, test_set) for measure in asked.measures]
    replicates = _replicates(asked.replicates, scope, task, test_set)
    chosen = contenders(scope, asked.systems, task, test_set, elsewhere, replicates)
    for statistic, node in zip(statistics, asked.measures, strict=True):
        if replicates is not None and statistic.ratio is None and statistic.expression is None:
            raise QueryError(f"{statistic.label} does not follow from sums, so it has no replicates", node.span)
    return p.Entry(
        test_set=scope.planned(test_set),
        task=task,
        statistics=tuple({statistic.label: statistic for statistic in statistics}.values()),
        contenders=chosen,
        stored=_stored(asked.systems, scope, task, test_set, replicates),
        in_units=task == "extraction" and scope.catalog.in_units(test_set.id),
        replicates=replicates,
    )


def _stored(
    node: n.Systems | None, scope: Scope, task: Task, test_set: KnownTestSet, replicates: p.Replicates | None
) -> int:
    """How many systems have rows; 0, for not known, where all are named and it would take long to find out."""
    everyone = node is None or any(isinstance(item, n.All) for item in node.items)
    return len(present_on(scope, task, test_set, replicates)) if everyone else 0


MOST_RUNS = 10**6
"""How large the common multiple may be that the counts of runs are put over."""


def _replicates(node: n.Attribute | None, scope: Scope, task: Task, test_set: KnownTestSet) -> p.Replicates | None:
    """The runs of each system on a test set. Raises QueryError where they cannot be told apart or put together."""
    if node is None:
        return None
    if node.of.casefold() != "system" or not node.name:
        raise QueryError("replicates share an attribute of a system", node.span, ("say replicates by system.NAME",))
    if task == "published":
        raise _NoRowsError("published figures have no documents, so they have no replicates", node.span)
    attribute = dimension_of(scope, node, task).attribute
    there = scope.catalog.systems_with(task, test_set.id)
    runs = scope.catalog.runs(attribute, there)
    for name, many in runs.items():
        own = scope.catalog.systems.get(name)
        if own in many and len(many) > 1 and own not in scope.catalog.systems_having(attribute):
            raise QueryError(
                f"{name} is a system, and also what replicates of {test_set.name} share",
                node.span,
                (f"give it system.{attribute} as well, if it is one of them",),
            )
    numbered = tuple((many[0], many) for many in runs.values())
    common = 1
    if task != "values":
        common = lcm(*scope.catalog.runs_of_documents(task, test_set.id, numbered))
        if common > MOST_RUNS:
            raise QueryError(
                f"documents of {test_set.name} have too many different numbers of replicates to be averaged exactly",
                node.span,
            )
    return p.Replicates(attribute, numbered, common)


def _task(asked: Wanted, scope: Scope, test_set: KnownTestSet, place: n.Node, elsewhere: bool) -> Task:
    """The task after `of`, or the first that has the measures and rows for the systems."""
    given = scope.task(asked.task)
    possible = [given] if given else scope.tasks_with(asked.measures, test_set)
    stored = [task for task in possible if scope.catalog.has_rows(task, test_set.id)]
    labelled = "filtering" in possible and scope.catalog.labelled(test_set.id)
    if labelled and "filtering" not in stored and _with_baselines(asked):
        stored.append("filtering")
    if not stored:
        raise _no_rows(possible, scope, test_set, place)
    errors = []
    empty = None
    for task in stored:
        try:
            replicates = _replicates(asked.replicates, scope, task, test_set)
            if contenders(scope, asked.systems, task, test_set, elsewhere, replicates):
                return task
            empty = empty or task
        except QueryError as error:
            errors.append(error)
    if empty:
        return empty
    raise errors[0]


def _no_rows(possible: list[Task], scope: Scope, test_set: KnownTestSet, place: n.Node) -> _NoRowsError:
    rows = " or ".join(ROWS[task] for task in possible)
    having = [
        scope.catalog.short_name(other)
        for other in scope.catalog.test_sets
        if any(scope.catalog.systems_with(task, other.id) for task in possible)
    ]
    hint = listing(having, "test sets that have") if having else ()
    return _NoRowsError(f"{scope.catalog.short_name(test_set)} has no {rows}", place.span, hint)


def _with_baselines(asked: Wanted) -> bool:
    items = asked.systems.items if asked.systems else ()
    return any(
        isinstance(item, n.BaselineCall) or (isinstance(item, n.Name) and item.text.casefold() == "allrel")
        for item in items
    )
