"""What two texts differ in, word by word, as pieces that a page can mark. Nothing here knows what the texts are of."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from evalhouse.warehouse.render.site.contents import Marked

MOST_WORDS = 1_000
"""Longer texts are not compared, because the time grows with the product of their lengths."""

LEAST_ALIKE = 0.4
"""If two texts have less than this in common, nothing is marked, because nearly everything would be."""


def unmarked(text: str) -> Marked:
    """A text with nothing marked."""
    return Marked(((text, False),))


def differing(first: str, second: str) -> tuple[Marked, Marked]:
    """Two texts, in each of which the words are marked that the other does not have at that place."""
    words: list[list[str]] = [re.findall(r"\s+|[^\s]+", text) for text in (first, second)]
    if first == second or max(map(len, words)) > 2 * MOST_WORDS:
        return unmarked(first), unmarked(second)
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    matches = matcher.get_matching_blocks()
    shared = sum(not word.isspace() for start, _, size in matches for word in words[0][start : start + size])
    if 2 * shared < LEAST_ALIKE * sum(not word.isspace() for text in words for word in text):
        return unmarked(first), unmarked(second)
    kept = [set[int](), set[int]()]
    for at_first, at_second, size in matches:
        kept[0].update(range(at_first, at_first + size))
        kept[1].update(range(at_second, at_second + size))
    one, other = (
        Marked(tuple((word, place not in there and not word.isspace()) for place, word in enumerate(text)))
        for text, there in zip(words, kept, strict=True)
    )
    return one, other
