"""`project … to stream NEWS`: the generality of a test set without a key, estimated from each system's decisions and
confidences, and measures there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.editing.hints import listing
from grammar.errors import QueryError
from grammar.span import Span
from warehouse.measures import Statistic, measure_named, settle
from warehouse.query import plan as p
from warehouse.query.compile import keys
from warehouse.query.compile.fact_rows import UNLABELLED, dimensions
from warehouse.query.labels import some
from warehouse.query.path import Facts, Queries, Query, statistics_of
from warehouse.query.resolving.names import Scope
from warehouse.tasks import FILTERING
from warehouse.tasks.observed import counted

if TYPE_CHECKING:
    from warehouse.filtering.unlabelled import Estimate, KeyedDecisions, SystemDecisions
    from warehouse.query.comparison.observations import Observations

_KEY = "key of the stream"


class StreamPlan(Struct, frozen=True):
    """The test set without a key and the one with it, for the same systems, and where the first is named."""

    entry: p.Entry
    source: p.Entry
    where: p.Filter | None
    place: Span
    without: tuple[str, ...]
    """Systems that have no decisions on the stream."""

    @property
    def queries(self) -> Queries:
        from warehouse.query.comparison.observations import observation_queries

        read = (query for entry in (self.entry, self.source) for query in observation_queries(self._how, entry))
        return (Query(_KEY, keys.key_totals(self.entry)), *read)

    @property
    def _how(self) -> p.Testing:
        return replace(p.Testing.plain(self.where), missing="drop")

    def check_unlabelled(self, facts: Facts) -> None:
        """Raises QueryError where the key knows documents of the stream."""
        labels = sum(int(count) for count in facts[_KEY][0])
        if labels:
            name = self.entry.test_set.name
            raise QueryError(
                f"{name} has {labels:,} key {'label' if labels == 1 else 'labels'}, but a stream has none",
                self.place,
                (f"generality on {name} shows how many are relevant, and score how well the systems do there",),
            )

    def observed(self, facts: Facts) -> tuple[Observations, Observations]:
        """What the systems decided on the stream and on the test set with a key."""
        from warehouse.query.comparison.observations import observed

        return observed(self._how, self.entry, facts), observed(self._how, self.source, facts)


def stream_of(statement: n.Project, entry: p.Entry, where: p.Filter | None, scope: Scope) -> StreamPlan | None:
    """The stream that a statement projects to, and the systems that decided there; None where it names none."""
    if statement.stream is None:
        return None
    place = statement.stream.span
    if statement.generalities:
        raise QueryError("project takes to generality or to stream, not both", place)
    if statement.exponent is not None:
        both = "the generality of a stream is estimated with recall and fallout as they were measured"
        raise QueryError(f"{both}, so fallout has no exponent", statement.exponent.span)
    if not entry.task.by_document:
        hint = ("add of filtering",)
        raise QueryError("printed figures have no decisions to estimate a generality from", place, hint)
    if any(dimension.of == "label" for dimension in dimensions(where)) and statement.where is not None:
        raise QueryError("the documents of a stream have no labels to select by", statement.where.span)
    for baseline in entry.baselines:
        said = f"{baseline.name} treats relevant and other documents alike, so it says nothing about a stream"
        raise QueryError(said, statement.systems.span if statement.systems else place)
    test_set = scope.test_set(statement.stream, statement.stream)
    name = scope.catalog.short_name(test_set)
    if test_set.id == entry.test_set.id:
        raise QueryError(f"{name} cannot be projected to itself", place, ("to stream needs a test set without a key",))
    there = scope.catalog.systems_with(FILTERING.name, test_set.id)
    if not there:
        having = [
            scope.catalog.short_name(other)
            for other in scope.catalog.test_sets
            if scope.catalog.systems_with(FILTERING.name, other.id) and not scope.catalog.labelled(other.id)
        ]
        raise QueryError(
            f"{name} has no {FILTERING.rows}", place, listing(having, "test sets with decisions and no key")
        )
    lacking = tuple(system.name for system in entry.stored_systems if system.id not in there)
    systems = tuple(system for system in entry.stored_systems if system.id in there)
    named = [
        item for item in (statement.systems.items if statement.systems else ()) if isinstance(item, n.Name | n.Text)
    ]
    for item in named:
        if item.text.casefold() in map(str.casefold, lacking):
            known = listing(sorted(scope.catalog.system_names[number] for number in there), f"systems on {name}")
            raise QueryError(f"{item.text} has no decisions on {name}", item.span, known)
    if not systems:
        raise QueryError(f"none of the systems has decisions on {name}", place)
    order = measure_named("auc", FILTERING.name)
    if order is None:
        raise ValueError("filtering has no auc")
    # What is computed from an order is read with its confidences.
    ordered = (settle(order, {}),)
    unlabelled = scope.entry(test_set, replace(FILTERING, source=UNLABELLED), ordered, systems)
    return StreamPlan(unlabelled, replace(entry, statistics=ordered, systems=systems), where, place, lacking)


class StreamEstimates(Struct, frozen=True):
    """The generality of a stream as each system tells it, by the convention for optional documents and its name."""

    by_system: dict[tuple[str, str], tuple[Estimate, ...]]
    notes: tuple[str, ...]

    def of(self, statistic: Statistic, system: str) -> tuple[Estimate, ...]:
        return self.by_system.get((optional_of(statistic), system), ())


def optional_of(statistic: Statistic) -> str:
    """How a measure counts optional documents."""
    return str(statistic.settings.get("optional", "credit"))


def subject(entry: p.Entry) -> str:
    """What is asked of a test set, for `explain`."""
    if entry.task.source != UNLABELLED:
        return statistics_of(entry)
    return f"decisions of {', '.join(system.name for system in entry.systems)} on {entry.test_set.name}, without a key"


def estimates(stream: StreamPlan, statistics: tuple[Statistic, ...], facts: Facts, level: float) -> StreamEstimates:
    """The generality of a stream. Raises QueryError where it has a key."""
    import numpy as np

    from warehouse.filtering.unlabelled import ESTIMATORS, estimate
    from warehouse.filtering.weighted_documents import Weights

    stream.check_unlabelled(facts)
    streamed, sourced = stream.observed(facts)
    of_source, of_stream = (Weights(p.DEFAULT_SEED, entry.test_set.own_name) for entry in (stream.source, stream.entry))
    notes: dict[str, None] = {}
    for entry, observations in ((stream.entry, streamed), (stream.source, sourced)):
        if observations.dropped:
            where = f"{counted(observations.dropped, entry.units.noun)} of {entry.test_set.name}"
            notes[f"{where} that some systems lack are left out of the estimates"] = None
    by_system: dict[tuple[str, str], tuple[Estimate, ...]] = {}
    for optional in dict.fromkeys(map(optional_of, statistics)):
        for place, system in enumerate(stream.entry.systems):
            source, unlabelled = _source(sourced, place, optional), _decided(streamed, place)
            if not source.relevant.any() or not source.other.any():
                continue
            without = [int(np.isnan(decided.confidence).sum()) for decided in (source.decided, unlabelled)]
            some_confidences = without[0] < len(source.decided.yes) or without[1] < len(unlabelled.yes)
            if any(without) and some_confidences:
                lacks = f"{system.name} has no confidence for {sum(without):,} of its decisions"
                notes[f"{lacks}, so EM is left out"] = None
            usable = ESTIMATORS[:1] if any(without) else ESTIMATORS
            found = tuple(estimate(by, source, unlabelled, of_source, of_stream, level) for by in usable)
            by_system[optional, system.name] = found
            for one in found:
                notes.update(dict.fromkeys(_faults(stream, system.name, one)))
    if stream.without:
        notes[f"{some(stream.without)} has no decisions on {stream.entry.test_set.name}"] = None
    return StreamEstimates(by_system, tuple(notes))


def _decided(observations: Observations, place: int) -> SystemDecisions:
    from warehouse.filtering.unlabelled import SystemDecisions

    yes = sum(observations.counts[cell][place] for cell in "abx") > 0
    assert observations.confidences is not None
    return SystemDecisions(yes, observations.confidences[place], observations.cluster)


def _source(observations: Observations, place: int, optional: str) -> KeyedDecisions:
    """Which documents are relevant and which are not, as a convention takes the optional ones: with `credit`, as the
    system decided.
    """
    from warehouse.filtering.unlabelled import KeyedDecisions
    from warehouse.measures.filtering import OPTIONAL

    table = OPTIONAL[optional]
    relevant, other = (
        sum(observations.counts[cell][place] for cell, _ in form.terms) > 0
        for form in (table.hits + table.misses, table.false_alarms + table.rejections)
    )
    return KeyedDecisions(_decided(observations, place), relevant, other)


def _faults(stream: StreamPlan, system: str, found: Estimate) -> tuple[str, ...]:
    """Why a generality cannot be estimated, or only roughly."""
    source, name = stream.source.test_set.name, stream.entry.test_set.name
    low, high = found.tells_limits
    if not found.to_be_had and found.estimator == "EM":
        often = f"{0.5 + found.tells:.2f} [{0.5 + low:.2f}, {0.5 + high:.2f}] of the time"
        above = f"for {system} a relevant {stream.source.units.noun} of {source} ranks above another one {often}"
        return (f"{above}, so its confidences do not tell the generality of {name}",)
    if not found.to_be_had:
        apart = f"recall − fallout of {system} on {source} is {found.tells:.2f} [{low:.2f}, {high:.2f}]"
        return (f"{apart}, so its decisions do not tell the generality of {name}",)
    if found.limits is None:
        said = f"no generality of {name} agrees with what {system} decided there ({found.estimator}: {found.value:.4f})"
        return (f"{said}, so recall or fallout there differs from {source}",)
    if not found.inside:
        where = "ends at" if found.estimator == "EM" else "is outside of 0 to 1,"
        said = f"the generality of {name} by {found.estimator} of {system} {where} {found.value:.4f}"
        return (f"{said}, so only its interval is informative",)
    return ()
