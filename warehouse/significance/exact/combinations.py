"""Exact randomization of a function of summed counts, by how many units of each kind change places.

Units with the same differences of counts, up to sign, are of one kind. It matters only how many units of a kind change
places, and not which. So the test goes through all combinations of these numbers, each with its binomial probability. A
measure of decisions that are right or wrong has few kinds of units, however many units there are. For up to WHOLE units
exchanges are counted in integers, and p is correct to its last digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, fsum, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from warehouse.significance.distinct import distinct_columns
from warehouse.significance.exact.cost import Cost
from warehouse.significance.extreme import ExtremeFunction
from warehouse.significance.outcome import Outcome, Sides
from warehouse.significance.paired import Floats, Integers
from warehouse.significance.shuffles import binomial
from warehouse.significance.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPERATIONS = 40.0
"""The approximate cost of one combination in operations, as `Cost` counts them. Five million combinations are
affordable by default.
"""

AT_ONCE = 1 << 16
"""Combinations worked on at once."""

WHOLE = 62
"""Up to this many differing units, int64 holds the number of all exchanges."""

_MANY = 10**300


def cost(paired: Sums) -> Cost:
    """The cost of the exact test of these data."""
    return _cost(*_kinds(paired))


def exact_functional_test(paired: Sums, sides: Sides = "two-sided") -> Outcome:
    """The exact p-value of the difference of two systems in a function of sums.

    The value of a pseudo system counts as 0 if it is undefined. Raises ValueError if `cost` says that the test is not
    possible.
    """
    extreme = ExtremeFunction.of(paired, sides)
    differences, counts = _kinds(paired)
    _cost(differences, counts).check()
    if not counts.size or (extreme.two_sided and not extreme.least):
        return Outcome(1.0, "exact")
    units = int(counts.sum())
    if units <= WHOLE:
        ways = [np.array([comb(count, number) for number in range(count + 1)]) for count in counts.tolist()]
        return Outcome(sum(map(int, _extreme(extreme, differences, counts, ways))) / (1 << units), "exact")
    likely = [_binomial(count) for count in counts.tolist()]
    return Outcome(fsum(map(float, _extreme(extreme, differences, counts, likely))), "exact")


def _kinds(paired: Sums) -> tuple[Integers, Integers]:
    """The distinct differences up to sign, of shape (columns, kinds), and the number of units with each. Units without
    a difference are left out.
    """
    differences = np.stack(paired.differences())
    differences = differences[:, (differences != 0).any(axis=0)]
    first = np.take_along_axis(differences, (differences != 0).argmax(axis=0)[None, :], axis=0)
    return distinct_columns(differences * np.sign(first))


def _cost(differences: Integers, counts: Integers) -> Cost:
    units = int(counts.sum())
    if not units:
        return Cost("identical", 0.0, 0, 0, 0)
    combinations = prod(count + 1 for count in counts.tolist())
    memory = AT_ONCE * 8 * (8 * len(differences) + 2 * counts.size) + 8 * (units + counts.size)
    return Cost("combinations", OPERATIONS * min(combinations, _MANY), memory, units, int(counts.size))


def _extreme(
    extreme: ExtremeFunction, differences: Integers, counts: Integers, weights: Sequence[NDArray[Any]]
) -> Iterator[Any]:
    """The total weight of the extreme combinations, block by block. The weight of a combination is the product of the
    weights of its numbers, one for each kind.
    """
    shape = tuple((counts + 1).tolist())
    for start in range(0, prod(shape), AT_ONCE):
        stop = min(start + AT_ONCE, prod(shape))
        exchanged = np.unravel_index(np.arange(start, stop), shape)
        sums = np.repeat(extreme.totals[:, None], stop - start, axis=1)
        for difference, count, number in zip(differences.T, counts.tolist(), exchanged, strict=True):
            sums += difference[:, None] * (count - 2 * number)
        reached = np.flatnonzero(extreme.contains((sums // 2).astype(np.float64)))
        of_kinds = [of_kind[number[reached]] for of_kind, number in zip(weights, exchanged, strict=True)]
        yield np.multiply.reduce(of_kinds).sum()


def _binomial(count: int) -> Floats:
    """The probability of each number of heads among `count` fair coins, of shape (count + 1,)."""
    _, likely = binomial.weights(count, count)
    probabilities: Floats = likely / likely.sum()
    return probabilities
