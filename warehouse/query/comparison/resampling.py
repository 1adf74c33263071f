"""How far each system's own value might be from what was measured: bootstrap intervals for pictures. It compares
nobody.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from grammar.errors import QueryError
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.comparison.observations import Floats, Observations, observe
from warehouse.query.comparison.procedures import RESAMPLES
from warehouse.query.comparison.sums import FunctionSums, RatioSums, sums
from warehouse.query.engine import DuckDBEngine
from warehouse.significance import bootstrap
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Many


@dataclass(frozen=True, slots=True)
class Spread:
    """The 95% interval of each system's value, by label and name, and on how many documents they rest."""

    documents: int
    intervals: dict[tuple[str, str], tuple[float, float]]


def spread(how: p.Testing, entry: p.Entry, engine: DuckDBEngine) -> Spread:
    """The intervals of the systems with documents of their own, over the same resamples of a test set.

    Figures that were only printed have none, nor has a measure of a ranking.
    """
    systems = tuple(contender for contender in entry.contenders if isinstance(contender, p.StoredSystem))
    statistics = tuple(
        statistic for statistic in entry.statistics if statistic.ratio is not None or statistic.expression is not None
    )
    spread_of_all = Spread(0, {})
    if entry.task == "published" or not systems or not statistics:
        return spread_of_all
    draws = Draws(RESAMPLES, how.seed, zlib.crc32(entry.test_set.own_name.encode()))
    for seen, read in _observed(how, replace(entry, contenders=systems, statistics=statistics), engine):
        for statistic in read:
            limits = _intervals(seen, statistic, draws)
            for contender, (low, high) in zip(seen.contenders, limits.tolist(), strict=True):
                if low == low and high == high:
                    spread_of_all.intervals[statistic.label, contender.name] = (low, high)
        spread_of_all = replace(spread_of_all, documents=max(spread_of_all.documents, seen.documents))
    return spread_of_all


def _observed(
    how: p.Testing, entry: p.Entry, engine: DuckDBEngine
) -> Iterator[tuple[Observations, tuple[Statistic, ...]]]:
    """The observations with the statistics to read from them: all systems together, or each apart where they do not
    have the same documents.
    """
    parts = [(statistic,) for statistic in entry.statistics] if entry.task == "values" else [entry.statistics]
    for statistics in parts:
        together = replace(entry, statistics=statistics)
        try:
            yield observe(replace(how, missing="error"), together, engine), statistics
        except QueryError:
            for system in entry.contenders:
                try:
                    yield observe(how, replace(together, contenders=(system,)), engine), statistics
                except QueryError:
                    # No row meets the condition, so there is nothing to resample.
                    continue


def _intervals(seen: Observations, statistic: Statistic, draws: Draws) -> Floats:
    """The interval of each system, of shape (systems, 2); NaN where a value is undefined."""
    limits = np.full((len(seen.contenders), 2), np.nan)
    summed = sums(seen, statistic)
    defined = [place for place in range(len(seen.contenders)) if summed.exact_value(place) is not None]
    if not defined:
        return limits
    if isinstance(summed, RatioSums):
        # A system alone stands beside itself: what is resampled are two or more.
        rows = defined if len(defined) > 1 else defined * 2
        many = Many(summed.numerators[rows], summed.denominators[rows])
        limits[defined] = bootstrap.value_intervals(many, float(summed.factor), draws)[: len(defined)]
        return limits
    limits[defined] = _of_function(summed, seen.units, defined, draws)
    return limits


def _of_function(summed: FunctionSums, units: int, defined: list[int], draws: Draws) -> Floats:
    """The same for a function of sums, without the resamples in which it is undefined."""
    values = [
        np.stack([summed.resample(place, counts) for place in defined]) for counts in bootstrap.resampled(units, draws)
    ]
    return np.asarray(np.nanquantile(np.concatenate(values, axis=1), (0.025, 0.975), axis=1).T)
