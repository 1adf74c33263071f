"""What a query says, as frozen typed values: one class a rule of the language.

Nodes hold what was written, not what it means: names are not looked up, defaults are not filled in (a clause that was
not written is None or empty). Spans are for messages only and take no part in comparison. Where a value may be a name
or a text (in `where` and `let`), a bare word is a Name and a quoted one a Text; elsewhere a quoted name is a Name too.
Nothing here knows lark or a warehouse.

The class of a statement also says with which words it begins and what it must not lack. So a new question needs here
its class and a place in Question; its clauses are fields with the names that they have in clauses.py:

    @value
    class Audit(StatementNode):
        words: ClassVar[str] = "audit published"

        systems: Systems | None = None
        test_sets: TestSets | None = None
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from typing import ClassVar, Literal

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


@value
class FunctionCall(Node):
    """`sqrt(recall * precision)`, `max(a, b, 1)`: a function of arithmetic.py, by its name in lower case."""

    function: str
    arguments: tuple[Expression, ...]


Expression = Number | Variable | MeasureCall | Negative | BinaryOperation | FunctionCall
"""In a definition a bare word (a count, a parameter or another measure) is a MeasureCall without parameters."""


# --- statements -------------------------------------------------------------------------------------------------------


@value
class Needed:
    """What a statement is told to need where a clause is missing that it cannot do without, and an example of it."""

    what: str
    example: str


_TWO_TEST_SETS = {"source": Needed("two test sets", "from TST3 to TST4")}


@value
class StatementNode(Node):
    """What every statement has.

    `words` are the keywords it begins with; the first is its name. `names` is the kind of the names that stand in it
    outside its clauses, for completion and messages (completion.py lists the kinds). `needs` holds, for each field that
    a clause must fill, what to say if there is no such clause.
    """

    words: ClassVar[str]
    names: ClassVar[str] = ""
    needs: ClassVar[Mapping[str, Needed]] = {}


@value
class Measured(StatementNode):
    """A question about measures, which stand behind its first word."""

    names: ClassVar[str] = "measure"

    measures: tuple[MeasureCall | Mean, ...]


@value
class Order(Node):
    """`order by M desc`, `order by system`; direction None where none was written."""

    by: MeasureCall | Mean
    direction: Literal["asc", "desc"] | None = None


@value
class Score(Measured):
    words: ClassVar[str] = "score"

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
class _Tested(Measured):
    """The clauses that compare, group and replicate share: which test decides, and how."""

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
    words: ClassVar[str] = "compare"

    test_sets: TestSets | None = None
    replicates: Attribute | None = None
    against: Name | BaselineCall | Variable | None = None
    interval: Literal["percentile", "bca"] | None = None


@value
class Group(_Tested):
    words: ClassVar[str] = "group"

    test_sets: TestSets | None = None
    replicates: Attribute | None = None


@value
class Generality(StatementNode):
    words: ClassVar[str] = "generality"

    test_sets: TestSets | None = None
    by: tuple[Attribute, ...] = ()
    where: Condition | None = None


@value
class Change(Measured):
    words: ClassVar[str] = "change"
    needs: ClassVar[Mapping[str, Needed]] = _TWO_TEST_SETS

    source: Name | Variable
    target: Name | Variable
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    trim: Number | Variable | None = None


@value
class Replicate(_Tested):
    """`replicate F for all from TST3 to TST4`: which differences on one test set carry over to the other."""

    words: ClassVar[str] = "replicate"
    needs: ClassVar[Mapping[str, Needed]] = _TWO_TEST_SETS

    source: Name | Variable = field(kw_only=True)
    target: Name | Variable = field(kw_only=True)


@value
class Project(Measured):
    words: ClassVar[str] = "project"
    needs: ClassVar[Mapping[str, Needed]] = {
        "source": Needed("a test set", "from TST3"),
        "generalities": Needed("a generality", "to generality 0.01, 0.05"),
    }

    source: Name | Variable
    generalities: tuple[Number | Variable, ...]
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    exponent: Number | Variable | None = None


@value
class Audit(StatementNode):
    """`audit published for all on TST2`."""

    words: ClassVar[str] = "audit published"

    systems: Systems | None = None
    test_sets: TestSets | None = None


@value
class Agree(StatementNode):
    words: ClassVar[str] = "agree"

    test_sets: TestSets | None = None
    where: Condition | None = None


@value
class Coverage(StatementNode):
    """`coverage for all on qa`: which documents each system was scored on."""

    words: ClassVar[str] = "coverage"

    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None


Question = Score | Compare | Group | Generality | Change | Replicate | Project | Audit | Agree | Coverage
"""What can be plotted, explained and exported."""


@value
class AboutQuestion(StatementNode):
    """A statement whose words stand before a question."""

    question: Question


@value
class Plot(AboutQuestion):
    words: ClassVar[str] = "plot"

    to: Text | Variable | None = None


@value
class Explain(AboutQuestion):
    words: ClassVar[str] = "explain"


@value
class Export(AboutQuestion):
    words: ClassVar[str] = "export"
    needs: ClassVar[Mapping[str, Needed]] = {"to": Needed("a file", 'to "scores.csv"')}

    to: Text | Variable


@value
class Let(StatementNode):
    """`let $v = A, B`: names and patterns, or one number, or one text; a Text may mean a name too: let $v = "José"."""

    words: ClassVar[str] = "let"
    names: ClassVar[str] = "value"

    variable: Variable
    values: tuple[Name | Pattern | Number | Text | Variable, ...]


@value
class Default(Node):
    """A parameter of a definition with its default: w=0.5; None where it has none."""

    name: str
    value: Number | None = None


@value
class Define(StatementNode):
    words: ClassVar[str] = "define measure"
    names: ClassVar[str] = "new name"

    name: Name
    expression: Expression
    parameters: tuple[Default, ...] = ()


@value
class Show(StatementNode):
    words: ClassVar[str] = "show"

    what: Literal["systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes"]


@value
class Load(StatementNode):
    words: ClassVar[str] = "load"
    names: ClassVar[str] = "reader"

    path: Text | Variable
    reader: Name


@value
class Forget(StatementNode):
    """`forget import 3`."""

    words: ClassVar[str] = "forget import"

    number: Number | Variable


@value
class SqlQuery(StatementNode):
    """`sql "select …"`."""

    words: ClassVar[str] = "sql"

    text: Text


Statement = Question | Plot | Explain | Export | Let | Define | Show | Load | Forget | SqlQuery
