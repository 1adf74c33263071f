"""Which systems and statistics a question means on each test set, and of which kind of rows.

All questions about systems share this part of resolution. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import partial
from math import lcm

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import listing
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.warehouse.kinds import COUNTS, KINDS, VALUES, Kind
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, plural
from evalhouse.warehouse.kinds.valued import REPLICATED
from evalhouse.warehouse.measures import Function, Measure, OverUnits, Statistic, settle
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.averages import in_topics
from evalhouse.warehouse.plans.conditions import dimension_of
from evalhouse.warehouse.plans.labels import having_others, lacking_runs, lacking_test_sets
from evalhouse.warehouse.plans.names import (
    HOW_TO_LOAD,
    LackingMeasureError,
    Scope,
    check_at_most,
    like,
    synonym_of,
    without_units,
)
from evalhouse.warehouse.plans.runs import (
    NoReplicatesError,
    SaidOfRuns,
    check_alike,
    has_replicates,
    single_runs,
    unsaid_replicates,
)
from evalhouse.warehouse.plans.systems import ALLREL, Chosen, Several, of_other_kinds, statistics_of, systems_of
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
        if isinstance(node, n.Mean) and node.over_units:
            raise without_units(node, scope.catalog.short_name(test_set))
        averaged = isinstance(node, n.Mean) and node.over_documents
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
    by = [node.by for of, node in of_nodes if isinstance(node, n.Mean) and node.by is not None and not of.over_units]
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
        if statistic.over_units is not None or (statistic.averaged and isinstance(node, n.Mean) and node.by is None):
            what = "units" if statistic.over_units is not None else "documents"
            wrong = f"one mean is over {dimension.name}, and {statistic.label} over {what}"
            raise QueryError(wrong, node.span, _ALONE)
        if statistic.sums is None:
            wrong = f"{statistic.label} is not computed from sums, which a mean over {dimension.name} needs"
            raise QueryError(wrong, node.span, _ALONE)
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
    runs_apart: bool = False
    where: n.Condition | None = None
    by: tuple[n.Attribute, ...] = ()
    against: n.Node | None = None
    """What systems are held against, which need not be one of them."""
    missing: str | None = None
    """What becomes of documents that a system lacks, as it was said."""
    tested: bool = False
    """Whether systems are compared, so that documents that some lack are missing, and only rows by document answer."""
    needs_runs: bool = False
    """Whether runs are asked about, and each system has some even if it is only one."""
    several: Several = Several()
    groups: bool = False
    """Whether the statement takes means over what documents share."""
    together: bool = False
    """Whether test sets are taken together, of which groups are no more than their parts."""
    of_classes: bool = False
    """Whether the classes of documents are asked about, and no measure."""

    @classmethod
    def of(cls, statement: n.Measured) -> Wanted:
        """What a question says. A clause that its statement does not take was not given."""
        return cls(
            statement.measures,
            getattr(statement, "task", None),
            getattr(statement, "systems", None),
            statement.span,
            getattr(statement, "replicates", None),
            getattr(statement, "runs_apart", False),
            getattr(statement, "where", None),
            statement.by if isinstance(statement, n.Score) else (),
            getattr(statement, "against", None),
            getattr(statement, "missing", None),
            isinstance(statement, n.Tested | n.Documents | n.Differ),
            isinstance(statement, n.Spread),
            Several.of(statement),
            takes_groups(statement),
            getattr(statement, "over", None) is not None,
        )

    @property
    def of_runs(self) -> SaidOfRuns:
        """What it says of what systems are made of."""
        return SaidOfRuns(self.replicates, self.runs_apart, self.where, self.needs_runs)

    @property
    def incomplete(self) -> p.Incomplete:
        """What becomes of a document that some runs of a system lack: as of one that the system lacks."""
        if self.missing == "zero":
            return "zero"
        return "absent" if self.tested or self.missing is not None else "averaged"

    def check_runs(self) -> None:
        """Raises QueryError for clauses that contradict each other."""
        if self.runs_apart and self.replicates is not None:
            place = self.replicates.span
            raise QueryError("runs apart cannot be combined with replicates", place, ("write one of the two",))


def entries_on(test_sets: n.TestSets | None, wanted: Wanted, scope: Scope) -> tuple[p.Entry, ...]:
    """The systems and statistics on each test set.

    Where several test sets are wanted, one without rows is passed over if it was not named, and a system is absent
    from a test set where it has no rows, if it has some on another. The entries say so.
    """
    chosen = scope.test_sets(test_sets)
    named = are_named(test_sets) or len(chosen) == 1
    entries = []
    for test_set, place in chosen:
        try:
            entries.append(entry_on(wanted, scope, test_set, place, elsewhere=len(chosen) > 1))
        except (_NoRowsError, NoReplicatesError, LackingMeasureError) as error:
            if named:
                raise QueryError(error.message, error.span, error.hints) from None
    if not entries:
        raise QueryError("no test set has rows for this", wanted.span)
    if len(chosen) > 1:
        _check_found(wanted, entries, chosen, scope)
    if not named and (wanted.tested or wanted.together or wanted.missing is not None):
        # Asked of all test sets, the question is meant for those that can answer it.
        entries = [entry for entry in entries if entry.kind.by_document] or entries
    answering = {entry.test_set.id for entry in entries}
    if wanted.together and not named:
        answering |= scope.catalog.groups.keys()  # their parts answer for them
    passed_over = tuple(scope.catalog.short_name(test_set) for test_set, _ in chosen if test_set.id not in answering)
    return with_absent(tuple(replace(entry, passed_over=passed_over) for entry in entries), wanted)


def with_absent(entries: tuple[p.Entry, ...], wanted: Wanted) -> tuple[p.Entry, ...]:
    """The entries of a question, each knowing which of its systems are on other test sets only. With `missing zero`
    these have no document right. With `missing error` there must be none, and none that has rows of another kind alone,
    unless the kind was said.
    """
    entries = _with_runs_there(entries)
    known = {system.name: system for entry in reversed(entries) for system in entry.stored_systems}
    names = _in_order(known, wanted.systems)
    found = []
    for entry in entries:
        own = {system.name: system for system in entry.stored_systems}
        absent = tuple(name for name in names if name not in own)
        if absent and wanted.missing == "zero" and entry.kind.by_document:
            all_systems = (*(own.get(name, known[name]) for name in names), *entry.baselines)
            entry = replace(entry, systems=all_systems, stored=0)
        found.append(replace(entry, absent=absent))
    if wanted.missing == "error":
        _check_everyone(found, wanted)
    return tuple(found)


def _with_runs_there(entries: tuple[p.Entry, ...]) -> tuple[p.Entry, ...]:
    """The entries without the systems no run of which is meant there, but on another test set; and without those runs
    that a test set lacks together with all others of the question.
    """
    runs = [entry.units.made_of.runs if entry.units.made_of is not None else () for entry in entries]
    of_question = {run for of_entry in runs for _, many in of_entry for run in many}
    there = {of.system for entry in entries for of in entry.runs_there if of.number}
    found = []
    for entry in entries:
        runless = {of.system for of in entry.runs_there if not of.number and of.system in there}
        systems = tuple(system for system in entry.systems if system.name not in runless)
        known = [of for of in entry.runs_there if of.number]
        most = max((of.number for of in known), default=0)
        # Of runs that only other test sets have which nobody asks about, those of systems with fewer runs are missing.
        kept = tuple(
            replace(of, lacking=tuple(run for run in of.lacking if of.number < most or run.id in of_question))
            for of in known
        )
        found.append(replace(entry, systems=systems, runs_there=kept))
    return tuple(found)


def _check_everyone(entries: Sequence[p.Entry], wanted: Wanted) -> None:
    """Raises QueryError for systems that are not on every test set, or have rows of another kind alone."""
    others = having_others(entries) if wanted.task is None else []
    if runs := lacking_runs(entries):
        raise QueryError(
            f"not every run is on every test set: {', '.join([*runs, *lacking_test_sets(entries), *others])}",
            wanted.span,
            ("missing drop takes the mean over the runs that are there, with a note; except leaves a system out",),
        )
    if lacking := lacking_test_sets(entries):
        raise QueryError(
            f"not every system is on every test set: {', '.join([*lacking, *others])}",
            wanted.span,
            ("missing zero counts them as nothing there; missing drop leaves them out",),
        )
    if others:
        rows = " or ".join(dict.fromkeys(entry.kind.rows for entry in entries if entry.of_other_kinds))
        raise QueryError(
            f"not every system has {rows}: {', '.join(others)}",
            wanted.span,
            ("name the systems that are meant; missing drop leaves the others out, with a note",),
        )


def _in_order(names: Iterable[str], systems: n.Systems | None) -> list[str]:
    """The names of the systems of a question in the order in which it lists them, and else by name."""
    order: dict[str, None] = {}
    for item in systems.items if systems else ():
        if isinstance(item, n.Name):
            order.update((name, None) for name in names if name.casefold() == item.text.casefold())
        elif isinstance(item, n.Pattern):
            order.update((name, None) for name in sorted(names) if like(name, item.text))
    return list(order | dict.fromkeys(sorted(names)))


def _check_found(
    wanted: Wanted, entries: list[p.Entry], chosen: list[tuple[KnownTestSet, n.Node]], scope: Scope
) -> None:
    """Raises the error of the first test set for a system that was named and has rows on none of them."""
    for item in _not_found(wanted.systems, entries):
        alone = replace(wanted, systems=n.Systems((item,)))
        entry_on(alone, scope, *chosen[0])


def _not_found(systems: n.Systems | None, entries: Sequence[p.Entry]) -> list[n.Name]:
    """The systems that were named and are on no test set."""
    names = {system.name.casefold() for entry in entries for system in entry.systems}
    items = systems.items if systems else ()
    return [item for item in items if isinstance(item, n.Name) and item.text.casefold() not in names]


def check_named(systems: n.Systems | None, entries: Sequence[p.Entry], scope: Scope) -> None:
    """Raises QueryError, as on the first test set, for a system that was named and is on none of them."""
    for item in _not_found(systems, entries):
        systems_of(scope, n.Systems((item,)), entries[0].kind, scope.known(entries[0].test_set))


def passing_over(entries: Sequence[p.Entry], kept: Sequence[p.Entry]) -> tuple[p.Entry, ...]:
    """Those of some entries that can answer a question, which is meant for them alone; they name the others."""
    passed_over = tuple(entry.test_set.name for entry in entries if entry not in kept)
    return tuple(replace(entry, passed_over=(*entry.passed_over, *passed_over)) for entry in kept)


def are_named(test_sets: n.TestSets | None) -> bool:
    """Whether the test sets were called by their names, and not all or by a pattern."""
    return test_sets is not None and not any(isinstance(item, n.All | n.Pattern) for item in test_sets.items)


class _NoRowsError(QueryError):
    """A test set that has no rows for a question; no error where the question is asked of all test sets."""


def check_missing(statement: n.Score | n.Rank, entries: tuple[p.Entry, ...]) -> None:
    """Raises QueryError for a `missing` that values without a test cannot follow."""
    if statement.missing is None:
        return
    word = f"missing {statement.missing}"
    if statement.missing == "bounds":
        raise QueryError(f"{word} works only with compare", statement.span, ("write missing drop, or missing zero",))
    for entry in entries:
        if not entry.kind.by_document:
            has = f"{entry.test_set.name} has {entry.kind.rows}, which have no documents, so none can be missing"
            raise QueryError(has, statement.span, (f"leave out {word}",))
        for statistic, node in zip(entry.statistics, statement.measures, strict=False):
            if statement.missing == "zero" and (statistic.of_confidences or statistic.of_numbers):
                raise without_confidence(statistic, node)


def without_confidence(statistic: Statistic, node: n.Node) -> QueryError:
    """The error for a measure of an order or of predicted numbers where documents that a system lacks are to count."""
    what = "prediction" if statistic.of_numbers else "confidence"
    lacks = f"missing zero gives no {what} to a document that a system lacks, and {statistic.label} needs one"
    return QueryError(lacks, node.span, ("write missing drop instead",))


def entry_on(wanted: Wanted, scope: Scope, test_set: KnownTestSet, place: n.Node, elsewhere: bool = False) -> p.Entry:
    """The systems and statistics on one test set; `elsewhere` leaves out systems that have rows only on another."""
    of_attempts = None if wanted.of_classes else attempts_of(wanted.measures, wanted.task, scope, test_set)
    if of_attempts:
        return _of_attempts(of_attempts, wanted, scope, test_set, elsewhere)
    wanted.check_runs()
    task = _task(wanted, scope, test_set, place, elsewhere)
    for measure in wanted.measures if wanted.task is None else ():
        scope.check_meaning(measure, task, test_set)
    of_nodes = [
        (statistic, in_topics(node, task, test_set, scope.catalog))
        for measure in wanted.measures
        for statistic, node in statistics_of(measure, wanted.several, scope, task, test_set)
    ]
    statistics = [statistic for statistic, _ in of_nodes]
    chosen = systems_of(scope, wanted.systems, task, test_set, elsewhere, wanted.of_runs, wanted.against)
    replicates = chosen.replicates
    if replicates is not None:
        replicates = _with_common(replicates, wanted, scope, task, test_set)
        _check_averaged(replicates, chosen, of_nodes, wanted, scope, task)
        # The counts of what is averaged are multiplied by this, so that they are whole.
        statistics = [_over(statistic, replicates.common) for statistic in statistics]
    several_kinds = len(scope.stored_with(wanted.measures, test_set)) > 1
    entry = scope.entry(test_set, task, statistics, chosen.systems, chosen.stored, replicates, several_kinds)
    entry = with_others(entry, wanted, scope, chosen, elsewhere)
    entry = of_runs(entry, chosen, wanted)
    entry = group_entry(entry, of_nodes, scope, wanted.groups)
    if entry.units.groups and wanted.missing is not None:
        what = (
            f"a mean by document.{entry.units.groups.attribute} uses all documents, so it cannot be combined with "
            f"missing {wanted.missing}"
        )
        raise QueryError(what, wanted.span, ("leave it out",))
    return _with_missing(entry, wanted)


def _of_attempts(
    asked_for: Attempted, wanted: Wanted, scope: Scope, test_set: KnownTestSet, elsewhere: bool
) -> p.Entry:
    """The entry of measures of attempts on a test set where these are replicates."""
    if wanted.runs_apart:
        measure, measured = asked_for.measures[0]
        wrong = f"{measure.name} takes the runs of a system as attempts, so they cannot stand apart"
        raise QueryError(wrong, measured.span, ("leave out runs apart",))
    if wanted.replicates is None and not has_replicates(scope):
        raise without_attempts(asked_for, scope, test_set)
    node = wanted.replicates or unsaid_replicates(scope, wanted.span)
    said = replace(wanted.of_runs, replicates=node, needs_runs=True)
    chosen = systems_of(scope, wanted.systems, REPLICATED, test_set, elsewhere, said, wanted.against)
    replicates = chosen.replicates
    if replicates is None:
        raise without_attempts(asked_for, scope, test_set)
    numbers = {system.id for system in chosen.systems if isinstance(system, p.StoredSystem)}
    check_alike(wanted.by, replicates, scope, REPLICATED, numbers)
    statistics = attempt_statistics(asked_for, replicates, scope, test_set)
    attempts = p.Attempts(replicates, asked_for.right, scope.catalog.is_graded(asked_for.right, test_set.id))
    entry = scope.entry(test_set, REPLICATED, statistics, chosen.systems, chosen.stored, attempts)
    entry = with_others(entry, wanted, scope, chosen, elsewhere)
    entry = of_runs(entry, chosen, wanted)
    return _with_missing(entry, wanted)


def _with_missing(entry: p.Entry, wanted: Wanted) -> p.Entry:
    """An entry with what becomes of documents that its systems lack."""
    units = replace(entry.units, filled=wanted.missing == "zero", complete=wanted.missing == "error")
    return replace(entry, units=units)


def with_others(entry: p.Entry, wanted: Wanted, scope: Scope, chosen: Chosen, elsewhere: bool) -> p.Entry:
    """An entry that knows which systems it leaves out because they have rows of another kind. Where single names are
    asked for, each of them is there.
    """
    items = wanted.systems.items if wanted.systems else (n.All(),)
    if not elsewhere and not any(isinstance(item, n.All | n.Pattern) for item in items):
        return entry
    test_set = scope.known(entry.test_set)
    others = of_other_kinds(scope, wanted.systems, entry.kind, test_set, wanted.of_runs, chosen)
    return replace(entry, of_other_kinds=others)


def of_runs(entry: p.Entry, chosen: Chosen, wanted: Wanted) -> p.Entry:
    """An entry with what becomes of documents that some runs of its systems lack, and whether conditions on systems
    were met.
    """
    if not chosen.runs_chosen:
        return entry
    units = replace(entry.units, incomplete=wanted.incomplete, runs_chosen=True)
    return replace(entry, units=units, runs_there=chosen.runs_there)


def _check_averaged(
    replicates: p.Replicates, chosen: Chosen, of_nodes: Sequence[OfNode], wanted: Wanted, scope: Scope, kind: Kind
) -> None:
    """Raises QueryError for what cannot be averaged over runs, or differs between them."""
    numbers = {system.id for system in chosen.systems if isinstance(system, p.StoredSystem)}
    check_alike(wanted.by, replicates, scope, kind, numbers)
    for statistic, node in of_nodes:
        if statistic.all_or_nothing:
            wrong = f"{statistic.label} says which documents of a run are right, so it does not follow from averages"
            raise QueryError(wrong, node.span, single_runs(replicates, chosen.systems, scope))
        if statistic.sums is not None or statistic.of_numbers or not kind.by_document:
            continue
        if not replicates.of_models:
            raise QueryError(f"{statistic.label} is not computed from sums, so it cannot have replicates", node.span)
        if wanted.tested:
            wrong = f"{statistic.label} has a value in each run, which can be averaged, but not tested together"
            raise QueryError(wrong, node.span, single_runs(replicates, chosen.systems, scope))


def refuse_runs(entries: Sequence[p.Entry], what: str, place: Span, scope: Scope) -> None:
    """Raises QueryError, with the lines to type, where a system has several runs and `what` is asked takes one."""
    for entry in entries:
        runs = entry.units.runs_of_models
        numbers = dict(runs.runs) if runs is not None else {}
        several = [system.name for system in entry.stored_systems if len(numbers.get(system.id, ())) > 1]
        if runs is not None and several:
            wrong = f"{what}, but {several[0]} has {len(numbers[runs.systems[several[0]]])} on {entry.test_set.name}"
            raise QueryError(wrong, place, single_runs(runs, entry.systems, scope))


def _over(statistic: Statistic, scale: int) -> Statistic:
    """A statistic for counts that were multiplied by a scale, which a ratio does not see."""
    if scale == 1:
        return statistic
    computation = statistic.computation
    if not isinstance(computation, Function | OverUnits):
        return statistic
    return replace(statistic, computation=computation.over(scale), of_one=computation)


LARGEST_COMMON = 10**6
"""How large the common multiple may be that the counts of runs are put over."""

MOST_TURNS = 60
"""How many times predictions of runs may stand beside one another, so that each run of a system does so as often."""


def _with_common(
    replicates: p.Replicates, wanted: Wanted, scope: Scope, kind: Kind, test_set: KnownTestSet
) -> p.Replicates:
    """The runs of each system with a common multiple of their numbers."""
    if kind.of_numbers:
        return _beside_one_another(replicates, wanted, test_set)
    if not kind.is_counted:
        # Sums of averaged values are rounded less if they are put over it; a few digits are no reason to refuse.
        common = lcm(*(len(many) for _, many in replicates.runs if many))
        return replace(replicates, common=common if common <= LARGEST_COMMON else 1)
    numbers = scope.catalog.runs_of_documents(kind.name, test_set.id, replicates.runs)
    if wanted.incomplete == "zero":
        numbers = numbers | {len(many) for _, many in replicates.runs if many}
    common = lcm(*numbers)
    if common > LARGEST_COMMON:
        called = plural(scope.catalog.observed(kind.name, test_set.id).noun or PLAIN_NOUN)
        many = f"{called} of {test_set.name} have too many different numbers of {replicates.called}"
        place = wanted.replicates.span if wanted.replicates is not None else wanted.span
        raise QueryError(f"{many} to be averaged exactly", place)
    return replace(replicates, common=common)


def _beside_one_another(replicates: p.Replicates, wanted: Wanted, test_set: KnownTestSet) -> p.Replicates:
    """The runs of each system with how often predictions of one stand beside those of another, where that matters."""
    common = lcm(*(len(many) for _, many in replicates.runs if many)) if wanted.tested else 1
    if common > MOST_TURNS:
        many = f"systems on {test_set.name} have too many different numbers of {replicates.called}"
        place = wanted.replicates.span if wanted.replicates is not None else wanted.span
        hint = "name fewer systems, or choose as many runs of each, as where system.run <= 3 does"
        raise QueryError(f"{many} to be exchanged run by run", place, (hint,))
    return replace(replicates, common=common)


def _task(wanted: Wanted, scope: Scope, test_set: KnownTestSet, place: n.Node, elsewhere: bool) -> Kind:
    """The task after `of`, or the first that has the measures and rows for the systems."""
    given = scope.task(wanted.task)
    of_measures = scope.kinds_of_classes if wanted.of_classes else partial(scope.tasks_with, wanted.measures)
    possible = [given] if given else of_measures(test_set)
    stored = [task for task in possible if scope.catalog.has_rows(task.name, test_set.id)]
    for task in possible:
        # Baselines are computed from the key alone.
        if task.has_key and task not in stored and scope.catalog.labelled(test_set.id) and _with_baselines(wanted):
            stored.append(task)
    if not stored:
        raise _no_rows(possible, scope, test_set, place) if possible else _no_classes(scope, test_set, place)
    errors = []
    empty = None
    for task in stored:
        try:
            if systems_of(scope, wanted.systems, task, test_set, elsewhere, wanted.of_runs).systems:
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


def _no_classes(scope: Scope, test_set: KnownTestSet, place: n.Node) -> _NoRowsError:
    having = [scope.catalog.short_name(other) for other in scope.catalog.test_sets if scope.kinds_of_classes(other)]
    wrong = f"{scope.catalog.short_name(test_set)} has neither classes nor decisions beside a key"
    return _NoRowsError(wrong, place.span, listing(having, "test sets that have") if having else ())


def _with_baselines(wanted: Wanted) -> bool:
    items = wanted.systems.items if wanted.systems else ()
    return any(
        isinstance(item, n.BaselineCall) or (isinstance(item, n.Name) and item.text.casefold() == ALLREL)
        for item in items
    )
