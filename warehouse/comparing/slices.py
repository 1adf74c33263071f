"""The slices of a test set and the documents behind a difference, with what two systems have in each.

Nothing is tested here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from math import ldexp
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import brief
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.observations import Observations, document_ids, document_names, unit_names
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, comparison_queries, comparisons
from evalhouse.warehouse.loading.staging.cells import is_number
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import unit_rows
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places, in_parts
from evalhouse.warehouse.significance.draws import Draws, Work
from evalhouse.warehouse.significance.shuffles.studentized import steady
from evalhouse.warehouse.significance.slices import (
    Partition,
    contributions,
    fewest,
    heterogeneity,
    influences,
    shrunken,
    slice_tests,
    sums_of,
    units_of,
    variances,
)
from evalhouse.warehouse.significance.sums import Sums

# === documents behind a difference ====================================================================================
# The documents one by one: their values, what each contributes to the difference, and their names.

ROUNDING = 1e-12
"""A contribution below this share of all contributions together is only rounding."""


class Listed(Struct, frozen=True):
    """Two systems of a comparison on each of its documents, in the order of names.

    `first` and `second` are their values, NaN where a document has none; `contributed` what each adds to the
    difference, 0 where the two do not differ. `difference` is that of the totals, None where they are equal.
    """

    comparison: Comparison
    pair: Pair
    names: NDArray[Any]
    first: Floats
    second: Floats
    contributed: Floats
    difference: float | None

    @property
    def systems(self) -> tuple[str, str]:
        """The names of the two systems."""
        a, b = (self.comparison.entry.systems[place].name for place in self.pair)
        return a, b

    @property
    def for_first(self) -> Floats:
        """How far each document favours the first system; below 0, the second."""
        return -self.contributed if self.comparison.statistic.measure.lower_is_better else self.contributed


def by_document(entry: p.Entry) -> p.Entry:
    """An entry with its documents one by one, whatever tests would exchange."""
    return replace(entry, units=entry.units.list_documents())


def listed_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the documents of an entry."""
    return comparison_queries(how, by_document(entry))


def list_pairs(how: p.Testing, entry: p.Entry, facts: Facts) -> Iterator[Listed]:
    """Every pair of systems by every statistic of an entry.

    Raises QueryError for a document that not every system has, and for a statistic that is undefined.
    """
    for batch in comparisons(how, by_document(entry), facts):
        for comparison in batch:
            names = document_names(entry, facts)[comparison.observations.document]
            for pair in comparison.pairs:
                contributed = contributions_to(comparison, pair)
                first, second = (comparison.sums.own_values(place) for place in pair)
                yield Listed(
                    comparison, pair, names, first, second, contributed, whole_difference(comparison, pair, contributed)
                )


def contributions_to(comparison: Comparison, pair: Pair) -> Floats:
    """What each exchange unit adds to the difference of two systems."""
    sums = comparison.data_of(*pair)
    found = float(sums.factor) * contributions(sums)
    # A unit that adds nothing but rounding adds nothing.
    return np.where(np.abs(found) > ROUNDING * np.abs(found).max(initial=0.0), found, 0.0)


def whole_difference(comparison: Comparison, pair: Pair, contributed: Floats) -> float | None:
    """The difference of two systems, None where they are equal."""
    difference = comparison.difference(*pair) or 0.0
    return difference if abs(difference) > ROUNDING * float(np.abs(contributed).sum()) else None


# === slices of documents ==============================================================================================
# Into which slices the documents fall, by their attributes, and how each slice is written as a condition.

FEW_NUMBERS = 6
"""A number that takes no more values than this is not cut into ranges."""

RANGES = 4
"""Other numbers are cut at their quartiles."""

MOST_SLICES = 20_000


class Split(Struct, frozen=True):
    """What documents are sliced by: their units, their label, or an attribute; one that is `numeric` may be cut into
    ranges.
    """

    dimension: p.Dimension
    numeric: bool

    @property
    def of_units(self) -> bool:
        """Whether slices are units, of which a document may have several."""
        return self.dimension.of == "unit"


class Cut(Struct, frozen=True):
    """The slices by one attribute or two: the name of these, each slice as the conditions that hold in it and as it is
    called on screen, and in which slice each observation is.

    `natural` says that the slices have an order of their own; `at` are the numbers at which a number was cut.
    """

    name: str
    conditions: tuple[tuple[n.Condition, ...], ...]
    names: tuple[str, ...]
    partition: Partition
    natural: bool = False
    at: tuple[str, ...] = ()
    pair: bool = False
    not_a_number: str | None = None
    """Why numbers were not cut, where most values are numbers."""

    def said(self, place: int) -> str:
        """A slice as a condition: document.source = "radio"."""
        return " and ".join(map(to_text, self.conditions[place]))


def observed_entry(entry: p.Entry) -> p.Entry:
    """An entry as its observations are read: documents, or their units where these are exchanged."""
    documents = by_document(entry)
    return documents.exchange_by(entry.units.exchange) if entry.units.within_documents else documents


def slicing_queries(how: p.Testing, entry: p.Entry, splits: Sequence[Split]) -> Queries:
    """What brings the observations of an entry, and what their documents have of the attributes."""
    exchanged = [Split(dimension, numeric=False) for dimension in entry.units.shared]
    of_attributes = (query for split in dict.fromkeys((*splits, *exchanged)) for query in _attribute(entry, split))
    return (*comparison_queries(how, observed_entry(entry)), *of_attributes)


def _attribute(entry: p.Entry, split: Split) -> Iterator[Query]:
    dimension = split.dimension
    if split.of_units:
        return
    if split.numeric:
        yield Query(_name("numbers", entry, split), unit_rows.numbers_of(entry, dimension), "columns")
    else:
        yield Query(_name("values", entry, split), unit_rows.values_of(entry, dimension))
        yield Query(_name("places", entry, split), unit_rows.places_of(entry, dimension), "columns")


def _name(what: str, entry: p.Entry, split: Split) -> str:
    return f"{what} of {split.dimension.name} on {entry.test_set.name!r}"


def exchange_units(entry: p.Entry, observations: Observations, facts: Facts) -> Places:
    """The exchange unit of each observation, numbered from 0 as for tests of the whole."""
    if not entry.units.shared:
        if entry.units.sliced:
            return np.unique(_of_document(observations), return_inverse=True)[1].reshape(-1)
        return np.arange(len(observations.cluster))
    place = _places(entry, Split(entry.units.exchange, numeric=False), observations, facts)
    several = int(place.max(initial=-1)) + 1
    alone = np.where(place < 0, several + _of_document(observations), place)
    return np.unique(alone, return_inverse=True)[1].reshape(-1)


def cuts(entry: p.Entry, splits: Sequence[Split], depth: int, observations: Observations, facts: Facts) -> list[Cut]:
    """The slices by each attribute, and with a depth of 2 by every two of them.

    Raises QueryError for more slices than MOST_SLICES.
    """
    single = [_cut(entry, split, observations, facts) for split in splits]
    both = [_cross(first, second) for first, second in combinations(single, 2)] if depth > 1 else []
    count = sum(cut.partition.slices for cut in (*single, *both))
    if count > MOST_SLICES:
        most = max(single, key=lambda cut: cut.partition.slices)
        raise QueryError(
            f"that would be {count:,} slices on {entry.test_set.name}; at most {MOST_SLICES:,} are allowed",
            hints=(f"{most.name} has {most.partition.slices:,} values",),
        )
    return [*single, *both]


def _cut(entry: p.Entry, split: Split, observations: Observations, facts: Facts) -> Cut:
    attribute = n.Attribute(split.dimension.of, split.dimension.attribute)
    short, missing = split.dimension.attribute or split.dimension.of, (n.IsMissing(attribute),)
    if not split.numeric:
        values, place = _values_of(entry, split, observations, facts)
        kept, place = np.unique(np.where(place < 0, len(values), place), return_inverse=True)
        conditions: tuple[tuple[n.Condition, ...], ...] = tuple(
            missing if value == len(values) else (n.Relation(attribute, "=", n.Text(values[value])),)
            for value in kept.tolist()
        )
        names = [f"{short} {values[at]}" if at < len(values) else f"{short} missing" for at in kept.tolist()]
        partition = Partition(place.reshape(-1), len(kept))
        odd = _odd([values[at] for at in kept.tolist() if at < len(values)])
        return Cut(split.dimension.name, conditions, tuple(names), partition, not_a_number=odd)
    rows = facts[_name("numbers", entry, split)]
    numbers = _of_documents(rows, "number", entry, observations, facts, np.nan)
    known = numbers[np.isfinite(numbers)]
    distinct = np.unique(known)
    if len(distinct) <= FEW_NUMBERS:
        at: NDArray[np.float64] = distinct
        conditions = tuple((n.Relation(attribute, "=", _number(number)),) for number in distinct.tolist())
        called = [f"{short} {to_text(_number(number))}" for number in distinct.tolist()]
        place = np.searchsorted(distinct, numbers)
    else:
        at = np.unique(np.quantile(known, np.arange(1, RANGES) / RANGES, method="inverted_cdf"))
        at = at[at > distinct[0]]
        edges = [_number(number) for number in at.tolist()]
        conditions = tuple(
            _range(attribute, low, high) for low, high in zip([None, *edges], [*edges, None], strict=True)
        )
        at_edges = [to_text(edge) for edge in edges]
        called = [f"{short} < {at_edges[0]}"] if at_edges else [short]
        called += [f"{low} ≤ {short} < {high}" for low, high in pairwise(at_edges)]
        called += [f"{short} ≥ {at_edges[-1]}"] if at_edges else []
        place = np.searchsorted(at, numbers, side="right")
    place = np.where(np.isfinite(numbers), place, len(conditions))
    kept, place = np.unique(place, return_inverse=True)
    said = tuple((*conditions, missing)[value] for value in kept.tolist())
    names = [(*called, f"{short} missing")[value] for value in kept.tolist()]
    ranges = tuple(to_text(_number(number)) for number in at.tolist()) if len(distinct) > FEW_NUMBERS else ()
    partition = Partition(place.reshape(-1), len(kept))
    return Cut(split.dimension.name, said, tuple(names), partition, natural=True, at=ranges)


def _odd(values: Sequence[str]) -> str | None:
    """Which value of an attribute is not a number, where most are and they are too many to stand for themselves."""
    others = [value for value in values if not is_number(value)]
    if len(values) - len(others) <= max(FEW_NUMBERS, len(values) // 2):
        return None
    return f'"{brief(others[0])}" is not a number' if others else "on another test set not all its values are numbers"


def _number(number: float) -> n.Number:
    return n.Number(Decimal(repr(number)).normalize())


def _range(attribute: n.Attribute, low: n.Number | None, high: n.Number | None) -> tuple[n.Condition, ...]:
    """From a number on, and below another."""
    above = (n.Relation(attribute, ">=", low),) if low is not None else ()
    below = (n.Relation(attribute, "<", high),) if high is not None else ()
    return (*above, *below)


def _cross(first: Cut, second: Cut) -> Cut:
    """The slices by two attributes that hold anything."""
    wide = second.partition.slices
    kept, place = np.unique(first.partition.place * wide + second.partition.place, return_inverse=True)
    conditions = tuple((*first.conditions[pair // wide], *second.conditions[pair % wide]) for pair in kept.tolist())
    names = tuple(f"{first.names[pair // wide]}, {second.names[pair % wide]}" for pair in kept.tolist())
    partition = Partition(place.reshape(-1), len(kept))
    return Cut(f"{first.name} and {second.name}", conditions, names, partition, pair=True)


# --- what documents have ----------------------------------------------------------------------------------------------


def _values_of(entry: p.Entry, split: Split, observations: Observations, facts: Facts) -> tuple[list[str], Places]:
    """The values that observations are sliced by, and the place of each among them, −1 where it has none."""
    if not split.of_units:
        values = [str(value) for (value,) in facts[_name("values", entry, split)]]
        return values, _places(entry, split, observations, facts)
    if observations.unit is None:
        raise ValueError("the units were not read one by one")
    names = [str(name) for name in unit_names(facts)]
    named = np.array([bool(name) for name in names])
    return names, np.where(named[observations.unit], observations.unit, -1)


def _places(entry: p.Entry, split: Split, observations: Observations, facts: Facts) -> Places:
    """The place of the value that the document of each observation has, −1 where it has none."""
    found = _of_documents(facts[_name("places", entry, split)], "place", entry, observations, facts, -1)
    return np.asarray(found, dtype=np.intp)


def _of_documents(
    rows: Mapping[str, Any], column: str, entry: p.Entry, observations: Observations, facts: Facts, without: float
) -> NDArray[Any]:
    """What the document of each observation has in a column."""
    ids = document_ids(entry, facts)[_of_document(observations)]
    having = np.asarray(rows["document"], dtype=np.int64)
    order = np.argsort(having)
    at = np.minimum(np.searchsorted(having[order], ids), max(len(having) - 1, 0))
    if not len(having):
        return np.full(ids.shape, without)
    return np.where(having[order][at] == ids, np.asarray(rows[column])[order][at], without)


def _of_document(observations: Observations) -> Places:
    if observations.document is None:
        raise ValueError("the documents were not read one by one")
    return observations.document


# === values in each slice =============================================================================================
# Values, shares of the whole difference, p-values and estimates, as arrays.


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
    otherwise: dict[int, float]
    """The slices on which the studentized exchange decides otherwise, by their places, and its adjusted p."""

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


def is_studentized(how: p.Testing, comparison: Comparison) -> bool:
    """Whether differences in slices are divided by their standard errors: those of ratios are, unless the test that
    shuffles differences was asked for.
    """
    return comparison.sums.is_ratio and not how.test.shuffles_differences


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
    studentized = is_studentized(how, comparison)
    levels = slice_tests(two, unit, partitions, tested, draws, request.exact, work.part(0, 2), studentized)
    otherwise: dict[int, float] = {}
    if not studentized and comparison.sums.is_ratio and not steady(two):
        students = slice_tests(two, unit, partitions, tested, draws, request.exact, studentized=True).adjusted
        level = float(how.level)
        for place in np.flatnonzero(tested & ((levels.adjusted <= level) != (students <= level))).tolist():
            otherwise[place] = float(students[place])
    contributed = contributions_to(comparison, pair)
    document = comparison.observations.document
    documents = np.arange(len(unit)) if document is None else np.unique(document, return_inverse=True)[1].reshape(-1)
    total = comparison.difference(*pair) or 0.0
    # What a total has in a slice is the mean there, times the share of documents that the slice has.
    times = [_shares(part) if comparison.of_totals else np.ones(part.slices) for part in partitions]
    squared = [variances(two, part, unit) for part in partitions]
    near_1, exponent = in_parts(factor)
    of_all = ldexp(total / near_1, -exponent)
    drawn = [
        shrunken(np.ldexp(of / (near_1 * share), -exponent), variance, of_all)
        for of, share, variance in zip(_split(difference, partitions), times, squared, strict=True)
    ]
    scale = near_1 * np.concatenate(times)
    single = [cut.partition for cut in cuts if not cut.pair]
    varying, within = _heterogeneity(two, single, unit, documents, draws, work.part(1, 2))
    parts = np.concatenate([np.bincount(part.place, weights=contributed, minlength=part.slices) for part in partitions])
    known = whole_difference(comparison, pair, contributed)
    return Slices(
        documents=np.concatenate([units_of(part, documents) for part in partitions]),
        first=first,
        second=second,
        difference=difference,
        contributed=parts,
        p=levels.p,
        adjusted=levels.adjusted,
        shrunken=np.ldexp(scale * np.concatenate(drawn), exponent),
        error=np.ldexp(scale * np.sqrt(np.concatenate(squared)), exponent),
        whole=known,
        heterogeneity=tuple(varying),
        within=tuple(within),
        units=int(unit.max(initial=-1)) + 1,
        tested=int(tested.sum()),
        small=int((defined & ~tested).sum()),
        undefined=int((~defined).sum()),
        fewest=least,
        shuffles=levels.shuffles,
        otherwise=otherwise,
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
    among documents. An attribute that differs within exchange units is permuted within them, and so are units, one
    observation each.
    """
    moved = influences(two)
    carriers, of_carriers = documents, np.zeros(int(documents.max(initial=-1)) + 1, dtype=np.intp)
    of_carriers[documents] = unit
    clustered = len(np.unique(unit)) < len(of_carriers)
    in_documents = [_is_constant(part.place, documents) for part in partitions]
    whole = [not clustered or _is_constant(part.place, unit) for part in partitions]
    by_place: dict[int, float | None] = {}
    if parted := [place for place, same in enumerate(in_documents) if not same]:
        groups = unit if len(np.unique(unit)) < len(unit) else None
        found = heterogeneity(np.asarray(moved), [partitions[place] for place in parted], draws, groups, work)
        by_place |= dict(zip(parted, found, strict=True))
        whole = [same and (in_documents[place] or groups is None) for place, same in enumerate(whole)]
    for constant in (True, False):
        chosen = [place for place, same in enumerate(whole) if same == constant and in_documents[place]]
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
