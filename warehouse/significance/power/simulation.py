"""Power by simulation: how often the test finds a true difference, and how much the difference is then overestimated.

From the power follow the number of units needed for a wanted power and the smallest difference that has it. This module
must not know what the units are, and must not use the observed difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, isfinite, sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.draws import POWER, SMALLEST, Draws, Sides
from evalhouse.warehouse.significance.power.populations import Population

MOST_UNITS = 10**9
"""The largest number of needed units that is reported."""

_FEW = 40
"""Up to this expected number of needed units, the number is found by trying numbers of units."""

_SHARES = (0.8, 0.92, 1.0, 1.08, 1.25)
"""The numbers of units that are simulated, as multiples of the number that is expected to be needed."""

_AMOUNTS = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.35, 1.6, 2.0)
"""The differences that are simulated, as multiples of the smallest difference that is expected to be detectable."""

_NORMAL = NormalDist()


class Criterion(Struct, frozen=True):
    """When the test finds a difference: if p is at most `level`. With `shuffles`, p is estimated by shuffling, and at
    most `most` of the shuffles may be as extreme as the observed difference; `shuffles` is None if p is exact.
    """

    level: float
    sides: Sides
    shuffles: int | None = None
    most: int = 0

    def finds(self, levels: Floats, chance: np.random.Generator) -> Booleans:
        """Whether the test finds a difference, given exact p-values; `chance` draws the shuffles."""
        if self.shuffles is None:
            return np.asarray(levels <= self.level * (1 + 1e-9))
        return np.asarray(chance.binomial(self.shuffles, np.clip(levels, 0.0, 1.0)) <= self.most)

    def least(self, differing: float) -> float:
        """The smallest possible p if `differing` units differ."""
        both = 2.0 if self.sides == "two-sided" else 1.0
        least = max(SMALLEST, min(1.0, both * pow(0.5, round(differing))))
        return least if self.shuffles is None else max(least, 1 / (self.shuffles + 1))

    @property
    def quantile(self) -> float:
        """About how many standard deviations a difference must have to be found."""
        return _NORMAL.inv_cdf(1 - self.level / (2 if self.sides == "two-sided" else 1))


class SimulatedPower(Struct, frozen=True):
    """How often a difference is found, and by what factor it is overestimated when it is found; the factor is None if
    it is never found, and if it is larger than any number in floating point.
    """

    power: float
    exaggeration: float | None


class Simulation(Struct, frozen=True):
    """A population, a test, and a source of random numbers; the number of simulations is the number of draws."""

    population: Population
    criterion: Criterion
    draws: Draws

    def powers(self, units: int, amounts: Sequence[float]) -> list[SimulatedPower | None]:
        """The power in samples of `units` units for each difference; None for a difference out of reach."""
        possible = [amount for amount in amounts if amount <= self.population.reach]
        found = iter(self._powers(units, possible) if possible else ())
        return [next(found) if amount <= self.population.reach else None for amount in amounts]

    def _powers(self, units: int, amounts: Sequence[float]) -> list[SimulatedPower]:
        draws = replace(self.draws, stream=(*_words(self.draws), units))
        chance = draws.generator(draws.shuffles, POWER)
        times, sizes = np.zeros(len(amounts)), np.zeros(len(amounts))
        for samples in self.population.samples(units, amounts, draws, self.criterion.sides):
            found = self.criterion.finds(samples.levels, chance)
            times += found.sum(axis=1)
            sizes += np.where(found, np.abs(samples.differences), 0.0).sum(axis=1)
        return [
            SimulatedPower(count / draws.shuffles, _exaggeration(size, count, amount))
            for count, size, amount in zip(times.tolist(), sizes.tolist(), amounts, strict=True)
        ]

    def least(self, units: int) -> float:
        """The smallest p that can be reached with `units` units, if the expected number of them differ."""
        return self.criterion.least(units * self.population.differing)

    # --- what has a wanted power --------------------------------------------------------------------------------------

    def needed(self, amount: float, wanted: float) -> int | None:
        """The number of units needed to find a difference with the wanted power; None if no number suffices or if it
        exceeds MOST_UNITS.
        """
        if amount > self.population.reach:
            return None
        about = self.expected_units(amount, wanted)
        if about > MOST_UNITS:
            return None
        if about <= _FEW and (few := self._few_needed(ceil(about), amount, wanted)) is not None:
            return few
        sizes = sorted({ceil(about * share) for share in _SHARES})
        known = [(sqrt(units), power) for units in sizes if 0.02 < (power := self._power(units, amount)) < 0.995]
        root = _solve_line(known, wanted)
        needed = sizes[len(sizes) // 2] if root is None else max(1, ceil(root**2))
        return needed if needed <= MOST_UNITS else None

    def _few_needed(self, about: int, amount: float, wanted: float) -> int | None:
        """The same by bisection, for few units, where the lowest reachable p matters; None if more than a few units are
        needed after all.
        """

        def enough(units: int) -> bool:
            return self.least(units) <= self.criterion.level and self._power(units, amount) >= wanted

        low, high = max(1, about // 2), about
        while not enough(high):
            low, high = high + 1, high + high // 2 + 1
            if high > 5 * _FEW:
                return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        return high

    def detectable(self, units: int, wanted: float) -> float | None:
        """The smallest difference that is found in `units` units with the wanted power; None if there is none in
        reach.
        """
        about = self.expected_amount(units, wanted)
        amounts = sorted({min(share * about, self.population.reach) for share in _AMOUNTS})
        powers = np.maximum.accumulate([0.0 if found is None else found.power for found in self.powers(units, amounts)])
        if powers[-1] < wanted:
            return None
        at = int(np.argmax(powers >= wanted))
        if not at:
            return amounts[0]
        share = (wanted - powers[at - 1]) / (powers[at] - powers[at - 1])
        return float(amounts[at - 1] + share * (amounts[at] - amounts[at - 1]))

    def _power(self, units: int, amount: float) -> float:
        return self._powers(units, [amount])[0].power

    def expected_units(self, amount: float, wanted: float) -> float:
        """The number of units that the normal approximation gives (Miller 2024, section 5)."""
        spread = self.population.spread(amount)
        root = (self.criterion.quantile * spread.exchanged + _NORMAL.inv_cdf(wanted) * spread.sampled) / amount
        # A product that is too large is infinite, where a power would be an error.
        return root * root

    def expected_amount(self, units: int, wanted: float) -> float:
        """The difference that the normal approximation gives for this number of units."""
        spread = self.population.spread(0.0)
        return (self.criterion.quantile + _NORMAL.inv_cdf(wanted)) * spread.exchanged / sqrt(units)


def _exaggeration(size: float, count: float, amount: float) -> float | None:
    """The mean size of the differences that were found, over the amount."""
    factor = size / count / amount if count and amount else inf
    return factor if isfinite(factor) else None


def _solve_line(known: Sequence[tuple[float, float]], wanted: float) -> float | None:
    """Where a straight line through the probits of powers reaches the probit of the wanted power; None if no line
    rises.
    """
    if len(known) < 2:
        return None
    places, powers = zip(*known, strict=True)
    slope, start = np.polyfit(places, [_NORMAL.inv_cdf(power) for power in powers], 1)
    return float((_NORMAL.inv_cdf(wanted) - start) / slope) if slope > 0 else None


def _words(draws: Draws) -> tuple[int, ...]:
    return draws.stream if isinstance(draws.stream, tuple) else (draws.stream,)
