"""Hostile texts get a clear error, and none of them exhausts the stack."""

from __future__ import annotations

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import is_complete, parse, tokens
from evalhouse.grammar.printer import to_text

MANY = 100_000

HOSTILE = {
    "a hundred thousand parentheses": ("define measure x = " + "(" * MANY, "the text is larger than 64 KB"),
    "a hundred thousand nots": ("score F where " + "not " * MANY + "a = 1", "the text is larger than 64 KB"),
    "a megabyte of nothing": ("\x00" * 10**6, "the text is larger than 64 KB"),
    "a megabyte of digits": ("score F limit " + "9" * 10**6, "the text is larger than 64 KB"),
    "64 KB of two-byte letters": ("é" * 40_000, "the text is larger than 64 KB"),
    "60 KB of digits": ("score F limit " + "9" * 60_000, "a number can have at most 28 digits"),
    "a power beyond memory": ("score F limit 9^99999999999", "a number can have at most 28 digits"),
    "101 parentheses": ("define measure x = " + "(" * 101 + "1" + ")" * 101, "nested more than 100 levels deep"),
    "101 nots": ("score F where " + "not " * 101 + "a = 1", "nested more than 100 levels deep"),
    "101 minus signs": ("define measure x = " + "- " * 101 + "1", "nested more than 100 levels deep"),
    "a sum of 150": ("define measure x = " + "+".join(["a"] * 150), "more than 100 operations nested or in a row"),
    "a product of 150": ("define measure x = " + "*".join(["a"] * 150), "more than 100 operations nested or in a row"),
    "60 KB of one word": ("x" * 60_000, "unknown statement '" + "x" * 39 + "…'"),
    "60 KB of words": ("score F a " + "b " * 30_000, "unknown clause 'a' in score"),
    "60 KB of an unfinished name": ("score " + "x-" * 30_000, "unexpected '-' after '" + ("x-" * 20)[:39] + "…'"),
    "60 KB of quotes": ('"' * 60_001, "the quote opened here is not closed"),
    "a surrogate": ("score \ud800", "unknown sign U+D800"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_with_a_clear_error(name: str) -> None:
    text, message = HOSTILE[name]
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.message == message
    assert 0 <= caught.value.span.start <= caught.value.span.end <= len(text)


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_highlighted_and_judged_complete_without_failing(name: str) -> None:
    text, _ = HOSTILE[name]
    assert tokens(text)[-1].span.end <= len(text)
    assert is_complete(text) in {True, False}


@pytest.mark.parametrize(
    "text",
    [
        "define measure x = " + "(" * 100 + "a" + ")" * 100,
        "define measure x = " + " + ".join(["a"] * 100),
        "score F where " + "not " * 100 + "a = 1",
        "score F where " + "not (" * 100 + "a = 1" + ")" * 100,
        "score F where " + " and ".join(["a = 1"] * 1000),
        "score F for " + ", ".join(f"s{k}" for k in range(1000)),
        "score F for " + "x" * 60_000,
    ],
    ids=["parentheses", "sum", "nots", "nots in parentheses", "conditions", "systems", "a long name"],
)
def test_what_stays_within_the_limits_is_parsed_and_printed(text: str) -> None:
    statements = parse(text)
    assert parse(to_text(statements)) == statements
