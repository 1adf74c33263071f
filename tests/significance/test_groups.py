"""Significance groups and their letters."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evalhouse.warehouse.significance import groups


def differing(systems: int, pairs: list[tuple[int, int]]) -> Any:
    matrix = np.zeros((systems, systems), dtype=bool)
    for a, b in pairs:
        matrix[a, b] = matrix[b, a] = True
    return matrix


def test_a_ranking_with_overlapping_groups() -> None:
    """Only the first and the last differ: two groups that share the middle."""
    found = groups.letters(differing(3, [(0, 2)]), [0, 1, 2])
    assert found == groups.Groups(((0, 1), (1, 2)), (("a",), ("a", "b"), ("b",)))


def test_letters_follow_the_ranking_and_not_the_matrix() -> None:
    found = groups.letters(differing(4, [(0, 3), (0, 1), (2, 3)]), [3, 1, 2, 0])
    assert found.members == ((3, 1), (1, 2), (2, 0))
    assert found.letters == (("c",), ("a", "b"), ("b", "c"), ("a",))


def test_extremes() -> None:
    assert groups.letters(differing(3, []), [2, 0, 1]).members == ((2, 0, 1),)
    apart = groups.letters(~np.eye(3, dtype=bool), [2, 0, 1])
    assert apart.members == ((2,), (0,), (1,))
    assert apart.letters == (("b",), ("c",), ("a",))
    assert groups.letters(np.zeros((0, 0)), []).members == ()


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
def test_systems_share_a_letter_if_and_only_if_they_do_not_differ(share: float) -> None:
    """And the groups are all the maximal ones, found by going through all sets of systems."""
    source = np.random.default_rng(int(10 * share))
    for _ in range(20):
        systems = int(source.integers(1, 9))
        pairs = [pair for pair in combinations(range(systems), 2) if source.random() < share]
        different = differing(systems, pairs)
        found = groups.letters(different, source.permutation(systems).tolist())
        for a, b in combinations(range(systems), 2):
            assert bool(set(found.letters[a]) & set(found.letters[b])) == (not different[a, b])
        alike = [
            set(some)
            for size in range(1, systems + 1)
            for some in combinations(range(systems), size)
            if not any(different[a, b] for a, b in combinations(some, 2))
        ]
        maximal = [some for some in alike if not any(some < other for other in alike)]
        assert sorted(map(sorted, maximal)) == sorted(map(sorted, found.members))


def test_after_z_comes_aa() -> None:
    found = groups.letters(~np.eye(60, dtype=bool), list(range(60)))
    assert [found.letters[rank][0] for rank in (0, 25, 26, 27, 51, 52)] == ["a", "z", "aa", "ab", "az", "ba"]


def test_too_many_groups_fall_back_to_neighbours() -> None:
    """Threes whose members differ, and all else alike: 3^k groups; then only runs of the ranking are given."""
    systems = 24
    pairs = [(a, b) for a, b in combinations(range(systems), 2) if a // 3 == b // 3]
    found = groups.letters(differing(systems, pairs), list(range(systems)))
    assert not found.complete
    assert found.members[:2] == ((0,), (1,))
    assert (2, 3) in found.members
    different = differing(systems, pairs)
    for group in found.members:
        assert not any(different[a, b] for a, b in combinations(group, 2))
    assert {system for group in found.members for system in group} == set(range(systems))


def test_what_is_no_ranking_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        groups.letters(np.zeros((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="does not differ from it"):
        groups.letters([[False, True], [False, False]], [0, 1])
    with pytest.raises(ValueError, match="each of the 2 systems once"):
        groups.letters(np.zeros((2, 2)), [0, 0])
