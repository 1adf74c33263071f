"""The content of a query as frozen typed values: one class per statement, and the parts of statements.

Nodes contain what was written, not what it means: names are not looked up, and a clause that was not written is None
or empty. Spans are only for messages and are ignored in comparisons. Nothing here may know lark or a warehouse.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Literal, get_args

from msgspec import Struct

from evalhouse.grammar.errors import NOWHERE, Span

# === parts of statements ==============================================================================================
# Names, systems, measures, conditions and arithmetic. In `where` and `let`, where a value may be a name or a text, a
# bare word is a Name and a quoted one is a Text. Elsewhere a quoted name is also a Name.


_ASIDE = ("span", "percent")
"""What is only for messages: the place, and how a number was written."""


class Node(Struct, frozen=True, kw_only=True):
    """Anything that has a place in a query. The place does not count when two nodes are compared, and is not shown."""

    span: Span = NOWHERE

    def __eq__(self, other: object) -> bool:
        """Whether the same was written, wherever it stands."""
        return type(other) is type(self) and _contents_of(self) == _contents_of(other)

    def __hash__(self) -> int:
        return hash((type(self), *_contents_of(self)))

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [(field, getattr(self, field)) for field in self.__struct_fields__ if field not in _ASIDE]


def _contents_of(node: Node) -> tuple[object, ...]:
    """The contents of all fields but those for messages."""
    return tuple(getattr(node, field) for field in node.__struct_fields__ if field not in _ASIDE)


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
    """A number; 10% is 0.10 and 2^20 is 1048576. Whether it was written in percent does not count either when two nodes
    are compared.
    """

    value: Decimal
    percent: bool = False


class Part(Node, frozen=True):
    """A share of the value of a system: 5% of B."""

    share: Number | Variable
    of: Name | Variable


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


Averaging = Literal["mean", "macro", "micro", "weighted"]

AROUND_A_MEASURE: frozenset[str] = frozenset(get_args(Averaging))
"""The words that stand around a measure, as functions do: mean(F)."""


class Mean(Node, frozen=True):
    """`mean(M)`: computes M for each document, then averages; `mean(M by document.topic)` does so for each topic.

    `macro(M)` and `macro(M by unit)` average over units, `weighted(M)` by their support. `micro(M)` is M itself.
    """

    measure: MeasureCall
    word: Averaging = "mean"
    by: Attribute | None = None

    @property
    def over_documents(self) -> bool:
        """Whether documents are averaged, or what shares one of their attributes."""
        return self.word == "mean"

    @property
    def over_units(self) -> bool:
        """Whether units are averaged."""
        return self.word in ("macro", "weighted")


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


# === statements =======================================================================================================
# The class of a statement also defines its first words and its required clauses. So a new question needs only its class
# here and a place in Question; its clauses are fields with the names that they have in the table of clauses:
#
#     class Audit(Answerable, frozen=True):
#         words: ClassVar[str] = "audit published"
#
#         systems: Systems | None = None
#         test_sets: TestSets | None = None


class Needed(Struct, frozen=True):
    """What to say if a required clause is missing, with examples. Another clause, which fills the field `instead`, may
    replace it.
    """

    what: str
    example: str
    instead: str = ""
    other_example: str = ""

    @property
    def examples(self) -> tuple[str, ...]:
        """Examples of what can be written."""
        return (self.example, self.other_example) if self.other_example else (self.example,)


MissingWord = Literal["error", "drop", "zero", "bounds"]
"""What to do with documents that a system lacks."""

IntervalWord = Literal["studentized", "percentile", "bca"]
"""The kinds of interval."""

INTERVAL_WORDS: tuple[IntervalWord, ...] = get_args(IntervalWord)
"""The same; the first is the meaning of `interval` alone."""

SpendingWord = Literal["obrien", "pocock"]
"""How the level is spent over the looks of a plan."""

OverWord = Literal["over test sets", "over test sets pooled"]
"""Test sets that are taken together: as the mean over them, or with all their documents."""

MEAN_OVER, POOLED = get_args(OverWord)
"""The same one by one."""

_TWO_TEST_SETS = {"source": Needed("two test sets", "from TST3 to TST4")}


class StatementNode(Node, frozen=True, kw_only=True):
    """The parts that every statement has. `spoken` contains the synonyms in which it and its clauses were written, such
    as leaderboard and permutations.

    `words` are the keywords at its beginning; the first is its name, for which `synonyms` may stand. `names` is the
    kind of the names outside its clauses, for completion and messages (completion.py lists the kinds). For each field
    that a clause must fill, `needs` contains the message for a missing clause.
    """

    words: ClassVar[str]
    synonyms: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[str] = ""
    needs: ClassVar[Mapping[str, Needed]] = {}

    spoken: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """Its keywords, or the synonym that was used."""
        return next((word for word in self.spoken if word in self.synonyms), self.words)

    @property
    def uses_level(self) -> bool:
        """Whether a significance level changes the answer. If so, a level set for all statements applies here, too."""
        return hasattr(self, "level")


class Answerable(StatementNode, frozen=True, kw_only=True):
    """A statement that is answered from the warehouse: as it is, or as it was after an import or at a time."""

    as_of: Number | Text | Variable | None = None


class Measured(Answerable, frozen=True):
    """A question about measures, which follow its first word. Without any, it is about the main measure of its test
    sets.
    """

    names: ClassVar[str] = "measure"

    measures: tuple[MeasureCall | Mean, ...] = ()


class Score(Measured, frozen=True):
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
    exchange: Attribute | None = None
    seed: Number | Variable | None = None
    level: Number | Variable | None = None
    missing: MissingWord | None = None
    interval: IntervalWord | None = None
    corrected: Name | Variable | None = None
    runs_apart: bool = False
    over: OverWord | None = None

    @property
    def uses_level(self) -> bool:
        """Only intervals have a level."""
        return self.interval is not None or self.corrected is not None


class Tested(Measured, frozen=True):
    """The clauses that compare, group, rank, power and replicate share: which test decides, and how.

    `done` is the verb for the systems in messages: compared. If it `takes_bounds`, a missing document may be replaced
    by the extremes of its possible values. If it is `of_equality`, it asks whether measures are equal rather than
    whether systems are exchangeable, where no test is named.
    """

    done: ClassVar[str]
    takes_bounds: ClassVar[bool] = False
    of_equality: ClassVar[bool] = False

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
    missing: MissingWord | None = None
    replicates: Attribute | None = None
    runs_apart: bool = False


class Compare(Tested, frozen=True):
    words: ClassVar[str] = "compare"
    done: ClassVar[str] = "compared"
    takes_bounds: ClassVar[bool] = True

    test_sets: TestSets | None = None
    against: Name | BaselineCall | Variable | None = None
    interval: IntervalWord | None = None
    over: OverWord | None = None
    margin: Number | Variable | Part | None = None
    anytime: bool = False
    planned: Number | Variable | None = None
    spending: SpendingWord | None = None
    in_order: Attribute | None = None


class Group(Tested, frozen=True):
    words: ClassVar[str] = "group"
    done: ClassVar[str] = "grouped"

    test_sets: TestSets | None = None
    over: OverWord | None = None


class Rank(Tested, frozen=True):
    words: ClassVar[str] = "rank"
    synonyms: ClassVar[tuple[str, ...]] = ("leaderboard",)
    done: ClassVar[str] = "ranked"
    of_equality: ClassVar[bool] = True

    test_sets: TestSets | None = None
    over: OverWord | None = None
    by_mean_rank: bool = False


class PaperTable(Tested, frozen=True):
    """`table F for all on TST3, TST4 against GE`: values as a paper prints them, with the results of tests
    beside them.
    """

    words: ClassVar[str] = "table"
    done: ClassVar[str] = "compared"
    takes_bounds: ClassVar[bool] = True

    test_sets: TestSets | None = None
    over: OverWord | None = None
    by: tuple[Attribute, ...] = ()
    against: Name | BaselineCall | Variable | None = None
    letters: bool = False
    interval: IntervalWord | None = None
    ranks: bool = False
    order: Order | None = None
    as_named: bool = False
    digits: Number | Variable | None = None
    columns: tuple[Renamed, ...] = ()
    caption: Text | Variable | None = None
    label: Text | Variable | None = None
    width: Name | Number | None = None

    @property
    def uses_level(self) -> bool:
        """Only tests and intervals have a level."""
        return self.against is not None or self.letters or self.ranks or self.interval is not None


class Power(Tested, frozen=True):
    """`power F for GE, UMASS on TST3 detect 1%, 2% documents 100, 400`: how often such a difference would be
    detected.
    """

    words: ClassVar[str] = "power"
    done: ClassVar[str] = "resampled"

    test_sets: TestSets | None = None
    against: Name | BaselineCall | Variable | None = None
    detect: tuple[Number | Variable | Part, ...] = ()
    sizes: tuple[Number | Variable, ...] = ()
    wanted: Number | Variable | None = None


class Generality(Answerable, frozen=True):
    words: ClassVar[str] = "generality"
    synonyms: ClassVar[tuple[str, ...]] = ("prevalence",)

    test_sets: TestSets | None = None
    by: tuple[Attribute, ...] = ()
    where: Condition | None = None


class Change(Measured, frozen=True, kw_only=True):
    words: ClassVar[str] = "change"
    needs: ClassVar[Mapping[str, Needed]] = _TWO_TEST_SETS

    source: Name | Variable
    target: Name | Variable
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    trim: Number | Variable | None = None
    runs_apart: bool = False


class Replicate(Tested, frozen=True, kw_only=True):
    """`replicate F for all from TST3 to TST4`: which differences on one test set carry over to the other."""

    words: ClassVar[str] = "replicate"
    synonyms: ClassVar[tuple[str, ...]] = ("confirm",)
    done: ClassVar[str] = "replicated"
    needs: ClassVar[Mapping[str, Needed]] = _TWO_TEST_SETS

    source: Name | Variable
    target: Name | Variable
    against: Name | BaselineCall | Variable | None = None


class Project(Measured, frozen=True, kw_only=True):
    words: ClassVar[str] = "project"
    needs: ClassVar[Mapping[str, Needed]] = {
        "source": Needed("a test set", "from TST3"),
        "generalities": Needed("a generality or a stream", "to generality 0.01, 0.05", "stream", "to stream NEWS"),
    }

    source: Name | Variable
    generalities: tuple[Number | Variable, ...] = ()
    stream: Name | Variable | None = None
    task: Name | None = None
    systems: Systems | None = None
    where: Condition | None = None
    exponent: Number | Variable | None = None
    runs_apart: bool = False


class Audit(Answerable, frozen=True):
    """`audit published for all on TST2`."""

    words: ClassVar[str] = "audit published"

    systems: Systems | None = None
    test_sets: TestSets | None = None


class Agree(Answerable, frozen=True):
    """`agree on news by document.source`: how well annotators agree, and what their disagreement does to F."""

    words: ClassVar[str] = "agree"
    synonyms: ClassVar[tuple[str, ...]] = ("agreement",)

    test_sets: TestSets | None = None
    by: tuple[Attribute, ...] = ()
    where: Condition | None = None
    with_key: bool = False
    exchange: Attribute | None = None
    seed: Number | Variable | None = None
    level: Number | Variable | None = None
    interval: IntervalWord | None = None


class Coverage(Answerable, frozen=True):
    """`coverage for all on qa`: which documents each system was scored on."""

    words: ClassVar[str] = "coverage"

    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    runs_apart: bool = False


class Spread(Measured, frozen=True):
    """`spread accuracy for all on qa`: how much documents and replicates vary, and what more of each would gain."""

    words: ClassVar[str] = "spread"
    synonyms: ClassVar[tuple[str, ...]] = ("variance",)

    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    replicates: Attribute | None = None
    where: Condition | None = None
    exchange: Attribute | None = None


class Documents(Measured, frozen=True):
    """`documents F for GE, UMASS on TST3`: the documents behind a difference."""

    words: ClassVar[str] = "documents"

    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    against: Name | BaselineCall | Variable | None = None
    replicates: Attribute | None = None
    where: Condition | None = None
    only: Name | Variable | None = None
    limit: Number | Variable | None = None
    missing: MissingWord | None = None
    runs_apart: bool = False


class Differ(Measured, frozen=True, kw_only=True):
    """`differ F for GE, UMASS on TST3 by document.source`: where a difference comes from."""

    words: ClassVar[str] = "differ"
    synonyms: ClassVar[tuple[str, ...]] = ("slices",)
    needs: ClassVar[Mapping[str, Needed]] = {"by": Needed("an attribute", "by document.source")}

    by: tuple[Attribute, ...]
    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    against: Name | BaselineCall | Variable | None = None
    replicates: Attribute | None = None
    depth: Number | Variable | None = None
    where: Condition | None = None
    limit: Number | Variable | None = None
    test: Name | Variable | None = None
    exchange: Attribute | None = None
    shuffles: Number | Variable | None = None
    seed: Number | Variable | None = None
    level: Number | Variable | None = None
    missing: MissingWord | None = None
    runs_apart: bool = False


class Curve(Measured, frozen=True):
    """`curve precision, recall for GE, UMASS on TST3`: measures at every threshold of confidence."""

    words: ClassVar[str] = "curve"
    synonyms: ClassVar[tuple[str, ...]] = ("thresholds",)

    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    where: Condition | None = None
    utility: tuple[Number | Variable, ...] = ()
    limit: Number | Variable | None = None
    shuffles: Number | Variable | None = None
    seed: Number | Variable | None = None
    level: Number | Variable | None = None
    runs_apart: bool = False


class Confusion(Answerable, frozen=True):
    """`confusion for all on news`, or `show confusion`: how often each class was answered for each class of the key."""

    words: ClassVar[str] = "confusion"

    task: Name | None = None
    systems: Systems | None = None
    test_sets: TestSets | None = None
    where: Condition | None = None
    limit: Number | Variable | None = None
    runs_apart: bool = False


Question = (
    Score
    | Compare
    | Group
    | Rank
    | PaperTable
    | Power
    | Generality
    | Change
    | Replicate
    | Project
    | Audit
    | Agree
    | Coverage
    | Spread
    | Documents
    | Differ
    | Curve
    | Confusion
)
"""What can be plotted, explained and exported."""


class AboutQuestion(StatementNode, frozen=True):
    """A statement that is written before a question."""

    question: Question


Expectation = Literal["better", "worse", "not worse", "equivalent", "different"]
"""The relation of the first system to the second that a comparison may be expected to show."""


class Expect(AboutQuestion, frozen=True):
    """`expect not worse compare F for A, B margin 1%`, `expect score F for A at least 55%`."""

    words: ClassVar[str] = "expect"

    expected: Expectation | None = None
    at_least: Number | Variable | None = None
    at_most: Number | Variable | None = None


class Plot(AboutQuestion, frozen=True):
    words: ClassVar[str] = "plot"

    title: Text | Variable | None = None
    width: Name | Number | None = None
    font: Text | Variable | None = None
    to: Text | Variable | None = None


class Explain(AboutQuestion, frozen=True):
    words: ClassVar[str] = "explain"


class Export(AboutQuestion, frozen=True):
    words: ClassVar[str] = "export"
    needs: ClassVar[Mapping[str, Needed]] = {"to": Needed("a file", 'to "scores.csv"')}

    to: Text | Variable


class Let(StatementNode, frozen=True):
    """`let $v = A, B`: names and patterns, or one number, or one text. A Text may also mean a name: let $v = "José"."""

    words: ClassVar[str] = "let"
    names: ClassVar[str] = "value"

    variable: Variable
    values: tuple[Name | Pattern | Number | Text | Variable, ...]


class Define(StatementNode, frozen=True):
    words: ClassVar[str] = "define measure"
    names: ClassVar[str] = "new name"

    name: Name
    expression: WrittenExpression
    parameters: tuple[Default, ...] = ()


class Show(Answerable, frozen=True):
    words: ClassVar[str] = "show"

    what: Literal[
        "systems", "test sets", "evaluations", "measures", "tests", "imports", "variables", "attributes", "texts"
    ]


class Load(StatementNode, frozen=True):
    words: ClassVar[str] = "load"
    names: ClassVar[str] = "reader"

    path: Text | Variable
    reader: Name


class Forget(StatementNode, frozen=True):
    """`forget import 3`."""

    words: ClassVar[str] = "forget import"

    number: Number | Variable


class SqlQuery(Answerable, frozen=True):
    """`sql "select …"`."""

    words: ClassVar[str] = "sql"

    text: Text


AnyStatement = Question | Expect | Plot | Explain | Export | Let | Define | Show | Load | Forget | SqlQuery
