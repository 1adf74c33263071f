"""Exact randomization: the share of all 2^units exchanges that are at least as extreme as observed.

The method and its cost follow from the data, so the cost is known in advance. The null distribution is symmetric, and
every method finds the probability of its upper tail. If exchanges are counted in integers, this is a fraction, and p is
correct to its last digit.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec.structs import replace

from evalhouse.warehouse.significance.distributions import binomial_tail
from evalhouse.warehouse.significance.draws import Outcome, Sides
from evalhouse.warehouse.significance.exact import dynamic, fourier
from evalhouse.warehouse.significance.exact.lattice import MOST_UNITS, Cost, Lattice, Way, enumerate_exchanges, halves
from evalhouse.warehouse.significance.extreme import Extreme
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.two_systems import Distinct

_SMALL_TABLE = 1e7
"""The table is the most accurate method. Up to this cost it is used even if another method is cheaper."""


def cost(paired: Sums) -> Cost:
    """What the exact test of these data would take."""
    return _cost(paired, Extreme.of(paired))[0]


def exact_test(paired: Sums, sides: Sides = "two-sided") -> Outcome:
    """The exact significance level of the difference of two systems (Chinchor 1992, MUC-4, 30-50), of integers of shape
    (units,). Raises ValueError where `cost` says that the test is not possible.
    """
    observed = Extreme.of(paired, sides)
    estimate, lattice = _cost(paired, observed)
    estimate.check()
    if lattice is None or (sides == "two-sided" and observed.sign == 0):
        return Outcome(1.0, "exact")
    # The methods need an observed difference of at least 0. For a negative one, one-sided p is 1 minus the strict upper
    # tail of the opposite difference.
    upper = Extreme.of(paired, "one-sided")
    p: Fraction | float
    if sides == "two-sided":
        p = 2 * _tail(estimate.way, lattice, upper if observed.sign > 0 else upper.opposite(), False)
    elif estimate.way == "binomial" or observed.sign > 0 or (observed.sign == 0 and not upper.flat):
        p = _tail(estimate.way, lattice, upper, False)
    else:
        rest = replace(upper, u=upper.slack - upper.u, v=-upper.v, slack=0)
        p = 1 - _tail(estimate.way, lattice, rest, True)
    return Outcome(float(p), "exact")


def _cost(paired: Sums, observed: Extreme) -> tuple[Cost, Lattice | None]:
    distinct = Distinct.of(paired)
    if not distinct.size:
        return Cost("identical", 0.0, 0, 0, 0), None
    lattice = Lattice.of(distinct)
    units = lattice.units

    def priced(way: Way, operations: float, size: int) -> Cost:
        return Cost(way, operations, size, units, distinct.size)

    if observed.flat and lattice.x.min() == lattice.x.max():
        return priced("binomial", 1000.0, 0), lattice
    if units <= dynamic.MOST_UNITS:
        table = priced("table", *dynamic.operations(lattice))
        if table.operations <= _SMALL_TABLE:
            return table, lattice
    else:
        table = priced("table", np.inf, 0)
    offers = [table, priced("transform", *fourier.operations(lattice, fourier.standard_errors(lattice, observed)))]
    if units <= MOST_UNITS:
        offers.append(priced("listing", 30.0 * 2.0**units, 40 * 2**units))
    if observed.flat and units <= 2 * MOST_UNITS:
        half = (units + 1) // 2
        offers.append(priced("halves", 200.0 * 2**half, 40 * 2**half))
    return min(offers, key=lambda offer: (not offer.possible, offer.operations)), lattice


def _tail(way: Way, lattice: Lattice, extreme: Extreme, strict: bool) -> Fraction | float:
    """The probability of an exchange at least as extreme, or more extreme where `strict`, on the upper side."""
    if way == "binomial":
        # X = x·(2·heads − units) must reach the bound.
        bound = extreme.least(0, strict)
        step = lattice.across * int(lattice.x[0])
        return binomial_tail(-(-(-(-bound // step) + lattice.units) // 2), lattice.units)
    if way == "table":
        return dynamic.tail(lattice, extreme, strict)
    if way == "halves":
        return halves(lattice, extreme, strict)
    if way == "listing":
        return enumerate_exchanges(lattice, extreme, strict)
    return fourier.tail(lattice, extreme, strict)
