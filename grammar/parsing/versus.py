"""What `vs` in a list of systems means: `A vs B` is the pair `for A, B`, and `A, B vs C` is `for A, B against C`.

A list is read before its statement is known, so it is first kept as `Versus`. Nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from evalhouse.grammar import nodes
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.grammar.printer import to_text

One = nodes.Name | nodes.BaselineCall | nodes.Variable
"""What can stand for one system."""


class Versus(Struct, frozen=True):
    """The systems before `vs`, which are each held against the one behind it."""

    systems: nodes.Systems
    against: One
    word: Span
    span: Span


class Meant(NamedTuple):
    """The systems of a statement, and the one that each is held against; None where they are just listed."""

    systems: nodes.Systems
    against: One | None


def versus_of(parts: Sequence[nodes.Systems], word: Span, span: Span) -> Versus:
    """The list whose parts stand before and behind each `vs`. Raises QueryError unless it can be read in one way only.

    What `except` leaves out is left out of the systems before `vs`, on whichever side it is written.
    """
    before, *behind = parts
    excepted = tuple(name for part in parts for name in part.excepted)
    match [item for part in behind for item in part.items]:
        case [nodes.Name() | nodes.BaselineCall() | nodes.Variable() as against]:
            return Versus(nodes.Systems(before.items, excepted, span=span), against, word, span)
    raise AmbiguousVersusError(span, tuple(_readings(parts, excepted)))


class AmbiguousVersusError(QueryError):
    """A list with `vs` that can be read in several ways. Each of the `readings` says which, and is a list to type."""

    def __init__(self, span: Span, readings: tuple[tuple[str, str], ...], text: str = "") -> None:
        alone = ";" not in text.strip().rstrip(";")
        before, behind = (text[: span.start], text[span.end :].strip().rstrip(";")) if alone else ("", "")
        lines = (f"{which}: {before}{listed} {behind}" for which, listed in readings)
        said = tuple(" ".join(line.split()) for line in lines)
        super().__init__("vs joins two systems, or several with one behind it", span, said)
        self.readings = readings

    def within(self, text: str) -> AmbiguousVersusError:
        """The same error whose readings are lines to type, where the text is one statement."""
        return AmbiguousVersusError(self.span, self.readings, text)


def _readings(
    parts: Sequence[nodes.Systems], excepted: tuple[nodes.Name | nodes.Pattern | nodes.Variable, ...]
) -> Iterator[tuple[str, str]]:
    """The lists that may be meant, as they are typed: all systems, and each of them against one."""
    before, *behind = ([*part.items] for part in parts)
    others = [item for part in behind for item in part]
    everyone = [*before, *others]
    if not any(isinstance(item, nodes.All) for item in everyone):
        yield "all of them", to_text(nodes.Systems(tuple(everyone), excepted))
    compared, one = (everyone[:-1], everyone[-1:]) if len(behind) > 1 else (others, before)
    match one:
        case [nodes.Name() | nodes.BaselineCall() | nodes.Variable() as against]:
            others_than = to_text(nodes.Systems(tuple(compared), excepted))
            yield "each against one", f"{others_than} against {to_text(against)}"


def meaning(versus: Versus, kind: type[nodes.StatementNode]) -> Meant:
    """What a list with `vs` means in a statement. Raises QueryError where several systems stand before `vs`, and the
    statement holds none against another.
    """
    both = nodes.Systems((*versus.systems.items, versus.against), versus.systems.excepted, span=versus.span)
    holds_against = "against" in kind.__struct_fields__
    match versus.systems:
        case nodes.Systems(items=(nodes.Name() | nodes.BaselineCall(),), excepted=()):
            return Meant(both, None)
        case nodes.Systems(items=(nodes.Pattern() | nodes.Variable(),), excepted=()) if not holds_against:
            return Meant(both, None)
    if holds_against:
        return Meant(versus.systems, versus.against)
    everyone = versus.systems if nodes.All() in versus.systems.items else both
    wrong = f"{kind.words} holds no systems against one, so vs can only join two"
    raise QueryError(wrong, versus.word, (f"write for {to_text(everyone)}",))
