"""Randomization by the definition, in fractions, over every exchange or over given ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from evalhouse.warehouse.significance.draws import Sides
from evalhouse.warehouse.significance.sums import Sums

ANY_COUNTS = "any"
EQUAL_DENOMINATORS = "equal"


def differences(paired: Sums, exchanges: Iterator[tuple[bool, ...]]) -> list[Fraction]:
    """The difference of the measures after each exchange; a measure without denominator counts as 0."""
    columns = (paired.numerators[0], paired.denominators[0], paired.numerators[1], paired.denominators[1])
    units = list(zip(*(column.tolist() for column in columns), strict=True))
    found = []
    for exchange in exchanges:
        top_a = bottom_a = top_b = bottom_b = 0
        for changed, (n_a, d_a, n_b, d_b) in zip(exchange, units, strict=True):
            if changed:
                n_a, d_a, n_b, d_b = n_b, d_b, n_a, d_a
            top_a, bottom_a, top_b, bottom_b = top_a + n_a, bottom_a + d_a, top_b + n_b, bottom_b + d_b
        of_a = Fraction(top_a, bottom_a) if bottom_a else Fraction(0)
        of_b = Fraction(top_b, bottom_b) if bottom_b else Fraction(0)
        found.append(of_a - of_b)
    return found


def extreme(paired: Sums, exchanges: Iterator[tuple[bool, ...]], sides: Sides) -> int:
    """How many of the exchanges differ at least as much as what was observed."""
    observed = differences(paired, iter([(False,) * paired.units]))[0]
    tie = Fraction(paired.slack, int(paired.denominators[0].sum()))
    found = differences(paired, exchanges)
    if sides == "two-sided":
        return sum(abs(difference) >= abs(observed) - tie for difference in found)
    return sum(difference >= observed - tie for difference in found)


def all_exchanges(units: int) -> Iterator[tuple[bool, ...]]:
    """All 2^units of them."""
    return product((False, True), repeat=units)


def exact(paired: Sums, sides: Sides) -> Fraction:
    """The exact significance level."""
    return Fraction(extreme(paired, all_exchanges(paired.units), sides), 2**paired.units)


def random_counts(
    source: np.random.Generator,
    units: int,
    systems: int = 2,
    scale: int = 1,
    no_denominator: float = 0.3,
    kind: str = ANY_COUNTS,
) -> tuple[Any, Any]:
    """Numerators and denominators of shape (systems, units), with every system's measure defined.

    Numerators may be negative, and not 0 where the denominator is: more than any real measure has.
    """
    while True:
        denominators = source.integers(0, 6, (systems, units)) * (source.random((systems, units)) >= no_denominator)
        if kind == EQUAL_DENOMINATORS:
            denominators[:] = denominators[0]
        if denominators.any(axis=1).all():
            return source.integers(-2, 6, (systems, units)) * scale, denominators


def muc_counts(source: np.random.Generator, systems: int, documents: int, possible_varies: bool = False) -> Any:
    """Counts shaped like those of an extraction evaluation, (systems, documents, 4): possible, actual, correct,
    partial."""
    possible = source.integers(0, 30, documents)
    counts = np.zeros((systems, documents, 4), dtype=np.int64)
    for system in range(systems):
        here = possible + source.integers(0, 3, documents) if possible_varies else possible
        actual = source.poisson(np.maximum(here, 1) * 0.8)
        matched = np.minimum(here, actual)
        correct = source.binomial(matched, 0.4 + 0.3 * system / systems)
        counts[system] = np.stack((here, actual, correct, source.binomial(matched - correct, 0.2)), axis=1)
    return counts


def recall(counts: Any) -> tuple[Any, Any]:
    """Numerator and denominator of recall, without its factor."""
    return 2 * counts[..., 2] + counts[..., 3], counts[..., 0]


def precision(counts: Any) -> tuple[Any, Any]:
    """Numerator and denominator of precision, without its factor."""
    return 2 * counts[..., 2] + counts[..., 3], counts[..., 1]


def f(counts: Any, beta_square: tuple[int, int] = (1, 1)) -> tuple[Any, Any]:
    """Numerator and denominator of F, without its factor; β² as a fraction of two integers."""
    above, below = beta_square
    return 2 * counts[..., 2] + counts[..., 3], above * counts[..., 0] + below * counts[..., 1]


def paired(counts: tuple[Any, Any], a: int = 0, b: int = 1, slack: int = 0) -> Sums:
    """Two systems out of numerators and denominators."""
    return Sums.of_two(counts[0][a], counts[1][a], counts[0][b], counts[1][b], slack)
