"""Any text is split into tokens; a word is a keyword only where it is used as one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.grammar.parser import tokens


def marked(text: str) -> list[tuple[str, str]]:
    return [(text[token.span.start : token.span.end], token.kind) for token in tokens(text)]


def test_a_statement_is_marked_word_by_word() -> None:
    assert marked('SCORE F(beta=2) for $x, TST* limit 10% -- all\n; sql "select ""x"""') == [
        ("SCORE", "keyword"),
        ("F", "name"),
        ("(", "operator"),
        ("beta", "name"),
        ("=", "operator"),
        ("2", "number"),
        (")", "operator"),
        ("for", "keyword"),
        ("$x", "variable"),
        (",", "operator"),
        ("TST*", "name"),
        ("limit", "keyword"),
        ("10%", "number"),
        ("-- all", "comment"),
        (";", "operator"),
        ("sql", "keyword"),
        ('"select ""x"""', "text"),
    ]


def test_a_keyword_used_as_a_name_is_a_name() -> None:
    assert marked("compare level on test test sign") == [
        ("compare", "keyword"),
        ("level", "name"),
        ("on", "keyword"),
        ("test", "name"),
        ("test", "keyword"),
        ("sign", "name"),
    ]


def test_a_function_is_one_where_it_is_called_with_expressions() -> None:
    text = "define measure sqrt(log=1) = SQRT(min) + min(beta=2) + max()"
    named = [(word, kind) for word, kind in marked(text) if kind in {"name", "function"}]
    assert named == [
        ("sqrt", "name"),
        ("log", "name"),
        ("SQRT", "function"),
        ("min", "name"),
        ("min", "name"),
        ("beta", "name"),
        ("max", "name"),
    ]


def test_behind_a_mistake_marking_goes_on_by_looks_and_is_exact_again_in_the_next_statement() -> None:
    assert marked("scor level # 1; score level") == [
        ("scor", "name"),
        ("level", "keyword"),
        ("#", "error"),
        ("1", "number"),
        (";", "operator"),
        ("score", "keyword"),
        ("level", "name"),
    ]


@pytest.mark.parametrize("text", ['score "GE', "“GE”", "\x00", "$", "'x'", "!"])
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    assert "error" in [kind for _, kind in marked(text)]


@settings(deadline=None)
@given(st.text(alphabet='score F for on;,()"$-*.=1 \n\té#\x00', max_size=40) | st.text(max_size=40))
def test_every_letter_but_blanks_stands_in_exactly_one_token(text: str) -> None:
    places = [at for token in tokens(text) for at in range(token.span.start, token.span.end)]
    assert places == sorted(set(places))
    assert all(text[at].isspace() for at in set(range(len(text))) - set(places))
