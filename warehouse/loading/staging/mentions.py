"""Mentions, which are typed extractions from a text, and how two sets of them are matched. Reads no files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from warehouse.loading.staging.tagging import NO_TAG, OUTSIDE, tag_of

SCHEMES = ("conlleval", "iob2", "iobes")


class Mention(NamedTuple):
    """Something that was extracted: its type and its place, from `start` up to but excluding `end`."""

    kind: str
    start: int
    end: int


class Tally(NamedTuple):
    """The counts of one type in one document."""

    possible: int = 0
    actual: int = 0
    correct: int = 0
    partial: int = 0
    incorrect: int = 0

    @property
    def cells(self) -> tuple[int, ...]:
        """Possible, actual, correct, partial, incorrect, spurious and missing."""
        matched = self.correct + self.partial + self.incorrect
        return (*self, self.actual - matched, self.possible - matched)


COLUMNS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing")
"""The counts in `Tally.cells`, in order."""


def entities(tags: Sequence[str], scheme: str = "conlleval") -> list[Mention]:
    """The entities that the tags of a sentence mark.

    `conlleval` reads IOB1, IOB2 and IOBES alike, and begins an entity wherever one could begin, as the scorer of CoNLL
    2000 does (Tjong Kim Sang and Buchholz 2000). `iob2` and `iobes` are strict: an entity counts only if its beginning
    is marked as the scheme requires, and for IOBES also its end.
    """
    if OUTSIDE.issuperset(tags):
        return []
    if scheme == "iob2":
        return _iob2(tags)
    if scheme == "iobes":
        return _iobes(tags)
    mentions: list[Mention] = []
    begun: int | None = None
    last, last_kind = "O", ""
    for place, tag in enumerate((*tags, "O")):
        if last == "O" and tag in OUTSIDE:
            continue
        prefix, kind = tag_of(tag) or NO_TAG
        changed = kind != last_kind
        if begun is not None and (last in "ES" or prefix in "BSO" or changed):
            mentions.append(Mention(last_kind, begun, place))
            begun = None
        if prefix != "O" and (prefix in "BS" or last in "ESO" or changed):
            begun = place
        last, last_kind = prefix, kind
    return mentions


def _iob2(tags: Sequence[str]) -> list[Mention]:
    mentions: list[Mention] = []
    begun: int | None = None
    begun_kind = ""
    for place, tag in enumerate((*tags, "O")):
        prefix, kind = tag_of(tag) or NO_TAG
        if begun is not None and (prefix != "I" or kind != begun_kind):
            mentions.append(Mention(begun_kind, begun, place))
            begun = None
        if prefix == "B":
            begun, begun_kind = place, kind
    return mentions


def _iobes(tags: Sequence[str]) -> list[Mention]:
    mentions: list[Mention] = []
    begun: int | None = None
    begun_kind = ""
    for place, tag in enumerate(tags):
        prefix, kind = tag_of(tag) or NO_TAG
        if prefix == "S":
            mentions.append(Mention(kind, place, place + 1))
        elif prefix == "E" and begun is not None and kind == begun_kind:
            mentions.append(Mention(kind, begun, place + 1))
        if prefix == "B":
            begun, begun_kind = place, kind
        elif prefix != "I" or kind != begun_kind:
            begun = None
    return mentions


def tallies(gold: Iterable[Mention], predicted: Iterable[Mention], *, overlap: bool) -> dict[str, Tally]:
    """The counts of each type. The same place and type is correct. With `overlap`, an overlapping mention of the same
    type is partial. Each mention is matched at most once, from left to right.
    """
    counts: dict[str, list[int]] = {}
    unmatched: dict[Mention, int] = {}
    for mention in gold:
        counts.setdefault(mention.kind, [0, 0, 0, 0])[0] += 1
        unmatched[mention] = unmatched.get(mention, 0) + 1
    others: list[Mention] = []
    for mention in predicted:
        of_kind = counts.setdefault(mention.kind, [0, 0, 0, 0])
        of_kind[1] += 1
        if unmatched.get(mention):
            unmatched[mention] -= 1
            of_kind[2] += 1
        else:
            others.append(mention)
    if overlap:
        left = sorted(Counter(unmatched).elements())
        for mention in sorted(others):
            match = next((other for other in left if _overlapping(mention, other)), None)
            if match is not None:
                left.remove(match)
                counts[mention.kind][3] += 1
    return {kind: Tally(*counted) for kind, counted in sorted(counts.items())}


def _overlapping(one: Mention, other: Mention) -> bool:
    return one.kind == other.kind and one.start < other.end and other.start < one.end
