"""Splits a statement into the pieces that are highlighted."""

from __future__ import annotations

from msgspec import Struct

from grammar.editing.highlighting import tokens
from grammar.study import PROSE


class Piece(Struct, frozen=True):
    """A part of a statement: its kind (keyword, name, number, text, variable, comment, operator, error, or blank) and
    its text.
    """

    kind: str
    text: str


def pieces_of(text: str) -> tuple[Piece, ...]:
    """A statement as pieces, without the prose in it."""
    pieces: list[Piece] = []
    end = 0
    for token in tokens(text):
        blank = text[end : token.span.start]
        written = text[token.span.start : token.span.end]
        end = token.span.end
        if written.startswith(PROSE):
            continue
        if blank:
            pieces.append(Piece("blank", blank))
        pieces.append(Piece(token.kind, written))
    return tuple(pieces)
