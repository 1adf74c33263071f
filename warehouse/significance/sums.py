"""The sums that tests, intervals and comparisons are computed from: columns of whole numbers of two or more systems on
the same exchange units, and a valuation from sums of columns to a value.

A ratio ΣN / ΣD of two columns is the fast path: kernels made for ratios ask `is_ratio`, and all others take the
valuation as it is. This module must not know the names of measures, units or systems. It checks counts and adds them
up; it does not draw random numbers or make decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from itertools import accumulate, groupby, pairwise
from math import isfinite, lcm, sqrt
from operator import itemgetter
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import (
    SUM_LIMIT,
    Booleans,
    Floats,
    Integers,
    RoundedFrom,
    narrow,
    quotients,
    slack_of,
    to_fixed_point,
)

# === from sums to a value =============================================================================================
# In floating point and exactly, and arithmetic with exact values.

ExactValue = Fraction | Decimal
"""A value that is either exact or has 60 digits."""

FLOAT_LIMIT = 2**53
"""The counts of two systems must sum to less than this, so that floating point holds all sums."""

_DIGITS = Context(prec=60)


Columns = tuple[Integers, ...]
"""The columns of sums, each of shape (systems, units)."""

Narrowing = Callable[[Columns], "tuple[Columns, Valuation]"]


class Valuation(Struct, frozen=True):
    """How a value is computed from sums of counts.

    `values` takes sums of shape (columns, any) and returns values of shape (any,) in floating point, NaN where
    undefined. `exactly` takes the sums of the columns and returns the value as a fraction or as a decimal number of 60
    digits, None where it is undefined. The two must agree to nine digits. `is_ratio` says that the value is the sum of
    the first of two columns over that of the second.
    """

    values: Callable[[Floats], Floats]
    exactly: Callable[[tuple[int, ...]], ExactValue | None]
    is_ratio: bool = False
    slopes: Callable[[Floats], Floats] | None = None
    """The gradients for sums of shape (columns, any), of the same shape, where they are known by formula."""
    of_some: Narrowing | None = None
    """How the columns of some systems, and their valuation, follow from the columns as they are for all, where the
    valuation says more of systems than the columns do.
    """
    ratios: tuple[tuple[int, int, float], ...] = ()
    """Of an average of ratios, the columns of the numerator and the denominator of each, and what it is multiplied by.
    """

    def or_zero(self, sums: Floats) -> Floats:
        """The values of sums of shape (columns, any), 0 where undefined; of shape (any), which may have dimensions."""
        flat = np.nan_to_num(self.values(sums.reshape(sums.shape[0], -1)))
        return flat.reshape(sums.shape[1:])

    def multiply(self, factor: Fraction) -> Valuation:
        """The value times a factor."""
        if factor == 1:
            return self
        floating = float(factor)

        def exactly(sums: tuple[int, ...]) -> ExactValue | None:
            exact = self.exactly(sums)
            return None if exact is None else times(exact, factor)

        def of_some(columns: Columns) -> tuple[Columns, Valuation]:
            narrower, valuation = self.narrow(columns)
            return narrower, valuation.multiply(factor)

        slopes = self.slopes
        return Valuation(
            lambda sums: floating * self.values(sums),
            exactly,
            slopes=None if slopes is None else lambda sums: floating * slopes(sums),
            of_some=None if self.of_some is None else of_some,
        )

    def narrow(self, columns: Columns) -> tuple[Columns, Valuation]:
        """The columns of some systems, given those rows of the columns of all, and how they are valued."""
        return (columns, self) if self.of_some is None else self.of_some(columns)

    @classmethod
    def average(cls, parts: Sequence[Valuation], columns: Sequence[int]) -> Valuation:
        """The mean of several values, each of so many columns, which stand behind one another."""
        starts = list(accumulate(columns, initial=0))
        places = [slice(start, stop) for start, stop in pairwise(starts)]

        def values(sums: Floats) -> Floats:
            of_parts = [part.values(sums[place]) for part, place in zip(parts, places, strict=True)]
            return np.asarray(sum(of_parts[1:], of_parts[0]) / len(parts))

        def exactly(sums: tuple[int, ...]) -> ExactValue | None:
            return mean_of(part.exactly(sums[place]) for part, place in zip(parts, places, strict=True))

        def slopes(sums: Floats) -> Floats:
            of_parts = zip((part.slopes for part in parts), places, strict=True)
            return np.concatenate([of(sums[place]) for of, place in of_parts if of is not None]) / len(parts)

        def of_some(several: Columns) -> tuple[Columns, Valuation]:
            narrowed = [part.narrow(several[place]) for part, place in zip(parts, places, strict=True)]
            narrower = tuple(column for of_part, _ in narrowed for column in of_part)
            return narrower, cls.average([valuation for _, valuation in narrowed], columns)

        return cls(
            values,
            exactly,
            slopes=slopes if all(part.slopes is not None for part in parts) else None,
            of_some=of_some if any(part.of_some is not None for part in parts) else None,
        )


def _quotients(sums: Floats) -> Floats:
    without = np.full(sums.shape[1:], np.nan)
    return np.asarray(np.divide(sums[0], sums[1], out=without, where=sums[1] != 0), dtype=np.float64)


def _quotient(sums: tuple[int, ...]) -> Fraction | None:
    over, under = sums
    return Fraction(over, under) if under else None


RATIO = Valuation(_quotients, _quotient, is_ratio=True)
"""Numerators over denominators."""


def in_range(exact: ExactValue) -> bool:
    """Whether floating point has the value."""
    try:
        return isfinite(float(exact))
    except OverflowError:
        return False


def less(a: ExactValue, b: ExactValue) -> ExactValue:
    """a − b: exact where both are fractions, else with 60 digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a - b
    return _DIGITS.subtract(decimal(a), decimal(b))


def plus(a: ExactValue, b: ExactValue) -> ExactValue:
    """a + b: exact where both are fractions, else with 60 digits."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    return _DIGITS.add(decimal(a), decimal(b))


def times(a: ExactValue, factor: Fraction) -> ExactValue:
    """a · factor: exact if a is a fraction, else with 60 digits."""
    return a * factor if isinstance(a, Fraction) else _DIGITS.multiply(a, decimal(factor))


def mean_of(values: Iterable[ExactValue | None]) -> ExactValue | None:
    """The mean of some values, None where one of them is."""
    known = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return times(reduce(plus, known), Fraction(1, len(known)))


def size(value: ExactValue) -> ExactValue:
    """The absolute value. Python's `abs` would round a decimal number to 28 digits."""
    return abs(value) if isinstance(value, Fraction) else value.copy_abs()


def decimal(value: ExactValue) -> Decimal:
    """The value with 60 digits."""
    if isinstance(value, Decimal):
        return value
    return _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))


# === sums =============================================================================================================

AT_ONCE = 2**17
"""Pairs × exchange units compared at once."""


class Sums(Struct, frozen=True, eq=False):
    """The systems of a comparison, by the columns of the measure. Each column has the shape (systems, units).

    Those of a ratio are numerators and denominators; denominators are not negative, and may be 0 in a unit. Kernels
    leave out `factor`, what the value is multiplied by, since it cancels in a comparison. `slack` is for numerators
    that were rounded to fixed point: sums that differ by no more count as ties. It may be above 0 only where all
    systems have the same denominators.
    """

    columns: tuple[Integers, ...]
    valuation: Valuation = RATIO
    factor: Fraction = Fraction(1)
    slack: int = 0
    known: Booleans | None = None
    """Of which systems all counts are known; None where of all."""
    counted: bool | Booleans = False
    """Whether the documents of each system are right or wrong, 1 or 0."""
    measured: RoundedFrom | None = None
    """What numerators were rounded from, where they are."""
    is_total: bool = False
    """Whether the value is not a mean but a total: each observation has the denominator 1, and the factor is how many
    there are."""

    # --- what tests are given directly

    @classmethod
    def of_ratios(cls, numerators: Any, denominators: Any, slack: int = 0) -> Sums:
        """Systems by numerators and denominators of shape (systems, units). Raises ValueError where they are no data
        for a test.
        """
        over, under = _integers(numerators, "numerators", 2), _integers(denominators, "denominators", 2)
        if over.shape != under.shape:
            raise ValueError(f"numerators have the shape {over.shape} and denominators {under.shape}")
        sums = cls((over, under), slack=slack)
        sums.check()
        return sums

    @classmethod
    def of_two(cls, numerator_a: Any, denominator_a: Any, numerator_b: Any, denominator_b: Any, slack: int = 0) -> Sums:
        """Two systems by arrays of shape (units,). Raises ValueError where they are no data for a test."""
        names = ("numerator_a", "denominator_a", "numerator_b", "denominator_b")
        given = (numerator_a, denominator_a, numerator_b, denominator_b)
        rows = [_integers(values, name, 1) for values, name in zip(given, names, strict=True)]
        for row, name in zip(rows, names, strict=True):
            if row.shape != rows[0].shape:
                raise ValueError(f"{name} has {row.shape[0]} units and numerator_a has {rows[0].shape[0]}")
        columns = [_integers(np.stack(pair), "counts", 2) for pair in (rows[::2], rows[1::2])]
        sums = cls(tuple(columns), slack=slack)
        sums.check_pair()
        return sums

    @classmethod
    def of_counts(cls, counts: Integers, valuation: Valuation) -> Sums:
        """Systems by counts of shape (systems, columns, units), of any function of sums."""
        if counts.ndim != 3 or len(counts) < 2:
            raise ValueError(f"a comparison needs counts of at least two systems, and has the shape {counts.shape}")
        return cls(tuple(counts.transpose(1, 0, 2)), valuation)

    @classmethod
    def of_two_counts(cls, counts_a: Integers, counts_b: Integers, valuation: Valuation) -> Sums:
        """Two systems by counts of shape (columns, units). Raises ValueError where they are no data for a test."""
        if counts_a.ndim != 2 or counts_a.shape != counts_b.shape:
            raise ValueError(f"the counts have the shapes {counts_a.shape} and {counts_b.shape}")
        sums = cls.of_counts(np.stack((counts_a, counts_b)), valuation)
        sums.check_pair()
        return sums

    # --- what they are

    @property
    def systems(self) -> int:
        """How many systems there are."""
        return int(self.columns[0].shape[0])

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.columns[0].shape[1])

    @property
    def is_ratio(self) -> bool:
        """Whether the value is a ratio of two columns, numerators and denominators."""
        return self.valuation.is_ratio

    @property
    def is_function(self) -> bool:
        """Whether the value is any other function of sums."""
        return not self.valuation.is_ratio

    @property
    def numerators(self) -> Integers:
        """The numerators of a ratio."""
        return self.columns[0]

    @property
    def denominators(self) -> Integers:
        """The denominators of a ratio."""
        return self.columns[1]

    @property
    def table(self) -> Integers:
        """All columns together, of shape (columns, systems, units)."""
        return np.stack(self.columns)

    @property
    def counts(self) -> Integers:
        """The columns of each system, of shape (systems, columns, units)."""
        return np.stack(self.columns, axis=1)

    @property
    def all_counted(self) -> bool:
        """Whether the documents of all systems are right or wrong."""
        return bool(np.all(self.counted))

    # --- some of the units, or of the systems

    def of_units(self, places: Sequence[int] | Integers | slice) -> Sums:
        """Those of some exchange units, in this order, as tests take them: without what numerators were rounded
        from.
        """
        some = tuple(column[:, places] for column in self.columns)
        return replace(self, columns=some, measured=None)

    def first(self, units: int) -> Sums:
        """Those of the first exchange units."""
        return self.of_units(slice(units))

    def only(self, places: Sequence[int]) -> Sums:
        """Those of some systems."""
        some = np.array(places, dtype=np.intp)
        columns, valuation = self.valuation.narrow(tuple(column[some] for column in self.columns))
        return replace(
            self,
            columns=columns,
            valuation=valuation,
            known=None if self.known is None else self.known[some],
            counted=self.counted if isinstance(self.counted, bool) else self.counted[some],
            measured=None if self.measured is None else self.measured.only(some),
        )

    def data(self, places: Sequence[int] | None = None) -> Sums:
        """Those of some systems, or of all, as tests take them: without what numerators were rounded from. Raises
        ValueError where they are no data for a test.
        """
        plain = replace(self, measured=None)
        sums = plain if places is None else plain.only(places)
        sums.check()
        return sums

    def pair(self, a: int, b: int) -> Sums:
        """Two of the systems as tests take them. Raises ValueError where they are no data for a test."""
        two = replace(self, measured=None).only((a, b))
        two.check_pair()
        return two

    def check(self, names: Sequence[str] | None = None) -> None:
        """Raises ValueError where they are no data for a test, the systems being called by the `names`."""
        if self.systems < 2:
            raise ValueError(f"a comparison needs at least two systems, not {self.systems}")
        if self.is_ratio:
            _check_sums(self.numerators, "numerators")
            _check_denominators(self.denominators, names or [f"system {index}" for index in range(self.systems)])
            _check_slack(self.slack, self.denominators)

    def check_pair(self) -> None:
        """Raises ValueError where two systems are no data for a test."""
        self.check(("the first system", "the second system"))
        if self.is_ratio:
            return
        if sum(int(np.abs(column).sum()) for column in self.columns) >= FLOAT_LIMIT:
            raise ValueError("the counts sum to 2^53 or more")
        if self.exactly(0) is None or self.exactly(1) is None:
            raise ValueError("the measure of a system is undefined")

    # --- values

    def totals(self, system: int) -> tuple[int, ...]:
        """The sums of the columns of a system."""
        return tuple(int(column[system].sum()) for column in self.columns)

    def exactly(self, system: int) -> ExactValue | None:
        """The value of a system but for the factor, None where it is undefined."""
        return self.valuation.exactly(self.totals(system))

    def exact_value(self, system: int) -> Fraction | None:
        """The value of a system, None where it is undefined, out of range, or a count is unknown."""
        if self.known is not None and not self.known[system]:
            return None
        if self.measured is not None:
            over, under = self.totals(system)
            return self.factor * (over + Fraction(float(self.measured.rest[system]))) / under if under else None
        exact = self.exactly(system)
        return None if exact is None or not in_range(exact) else self.factor * Fraction(exact)

    def value(self, sums: Integers | Floats) -> Floats:
        """The values but for the factor for sums of shape (columns, any), 0 where undefined; of shape (any)."""
        if self.is_function:
            return self.valuation.or_zero(sums.astype(np.float64))
        values: Floats = np.divide(sums[0], sums[1], out=np.zeros(sums[0].shape), where=sums[1] > 0)
        return values

    def values(self) -> Floats:
        """The value of each system but for the factor, of shape (systems,), rounded once; 0 where it is undefined."""
        return np.array([float(self.exactly(system) or 0) for system in range(self.systems)])

    def unit_values(self, system: int) -> Floats:
        """A system's value on each exchange unit, but for the factor; NaN where it has none."""
        if self.is_function:
            return self.valuation.values(np.stack([column[system] for column in self.columns]).astype(np.float64))
        over = self.numerators[system] if self.measured is None else self.measured.in_units(system)
        return quotients(over, self.denominators[system])

    def own_values(self, system: int) -> Floats:
        """A system's value on each exchange unit by itself; NaN where it has none."""
        if self.is_total:
            return np.asarray(self.numerators[system] * float(self.factor / int(self.denominators[system].sum())))
        return self.unit_values(system) * float(self.factor)

    def influences(self, system: int) -> Floats:
        """What each exchange unit adds to a ratio, to first order and but for the factor: (N − R·D) / ΣD."""
        under = self.denominators[system].astype(np.float64)
        over = self.numerators[system] if self.measured is None else self.measured.in_units(system)
        total = under.sum()
        return np.asarray((over - under * (over.sum() / total)) / total, dtype=np.float64)

    # --- differences of two systems

    def differences(self) -> tuple[Integers, ...]:
        """The columns of the first system minus those of the second, each of shape (units,)."""
        return tuple(column[0] - column[1] for column in self.columns)

    @property
    def tie(self) -> float:
        """The largest distance of differences that count as ties. It follows from `slack`, which requires equal
        denominators.
        """
        return 2 * self.slack / int(self.denominators[0].sum()) if self.slack else 0.0

    def spread(self, a: int, b: int) -> float:
        """The standard deviation of the null distribution of a pair's difference, to first order. For ratios it is
        2·√Σ(S_D·ΔN − S_N·ΔD)² / S_D², where S_N and S_D are the sums of both systems; for other functions the root of
        the sum of the squared contributions of units.
        """
        if self.is_ratio:
            over, under = self.columns
            numerators, denominators = int(over[a].sum() + over[b].sum()), int(under[a].sum() + under[b].sum())
            numerator, denominator = (over[a] - over[b]).astype(np.float64), (under[a] - under[b]).astype(np.float64)
            scores = numerator - denominator * (numerators / denominators)
            return 2 * sqrt(float(scores @ scores)) / denominators
        first, second = self.only((a, b)).counts
        totals = (first + second).sum(axis=1, keepdims=True)
        differences = first - second
        alone = self.value((totals + differences) / 2) - self.value((totals - differences) / 2)
        return sqrt(float(alone @ alone))

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        if self.measured is not None:
            return _differing((self.measured.values, narrow(self.denominators)), pairs)
        if self.is_ratio:
            return _differing(_as_one(self.numerators, self.denominators), pairs)
        return _differing([narrow(column) for column in self.columns], pairs)

    # --- other numerators of the same values

    @property
    def uneven(self) -> bool:
        """Whether the values of one system are so large that those of another have too few digits beside them."""
        return self.measured is not None and self.measured.uneven

    def refined(self, places: Sequence[int]) -> Sums:
        """Those of some systems, in fixed point as fine as their own values allow."""
        some = self.only(places)
        if some.measured is None:
            return some
        return some._rounded(some.measured.values, some.measured.doubts, bool(some.slack))

    def with_raised(self, amount: Fraction) -> Sums:
        """Those of the systems, and behind them those of the same systems, the value of each higher by `amount`.

        Raises OverflowError where the numbers have too many digits.
        """
        twice = replace(self.only([*range(self.systems)] * 2), counted=False)
        if self.measured is not None:
            by = float(amount * self.measured.unit / self.factor)
            return twice._rounded(*self.measured.with_raised(self.denominators, by), True)
        step = amount / self.factor
        reach = np.abs(self.numerators).sum(axis=1).max(initial=0), self.denominators.sum(axis=1).max(initial=0)
        if int(reach[0]) * step.denominator + int(reach[1]) * abs(step.numerator) >= SUM_LIMIT:
            raise OverflowError("too many digits")
        plain = self.numerators * step.denominator
        return replace(
            twice,
            columns=(np.concatenate((plain, plain + self.denominators * step.numerator)), twice.denominators),
            factor=self.factor / step.denominator,
            slack=self.slack * step.denominator,
        )

    def with_multiplied(self, factors: Sequence[Fraction]) -> Sums:
        """Those of the systems of a ratio, and behind them those of the same systems once for each factor, their values
        multiplied by it.

        Raises OverflowError where the numbers have too many digits.
        """
        every = [Fraction(1), *factors]
        many = replace(self.only([*range(self.systems)] * len(every)), counted=False)
        if self.measured is not None:
            return many._rounded(*self.measured.with_multiplied([float(factor) for factor in every]), True)
        common = lcm(*(factor.denominator for factor in every))
        steps = [int(factor * common) for factor in every]
        if int(np.abs(self.numerators).sum(axis=1).max(initial=0)) * max(map(abs, steps)) >= SUM_LIMIT:
            raise OverflowError("too many digits")
        return replace(
            many,
            columns=(np.concatenate([self.numerators * step for step in steps]), many.denominators),
            factor=self.factor / common,
            slack=self.slack * max(map(abs, steps)),
        )

    def _rounded(self, values: Floats, doubts: Floats, may_tie: bool) -> Sums:
        """The same with numerators rounded from these values; `may_tie` says whether those that rounding parts tie."""
        assert self.measured is not None
        over, unit, rest = to_fixed_point(values)
        return replace(
            self,
            columns=(over, self.denominators),
            factor=self.factor / self.measured.unit * unit,
            slack=slack_of(values.shape[1], doubts, unit) if may_tie and rest is not None else 0,
            measured=None if rest is None else RoundedFrom(values, doubts, rest, unit),
        )


def _differing(tables: Sequence[NDArray[Any]], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """In how many exchange units the two systems of each pair differ, in any table of shape (systems, units)."""
    counts: list[int] = []
    at_once = max(1, AT_ONCE // max(tables[0].shape[1], 1))
    for first, of_first in groupby(pairs, key=itemgetter(0)):
        others = [other for _, other in of_first]
        for start in range(0, len(others), at_once):
            some = others[start : start + at_once]
            # Systems that follow one another are compared where they are, others are copied.
            following = some[-1] - some[0] + 1 == len(some) and some == sorted(some)
            chosen = slice(some[0], some[-1] + 1) if following else some
            unlike = tables[0][chosen] != tables[0][first]
            for table in tables[1:]:
                unlike |= table[chosen] != table[first]
            counts += np.count_nonzero(unlike, axis=1).tolist()
    return counts


def _as_one(over: Integers, under: Integers) -> tuple[NDArray[Any], ...]:
    """Two tables as one that differs where either does, if the numbers leave room: pairs are so many that a copy in a
    smaller type is soon repaid.
    """
    least, low = int(over.min(initial=0)), int(under.min(initial=0))
    width = int(under.max(initial=0)) - low + 1
    most = (int(over.max(initial=0)) - least + 1) * width
    if most >= 2**31:
        return narrow(over), narrow(under)
    one = np.empty(over.shape, dtype=np.min_scalar_type(most))
    for row, of_over, of_under in zip(one, over, under, strict=True):
        row[:] = (of_over - least) * width + (of_under - low)
    return (one,)


def _integers(values: Any, name: str, dimensions: int) -> Integers:
    """The values as a contiguous read-only int64 array, or ValueError."""
    array = np.asarray(values)
    if array.ndim != dimensions:
        raise ValueError(f"{name} has {array.ndim} dimensions and needs {dimensions}")
    if array.dtype.kind not in "bui" and array.size:
        raise ValueError(f"{name} holds {array.dtype} and must hold integers")
    if array.dtype == np.uint64 and array.size and int(array.max()) >= SUM_LIMIT:
        raise ValueError(f"{name} holds a count of 2^60 or more")
    array = np.ascontiguousarray(array, dtype=np.int64).view()
    array.flags.writeable = False
    return array


def _check_sums(rows: Integers, name: str) -> None:
    # A float sum is off by less than a millionth of itself, and the limit leaves room for four times as much. Row by
    # row, because a copy of all counts would not fit beside those of many systems.
    for row in rows:
        if np.abs(row.astype(np.float64)).sum() >= SUM_LIMIT:
            raise ValueError(f"the {name} of a system sum to 2^60 or more")


def _check_denominators(rows: Integers, names: Sequence[str]) -> None:
    if rows.min(initial=0) < 0:
        raise ValueError("a denominator is negative")
    _check_sums(rows, "denominators")
    for row, name in zip(rows, names, strict=True):
        if not row.any():
            raise ValueError(f"the measure of {name} is undefined: its denominators sum to 0")


def _check_slack(slack: int, denominators: Integers) -> None:
    if slack < 0:
        raise ValueError(f"slack is {slack} and cannot be negative")
    if slack and any((row != denominators[0]).any() for row in denominators):
        raise ValueError("slack needs equal denominators, and the denominators differ")
