"""Splits any text into tokens, each with a kind, for highlighting and layout.

It never fails: text that cannot be read gets the kind error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from evalhouse.grammar.errors import QueryError, Span
from evalhouse.grammar.lexicon import FUNCTIONS, KEYWORDS, NUMBER, keyword
from evalhouse.grammar.parsing.building import span_of
from evalhouse.grammar.parsing.reading import check_text, read

if TYPE_CHECKING:
    import lark

Kind = Literal["keyword", "function", "name", "number", "text", "variable", "comment", "operator", "error"]

_GUESSED = re.compile(
    rf"""\s+
    | (?P<comment>--[^\n]*)
    | (?P<text>"(?:[^"]|"")*")
    | (?P<variable>\$\w+)
    | (?P<number>{NUMBER}(?![-/.:+@#]?[\w*]))
    | (?P<name>\w[\w*]*(?:[-/.:+@#][\w*]+)*|\*[\w*]+)
    | (?P<operator>!=|<=|>=|[-+*/()=<>,;.])
    | (?P<error>"[^\n]*|[^\s\w"$;]+|.)""",
    re.VERBOSE,
)

_KINDS: dict[str, Kind] = {
    "NAME": "name",
    "PATTERN": "name",
    "WORD": "name",
    "FIELD": "name",
    "NUMBER": "number",
    "TEXT": "text",
    "APOSTROPHED": "text",
    "CUT": "number",
    "VARIABLE": "variable",
}
"""The kinds of the terminals that are neither keywords nor signs."""


class Token(Struct, frozen=True):
    """A piece of a text, with its kind and its place. Spaces are not tokens."""

    kind: Kind
    span: Span


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in order, including comments.

    A word is a keyword only where it is used as one, as far as the text can be parsed. After a mistake, every word that
    could be a keyword counts as one, until the next statement.
    """
    try:
        check_text(text)
    except QueryError:
        return tuple(_guess_tokens(text, 0, len(text)))
    marked: list[Token] = []
    start = 0
    while start < len(text):
        start = _read_statements(text, start, marked)
    return tuple(marked)


def _read_statements(text: str, start: int, marked: list[Token]) -> int:
    """Adds the tokens of the statements from `start`, up to and including the first that cannot be parsed.

    Returns the place where the next statement begins.
    """
    reading = read(text[start:])
    at = start
    for place, token in enumerate(reading.tokens):
        begin, end = start + span_of(token).start, start + span_of(token).end
        marked.extend(_guess_tokens(text, at, begin))  # comments: nothing else can be between tokens
        marked.append(Token(_kind(token, reading.tokens[place + 1 : place + 4]), Span(begin, end)))
        at = end
    for guess in _guess_tokens(text, at, len(text)):
        marked.append(guess)
        if text[guess.span.start : guess.span.end] == ";":
            return guess.span.end
    return len(text)


def _kind(token: lark.Token, following: Sequence[lark.Token]) -> Kind:
    if keyword(token.type):
        return "keyword"
    if token.type == "WORD" and token.lower() in FUNCTIONS and _are_expressions([other.type for other in following]):
        return "function"
    return _KINDS.get(token.type, "operator")


def _are_expressions(terminals: list[str]) -> bool:
    """Whether these terminals begin a list of expressions in parentheses, as opposed to parameters such as
    `(beta=2)`.
    """
    return terminals[:1] == ["LPAR"] and terminals[1:2] != ["RPAR"] and terminals[2:3] != ["EQUAL"]


def _guess_tokens(text: str, start: int, end: int) -> Iterator[Token]:
    """The guessed tokens of a part of the text, classified only by how they look."""
    for match in _GUESSED.finditer(text, start, end):
        if match.lastgroup is None:
            continue
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        if kind == "name" and match.group().isascii() and match.group().lower() in KEYWORDS:
            kind = "keyword"
        yield Token(kind, Span(match.start(), match.end()))
