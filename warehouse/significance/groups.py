"""Groups of systems that do not differ significantly, and the ranks that each system may have.

This module takes verdicts on pairs. It must not test anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from evalhouse.warehouse.significance.arrays import Booleans, Integers

# === significance groups ==============================================================================================
# The maximal sets of systems that do not differ pairwise, and the letters that show them. Chinchor (1992) draws such
# groups as bars beside a ranking. The letters are the compact letter display of Piepho (2004): two systems share a
# letter if and only if they do not differ significantly.

MOST_GROUPS = 2000
"""With more groups than this, letters are no longer informative; there can be 3^(systems / 3) groups."""


class Groups(Struct, frozen=True):
    """The groups of a ranking.

    `members` has the systems of each group from the best to the worst. Groups are in the order of their letters: by the
    rank of their best member, then of the next member, and so on. `letters` has the letters of each system, in the
    order of the matrix. `complete` is false if there were more than MOST_GROUPS groups. Then only groups of neighbours
    in the ranking are given, and systems that do not share a letter need not differ.
    """

    members: tuple[tuple[int, ...], ...]
    letters: tuple[tuple[str, ...], ...]
    complete: bool = True


def letters(different: ArrayLike, order: Sequence[int]) -> Groups:
    """The groups of a ranking, given which pairs differ, of shape (systems, systems) and symmetric (Piepho 2004,
    Journal of Computational and Graphical Statistics 13, 456-466). `order` lists the systems from the best to the
    worst, each once; ValueError is raised for anything else.
    """
    matrix = np.asarray(different, dtype=bool)
    systems = matrix.shape[0] if matrix.ndim else 0
    if matrix.shape != (systems, systems):
        raise ValueError(f"the matrix of differences has the shape {matrix.shape} and must be square")
    if (matrix != matrix.T).any():
        raise ValueError("a system differs from another that does not differ from it")
    if sorted(order) != list(range(systems)):
        raise ValueError(f"the ranking must name each of the {systems} systems once")
    # From here on systems are represented by their ranks, so that sorting follows the ranking.
    ranked = matrix[np.ix_(order, order)]
    alike = [frozenset(np.flatnonzero(~row).tolist()) - {rank} for rank, row in enumerate(ranked)]
    cliques = _cliques(alike)
    groups = sorted(_neighbours(alike) if cliques is None else cliques)
    members = tuple(tuple(int(order[rank]) for rank in group) for group in groups)
    lettered: list[list[str]] = [[] for _ in range(systems)]
    for index, group in enumerate(members):
        for system in group:
            lettered[system].append(_letter(index))
    return Groups(members, tuple(map(tuple, lettered)), cliques is not None)


def _cliques(alike: list[frozenset[int]]) -> list[tuple[int, ...]] | None:
    """All maximal sets of ranks that do not differ pairwise (Bron & Kerbosch 1973, with a pivot); None if there are too
    many.
    """
    cliques: list[tuple[int, ...]] = []
    if not alike:
        return cliques
    waiting: list[tuple[tuple[int, ...], frozenset[int], frozenset[int]]] = [
        ((), frozenset(range(len(alike))), frozenset())
    ]
    while waiting:
        chosen, candidates, excluded = waiting.pop()
        if not candidates:
            if not excluded:
                cliques.append(tuple(sorted(chosen)))
                if len(cliques) > MOST_GROUPS:
                    return None
            continue
        pivot = max(candidates | excluded, key=lambda rank: len(candidates & alike[rank]))
        for rank in sorted(candidates - alike[pivot]):
            waiting.append(((*chosen, rank), candidates & alike[rank], excluded & alike[rank]))
            candidates = candidates - {rank}
            excluded = excluded | {rank}
    return cliques


def _neighbours(alike: list[frozenset[int]]) -> list[tuple[int, ...]]:
    """All maximal runs of neighbouring ranks that do not differ pairwise."""
    groups: list[tuple[int, ...]] = []
    first = 0
    for after in range(1, len(alike) + 1):
        if after < len(alike) and alike[after].issuperset(range(first, after)):
            continue
        groups.append(tuple(range(first, after)))
        while after < len(alike) and not alike[after].issuperset(range(first, after)):
            first += 1
    return groups


def _letter(index: int) -> str:
    """a, b, …, z, aa, ab, …"""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(ord("a") + rest) + name
    return name


# === possible ranks ===================================================================================================
# If the statements "better" hold simultaneously for all pairs with some confidence, all sets of ranks hold with the
# same confidence (Mogstad, Romano, Shaikh and Wilhelm 2023, section 3).


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
