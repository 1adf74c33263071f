"""Which clauses there are, in the order in which they are printed. What a clause means is not said here.

A clause belongs to the statements whose node has its field, so the table needs no list of statements.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from grammar import nodes

QUESTIONS: dict[str, type[nodes.Question]] = {
    "score": nodes.Score,
    "compare": nodes.Compare,
    "group": nodes.Group,
    "generality": nodes.Generality,
    "change": nodes.Change,
    "replicate": nodes.Replicate,
    "project": nodes.Project,
    "audit": nodes.Audit,
    "agree": nodes.Agree,
}
"""The statements that can be plotted, explained and exported, by their first word."""

DRAWN: dict[str, type[nodes.Plot | nodes.Export]] = {"plot": nodes.Plot, "export": nodes.Export}
"""The statements before a question that take the clause `to "file"`."""

STATEMENTS = (*QUESTIONS, "plot", "explain", "export", "let", "define", "show", "load", "forget", "sql")
"""The first words of all statements."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: the keywords it begins with, and the field of a node that it fills."""

    words: str
    field: str

    @property
    def first_word(self) -> str:
        return self.words.split()[0]

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements this clause belongs to, by their first words."""
        owners = {**QUESTIONS, **DRAWN}
        return tuple(word for word, kind in owners.items() if self.field in {field.name for field in fields(kind)})


CLAUSES = (
    Clause("of", "task"),
    Clause("for", "systems"),
    Clause("against", "against"),
    Clause("on", "test_sets"),
    Clause("from", "source"),
    Clause("to generality", "generalities"),
    Clause("assuming fallout exponent", "exponent"),
    Clause("replicates by", "replicates"),
    Clause("by", "by"),
    Clause("where", "where"),
    Clause("order by", "order"),
    Clause("limit", "limit"),
    Clause("standardized", "standardized"),
    Clause("exchange by", "exchange"),
    Clause("one-sided", "sides"),
    Clause("two-sided", "sides"),
    Clause("test", "test"),
    Clause("shuffles", "shuffles"),
    Clause("exact", "exact"),
    Clause("seed", "seed"),
    Clause("level", "level"),
    Clause("confidence", "confidence"),
    Clause("adjust", "adjust"),
    Clause("missing", "missing"),
    Clause("interval", "interval"),
    Clause("trim", "trim"),
    Clause("to", "to"),
)
