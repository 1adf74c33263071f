"""The parts of statements as frozen typed values: names, systems, measures, conditions and arithmetic.

They contain what was written, not what it means: names are not looked up. In `where` and `let`, where a value may be a
name or a text, a bare word is a Name and a quoted one is a Text. Elsewhere a quoted name is also a Name. Spans are only
for messages and are ignored in comparisons.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from grammar.span import NOWHERE, Span
from grammar.value import field, value


@value
class Node:
    """Anything that has a place in a query."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


# --- words ------------------------------------------------------------------------------------------------------------


@value
class Name(Node):
    """A name as the user means it, without quotes and after Unicode NFC: GE-CMU, "José"."""

    text: str


@value
class Pattern(Node):
    """A bare name with `*` where a list of names is expected: TST*. A quoted name with a star is a Name."""

    text: str


@value
class Variable(Node):
    """$name, without the dollar sign."""

    name: str


@value
class Number(Node):
    """A number; 10% is 0.10 and 2^20 is 1048576."""

    value: Decimal


@value
class Text(Node):
    """A quoted text that is a value, not a name: "TST3-MUC4-00%", "scores.csv"."""

    text: str


# --- systems and test sets --------------------------------------------------------------------------------------------


@value
class All(Node):
    """`all` in a list of systems or of test sets."""


@value
class BaselineCall(Node):
    """A computed system, written with its parameters: random(s=0.7). `allrel` alone is a Name."""

    name: str
    parameters: tuple[Argument, ...] = ()


@value
class Systems(Node):
    """`for A, B`, `for all, allrel`, `for all except C`: the named systems, without the excepted ones."""

    items: tuple[Name | Pattern | Variable | All | BaselineCall, ...]
    excepted: tuple[Name | Pattern | Variable, ...] = ()


@value
class TestSets(Node):
    """`on T1, T2`, `on MUC-*.TST*`, `on all`."""

    __test__ = False  # not a pytest class

    items: tuple[Name | Pattern | Variable | All, ...]


# --- measures ---------------------------------------------------------------------------------------------------------


@value
class Argument(Node):
    """`beta=1`, `optional=excluded`, `optional=all`, `beta=$b`."""

    name: str
    value: Number | Name | All | Variable


@value
class MeasureCall(Node):
    """`recall`, `F(beta=2)`, `P@10`."""

    name: str
    parameters: tuple[Argument, ...] = ()


@value
class Attribute(Node):
    """`document`, `unit`, `label`, `confidence`, `system`, `document.source`, `system.pre_parse`.

    `name` is the attribute after the dot, or empty.
    """

    of: str
    name: str = ""


@value
class Mean(Node):
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


@value
class Order(Node):
    """`order by M desc`, `order by system`. The direction is None if none was written."""

    by: MeasureCall | Mean
    direction: Literal["asc", "desc"] | None = None


@value
class Renamed(Node):
    """`"F" as "F₁"`: the text that a table shows instead of a name."""

    name: Name
    shown: Text | Variable


# --- attributes and conditions ----------------------------------------------------------------------------------------


@value
class Relation(Node):
    attribute: Attribute
    operator: Literal["=", "!=", "<", "<=", ">", ">="]
    value: Text | Number | Name | Variable


@value
class In(Node):
    attribute: Attribute
    values: tuple[Text | Number | Name | Variable, ...]


@value
class Like(Node):
    """`attribute like "TST3-%"`: % any characters, _ one character."""

    attribute: Attribute
    pattern: Text | Variable


@value
class IsMissing(Node):
    attribute: Attribute


@value
class IsLatest(Node):
    """`system.run is latest`: the last run of each model."""

    attribute: Attribute


@value
class Not(Node):
    condition: Condition


@value
class And(Node):
    conditions: tuple[Condition, ...]


@value
class Or(Node):
    conditions: tuple[Condition, ...]


Condition = Relation | In | Like | IsMissing | IsLatest | Not | And | Or


# --- arithmetic of user measures --------------------------------------------------------------------------------------


@value
class Negative(Node):
    operand: WrittenExpression


@value
class BinaryOperation(Node):
    left: WrittenExpression
    operator: Literal["+", "-", "*", "/"]
    right: WrittenExpression


@value
class FunctionCall(Node):
    """`sqrt(recall * precision)`, `max(a, b, 1)`: a function of arithmetic.py, by its name in lower case."""

    function: str
    arguments: tuple[WrittenExpression, ...]


WrittenExpression = Number | Variable | MeasureCall | Negative | BinaryOperation | FunctionCall
"""In a definition, a bare word (a count, a parameter or another measure) is a MeasureCall without parameters."""


@value
class Default(Node):
    """A parameter of a definition with its default: w=0.5; None if it has no default."""

    name: str
    value: Number | None = None
