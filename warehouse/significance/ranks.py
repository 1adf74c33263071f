"""The ranks that systems may have, from which of them are better than which.

Numbers in, numbers out: nothing is tested here. Where every "better" holds with one confidence for all pairs together,
so do all sets of ranks (Mogstad, Romano, Shaikh and Wilhelm 2023, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from warehouse.significance.paired import Booleans, Integers


def rank_limits(better: ArrayLike) -> tuple[Integers, Integers]:
    """The lowest and the highest rank of each system, both of shape (systems,), the best being 1.

    `better` has the shape (systems, systems): entry [a, b] says that a is surely better than b. No rank is better than
    one behind all that are surely better, nor worse than one before all that are surely worse. Raises ValueError where
    it is no square.
    """
    known = _square(better)
    return 1 + known.sum(axis=0), len(known) - known.sum(axis=1)


def clusters(better: ArrayLike, order: Sequence[int]) -> tuple[int, ...]:
    """The cluster of each system in `order`, the best first, numbered from 1: a new one begins below every system that
    is surely better than all that follow it (Bojar et al. 2013, section 3.2, as the WMT evaluations draw lines).
    """
    known = _square(better)
    numbers: list[int] = []
    cluster = 1
    for place, system in enumerate(order):
        numbers.append(cluster)
        if place + 1 < len(order) and known[system, list(order[place + 1 :])].all():
            cluster += 1
    return tuple(numbers)


def places(values: Sequence[float] | Sequence[Fraction], lowest_first: bool) -> tuple[int, ...]:
    """The rank of each value, the best being 1; equal values share the better rank, and the next has so many more."""
    return tuple(1 + sum(other < value if lowest_first else other > value for other in values) for value in values)


def _square(better: ArrayLike) -> Booleans:
    matrix = np.asarray(better, dtype=np.bool_)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix of who is better has the shape {matrix.shape} and must be square")
    return matrix
