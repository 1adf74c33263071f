"""The parts of statements as frozen typed values: names, systems, measures, conditions and arithmetic.

They contain what was written, not what it means: names are not looked up. In `where` and `let`, where a value may be a
name or a text, a bare word is a Name and a quoted one is a Text. Elsewhere a quoted name is also a Name. Spans are only
for messages and are ignored in comparisons.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from grammar.span import NOWHERE, Span


class Node(Struct, frozen=True, kw_only=True):
    """Anything that has a place in a query. The place does not count when two nodes are compared, and is not shown."""

    span: Span = NOWHERE

    def __eq__(self, other: object) -> bool:
        """Whether the same was written, wherever it stands."""
        return type(other) is type(self) and _written(self) == _written(other)

    def __hash__(self) -> int:
        return hash((type(self), *_written(self)))

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [(field, getattr(self, field)) for field in self.__struct_fields__ if field != "span"]


def _written(node: Node) -> tuple[object, ...]:
    """The contents of all fields but the place."""
    return tuple(getattr(node, field) for field in node.__struct_fields__ if field != "span")


# --- words ------------------------------------------------------------------------------------------------------------


class Name(Node, frozen=True):
    """A name as the user means it, without quotes and after Unicode NFC: GE-CMU, "José"."""

    text: str


class Pattern(Node, frozen=True):
    """A bare name with `*` where a list of names is expected: TST*. A quoted name with a star is a Name."""

    text: str


class Variable(Node, frozen=True):
    """$name, without the dollar sign."""

    name: str


class Number(Node, frozen=True):
    """A number; 10% is 0.10 and 2^20 is 1048576."""

    value: Decimal


class Text(Node, frozen=True):
    """A quoted text that is a value, not a name: "TST3-MUC4-00%", "scores.csv"."""

    text: str


# --- systems and test sets --------------------------------------------------------------------------------------------


class All(Node, frozen=True):
    """`all` in a list of systems or of test sets."""


class BaselineCall(Node, frozen=True):
    """A computed system, written with its parameters: random(s=0.7). `allrel` alone is a Name."""

    name: str
    parameters: tuple[Argument, ...] = ()


class Systems(Node, frozen=True):
    """`for A, B`, `for all, allrel`, `for all except C`: the named systems, without the excepted ones."""

    items: tuple[Name | Pattern | Variable | All | BaselineCall, ...]
    excepted: tuple[Name | Pattern | Variable, ...] = ()


class TestSets(Node, frozen=True):
    """`on T1, T2`, `on MUC-*.TST*`, `on all`."""

    __test__ = False  # not a pytest class

    items: tuple[Name | Pattern | Variable | All, ...]


# --- measures ---------------------------------------------------------------------------------------------------------


class Argument(Node, frozen=True):
    """`beta=1`, `optional=excluded`, `optional=all`, `beta=$b`."""

    name: str
    value: Number | Name | All | Variable


class MeasureCall(Node, frozen=True):
    """`recall`, `F(beta=2)`, `P@10`."""

    name: str
    parameters: tuple[Argument, ...] = ()


class Attribute(Node, frozen=True):
    """`document`, `unit`, `label`, `confidence`, `system`, `document.source`, `system.pre_parse`.

    `name` is the attribute after the dot, or empty.
    """

    of: str
    name: str = ""


class Mean(Node, frozen=True):
    """`mean(M)` or `macro(M)`: computes M for each document, then averages. `micro(M)` is M itself.

    `mean(M by document.topic)` computes M for each topic, then averages.
    """

    measure: MeasureCall
    word: Literal["mean", "macro", "micro"] = "mean"
    by: Attribute | None = None

    @property
    def averages(self) -> bool:
        """Whether documents are averaged."""
        return self.word != "micro"


class Order(Node, frozen=True):
    """`order by M desc`, `order by system`. The direction is None if none was written."""

    by: MeasureCall | Mean
    direction: Literal["asc", "desc"] | None = None


class Renamed(Node, frozen=True):
    """`"F" as "F₁"`: the text that a table shows instead of a name."""

    name: Name
    shown: Text | Variable


# --- attributes and conditions ----------------------------------------------------------------------------------------


class Relation(Node, frozen=True):
    attribute: Attribute
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Text | Number | Name | Variable


class In(Node, frozen=True):
    attribute: Attribute
    values: tuple[Text | Number | Name | Variable, ...]


class Like(Node, frozen=True):
    """`attribute like "TST3-%"`: % any characters, _ one character."""

    attribute: Attribute
    pattern: Text | Variable


class IsMissing(Node, frozen=True):
    attribute: Attribute


class IsLatest(Node, frozen=True):
    """`system.run is latest`: the last run of each model."""

    attribute: Attribute


class Not(Node, frozen=True):
    condition: Condition


class And(Node, frozen=True):
    conditions: tuple[Condition, ...]


class Or(Node, frozen=True):
    conditions: tuple[Condition, ...]


Condition = Relation | In | Like | IsMissing | IsLatest | Not | And | Or


# --- arithmetic of user measures --------------------------------------------------------------------------------------


class Negative(Node, frozen=True):
    operand: WrittenExpression


class BinaryOperation(Node, frozen=True):
    left: WrittenExpression
    operator: Literal["+", "-", "*", "/"]
    right: WrittenExpression


class FunctionCall(Node, frozen=True):
    """`sqrt(recall * precision)`, `max(a, b, 1)`: a function of arithmetic.py, by its name in lower case."""

    function: str
    arguments: tuple[WrittenExpression, ...]


WrittenExpression = Number | Variable | MeasureCall | Negative | BinaryOperation | FunctionCall
"""In a definition, a bare word (a count, a parameter or another measure) is a MeasureCall without parameters."""


class Default(Node, frozen=True):
    """A parameter of a definition with its default: w=0.5; None if it has no default."""

    name: str
    value: Number | None = None
