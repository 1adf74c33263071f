"""Power by simulation: how often the test finds a difference that is there, and by how much it then exaggerates it.

From the power follow the number of units that are needed for a wanted one, and the smallest difference that has it.
Nothing here knows what the units are, and nothing is asked of the difference that was observed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt
from statistics import NormalDist

import numpy as np

from warehouse.significance.draws import POWER, Draws
from warehouse.significance.outcome import SMALLEST, Sides
from warehouse.significance.paired import Booleans, Floats
from warehouse.significance.power.populations import Population

MOST_UNITS = 10**9
"""No more units than this are said to be needed."""

_FEW = 40
"""Where no more units than this are expected to be needed, numbers of units are tried."""

_SHARES = (0.8, 0.92, 1.0, 1.08, 1.25)
"""Around the number of units that is expected to be needed, these are simulated, in shares of it."""

_AMOUNTS = (0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.35, 1.6, 2.0)
"""And these around the smallest difference that is expected to be detectable."""

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Criterion:
    """When the test finds something: p at most at the `level`. With `shuffles`, p is not counted but shuffled, and at
    most `most` of them may come out as extreme as what was observed; None where p is exact.
    """

    level: float
    sides: Sides
    shuffles: int | None = None
    most: int = 0

    def finds(self, levels: Floats, chance: np.random.Generator) -> Booleans:
        """Whether it finds something, given the exact p."""
        if self.shuffles is None:
            return np.asarray(levels <= self.level * (1 + 1e-9))
        return np.asarray(chance.binomial(self.shuffles, np.clip(levels, 0.0, 1.0)) <= self.most)

    def least(self, differing: float) -> float:
        """The smallest p that there can be where so many units differ."""
        both = 2.0 if self.sides == "two-sided" else 1.0
        least = max(SMALLEST, min(1.0, both * pow(0.5, round(differing))))
        return least if self.shuffles is None else max(least, 1 / (self.shuffles + 1))

    @property
    def quantile(self) -> float:
        """How many standard deviations a difference has to be, about."""
        return _NORMAL.inv_cdf(1 - self.level / (2 if self.sides == "two-sided" else 1))


@dataclass(frozen=True, slots=True)
class SimulatedPower:
    """How often a difference is found, and how much larger it seems than it is where it is; None where it never is."""

    power: float
    exaggeration: float | None


@dataclass(frozen=True, slots=True)
class Simulation:
    """A population, the test, and from where chance comes; there are as many simulations as draws."""

    population: Population
    criterion: Criterion
    draws: Draws

    def powers(self, units: int, amounts: Sequence[float]) -> list[SimulatedPower | None]:
        """What is found in samples of so many units of each difference; None for one out of reach."""
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
            SimulatedPower(count / draws.shuffles, size / count / amount if count and amount else None)
            for count, size, amount in zip(times.tolist(), sizes.tolist(), amounts, strict=True)
        ]

    def least(self, units: int) -> float:
        """The smallest p that can be reached with so many units, as many of which differ as can be expected."""
        return self.criterion.least(units * self.population.differing)

    # --- what has a wanted power --------------------------------------------------------------------------------------

    def needed(self, amount: float, wanted: float) -> int | None:
        """How many units are needed to find a difference with a power; None where no number would do, or more than
        MOST_UNITS.
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
        root = _solved(known, wanted)
        needed = sizes[len(sizes) // 2] if root is None else max(1, ceil(root**2))
        return needed if needed <= MOST_UNITS else None

    def _few_needed(self, about: int, amount: float, wanted: float) -> int | None:
        """The same by halving, where few are needed and the lowest p that can be reached decides; None where more than
        a few are needed after all."""

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
        """The smallest difference that is found in so many units with a power; None where none in reach is."""
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
        """How many units the normal distribution lets expect (Miller 2024, section 5)."""
        spread = self.population.spread(amount)
        return ((self.criterion.quantile * spread.exchanged + _NORMAL.inv_cdf(wanted) * spread.sampled) / amount) ** 2

    def expected_amount(self, units: int, wanted: float) -> float:
        """And which difference is expected to be found in so many."""
        spread = self.population.spread(0.0)
        return (self.criterion.quantile + _NORMAL.inv_cdf(wanted)) * spread.exchanged / sqrt(units)


def _solved(known: Sequence[tuple[float, float]], wanted: float) -> float | None:
    """Where a line through the probits of powers reaches that of the wanted one; None where no line rises."""
    if len(known) < 2:
        return None
    places, powers = zip(*known, strict=True)
    slope, start = np.polyfit(places, [_NORMAL.inv_cdf(power) for power in powers], 1)
    return float((_NORMAL.inv_cdf(wanted) - start) / slope) if slope > 0 else None


def _words(draws: Draws) -> tuple[int, ...]:
    return draws.stream if isinstance(draws.stream, tuple) else (draws.stream,)
