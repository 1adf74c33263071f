"""The canonical layout of a script for `evalhouse fmt`. It changes only spaces, line breaks and the case of keywords.

It works on tokens, not on nodes, so that comments, the order of clauses and the spelling of names and numbers stay the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from evalhouse.grammar.clauses import clauses_begun
from evalhouse.grammar.editing.highlighting import tokens
from evalhouse.grammar.nodes import AROUND_A_MEASURE
from evalhouse.grammar.parser import parse
from evalhouse.grammar.study import PROSE

WIDEST = 100
"""The maximum width in columns. A longer statement is broken before its clauses."""

INDENT = "  "


class _Piece(Struct, frozen=True):
    """A token with what layout needs to know about its surroundings: the line breaks in the source before it."""

    kind: str
    text: str
    line_ends: int

    @property
    def is_comment(self) -> bool:
        return self.kind == "comment"

    @property
    def may_be_called(self) -> bool:
        """Whether a parenthesis after this piece contains parameters."""
        return self.kind in {"name", "text", "function"} or (self.kind == "keyword" and self.text in AROUND_A_MEASURE)

    @property
    def may_precede_a_sign(self) -> bool:
        """Whether a minus after this piece is a sign, not a subtraction."""
        return self.kind == "keyword" or (self.kind == "operator" and self.text not in {")", "."})


def layout(text: str) -> str:
    """The script with a semicolon after every statement, and each statement on a new line.

    A statement that contains comments or is wider than WIDEST is broken before each clause, with an indent of two
    spaces. Comments keep their places, either on a line of their own or at the end of a line. Between statements, one
    blank line is kept if there are some. Applying the layout twice changes nothing more.

    Raises QueryError for a script that does not parse.
    """
    parse(text)
    lines: list[str] = []
    statement: list[_Piece] = []
    for piece in _pieces(text):
        if piece.text == ";" and piece.kind == "operator":
            _add_statement(lines, statement)
            statement = []
        elif statement or not piece.is_comment:
            statement.append(piece)
        else:
            _add_comment(lines, piece)
    _add_statement(lines, statement)
    return "".join(line + "\n" for line in lines)


def _pieces(text: str) -> list[_Piece]:
    pieces = []
    end = 0
    after_comment = False
    for token in tokens(text):
        written = text[token.span.start : token.span.end]
        line_ends = text.count("\n", end, token.span.start)
        if token.kind == "keyword":
            written = written.lower()
        elif token.kind == "comment":
            # In prose, spaces at the end of a line mean a line break.
            written = written.rstrip("\r") if written.startswith(PROSE) else written.rstrip()
        if written != ";":  # it will be placed before the comments that preceded it
            line_ends = max(line_ends, after_comment)
            after_comment = token.kind == "comment"
        pieces.append(_Piece(token.kind, written, line_ends))
        end = token.span.end
    return pieces


def _add_statement(lines: list[str], pieces: Sequence[_Piece]) -> None:
    """Adds the lines of a statement, then the comments between its last word and its semicolon."""
    if not pieces:
        return
    last = max(at for at, piece in enumerate(pieces) if not piece.is_comment)
    if lines and pieces[0].line_ends > 1:
        lines.append("")
    lines.extend(_statement_lines(pieces[: last + 1]))
    for comment in pieces[last + 1 :]:
        _add_comment(lines, comment)


def _add_comment(lines: list[str], comment: _Piece) -> None:
    """Adds a comment between statements: at the end of the last line if it was there, otherwise on a line of
    its own.
    """
    if lines and comment.line_ends == 0:
        lines[-1] += INDENT + comment.text
        return
    if lines and comment.line_ends > 1:
        lines.append("")
    lines.append(comment.text)


def _statement_lines(pieces: Sequence[_Piece]) -> list[str]:
    blanks = _blanks(pieces)
    if not any(piece.is_comment for piece in pieces):
        line = "".join(blank + piece.text for blank, piece in zip(blanks, pieces, strict=True)) + ";"
        if max(len(part) for part in line.split("\n")) <= WIDEST:
            return [line]
    starts = _clause_starts(pieces)
    lines: list[str] = []
    line = ""
    for at, piece in enumerate(pieces):
        if piece.is_comment and (piece.line_ends or not line):
            lines.extend([line] if line else [])
            lines.append(INDENT + piece.text)
            line = ""
        elif piece.is_comment:
            lines.append(line + INDENT + piece.text)
            line = ""
        elif at in starts:
            lines.extend([line] if line else [])
            line = INDENT + piece.text
        elif line:
            line += blanks[at] + piece.text
        else:
            line = (INDENT * 2 if at else "") + piece.text
    return [*lines, line + ";"]


def _clause_starts(pieces: Sequence[_Piece]) -> set[int]:
    """The places where clauses begin."""
    places = [at for at, piece in enumerate(pieces) if not piece.is_comment]
    begun = clauses_begun([pieces[at].text if pieces[at].kind == "keyword" else "" for at in places])
    return {at for at, clause in zip(places, begun, strict=True) if clause}


def _blanks(pieces: Sequence[_Piece]) -> list[str]:
    """The separator before each piece on a line: nothing or a space."""
    blanks = []
    call: list[bool] = []
    before: _Piece | None = None
    tight = True
    for piece in pieces:
        sign = piece.text if piece.kind == "operator" else ""
        in_call = bool(call) and call[-1]
        opens_call = sign == "(" and before is not None and before.may_be_called
        joined = sign in {",", ")", "."} or opens_call or (sign == "=" and in_call)
        begins_comment = sign == "-" and before is not None and before.text == "-"  # as two of them would
        blanks.append("" if (tight or joined) and not begins_comment else " ")
        if sign == "(":
            call.append(opens_call)
        elif sign == ")" and call:
            call.pop()
        is_prefix = sign == "-" and (before is None or before.may_precede_a_sign)
        tight = sign in {"(", "."} or (sign == "=" and in_call) or is_prefix
        before = before if piece.is_comment else piece
    return blanks
