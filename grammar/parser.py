"""Parses text to statements, and answers the shell's questions about unfinished text. Every error is a QueryError.

Importing this module is cheap, because the nodes, lark and its parser are loaded when they are first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalhouse.grammar.errors import QueryError, UnfinishedError

if TYPE_CHECKING:
    from evalhouse.grammar import nodes
    from evalhouse.grammar.editing.completion import Expected
    from evalhouse.grammar.editing.highlighting import Token


def parse(text: str) -> tuple[nodes.AnyStatement, ...]:
    """The statements of a text; none for an empty text. Spans are offsets into the text.

    Raises QueryError for the first thing that is wrong.
    """
    from lark import UnexpectedInput

    from evalhouse.grammar.parsing.building import statement_of
    from evalhouse.grammar.parsing.lark_parser import parser
    from evalhouse.grammar.parsing.reading import check_depth, check_text
    from evalhouse.grammar.parsing.versus import AmbiguousVersusError

    check_text(text)
    try:
        pieces: Any = parser().parse(text)
        statements = tuple(statement_of(piece, text) for piece in pieces)
    except AmbiguousVersusError as error:
        raise error.within(text) from None
    except UnexpectedInput:
        from evalhouse.grammar.editing.mistakes import explain_mistake

        raise explain_mistake(text) from None
    for statement in statements:
        check_depth(statement)
    return statements


def is_complete(text: str) -> bool:
    """Whether Enter may run the text. It is false if the text ends inside a statement, or contains no statement.

    A text with a mistake before its end is complete, because more text would not correct it.
    """
    try:
        return bool(parse(text))
    except UnfinishedError:
        return False
    except QueryError:
        return True


def expect_next(text: str) -> Expected:
    """What may follow at the end of `text`; nothing if it has a mistake before its end."""
    from evalhouse.grammar.editing.completion import expect_completion as expected_at_end

    return expected_at_end(text)


def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of any text, for highlighting. Text that cannot be read gets the kind error."""
    from evalhouse.grammar.editing.highlighting import tokens as all_tokens

    return all_tokens(text)
