"""What kind of name stands at a place in a statement, told from the keywords before it.

The grammar has one terminal for all bare names; people want to read "a system is expected". No name is looked up here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lark import Token

from grammar.clauses import CLAUSES, QUESTIONS, STATEMENTS

KIND_AFTER = {
    "SCORE": "measure",
    "COMPARE": "measure",
    "GROUP": "measure",
    "CHANGE": "measure",
    "REPLICATE": "measure",
    "PROJECT": "measure",
    "ORDER": "measure",
    "MEAN": "measure",
    "OF": "task",
    "FOR": "system",
    "EXCEPT": "system",
    "AGAINST": "system",
    "ON": "test set",
    "FROM": "test set",
    "TO": "test set",
    "BY": "attribute",
    "EXCHANGE": "attribute",
    "WHERE": "attribute",
    "TEST": "test",
    "ADJUST": "adjustment",
    "AS": "reader",
    "MEASURE": "new name",
    "LET": "value",
}
"""The kind of the names behind a keyword, until the next."""

VALUE_FOLLOWS = {"EQUAL", "UNEQUAL", "LESS", "AT_MOST", "MORE", "AT_LEAST", "IN", "LIKE"}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a statement: its first word, the question it asks, the kind of name expected, the clauses before it.

    `statement` and `question` are empty where none was written; `kind` may be anything in KIND_AFTER, or "parameter",
    "value", "count".
    """

    statement: str
    question: str
    kind: str
    clauses: tuple[str, ...]


def place_after(tokens: Sequence[Token]) -> Place:
    """The place behind these tokens of one statement."""
    statement = question = kind = ""
    clauses: list[str] = []
    call: list[bool] = []
    before = ""
    for token in tokens:
        word = token.type.lower().replace("_", "-")
        if not statement and word in STATEMENTS:
            statement = word
        if not question and word in QUESTIONS and (not before or before in {"PLOT", "EXPLAIN", "EXPORT"}):
            question = word
        if token.type == "LPAR":
            call.append(before in {"NAME", "WORD", "TEXT"})
        elif token.type == "RPAR" and call:
            call.pop()
        elif token.type in KIND_AFTER and not (token.type == "BY" and before == "ORDER"):
            kind = KIND_AFTER[token.type]
        elif token.type in VALUE_FOLLOWS and kind == "attribute":
            kind = "value"
        elif token.type in {"AND", "OR", "NOT"}:
            kind = "attribute"
        elif token.type == "EQUAL" and statement == "define" and not any(call):
            kind = "count"
        clause = _clause_begun(word, before, statement)
        if clause:
            clauses.append(clause)
        before = token.type
    if any(call):
        kind = "value" if before == "EQUAL" else "parameter"
    return Place(statement, question, kind, tuple(clauses))


def _clause_begun(word: str, before: str, statement: str) -> str:
    """The first word of the clause that this word begins, or empty."""
    if (word == "by" and before in {"ORDER", "EXCHANGE", "REPLICATES"}) or (
        word == "missing" and before in {"IS", "NOT"}
    ):
        return ""
    if statement not in QUESTIONS and statement not in {"plot", "explain", "export"}:
        return ""
    return word if any(clause.first_word == word for clause in CLAUSES) else ""
