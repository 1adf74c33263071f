"""Measures at every threshold of confidence: values, bands, the best threshold and areas.

The bands hold at all thresholds at once. This module takes numbers and returns numbers. It must not know names, SQL
or the definition of a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import ceil
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.draws import ALONE, CURVES, Draws, Work

# === decisions at each threshold ======================================================================================
# A threshold decides yes on every document with as much confidence or more, so documents of one confidence move
# together. Place 0 of a curve decides nothing; place k decides yes down to the k-th highest confidence.

RELEVANT, NONRELEVANT, OPTIONAL = range(3)
"""The kinds of documents."""

CELLS = ("a", "b", "c", "d", "x", "y")
"""The cells of a contingency table, in the order of all arrays here (Lewis and Tong 1992, figure 1)."""

DECIDED_YES, DECIDED_NO = (0, 1, 4), (2, 3, 5)
"""The places of the cells of documents that were decided yes, and no."""

GRID = 400
"""For a system with more thresholds than this, resamples are computed at about this many places."""


class Thresholds(Struct, frozen=True, eq=False, dict=True):
    """The documents of a system by confidence.

    `at` has the distinct confidences from the highest to the lowest, of shape (thresholds,). `counts` has the number of
    documents with each, by kind and by the system's own decision (no, yes), of shape (thresholds, 3, 2).
    """

    at: Floats
    counts: Integers

    @classmethod
    def of(cls, confidence: Floats, kind: NDArray[np.int8], yes: Booleans) -> Thresholds:
        """Counts the documents of a system; all arrays have the shape (documents,). Raises ValueError if there are no
        documents, and if a confidence is NaN.
        """
        if not confidence.size or np.isnan(confidence).any():
            raise ValueError("thresholds need documents that each have a confidence")
        order = np.argsort(-confidence, kind="stable")
        ordered = confidence[order]
        begins = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        place = np.cumsum(begins) - 1
        cell = (place * 3 + kind[order]) * 2 + yes[order]
        thresholds = int(place[-1]) + 1
        return cls(ordered[begins], np.bincount(cell, minlength=6 * thresholds).reshape(thresholds, 3, 2))

    @classmethod
    def of_decisions(cls, kind: NDArray[np.int8], yes: Booleans) -> Thresholds:
        """The thresholds of a system without confidences: its decisions serve as confidences."""
        return cls.of(yes.astype(np.float64), kind, yes)

    @property
    def documents(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def of_kinds(self) -> Integers:
        """How many documents of each kind have each confidence, of shape (3, thresholds)."""
        return np.ascontiguousarray(self.counts.sum(axis=2).T)

    @cached_property
    def decided(self) -> Integers:
        """The number of documents of each kind that each place decides yes on, of shape (3, places)."""
        return np.pad(np.cumsum(self.of_kinds, axis=1), ((0, 0), (1, 0)))

    @cached_property
    def cells(self) -> Integers:
        """The contingency table at each place, of shape (6, places)."""
        return contingency(self.decided, self.of_kinds.sum(axis=1)[:, None])

    @cached_property
    def own(self) -> Integers:
        """The contingency table of the system's own decisions, of shape (6,)."""
        by_kind = self.counts.sum(axis=0)
        return contingency(by_kind[:, 1], by_kind.sum(axis=1))

    @cached_property
    def contradicting(self) -> int:
        """The smallest number of the system's decisions that would have to change to agree with a threshold."""
        said = self.counts.sum(axis=1)
        no_above = np.concatenate(([0], np.cumsum(said[:, 0])))
        yes_below = said[:, 1].sum() - np.concatenate(([0], np.cumsum(said[:, 1])))
        return int((no_above + yes_below).min())

    def grid(self, *with_places: int) -> Places:
        """The places at which resamples are computed: all places if they are few. Otherwise they are dense at both
        ends, where one document matters most, and evenly spaced in documents in between.
        """
        places = self.at.size + 1
        if places <= GRID:
            return np.arange(places)
        documents = self.documents
        near = np.geomspace(1, documents, GRID // 4)
        wanted = np.concatenate((near, documents - near, np.linspace(0, documents, GRID // 2)))
        found = np.searchsorted(self.decided.sum(axis=0), wanted)
        return np.unique(np.concatenate((np.minimum(found, places - 1), [0, places - 1], with_places))).astype(np.intp)

    def between(self, grid: Places) -> Integers:
        """The number of documents between the places of a grid, of shape (places of the grid − 1, 3, 2)."""
        return np.asarray(np.add.reduceat(self.counts, grid[:-1], axis=0))


def contingency(yes: Integers, all_of: Integers) -> Integers:
    """The six cells, the first axis of what is returned, for the documents of each kind that were decided yes."""
    no = all_of - yes
    return np.stack((yes[RELEVANT], yes[NONRELEVANT], no[RELEVANT], no[NONRELEVANT], yes[OPTIONAL], no[OPTIONAL]))


# === measures of contingency tables ===================================================================================
# A measure in the form that curves need: its sums over the cells of contingency tables, its value, and intervals of a
# given width around it.

SPARSE = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 3, 5), (7, 1, 4), (11, 13, 2))
"""Unrelated counts for three cells. A measure with the same value for all of them is constant."""


class CurveMeasure(Struct, frozen=True, eq=False):
    """A measure of contingency tables.

    `forms`, of shape (sums, 6), has the coefficients of the cells in each sum that the value is computed from.
    `of_sums` takes sums of shape (sums, …) and returns values of the remaining shape, NaN where undefined.

    A `share` is a ratio of two sums in which each document counts in the numerator with all that it has in the
    denominator, or not at all: recall, precision, F, accuracy. `within` is where its values lie.
    """

    forms: Floats
    of_sums: Callable[[Floats], Floats]
    share: bool = False
    lower_is_better: bool = False
    within: tuple[float, float] | None = None

    def sums(self, cells: Floats) -> Floats:
        """The sums for cells of shape (6, …)."""
        return np.tensordot(self.forms, cells, axes=1)

    def values(self, cells: Floats) -> Floats:
        """The values for cells of shape (6, …)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.of_sums(self.sums(cells))

    def is_constant(self, cells: Sequence[int]) -> bool:
        """Whether the value is the same for all tables in which only these cells have documents."""
        tables = np.zeros((len(CELLS), len(SPARSE)))
        tables[list(cells)] = np.array(SPARSE, dtype=np.float64).T
        known = self.values(tables)
        known = known[~np.isnan(known)]
        return bool(known.size) and float(np.ptp(known)) <= 1e-12

    def trials(self, cells: Floats) -> Floats:
        """The denominator of a share divided by the weight of one trial, so that the variance of the share is v(1 − v)
        / trials (the delta method). If all documents have equal weights, a document is one trial.
        """
        under = self.forms[1]
        hit = np.where(self.forms[0] != 0, under, 0.0)
        worth = [_worth(side, cells) for side in (hit, under - hit)]
        value = self.values(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.tensordot(under, cells, axes=1) / (worth[0] * (1 - value) + worth[1] * value)


def _worth(weights: Floats, cells: Floats) -> Floats:
    """The mean weight of documents, weighted by these weights; the largest weight if there are no documents."""
    total = np.tensordot(weights, cells, axes=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, np.tensordot(weights**2, cells, axes=1) / total, weights.max())


def score_interval(value: Floats, trials: Floats, reach: float, steps: float = 0.0) -> tuple[Floats, Floats]:
    """Wilson's (1927) interval: the lowest and the highest share for which the value, moved by `steps` trials, is
    within `reach` standard errors of that share. A step of half a trial is the continuity correction (Newcombe 1998).
    """
    extra = reach**2 / trials

    def end(of: Floats, side: float) -> Floats:
        half = np.sqrt(of * (1 - of) * extra + (extra / 2) ** 2)
        return np.asarray(((of + extra / 2 + side * half) / (1 + extra)).clip(0.0, 1.0))

    step = steps / trials
    return end((value - step).clip(0.0, 1.0), -1.0), end((value + step).clip(0.0, 1.0), 1.0)


# === area under precision and recall ==================================================================================
# Between two thresholds, relevant and nonrelevant documents are added in a constant proportion. So precision is not a
# straight line there, and linear interpolation would overestimate the area (Davis and Goadrich 2006).


def area(relevant: Integers | Floats, nonrelevant: Integers | Floats) -> Floats:
    """The area from the numbers of relevant and of nonrelevant documents that are decided yes at each place. Places are
    on the last axis and go from no document to all documents. The result is NaN if no document is relevant.

    Let A relevant documents among B be decided yes at one place, and let t more relevant documents, with g documents
    for each, follow up to the next place. Then precision is (A + u) / (B + g·u), whose integral over u from 0 to t is
    t/g + (A − B/g)/g · log(1 + g·t/B).
    """
    relevant, nonrelevant = np.asarray(relevant, np.float64), np.asarray(nonrelevant, np.float64)
    found, more = relevant[..., :-1], np.diff(relevant)
    decided = found + nonrelevant[..., :-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        grade = 1 + np.diff(nonrelevant) / more
        bend = np.where(decided > 0, (found - decided / grade) / grade * np.log1p(grade * more / decided), 0.0)
        total = np.where(more > 0, more / grade + bend, 0.0).sum(axis=-1)
        return np.asarray(total / relevant[..., -1])


# === resamples of contingency tables ==================================================================================
# Documents are counted by cells of equal confidence, kind and decision. They are drawn independently, so the numbers
# drawn from the cells are multinomial, and the cost depends on the number of cells and not on the number of documents.

CHUNK = 64
"""The number of resamples in a chunk. Changing it changes the results for a seed."""


class RedrawnTables(Struct, frozen=True, eq=False):
    """The contingency tables of some resamples at the places of a grid, of shape (6, resamples, places), and of the
    system's own decisions, of shape (6, resamples).
    """

    cells: Integers
    own: Integers


def redraw_tables(thresholds: Thresholds, grid: Places, draws: Draws, work: Work) -> Iterator[RedrawnTables]:
    """The resamples, in chunks."""
    between = thresholds.between(grid)
    there = np.flatnonzero(between)
    documents = thresholds.documents
    shares: Floats = between.reshape(-1)[there] / documents
    for chunk, used in draws.chunks(CHUNK):
        counts = np.zeros((CHUNK, between.size), dtype=np.int64)
        counts[:, there] = draws.generator(chunk, CURVES).multinomial(documents, shares, size=CHUNK)
        by_kind = counts[:used].reshape(used, *between.shape)
        decided = np.pad(np.cumsum(by_kind.sum(axis=3), axis=1), ((0, 0), (1, 0), (0, 0)))
        everything = decided[:, -1, :]
        own = by_kind[..., 1].sum(axis=1)
        yield RedrawnTables(
            contingency(np.moveaxis(decided, 2, 0), everything.T[:, :, None]),
            contingency(own.T, everything.T),
        )
        work.progress(min((chunk + 1) * CHUNK, draws.shuffles) / draws.shuffles)


# === bands of curves ==================================================================================================
# By the bootstrap over documents. A band extends a number of standard errors, its reach, to either side: the share `1 −
# level` of the resampled curves stays inside it at every threshold, and the reach is never smaller than for a single
# threshold. So the band also holds at a threshold that was chosen because its value is the best.
#
# For a share (recall, precision, F) the band is Wilson's interval with this reach, widened by one document to either
# side, so it is informative even if every document that counts is a hit, as at the highest thresholds of most systems.
# For any other measure it is the value plus and minus this number of standard deviations over resamples; there is no
# band where these are unreliable, because hardly any document, or nearly every one, is decided yes.

ONE = 1.0
"""The number of trials by which the band of a share is widened to either side. A threshold is placed at a document, and
the sample is furthest from the truth just before or after one. For a fixed threshold half a trial would suffice
(Newcombe 1998).
"""

LEAST = 10
"""With fewer documents decided yes, or decided no, a measure that is not a share has no band, because its standard
deviation over resamples is unreliable there (benchmarks/curves.py).
"""

NEARLY = 1e-12
"""Values that differ by less than this are equal up to rounding."""

CountedKinds = tuple[Booleans, Booleans]
"""The kinds of documents that count as relevant for areas, and those that count as nonrelevant; each of shape (kinds,).
"""

WITHOUT_OPTIONAL: CountedKinds = (np.array([True, False, False]), np.array([False, True, False]))


class Band(Struct, frozen=True, eq=False):
    """A measure at each place with its simultaneous limits, all of shape (places,). NaN marks an undefined value, or a
    place without limits. `reach` is the number of standard errors that the band extends to either side.
    """

    value: Floats
    low: Floats
    high: Floats
    reach: float


class Known(Struct, frozen=True):
    """A number and its interval; limits are NaN if there is none."""

    value: float
    low: float
    high: float


class Best(Struct, frozen=True):
    """The place where the chosen measure is best, with an interval of places that contains the best one in the share `1
    − level` of the resamples (`first` decides yes on fewer documents than `last`). The other fields are the value
    there, and its gain over the system's own decisions. The gain has no limits if the system's own decisions are those
    of this place.
    """

    place: int
    first: int
    last: int
    value: Known
    lost: Known


class Curves(Struct, frozen=True, eq=False):
    """The results for the curves of one system.

    `bands` and `own`, the values of the system's own decisions, are in the order of the measures. `best` is None if the
    chosen measure is undefined, or has the same value, at every threshold. `area` is the area under precision against
    recall, None if there is no relevant document.
    """

    bands: tuple[Band, ...]
    own: tuple[Known, ...]
    best: Best | None
    area: Known | None


def curves(
    thresholds: Thresholds,
    measures: Sequence[CurveMeasure],
    chosen: int,
    draws: Draws,
    level: float,
    work: Work = ALONE,
    sides: CountedKinds = WITHOUT_OPTIONAL,
) -> Curves:
    """The curves of a system with bands at `level`. The best threshold is that of the measure with the index `chosen`.
    `sides` says how optional documents count for the area.
    """
    cells = thresholds.cells.astype(np.float64)
    values = [measure.values(cells) for measure in measures]
    best = _best_place(values[chosen], measures[chosen])
    grid = thresholds.grid(*(() if best is None else (best,)))
    at_places, own, areas = _resample_curves(thresholds, measures, grid, draws, work, sides)
    own_cells = thresholds.own.astype(np.float64)
    banded, own_banded = _enough(thresholds.cells), _enough(thresholds.own[:, None])
    bands, owned = [], []
    for measure, value, resampled, resampled_own in zip(measures, values, at_places, own, strict=True):
        everywhere = np.ones_like(banded) if measure.share else banded
        band = _band(measure, value, cells, grid, resampled, level, everywhere)
        if not measure.share:
            band = _only_where(_also_without(band, thresholds, measure), banded)
        bands.append(_known_at_the_ends(band, measure))
        own_value = np.atleast_1d(measure.values(own_cells))
        one = np.zeros(1, dtype=np.intp)
        alone = _band(measure, own_value, own_cells[:, None], one, _only(resampled_own), level, own_banded, single=True)
        owned.append(_value_at(alone if measure.share else _only_where(alone, own_banded), 0))
    chosen_best = None
    if best is not None:
        of_chosen = (bands[chosen], grid, at_places[chosen].values, own[chosen].values, owned[chosen].value)
        chosen_best = _best(measures[chosen], best, *of_chosen, level)
    return Curves(tuple(bands), tuple(owned), chosen_best, _area(thresholds, sides, areas, level))


def _enough(cells: Integers) -> Booleans:
    """The places where enough documents are decided yes, and enough decided no, for a standard deviation. `cells` has
    the shape (6, places).
    """
    a, b, c, d, x, y = cells
    return np.asarray((a + b + x >= LEAST) & (c + d + y >= LEAST))


# --- resamples --------------------------------------------------------------------------------------------------------


class ResampledCurve(Struct, frozen=True, eq=False):
    """The values of a measure in each resample, of shape (resamples, places of the grid), and for a share also its
    denominators there.
    """

    values: Floats
    under: Floats | None


def _only(own: ResampledCurve) -> ResampledCurve:
    return ResampledCurve(own.values[:, None], None if own.under is None else own.under[:, None])


def _resample_curves(
    thresholds: Thresholds,
    measures: Sequence[CurveMeasure],
    grid: Places,
    draws: Draws,
    work: Work,
    sides: CountedKinds,
) -> tuple[list[ResampledCurve], list[ResampledCurve], Floats]:
    """The resampled values of each measure at the grid, those of the system's own decisions, and the resampled
    areas.
    """
    at_grid: list[list[Floats]] = [[] for _ in measures]
    below: list[list[Floats]] = [[] for _ in measures]
    at_own: list[list[Floats]] = [[] for _ in measures]
    below_own: list[list[Floats]] = [[] for _ in measures]
    areas = []
    for part in redraw_tables(thresholds, grid, draws, work):
        decided = part.cells[[CELLS.index(cell) for cell in "abx"]]
        areas.append(area(*(decided[side].sum(axis=0) for side in sides)))
        cells, own = part.cells.astype(np.float64), part.own.astype(np.float64)
        for place, measure in enumerate(measures):
            at_grid[place].append(measure.values(cells))
            at_own[place].append(measure.values(own))
            if measure.share:
                below[place].append(measure.sums(cells)[1])
                below_own[place].append(measure.sums(own)[1])

    def joined(values: list[list[Floats]], under: list[list[Floats]]) -> list[ResampledCurve]:
        return [
            ResampledCurve(np.concatenate(of_values), np.concatenate(of_under) if of_under else None)
            for of_values, of_under in zip(values, under, strict=True)
        ]

    return joined(at_grid, below), joined(at_own, below_own), np.concatenate(areas)


def _band(
    measure: CurveMeasure,
    value: Floats,
    cells: Floats,
    grid: Places,
    resampled: ResampledCurve,
    level: float,
    banded: Booleans,
    single: bool = False,
) -> Band:
    """The band around values at all places, from resamples at the places of a grid. With `single` there is only one
    place. The reach is determined at the places that are `banded`.
    """
    away = np.abs(resampled.values - value[grid])
    if resampled.under is not None:
        trials = measure.trials(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = measure.sums(cells)[1][grid] / trials[grid]
            away /= np.sqrt((value * (1 - value))[grid] * worth / resampled.under)
        reach = _reach(away, level, single)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = score_interval(value, trials, reach, 0.0 if single else ONE)
        return Band(value, low, high, reach)
    error = _deviation(resampled.values)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _reach(np.where(banded[grid], away / error, 0.0), level, single)
    everywhere = error if grid.size == value.size else np.interp(np.arange(value.size), grid, error)
    low, high = value - reach * everywhere, value + reach * everywhere
    if measure.within is not None:
        low, high = low.clip(*measure.within), high.clip(*measure.within)
    return Band(value, low, high, reach)


def _also_without(band: Band, thresholds: Thresholds, measure: CurveMeasure) -> Band:
    """Widens the band so that it also holds if the document that sets a threshold is left out.

    If a single document has a confidence, the threshold is where it is because of that document, so this document
    carries no information on how many are above. The other documents are a sample (David and Nagaraja 2003, section
    2.5).
    """
    alone = thresholds.of_kinds.sum(axis=0) == 1
    least, most = measure.within or (np.nan, np.nan)
    unknown = np.isnan(band.value)
    low, high = band.low.copy(), band.high.copy()
    low[1:] = np.where(alone, np.fmin(low[1:], np.where(unknown, least, band.low)[:-1]), low[1:])
    high[1:] = np.where(alone, np.fmax(high[1:], np.where(unknown, most, band.high)[:-1]), high[1:])
    return Band(band.value, np.where(unknown, np.nan, low), np.where(unknown, np.nan, high), band.reach)


def _only_where(band: Band, banded: Booleans) -> Band:
    low, high = (np.where(banded, limits, np.nan) for limits in (band.low, band.high))
    return Band(band.value, low, high, band.reach)


def _known_at_the_ends(band: Band, measure: CurveMeasure) -> Band:
    """Sets the width of the band to 0 where no document, or every document, is decided yes and the value follows from
    that alone: recall is 0 or 1 there.
    """
    low, high = band.low.copy(), band.high.copy()
    for place, cells in ((0, DECIDED_NO), (-1, DECIDED_YES)):
        if not np.isnan(band.value[place]) and measure.is_constant(cells):
            low[place] = high[place] = band.value[place]
    return Band(band.value, low, high, band.reach)


def _deviation(values: Floats) -> Floats:
    """The standard deviation over the resamples that have a value."""
    known = ~np.isnan(values)
    many = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / many
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        return np.asarray(np.sqrt(squares / (many - 1)))


def _reach(away: Floats, level: float, single: bool = False) -> float:
    """The number of standard errors that at most the share `level` of the resampled curves exceeds anywhere. A place
    without a value or an error in a resample does not count.
    """
    alone = NormalDist().inv_cdf(1 - level / 2)
    if single:
        return alone
    furthest = np.sort(np.nan_to_num(away, nan=0.0, posinf=0.0).max(axis=1))
    within = min(ceil((1 - level) * (furthest.size + 1)), furthest.size)
    return max(alone, float(furthest[within - 1]))


def _value_at(band: Band, place: int) -> Known:
    return Known(float(band.value[place]), float(band.low[place]), float(band.high[place]))


# --- the best threshold, and the area ---------------------------------------------------------------------------------


def is_flat(values: Floats) -> bool:
    """Whether there are several values and all are equal."""
    known = values[~np.isnan(values)]
    return known.size > 1 and float(np.ptp(known)) <= NEARLY * max(1.0, abs(float(known[0])))


def _best_place(values: Floats, measure: CurveMeasure) -> int | None:
    """The place where a measure is best; of equal places the one with the fewest documents decided yes. None if the
    measure is undefined everywhere, and if no place is better than another.
    """
    toward = -values if measure.lower_is_better else values
    known = toward[~np.isnan(toward)]
    if not known.size or is_flat(known):
        return None
    most = known.max()
    return int(np.flatnonzero(toward >= most - NEARLY * max(1.0, abs(most)))[0])


def _best(
    measure: CurveMeasure,
    best: int,
    band: Band,
    grid: Places,
    values: Floats,
    own: Floats,
    own_value: float,
    level: float,
) -> Best:
    sign = -1.0 if measure.lower_is_better else 1.0
    toward = np.where(np.isnan(values), -np.inf, sign * values)
    places = np.sort(grid[toward.argmax(axis=1)])
    tail = ceil(level / 2 * places.size)
    first, last = places[tail - 1], places[-tail]
    gain = sign * (band.value[grid] - own_value)
    gains = sign * (values - own[:, None])
    error = _deviation(gains)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = _reach(np.abs(gains - gain) / error, level)
    here = int(np.searchsorted(grid, best))
    # Own decisions equal to those of the place differ from it in no resample. That does not show that they are best.
    half = reach * float(error[here]) if error[here] > NEARLY else np.nan
    lost = Known(float(gain[here]), float(gain[here]) - half, float(gain[here]) + half)
    return Best(best, min(int(first), best), max(int(last), best), _value_at(band, best), lost)


def _area(thresholds: Thresholds, sides: CountedKinds, resampled: Floats, level: float) -> Known | None:
    """The area with an interval from the standard deviation of its logit over resamples (Boyd, Eng and Page 2013 use
    logits because areas lie between 0 and 1).
    """
    value = float(area(*(thresholds.decided[side].sum(axis=0) for side in sides)))
    if np.isnan(value):
        return None
    if not 0 < value < 1:
        return Known(value, np.nan, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = np.log(resampled / (1 - resampled))
    logits = logits[np.isfinite(logits)]
    if logits.size < 2:
        return Known(value, np.nan, np.nan)
    half = NormalDist().inv_cdf(1 - level / 2) * float(np.std(logits, ddof=1))
    middle = np.log(value / (1 - value))
    low, high = (float(1 / (1 + np.exp(-(middle + side)))) for side in (-half, half))
    return Known(value, low, high)
