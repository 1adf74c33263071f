"""The groups that `agree` answers for, and the agreement within each with its intervals: documents that share what `by`
says of them, and pairs of annotators by what `by` says of these. It makes no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from math import isnan, nan, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from warehouse.filtering.agreement import LEVELS, MISSING, Agreement, PairAgreement, agree
from warehouse.filtering.agreement_sums import (
    KAPPA,
    F,
    alpha_over,
    cells,
    coincidences,
    f_of_second,
    turned,
)
from warehouse.query.comparison.intervals import Interval, single
from warehouse.query.engine import ONE_THREAD, Workforce, cuts
from warehouse.results import Cell
from warehouse.significance.analytic.beta import t_quantile
from warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from warehouse.significance.bootstrap.estimates import SystemEstimates
from warehouse.significance.bootstrap.interval_kinds import IntervalPlan
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats, Integers
from warehouse.significance.sums import Sums
from warehouse.significance.valuation import Valuation

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        members.setdefault(_joined(given.kinds[first], given.kinds[second]), []).append((first, second))
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


def _joined(first: Kinds, second: Kinds) -> Kinds:
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
    first, second, unit = given.labels[pair.first, both], given.labels[pair.second, both], _renumbered(given.unit[both])
    return _resampled(cells(first, second, unit), KAPPA, (-1.0, 1.0), bootstrap, plan)


def _of_all(given: Labels, those: Sequence[int], bootstrap: Bootstrap, plan: IntervalPlan) -> Interval:
    """The interval of alpha, over the documents with two labels or more."""
    labels = given.labels[list(those)]
    several: Booleans = np.asarray((labels != MISSING).sum(axis=0) > 1)
    counts, one = coincidences(labels[:, several], _renumbered(given.unit[several]))
    return _resampled(counts, alpha_over(one), (-np.inf, 1.0), bootstrap, plan)


def _resampled(
    counts: Integers, of: Valuation, within: tuple[float, float], bootstrap: Bootstrap, plan: IntervalPlan
) -> Interval:
    if counts.shape[1] < 2:
        return Interval(None, None, 0.0, 0, 0, False)
    alone = Sums.of_counts(np.stack((counts, counts)), of)
    limits = bootstrap.of_kinds(alone, plan) if counts.shape[1] >= MANY_UNITS else bootstrap.values(alone, plan)
    found = single(limits, within)[0]
    # A value that does not vary between documents says nothing about other documents.
    return found if found.error > 0 else Interval(None, None, 0.0, 0, found.resamples, False)


def _renumbered(unit: NDArray[np.intp]) -> NDArray[np.intp]:
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
    tables = [turned(pair.confusion.reshape(-1)) if turn else pair.confusion.reshape(-1, 1) for pair, turn in pairs]
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
    counts[:, : found.shape[1]] = turned(found) if turn else found
    has: Booleans = np.asarray(counts.any(axis=0))
    moved = np.zeros(units)
    if has.sum() > 1:
        own = Sums.of_counts(np.stack((counts[:, has],) * 2), of)
        estimates = SystemEstimates(own, np.ones(own.units, dtype=np.int64))
        moved[has] = estimates.influences(np.array([0]))[0]
    else:
        moved[has] = nan
    return moved, has
