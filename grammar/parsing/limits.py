"""Limits that a text must meet before it is parsed, so that even a hostile text neither takes long nor exhausts the
stack.
"""

from __future__ import annotations

import re

from grammar import nodes
from grammar.errors import QueryError
from grammar.span import Span
from grammar.value import names_of

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
            raise UnclosedTextError(
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
    values = [getattr(node, name) for name in names_of(node)]
    listed = [part for value in values if isinstance(value, tuple) for part in value]
    return [part for part in [*values, *listed] if isinstance(part, nodes.Node)]


class UnclosedTextError(QueryError):
    """A quote is opened but not closed, so more text could correct it."""
