"""The possible ranks of systems, given which systems are significantly better than which.

This module does not test anything. If the statements "better" hold simultaneously for all pairs with some confidence,
all sets of ranks hold with the same confidence (Mogstad, Romano, Shaikh and Wilhelm 2023, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from warehouse.significance.paired import Booleans, Integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def rank_limits(better: ArrayLike) -> tuple[Integers, Integers]:
    """The lowest and the highest possible rank of each system, both of shape (systems,); rank 1 is the best.

    `better` has the shape (systems, systems): entry [a, b] says that a is significantly better than b. The lowest rank
    is 1 plus the number of systems that are significantly better; the highest is the number of systems minus the number
    that are significantly worse. Raises ValueError if `better` is not square.
    """
    known = _square(better)
    return 1 + known.sum(axis=0), len(known) - known.sum(axis=1)


def clusters(better: ArrayLike, order: Sequence[int]) -> tuple[int, ...]:
    """The cluster of each system in `order`, the best first, numbered from 1: a new cluster begins below every system
    that is significantly better than all systems that follow it (Bojar et al. 2013, section 3.2, as the WMT evaluations
    draw lines).
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
    """The rank of each value; rank 1 is the best. Equal values share the better rank, and the ranks after them are
    skipped, so 1, 1, 3.
    """
    return tuple(1 + sum(other < value if lowest_first else other > value for other in values) for value in values)


def _square(better: ArrayLike) -> Booleans:
    matrix = np.asarray(better, dtype=np.bool_)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the matrix of who is better has the shape {matrix.shape} and must be square")
    return matrix
