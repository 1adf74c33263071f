"""Determines from the preceding keywords which kind of name is expected at a place in a statement.

The grammar has one terminal for all bare names, but messages should say, for example, "a system is expected". No name
is looked up here.
"""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token
from msgspec import Struct

from grammar.arithmetic import FUNCTIONS
from grammar.clauses import STATEMENTS, Clause, clauses_begun, question_word
from grammar.lexicon import keyword

VALUE_FOLLOWS = {"EQUAL", "UNEQUAL", "LESS", "AT_MOST", "MORE", "AT_LEAST", "IN", "LIKE"}


class Place(Struct, frozen=True):
    """A place in a statement: its first word, the question it asks, the kind of name expected, the clauses before it.

    `statement` and `question` are empty if none was written. `kind` is the kind of names that the statement or the
    clause takes, or "parameter", "value" or "count". `last_word` is the keyword directly before the place; it is empty
    if something else is there.
    """

    statement: str
    question: str
    kind: str
    clauses: tuple[Clause, ...]
    last_word: str


def place_after(tokens: Sequence[Token]) -> Place:
    """The place after these tokens of one statement."""
    words = [keyword(token.type) for token in tokens]
    statement = words[0] if words and words[0] in STATEMENTS else ""
    question = question_word(words)
    begun = clauses_begun(words)
    names = _names_behind(words, begun)
    kind = STATEMENTS[question or statement].names if statement else ""
    calls: list[bool] = []
    before: Token | None = None
    for at, token in enumerate(tokens):
        if token.type == "LPAR":
            calls.append(_takes_parameters(before, kind))
        elif token.type == "RPAR" and calls:
            calls.pop()
        elif at in names:
            kind = names[at]
        elif token.type in VALUE_FOLLOWS and kind == "attribute":
            kind = "value"
        elif token.type in {"AND", "OR", "NOT"} and kind in {"attribute", "value"}:
            kind = "attribute"
        elif token.type == "EQUAL" and kind == "new name" and not any(calls):
            kind = "count"
        before = token
    if any(calls):
        kind = "value" if before and before.type == "EQUAL" else "parameter"
    return Place(statement, question, kind, tuple(filter(None, begun)), words[-1] if words else "")


def _names_behind(words: Sequence[str], begun: Sequence[Clause | None]) -> dict[int, str]:
    """The kind of names after the keywords of each clause, by the position of the keyword. Before the last keyword of a
    clause, there is none.
    """
    names = {}
    for at, clause in enumerate(begun):
        if clause:
            keywords = clause.words.split()
            names[at] = ""
            if words[at] in clause.synonyms or [*words[at : at + len(keywords)]] == keywords:
                names[at + len(keywords) - 1] = clause.names
    return names


def _takes_parameters(before: Token | None, kind: str) -> bool:
    """Whether a parenthesis contains parameters. It does after the name of a measure or system, but not after that of a
    function.
    """
    if before is None or before.type not in {"NAME", "WORD", "TEXT"}:
        return False
    return kind != "count" or before.lower() not in FUNCTIONS
