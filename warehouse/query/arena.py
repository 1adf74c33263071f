"""What is tested: the pairs of contenders of each statistic on each test set, with their numbers.

Shared by `compare` and `group`, and by the procedures that test them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from grammar.errors import QueryError
from warehouse.engines.duckdb import DuckDBEngine
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.labels import some
from warehouse.query.observe import Observations, Sums, observe
from warehouse.significance.paired import Many, Paired


@dataclass(frozen=True, slots=True)
class Arena:
    """One statistic on one test set: the observations, their sums, and the pairs of contenders to compare, by place."""

    how: p.Testing
    field: p.Field
    statistic: Statistic
    seen: Observations
    sums: Sums
    pairs: tuple[tuple[int, int], ...]

    @property
    def stream(self) -> int:
        """What the coins of this test set depend on beside the seed: its name, not the order of loading."""
        return zlib.crc32(self.field.test_set.name.encode())

    def paired(self, a: int, b: int) -> Paired:
        """The sums of two contenders as tests take them."""
        over, under = self.sums.numerators, self.sums.denominators
        return Paired(over[a], under[a], over[b], under[b], self.sums.slack)

    def unit_values(self, place: int) -> NDArray[np.float64]:
        """A contender's value on each exchange unit, but for the factor; NaN where it has none."""
        over, under = self.sums.numerators[place], self.sums.denominators[place]
        without = np.full(over.shape, np.nan)
        return np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)

    @property
    def many(self) -> Many:
        return Many(self.sums.numerators, self.sums.denominators, self.sums.slack)


def arenas(
    how: p.Testing, field: p.Field, against: p.Contender | None, engine: DuckDBEngine
) -> Iterator[tuple[Arena, ...]]:
    """The arenas of a field, those together that have the same observations and so can share shuffles.

    Raises QueryError for a document that not every system has, and for a statistic that is undefined.
    """
    contenders = field.contenders
    if against is not None and against not in contenders:
        contenders = (*contenders, against)
    field = replace(field, contenders=contenders)
    pairs = _pairs(against, contenders)
    parts = [replace(field, statistics=(each,)) for each in field.statistics] if field.task == "values" else [field]
    for part in parts:
        seen = observe(how, part, engine)
        batch = []
        for statistic in part.statistics:
            sums = seen.sums(statistic)
            _check_defined(field, statistic, sums)
            batch.append(Arena(how, field, statistic, seen, sums, pairs))
        yield tuple(batch)


def _pairs(against: p.Contender | None, contenders: Sequence[p.Contender]) -> tuple[tuple[int, int], ...]:
    """Every pair once, or each contender against the one named."""
    places = range(len(contenders))
    if against is None:
        return tuple(combinations(places, 2))
    last = contenders.index(against)
    return tuple((place, last) for place in places if place != last)


def _check_defined(field: p.Field, statistic: Statistic, sums: Sums) -> None:
    without = [c.name for c, defined in zip(field.contenders, sums.defined, strict=True) if not defined]
    if without:
        raise QueryError(
            f"{statistic.label} is undefined on {field.test_set.name} for {some(without)}",
            hints=(f"leave them out: except {', '.join(without[:3])}",) if len(field.contenders) > 2 else (),
        )
