"""Keywords consist of ASCII letters. A word that only looks like a keyword, such as ſcore, is a name or a mistake."""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from functools import cache

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import KEYWORDS
from evalhouse.grammar.parser import parse, tokens


@cache
def look_alikes() -> dict[str, list[str]]:
    """By a letter of ASCII, the others that some table of cases takes for it: ſ for s, K for k, İ and ı for i."""
    found: dict[str, list[str]] = defaultdict(list)
    for character in map(chr, range(128, sys.maxunicode + 1)):
        for letter in {character.lower()[:1], character.upper().lower()[:1], character.casefold()[:1]}:
            if letter.isascii() and letter.isalpha():
                found[letter].append(character)
    return found


@pytest.mark.long
def test_there_are_such_letters() -> None:
    assert {"\u017f", "\u212a", "\u0130", "\u0131"} <= {other for others in look_alikes().values() for other in others}


@pytest.mark.parametrize(
    "text",
    [
        "\u017fcore F for all on TST3",
        "compare F for A, B on T ONE-S\u0130DED",
        'score F for all on T where document li\u212ae "x"',
    ],
)
def test_what_looks_like_a_keyword_is_a_mistake(text: str) -> None:
    with pytest.raises(QueryError):
        parse(text)


@pytest.mark.long
def test_whatever_looks_like_a_keyword_is_read_or_is_a_mistake() -> None:
    statements = ("{} F for A, B on T", "compare F for A, B on T {} 5")
    for keyword in KEYWORDS:
        for place, letter in enumerate(keyword):
            for other in look_alikes().get(letter, ()):
                word = keyword[:place] + other + keyword[place + 1 :]
                assert tokens(word)[0].kind != "keyword"
                for statement in statements:
                    with contextlib.suppress(QueryError):
                        parse(statement.format(word))
