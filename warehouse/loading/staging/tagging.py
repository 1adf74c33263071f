"""Tags of tokens: which texts are tags, and by which scheme the tags of a column mark entities. Reads no files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

OUTSIDE = frozenset({"O", "."})
"""The tags of tokens outside all entities."""

_LETTERS = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S", "W": "S"}
"""The meaning of the letters in all schemes: begin, inside (the middle), end (the last) and single (a unit, a whole).
"""

_MEANT = re.compile(r"[A-Z]-\S*|[OBIES.]")


class Tag(NamedTuple):
    """A letter (B, I, E, S or O, whatever the scheme calls it) and a type; the type is `_` if the tag names none, and
    empty for O.
    """

    letter: str
    kind: str


NO_TAG = Tag("O", "")


@lru_cache(maxsize=100_000)
def tag_of(text: str) -> Tag | None:
    """A text as a tag; None if it is not one."""
    if text in OUTSIDE:
        return NO_TAG
    prefix, hyphen, kind = text.partition("-")
    letter = _LETTERS.get(prefix)
    return Tag(letter, kind or "_") if letter and bool(kind) == bool(hyphen) else None


def is_meant(text: str) -> bool:
    """Whether a text looks like a tag, even an invalid one."""
    return _MEANT.fullmatch(text) is not None


def kinds_of(tags: Iterable[str]) -> set[str]:
    """The entity types that some tags name."""
    return {tag.kind for text in tags if (tag := tag_of(text)) is not None} - {""}


class Scheme(Struct):
    """Finds out which scheme a column of tags follows, from which tag follows which."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, tags: Sequence[str]) -> None:
        """Counts the tags of a sentence."""
        self.pairs.update(zip(("O", *tags), (*tags, "O"), strict=True))

    def named(self) -> tuple[str, int, str]:
        """The scheme, how many tags break it, and what is wrong with those.

        In BIO every entity begins with B. In IOB1 it does only if one of the same type ends right before it. BIOES,
        BILOU and BMES also mark ends. If a column mixes BIO and IOB1, its scheme is the one that more entities follow.
        """
        used = {text.partition("-")[0] for pair in self.pairs for text in pair}
        if marking_ends := used & {"E", "S", "L", "U", "M", "W"}:
            name = "BILOU" if marking_ends & {"L", "U"} else "BMES" if "M" in used else "BIOES"
            return name, self._count(_broken_off), "where an entity is not begun or ended as it should be"
        inside_first, begun_apart = self._count(_inside_first), self._count(_begun_apart)
        if inside_first > begun_apart:
            return "IOB1", begun_apart, "where B begins an entity that no other of its type is right before"
        return "BIO", inside_first, "where I begins an entity"

    def _count(self, holds: Callable[[Tag, Tag], bool]) -> int:
        # Texts that are not tags were refused before.
        return sum(
            count
            for (before, here), count in self.pairs.items()
            if (last := tag_of(before)) and (tag := tag_of(here)) and holds(last, tag)
        )


def _goes_on(last: Tag, tag: Tag) -> bool:
    return last.letter in "BI" and last.kind == tag.kind


def _inside_first(last: Tag, tag: Tag) -> bool:
    return tag.letter == "I" and not _goes_on(last, tag)


def _begun_apart(last: Tag, tag: Tag) -> bool:
    return tag.letter == "B" and not _goes_on(last, tag)


def _broken_off(last: Tag, tag: Tag) -> bool:
    return not _goes_on(last, tag) if tag.letter in "IE" else last.letter in "BI"
