"""Groups of test sets: `on mmlu` stands for the test sets of that group, where these have documents.

A group is the mean over its test sets or all their documents together: whichever gives the figure that the harness
printed of it, if one was printed; else as its load says. Which of the two it is, is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds import VALUES
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.store.catalog import ComputedInTwoWays, GroupFigure, KnownGroup, KnownTestSet

Together = TypeVar("Together", n.Score, n.Compare, n.Group, n.Rank, n.PaperTable)

CLOSE = 1e-6
"""How near a figure must be to the one that was printed."""


def spelled_out(statement: Together, scope: Scope) -> tuple[Together, p.OverTestSets | None]:
    """A question on a group as one on its test sets, and how these are taken together; any other as it is."""
    over = None if statement.over is None else p.OverTestSets(pooled=statement.over == n.POOLED)
    group = _group_of(statement, scope)
    if group is None or statement.test_sets is None:
        return statement, over
    place = statement.test_sets
    names = tuple(n.Name(part.full_name, span=place.span) for part in group.parts)
    called = scope.catalog.short_name(group.test_set)
    over = replace(over, called=called) if over is not None else _taken(statement, group, called, scope)
    word = n.POOLED if over.pooled else n.MEAN_OVER
    return replace(statement, test_sets=replace(place, items=names), over=word), over


def parts_of(test_set: p.TestSet, scope: Scope) -> tuple[str, ...]:
    """The names of the test sets that are in a group; none where it is no group."""
    group = scope.catalog.groups.get(test_set.id)
    return tuple(map(scope.catalog.short_name, group.parts)) if group is not None else ()


def _group_of(statement: Together, scope: Scope) -> KnownGroup | None:
    """The group that a question is on, if it is on one alone, and its test sets have documents that answer it; printed
    figures answer for a group whose test sets have none.
    """
    items = statement.test_sets.items if statement.test_sets is not None else ()
    if len(items) != 1 or not isinstance(items[0], n.Name) or not scope.catalog.groups:
        return None
    group = scope.catalog.groups.get(scope.test_set(items[0], items[0]).id)
    if group is None or group.test_set not in scope.catalog.test_sets:
        return group
    return group if all(_answers(statement, part, scope) for part in group.parts) else None


def _answers(statement: Together, part: KnownTestSet, scope: Scope) -> bool:
    """Whether there are documents of a test set that answer a question."""
    said = scope.task(statement.task)
    try:
        kinds = [said] if said is not None else scope.tasks_with(statement.measures, part)
    except QueryError:
        return False
    return any(kind.by_document and scope.catalog.has_rows(kind.name, part.id) for kind in kinds)


# === how a group is taken together ====================================================================================


class _Known(Struct, frozen=True):
    """What is known of a measure of values on a group: what its values give, and what was printed of them."""

    measure: str
    figures: Sequence[GroupFigure]
    systems: Mapping[int, str]

    def checked(self) -> Iterator[tuple[str, float, ComputedInTwoWays]]:
        """The systems of which a figure was printed and can be computed, with both."""
        for one in self.figures:
            if one.printed is not None and one.computed is not None:
                yield self.systems[one.system], one.printed, one.computed

    def agrees(self, *, pooled: bool) -> bool:
        """Whether pooling, or the mean, gives all printed figures."""
        return all(_is_near(of.pooled if pooled else of.mean, printed) for _, printed, of in self.checked())

    def differing(self) -> list[str]:
        """The printed figures that neither way gives, with what both give; all of them where each is given by one."""
        neither = [
            (system, printed, of)
            for system, printed, of in self.checked()
            if not (_is_near(of.pooled, printed) or _is_near(of.mean, printed))
        ]
        return [
            f"{printed:.4f} of {system} (pooled {of.pooled:.4f}, mean {of.mean:.4f})"
            for system, printed, of in neither or self.checked()
        ]

    def both(self) -> list[str]:
        """What both ways give, for each system."""
        return [
            f"{self.systems[one.system]} {one.computed.pooled:.4f} and {one.computed.mean:.4f}"
            for one in self.figures
            if one.computed is not None
        ]

    def printed_alone(self) -> list[str]:
        """The figures that cannot be computed, as their systems lack documents of some test sets."""
        return [
            f"{self.systems[one.system]} {one.printed:.4f}"
            for one in self.figures
            if one.printed is not None and one.computed is None
        ]


def _is_near(value: float, printed: float) -> bool:
    return abs(value - printed) <= CLOSE


def _taken(statement: Together, group: KnownGroup, called: str, scope: Scope) -> p.OverTestSets:
    """How the test sets of a group are taken together: as gives the printed figures, by the first measure that has
    some. Where neither way does, pooled, with a note that says both; where none was printed, as the load says.
    """
    known = list(_known(statement, group, scope))
    printed_alone: tuple[str, ...] = tuple(
        f"{called}: printed of systems without documents on all its test sets, and not beside what is computed: "
        f"{of.measure} of {some(of.printed_alone())}"
        for of in known
        if of.printed_alone() and _is_of_all(statement)
    )
    for of_measure in known:
        if not any(of_measure.checked()):
            continue
        for pooled in (True, False):
            if of_measure.agrees(pooled=pooled):
                return p.OverTestSets(pooled=pooled, called=called, notes=printed_alone)
        said = some(of_measure.differing())
        note = f"{called}: neither pooling its test sets nor their mean gives all printed figures: {said}"
        return p.OverTestSets(pooled=True, called=called, notes=(note, *printed_alone))
    pooled = group.pooled is not False
    what = "its test sets are pooled" if pooled else f"the mean over its {quantity(len(group.parts), 'test set')}"
    why = {
        True: ", because load --set group declared it; over test sets takes their mean",
        False: ", as in the tables of its harness, none of them loaded; over test sets pooled combines all documents",
        None: ", because no printed figure shows whether its harness pools them or takes their mean",
    }
    note = f"{called}: {what}{why[group.pooled]}"
    if group.pooled is not True and known and (both := known[0].both()):
        note += f"; {known[0].measure} pooled and as the mean: {some(both)}"
    return p.OverTestSets(pooled=pooled, called=called, notes=(note, *printed_alone))


def _is_of_all(statement: Together) -> bool:
    """Whether a question is of all systems, so that those which cannot answer it are named."""
    systems = statement.systems
    return systems is None or (not systems.excepted and any(isinstance(item, n.All) for item in systems.items))


def _known(statement: Together, group: KnownGroup, scope: Scope) -> Iterator[_Known]:
    """What is known of each measure of a question that is one of values."""
    catalog, numbers = scope.catalog, [part.id for part in group.parts]
    for measure in statement.measures:
        name = measure.measure.name if isinstance(measure, n.Mean) else measure.name
        if name in catalog.measures_of(VALUES.name, group.parts[0].id):
            yield _Known(name, catalog.figures_of_group(group.test_set.id, numbers, name), catalog.system_names)
