"""Means over what documents share: `mean(T11SU by document.topic)` is the measure topic by topic, of all documents of a
topic together, then averaged. Each topic stands as one document from then on, and a document without one is left out.
Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.resolving.conditions import dimension_of
from warehouse.query.resolving.names import Scope

STATEMENTS = "score, compare, group, rank, table and power"
"""The statements that take such a mean."""

_ALONE = ("ask for it in a statement of its own",)

OfNode = tuple[Statistic, n.MeasureCall | n.Mean]


def takes_groups(statement: n.Node) -> bool:
    """Whether a statement takes means over what documents share."""
    return isinstance(statement, n.Score | n.Compare | n.Group | n.Rank | n.PaperTable | n.Power)


def grouped(entry: p.Entry, of_nodes: Sequence[OfNode], scope: Scope, taken: bool) -> p.Entry:
    """The entry with the attribute that its means are over, if they are over one. `taken` says whether the statement
    takes such means.
    """
    by = [node.by for _, node in of_nodes if isinstance(node, n.Mean) and node.by is not None]
    if not by:
        return entry
    place = by[0].span
    if not taken:
        raise QueryError(f"a mean by an attribute works only in {STATEMENTS}", place)
    if not entry.task.is_counted or entry.task.named_counts:
        raise QueryError(f"a mean by an attribute needs score tuples or decisions, not {entry.task.rows}", place)
    dimensions = [dimension_of(scope, attribute, entry.task) for attribute in by]
    dimension = dimensions[0]
    for found, attribute in zip(dimensions, by, strict=True):
        if found.of != "document" or not found.attribute:
            wrong = "a mean is over documents, or over one of their attributes"
            raise QueryError(wrong, attribute.span, ("write by document.NAME",))
        if found != dimension:
            raise QueryError(f"one mean is over {dimension.name}, another over {found.name}", attribute.span, _ALONE)
    for statistic, node in of_nodes:
        if statistic.averaged and isinstance(node, n.Mean) and node.by is None:
            wrong = f"one mean is over {dimension.name}, and {statistic.label} over documents"
            raise QueryError(wrong, node.span, _ALONE)
        if statistic.sums is None:
            wrong = f"{statistic.label} is not computed from sums, which a mean over {dimension.name} needs"
            raise QueryError(wrong, node.span, _ALONE)
    if entry.units.averaged is not None:
        raise QueryError("a mean by an attribute cannot be combined with replicates", place, ("leave out replicates",))
    if entry.baselines:
        raise QueryError(f"{entry.baselines[0].name} has no {dimension.name}, so there is no mean over it", place)
    without = scope.catalog.documents_without(dimension.attribute, entry.task.name, entry.test_set.id)
    return replace(entry, units=entry.units.group_by(p.Groups(dimension.attribute, without)))


def check_groups(entry: p.Entry, dimension: p.Dimension, what: str, node: n.Node) -> None:
    """Raises QueryError where rows are split, or exchanged, by something that single documents have."""
    if entry.units.groups is None:
        return
    own = p.Dimension("document", entry.units.groups.attribute)
    if dimension not in (own, p.Dimension("document")) and dimension.of != "system":
        wrong = f"{what} by {dimension.name} cannot be combined with a mean over {own.name}"
        raise QueryError(
            wrong, node.span, (f"leave it out: such a mean already goes {entry.units.noun} by {entry.units.noun}",)
        )
