"""The bands of curves: measures with limits that hold at all thresholds at once, the best threshold, and areas, by the
bootstrap over documents.

A band extends a number of standard errors, its reach, to either side. The reach is chosen so that the share `1 − level`
of the resampled curves stays inside the band at every threshold, and it is never smaller than for a single threshold.
For a share (recall, precision, F) the band is Wilson's interval with this reach, widened by one document to either
side. So it is informative even if every document that counts is a hit, as at the highest thresholds of most systems.
For any other measure the band is the value plus and minus this number of standard deviations over resamples. There is
no band where these are unreliable, because hardly any document, or nearly every one, is decided yes.

Since the band holds at all thresholds at once, it also holds at a threshold that was chosen because its value is the
best.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from warehouse.significance.curves import precision_recall
from warehouse.significance.curves.measured import CurveMeasure, score_interval
from warehouse.significance.curves.redrawing import drawn
from warehouse.significance.curves.thresholds import CELLS, DECIDED_NO, DECIDED_YES, Thresholds
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats, Integers, Places
from warehouse.significance.work import ALONE, Work

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
    at_places, own, areas = _resampled(thresholds, measures, grid, draws, work, sides)
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
        owned.append(_known(alone if measure.share else _only_where(alone, own_banded), 0))
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


def _resampled(
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
    for part in drawn(thresholds, grid, draws, work):
        decided = part.cells[[CELLS.index(cell) for cell in "abx"]]
        areas.append(precision_recall.area(*(decided[side].sum(axis=0) for side in sides)))
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


def _known(band: Band, place: int) -> Known:
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
    return Best(best, min(int(first), best), max(int(last), best), _known(band, best), lost)


def _area(thresholds: Thresholds, sides: CountedKinds, resampled: Floats, level: float) -> Known | None:
    """The area with an interval from the standard deviation of its logit over resamples (Boyd, Eng and Page 2013 use
    logits because areas lie between 0 and 1).
    """
    value = float(precision_recall.area(*(thresholds.decided[side].sum(axis=0) for side in sides)))
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
