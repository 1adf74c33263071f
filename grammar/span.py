"""Places in a text. A span gives the position of something; it never contains the text itself."""

from __future__ import annotations

from msgspec import Struct


class Span(Struct, frozen=True):
    """The characters of a text from `start` up to, but not including, `end`, counted from 0."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)
"""The span of a node that was built, not parsed."""
