"""Populations of exchange units in which two systems differ by a given amount, and the exact p of their samples.

Populations are built from the observed units. This module draws samples; it must not decide whether a test finds
something in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from math import comb, erfc, sqrt

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.draws import POWER, Draws, Sides
from evalhouse.warehouse.significance.sums import Sums

# === the p of many samples ============================================================================================
# The exact p of many samples at once, or a close approximation: by enumeration for few units, and for many units by the
# moments of the distribution that fair coins give to a sum of differences. That distribution is symmetric and its
# fourth cumulant is −2·Σd⁴, so Edgeworth's first term suffices from about a dozen units on. If all differences are
# multiples of a step, a continuity correction of half the distance between neighbouring sums is applied.

ENUMERATED = 12
"""If no more units than this differ in a sample, all its exchanges are counted."""

PATTERNS: Floats = np.where((np.arange(2 ** (ENUMERATED - 1))[:, None] >> np.arange(ENUMERATED)) & 1, -1.0, 1.0)
"""All exchanges of ENUMERATED units up to reversal, as signs of shape (exchanges, units). For fewer units each exchange
occurs equally often.
"""

_COUNTED = 1000
"""For up to this many units with differences of one size, exchanges are counted."""

_erfc = np.frompyfunc(erfc, 1, 1)


def normal_levels(standardized: Floats, kurtosis: Floats | float, step: Floats | float, sides: Sides) -> Floats:
    """p of differences that are given in standard deviations under exchanges. `kurtosis` is Σd⁴ / (Σd²)², and `step` is
    half of the distance between neighbouring values in the same units; all arrays have one shape.
    """
    z = (np.abs(standardized) if sides == "two-sided" else standardized) - step
    tail = np.asarray(_erfc(z / sqrt(2)), dtype=np.float64) / 2
    tail -= np.exp(-z * z / 2) / sqrt(2 * np.pi) * (kurtosis / 12) * (z**3 - 3 * z)
    if sides == "two-sided":
        tail *= 2
    return np.clip(tail, 0.0, 1.0)


def binomial_levels(ahead: Integers, differing: Integers, sides: Sides) -> Floats:
    """p if one system is better in `ahead` of the `differing` units and all differences have one size; arrays of one
    shape.
    """
    most = np.maximum(ahead, differing - ahead) if sides == "two-sided" else ahead
    many = np.maximum(differing, 1)
    levels = normal_levels((2 * most - differing) / np.sqrt(many), 1 / many, 1 / np.sqrt(many), "one-sided")
    for units in np.unique(differing[differing <= _COUNTED]).tolist():
        here = differing == units
        levels[here] = _tails(units)[most[here]]
    return np.minimum(1.0, 2 * levels) if sides == "two-sided" else levels


@lru_cache(maxsize=_COUNTED + 1)
def _tails(units: int) -> Floats:
    """The probability of at least 0, 1, … heads among `units` fair coins."""
    ways, total = [], 0
    for ahead in range(units, -1, -1):
        total += comb(units, ahead)
        ways.append(total)
    return np.array([count / 2**units for count in reversed(ways)])


# === populations ======================================================================================================
# If both systems have the same denominators and values of any size, the observed differences are centred and then
# shifted by the amount (`Shifted`). Units in which the systems do not differ keep a difference of 0, as in Card et al.
# (2020). If the measure is a ratio with other denominators or another function of sums, or if a unit is right or wrong,
# each unit keeps its two rows of counts: the row that favours the first system is assigned to it at random, with a
# `bias` at which the systems differ by the amount (`Oriented`, and `RightOrWrong` if all differences have one size).
# With equal chances this is the null hypothesis.

LARGE = 1000
"""In samples of more units than this, the difference may be drawn from its normal distribution instead of unit by unit.
"""

MANY_TIMES = 200
"""This is done if the number of units is this many times the kurtosis of what each unit adds, so that no small group of
units dominates.
"""

VERY_LARGE = 50_000
"""In samples of more units than this, the difference is always drawn from its normal distribution."""

_AT_ONCE = 2**16
"""The number of units drawn at once."""

_STEP = 1e-4
"""The relative step of a sum in the numerical derivative of a measure."""

_TIE = 1e-9
"""Differences whose relative distance is smaller than this are ties."""


class Samples(Struct, frozen=True):
    """Samples of a population: the difference in each and its exact p, both of shape (amounts, samples)."""

    differences: Floats
    levels: Floats


class Deviations(Struct, frozen=True):
    """The standard deviation of what one unit adds to the difference, when units are sampled and under the exchanges of
    a test.
    """

    sampled: float
    exchanged: float


class Population(Struct, frozen=True):
    """The common part of all populations: samples are drawn unit by unit, or from a normal distribution if they are
    large.

    `reach` is the largest amount by which the systems can differ, `differing` the share of units in which they do, and
    `kurtosis` that of what each unit adds to the difference.
    """

    @property
    def reach(self) -> float:
        """The largest amount."""
        raise NotImplementedError

    @property
    def differing(self) -> float:
        """The share of units."""
        raise NotImplementedError

    @property
    def kurtosis(self) -> float:
        """The kurtosis."""
        raise NotImplementedError

    def spread(self, amount: float) -> Deviations:
        """The deviations of units if the systems differ by `amount`."""
        raise NotImplementedError

    def samples(self, units: int, amounts: Sequence[float], draws: Draws, sides: Sides) -> Iterator[Samples]:
        """Samples of `units` units for each amount, in blocks; all amounts share the same units."""
        if units > VERY_LARGE or units > max(LARGE, MANY_TIMES * self.kurtosis):
            yield self._large(units, amounts, draws, sides)
            return
        for chunk, used in draws.chunks(max(1, _AT_ONCE // units)):
            yield self._drawn(units, used, amounts, draws.generator(chunk, POWER), sides)

    def _large(self, units: int, amounts: Sequence[float], draws: Draws, sides: Sides) -> Samples:
        """Large samples: the difference is taken to be normal, and its distribution under exchanges nearly so."""
        noise = draws.generator(0, POWER).standard_normal(draws.shuffles)
        spreads = [self.spread(amount) for amount in amounts]
        differences = [amount + s.sampled / sqrt(units) * noise for amount, s in zip(amounts, spreads, strict=True)]
        levels = [
            normal_levels(sampled * (sqrt(units) / s.exchanged), self.kurtosis / units, 0.0, sides)
            for sampled, s in zip(differences, spreads, strict=True)
        ]
        return Samples(np.array(differences), np.array(levels))

    def _drawn(
        self, units: int, samples: int, amounts: Sequence[float], chance: np.random.Generator, sides: Sides
    ) -> Samples:
        raise NotImplementedError


class Shifted(Population, frozen=True, dict=True):
    """Centred differences of units, the weights with which an amount is added to them (0 where the systems do not
    differ), and denominators; all of shape (units,). Weights and denominators have the mean 1. The difference of a
    sample is its sum of differences divided by its sum of denominators.
    """

    centred: Floats
    weights: Floats
    denominators: Floats
    reach: float = np.inf

    @classmethod
    def of(cls, systems: Sums, factor: float) -> Shifted:
        """The population of the units of two systems with equal denominators."""
        under = systems.denominators[0].astype(np.float64)
        differences = factor * (systems.numerators[0] - systems.numerators[1]) / under.mean()
        weights = np.where(differences != 0, under, 0.0)
        weights = _over(weights, np.broadcast_to(weights.mean(), weights.shape))
        return cls(differences - weights * differences.mean(), weights, under / under.mean())

    @property
    def differing(self) -> float:
        return float(np.mean(self.weights > 0))

    def spread(self, amount: float) -> Deviations:
        shifted = self.centred + amount * self.weights
        sampled = shifted - amount * self.denominators
        return Deviations(sqrt(float(np.mean(sampled**2))), sqrt(float(np.mean(shifted**2))))

    @property
    def kurtosis(self) -> float:
        return kurtosis(self.centred)

    @cached_property
    def _powers(self) -> Floats:
        """The terms of the sums of shifted differences, of their squares and of their fourth powers, and the
        denominators; of shape (units, any).
        """
        x, w = self.centred, self.weights
        fourth = (x**4, x**3 * w, x**2 * w**2, x * w**3, w**4)
        return np.stack((x, w, x**2, x * w, w**2, *fourth, self.denominators), axis=1)

    def _drawn(
        self, units: int, samples: int, amounts: Sequence[float], chance: np.random.Generator, sides: Sides
    ) -> Samples:
        drawn = chance.integers(0, self.centred.size, size=(samples, units))
        sums = self._powers[drawn].sum(axis=1)
        differences, levels = [], []
        for amount in amounts:
            powers = amount ** np.arange(5)
            total = sums[:, 0:2] @ powers[:2]
            square = sums[:, 2:5] @ (powers[:3] * (1, 2, 1))
            fourth = sums[:, 5:10] @ (powers * (1, 4, 6, 4, 1))
            deviation = np.sqrt(np.maximum(square, 0.0))
            of_amount = normal_levels(_over(total, deviation), _over(fourth, square**2), 0.0, sides)
            for some, units_of in _few_differing(self.weights > 0, drawn):
                exchanged = (self.centred + amount * self.weights)[units_of] * (self.weights > 0)[units_of]
                among = exchanged @ PATTERNS[:, : exchanged.shape[1]].T
                of_amount[some] = _levels_among(among, total[some, None], sides)[:, 0]
            levels.append(of_amount)
            differences.append(_over(total, sums[:, 10]))
        return Samples(np.array(differences), np.array(levels))


class Oriented(Population, frozen=True, dict=True):
    """The two rows of counts of each unit: their sum, and their difference, the row that favours the first system minus
    the other; both of shape (units, columns). `systems` turns sums of the columns into values, which are multiplied by
    `factor`. `step` is the greatest common divisor of all differences of numerators, 0 if it is not defined.
    """

    systems: Sums
    factor: float
    sums: Floats
    differences: Floats
    step: float

    @classmethod
    def of(cls, systems: Sums, factor: float) -> Oriented:
        """The population of the units of two systems."""
        columns = systems.table.astype(np.float64)
        sums, differences = columns.sum(axis=1), columns[:, 0] - columns[:, 1]
        totals = sums.sum(axis=1)
        alone = np.einsum("c,cu->u", _slopes(systems, totals[None] / 2)[0], differences)
        step = 0.0
        if systems.is_ratio and not differences[1].any():
            step = float(np.gcd.reduce(np.abs(systems.numerators[0] - systems.numerators[1])))
        oriented = np.where(alone < 0, -1.0, 1.0) * differences
        return cls(systems, factor, np.ascontiguousarray(sums.T), np.ascontiguousarray(oriented.T), step)

    @cached_property
    def reach(self) -> float:
        return self._amount(1.0)

    @cached_property
    def _differs(self) -> Booleans:
        return np.asarray((self.differences != 0).any(axis=1))

    @property
    def differing(self) -> float:
        return float(np.mean(self._differs))

    def bias(self, amount: float) -> float:
        """The probability that a unit favours the first system minus the probability that it does not, if the systems
        differ by `amount`. Raises ValueError for an amount out of reach.
        """
        if amount > self.reach:
            raise ValueError(f"the systems can differ by at most {self.reach}, not by {amount}")
        if amount not in self._biases:
            low, high = 0.0, 1.0
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if self._amount(middle) < amount else (low, middle)
            self._biases[amount] = high
        return self._biases[amount]

    @cached_property
    def _biases(self) -> dict[float, float]:
        """The biases that were found, by their amounts."""
        return {}

    def _amount(self, bias: float) -> float:
        """The amount by which the systems differ at a bias."""
        return float(self._difference(self.sums.sum(axis=0)[None], bias * self.differences.sum(axis=0)[None])[0])

    def _difference(self, sums: Floats, differences: Floats) -> Floats:
        """The difference of the two systems, given the sums and the differences of their columns, both of shape (any,
        columns).
        """
        first, second = (self.systems.value((sums + turned).T / 2) for turned in (differences, -differences))
        return self.factor * (first - second)

    @cached_property
    def _alone(self) -> Floats:
        """What each unit adds to the difference to first order, of shape (units,), times the number of units."""
        slopes = _slopes(self.systems, self.sums.sum(axis=0)[None] / 2)[0]
        return np.asarray(self.factor * len(self.sums) * (self.differences @ slopes))

    def spread(self, amount: float) -> Deviations:
        square = float(np.mean(self._alone**2))
        return Deviations(sqrt(max(0.0, square - amount**2)), sqrt(square))

    @property
    def kurtosis(self) -> float:
        return kurtosis(self._alone)

    @cached_property
    def _table(self) -> Floats:
        """The terms that are summed over a sample and do not depend on which system a unit favours, of shape (units,
        any): sums of both rows, products of differences, and powers of the first-order contributions of units.
        """
        a, b = np.triu_indices(self.differences.shape[1])
        products = self.differences[:, a] * self.differences[:, b]
        alone = self._alone[:, None]
        return np.concatenate((self.sums, products, alone**2, alone**4), axis=1)

    def _drawn(
        self, units: int, samples: int, amounts: Sequence[float], chance: np.random.Generator, sides: Sides
    ) -> Samples:
        drawn = chance.integers(0, len(self.sums), size=(samples, units))
        speaks, rows = chance.random((samples, 1, units)), self.differences[drawn]
        table = self._table[drawn].sum(axis=1)
        sums = table[:, : self.sums.shape[1]]
        turned = (np.where(speaks < (1 + self.bias(amount)) / 2, 1.0, -1.0) @ rows for amount in amounts)
        differences = np.stack([self._difference(sums, of_amount[:, 0]) for of_amount in turned])
        levels = self._levels(table, sums, differences, sides)
        for some, units_of in _few_differing(self._differs, drawn):
            levels[:, some] = self._enumerate(units_of, sums[some], differences[:, some], sides)
        return Samples(differences, levels)

    def _levels(self, table: Floats, sums: Floats, differences: Floats, sides: Sides) -> Floats:
        """p of each sample from the moments of its distribution under exchanges."""
        slopes = self.factor * _slopes(self.systems, sums / 2)
        a, b = np.triu_indices(self.differences.shape[1])
        products = slopes[:, a] * slopes[:, b] * np.where(a == b, 1.0, 2.0)
        square = np.sum(products * table[:, sums.shape[1] : -2], axis=1)
        deviation = np.sqrt(np.maximum(square, 0.0))
        step = _over(np.full(len(sums), 2 * self.factor * self.step), sums[:, 1]) if self.step else 0.0
        kurtosis = _over(table[:, -1], table[:, -2] ** 2)
        return np.stack(
            [normal_levels(_over(one, deviation), kurtosis, _over(step, deviation), sides) for one in differences]
        )

    def _enumerate(self, units_of: Places, sums: Floats, differences: Floats, sides: Sides) -> Floats:
        """p of samples in which few units differ, over all exchanges of these units."""
        exchanged = PATTERNS[:, : units_of.shape[1]] @ self.differences[units_of]
        columns = sums.shape[1]
        both = np.broadcast_to(sums[:, None, :], exchanged.shape)
        among = self._difference(both.reshape(-1, columns), exchanged.reshape(-1, columns))
        return _levels_among(among.reshape(len(units_of), -1), differences.T, sides).T


class RightOrWrong(Population, frozen=True):
    """Units that differ by the same size or not at all. `differing` is the share of units that differ, and `size` the
    difference in a sample of one unit.
    """

    differing: float
    size: float

    @property
    def kurtosis(self) -> float:
        return 1 / self.differing

    @property
    def reach(self) -> float:
        return self.differing * self.size

    def bias(self, amount: float) -> float:
        """The bias of a unit, as for `Oriented`."""
        if amount > self.reach:
            raise ValueError(f"the systems can differ by at most {self.reach}, not by {amount}")
        return amount / self.reach

    def spread(self, amount: float) -> Deviations:
        square = self.differing * self.size**2
        return Deviations(sqrt(max(0.0, square - amount**2)), sqrt(square))

    def samples(self, units: int, amounts: Sequence[float], draws: Draws, sides: Sides) -> Iterator[Samples]:
        differences, levels = [], []
        for amount in amounts:
            chance = draws.generator(0, POWER)
            differing = chance.binomial(units, self.differing, size=draws.shuffles)
            ahead = chance.binomial(differing, (1 + self.bias(amount)) / 2)
            differences.append(self.size * (2 * ahead - differing) / units)
            levels.append(binomial_levels(ahead, differing, sides))
        yield Samples(np.array(differences), np.array(levels))


def population_of(systems: Sums, factor: float, shifted: bool) -> Population | None:
    """The population that fits the units of two systems; None if they do not differ in their measure in any unit.
    `shifted` requests shifted differences, which need equal denominators. Differences that are all of one size are
    never shifted, because nothing would vary then.
    """
    if shifted and systems.is_ratio:
        differences = factor * (systems.numerators[0] - systems.numerators[1])
        if np.unique(differences[differences != 0]).size > 1:
            return Shifted.of(systems, factor)
    if systems.is_ratio and (one := _of_one_size(systems, factor)) is not None:
        return one if one.differing else None
    oriented = Oriented.of(systems, factor)
    return oriented if oriented.reach > 0 else None


def _of_one_size(systems: Sums, factor: float) -> RightOrWrong | None:
    """The population of units that all differ by the same size, such as items that are right or wrong; None if they do
    not.
    """
    under = systems.denominators
    if under.min() != under.max():
        return None
    sizes = np.abs(systems.numerators[0] - systems.numerators[1])
    if np.unique(sizes[sizes > 0]).size > 1:
        return None
    return RightOrWrong(float(np.mean(sizes > 0)), factor * float(sizes.max()) / float(under[0, 0]))


def kurtosis(values: Floats) -> float:
    """The mean of the fourth powers divided by the square of the mean of the squares."""
    return float(np.mean(values**4) / np.mean(values**2) ** 2)


def _slopes(systems: Sums, sums: Floats) -> Floats:
    """The derivative of the value with respect to each sum, for sums of shape (any, columns); of the same shape."""
    if systems.valuation.slopes is not None:
        return np.nan_to_num(systems.valuation.slopes(sums.T)).T
    slopes = np.zeros_like(sums)
    for column in range(sums.shape[1]):
        step = np.zeros_like(sums)
        step[:, column] = _STEP * np.abs(sums[:, column])
        change = systems.value((sums + step).T) - systems.value((sums - step).T)
        slopes[:, column] = _over(change, 2 * step[:, column])
    return slopes


def _few_differing(differs: Booleans, drawn: Places) -> Iterator[tuple[Places, Places]]:
    """The samples in which at most ENUMERATED units differ, in blocks, with the differing units of each sample, padded
    with units that do not differ. `differs` says which units differ, and `drawn` which were drawn.
    """
    few = np.flatnonzero(differs[drawn].sum(axis=1) <= ENUMERATED)
    for some in np.array_split(few, -(-few.size // 256)) if few.size else ():
        first = np.argsort(~differs[drawn[some]], axis=1, kind="stable")[:, :ENUMERATED]
        yield some, np.take_along_axis(drawn[some], first, axis=1)


def _levels_among(exchanged: Floats, observed: Floats, sides: Sides) -> Floats:
    """The share of the given exchanges and their opposites that are at least as extreme as each observed difference of
    a sample. `exchanged` has the shape (samples, exchanges), `observed` the shape (samples, any).
    """
    tie = _TIE * np.abs(exchanged).max(axis=1, keepdims=True)
    if sides == "two-sided":
        sizes = np.abs(exchanged) + tie
        return np.stack([np.mean(sizes >= one[:, None], axis=1) for one in np.abs(observed).T], axis=1)
    shares = [
        (np.mean(exchanged + tie >= one[:, None], axis=1) + np.mean(tie - exchanged >= one[:, None], axis=1)) / 2
        for one in observed.T
    ]
    return np.stack(shares, axis=1)


def _over(numerators: Floats | float, denominators: Floats) -> Floats:
    """The quotients; 0 where the denominator is 0."""
    quotients = np.zeros(denominators.shape)
    return np.asarray(np.divide(numerators, denominators, out=quotients, where=denominators > 0))
