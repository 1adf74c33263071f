"""A study is split into prose and statements, and every part knows its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar.editing.layout import layout
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.grammar.parser import parse
from evalhouse.grammar.study import Prose, Written, parts

STUDY = """\
--| # Two systems
--|
--| Which is the *better*?
-- not for the reader
let $two = GE, UMASS;

--| First; then "second
--|   - indented

--| apart
score F -- both
  for $two
  --| said within
  on TST3;  --| The first is.
show "a;b -- c" tests
--| The end
"""


def test_prose_and_statements_in_their_order() -> None:
    assert [part.text for part in parts(STUDY)] == [
        "# Two systems\n\nWhich is the *better*?",
        "let $two = GE, UMASS",
        'First; then "second\n  - indented\n\napart\n\nsaid within',
        "score F -- both\n  for $two\n  --| said within\n  on TST3",
        "The first is.",
        'show "a;b -- c" tests',
        "The end",
    ]


def test_every_statement_stands_where_it_says() -> None:
    for part in parts(STUDY):
        if isinstance(part, Written):
            assert STUDY[part.span.start : part.span.end] == part.text
        else:
            assert STUDY[part.span.start :].startswith("--|")


@pytest.mark.parametrize("text", ["", "  \n", ";;", "-- nothing\n", "\n;\n-- a\n;"])
def test_nothing_has_no_parts(text: str) -> None:
    assert parts(text) == ()


def test_lines_of_other_systems_are_the_same_prose() -> None:
    (prose,) = parts("--| a\r\n--|b\r\n\r\n--| c\r\n")
    assert prose.text == "a\nb\n\nc"


def test_an_open_quote_reaches_to_the_end() -> None:
    assert [part.text for part in parts('show tests; show "a; --| b\nshow tests')] == [
        "show tests",
        'show "a; --| b\nshow tests',
    ]


def test_an_error_of_a_statement_finds_its_place_in_the_study() -> None:
    text = "--| prose\nshow tests;\n  score F frobnicate GE"
    wrong = parts(text)[-1]
    assert isinstance(wrong, Written)
    with pytest.raises(QueryError) as caught:
        parse(wrong.text)
    placed = wrong.placed(caught.value)
    assert text[placed.span.start : placed.span.end].startswith("frobnicate")
    assert placed.message == caught.value.message
    assert placed.hints == caught.value.hints


def test_layout_keeps_prose_as_it_is() -> None:
    text = "--|   two blanks at the end  \n--|\n--|\ttab\nshow tests;  --| behind  \n"
    assert layout(text) == text
    assert layout(layout("--| a  \n  --| b \nSHOW  tests")) == "--| a  \n--| b \nshow tests;\n"


pieces = st.sampled_from(['--| said; "so"\n', "show tests", ";", "\n", '"', "-- comment; \n", " ", "x", "-"])


@given(st.lists(pieces, max_size=30).map("".join))
def test_a_text_that_parses_has_the_statements_of_its_parts(text: str) -> None:
    found = parts(text)
    for part in found:
        assert part.span != Span(0, 0) or not part.text
        assert isinstance(part, Prose) or text[part.span.start : part.span.end] == part.text
    try:
        whole = parse(text)
    except QueryError:
        return
    alone = [statement for part in found if isinstance(part, Written) for statement in parse(part.text)]
    assert alone == list(whole)
