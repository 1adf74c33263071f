"""The nodes that statements parse to: goldens that read like examples."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evalhouse.grammar import nodes
from evalhouse.grammar.nodes import (
    All,
    And,
    AnyStatement,
    Argument,
    Attribute,
    BaselineCall,
    BinaryOperation,
    Compare,
    Default,
    Define,
    Explain,
    Export,
    Forget,
    In,
    IsLatest,
    IsMissing,
    Let,
    Like,
    Load,
    Mean,
    MeasureCall,
    Name,
    Negative,
    Not,
    Number,
    Or,
    Order,
    Pattern,
    Plot,
    Project,
    Relation,
    Score,
    Show,
    SqlQuery,
    Systems,
    TestSets,
    Text,
    Variable,
)
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text

EXAMPLES = """
score recall, precision, F for all on TST3
score recall, precision, fallout of filtering for all, allrel on TST2, TST3, TST4
score F for GE, UMASS on TST3 by unit where document like "TST3-MUC4-00%"
score recall for all except GE, LSI on MUC-4.TST3 by system.pre_parse order by recall desc limit 5
score P@10, mean(F(beta=2)) for GE*, random(s=0.7) on all
compare F(beta=1) for GE, UMASS on TST3 shuffles 9999
compare recall, precision, F for all on TST3, TST4 shuffles 9999 level 0.10 confidence 0.99
compare F for all against GE on TST3 exact adjust holm
compare recall for I, II on modifiers exchange by unit one-sided exact
compare recall for I, II on modifiers exchange by document.source test t seed 7 missing drop
group F(beta=1) for all on TST3 level 0.10 confidence 0.99
generality on TST2, TST3, TST4
generality on TST3 by document.source where label != nonrelevant
change precision, fallout of filtering for all from TST3 to TST4 trim 1
project precision of filtering for all from TST3 to generality 0.01, 0.05, 0.10
project precision of filtering for all from TST3 to generality 0.05 assuming fallout exponent 0.45
project precision, F of filtering for GE, UMASS from TST3 to stream NEWS
audit published for all on TST2, TST3, TST4
agree on TST3
plot score recall, precision of filtering for all on TST3 to "figure5.svg"
plot group F for all on TST3
plot compare F for GE, UMASS on TST3
plot change F for all from TST3 to TST4 to "slopes.svg"
explain compare F for GE, UMASS on TST3
export score recall, precision for all on TST3 to "scores.csv"
let $finalists = GE, UMASS, SRI
define measure SER = (missing + spurious + incorrect) / possible
define measure G(w=0.5) = w * recall + (1 - w) * precision
show systems
show test sets
show evaluations
show measures
show tests
show imports
show variables
show attributes
show texts
load "scores.csv" as scores
forget import 3
sql "select system, sum(correct) from scores group by all"
""".strip().splitlines()


@pytest.mark.parametrize("text", EXAMPLES)
def test_an_example_is_already_in_canonical_spelling(text: str) -> None:
    (statement,) = parse(text)
    assert to_text(statement) == text


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_span_of_a_statement_is_its_text(text: str) -> None:
    _, statement = parse(f"show systems ;\n  {text} -- done\n;")
    assert f"show systems ;\n  {text} -- done\n;"[statement.span.start : statement.span.end] == text


def names(*texts: str) -> tuple[Name, ...]:
    return tuple(Name(text) for text in texts)


def measures(*texts: str) -> tuple[MeasureCall, ...]:
    return tuple(MeasureCall(text) for text in texts)


def number(text: str) -> Number:
    return Number(Decimal(text))


GOLDENS: list[tuple[str, AnyStatement]] = [
    (
        "score recall, F for GE, UMASS on TST3",
        Score(measures("recall", "F"), systems=Systems(names("GE", "UMASS")), test_sets=TestSets(names("TST3"))),
    ),
    (
        "SCORE recall Of extraction FOR all EXCEPT LSI, $late ON MUC-*.TST*",
        Score(
            measures("recall"),
            task=Name("extraction"),
            systems=Systems((All(),), excepted=(Name("LSI"), Variable("late"))),
            test_sets=TestSets((Pattern("MUC-*.TST*"),)),
        ),
    ),
    (
        "score mean(F(beta=2)), F(beta=$b, optional=excluded) order by mean(recall) asc",
        Score(
            (
                Mean(MeasureCall("F", (Argument("beta", number("2")),))),
                MeasureCall("F", (Argument("beta", Variable("b")), Argument("optional", Name("excluded")))),
            ),
            order=Order(Mean(MeasureCall("recall")), "asc"),
        ),
    ),
    (
        "score recall limit 3 order by system by document.source, label",
        Score(
            measures("recall"),
            by=(Attribute("document", "source"), Attribute("label")),
            order=Order(MeasureCall("system")),
            limit=number("3"),
        ),
    ),
    (
        "score recall for allrel, random(s=70%) on all",
        Score(
            measures("recall"),
            systems=Systems((Name("allrel"), BaselineCall("random", (Argument("s", number("0.7")),)))),
            test_sets=TestSets((All(),)),
        ),
    ),
    (
        "compare F against random(s=0.5) test two-sample-t two-sided confidence 99% seed $s missing zero adjust bh",
        Compare(
            measures("F"),
            against=BaselineCall("random", (Argument("s", number("0.5")),)),
            test=Name("two-sample-t"),
            sides="two-sided",
            confidence=number("0.99"),
            seed=Variable("s"),
            missing="zero",
            adjust=Name("bh"),
        ),
    ),
    (
        "project precision from TST3 assuming fallout exponent 0.45 to generality 1%, $g",
        Project(
            measures("precision"),
            source=Name("TST3"),
            generalities=(number("0.01"), Variable("g")),
            exponent=number("0.45"),
        ),
    ),
    ("plot agree to $file on TST3", Plot(nodes.Agree(TestSets(names("TST3"))), to=Variable("file"))),
    ("explain audit published", Explain(nodes.Audit())),
    ('export generality to "g.csv"', Export(nodes.Generality(), Text("g.csv"))),
    ("let $x = GE*, 7B-chat, $y", Let(Variable("x"), (Pattern("GE*"), Name("7B-chat"), Variable("y")))),
    ('let $x = "José"', Let(Variable("x"), (Text("José"),))),
    ("let $alpha = 0.10", Let(Variable("alpha"), (number("0.10"),))),
    (
        "define measure G(w=0.5, v) = w*recall-(1-v)/-F(beta=2)",
        Define(
            Name("G"),
            BinaryOperation(
                BinaryOperation(MeasureCall("w"), "*", MeasureCall("recall")),
                "-",
                BinaryOperation(
                    BinaryOperation(number("1"), "-", MeasureCall("v")),
                    "/",
                    Negative(MeasureCall("F", (Argument("beta", number("2")),))),
                ),
            ),
            (Default("w", number("0.5")), Default("v")),
        ),
    ),
    ("show Test Sets", Show("test sets")),
    ('load "a ""b"".csv" as scores', Load(Text('a "b".csv'), Name("scores"))),
    ("forget import $last", Forget(Variable("last"))),
    ('sql "select ""x""\nfrom scores"', SqlQuery(Text('select "x"\nfrom scores'))),
]


@pytest.mark.parametrize(("text", "statement"), GOLDENS, ids=[text for text, _ in GOLDENS])
def test_a_statement_parses_to_its_node(text: str, statement: AnyStatement) -> None:
    assert parse(text) == (statement,)


CONDITIONS: list[tuple[str, nodes.Condition]] = [
    ('document = "d1"', Relation(Attribute("document"), "=", Text("d1"))),
    ("label != relevant", Relation(Attribute("label"), "!=", Name("relevant"))),
    ("confidence >= 50%", Relation(Attribute("confidence"), ">=", number("0.5"))),
    ("system.temperature < -1", Relation(Attribute("system", "temperature"), "<", number("-1"))),
    ('document."pre parse" <= $x', Relation(Attribute("document", "pre parse"), "<=", Variable("x"))),
    ("unit > 7B", Relation(Attribute("unit"), ">", Name("7B"))),
    ("label in (relevant, $l, 3)", In(Attribute("label"), (Name("relevant"), Variable("l"), number("3")))),
    ("label in $labels", In(Attribute("label"), (Variable("labels"),))),
    ('unit not like "a%"', Not(Like(Attribute("unit"), Text("a%")))),
    ("document.language is missing", IsMissing(Attribute("document", "language"))),
    ("document.order is not missing", Not(IsMissing(Attribute("document", "order")))),
    ("label not in (optional)", Not(In(Attribute("label"), (Name("optional"),)))),
    ("system.run is LATEST", IsLatest(Attribute("system", "run"))),
    ("documnt is missing", IsMissing(Attribute("documnt"))),
]


@pytest.mark.parametrize(("text", "condition"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_a_condition_parses_to_its_node(text: str, condition: nodes.Condition) -> None:
    assert parse(f"score F where {text}") == (Score(measures("F"), where=condition),)


def test_not_binds_tighter_than_and_and_and_tighter_than_or() -> None:
    a, b, c, d = (IsMissing(Attribute(letter)) for letter in "abcd")
    written = "not a is missing and b is missing or c is missing and not (a is missing or d is missing)"
    assert parse(f"score F where {written}") == (
        Score(measures("F"), where=Or((And((Not(a), b)), And((c, Not(Or((a, d)))))))),
    )


def test_parentheses_around_a_list_of_and_keep_it_a_condition_of_its_own() -> None:
    a, b, c = (IsMissing(Attribute(letter)) for letter in "abc")
    flat = parse("score F where a is missing and b is missing and c is missing")
    nested = parse("score F where (a is missing and b is missing) and c is missing")
    assert flat == (Score(measures("F"), where=And((a, b, c))),)
    assert nested == (Score(measures("F"), where=And((And((a, b)), c))),)


WRITTEN_BARE = """
GE-CMU NMSU/Brandeis gpt-4.1-mini P@10 7B-chat MUC-4.TST3 a+b C:drive 4-5 3.5-turbo 7B 0x10 1e-5 José test tests system
document unit label level seed missing score group generality trim confidence measure published asc zero all-MiniLM
for-you onto random F t z is_good
"""


@pytest.mark.parametrize("name", WRITTEN_BARE.split())
def test_a_bare_name_names_a_system_a_test_set_and_a_measure(name: str) -> None:
    assert parse(f"score {name} for {name}, {name} on {name}") == (
        Score(measures(name), systems=Systems(names(name, name)), test_sets=TestSets(names(name))),
    )


@pytest.mark.parametrize(
    "name", ["all", "for", "exact", "GE CMU", 'a "quoted" one', "José", "9999", "0.10", "10%", "GE*"]
)
def test_a_quoted_name_names_a_system_a_test_set_and_a_measure(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    assert parse(f"score {quoted} for {quoted} on {quoted}") == (
        Score(measures(name), systems=Systems(names(name)), test_sets=TestSets(names(name))),
    )


def test_names_are_normalized_but_texts_are_not() -> None:
    (statement,) = parse('load "Jose\u0301" as "Jose\u0301"')
    assert statement == Load(Text("Jose\u0301"), Name("Jos\u00e9"))


@pytest.mark.parametrize(
    ("written", "value"),
    [("9999", "9999"), ("9_999", "9999"), ("0.10", "0.1"), ("2^20", "1048576"), ("10%", "0.1"), ("0.5%", "0.005")],
)
def test_a_number_has_the_value_that_is_written(written: str, value: str) -> None:
    assert parse(f"compare F shuffles {written}") == (Compare(measures("F"), shuffles=number(value)),)


def test_clauses_stand_in_any_order() -> None:
    assert parse("compare F exact on TST3 for A, B where a is missing of x") == parse(
        "compare F of x for A, B on TST3 where a is missing exact"
    )


@pytest.mark.parametrize("text", ["", "  \n", ";", " ; ;", "-- nothing here", "-- nothing; score F\n;"])
def test_a_text_without_statements_has_none(text: str) -> None:
    assert parse(text) == ()


def test_a_comment_runs_to_the_end_of_its_line() -> None:
    assert parse("score F -- for GE; show systems\n for UMASS") == (
        Score(measures("F"), systems=Systems(names("UMASS"))),
    )


def test_a_subtraction_needs_no_blanks_in_a_definition_and_a_name_keeps_its_hyphen_elsewhere() -> None:
    assert parse("define measure a-b = a-b") == (
        Define(Name("a-b"), BinaryOperation(MeasureCall("a"), "-", MeasureCall("b"))),
    )


def test_the_span_of_a_node_is_its_text() -> None:
    text = 'score F(beta=2) for GE, "a b" on TST3 where document.source = "x" or not label in (a)'
    (statement,) = parse(text)
    assert isinstance(statement, Score)
    assert statement.systems is not None
    assert isinstance(statement.where, Or)
    parts = [statement.measures[0], *statement.systems.items, statement.systems, *statement.where.conditions]
    assert [text[part.span.start : part.span.end] for part in parts] == [
        "F(beta=2)",
        "GE",
        '"a b"',
        'GE, "a b"',
        'document.source = "x"',
        "not label in (a)",
    ]
