"""What is tested: the pairs of contenders of each statistic on each test set, with their numbers.

Shared by `compare` and `group`, and by the procedures that test them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from grammar.errors import QueryError
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.comparison.observations import Floats, Observations, observe
from warehouse.query.comparison.sums import RatioSums, Sums, sums
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import some
from warehouse.query.standardizing import values_of_runs
from warehouse.significance.paired import Many, Paired


@dataclass(frozen=True)
class Comparison:
    """One statistic on one test set: the observations, their sums, and the pairs of contenders to compare, by place."""

    how: p.Testing
    entry: p.Entry
    statistic: Statistic
    seen: Observations
    sums: Sums
    pairs: tuple[tuple[int, int], ...]
    runs: tuple[tuple[float, ...], ...] = ()
    """The value of each run of each contender, where whole runs change sides."""

    @property
    def stream(self) -> int:
        """What the coins of this test set depend on beside the seed: its name, not the order of loading."""
        return zlib.crc32(self.entry.test_set.own_name.encode())

    def asked(self, pair: tuple[int, int]) -> tuple[int, int]:
        """The pair as tests take it: one-sided they ask whether the first is higher, so that where lower is better the
        two change places.
        """
        turned = self.how.sides == "one-sided" and self.statistic.measure.lower_is_better
        return (pair[1], pair[0]) if turned else pair

    @property
    def ratios(self) -> RatioSums:
        """The sums of a statistic that is a ratio. Raises QueryError for one that is not."""
        if isinstance(self.sums, RatioSums):
            return self.sums
        raise QueryError(
            f"{self.statistic.label} is no ratio of sums, so only shuffles can test it",
            hints=("say test randomization, without exact and without adjust maxt",),
        )

    def paired(self, a: int, b: int) -> Paired:
        """The sums of two contenders as tests take them."""
        over, under = self.ratios.numerators, self.ratios.denominators
        return Paired(over[a], under[a], over[b], under[b], self.ratios.slack)

    @property
    def many(self) -> Many:
        """The sums of all contenders as tests take them."""
        return Many(self.ratios.numerators, self.ratios.denominators, self.ratios.slack)

    @cached_property
    def values(self) -> list[float | None]:
        """The value of each contender, rounded once."""
        return [None if found is None else float(found) for found in self.exact_values]

    def difference(self, a: int, b: int) -> float | None:
        """The value of one contender less that of another, rounded once."""
        first, second = self.exact_values[a], self.exact_values[b]
        if first is None or second is None:
            return None
        # The quotient of two whole numbers is rounded once, and needs no lowest terms as a fraction would.
        over = first.numerator * second.denominator - second.numerator * first.denominator
        return over / (first.denominator * second.denominator)

    def exact_difference(self, a: int, b: int) -> Fraction:
        """The value of one contender less that of another; both are defined."""
        return (self.exact_values[a] or Fraction(0)) - (self.exact_values[b] or Fraction(0))

    @cached_property
    def exact_values(self) -> list[Fraction | None]:
        """The value of each contender."""
        return [self.sums.exact_value(place) for place in range(len(self.entry.contenders))]

    @cached_property
    def unit_values(self) -> list[Floats]:
        """The values of each contender on each exchange unit, but for a factor; NaN where there is none."""
        return [self.sums.unit_values(place) for place in range(len(self.entry.contenders))]


def comparisons(
    how: p.Testing, entry: p.Entry, against: p.System | None, engine: DuckDBEngine, ranked: bool = False
) -> Iterator[tuple[Comparison, ...]]:
    """The comparisons of a entry, those together that have the same observations and so can share shuffles.

    `ranked` puts the better of each pair first. Raises QueryError for a document that not every system has, and for a
    statistic that is undefined.
    """
    contenders = entry.contenders
    if against is not None and against not in contenders:
        contenders = (*contenders, against)
    entry = replace(entry, contenders=contenders)
    pairs = _pairs(against, contenders)
    parts = [replace(entry, statistics=(each,)) for each in entry.statistics] if entry.task == "values" else [entry]
    for part in parts:
        by_document = how.exchange.name == "system"
        seen = observe(replace(how, exchange=p.Dimension("document")) if by_document else how, part, engine)
        batch = []
        for statistic in part.statistics:
            try:
                comparison = Comparison(
                    how, entry, statistic, seen, sums(seen, statistic), pairs, _runs(statistic, how, entry, engine)
                )
            except OverflowError:
                raise QueryError(f"{statistic.label} has too many digits for so many counts") from None
            _check_defined(comparison)
            batch.append(replace(comparison, pairs=_ranked(comparison)) if ranked else comparison)
        yield tuple(batch)


def _pairs(against: p.System | None, contenders: Sequence[p.System]) -> tuple[tuple[int, int], ...]:
    """Every pair once, or each contender against the one named."""
    places = range(len(contenders))
    if against is None:
        return tuple(combinations(places, 2))
    last = contenders.index(against)
    return tuple((place, last) for place in places if place != last)


def _ranked(comparison: Comparison) -> tuple[tuple[int, int], ...]:
    """The pairs of an comparison, the better system of each first."""
    sign = -1 if comparison.statistic.measure.lower_is_better else 1
    return tuple((b, a) if sign * comparison.exact_difference(a, b) < 0 else (a, b) for a, b in comparison.pairs)


def _runs(statistic: Statistic, how: p.Testing, entry: p.Entry, engine: DuckDBEngine) -> tuple[tuple[float, ...], ...]:
    """The values of the runs of each contender, where these are what is exchanged."""
    if how.exchange.name != "system":
        return ()
    found = values_of_runs(replace(entry, statistics=(statistic,)), how.where, engine)
    for contender, values in zip(entry.contenders, found, strict=True):
        if not values or None in values:
            what = "has no replicates" if not values else f"has a replicate whose {statistic.label} is undefined"
            raise QueryError(f"{contender.name} {what} on {entry.test_set.name}")
    return tuple(tuple(value for value in values if value is not None) for values in found)


def _check_defined(comparison: Comparison) -> None:
    contenders = comparison.entry.contenders
    without = [c.name for place, c in enumerate(contenders) if comparison.exact_values[place] is None]
    if without:
        raise QueryError(
            f"{comparison.statistic.label} is undefined on {comparison.entry.test_set.name} for {some(without)}",
            hints=(f"leave them out: except {', '.join(without[:3])}",) if len(contenders) > 2 else (),
        )
