"""The curves of the systems of an entry: their decisions as arrays, their measures as curves see them, and the tests
between the areas under their ROC curves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, combinations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.filtering.generality import KeyCounts, expected_cells
from evalhouse.warehouse.measures import Function, Ratio, Statistic
from evalhouse.warehouse.measures.filtering import sides
from evalhouse.warehouse.measures.forms import evaluate
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.fact_rows import decisions
from evalhouse.warehouse.plans.path import ONE_THREAD, Facts, Queries, Query, Workforce, cuts
from evalhouse.warehouse.significance.areas import LEAST, Ranked, delong, one_area
from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.curves import CELLS, CurveMeasure, Curves, Known, Thresholds, curves
from evalhouse.warehouse.significance.draws import Draws, Work
from evalhouse.warehouse.significance.multiple import holm

LABELS = np.array(["relevant", "nonrelevant", "optional"])


def curve_queries(entry: p.Entry, where: p.Filter | None) -> Queries:
    """What brings the decisions of the systems of an entry, and for systems that guess the labels of the key."""
    queries: Queries = ()
    if entry.stored_systems:
        queries += (Query(_name("decisions", entry), decisions(entry, where), "columns"),)
    if entry.baselines:
        queries += (Query(_name("labels", entry), scores.key_counts(entry, (), where)),)
    return queries


def _name(what: str, entry: p.Entry) -> str:
    return f"{what} on {entry.test_set.name!r}"


# --- systems ----------------------------------------------------------------------------------------------------------


class OwnDecisions(Struct, frozen=True, eq=False, dict=True):
    """The decisions of one system, in the order of the ids of documents; `confidence` is NaN where there is none."""

    system: p.StoredSystem
    document: Integers
    confidence: Floats
    yes: Booleans
    kind: NDArray[np.int8]

    @property
    def lacking(self) -> int:
        """How many decisions lack a numeric confidence."""
        return int(np.count_nonzero(np.isnan(self.confidence)))

    @cached_property
    def thresholds(self) -> Thresholds:
        """What follows from its confidences, or from its decisions alone where a confidence is missing."""
        if self.lacking:
            return Thresholds.of_decisions(self.kind, self.yes)
        return Thresholds.of(self.confidence, self.kind, self.yes)


def own_decisions(entry: p.Entry, facts: Facts) -> list[OwnDecisions]:
    """The systems of an entry that decided on any document, in the order in which they are named."""
    if not entry.stored_systems:
        return []
    rows = facts[_name("decisions", entry)]
    system, document = (np.asarray(rows[name], dtype=np.int64) for name in ("system", "document"))
    confidence = np.ma.filled(np.ma.asarray(rows["confidence"], dtype=np.float64), np.nan)
    # An infinite confidence exceeds all others and is not a number, so it cannot be a threshold.
    confidence = np.where(np.isfinite(confidence), confidence, np.nan)
    yes, kind = np.asarray(rows["yes"], dtype=np.bool_), np.asarray(rows["kind"], dtype=np.int8)
    found = []
    for known in entry.stored_systems:
        own = np.flatnonzero(system == known.id)
        own = own[np.argsort(document[own])]
        if own.size:
            found.append(OwnDecisions(known, document[own], confidence[own], yes[own], kind[own]))
    return found


def guessing_table(entry: p.Entry, baseline: p.Baseline, facts: Facts) -> Floats:
    """The contingency table that is expected of a system that guesses, of shape (6,)."""
    counts = _labels(entry, facts)
    key = KeyCounts(*(counts.get(label, 0) for label in ("relevant", "optional", "nonrelevant")))
    cells = expected_cells(key, baseline.share)
    return np.array([float(cells[cell]) for cell in CELLS])


def count_labelled(entry: p.Entry, facts: Facts) -> int:
    """How many documents there are to guess the labels of."""
    return sum(_labels(entry, facts).values()) if entry.baselines else 0


def _labels(entry: p.Entry, facts: Facts) -> dict[str, int]:
    return {str(label): int(count) for label, count in facts[_name("labels", entry)]}


# --- measures ---------------------------------------------------------------------------------------------------------


def curve_measure(statistic: Statistic) -> CurveMeasure:
    """A measure of sums over the cells as curves see it. Raises ValueError for one that is none."""
    computation, measure = statistic.computation, statistic.measure
    if isinstance(computation, Ratio):
        over, under = (_coefficients(form) for form in computation.forms)
        factor = float(computation.factor)
        share = bool((under >= 0).all() and np.isin(over * factor - under * (over != 0), (0.0,)).all())
        return CurveMeasure(
            np.stack((over, under)),
            lambda sums: np.asarray(factor * sums[0] / np.where(sums[1] == 0, np.nan, sums[1])),
            share,
            measure.lower_is_better,
            measure.within,
        )
    if isinstance(computation, Function):
        columns, expression = computation.columns, computation.expression
        return CurveMeasure(
            np.stack([_coefficients(form) for form in computation.forms]),
            lambda sums: np.asarray(evaluate(expression, dict(zip(columns, sums, strict=True)))),
            lower_is_better=measure.lower_is_better,
            within=measure.within,
        )
    raise ValueError(f"{statistic.label} is not computed from the cells")


def _coefficients(form: Sequence[tuple[str, int]]) -> Floats:
    of = dict(form)
    return np.array([float(of.get(cell, 0)) for cell in CELLS])


class CurveRequest(Struct, frozen=True, eq=False):
    """What is asked of every system: the measures, the place of the one whose best threshold is sought, the draws, the
    level of the bands, and what optional documents count as.
    """

    measures: Sequence[CurveMeasure]
    chosen: int
    draws: Draws
    level: float
    optional: str


def curves_of(request: CurveRequest, system: OwnDecisions, work: Work) -> tuple[Curves, Known | None]:
    """The curves of a system, and the area under its ROC curve. Its chance depends on the draws alone, so that systems
    with the same rows have the same bands.
    """
    counted = sides(LABELS, request.optional)
    found = curves(system.thresholds, request.measures, request.chosen, request.draws, request.level, work, counted)
    return found, None if system.lacking else roc_area(system, request.optional, request.level)


# --- areas under ROC curves -------------------------------------------------------------------------------------------


def roc_area(system: OwnDecisions, optional: str, level: float) -> Known | None:
    """The area under the ROC curve of a system with its interval (DeLong, DeLong and Clarke-Pearson 1988), NaN where
    there are too few documents of a kind or nothing varies; None without a document of either kind.
    """
    above, below = sides(LABELS[system.kind], optional)
    found = one_area(system.confidence[above], system.confidence[below], level)
    return None if found is None else Known(*found)


class AreaTest(Struct, frozen=True):
    """Two systems, the difference of their areas, its p, and p adjusted for all pairs of the test set."""

    first: str
    second: str
    difference: float
    p: float
    adjusted: float


class AreaTests(Struct, frozen=True):
    """The tests of all pairs of a test set, and the pairs whose difference does not vary, so that there is none."""

    tests: tuple[AreaTest, ...] = ()
    untested: tuple[tuple[str, str, float], ...] = ()


class _AreaPairs(Struct, frozen=True, eq=False):
    """Systems with confidences on the same documents, their places among all systems, and which two are tested."""

    ranked: Ranked
    places: Sequence[int]
    pairs: Sequence[tuple[int, int]]

    def parted(self, blocks: int) -> Iterator[_AreaPairs]:
        """In so many parts, each with the systems of its pairs alone."""
        for pairs in cuts(self.pairs, blocks):
            places = sorted({place for pair in pairs for place in pair})
            own = {place: number for number, place in enumerate(places)}
            ranked = self.ranked.only(np.array(places))
            yield _AreaPairs(ranked, [self.places[place] for place in places], [(own[a], own[b]) for a, b in pairs])


def area_tests(systems: Sequence[OwnDecisions], optional: str, workforce: Workforce = ONE_THREAD) -> AreaTests:
    """DeLong's test of every two systems with confidences on the same documents, adjusted by Holm over all that could
    be made; none where there are too few documents of a kind.
    """
    known = [system for system in systems if not system.lacking]
    alike: dict[bytes, list[int]] = {}
    for place, system in enumerate(known):
        alike.setdefault(system.document.tobytes(), []).append(place)
    parts: list[_AreaPairs] = []
    for places in alike.values():
        if len(places) < 2:
            continue
        above, below = sides(LABELS[known[places[0]].kind], optional)
        if min(np.count_nonzero(above), np.count_nonzero(below)) < LEAST:
            return AreaTests()
        kept = above | below
        confidences = np.stack([known[place].confidence[kept] for place in places])
        ranked = Ranked(confidences, above[kept], np.arange(np.count_nonzero(kept)))
        pairs = list(combinations(range(len(places)), 2))
        parts += _AreaPairs(ranked, places, pairs).parted(workforce.blocks)
    found = sorted(chain.from_iterable(workforce.done(_test_areas, parts)), key=lambda test: test[:2])
    tested = [(a, b, difference, p) for a, b, difference, p in found if p is not None]
    adjusted = holm(np.array([p for *_, p in tested])) if tested else ()
    name = [system.system.name for system in known]
    return AreaTests(
        tuple(
            AreaTest(name[a], name[b], difference, p, float(level))
            for (a, b, difference, p), level in zip(tested, adjusted, strict=True)
        ),
        tuple((name[a], name[b], difference) for a, b, difference, p in found if p is None),
    )


def _test_areas(part: _AreaPairs) -> list[tuple[int, int, float, float | None]]:
    """The places of two systems, the difference of their areas, and its p; None where the difference does not vary, so
    that it has no standard error.
    """
    found: list[tuple[int, int, float, float | None]] = []
    for a, b in part.pairs:
        areas = part.ranked.of_two(a, b)
        try:
            p = delong(areas).p
        except ValueError:
            p = None
        found.append((part.places[a], part.places[b], areas.difference, p))
    return found


# --- which thresholds are shown ---------------------------------------------------------------------------------------


def spread(thresholds: Thresholds, many: int, *with_places: int) -> Places:
    """At most so many places of a curve: these, and others spread evenly over the documents decided yes."""
    places = thresholds.at.size + 1
    if places <= many:
        return np.arange(places)
    given = np.unique(np.array(with_places, dtype=np.intp))
    if given.size >= many:
        return given[:many]
    wanted = np.linspace(0, thresholds.documents, many - given.size)
    found = np.minimum(np.searchsorted(thresholds.decided.sum(axis=0), wanted), places - 1)
    return np.unique(np.concatenate((found, given)))
