"""`agree`: how far the annotators of a test set's key labels agree, and what their disagreement does to F."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from math import isnan, nan, sqrt
from statistics import fmean
from typing import Any, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.intervals import Interval, draws_of_intervals, interval_heading, single
from evalhouse.warehouse.comparing.notes import interval_notes
from evalhouse.warehouse.filtering.agreement import (
    KAPPA,
    LEVELS,
    MISSING,
    Agreement,
    F,
    PairAgreement,
    agree,
    alpha_over,
    cells,
    coincidences,
    f_of_second,
    swap_annotators,
)
from evalhouse.warehouse.kinds import FILTERING
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.notes import Names, Note, Subject, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import dimension_of, key_filter
from evalhouse.warehouse.plans.labels import noun_of, on, some
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import ONE_THREAD, Facts, Queries, Query, Statement, Usage, Workforce, cuts
from evalhouse.warehouse.plans.scores import labels_by_annotator, systems_with
from evalhouse.warehouse.plans.testing import interval_of
from evalhouse.warehouse.results import Cell, Column, Result, TableRows
from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.estimates import SystemEstimates
from evalhouse.warehouse.significance.bootstrap.interval_kinds import IntervalPlan
from evalhouse.warehouse.significance.distributions import t_quantile
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.sums import Sums, Valuation
from evalhouse.warehouse.statements import sentences

# === groups and their agreement =======================================================================================
# The groups are documents that share the value of a `by` attribute, and pairs of annotators that share one. Each has
# its agreement with intervals. This part makes no table.

KEY = "key"
"""What the labels of no annotator are called, where the key is taken in."""

MANY_UNITS = 256
"""From this many documents on, those with the same labels are counted, and the counts resampled."""

MOST_PAIRS = 2_000
"""Means over more pairs than this get no interval."""

Kinds = tuple[Cell, ...]


class Labels(Struct, frozen=True):
    """The labels of some documents of a test set, of shape (annotators, documents); `unit` is what each document is
    resampled with, numbered from 0, and `kinds` what `by` says of each annotator."""

    annotators: tuple[str, ...]
    kinds: tuple[Kinds, ...]
    labels: Integers
    unit: NDArray[np.intp]


class MeanOfPairs(Struct, frozen=True):
    """The mean over some pairs, and the limits of its interval; None where there are none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


class AnnotatorPairs(Struct, frozen=True):
    """The pairs of annotators that `by` puts together, each with the interval of its kappa and both values of F: of the
    first against the second as the key, and the other way. `alpha` is of all who are of one kind."""

    by: Kinds
    annotators: int
    pairs: tuple[PairAgreement, ...]
    intervals: tuple[Interval | None, ...]
    scores: tuple[tuple[float | None, float | None], ...]
    kappa: MeanOfPairs
    ceiling: MeanOfPairs
    together: Agreement | None
    alpha: Interval | None


def labels_of(rows: Sequence[tuple[Any, ...]], kinds: Mapping[str, Kinds], clustered: bool) -> Labels:
    """The labels from rows of annotator, document, label, and last the attribute that is resampled by, if any."""
    annotators = sorted({str(row[0] or KEY) for row in rows})
    documents = sorted({str(row[1]) for row in rows})
    place = {document: number for number, document in enumerate(documents)}
    names = {name: number for number, name in enumerate(annotators)}
    labels = np.full((len(annotators), len(documents)), MISSING, dtype=np.int64)
    # A document without the attribute is a unit of its own.
    shared: list[tuple[bool, str]] = [(False, document) for document in documents]
    for row in rows:
        labels[names[str(row[0] or KEY)], place[str(row[1])]] = LEVELS.index(str(row[2]))
        if clustered and row[-1] is not None:
            shared[place[str(row[1])]] = (True, str(row[-1]))
    numbers = {unit: number for number, unit in enumerate(sorted(set(shared)))}
    unit = np.array([numbers[one] for one in shared], dtype=np.intp)
    return Labels(tuple(annotators), tuple(kinds.get(name, ()) for name in annotators), labels, unit)


def groups(
    given: Labels, plan: IntervalPlan, draws: Draws, workforce: Workforce = ONE_THREAD
) -> Iterator[AnnotatorPairs]:
    """The groups of pairs of some documents, in the order of their kinds."""
    bootstrap = Bootstrap(draws)
    members: dict[Kinds, list[tuple[int, int]]] = {}
    for first, second in combinations(range(len(given.annotators)), 2):
        members.setdefault(_join_kinds(given.kinds[first], given.kinds[second]), []).append((first, second))
    measured = agree(given.labels)
    by_place = {(pair.first, pair.second): pair for pair in measured.pairs}
    for by in sorted(members, key=lambda by: [(cell is None, str(cell)) for cell in by]):
        pairs = [by_place[places] for places in members[by]]
        those = sorted({place for places in members[by] for place in places})
        alike = {given.kinds[place] for place in those} == {by}
        together = agree(given.labels[those]) if alike else None
        intervals = tuple(_of_pairs(given, pairs, bootstrap, plan, workforce))
        yield AnnotatorPairs(
            by=by,
            annotators=len(those),
            pairs=tuple(pairs),
            intervals=intervals,
            scores=tuple((f_of_second(pair.confusion.T), f_of_second(pair.confusion)) for pair in pairs),
            kappa=_mean_kappa(given, pairs, intervals, plan),
            ceiling=_ceiling(given, pairs, plan),
            together=together,
            alpha=_of_all(given, those, bootstrap, plan) if together and together.alpha_nominal is not None else None,
        )


def _join_kinds(first: Kinds, second: Kinds) -> Kinds:
    """What `by` says of a pair: what is said of both, or both where they differ; None where one is unknown."""
    both = zip(first, second, strict=True)
    return tuple(
        None if a is None or b is None else a if a == b else " and ".join(sorted((str(a), str(b)))) for a, b in both
    )


# --- intervals --------------------------------------------------------------------------------------------------------


def _of_pairs(
    given: Labels, pairs: Sequence[PairAgreement], bootstrap: Bootstrap, plan: IntervalPlan, workforce: Workforce
) -> Sequence[Interval | None]:
    """The interval of each pair's kappa, which on this machine share the resamples of `bootstrap`."""
    if workforce.blocks > 1 and len(pairs) > 1:
        parts = list(cuts(pairs, workforce.blocks))
        work = partial(_of_some, given, bootstrap.draws, plan)
        return list(chain.from_iterable(workforce.share_out(work, parts)))
    return [_of_pair(given, pair, bootstrap, plan) for pair in pairs]


def _of_some(given: Labels, draws: Draws, plan: IntervalPlan, pairs: Sequence[PairAgreement]) -> list[Interval | None]:
    """The intervals of some pairs, on whatever machine they were sent to."""
    bootstrap = Bootstrap(draws)
    return [_of_pair(given, pair, bootstrap, plan) for pair in pairs]


def _of_pair(given: Labels, pair: PairAgreement, bootstrap: Bootstrap, plan: IntervalPlan) -> Interval | None:
    """The interval of a pair's kappa, over the documents that both labelled."""
    if pair.kappa is None:
        return None
    both = np.asarray((given.labels[[pair.first, pair.second]] != MISSING).all(axis=0))
    first, second, unit = (
        given.labels[pair.first, both],
        given.labels[pair.second, both],
        _renumber_units(given.unit[both]),
    )
    return _resample_interval(cells(first, second, unit), KAPPA, (-1.0, 1.0), bootstrap, plan)


def _of_all(given: Labels, those: Sequence[int], bootstrap: Bootstrap, plan: IntervalPlan) -> Interval:
    """The interval of alpha, over the documents with two labels or more."""
    labels = given.labels[list(those)]
    several: Booleans = np.asarray((labels != MISSING).sum(axis=0) > 1)
    counts, one = coincidences(labels[:, several], _renumber_units(given.unit[several]))
    return _resample_interval(counts, alpha_over(one), (-np.inf, 1.0), bootstrap, plan)


def _resample_interval(
    counts: Integers, of: Valuation, within: tuple[float, float], bootstrap: Bootstrap, plan: IntervalPlan
) -> Interval:
    if counts.shape[1] < 2:
        return Interval(None, None, 0.0, 0, 0, False)
    alone = Sums.of_counts(np.stack((counts, counts)), of)
    limits = bootstrap.of_kinds(alone, plan) if counts.shape[1] >= MANY_UNITS else bootstrap.values(alone, plan)
    found = single(limits, within)[0]
    # A value that does not vary between documents says nothing about other documents.
    return found if found.error > 0 else Interval(None, None, 0.0, 0, found.resamples, False)


def _renumber_units(unit: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.unique(unit, return_inverse=True)[1].reshape(-1)


# --- means over pairs -------------------------------------------------------------------------------------------------


def _mean_kappa(
    given: Labels, pairs: Sequence[PairAgreement], intervals: Sequence[Interval | None], plan: IntervalPlan
) -> MeanOfPairs:
    """The mean of the kappas of pairs (Light 1971); that of one pair has the interval that it has by itself."""
    if len(pairs) == 1:
        [of_pair] = intervals
        return (
            MeanOfPairs(pairs[0].kappa) if of_pair is None else MeanOfPairs(pairs[0].kappa, of_pair.low, of_pair.high)
        )
    known = [(pair, False) for pair in pairs if pair.kappa is not None]
    return _mean(given, known, KAPPA, (-1.0, 1.0), plan)


def _ceiling(given: Labels, pairs: Sequence[PairAgreement], plan: IntervalPlan) -> MeanOfPairs:
    """The mean F of one annotator against another as the key, each of a pair being the key once."""
    both = [(pair, turn) for pair in pairs for turn in (False, True)]
    known = [
        (pair, turn)
        for pair, turn in both
        if f_of_second(np.asarray(pair.confusion.T if turn else pair.confusion)) is not None
    ]
    return _mean(given, known, F, (0.0, 1.0), plan)


def _mean(
    given: Labels,
    pairs: Sequence[tuple[PairAgreement, bool]],
    of: Valuation,
    within: tuple[float, float],
    plan: IntervalPlan,
) -> MeanOfPairs:
    """The mean of what pairs have, as the documents vary: its standard error to first order, times Student's t."""
    if not pairs:
        return MeanOfPairs()
    tables = [
        swap_annotators(pair.confusion.reshape(-1)) if turn else pair.confusion.reshape(-1, 1) for pair, turn in pairs
    ]
    mean = fmean(float(of.exactly(tuple(table[:, 0].tolist())) or 0) for table in tables)
    units = int(given.unit.max(initial=-1)) + 1
    if len(pairs) > MOST_PAIRS or units < 2:
        return MeanOfPairs(mean)
    moved, labelled = np.zeros(units), np.zeros(units, dtype=np.bool_)
    for pair, turn in pairs:
        influences, has = _influences(given, pair, turn, of, units)
        moved += influences / len(pairs)
        labelled |= has
    several = int(labelled.sum())
    error = sqrt(several / (several - 1) * float((moved**2).sum())) if several > 1 else 0.0
    if not error > 0 or isnan(error):
        return MeanOfPairs(mean)
    half = t_quantile(plan.level / 2, several - 1) * error
    return MeanOfPairs(mean, max(mean - half, within[0]), min(mean + half, within[1]))


def _influences(given: Labels, pair: PairAgreement, turn: bool, of: Valuation, units: int) -> tuple[Floats, Booleans]:
    """How far each unit moves what a pair has, and which of them both have labelled."""
    counts = np.zeros((len(LEVELS) ** 2, units), dtype=np.int64)
    found = cells(given.labels[pair.first], given.labels[pair.second], given.unit)
    counts[:, : found.shape[1]] = swap_annotators(found) if turn else found
    has: Booleans = np.asarray(counts.any(axis=0))
    moved = np.zeros(units)
    if has.sum() > 1:
        own = Sums.of_counts(np.stack((counts[:, has],) * 2), of)
        estimates = SystemEstimates(own, np.ones(own.units, dtype=np.int64))
        moved[has] = estimates.influences(np.array([0]))[0]
    else:
        moved[has] = nan
    return moved, has


# === the statement ====================================================================================================


class AgreePlan(Struct, frozen=True):
    """`by` are attributes of documents, and of the systems that annotators are."""

    text: str
    entries: tuple[p.Entry, ...]
    by: tuple[p.Dimension, ...]
    how: p.Testing
    with_key: bool = False

    @property
    def of_documents(self) -> tuple[p.Dimension, ...]:
        return tuple(dimension for dimension in self.by if dimension.of == "document")

    @property
    def of_annotators(self) -> tuple[p.Dimension, ...]:
        return tuple(dimension for dimension in self.by if dimension.of != "document")


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Agree, scope: Scope) -> AgreePlan:
    plain = p.Testing.plain(key_filter(scope, statement.where, annotators=True))
    how = replace(
        plain,
        level=scope.share(statement.level, "level", plain.level),
        seed=cast(int, scope.whole(statement.seed, "seed", 0, 2**63 - 1)) if statement.seed else plain.seed,
        interval=interval_of(statement),
    )
    entries = scope.keys(statement.test_sets)
    if statement.exchange is not None:
        exchange = dimension_of(scope, statement.exchange, FILTERING)
        if exchange.of != "document":
            hint = ("write document or document.attribute",)
            raise QueryError(f"{exchange.name} cannot be resampled", statement.exchange.span, hint)
        entries = tuple(entry.exchange_by(exchange) for entry in entries)
    by = tuple(_dimension(scope, attribute) for attribute in statement.by)
    return AgreePlan(to_text(statement), entries, by, how, statement.with_key)


def _dimension(scope: Scope, node: n.Attribute) -> p.Dimension:
    if not node.name:
        hint = ("write by document.attribute, or by system.attribute if annotators are systems",)
        raise QueryError(f"agree cannot be grouped by {node.of}", node.span, hint)
    return dimension_of(scope, node, FILTERING)


def compile(plan: AgreePlan) -> Queries:
    labels = tuple(
        Query(_name(entry), labels_by_annotator(entry, _split(plan, entry), plan.how.where, plan.with_key))
        for entry in plan.entries
    )
    return (*labels, *(Query(f"annotators by {of.name}", systems_with(of.attribute)) for of in plan.of_annotators))


def _name(entry: p.Entry) -> str:
    return f"labels of {entry.test_set.name!r}"


def _split(plan: AgreePlan, entry: p.Entry) -> tuple[p.Dimension, ...]:
    """What labels are brought with: what documents are split by, and last what is resampled."""
    return (*plan.of_documents, *entry.units.shared)


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: AgreePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair of annotators with the confusion of their labels; the summary is of all pairs of a group."""
    columns, summary_columns = _columns(plan), _summary_columns(plan, several=False)
    rows = TableRows(["test_set", *_by_names(plan), *(column.name for column in columns[1 + len(plan.by) :])])
    summary = TableRows(
        ["test_set", *_by_names(plan), *(column.name for column in summary_columns[1 + len(plan.by) :])]
    )
    notes: list[str] = []
    drawn, several = 0, False
    for entry in plan.entries:
        parts = [
            (by, labels, list(_groups(labels, plan, entry, workforce))) for by, labels in _parts(plan, entry, facts)
        ]
        drawn = max((drawn, *(interval.resamples for _, _, found in parts for interval in _intervals(found))))
        notes += _notes(plan, entry, parts)
        for documents, labels, found in parts:
            several = several or any(len(group.pairs) > 1 for group in found)
            for group in found:
                split = _by_cells(plan, documents, group.by)
                for pair in _pair_cells(labels, group):
                    rows.add(test_set=entry.test_set.name, **split, **pair)
                summary.add(test_set=entry.test_set.name, **split, **_summary_cells(group))
    units = " or ".join(dict.fromkeys(plural(entry.units.exchange_noun) for entry in plan.entries))
    resamples = f", {drawn:,} resamples, seed {plan.how.seed}" if drawn else ""
    how = f"{interval_heading(plan.how.level)} {plan.how.interval.name} over {units}{resamples}" if rows.rows else ""
    together = summary.table(_summary_columns(plan, several))
    return result_of(
        plan.text,
        plan.entries,
        f"agreement between annotators on {on(plan.entries)}",
        rows.table(columns),
        how=how,
        notes=notes,
        summary_table=together,
        sentence=sentences.of_agreement(together) if not plan.by else "",
    )


def _groups(labels: Labels, plan: AgreePlan, entry: p.Entry, workforce: Workforce) -> Iterator[AnnotatorPairs]:
    limits = IntervalPlan(float(plan.how.level), plan.how.interval)
    yield from groups(labels, limits, draws_of_intervals(plan.how, entry), workforce)


def _parts(plan: AgreePlan, entry: p.Entry, facts: Facts) -> list[tuple[tuple[Cell, ...], Labels]]:
    """The labels of each group of documents by `by`, where two or more annotators gave some."""
    known = [{str(name): cell for name, cell in facts[f"annotators by {of.name}"]} for of in plan.of_annotators]
    names = {str(row[0] or KEY) for row in facts[_name(entry)]}
    kinds = {name: tuple(KEY if name == KEY else of.get(name) for of in known) for name in names}
    split = len(plan.of_documents)
    apart: dict[tuple[Cell, ...], list[tuple[Any, ...]]] = {}
    for row in facts[_name(entry)]:
        apart.setdefault(tuple(row[3 : 3 + split]), []).append(row)
    in_order = sorted(apart, key=lambda by: [(cell is None, str(cell)) for cell in by])
    return [(by, labels_of(apart[by], kinds, bool(entry.units.shared))) for by in in_order]


def _by_names(plan: AgreePlan) -> list[str]:
    """What the cells of the `by` values are called among rows."""
    return [f"by {place}" for place in range(len(plan.by))]


def _by_cells(plan: AgreePlan, documents: tuple[Cell, ...], annotators: tuple[Cell, ...]) -> dict[str, Cell]:
    """The `by` values in the order in which they were asked for."""
    of_documents, of_annotators = iter(documents), iter(annotators)
    values = [next(of_documents if dimension.of == "document" else of_annotators) for dimension in plan.by]
    return dict(zip(_by_names(plan), values, strict=True))


def _intervals(found: Sequence[AnnotatorPairs]) -> list[Interval]:
    of_pairs = [interval for group in found for interval in group.intervals if interval is not None]
    return [*of_pairs, *(group.alpha for group in found if group.alpha is not None)]


# --- columns and cells ------------------------------------------------------------------------------------------------


def _columns(plan: AgreePlan) -> tuple[Column, ...]:
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("annotator_a", "name", "A"),
        Column("annotator_b", "name", "B"),
        Column("documents", "count", plural(noun_of(plan.entries))),
        Column("agreement", "proportion"),
        Column("kappa", "number"),
        Column("se", "number", on_screen=False),
        Column("ci_low", "number", interval_heading(plan.how.level)),
        Column("ci_high", "number", "to", upper=True),
        Column("f_a", "proportion", "F of A", spare=2),
        Column("f_b", "proportion", "F of B", spare=1),
        *(Column(f"{a}_{b}", "count", on_screen=False) for a in LEVELS for b in LEVELS),
    )


def _summary_columns(plan: AgreePlan, several: bool) -> tuple[Column, ...]:
    """The columns of one row per group; the mean kappa is shown if there are several pairs."""
    heading = interval_heading(plan.how.level)
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        *(Column(dimension.name, "name") for dimension in plan.by),
        Column("annotators", "count"),
        Column("pairs", "count", on_screen=False),
        Column("kappa", "number", "mean kappa", several),
        Column("kappa_low", "number", heading, several, spare=1),
        Column("kappa_high", "number", "to", several, upper=True),
        Column("alpha", "number"),
        Column("ci_low", "number", heading),
        Column("ci_high", "number", "to", upper=True),
        Column("alpha_ordinal", "number", "ordinal alpha", spare=2),
        Column("ceiling", "proportion", "ceiling of F"),
        Column("ceiling_low", "proportion", heading),
        Column("ceiling_high", "proportion", "to", upper=True),
    )


def _pair_cells(labels: Labels, group: AnnotatorPairs) -> Iterator[dict[str, Cell]]:
    for pair, interval, (f_a, f_b) in zip(group.pairs, group.intervals, group.scores, strict=True):
        yield {
            "annotator_a": labels.annotators[pair.first],
            "annotator_b": labels.annotators[pair.second],
            "documents": pair.documents,
            "agreement": pair.agreement,
            "kappa": pair.kappa,
            "se": interval.error if interval is not None and interval.low is not None else None,
            "ci_low": interval.low if interval is not None else None,
            "ci_high": interval.high if interval is not None else None,
            "f_a": f_a,
            "f_b": f_b,
            **{
                f"{a}_{b}": int(pair.confusion[row, column])
                for row, a in enumerate(LEVELS)
                for column, b in enumerate(LEVELS)
            },
        }


def _summary_cells(group: AnnotatorPairs) -> dict[str, Cell]:
    return {
        "annotators": group.annotators,
        "pairs": len(group.pairs),
        "kappa": group.kappa.value,
        "kappa_low": group.kappa.low,
        "kappa_high": group.kappa.high,
        "alpha": group.together.alpha_nominal if group.together is not None else None,
        "ci_low": group.alpha.low if group.alpha is not None else None,
        "ci_high": group.alpha.high if group.alpha is not None else None,
        "alpha_ordinal": group.together.alpha_ordinal if group.together is not None else None,
        "ceiling": group.ceiling.value,
        "ceiling_low": group.ceiling.low,
        "ceiling_high": group.ceiling.high,
    }


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(
    plan: AgreePlan, entry: p.Entry, parts: Sequence[tuple[tuple[Cell, ...], Labels, list[AnnotatorPairs]]]
) -> Iterator[str]:
    """Notes without which a group of documents would mislead a reader."""
    if len({name for _, labels, _ in parts for name in labels.annotators}) < 2:
        alone = [labels.annotators[0] for _, labels, _ in parts][:1]
        key = "" if plan.with_key else "; add with key to count the key"
        have = f"only those of {alone[0]}{key}" if alone else "none"
        yield f"agree needs labels of two annotators, and {entry.test_set.name} has {have}"
        return
    for of in plan.of_annotators:
        yield from _note_undescribed(of, parts)
    for by, labels, found in parts:
        where = ", ".join(str(cell if cell is not None else "–") for cell in by)
        yield from _group_notes(f"{entry.test_set.name}{f', {where}' if by else ''}", entry, labels, found)


def _note_undescribed(
    of: p.Dimension, parts: Sequence[tuple[tuple[Cell, ...], Labels, list[AnnotatorPairs]]]
) -> Iterator[str]:
    without = {
        name
        for _, labels, _ in parts
        for name, kinds in zip(labels.annotators, labels.kinds, strict=True)
        if None in kinds
    }
    if without:
        yield f"no system with {of.name} has the name of these annotators: {some(sorted(without))}"


def _group_notes(where: str, entry: p.Entry, labels: Labels, found: Sequence[AnnotatorPairs]) -> Iterator[str]:
    if len(labels.annotators) < 2:
        only = Names((labels.annotators[0],), things="annotators")
        yield Note(Subject(where), "agree needs labels of two annotators, and there are only those of ", only)
        return
    pairs = [
        (f"{labels.annotators[pair.first]} and {labels.annotators[pair.second]}", pair, interval)
        for group in found
        for pair, interval in zip(group.pairs, group.intervals, strict=True)
    ]
    units = plural(entry.units.exchange_noun)
    if apart := [name for name, pair, _ in pairs if not pair.documents]:
        common = f"these annotators have no {entry.units.noun} in common: "
        yield Note(Subject(where), common, Names(tuple(apart), things="pairs"))
    if constant := [name for name, pair, _ in pairs if pair.documents and pair.kappa is None]:
        undefined = "kappa is undefined where both annotators give only one label: "
        yield Note(Subject(where), undefined, Names(tuple(constant), things="pairs"))
    own = {name: interval for name, _, interval in pairs if interval is not None}
    yield from interval_notes(Subject(where, "kappa"), own, f"the {units} do not vary", "pairs")
    alphas = {
        "all" if len(found) == 1 else " and ".join(map(str, group.by)): group.alpha
        for group in found
        if group.alpha is not None and len(group.pairs) > 1
    }
    yield from interval_notes(Subject(where, "alpha"), alphas, f"the {units} do not vary", "groups")
    fewest = min((pair.documents for _, pair, interval in pairs if interval is not None), default=FEW)
    if fewest < FEW:
        so_few = count(fewest, entry.units.noun, plural(entry.units.noun))
        yield Note(Subject(where), so_few, " say little about kappa in general, whatever the interval")


FEW = 20
"""With fewer documents than this intervals of kappa hold it too seldom (docs/language/agree.md)."""


def subject(entry: p.Entry) -> str:
    return f"the labels of {entry.test_set.name}"


AGREE = Statement(
    node=n.Agree,
    usage=Usage("agree", "agreement between annotators of key labels", "agree on TST3"),
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    executor="label counts in the database, kappa and alpha from the counts; the bootstrap resamples documents",
)
