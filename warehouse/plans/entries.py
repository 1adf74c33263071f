"""Which systems and statistics a question means on each test set, and of which kind of rows.

All questions about systems share this part of resolution. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import lcm

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import listing
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.warehouse.kinds import COUNTS, KINDS, VALUES, Kind
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, plural
from evalhouse.warehouse.kinds.valued import REPLICATED
from evalhouse.warehouse.measures import Function, Measure, Statistic, settle
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import dimension_of
from evalhouse.warehouse.plans.names import (
    HOW_TO_LOAD,
    UNSAID_ATTRIBUTES,
    LackingMeasureError,
    Scope,
    check_at_most,
    synonym_of,
)
from evalhouse.warehouse.plans.systems import Several, present_on, statistics_of, systems_of
from evalhouse.warehouse.store.catalog import KnownTestSet

# === measures of attempts =============================================================================================
# On a test set without counts of attempts, whose samples replicates answered right or wrong, each replicate is an
# attempt.


class Attempted(Struct, frozen=True):
    """Measures of attempts, each as it was called, and what the values are stored as that say which passed."""

    measures: tuple[tuple[Measure, n.MeasureCall | n.Mean], ...]
    right: str


def attempts_of(
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


# === means over attributes ============================================================================================
# `mean(T11SU by document.topic)` is the measure topic by topic, over all documents of a topic together, then averaged.
# From then on each topic counts as one document, and a document without a topic is left out.

TAKING_GROUPS = "score, compare, group, rank, table and power"
"""The statements that take such a mean."""

_ALONE = ("ask for it in a statement of its own",)

OfNode = tuple[Statistic, n.MeasureCall | n.Mean]


def takes_groups(statement: n.Node) -> bool:
    """Whether a statement takes means over what documents share."""
    return isinstance(statement, n.Score | n.Compare | n.Group | n.Rank | n.PaperTable | n.Power)


def group_entry(entry: p.Entry, of_nodes: Sequence[OfNode], scope: Scope, taken: bool) -> p.Entry:
    """The entry with the attribute that its means are over, if they are over one. `taken` says whether the statement
    takes such means.
    """
    by = [node.by for _, node in of_nodes if isinstance(node, n.Mean) and node.by is not None]
    if not by:
        return entry
    place = by[0].span
    if not taken:
        raise QueryError(f"a mean by an attribute works only in {TAKING_GROUPS}", place)
    if not entry.kind.is_counted or entry.kind.named_counts:
        raise QueryError(f"a mean by an attribute needs score tuples or decisions, not {entry.kind.rows}", place)
    dimensions = [dimension_of(scope, attribute, entry.kind) for attribute in by]
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
    without = scope.catalog.documents_without(dimension.attribute, entry.kind.name, entry.test_set.id)
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


# === entries of each test set =========================================================================================


class Wanted(Struct, frozen=True):
    """What a question says of measures, task and systems, whichever statement it stands in."""

    measures: tuple[n.MeasureCall | n.Mean, ...]
    task: n.Name | None
    systems: n.Systems | None
    span: Span
    replicates: n.Attribute | None = None
    missing: str | None = None
    """What becomes of documents that a system lacks, as it was said."""
    several: Several = Several()
    groups: bool = False
    """Whether the statement takes means over what documents share."""

    @classmethod
    def of(cls, statement: n.Measured) -> Wanted:
        """What a question says. A clause that its statement does not take was not given."""
        return cls(
            statement.measures,
            getattr(statement, "task", None),
            getattr(statement, "systems", None),
            statement.span,
            getattr(statement, "replicates", None),
            getattr(statement, "missing", None),
            Several.of(statement),
            takes_groups(statement),
        )


def entries_on(test_sets: n.TestSets | None, wanted: Wanted, scope: Scope) -> tuple[p.Entry, ...]:
    """The systems and statistics on each test set.

    Where several test sets are wanted, one without rows is left out if it was not named, and so is a system on a test
    set where it has no rows, if it has some on another.
    """
    chosen = scope.test_sets(test_sets)
    entries = []
    for test_set, place in chosen:
        try:
            entries.append(entry_on(wanted, scope, test_set, place, elsewhere=len(chosen) > 1))
        except (_NoRowsError, LackingMeasureError) as error:
            if are_named(test_sets) or len(chosen) == 1:
                raise QueryError(error.message, error.span, error.hints) from None
    if not entries:
        raise QueryError("no test set has rows for this", wanted.span)
    if len(chosen) > 1:
        _check_found(wanted, entries, chosen, scope)
    return tuple(entries)


def _check_found(
    wanted: Wanted, entries: list[p.Entry], chosen: list[tuple[KnownTestSet, n.Node]], scope: Scope
) -> None:
    """Raises the error of the first test set for a system that was named and has rows on none of them."""
    names = {system.name.casefold() for entry in entries for system in entry.systems}
    for item in wanted.systems.items if wanted.systems else ():
        if isinstance(item, n.Name | n.Text) and item.text.casefold() not in names:
            alone = replace(wanted, systems=n.Systems((item,)))
            entry_on(alone, scope, *chosen[0])


def are_named(test_sets: n.TestSets | None) -> bool:
    """Whether the test sets were called by their names, and not all or by a pattern."""
    return test_sets is not None and not any(isinstance(item, n.All | n.Pattern) for item in test_sets.items)


class _NoRowsError(QueryError):
    """A test set that has no rows for a question; no error where the question is asked of all test sets."""


def check_filled(statement: n.Score | n.Rank, entries: tuple[p.Entry, ...], otherwise: str) -> None:
    """Refuses `missing` where it says nothing: without a comparison only topics that a run leaves out can count as 0.
    `otherwise` says what the statement does with missing documents. Raises QueryError.
    """
    if statement.missing is None:
        return
    if statement.missing != "zero":
        wrong = f"missing {statement.missing} is for comparisons; {otherwise}"
        raise QueryError(wrong, statement.span, ("leave it out, or write missing zero for rankings",))
    for entry in entries:
        if not entry.kind.of_lists:
            wrong = f"missing zero is for topics that a run leaves out, but {entry.test_set.name} has {entry.kind.rows}"
            raise QueryError(wrong, statement.span, ("leave it out",))


def entry_on(wanted: Wanted, scope: Scope, test_set: KnownTestSet, place: n.Node, elsewhere: bool = False) -> p.Entry:
    """The systems and statistics on one test set; `elsewhere` leaves out systems that have rows only on another."""
    if of_attempts := attempts_of(wanted.measures, wanted.task, scope, test_set):
        return _of_attempts(of_attempts, wanted, scope, test_set, elsewhere)
    task = _task(wanted, scope, test_set, place, elsewhere)
    of_nodes = [
        of_measure
        for measure in wanted.measures
        for of_measure in statistics_of(measure, wanted.several, scope, task, test_set)
    ]
    statistics = [statistic for statistic, _ in of_nodes]
    replicates = _replicates(wanted.replicates, scope, task, test_set)
    systems = systems_of(scope, wanted.systems, task, test_set, elsewhere, replicates)
    for statistic, node in of_nodes:
        if replicates is not None and statistic.sums is None:
            raise QueryError(f"{statistic.label} is not computed from sums, so it cannot have replicates", node.span)
    if replicates is not None and replicates.common > 1:
        # The counts of what is averaged are multiplied by this, so that they are whole.
        statistics = [_over(statistic, replicates.common) for statistic in statistics]
    stored = _count_systems(wanted.systems, scope, task, test_set, replicates)
    several_kinds = len(scope.stored_with(wanted.measures, test_set)) > 1
    entry = scope.entry(test_set, task, statistics, systems, stored, replicates, several_kinds)
    entry = group_entry(entry, of_nodes, scope, wanted.groups)
    if entry.units.groups and wanted.missing is not None:
        what = (
            f"a mean by document.{entry.units.groups.attribute} uses all documents, so it cannot be combined with "
            f"missing {wanted.missing}"
        )
        raise QueryError(what, wanted.span, ("leave it out",))
    filled = task.of_lists and wanted.missing == "zero"
    return replace(entry, units=replace(entry.units, filled=filled))


def _of_attempts(
    asked_for: Attempted, wanted: Wanted, scope: Scope, test_set: KnownTestSet, elsewhere: bool
) -> p.Entry:
    """The entry of measures of attempts on a test set where these are replicates."""
    if wanted.replicates is None and not any(name in scope.catalog.attributes["system"] for name in UNSAID_ATTRIBUTES):
        raise without_attempts(asked_for, scope, test_set)
    node = wanted.replicates or unsaid_replicates(wanted.span)
    replicates = _runs_by(node, scope, REPLICATED, test_set)
    statistics = attempt_statistics(asked_for, replicates, scope, test_set)
    systems = systems_of(scope, wanted.systems, REPLICATED, test_set, elsewhere, replicates)
    stored = _count_systems(wanted.systems, scope, REPLICATED, test_set, replicates)
    attempts = p.Attempts(replicates, asked_for.right, scope.catalog.is_graded(asked_for.right, test_set.id))
    return scope.entry(test_set, REPLICATED, statistics, systems, stored, attempts)


def _over(statistic: Statistic, scale: int) -> Statistic:
    """A statistic for counts that were multiplied by a scale, which a ratio does not see."""
    computation = statistic.computation
    return replace(statistic, computation=computation.over(scale)) if isinstance(computation, Function) else statistic


def _count_systems(
    node: n.Systems | None, scope: Scope, task: Kind, test_set: KnownTestSet, replicates: p.Replicates | None
) -> int:
    """How many systems have rows; 0, for not known, where all are named and it would take long to find out."""
    everyone = node is None or any(isinstance(item, n.All) for item in node.items)
    return len(present_on(scope, task, test_set, replicates)) if everyone else 0


def unsaid_replicates(span: Span) -> n.Attribute:
    """What `replicates` alone means."""
    return n.Attribute("system", UNSAID_ATTRIBUTES[0], span=span)


LARGEST_COMMON = 10**6
"""How large the common multiple may be that the counts of runs are put over."""


def _replicates(node: n.Attribute | None, scope: Scope, task: Kind, test_set: KnownTestSet) -> p.Replicates | None:
    """The runs of each system on a test set, averaged; None where nothing is said of them."""
    if node is None:
        return None
    found = _runs_by(node, scope, task, test_set)
    if not task.is_counted:
        return found
    common = lcm(*scope.catalog.runs_of_documents(task.name, test_set.id, found.runs))
    if common > LARGEST_COMMON:
        called = plural(scope.catalog.observed(task.name, test_set.id).noun or PLAIN_NOUN)
        raise QueryError(
            f"{called} of {test_set.name} have too many different numbers of replicates to be averaged exactly",
            node.span,
        )
    return replace(found, common=common)


def _runs_by(node: n.Attribute, scope: Scope, task: Kind, test_set: KnownTestSet) -> p.Replicates:
    """The runs of each system on a test set. Raises QueryError where they cannot be told apart or put together."""
    if node.of.casefold() != "system" or not node.name:
        raise QueryError(
            "replicates are runs that share an attribute of systems", node.span, ("write replicates by system.NAME",)
        )
    if not task.by_document:
        raise _NoRowsError("published figures have no documents, so they have no replicates", node.span)
    first, second = UNSAID_ATTRIBUTES
    known = scope.catalog.attributes["system"]
    if node.name == first and first not in known and second in known:
        # Runs that were loaded as runs say which model they are of.
        node = n.Attribute("system", second, span=node.span)
    attribute = dimension_of(scope, node, task).attribute
    there = scope.catalog.systems_with(task.name, test_set.id)
    runs = scope.catalog.runs(attribute, there)
    for name, many in runs.items():
        own = scope.catalog.systems.get(name)
        if own in many and len(many) > 1 and own not in scope.catalog.systems_having(attribute):
            raise QueryError(
                f"{name} is a system, and also the system.{attribute} of others on {test_set.name}",
                node.span,
                (f"if it is one of these replicates, give it system.{attribute} too",),
            )
    return p.Replicates(attribute, tuple((many[0], many) for many in runs.values()), 1)


def _task(wanted: Wanted, scope: Scope, test_set: KnownTestSet, place: n.Node, elsewhere: bool) -> Kind:
    """The task after `of`, or the first that has the measures and rows for the systems."""
    given = scope.task(wanted.task)
    possible = [given] if given else scope.tasks_with(wanted.measures, test_set)
    stored = [task for task in possible if scope.catalog.has_rows(task.name, test_set.id)]
    for task in possible:
        # Baselines are computed from the key alone.
        if task.has_key and task not in stored and scope.catalog.labelled(test_set.id) and _with_baselines(wanted):
            stored.append(task)
    if not stored:
        raise _no_rows(possible, scope, test_set, place)
    errors = []
    empty = None
    for task in stored:
        try:
            replicates = _replicates(wanted.replicates, scope, task, test_set)
            if systems_of(scope, wanted.systems, task, test_set, elsewhere, replicates):
                return task
            empty = empty or task
        except QueryError as error:
            errors.append(error)
    if empty:
        return empty
    raise errors[0]


def _no_rows(possible: list[Kind], scope: Scope, test_set: KnownTestSet, place: n.Node) -> _NoRowsError:
    rows = " or ".join(task.rows for task in possible)
    having = [
        scope.catalog.short_name(other)
        for other in scope.catalog.test_sets
        if any(scope.catalog.systems_with(task.name, other.id) for task in possible)
    ]
    here = scope.catalog.short_name(test_set)
    hint = listing(having, "test sets that have") if having else ()
    others = [task for task in KINDS.values() if task.by_document and scope.catalog.has_rows(task.name, test_set.id)]
    there = listing(scope.known_measures(test_set), f"measures of {here}") if others else ()
    return _NoRowsError(f"{here} has no {rows}", place.span, (*hint, *there))


def _with_baselines(wanted: Wanted) -> bool:
    items = wanted.systems.items if wanted.systems else ()
    return any(
        isinstance(item, n.BaselineCall) or (isinstance(item, n.Name) and item.text.casefold() == "allrel")
        for item in items
    )
