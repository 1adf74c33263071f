"""Groups of test sets: `on mmlu` stands for the tasks of that group, where a harness printed figures of the group and
its tasks have documents.

A group is the mean over its test sets or all their documents together, whichever gives the figure that the harness
printed. Which of the two it is, is decided here.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds import VALUES
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.store.catalog import KnownTestSet

Together = TypeVar("Together", n.Score, n.Compare, n.Group, n.Rank)

CLOSE = 1e-6
"""How near a figure must be to the one that was printed."""


def spelled_out(statement: Together, scope: Scope) -> tuple[Together, p.OverTestSets | None]:
    """A question on a group as one on its test sets, and how these are taken together; any other as it is."""
    over = None if statement.over is None else p.OverTestSets(pooled=statement.over == n.POOLED)
    group = _group_of(statement, scope)
    if group is None or statement.test_sets is None:
        return statement, over
    place = statement.test_sets
    parts = scope.catalog.groups[group.id]
    names = tuple(n.Name(part.full_name, span=place.span) for part in parts)
    called = scope.catalog.short_name(group)
    over = replace(over, called=called) if over is not None else _as_printed(statement, group, parts, scope)
    word = n.POOLED if over.pooled else n.MEAN_OVER
    return replace(statement, test_sets=replace(place, items=names), over=word), over


def parts_of(test_set: p.TestSet, scope: Scope) -> tuple[str, ...]:
    """The names of the test sets that are in a group; none where it is no group."""
    return tuple(map(scope.catalog.short_name, scope.catalog.groups.get(test_set.id, ())))


def _group_of(statement: Together, scope: Scope) -> KnownTestSet | None:
    """The group that a question is on, if it is on one alone, and its test sets have documents that answer it."""
    items = statement.test_sets.items if statement.test_sets is not None else ()
    if len(items) != 1 or not isinstance(items[0], n.Name) or not scope.catalog.groups:
        return None
    test_set = scope.test_set(items[0], items[0])
    parts = scope.catalog.groups.get(test_set.id, ())
    return test_set if len(parts) > 1 and all(_answers(statement, part, scope) for part in parts) else None


def _answers(statement: Together, part: KnownTestSet, scope: Scope) -> bool:
    """Whether there are documents of a test set that answer a question."""
    said = scope.task(statement.task)
    try:
        kinds = [said] if said is not None else scope.tasks_with(statement.measures, part)
    except QueryError:
        return False
    return any(kind.by_document and scope.catalog.has_rows(kind.name, part.id) for kind in kinds)


def _as_printed(
    statement: Together, group: KnownTestSet, parts: tuple[KnownTestSet, ...], scope: Scope
) -> p.OverTestSets:
    """How the test sets of a group are taken together: as gives the printed figures, by the first measure that has
    some. Where neither does, pooled, with a note that says both.
    """
    called = scope.catalog.short_name(group)
    printed = scope.catalog.printed(group.id)
    for measure in statement.measures:
        name = measure.measure.name if isinstance(measure, n.Mean) else measure.name
        if name not in printed or name not in scope.catalog.measures_of(VALUES.name, parts[0].id):
            continue
        figures = scope.catalog.figures_of_group(group.id, [part.id for part in parts], name)
        if not figures:
            continue
        if all(abs(figure.pooled - figure.printed) <= CLOSE for figure in figures):
            return p.OverTestSets(pooled=True, called=called)
        if all(abs(figure.mean - figure.printed) <= CLOSE for figure in figures):
            return p.OverTestSets(pooled=False, called=called)
        differing = [
            f"{figure.printed:.4f} of {scope.catalog.system_names[figure.system]} (pooled {figure.pooled:.4f}, "
            f"mean {figure.mean:.4f})"
            for figure in figures
            if min(abs(figure.pooled - figure.printed), abs(figure.mean - figure.printed)) > CLOSE
        ] or [f"{figure.printed:.4f} of {scope.catalog.system_names[figure.system]}" for figure in figures]
        note = f"{called}: neither pooling its test sets nor their mean gives all printed figures: {some(differing)}"
        return p.OverTestSets(pooled=True, called=called, note=note)
    note = f"{called}: its test sets are pooled, as no figure of it was printed that says how to take them together"
    return p.OverTestSets(pooled=True, called=called, note=note)
