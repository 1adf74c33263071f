"""The input of a significance test: the additive counts of two or more systems, with one entry per exchange unit.

A measure is a ratio of sums, factor · ΣN / ΣD. The constant factor cancels in a comparison. This module must not know
that factor, or the names of the measure, the units or the systems. It checks counts and adds them up; it does not draw
random numbers or make decisions.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grammar.value import value

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Narrow: TypeAlias = "NDArray[np.signedinteger[Any]]"
Floats: TypeAlias = "NDArray[np.float64]"
Booleans: TypeAlias = "NDArray[np.bool_]"
Places: TypeAlias = "NDArray[np.intp]"

SUM_LIMIT = 2**60
"""Numerators and denominators of a system must each sum to less than this in absolute value, so that int64 holds all
sums."""


@value(eq=False)
class Paired:
    """Two systems on the same exchange units.

    Each array has the shape (units,) and holds integers; denominators are not negative, and may be 0 in a unit. `slack`
    is for values that were rounded to fixed point: sums of numerators that differ by no more than `slack` count as
    ties. It may be above 0 only where the two denominators are equal in every unit.

    Raises ValueError for arrays that violate these rules, and if a system's denominators sum to 0, because its measure
    is undefined then.
    """

    numerator_a: Integers
    denominator_a: Integers
    numerator_b: Integers
    denominator_b: Integers
    slack: int = 0

    def __post_init__(self) -> None:
        for field in ("numerator_a", "denominator_a", "numerator_b", "denominator_b"):
            array = _integers(getattr(self, field), field, dimensions=1)
            object.__setattr__(self, field, array)
            if array.shape != self.numerator_a.shape:
                raise ValueError(f"{field} has {array.shape[0]} units and numerator_a has {self.numerator_a.shape[0]}")
        _check_sums(np.stack((self.numerator_a, self.numerator_b)), "numerators")
        denominators = np.stack((self.denominator_a, self.denominator_b))
        _check_denominators(denominators, ("the first system", "the second system"))
        _check_slack(self.slack, denominators)

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.numerator_a.shape[0])

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """ΣN and ΣD of the first system, then of the second."""
        return (
            int(self.numerator_a.sum()),
            int(self.denominator_a.sum()),
            int(self.numerator_b.sum()),
            int(self.denominator_b.sum()),
        )

    def differences(self) -> tuple[Integers, Integers]:
        """N and D of the first system minus those of the second, each of shape (units,)."""
        return self.numerator_a - self.numerator_b, self.denominator_a - self.denominator_b

    def unit_values(self) -> tuple[Floats, Floats]:
        """The value of each system on each unit, of shape (units,); NaN where it has none."""
        return quotients(self.numerator_a, self.denominator_a), quotients(self.numerator_b, self.denominator_b)

    @property
    def many(self) -> Many:
        """The two as systems 0 and 1."""
        return Many(
            np.stack((self.numerator_a, self.numerator_b)),
            np.stack((self.denominator_a, self.denominator_b)),
            self.slack,
        )

    def swapped(self) -> Paired:
        """The same data with the two systems swapped."""
        return Paired(self.numerator_b, self.denominator_b, self.numerator_a, self.denominator_a, self.slack)


@value(eq=False)
class Many:
    """Two or more systems on the same exchange units: both arrays have the shape (systems, units).

    The rules are those of `Paired`; `slack` may be above 0 only where all systems have the same denominators.
    """

    numerators: Integers
    denominators: Integers
    slack: int = 0

    def __post_init__(self) -> None:
        for field in ("numerators", "denominators"):
            object.__setattr__(self, field, _integers(getattr(self, field), field, dimensions=2))
        if self.numerators.shape != self.denominators.shape:
            raise ValueError(
                f"numerators have the shape {self.numerators.shape} and denominators {self.denominators.shape}"
            )
        if self.systems < 2:
            raise ValueError(f"a comparison needs at least two systems, not {self.systems}")
        _check_sums(self.numerators, "numerators")
        _check_denominators(self.denominators, tuple(f"system {index}" for index in range(self.systems)))
        _check_slack(self.slack, self.denominators)

    @property
    def systems(self) -> int:
        """How many systems there are."""
        return int(self.numerators.shape[0])

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.numerators.shape[1])

    def pair(self, a: int, b: int) -> Paired:
        """The two systems of rows a and b."""
        return Paired(self.numerators[a], self.denominators[a], self.numerators[b], self.denominators[b], self.slack)

    @property
    def columns(self) -> Integers:
        """Numerators and denominators together, of shape (2, systems, units)."""
        return np.stack((self.numerators, self.denominators))

    def value(self, sums: Integers | Floats) -> Floats:
        """ΣN / ΣD, of shape (any,), for sums of the columns of shape (2, any); 0 where the denominator is 0."""
        values: Floats = np.divide(sums[0], sums[1], out=np.zeros(sums[0].shape), where=sums[1] > 0)
        return values

    @property
    def tie(self) -> float:
        """The largest distance of differences that count as ties. It follows from `slack`, which requires equal
        denominators.
        """
        return 2 * self.slack / int(self.denominators[0].sum()) if self.slack else 0.0

    def spread(self, a: int, b: int) -> float:
        """The standard deviation of the null distribution of a pair's difference, to first order:
        2·√Σ(S_D·ΔN − S_N·ΔD)² / S_D², where S_N and S_D are the sums of both systems."""
        numerators = int(self.numerators[a].sum()) + int(self.numerators[b].sum())
        denominators = int(self.denominators[a].sum()) + int(self.denominators[b].sum())
        numerator = (self.numerators[a] - self.numerators[b]).astype(np.float64)
        denominator = (self.denominators[a] - self.denominators[b]).astype(np.float64)
        scores = numerator - denominator * (numerators / denominators)
        return 2 * sqrt(float(scores @ scores)) / denominators

    def values(self) -> Floats:
        """ΣN / ΣD of each system, of shape (systems,), rounded once."""
        return np.array(
            [
                int(numerator.sum()) / int(denominator.sum())
                for numerator, denominator in zip(self.numerators, self.denominators, strict=True)
            ]
        )


def narrowed(rows: Integers) -> Narrow:
    """Counts in the smallest signed type that holds them, for work that only compares or copies them."""
    low, high = int(rows.min(initial=0)), int(rows.max(initial=0))
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return rows.astype(kind)
    return rows


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


def quotients(over: Integers | Floats, under: Integers) -> Floats:
    """over / under, both of one shape; NaN where the divisor is 0."""
    without = np.full(over.shape, np.nan)
    return np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)


def _check_sums(rows: Integers, name: str) -> None:
    # A float sum is off by less than a millionth of itself, and the limit leaves room for four times as much. Row by
    # row, because a copy of all counts would not fit beside those of many systems.
    for row in rows:
        if np.abs(row.astype(np.float64)).sum() >= SUM_LIMIT:
            raise ValueError(f"the {name} of a system sum to 2^60 or more")


def _check_denominators(rows: Integers, names: tuple[str, ...]) -> None:
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
