"""Places in a text. A span says where something stands; it never holds the text itself."""

from __future__ import annotations

from grammar.value import value


@value
class Span:
    """Characters `start` up to, not including, `end` of a text, counted from 0."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)
"""The span of a node that was built, not parsed."""
