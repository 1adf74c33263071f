"""Which words are near a misspelt one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.editing.hints import edits, near

SYSTEMS = ["GE", "GE-CMU", "UMASS", "UMICH", "SRI", "NMSU/Brandeis"]
MEASURES = ["recall", "precision", "F", "fallout", "overgeneration", "undergeneration", "error"]


@pytest.mark.parametrize(
    ("word", "among", "found"),
    [
        ("UMAS", SYSTEMS, ("UMASS",)),
        ("umass", SYSTEMS, ("UMASS",)),
        ("UMSAS", SYSTEMS, ("UMASS",)),
        ("GECMU", SYSTEMS, ("GE-CMU",)),
        ("recal", MEASURES, ("recall",)),
        ("percision", MEASURES, ("precision",)),
        ("over", MEASURES, ("overgeneration",)),
        ("TST33", ["TST2", "TST3", "TST4"], ("TST3",)),
        ("TST5", ["MUC", "TST3", "TST4"], ("TST3", "TST4")),
        ("xyz", MEASURES, ()),
        ("P", MEASURES, ()),
        ("", MEASURES, ()),
        ("fro", ["of", "for", "on"], ("for",)),
        ("x" * 10_000, ["x" * 10_000], ()),
    ],
)
def test_near_words_are_found_the_nearest_first(word: str, among: list[str], found: tuple[str, ...]) -> None:
    assert near(word, among) == found


def test_no_more_words_are_returned_than_asked_for() -> None:
    assert near("TST", ["TST1", "TST2", "TST3"], at_most=2) == ("TST1", "TST2")


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("kitten", "sitting", 3),
        ("ab", "ba", 1),
        ("abcd", "acbd", 1),
        ("recall", "recall", 0),
    ],
)
def test_the_distance_counts_single_edits(one: str, other: str, distance: int) -> None:
    assert edits(one, other, most=10) == distance


few_letters = st.text(alphabet="abc", max_size=7)


@given(few_letters, few_letters, st.integers(0, 8))
def test_the_distance_is_that_of_the_definition_and_cut_off_above_most(one: str, other: str, most: int) -> None:
    assert min(edits(one, other, most), most + 1) == min(by_definition(one, other), most + 1)


def by_definition(one: str, other: str) -> int:
    """The restricted Damerau-Levenshtein distance, written down recursively."""
    if not one or not other:
        return len(one) + len(other)
    costs = [
        by_definition(one[:-1], other) + 1,
        by_definition(one, other[:-1]) + 1,
        by_definition(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    ]
    if len(one) > 1 and len(other) > 1 and one[-1] == other[-2] and one[-2] == other[-1]:
        costs.append(by_definition(one[:-2], other[:-2]) + 1)
    return min(costs)
