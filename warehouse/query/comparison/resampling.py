"""How far each contender's own value might be from what was measured: bootstrap intervals for pictures. It compares
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
from warehouse.significance.paired import Many


@dataclass(frozen=True, slots=True)
class Spread:
    """The 95% interval of each contender's value, by label and name, and on how many documents they rest."""

    documents: int
    intervals: dict[tuple[str, str], tuple[float, float]]


def spread(how: p.Testing, entry: p.Entry, engine: DuckDBEngine) -> Spread:
    """The intervals of the contenders with documents of their own, over the same resamples of a test set.

    Figures that were only printed have none, nor has a measure of a ranking.
    """
    systems = tuple(contender for contender in entry.contenders if isinstance(contender, p.StoredSystem))
    statistics = tuple(each for each in entry.statistics if each.ratio is not None or each.expression is not None)
    found = Spread(0, {})
    if entry.task == "published" or not systems or not statistics:
        return found
    stream = zlib.crc32(entry.test_set.own_name.encode())
    for seen, asked in _observed(how, replace(entry, contenders=systems, statistics=statistics), engine):
        for statistic in asked:
            limits = _intervals(seen, statistic, how.seed, stream)
            for contender, (low, high) in zip(seen.contenders, limits.tolist(), strict=True):
                if low == low and high == high:
                    found.intervals[statistic.label, contender.name] = (low, high)
        found = replace(found, documents=max(found.documents, seen.documents))
    return found


def _observed(
    how: p.Testing, entry: p.Entry, engine: DuckDBEngine
) -> Iterator[tuple[Observations, tuple[Statistic, ...]]]:
    """The observations with the statistics to read from them: all systems together, or each apart where they do not
    have the same documents.
    """
    parts = [(each,) for each in entry.statistics] if entry.task == "values" else [entry.statistics]
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


def _intervals(seen: Observations, statistic: Statistic, seed: int, stream: int) -> Floats:
    """The interval of each contender, of shape (contenders, 2); NaN where a value is undefined."""
    found = np.full((len(seen.contenders), 2), np.nan)
    each = sums(seen, statistic)
    defined = [place for place in range(len(seen.contenders)) if each.exact_value(place) is not None]
    if not defined:
        return found
    if isinstance(each, RatioSums):
        # A system alone stands beside itself: what is resampled are two or more.
        rows = defined if len(defined) > 1 else defined * 2
        many = Many(each.numerators[rows], each.denominators[rows])
        limits = bootstrap.value_intervals(many, float(each.factor), RESAMPLES, seed, stream)
        found[defined] = limits[: len(defined)]
        return found
    found[defined] = _of_arithmetic(each, seen.units, defined, seed, stream)
    return found


def _of_arithmetic(each: FunctionSums, units: int, defined: list[int], seed: int, stream: int) -> Floats:
    drawn = [
        np.stack([each.resample(place, counts) for place in defined])
        for counts in bootstrap.resampled(units, None, RESAMPLES, seed, stream)
    ]
    return np.asarray(np.nanquantile(np.concatenate(drawn, axis=1), (0.025, 0.975), axis=1).T)
