"""Splits a study into its parts: prose, written in comments that begin with `--|`, and statements, each with its place
in the text.

Statements are not parsed here, so that one with a mistake does not affect the others.
"""

from __future__ import annotations

import itertools
import re

from msgspec import Struct

from evalhouse.grammar.errors import QueryError, Span

PROSE = "--|"
"""The beginning of comments that are kept as prose. One space after it is not part of the prose."""

_SCANNED = re.compile(
    rf"""(?P<prose>{re.escape(PROSE)}[^\n]*)
    | (?P<comment>--[^\n]*)
    | (?P<end>;)
    | (?P<word>"(?:[^"]|"")*"?|[^\s;"-]+|-)""",
    re.VERBOSE,
)


class Prose(Struct, frozen=True):
    """Lines of prose without a statement between them, in Markdown. A line that does not directly follow another begins
    a new paragraph.
    """

    text: str
    span: Span


class Written(Struct, frozen=True):
    """A statement as it is written, without its semicolon. It may contain mistakes."""

    text: str
    span: Span

    def placed(self, error: QueryError) -> QueryError:
        """An error of this statement alone, with its place in the whole study."""
        span = Span(self.span.start + error.span.start, self.span.start + error.span.end)
        return QueryError(error.message, span, error.hints)


Part = Prose | Written


def parts(text: str) -> tuple[Part, ...]:
    """The parts of a study in order. Prose within a statement comes before it; other comments between statements are
    left out.
    """
    pieces: list[Part] = []
    prose: list[Span] = []
    words: list[Span] = []
    for match in _SCANNED.finditer(text):
        span = Span(match.start(), match.end())
        if match.lastgroup == "prose":
            prose.append(span)
        elif match.lastgroup == "word":
            words.append(span)
        elif match.lastgroup == "end":
            pieces += _parts(text, prose, words)
            prose, words = [], []
    return (*pieces, *_parts(text, prose, words))


def _parts(text: str, prose: list[Span], words: list[Span]) -> list[Part]:
    """At most one statement, with the prose before and after it."""
    if not words:
        return _as_prose(text, prose)
    whole = words[0].to(words[-1])
    before = [line for line in prose if line.start < whole.end]
    statement = Written(text[whole.start : whole.end], whole)
    return [*_as_prose(text, before), statement, *_as_prose(text, prose[len(before) :])]


def _as_prose(text: str, lines: list[Span]) -> list[Part]:
    if not lines:
        return []
    joined = _content(text, lines[0])
    for before, line in itertools.pairwise(lines):
        between = text[before.end : line.start]
        joined += ("\n" if not between.strip() and between.count("\n") == 1 else "\n\n") + _content(text, line)
    return [Prose(joined, lines[0].to(lines[-1]))]


def _content(text: str, line: Span) -> str:
    return text[line.start + len(PROSE) : line.end].rstrip("\r").removeprefix(" ")
