"""The arithmetic of `project`, which its table and its picture share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import listing
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.warehouse.comparing.values import Valued
from evalhouse.warehouse.filtering.generality import KeyCounts, generalities
from evalhouse.warehouse.filtering.projection import (
    INTERVALS,
    Crossings,
    Undecided,
    crossing_region,
    crossings,
    growth,
    project,
    project_fallout,
    subtract,
)
from evalhouse.warehouse.filtering.unlabelled import (
    ESTIMATORS,
    FEW,
    Estimate,
    KeyedDecisions,
    SystemDecisions,
    Weights,
    estimate,
    interval,
)
from evalhouse.warehouse.kinds import FILTERING, KINDS
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.measures import Function, PrintedFigure, Ratio, Statistic, find_measure, settle
from evalhouse.warehouse.measures.filtering import OPTIONAL
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.fact_rows import UNLABELLED, dimensions
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, statistics_of
from evalhouse.warehouse.significance.arrays import Floats

if TYPE_CHECKING:
    from evalhouse.warehouse.comparing.observations import Observations

# === the generality of a stream =======================================================================================
# `project … to stream NEWS`: the generality of a test set without a key, estimated from each system's decisions and
# confidences, and measures there.

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
        from evalhouse.warehouse.comparing.observations import observation_queries

        read = (query for entry in (self.entry, self.source) for query in observation_queries(self._how, entry))
        return (Query(_KEY, scores.key_totals(self.entry)), *read)

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
        from evalhouse.warehouse.comparing.observations import observe

        return observe(self._how, self.entry, facts), observe(self._how, self.source, facts)


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
    if not entry.kind.by_document:
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
    order = find_measure("auc", FILTERING.name)
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
    if entry.kind.source != UNLABELLED:
        return statistics_of(entry)
    return f"decisions of {', '.join(system.name for system in entry.systems)} on {entry.test_set.name}, without a key"


def estimates(stream: StreamPlan, statistics: tuple[Statistic, ...], facts: Facts, level: float) -> StreamEstimates:
    """The generality of a stream. Raises QueryError where it has a key."""
    stream.check_unlabelled(facts)
    streamed, sourced = stream.observed(facts)
    of_source, of_stream = (Weights(p.DEFAULT_SEED, entry.test_set.own_name) for entry in (stream.source, stream.entry))
    notes: dict[str, None] = {}
    for entry, observations in ((stream.entry, streamed), (stream.source, sourced)):
        if observations.dropped:
            where = f"{quantity(observations.dropped, entry.units.noun)} of {entry.test_set.name}"
            notes[f"{where} that some systems lack are left out of the estimates"] = None
    by_system: dict[tuple[str, str], tuple[Estimate, ...]] = {}
    for optional in dict.fromkeys(map(optional_of, statistics)):
        for place, system in enumerate(stream.entry.systems):
            source, unlabelled = _source(sourced, place, optional), _decisions_of(streamed, place)
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


def _decisions_of(observations: Observations, place: int) -> SystemDecisions:
    yes = sum(observations.counts[cell][place] for cell in "abx") > 0
    assert observations.confidences is not None
    return SystemDecisions(yes, observations.confidences[place], observations.cluster)


def _source(observations: Observations, place: int, optional: str) -> KeyedDecisions:
    """Which documents are relevant and which are not, as a convention takes the optional ones: with `credit`, as the
    system decided.
    """
    table = OPTIONAL[optional]
    relevant, other = (
        sum(observations.counts[cell][place] for cell, _ in form.terms) > 0
        for form in (table.hits + table.misses, table.false_alarms + table.rejections)
    )
    return KeyedDecisions(_decisions_of(observations, place), relevant, other)


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


# === measures at other generalities ===================================================================================
# How certain they are, and where one system overtakes another.


class ProjectPlan(Struct, frozen=True):
    """`needed` are recall and fallout for each measure, counted as it counts optional documents, `generality` is the
    share of documents that are relevant or optional. `place` is where the test set is named.
    """

    text: str
    entry: p.Entry
    generalities: tuple[Decimal, ...]
    exponent: Decimal
    where: p.Filter | None
    needed: tuple[tuple[Statistic, Statistic], ...]
    generality: Statistic
    place: Span
    stream: StreamPlan | None = None

    @property
    def entries(self) -> tuple[p.Entry, ...]:
        return (self.entry,) if self.stream is None else (self.entry, self.stream.entry)

    @property
    def valued(self) -> Valued:
        """The values that are measured."""
        return Valued(
            replace(self.entry, statistics=_each_once(*self.entry.statistics, *self._shares)), where=self.where
        )

    @property
    def resampled(self) -> p.Entry | None:
        """The systems with documents of their own, and the shares that are drawn for them."""
        if not self.entry.kind.by_document or not self.entry.stored_systems:
            return None
        return replace(self.entry, statistics=self._shares, systems=self.entry.stored_systems)

    @property
    def _shares(self) -> tuple[Statistic, ...]:
        of_documents = (self.generality,) if self.entry.kind.by_document else ()
        return _each_once(*(share for both in self.needed for share in both), *of_documents)


def _each_once(*statistics: Statistic) -> tuple[Statistic, ...]:
    return tuple({statistic.label: statistic for statistic in statistics}.values())


LEVEL = 0.05

NEARLY = 5e-5
"""A projection is off what was measured where two digits of a percentage show it."""


def assumption(plan: ProjectPlan) -> str:
    """What is taken to stay, beside recall."""
    return "constant fallout" if plan.exponent == 0 else f"fallout exponent {plan.exponent}"


def formula_of(statistic: Statistic) -> Ratio | Function | None:
    """What a measure is computed by from the cells of a contingency table, where it can be projected; of a printed
    figure, what the measure of that name is.
    """
    if statistic.averaged:
        return None
    computation = statistic.computation
    if isinstance(computation, PrintedFigure):
        measure = find_measure(computation.name.partition("(")[0], FILTERING.name)
        if measure is None or not KINDS[computation.kind].has_key:
            return None
        settings = {name: Decimal(number) for name, number in re.findall(r"(\w+)=([\d.]+)", computation.name)}
        computation = settle(measure, settings).computation
    if not isinstance(computation, Ratio | Function) or growth(computation) is None:
        return None
    return computation


def is_sum(statistic: Statistic) -> bool:
    """Whether a measure is a sum over documents, so that it is projected for one of them."""
    formula = formula_of(statistic)
    return formula is not None and growth(formula) == "sum"


class Shares(Struct, frozen=True):
    """Recall and fallout of each system as one measure counts optional documents: as measured, and in draws that say
    how sure they are. Systems that are computed or printed have no draws.
    """

    measured: Mapping[str, tuple[float, float]]
    drawn: Mapping[str, tuple[Floats, Floats]]


MaybeLimits = tuple[float | None, float | None]

NO_LIMITS: MaybeLimits = (None, None)


class Target(Struct, frozen=True):
    """A measure of a system at one generality, given or estimated; None for what is not known. It is `undefined` where
    recall, fallout and the generality are known and it has no value.
    """

    generality: float | None
    value: float | None
    limits: MaybeLimits
    undefined: bool
    estimator: str | None = None
    generality_limits: MaybeLimits = NO_LIMITS


class Projection(Struct, frozen=True):
    """All that projections follow from. `start` is the generality that was measured at; `starts` are draws of it."""

    plan: ProjectPlan
    start: float
    starts: Floats | None
    shares: Mapping[str, Shares]
    """By the label of the measure."""
    measured: Mapping[tuple[str, str], float | None]
    """The values of measures, by system and label; of sums over documents, for one of them."""
    estimates: StreamEstimates | None = None
    few: tuple[str, ...] = ()
    """Notes about shares that are measured on few clusters."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about few clusters, and about a stream."""
        return self.few if self.estimates is None else (*self.few, *self.estimates.notes)

    @property
    def off_their_lines(self) -> list[str]:
        """The systems for which a projection to the generality that was measured at is not what was measured. With
        `credit` an optional document is relevant or not as a system decided it, so that each system has a generality
        of its own, and the one that they share is another.
        """
        if not self.plan.entry.kind.by_document:
            return []
        found: dict[str, None] = {}
        for statistic in self.plan.entry.statistics:
            for system in self.shares[statistic.label].measured:
                here, measured = (
                    self._known_values(statistic, system, np.array([self.start])),
                    self.measured.get((system, statistic.label)),
                )
                if measured is not None and abs(float(here[0]) - measured) > NEARLY:
                    found[system] = None
        return list(found)

    def targets(self, statistic: Statistic, system: str) -> list[Target]:
        """A measure of a system at the generalities that were asked for, or at what a stream's is estimated to be."""
        if self.estimates is not None:
            return [self._at_estimate(statistic, system, one) for one in self.estimates.of(statistic, system)]
        return [self._at(statistic, system, float(generality)) for generality in self.plan.generalities]

    def _at(self, statistic: Statistic, system: str, generality: float) -> Target:
        values = self.values(statistic, system, np.array([generality]))
        drawn = self.draws(statistic, system, np.array([generality]))
        value = None if values is None or np.isnan(values[0]) else float(values[0])
        limits = None if value is None or drawn is None else interval(drawn[:, 0], value, LEVEL)
        return Target(generality, value, limits or NO_LIMITS, value is None and values is not None)

    def _at_estimate(self, statistic: Statistic, system: str, found: Estimate) -> Target:
        if not found.to_be_had or found.limits is None:
            return Target(None, None, NO_LIMITS, False, found.estimator)
        formula = formula_of(statistic)
        assert formula is not None
        # The same draw says what recall, fallout and the generality may be.
        drawn = project(formula, found.recall, found.fallout, found.generality)
        if not found.inside:
            limits = interval(drawn, None, LEVEL)
            return Target(None, None, limits or NO_LIMITS, False, found.estimator, found.limits)
        at = self._at(statistic, system, found.value)
        limits = interval(drawn, at.value, LEVEL)
        return replace(at, limits=limits or NO_LIMITS, estimator=found.estimator, generality_limits=found.limits)

    def values(self, statistic: Statistic, system: str, at: Floats) -> Floats | None:
        """A measure at some generalities; NaN where undefined. None where recall or fallout is."""
        known = self.shares[statistic.label].measured.get(system)
        if known is None:
            return None
        recall, fallout = (np.array(share) for share in known)
        return self._project(statistic, recall, fallout, np.array(self.start), at)

    def draws(self, statistic: Statistic, system: str, at: Floats) -> Floats | None:
        """Draws of it, of shape (draws, generalities); None for a system without documents of its own."""
        drawn = self.shares[statistic.label].drawn.get(system)
        if drawn is None or self.starts is None:
            return None
        recall, fallout, starts = (share[:, None] for share in (*drawn, self.starts))
        return self._project(statistic, recall, fallout, starts, at)

    def _project(self, statistic: Statistic, recall: Floats, fallout: Floats, start: Floats, at: Floats) -> Floats:
        formula = formula_of(statistic)
        assert formula is not None
        return project(formula, recall, project_fallout(fallout, start, at, float(self.plan.exponent)), at)

    def pairs(self, statistic: Statistic) -> Iterator[tuple[str, str]]:
        """The systems with recall and fallout, two by two."""
        names = [
            system.name for system in self.plan.entry.systems if system.name in self.shares[statistic.label].measured
        ]
        for place, first in enumerate(names):
            for second in names[place + 1 :]:
                yield first, second

    def crossings(self, statistic: Statistic, first: str, second: str) -> Crossings:
        """Where the estimates of two systems cross, as their values go, whichever is the better."""

        def difference(at: Floats) -> Floats:
            values = (self.values(statistic, name, at) for name in (first, second))
            return subtract(*(known for known in values if known is not None))

        return crossings(difference)

    def undecided(self, statistic: Statistic) -> Iterator[tuple[str, str, Undecided | None]]:
        """Each pair of systems, and where it is not known which of them is the better; None where neither has documents
        of its own, and where a measure is undefined.
        """
        for first, second, limits in self.differences(statistic, INTERVALS):
            yield first, second, None if limits is None else crossing_region(*limits)

    def differences(self, statistic: Statistic, at: Floats) -> Iterator[tuple[str, str, tuple[Floats, Floats] | None]]:
        """Each pair of systems, and the 95% intervals of their difference at some generalities, NaN where a measure is
        undefined.
        """
        names = list(self.shares[statistic.label].measured)
        drawn = {name: self.draws(statistic, name, at) for name in names}
        # What is computed and not measured is the same in every draw. One row per generality: its draws are sorted.
        rows = {
            name: np.ascontiguousarray((self._known_values(statistic, name, at)[None] if own is None else own).T)
            for name, own in drawn.items()
        }
        for first, second in self.pairs(statistic):
            limits = None
            if drawn[first] is not None or drawn[second] is not None:
                difference = subtract(rows[first], rows[second])
                defined = ~np.isnan(difference).any(axis=1)
                if defined.any():
                    low, high = np.full((2, len(at)), np.nan)
                    low[defined], high[defined] = np.quantile(difference[defined], (LEVEL / 2, 1 - LEVEL / 2), axis=1)
                    limits = low, high
            yield first, second, limits

    def best(self, statistic: Statistic, at: Floats) -> dict[str, tuple[list[bool], list[bool]]]:
        """For each system at each generality, whether it has the best value, and whether it may have it: no other is
        shown to be better.
        """
        names = list(self.shares[statistic.label].measured)
        towards = -1.0 if statistic.measure.lower_is_better else 1.0
        values = np.stack(
            [towards * np.nan_to_num(self._known_values(statistic, name, at), nan=-np.inf) for name in names]
        )
        leads = (values >= values.max(axis=0) - 1e-12) & np.isfinite(values)
        may = np.ones(leads.shape, dtype=np.bool_)
        for first, second, limits in self.differences(statistic, at):
            one, other = names.index(first), names.index(second)
            if limits is None:
                # Values that are not estimates are known.
                with np.errstate(invalid="ignore"):
                    limits = (values[one] - values[other],) * 2
            elif towards < 0:
                limits = -limits[1], -limits[0]
            may[other] &= ~(limits[0] > 0)
            may[one] &= ~(limits[1] < 0)
        return {name: (leads[place].tolist(), may[place].tolist()) for place, name in enumerate(names)}

    def _known_values(self, statistic: Statistic, system: str, at: Floats) -> Floats:
        values = self.values(statistic, system, at)
        return np.full(at.shape, np.nan) if values is None else values


def projection(plan: ProjectPlan, facts: Facts) -> Projection:
    """What projections follow from. Raises QueryError where no system has recall and fallout."""
    lines = (*plan.valued.lines(facts), *plan.valued.expected_lines(facts))
    values: dict[tuple[str, str], float | None] = {}
    measured: dict[tuple[str, str], float | None] = {}
    sums = {statistic.label for statistic in plan.entry.statistics if is_sum(statistic)}
    for line in lines:
        for statistic, known in zip(plan.valued.entry.statistics, line.values, strict=True):
            values[line.system.name, statistic.label] = known
            total = statistic.label in sums and known is not None and line.documents
            measured[line.system.name, statistic.label] = known / line.documents if total else known  # type: ignore[operator]
    start = _start(plan, facts, values)
    drawn, few = _draw_shares(plan, facts)
    shares: dict[str, Shares] = {}
    for statistic, needed in zip(plan.entry.statistics, plan.needed, strict=True):
        own: dict[str, tuple[float, float]] = {}
        for system in plan.entry.systems:
            recall, fallout = (values.get((system.name, of.label)) for of in needed)
            if recall is not None and fallout is not None:
                own[system.name] = recall, fallout
        labels = [of.label for of in needed]
        draws = {name: (drawn[name, labels[0]], drawn[name, labels[1]]) for name in own if (name, labels[0]) in drawn}
        shares[statistic.label] = Shares(own, draws)
    if not any(known.measured for known in shares.values()):
        raise QueryError(_why_unknown(plan, facts), plan.place)
    starts = next((draws for (_, label), draws in drawn.items() if label == plan.generality.label), None)
    found = None if plan.stream is None else estimates(plan.stream, plan.entry.statistics, facts, LEVEL)
    return Projection(plan, start, starts, shares, measured, found, few)


def _start(plan: ProjectPlan, facts: Facts, values: Mapping[tuple[str, str], float | None]) -> float:
    """The generality that was measured at: that of the documents that systems were measured on, or else of the key."""
    key = _key(facts)
    if not key.documents:
        raise QueryError(f"{plan.entry.test_set.name} has no key labels, so its generality is unknown", plan.place)
    own = next((known for (_, label), known in values.items() if label == plan.generality.label), None)
    return own if own is not None else generalities(key).generality or 0.0


def _key(facts: Facts) -> KeyCounts:
    return KeyCounts(*(int(count) for count in facts["key"][0]))


def _why_unknown(plan: ProjectPlan, facts: Facts) -> str:
    """The reason why no system has recall and fallout."""
    key, where = _key(facts), plan.entry.test_set.name
    if not plan.entry.kind.by_document:
        return f"recall or fallout is unknown for {some([system.name for system in plan.entry.systems])} on {where}"
    lacking = [
        f"{where} has no {kind} {plan.entry.units.noun}s, so {share} is undefined there"
        for kind, count, share in (("relevant", key.relevant, "recall"), ("nonrelevant", key.nonrelevant, "fallout"))
        if not count
    ]
    without = "among what meets the condition there are no relevant or no nonrelevant ones"
    return "; ".join(lacking) or f"recall or fallout is undefined on {where}: {without}"


def _draw_shares(plan: ProjectPlan, facts: Facts) -> tuple[dict[tuple[str, str], Floats], tuple[str, ...]]:
    """Draws of each share that is needed, by system and label, and what is to note of few clusters."""
    if plan.resampled is None:
        return {}, ()
    from evalhouse.warehouse.comparing.observations import observe
    from evalhouse.warehouse.comparing.sums import additive

    entry = plan.resampled
    observations = observe(p.Testing.plain(plan.where), entry, facts)
    names, inside, outside = [], [], []
    few: dict[str, None] = {}
    for statistic in entry.statistics:
        counts = additive(observations, statistic)
        if not counts.is_ratio:
            raise TypeError(f"{statistic.label} is a share")
        for place, system in enumerate(entry.systems):
            names.append((system.name, statistic.label))
            inside.append(counts.numerators[place])
            outside.append(counts.denominators[place] - counts.numerators[place])
            there = counts.denominators[place]
            units = int(np.count_nonzero(there))
            if units < FEW and there.max(initial=0) > 1:
                measured_on = quantity(units, entry.units.exchange_noun)
                known = f"{statistic.label} on {entry.test_set.name} is measured on {measured_on}"
                few[f"{known}; with fewer than {FEW}, intervals are rough"] = None
    weights = Weights(p.DEFAULT_SEED, entry.test_set.own_name)
    drawn = weights.shares(["\0".join(name) for name in names], np.stack(inside), np.stack(outside))
    return dict(zip(names, drawn, strict=True)), tuple(few)
