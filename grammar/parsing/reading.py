"""Reads a text as far as possible: the tokens up to the first mistake, and what would be possible there. And the limits
that a text must meet, so that even a hostile text neither takes long nor exhausts the stack.

Completion, highlighting, layout and the explanation of mistakes all begin here. This module does not interpret
statements.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lark import Token, UnexpectedInput
from lark.parsers.lalr_interactive_parser import InteractiveParser
from msgspec import Struct

from evalhouse.grammar import nodes
from evalhouse.grammar.errors import QueryError, Span, UnfinishedError
from evalhouse.grammar.parsing.building import span_of
from evalhouse.grammar.parsing.lark_parser import parser

END = "$END"
"""Lark's name for the end of a text, among the accepted terminals."""


class Reading(Struct, frozen=True):
    """How far a text could be read.

    `tokens` are the tokens before the first mistake, or all of them. `mistake` is the place of the mistake; it is the
    length of the text if there is none before the end.
    """

    tokens: tuple[Token, ...]
    mistake: int
    stopped: InteractiveParser | None

    def accepted(self) -> frozenset[str]:
        """The terminals that would be possible at the mistake, or at the end. There are none where the builder refused
        what the grammar allows.
        """
        # lark tries each of them, so highlighting, which needs none, does without.
        return frozenset(self.stopped.accepts()) if self.stopped else frozenset()  # type: ignore[no-untyped-call]


def read(text: str) -> Reading:
    """Reads as far as possible."""
    reader = parser().parse_interactive(text)
    tokens: list[Token] = []
    try:
        for token in reader.iter_parse():
            tokens.append(token)
    except UnexpectedInput as refused:
        # The text's characters or its last token do not fit. lark yields a token before the parser takes it.
        mistake = refused.pos_in_stream or 0
        return Reading(tuple(token for token in tokens if span_of(token).start < mistake), mistake, reader)
    except QueryError as error:
        return Reading(tuple(tokens[:-1]), error.span.start, None)
    return Reading(tuple(tokens), len(text), reader)


def this_statement(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of the last statement, which follow the last semicolon."""
    last = max((at for at, token in enumerate(tokens) if token.type == "SEMICOLON"), default=-1)
    return list(tokens[last + 1 :])


# --- limits ---

LARGEST = 64 * 1024
"""The maximum size of a text in bytes of UTF-8."""

DEEPEST = 100
"""The maximum nesting depth of parentheses, `not`, signs and arithmetic."""

_SCANNED = re.compile(
    r'"(?:[^"]|"")*"|--[^\n]*|(?P<open>")|(?P<left>\()|(?P<right>\))|(?P<prefix>not\b|-)|(?P<other>\w+|\S)',
    re.IGNORECASE,
)


def check_text(text: str) -> None:
    """Raises QueryError for a text that is too large, has an unclosed quote, or nests parentheses or `not` too
    deeply.
    """
    if len(text) > LARGEST or len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise QueryError(f"the text is larger than {LARGEST // 1024} KB", Span(0, 0))
    parentheses = prefixes = 0
    for match in _SCANNED.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            raise UnfinishedError(
                "the quote opened here is not closed",
                Span(match.start(), match.end()),
                ('inside quotes, "" is a quote',) if text.count('"') > 1 else (),
            )
        if kind == "left":
            parentheses += 1
        elif kind == "right":
            parentheses = max(0, parentheses - 1)
        prefixes = prefixes + 1 if kind == "prefix" else 0
        if parentheses > DEEPEST or prefixes > DEEPEST:
            raise QueryError(f"nested more than {DEEPEST} levels deep", Span(match.start(), match.end()))


def check_depth(statement: nodes.AnyStatement) -> None:
    """Raises QueryError for a statement whose nodes are nested too deeply for the code that walks through them."""
    level: list[nodes.Node] = [statement]
    for _ in range(DEEPEST + 5):  # the expression is nested inside a statement, a clause and their parts
        level = [part for node in level for part in _parts(node)]
        if not level:
            return
    raise QueryError(f"more than {DEEPEST} operations nested or in a row", level[0].span)


def _parts(node: nodes.Node) -> list[nodes.Node]:
    values = [getattr(node, name) for name in node.__struct_fields__]
    listed = [part for value in values if isinstance(value, tuple) for part in value]
    return [part for part in [*values, *listed] if isinstance(part, nodes.Node)]
