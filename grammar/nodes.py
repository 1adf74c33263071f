"""What a query says, as frozen typed values: one class a rule of the language.

Nodes hold what was written, not what it means: names are not looked up, defaults are not filled in (a clause that was
not written is None or empty). Spans are for messages only and take no part in comparison. Where a value may be a name
or a text (in `where` and `let`), a bare word is a Name and a quoted one a Text; elsewhere a quoted name is a Name too.
Nothing here knows lark or a warehouse.
"""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import Literal

from grammar.span import NOWHERE, Span
from grammar.value import value


@value
class Node:
    """Anything that stands at a place in a query."""

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
    """A system that is computed, written with its parameters: random(s=0.7). `allrel` alone is a Name."""

    name: str
    parameters: tuple[Argument, ...] = ()


@value
class Systems(Node):
    """`for A, B`, `for all, allrel`, `for all except C`: those named, without those excepted."""

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
    """`beta=1`, `optional=excluded`, `beta=$b`."""

    name: str
    value: Number | Name | Variable


@value
class MeasureCall(Node):
    """`recall`, `F(beta=2)`, `P@10`."""

    name: str
    parameters: tuple[Argument, ...] = ()


@value
class Mean(Node):
    """`mean(M)`: M document by document, then averaged."""

    measure: MeasureCall


# --- attributes and conditions ----------------------------------------------------------------------------------------


@value
class Attribute(Node):
    """`document`, `unit`, `label`, `confidence`, `system`, `document.source`, `system.pre_parse`.

    `name` is the attribute behind the dot, or empty.
    """

    of: str
    name: str = ""


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
class Not(Node):
    condition: Condition


@value
class And(Node):
    conditions: tuple[Condition, ...]


@value
class Or(Node):
    conditions: tuple[Condition, ...]


Condition = Relation | In | Like | IsMissing | Not | And | Or


# --- arithmetic of user measures --------------------------------------------------------------------------------------


@value
class Negative(Node):
    operand: Expression


@value
class BinaryOperation(Node):
    left: Expression
    operator: Literal["+", "-", "*", "/"]
    right: Expression


Expression = Number | Variable | MeasureCall | Negative | BinaryOperation
"""In a definition a bare word (a count, a parameter or another measure) is a MeasureCall without parameters."""


# --- statements -------------------------------------------------------------------------------------------------------


@value
class Order(Node):
    """`order by M desc`, `order by system`; direction None where none was written."""

    by: MeasureCall | Mean
    direction: Literal["asc", "desc"] | None = None


@value
class Score(Node):
    measures: tuple[MeasureCall | Mean, ...]
    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    by: tuple[Attribute, ...] = ()
    where: Condition | None = None
    order: Order | None = None
    limit: Number | Variable | None = None
    replicates: Attribute | None = None
    standardized: bool = False


@value
class _Tested(Node):
    """The clauses that compare and group share: which test decides, and how."""

    measures: tuple[MeasureCall | Mean, ...]
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    test: Name | Variable | None = None
    shuffles: Number | Variable | None = None
    exact: bool = False
    exchange: Attribute | None = None
    sides: Literal["one-sided", "two-sided"] | None = None
    seed: Number | Variable | None = None
    level: Number | Variable | None = None
    confidence: Number | Variable | None = None
    adjust: Name | Variable | None = None
    missing: Literal["error", "drop", "zero"] | None = None


@value
class Compare(_Tested):
    test_sets: TestSets | None = None
    replicates: Attribute | None = None
    against: Name | BaselineCall | Variable | None = None
    interval: Literal["percentile", "bca"] | None = None


@value
class Group(_Tested):
    test_sets: TestSets | None = None
    replicates: Attribute | None = None


@value
class Generality(Node):
    test_sets: TestSets | None = None
    by: tuple[Attribute, ...] = ()
    where: Condition | None = None


@value
class Change(Node):
    measures: tuple[MeasureCall | Mean, ...]
    source: Name | Variable
    target: Name | Variable
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    trim: Number | Variable | None = None


@value
class Replicate(_Tested):
    """`replicate F for all from TST3 to TST4`: which differences on one test set carry over to the other."""

    source: Name | Variable = field(kw_only=True)
    target: Name | Variable = field(kw_only=True)


@value
class Project(Node):
    measures: tuple[MeasureCall | Mean, ...]
    source: Name | Variable
    generalities: tuple[Number | Variable, ...]
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    exponent: Number | Variable | None = None


@value
class Audit(Node):
    """`audit published for all on TST2`."""

    systems: Systems | None = None
    test_sets: TestSets | None = None


@value
class Agree(Node):
    test_sets: TestSets | None = None
    where: Condition | None = None


Question = Score | Compare | Group | Generality | Change | Replicate | Project | Audit | Agree
"""What can be plotted, explained and exported."""


@value
class Plot(Node):
    question: Question
    to: Text | Variable | None = None


@value
class Explain(Node):
    question: Question


@value
class Export(Node):
    question: Question
    to: Text | Variable


@value
class Let(Node):
    """`let $v = A, B`: names and patterns, or one number, or one text; a Text may mean a name too: let $v = "José"."""

    variable: Variable
    values: tuple[Name | Pattern | Number | Text | Variable, ...]


@value
class Default(Node):
    """A parameter of a definition with its default: w=0.5; None where it has none."""

    name: str
    value: Number | None = None


@value
class Define(Node):
    name: Name
    expression: Expression
    parameters: tuple[Default, ...] = ()


@value
class Show(Node):
    what: Literal["systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes"]


@value
class Load(Node):
    path: Text | Variable
    reader: Name


@value
class Forget(Node):
    """`forget import 3`."""

    number: Number | Variable


@value
class SqlQuery(Node):
    """`sql "select …"`."""

    text: Text


Statement = Question | Plot | Explain | Export | Let | Define | Show | Load | Forget | SqlQuery
