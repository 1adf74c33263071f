"""Reads a text as far as possible: the tokens up to the first mistake, and what would be possible there.

Completion, highlighting, layout and the explanation of mistakes all begin here. This module does not interpret
statements.
"""

from __future__ import annotations

from collections.abc import Sequence

from grammar.errors import QueryError
from grammar.parsing.building import BUILDER
from grammar.parsing.machine import END, Lexeme, Machine, RefusedError
from grammar.value import value


@value
class Reading:
    """How far a text could be read.

    `tokens` are the tokens before the first mistake, or all of them. `mistake` is the place of the mistake: None if
    there is none, the length of the text if only its end comes too early. `accepted` names the terminals that would be
    possible there, or at the end.
    """

    tokens: tuple[Lexeme, ...]
    accepted: frozenset[str]
    mistake: int | None


def read(text: str) -> Reading:
    """Reads as far as possible."""
    machine = Machine(BUILDER)
    tokens: list[Lexeme] = []
    mistake = None
    try:
        for token in machine.tokens(text):
            tokens.append(token)
    except RefusedError as refused:
        mistake = refused.place
    except QueryError as error:
        return Reading(tuple(tokens), frozenset(), error.span.start)
    accepted = machine.accepted()
    if mistake is None and END not in accepted:
        mistake = len(text)
    return Reading(tuple(tokens), accepted, mistake)


def this_statement(tokens: Sequence[Lexeme]) -> list[Lexeme]:
    """The tokens of the last statement, which follow the last semicolon."""
    last = max((at for at, token in enumerate(tokens) if token.type == "SEMICOLON"), default=-1)
    return list(tokens[last + 1 :])
