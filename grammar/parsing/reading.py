"""Reading a text as far as it can be read: the tokens up to the first mistake, and what could stand there.

Completion, highlighting, layout and the explanation of mistakes all begin here; what statements mean is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from grammar.errors import QueryError
from grammar.parsing.building import BUILDER
from grammar.parsing.machine import END, Lexeme, Machine, RefusedError
from grammar.value import value


@value
class Reading:
    """How far a text was read.

    `tokens` are those before the first mistake, or all. `mistake` is where that stands: None without one, the length of
    the text where only its end comes too early. `accepted` names the terminals that could stand there, or at the end.
    """

    tokens: tuple[Lexeme, ...]
    accepted: frozenset[str]
    mistake: int | None


def read(text: str) -> Reading:
    """Read as far as possible."""
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
    """The tokens of the last statement, that is behind the last semicolon."""
    last = max((at for at, token in enumerate(tokens) if token.type == "SEMICOLON"), default=-1)
    return list(tokens[last + 1 :])
