"""Measures of attempts on a test set without counts of attempts, whose samples replicates answered right or wrong: each
replicate is an attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from msgspec import Struct

from grammar import nodes as n
from warehouse.measures import Measure, Statistic, settle
from warehouse.query import plan as p
from warehouse.query.resolving.names import HOW_TO_LOAD, LackingMeasureError, Scope, check_at_most, synonym_of
from warehouse.store.catalog import KnownTestSet
from warehouse.tasks import COUNTS, VALUES
from warehouse.tasks.observed import PLAIN_NOUN, plural


class Attempted(Struct, frozen=True):
    """Measures of attempts, each as it was called, and what the values are stored as that say which passed."""

    measures: tuple[tuple[Measure, n.MeasureCall | n.Mean], ...]
    right: str


def attempted(
    measures: Sequence[n.MeasureCall | n.Mean], kind: n.Name | None, scope: Scope, test_set: KnownTestSet
) -> Attempted | None:
    """What is asked of the replicates of a test set as attempts; None where a measure is another, or where counts of
    attempts are stored, unless values are asked for.
    """
    known = [(scope.of_attempts(call_of(node).name), node) for node in measures]
    found = tuple((measure, node) for measure, node in known if measure is not None)
    given, right = scope.task(kind), scope.right_or_wrong(test_set)
    if len(found) < len(known) or right is None or given not in (None, VALUES, COUNTS):
        return None
    counts = scope.catalog.counts_of(COUNTS.name, test_set.id)
    if given is not VALUES and any(set(measure.needs) <= set(counts) for measure, _ in found):
        return None
    return Attempted(found, right)


def attempt_statistics(
    asked_for: Attempted, replicates: p.Replicates, scope: Scope, test_set: KnownTestSet
) -> list[Statistic]:
    """The statistics over replicates. Raises QueryError where there is one of each system, and for more draws than any
    document has replicates.
    """
    most = max(scope.catalog.runs_of_documents(VALUES.name, test_set.id, replicates.runs), default=0)
    if most < 2:
        raise without_attempts(asked_for, scope, test_set)
    noun = scope.catalog.observed(VALUES.name, test_set.id).noun or PLAIN_NOUN
    why = f"the most replicates that a {noun} of {scope.catalog.short_name(test_set)} has"
    statistics = []
    for measure, node in asked_for.measures:
        call = call_of(node)
        settings = scope.settings(call, measure)
        for parameter in measure.parameters:
            setting = settings.get(parameter.name, parameter.default)
            if parameter.up_to and isinstance(setting, Decimal):
                check_at_most(call, parameter.name, setting, most, why)
        averaged = isinstance(node, n.Mean) and node.averages
        around = node.word if isinstance(node, n.Mean) else ""
        statistics.append(settle(measure, settings, averaged, synonym_of(call, measure), around))
    return statistics


def without_attempts(asked_for: Attempted, scope: Scope, test_set: KnownTestSet) -> LackingMeasureError:
    """The error for a test set whose samples were answered once."""
    measure, node = asked_for.measures[0]
    documents = plural(scope.catalog.observed(VALUES.name, test_set.id).noun or PLAIN_NOUN)
    once = f"{documents} of {scope.catalog.short_name(test_set)} were answered once each"
    return LackingMeasureError(f"{once}, but {measure.name} needs several attempts", node.span, (HOW_TO_LOAD,))


def call_of(measure: n.MeasureCall | n.Mean) -> n.MeasureCall:
    """A measure without the mean around it."""
    return measure.measure if isinstance(measure, n.Mean) else measure
