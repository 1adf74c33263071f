"""What two systems have in each slice: values, shares of the whole difference, levels and estimates, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from msgspec import Struct

from warehouse.query import plan as p
from warehouse.query.comparison.contributing import contributed_to, whole
from warehouse.query.comparison.pairs import Comparison, Pair
from warehouse.query.comparison.slicing import Cut
from warehouse.significance.draws import Draws
from warehouse.significance.paired import Booleans, Floats, Integers, Places
from warehouse.significance.slices import (
    Partition,
    fewest,
    heterogeneity,
    influences,
    shrunken,
    slice_tests,
    sums_of,
    units_of,
    variances,
)
from warehouse.significance.sums import Sums
from warehouse.significance.work import Work


class Slices(Struct, frozen=True):
    """The slices of all cuts, one after the other; arrays have the shape (slices,), with NaN where there is nothing.

    `whole` is the difference of the totals, None where they are equal. `heterogeneity` has a level for each attribute,
    and `within` whether it was permuted within exchange units only, because it differs within them. `small` and
    `undefined` slices were not tested.
    """

    documents: Integers
    first: Floats
    second: Floats
    difference: Floats
    contributed: Floats
    p: Floats
    adjusted: Floats
    shrunken: Floats
    error: Floats
    whole: float | None
    heterogeneity: tuple[float | None, ...]
    within: tuple[bool, ...]
    units: int
    tested: int
    small: int
    undefined: int
    fewest: int
    shuffles: int | None
    cancels: bool

    @property
    def permuted(self) -> bool:
        """Whether chance decided whether the difference varies."""
        return any(level is not None for level in self.heterogeneity)


class SliceRequest(Struct, frozen=True, eq=False):
    """What is asked of every pair: how it is tested, exactly if it can be, in the slices of which cuts, and the
    exchange unit of each observation.
    """

    how: p.Testing
    cuts: Sequence[Cut]
    unit: Places
    exact: bool


def slices_of(request: SliceRequest, of: tuple[Comparison, Pair], work: Work) -> Slices:
    """What two systems have in the slices of some cuts."""
    (comparison, pair), how, cuts, unit = of, request.how, request.cuts, request.unit
    two = comparison.data_of(*pair)
    factor = two.factor
    partitions = [cut.partition for cut in cuts]
    first, second, difference = (
        np.concatenate(of)
        for of in zip(*(_values(two, part, factor, comparison.of_totals) for part in partitions), strict=True)
    )
    units = np.concatenate([units_of(part, unit) for part in partitions])
    least = fewest(float(how.level))
    defined = ~np.isnan(difference)
    tested: Booleans = defined & (units >= least)
    draws = Draws(how.shuffles or 1, how.seed, comparison.stream)
    levels = slice_tests(two, unit, partitions, tested, draws, request.exact, work.part(0, 2))
    contributed = contributed_to(comparison, pair)
    document = comparison.observations.document
    documents = np.arange(len(unit)) if document is None else np.unique(document, return_inverse=True)[1].reshape(-1)
    total = comparison.difference(*pair) or 0.0
    # What a total has in a slice is the mean there, times the share of documents that the slice has.
    times = [_shares(part) if comparison.of_totals else np.ones(part.slices) for part in partitions]
    squared = [variances(two, part, unit) for part in partitions]
    drawn = [
        shrunken(of / (float(factor) * share), variance, total / float(factor))
        for of, share, variance in zip(_split(difference, partitions), times, squared, strict=True)
    ]
    scale = float(factor) * np.concatenate(times)
    single = [cut.partition for cut in cuts if not cut.pair]
    varying, within = _heterogeneity(two, single, unit, documents, draws, work.part(1, 2))
    parts = np.concatenate([np.bincount(part.place, weights=contributed, minlength=part.slices) for part in partitions])
    known = whole(comparison, pair, contributed)
    return Slices(
        documents=np.concatenate([units_of(part, documents) for part in partitions]),
        first=first,
        second=second,
        difference=difference,
        contributed=parts,
        p=levels.p,
        adjusted=levels.adjusted,
        shrunken=scale * np.concatenate(drawn),
        error=scale * np.sqrt(np.concatenate(squared)),
        whole=known,
        heterogeneity=tuple(varying),
        within=tuple(within),
        units=int(unit.max(initial=-1)) + 1,
        tested=int(tested.sum()),
        small=int((defined & ~tested).sum()),
        undefined=int((~defined).sum()),
        fewest=least,
        shuffles=levels.shuffles,
        cancels=known is not None and float(np.abs(parts).max(initial=0.0)) > abs(known) > 0,
    )


def _values(two: Sums, partition: Partition, factor: Fraction, of_totals: bool) -> tuple[Floats, Floats, Floats]:
    """The values of both systems in each slice, and their differences, each rounded once; NaN where undefined."""
    sums = sums_of(two.table, partition)
    if two.is_ratio:
        # Python's whole numbers have as many digits as these products need.
        (n_a, n_b), (d_a, d_b) = sums.astype(object)
        if of_totals:
            d_a = d_b = np.full(partition.slices, two.units, dtype=object)
        above, below = factor.numerator, factor.denominator
        first, second = _quotients(n_a * above, d_a * below), _quotients(n_b * above, d_b * below)
        return first, second, _quotients((n_a * d_b - n_b * d_a) * above, d_a * d_b * below)
    values = [two.valuation.values(sums[:, system].astype(np.float64)) for system in (0, 1)]
    return values[0], values[1], values[0] - values[1]


def _shares(partition: Partition) -> Floats:
    """Which share of the observations each slice has."""
    return np.bincount(partition.place, minlength=partition.slices) / len(partition.place)


def _quotients(over: Sequence[int], under: Sequence[int]) -> Floats:
    return np.array([a / b if b else np.nan for a, b in zip(over, under, strict=True)], dtype=np.float64)


def _split(numbers: Floats, partitions: Sequence[Partition]) -> list[Floats]:
    return np.split(numbers, np.cumsum([part.slices for part in partitions])[:-1])


def _heterogeneity(
    two: Sums, partitions: Sequence[Partition], unit: Places, documents: Places, draws: Draws, work: Work
) -> tuple[list[float | None], list[bool]]:
    """For each attribute the level of its varying, permuted among the exchange units, or, where these are smaller,
    among documents. An attribute that differs within exchange units is permuted within them.
    """
    moved = influences(two)
    carriers, of_carriers = documents, np.zeros(int(documents.max(initial=-1)) + 1, dtype=np.intp)
    of_carriers[documents] = unit
    clustered = len(np.unique(unit)) < len(of_carriers)
    whole = [not clustered or _is_constant(part.place, unit) for part in partitions]
    by_place: dict[int, float | None] = {}
    for constant in (True, False):
        chosen = [place for place, same in enumerate(whole) if same == constant]
        if not chosen:
            continue
        carrier = unit if constant and clustered else carriers
        count = int(carrier.max(initial=-1)) + 1
        sums: Floats = np.bincount(carrier, weights=moved, minlength=count).astype(np.float64)
        of_partitions = []
        for place in chosen:
            of_carrier = np.zeros(count, dtype=np.intp)
            of_carrier[carrier] = partitions[place].place
            of_partitions.append(Partition(of_carrier, partitions[place].slices))
        groups = None if constant else of_carriers
        by_place |= dict(zip(chosen, heterogeneity(sums, of_partitions, draws, groups, work), strict=True))
    return [by_place[place] for place in range(len(partitions))], [not same for same in whole]


def _is_constant(place: Places, unit: Places) -> bool:
    """Whether all observations of each exchange unit are in one slice."""
    of_unit = np.zeros(int(unit.max(initial=-1)) + 1, dtype=np.intp)
    of_unit[unit] = place
    return bool((of_unit[unit] == place).all())
