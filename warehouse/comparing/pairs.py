"""What is tested: the pairs of systems of each statistic on each test set, with their numbers.

`compare` and `group` share this module with the procedures that test the pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate, combinations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.arrivals import Came, arrival_queries, came
from evalhouse.warehouse.comparing.observations import (
    Observations,
    observation_queries,
    observe,
    pool,
    read_columns,
)
from evalhouse.warehouse.comparing.sums import Orders, average_of, sums
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.measures.measure import SHARE
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import unit_rows
from evalhouse.warehouse.plans.averages import pooled_statistic
from evalhouse.warehouse.plans.conventions import is_bounded
from evalhouse.warehouse.plans.labels import noun_of, some
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.process import memory
from evalhouse.warehouse.significance.arrays import Floats, Integers
from evalhouse.warehouse.significance.bootstrap.resamples import VERY_MANY_UNITS
from evalhouse.warehouse.significance.correlation import correlations, inflations
from evalhouse.warehouse.significance.shuffles.randomization import draws_by_itself
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import Test
from evalhouse.warehouse.significance.two_systems import Distinct

# === pairs on one test set ============================================================================================

Pair = tuple[int, int]
"""The places of two systems among those of an entry."""

NUMBER = 16
"""Bytes of each number of a row while it is read: in DuckDB, and in numpy."""

PAIR = 550
"""Bytes of a pair in the result."""


class Comparison(Struct, frozen=True, dict=True):
    """One statistic on one test set: the observations, their sums, and the pairs of systems to compare, by place."""

    how: p.Testing
    entry: p.Entry
    statistic: Statistic
    observations: Observations
    sums: Sums | Orders
    pairs: tuple[Pair, ...]
    replicates: tuple[tuple[float, ...], ...] = ()
    """The value of each run of each system, where whole runs change sides."""
    before: int = 0
    """How many shuffles were made before, where a run is gone on with."""
    splits_clusters: bool = False
    """Whether documents of one cluster, which are not independent, are exchanged separately."""
    over: tuple[Comparison, ...] = ()
    """Of an average over test sets, the comparison on each."""
    apart: tuple[Comparison, ...] = ()
    """Of the documents of several test sets together, the comparison on each."""
    came: Came | None = None
    """How its documents came, where it is asked again while they come."""
    of_uneven: bool = False
    """Whether it is part of a comparison that is uneven: the systems left may be alike, but share its digits."""

    @property
    def stream(self) -> int:
        """What the coins of this test set depend on besides the seed: its name, not the order of loading."""
        return self.entry.test_set.stream

    def in_order(self, pair: Pair) -> Pair:
        """The pair as tests take it: one-sided they ask whether the first is higher, so that where lower is better the
        two change places.
        """
        turned = self.how.sides == "one-sided" and self.statistic.measure.lower_is_better
        return (pair[1], pair[0]) if turned else pair

    @property
    def additive(self) -> Sums:
        """The sums of a statistic that is computed from sums. Raises ValueError for one that is not."""
        return self._additive(self.sums)

    @property
    def ratios(self) -> Sums:
        """The sums of a statistic that is a ratio. Raises ValueError for one that is not."""
        return self._ratio(self.sums)

    def _additive(self, sums: Sums | Orders) -> Sums:
        if isinstance(sums, Orders):
            raise ValueError(f"{self.statistic.label} is not computed from sums")
        return sums

    def _ratio(self, sums: Sums | Orders) -> Sums:
        if not sums.is_ratio:
            raise ValueError(f"{self.statistic.label} is not a ratio of sums")
        return self._additive(sums)

    @property
    def factor(self) -> float:
        """What the difference of two systems' sums is multiplied by; 1 for a function of sums."""
        return float(self.sums.factor)

    @cached_property
    def uneven(self) -> bool:
        """Whether the values of one system are so large that others have too few digits beside them."""
        if self.of_uneven or any(part.uneven for part in self.over):
            return True
        return self.sums.is_ratio and self.ratios.uneven

    def sums_of(self, a: int, b: int) -> Sums | Orders:
        """The sums of two systems, in as many digits as the two allow."""
        if not self.uneven:
            return self.sums.only((a, b))
        if self.over:
            return average_of([part.sums_of(a, b) for part in self.over])
        return self.ratios.refined((a, b))

    def ratios_of(self, a: int, b: int) -> Sums:
        """The same of a statistic that is a ratio. Raises ValueError for one that is not."""
        return self._ratio(self.sums_of(a, b))

    def data_of(self, a: int, b: int) -> Sums:
        """The sums of two systems as tests take them, those of a ratio in as many digits as the two allow. Raises
        QueryError where no single exchange unit is known.
        """
        self.check_single()
        return self.additive.data((a, b)) if self.sums.is_function else self.ratios_of(a, b).data()

    @property
    def blocks(self) -> int:
        """The number of blocks where exchange units are so many that neighbouring ones are exchanged together; else
        0.
        """
        if self.statistic.of_numbers and isinstance(self.sums, Sums) and self.sums.units < self.observations.units:
            return self.sums.units
        return 0

    def check_single(self) -> None:
        """Raises QueryError where neighbouring exchange units are taken together, so that no single one is known."""
        if self.blocks:
            units = quantity(self.observations.units, self.entry.units.exchange_noun)
            taken = f"{self.statistic.label} on {self.entry.test_set.name} combines {units}"
            raise QueryError(
                f"{taken} in {self.blocks:,} blocks, so the values of single ones are not known",
                hints=("pearson, rmse, mae and r2 keep them apart",),
            )

    @property
    def of_totals(self) -> bool:
        """Whether the values are totals, which grow with the documents."""
        return self.sums.is_ratio and self.ratios.is_total

    @cached_property
    def within(self) -> tuple[float, float] | None:
        """Between what values of the measure lie, None where that is not known. Imported values by the name of a share
        may be percentages, so that each of them has to be a share.
        """
        measure, parts = self.statistic.measure, self.over or (self,)
        if measure.within is None and measure.named_share and all(part._has_shares for part in parts):
            return SHARE
        return measure.within

    @property
    def _has_shares(self) -> bool:
        """Whether no observation is below 0 or above 1."""
        return not isinstance(self.sums, Orders) and has_shares(self.sums)

    @property
    def many(self) -> Sums:
        """The sums of all systems as tests take them."""
        return self.additive.data()

    @cached_property
    def values(self) -> list[float | None]:
        """The value of each system, rounded once."""
        return [None if exact is None else float(exact) for exact in self.exact_values]

    def difference(self, a: int, b: int) -> float | None:
        """The value of one system less that of another, rounded once."""
        first, second = self.exact_values[a], self.exact_values[b]
        if first is None or second is None:
            return None
        # The quotient of two whole numbers is rounded once, and needs no lowest terms as a fraction would.
        over = first.numerator * second.denominator - second.numerator * first.denominator
        return over / (first.denominator * second.denominator)

    def exact_difference(self, a: int, b: int) -> Fraction:
        """The value of one system less that of another; both are defined."""
        return (self.exact_values[a] or Fraction(0)) - (self.exact_values[b] or Fraction(0))

    @cached_property
    def exact_values(self) -> list[Fraction | None]:
        """The value of each system."""
        if self.over:
            return [
                _mean(of_test_sets) for of_test_sets in zip(*(part.exact_values for part in self.over), strict=True)
            ]
        return [self.sums.exact_value(place) for place in range(len(self.entry.systems))]

    @cached_property
    def inflations(self) -> list[float | None]:
        """By what factor taking the two systems of each pair for independent would make the standard deviation of their
        difference larger; None for what is not a ratio of sums.
        """
        if not self.sums.is_ratio:
            return [None] * len(self.pairs)
        return inflations(self._of_units(self._influences), self.pairs)

    @cached_property
    def correlations(self) -> list[float | None]:
        """The correlation of the values of the two systems of each pair on the exchange units; None where there is
        none.
        """
        return correlations(self._of_units(self._unit_values), self.pairs)

    def _influences(self, system: int) -> Floats:
        """What each exchange unit adds to a system's value, to first order and but for a factor."""
        if self.over:
            return np.concatenate([part.factor * part._influences(system) for part in self.over])
        return self.ratios.influences(system)

    def _unit_values(self, system: int) -> Floats:
        """A system's value on each exchange unit."""
        if self.over:
            return np.concatenate([part.sums.own_values(system) for part in self.over])
        return self.sums.unit_values(system)

    @cached_property
    def differing(self) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        if self.over:
            return [sum(of_pair) for of_pair in zip(*(part.differing for part in self.over), strict=True)]
        return self.sums.differing(self.pairs)

    def _of_units(self, of_system: Callable[[int], Floats]) -> Floats:
        """What each system has on each exchange unit, of shape (systems, units). It is as large as the counts, so it is
        not kept.
        """
        first = of_system(0)
        table = np.empty((len(self.entry.systems), len(first)))
        for place, row in enumerate(table):
            row[:] = of_system(place) if place else first
        return table


def has_shares(sums: Sums) -> bool:
    """Whether no observation of a ratio is below 0 or above 1."""
    if not sums.is_ratio:
        return False
    over = float(sums.factor) * sums.numerators
    return bool(((over >= 0) & (over <= sums.denominators)).all())


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    """The mean of some values, None where one of them is."""
    known = [value for value in values if value is not None]
    return sum(known, Fraction(0)) / len(known) if len(known) == len(values) else None


def only(comparison: Comparison, pairs: Sequence[Pair]) -> tuple[Comparison, tuple[int, ...]]:
    """A comparison with some of its pairs, the systems of these pairs alone, and without the observations, which no
    test looks at; and the places of these systems among all.
    """
    places = tuple(sorted({place for pair in pairs for place in pair}))
    own = {place: number for number, place in enumerate(places)}
    systems = tuple(comparison.entry.systems[place] for place in places)
    restricted = replace(
        comparison,
        entry=replace(comparison.entry, systems=systems),
        observations=replace(
            comparison.observations, systems=systems, counts={}, known={}, values=None, confidences=None
        ),
        sums=comparison.sums.only(places),
        pairs=tuple((own[a], own[b]) for a, b in pairs),
        replicates=tuple(comparison.replicates[place] for place in places) if comparison.replicates else (),
        over=tuple(only(part, pairs)[0] for part in comparison.over),
        apart=(),
        of_uneven=comparison.uneven,
    )
    return restricted, places


def count_of_pairs(entries: Sequence[p.Entry]) -> int:
    """How many pairs a statement compares, over all its measures and test sets."""
    return sum(len(entry.statistics) * _count(entry) for entry in entries)


def _count(entry: p.Entry) -> int:
    """How many pairs the systems of an entry have, all of them with one where it is given."""
    many = len(entry.systems)
    return many * (many - 1) // 2 if entry.against is None else many - 1


def comparison_queries(how: p.Testing, entry: p.Entry, over: bool = False) -> Queries:
    """What brings the comparisons of an entry, which may be averaged with others `over` test sets.

    Raises QueryError where they clearly need more memory than is allowed.
    """
    _refuse_what_cannot_fit(entry, _count(entry))
    if not entry.units.exchanges_runs:
        split = (Query(_split_name(entry), unit_rows.split_clusters(entry)),) if entry.units.may_split_clusters else ()
        return (*observation_queries(how, entry, partial(_in_order, how, over)), *split, *arrival_queries(how, entry))
    from evalhouse.warehouse.comparing.values import Valued

    of_runs = (query for part in entry.observed_apart for query in Valued(part, where=how.where).of_runs().queries())
    return (*observation_queries(how, _by_document(entry)), *of_runs)


def _refuse_what_cannot_fit(entry: p.Entry, pairs: int) -> None:
    """Raises QueryError where the numbers that are read, or the results of the pairs, take more memory than is allowed.

    What else a comparison needs is smaller, and the operating system refuses it if it is too much.
    """
    # A statistic that is read by itself has rows of its own, averages over units one for each unit. Each row also names
    # its system and its document.
    numbers = sum((len(read_columns(part)) + 2) * max(1, len(part.averaged_units)) for part in entry.observed_apart)
    needed = len(entry.systems) * entry.units.documents * numbers * NUMBER + pairs * len(entry.statistics) * PAIR
    if needed <= memory.most():
        return
    fewer = "name fewer systems" if pairs < len(entry.systems) else "name fewer systems, or compare them against one"
    raise QueryError(
        f"{pairs:,} pairs of {len(entry.systems):,} systems with {entry.units.documents:,} "
        f"{plural(entry.units.noun)} on {entry.test_set.name} could take {needed / 1e6:,.0f} MB, "
        f"and {memory.most() / 1e6:,.0f} MB are allowed",
        hints=(fewer, memory.more(needed)),
    )


def _by_document(entry: p.Entry) -> p.Entry:
    """An entry of which whole runs change sides as its documents are observed: they are not put together."""
    return entry.exchange_by(p.Dimension("document"))


def _split_name(entry: p.Entry) -> str:
    return f"split clusters of {entry.test_set.name!r}"


def _in_order(how: p.Testing, over: bool, part: p.Entry, kinds: Observations, times: Integers) -> bool:
    """Whether a pair needs its documents in order, as they are among those of other systems: where each is drawn by
    itself. Given is one document of each kind, and how many there are of it."""
    test = how.test
    if int(times.sum()) < VERY_MANY_UNITS:
        return True
    if how.exact or not (test.exchanges or test.whole_family):
        return False
    if over or test.whole_family or how.adjustment.by_shuffles:
        return True
    return any(_has_coins(test, kinds, times, statistic) for statistic in part.statistics)


def _has_coins(test: Test, kinds: Observations, times: Integers, statistic: Statistic) -> bool:
    try:
        summed = sums(kinds, statistic)
    except OverflowError:
        # Mistakes in the numbers are reported when they are compared.
        return False
    if isinstance(summed, Orders) or not summed.is_ratio:
        return True
    over, under = (sides[0] - sides[1] for sides in (summed.numerators, summed.denominators))
    if under.any() and not test.shuffles_differences:
        return True
    distinct = Distinct.of_differences(over, under)
    differing = int(times[(over != 0) | (under != 0)].sum())
    return not draws_by_itself(int(times.sum()), differing, distinct.size)


def comparisons(
    how: p.Testing, entry: p.Entry, facts: Facts, ranked: bool = False, keep: bool = False
) -> Iterator[tuple[Comparison, ...]]:
    """The comparisons of an entry, those together that have the same observations and so can share shuffles.

    `ranked` puts the better of each pair first; `keep` says that the counts are looked at again.

    Raises QueryError for a document that not every system has, for a
    statistic that is undefined.
    """
    pairs = pairs_of_systems(entry)
    splits = entry.units.may_split_clusters and bool(facts[_split_name(entry)])
    of_runs = entry.units.exchanges_runs
    for part in entry.observed_apart:
        counted = observe(how, _by_document(part) if of_runs else part, facts)
        looked_at_again = keep or how.missing == "bounds" or any(map(is_bounded, part.statistics))
        # Else the counts would only take memory when the sums are there, for many systems more than all the rest.
        observations = counted if looked_at_again or part.kind.of_numbers else replace(counted, counts={}, known={})
        batch = []
        for statistic in part.statistics:
            try:
                comparison = Comparison(
                    how,
                    entry,
                    statistic,
                    observations,
                    sums(counted, statistic),
                    pairs,
                    _run_values(statistic, how, part, facts) if of_runs else (),
                    splits_clusters=splits,
                    came=came(how, part, counted, facts),
                )
            except OverflowError:
                raise QueryError(f"{statistic.label} has too many digits for so many counts") from None
            _check_defined(comparison)
            batch.append(replace(comparison, pairs=_rank_pairs(comparison)) if ranked else comparison)
        del counted
        yield tuple(batch)


def pairs_of_systems(entry: p.Entry) -> tuple[Pair, ...]:
    """Every pair once, or each system against the one named."""
    places = range(len(entry.systems))
    if entry.against is None:
        return tuple(combinations(places, 2))
    last = [system.name for system in entry.systems].index(entry.against.name)
    return tuple((place, last) for place in places if place != last)


def _rank_pairs(comparison: Comparison) -> tuple[Pair, ...]:
    """The pairs of a comparison, the better system of each first."""
    sign = -1 if comparison.statistic.measure.lower_is_better else 1
    return tuple((b, a) if sign * comparison.exact_difference(a, b) < 0 else (a, b) for a, b in comparison.pairs)


def _run_values(statistic: Statistic, how: p.Testing, entry: p.Entry, facts: Facts) -> tuple[tuple[float, ...], ...]:
    """The values of the runs of each system, where these are what is exchanged."""
    from evalhouse.warehouse.comparing.values import Valued

    place = entry.statistics.index(statistic)
    values = {line.system: line.values[place] for line in Valued(entry, where=how.where).of_runs().lines(facts)}
    runs = entry.units.runs
    of_systems = []
    for system in entry.systems:
        numbers = runs.get(system.id, ()) if isinstance(system, p.StoredSystem) else ()
        stored = [values[run] for number in numbers if (run := p.StoredSystem(number, "")) in values]
        known = tuple(value for value in stored if value is not None)
        if not known or len(known) < len(stored):
            what = "has no replicates" if not stored else f"has a replicate whose {statistic.label} is undefined"
            raise QueryError(f"{system.name} {what} on {entry.test_set.name}")
        of_systems.append(known)
    return tuple(of_systems)


def _check_defined(comparison: Comparison) -> None:
    entry, systems = comparison.entry, comparison.entry.systems
    if not comparison.observations.units:
        raise QueryError(f"the systems have no {entry.units.noun} of {entry.test_set.name} in common")
    without = [system.name for place, system in enumerate(systems) if comparison.exact_values[place] is None]
    if without:
        hints = (f"leave them out: except {', '.join(without[:3])}",) if len(systems) > 2 else ()
        if defined := comparison.statistic.defined_as:
            hints = (*hints, f"{defined} has a value there")
        raise QueryError(
            f"{comparison.statistic.label} is undefined on {comparison.entry.test_set.name} for {some(without)}",
            hints=hints,
        )


# === averages over test sets ==========================================================================================
# One comparison over several test sets: the average of a statistic over them. Systems are exchanged within each test
# set.


def batches(
    how: p.Testing, entries: Sequence[p.Entry], facts: Facts, over: p.OverTestSets | None, ranked: bool = False
) -> Iterator[tuple[Comparison, ...]]:
    """The comparisons of entries, those together that can share shuffles; where test sets are taken together, those of
    what is made of them. `ranked` puts the better of each pair first.
    """
    if over is None:
        for entry in entries:
            yield from comparisons(how, entry, facts, ranked)
        return
    for alike in zip(*(comparisons(how, entry, facts, keep=over.pooled) for entry in entries), strict=True):
        of_statistics = zip(*alike, strict=True)
        together = tuple(pooled(some, over) if over.pooled else macro_average(some, over) for some in of_statistics)
        yield tuple(replace(one, pairs=_rank_pairs(one)) for one in together) if ranked else together


def pooled(comparisons: Sequence[Comparison], over: p.OverTestSets) -> Comparison:
    """The comparison on the documents of all these test sets together, of one statistic and the same systems."""
    entries = [comparison.entry for comparison in comparisons]
    statistic = pooled_statistic(comparisons[0].statistic, entries)
    observations = pool([comparison.observations for comparison in comparisons], entries)
    together = replace(
        _joined(comparisons, over),
        observations=_without_counts(observations),
        statistic=statistic,
        sums=sums(observations, statistic),
        apart=tuple(replace(one, observations=_without_counts(one.observations)) for one in comparisons),
    )
    _check_defined(together)
    return together


def macro_average(comparisons: Sequence[Comparison], over: p.OverTestSets) -> Comparison:
    """The comparison of the average over the test sets of these, which are of one statistic and have the same systems.

    Raises QueryError for a test that does not follow from sums.
    """
    test = comparisons[0].how.test
    if not (test.exchanges or test.whole_family):
        raise QueryError(
            f"test {test.name} looks at one test set at a time, not at an average over several",
            hints=("leave out over test sets, or the test",),
        )
    average = average_of([comparison.sums for comparison in comparisons])
    return replace(_joined(comparisons, over), sums=average, over=tuple(comparisons))


def _without_counts(observations: Observations) -> Observations:
    """The same as notes look at it; counts take memory that nobody needs once there are sums."""
    return replace(observations, counts={}, known={}, values=None, confidences=None)


def _joined(comparisons: Sequence[Comparison], over: p.OverTestSets) -> Comparison:
    """The first of comparisons on several test sets with the observations and exchange units of all of them."""
    first = comparisons[0]
    observations = [comparison.observations for comparison in comparisons]
    starts = list(accumulate((part.units for part in observations), initial=0))
    cluster = np.concatenate([part.cluster + start for part, start in zip(observations, starts, strict=False)])
    return replace(
        first,
        entry=entry_of_all([comparison.entry for comparison in comparisons], over),
        observations=replace(
            first.observations,
            counts={},
            known={},
            values=None,
            present=np.concatenate([part.present for part in observations], axis=1),
            cluster=cluster,
            documents=sum(part.documents for part in observations),
            dropped=sum(part.dropped for part in observations),
        ),
        splits_clusters=any(comparison.splits_clusters for comparison in comparisons),
    )


def entry_of_all(entries: Sequence[p.Entry], over: p.OverTestSets) -> p.Entry:
    """The entry of several test sets taken together: documents and exchange units keep their names if these agree on
    all test sets.
    """
    names = ", ".join(entry.test_set.name for entry in entries)
    cluster = next((entry.units.cluster for entry in entries if entry.units.cluster), "")
    alike = len({entry.units.exchange_noun for entry in entries}) == 1
    exchange = entries[0].units.exchange if alike else p.Dimension("unit")
    units = replace(entries[0].units, noun=noun_of(entries), cluster=cluster, exchange=exchange)
    return replace(entries[0], test_set=p.TestSet(0, over.called or names, names), units=units)
