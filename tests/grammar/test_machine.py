"""The parser reads texts as lark does: the same nodes, the same tokens, the same places of mistakes."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Tree
from lark.exceptions import UnexpectedInput

from grammar import tables
from grammar.errors import QueryError
from grammar.parsing.building import BUILDER
from grammar.parsing.machine import END, Lexeme, Machine, RefusedError
from grammar.parsing.reading import read
from tests.grammar.test_errors import ERRORS

CASES = sorted(Path(__file__).parents[1].rglob("*.case"))


@cache
def lark() -> Lark:
    return tables.from_grammar()


def built(tree: Any) -> Any:
    """What the builder makes of a tree of lark."""
    if not isinstance(tree, Tree):
        return Lexeme.at(tree.start_pos or 0, tree.end_pos or 0, tree.type, str(tree))
    return getattr(BUILDER, tree.data)([built(child) for child in tree.children])


def by_lark(text: str) -> object:
    """What is built of a text, or where it is refused."""
    try:
        return built(lark().parse(text))
    except UnexpectedInput as error:
        # Where the text ends too early, lark names the place of the last token.
        ended = getattr(getattr(error, "token", None), "type", "") == END
        return "refused", len(text) if ended else error.pos_in_stream
    except QueryError as error:
        return error.message, error.span


def by_machine(text: str) -> object:
    try:
        return Machine(BUILDER).parsed(text)
    except RefusedError as refused:
        return "refused", refused.place
    except QueryError as error:
        return error.message, error.span


def texts() -> list[str]:
    """Statements of all golden cases, and texts that are wrong in many ways."""
    lines = {line for case in CASES for line in case.read_text(encoding="utf-8").splitlines()}
    return sorted({line.removeprefix("> ") for line in lines if len(line) < 400} | {text for text, *_ in ERRORS})


def test_there_are_many_texts_to_compare_of_which_many_are_statements() -> None:
    read_well = [text for text in texts() if "refused" not in str(by_machine(text))]
    assert len(texts()) > 1_000
    assert len(read_well) > 300


@pytest.mark.long
def test_statements_and_mistakes_are_read_as_lark_reads_them() -> None:
    for text in texts():
        assert by_machine(text) == by_lark(text)


@pytest.mark.long
def test_words_in_any_order_are_read_as_lark_reads_them() -> None:
    words = sorted({word for text, *_ in ERRORS for word in re.findall(r"\w+|\S", text)})
    chance = random.Random(1)
    for _ in range(2_000):
        text = " ".join(chance.choices(words, k=chance.randint(1, 8)))
        assert by_machine(text) == by_lark(text)


@pytest.mark.long
def test_what_may_follow_is_what_lark_accepts() -> None:
    for text in texts():
        reader = lark().parse_interactive(text)
        tokens = []
        try:
            for token in reader.lexer_thread.lex(reader.parser_state):  # type: ignore[no-untyped-call]
                reader.feed_token(token)
                tokens.append((token.type, str(token), token.start_pos, token.end_pos))
        except UnexpectedInput:
            pass
        reading = read(text)
        if reading.accepted:  # nothing is accepted behind what the builder refuses, of which lark knows nothing
            assert reading.accepted == reader.accepts()  # type: ignore[no-untyped-call]
            assert [(token.type, str(token), token.start, token.end) for token in reading.tokens] == tokens
