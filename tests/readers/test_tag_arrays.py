"""Sentences counted many at a time, compared with the counts of one sentence after the other."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.loading.staging.spans import Scheme, TagArrays, Tally, entities, tally_mentions

KINDS = ("LOC", "PER", "_")
TAGS = ("O", "O", ".", "B", "I", *(f"{letter}-{kind}" for letter in "BIESMLU" for kind in KINDS[:2]))
SENTENCES = st.lists(st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), min_size=1), min_size=1)


@pytest.mark.long
@given(SENTENCES, st.integers(1, 3))
def test_many_sentences_at_once_are_counted_as_one_by_one(sentences: list[list[tuple[str, str]]], at_once: int) -> None:
    arrays, counted, rights = TagArrays(KINDS), list[tuple[int, ...]](), list[int]()
    one_by_one, schemes = list[tuple[int, ...]](), (Scheme(), Scheme())
    for begin in range(0, len(sentences), at_once):
        some = sentences[begin : begin + at_once]
        for sentence in some:
            gold, answers = ([pair[side] for pair in sentence] for side in (0, 1))
            tallied = tally_mentions(entities(gold), entities(answers), overlap=False)
            one_by_one += [tallied.get(kind, Tally()).placed_cells for kind in KINDS]
            for scheme, tags in zip(schemes, (gold, answers), strict=True):
                scheme.add(tags)
        wanted, found = ([pair[side] for sentence in some for pair in sentence] for side in (0, 1))
        counts, right = arrays.counted(wanted, found, numpy.array([len(sentence) for sentence in some]))
        counted += zip(*(column.tolist() for column in counts.values()), strict=True)
        rights += right.tolist()
    assert counted == one_by_one
    assert rights == [sum(gold == answer for gold, answer in sentence) for sentence in sentences]
    assert [scheme.named() for scheme in arrays.schemes()] == [scheme.named() for scheme in schemes]
