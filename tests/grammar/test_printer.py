"""Printing is the inverse of parsing: parse(to_text(node)) == node, for nodes of every class, however they were
built.
"""

from __future__ import annotations

import os
import typing
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evalhouse.grammar import nodes
from evalhouse.grammar.clauses import EXPECTATIONS
from evalhouse.grammar.editing.layout import layout
from evalhouse.grammar.lexicon import FUNCTIONS, KEYWORDS
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text

EXAMPLES = int(os.environ.get("EVALHOUSE_EXAMPLES", "300"))
"""How many random nodes are printed and parsed again."""


def some(items: st.SearchStrategy[typing.Any], at_least: int = 1) -> st.SearchStrategy[tuple[typing.Any, ...]]:
    return st.lists(items, min_size=at_least, max_size=3).map(tuple)


def perhaps(value: st.SearchStrategy[typing.Any]) -> st.SearchStrategy[typing.Any]:
    return st.none() | value


ODD_NAMES = [
    "GE",
    "NMSU/Brandeis",
    "P@10",
    "7B",
    "1e5",
    "0.10",
    "10%",
    "2^8",
    "a-",
    "a--b",
    "",
    '"',
    "R&D",
    "x.*",
    "José",
    "$v",
    "--",
]

words = st.sampled_from(sorted(KEYWORDS)) | st.from_regex(r"[a-zA-Z0-9_]{1,8}", fullmatch=True)
name_texts = (words | st.sampled_from(ODD_NAMES) | st.text(max_size=12)).map(
    lambda text: unicodedata.normalize("NFC", text)
)
bare_names = st.from_regex(r"[A-Z][a-z]{0,3}x(-[0-9]b|\.[a-z]x)?", fullmatch=True).map(nodes.Name)
bare_words = st.from_regex(r"[A-Z][a-z]{0,3}x", fullmatch=True).map(nodes.Name)

names = st.builds(nodes.Name, name_texts)
patterns = st.from_regex(
    r"([A-Za-z0-9]{1,3}[-/.:+@])?[A-Za-z0-9]{0,3}\*[A-Za-z0-9*]{0,3}(\.x\*?)?", fullmatch=True
).map(nodes.Pattern)
variables = st.from_regex(r"[A-Za-z0-9_é]{1,5}", fullmatch=True).map(nodes.Variable)
decimals = st.decimals(min_value=-(10**12), max_value=10**12, places=6) | st.integers(-10, 10**12).map(Decimal)
numbers = st.builds(nodes.Number, decimals)
unsigned = st.builds(nodes.Number, decimals.map(abs))
texts = st.builds(nodes.Text, st.text(max_size=20) | st.sampled_from(['"', '""', "a\nb", "-- no", ";"]))
amounts = numbers | variables
differences = amounts | st.builds(nodes.Part, amounts, names | variables)

parameters = st.builds(nodes.Argument, name_texts, numbers | names | variables | st.builds(nodes.All))
some_parameters = some(parameters, at_least=0)
plain_measures = st.builds(nodes.MeasureCall, name_texts, some_parameters)
attributes = st.builds(nodes.Attribute, name_texts, name_texts)
means = st.builds(nodes.Mean, plain_measures, st.sampled_from(sorted(nodes.AROUND_A_MEASURE)), st.none() | attributes)
measures = some(plain_measures | means)
baselines = st.builds(nodes.BaselineCall, name_texts, some_parameters)
everything = st.builds(nodes.All)
systems = st.builds(
    nodes.Systems,
    some(names | patterns | variables | everything | baselines),
    some(names | patterns | variables, at_least=0),
)
test_sets = st.builds(nodes.TestSets, some(names | patterns | variables | everything))

compared = texts | numbers | bare_words | variables
comparisons = st.builds(nodes.Relation, attributes, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), compared)
ins = st.builds(nodes.In, attributes, some(compared))
likes = st.builds(nodes.Like, attributes, texts | variables)
missings = st.builds(nodes.IsMissing, attributes) | st.builds(nodes.IsLatest, attributes)
conditions = st.recursive(
    comparisons | ins | likes | missings,
    lambda inner: (
        st.builds(nodes.Not, inner)
        | st.builds(nodes.And, some(inner, at_least=2))
        | st.builds(nodes.Or, some(inner, at_least=2))
    ),
    max_leaves=8,
)
one_argument = st.sampled_from([name for name, function in FUNCTIONS.items() if function.accepts(1)])
several_arguments = st.sampled_from([name for name, function in FUNCTIONS.items() if function.accepts(2)])
expressions = st.recursive(
    unsigned | variables | plain_measures,
    lambda inner: (
        st.builds(nodes.Negative, inner)
        | st.builds(nodes.BinaryOperation, inner, st.sampled_from(["+", "-", "*", "/"]), inner)
        | st.builds(nodes.FunctionCall, one_argument, st.tuples(inner))
        | st.builds(nodes.FunctionCall, several_arguments, some(inner, at_least=2))
    ),
    max_leaves=8,
)
overs = st.sampled_from([None, nodes.MEAN_OVER, nodes.POOLED])

past = {"as_of": perhaps(numbers | texts | variables)}
asked = {"task": perhaps(names), "systems": perhaps(systems), **past}
filtered = {"where": perhaps(conditions)}
orders = st.builds(nodes.Order, plain_measures | means, st.sampled_from([None, "asc", "desc"]))
tested = {
    "test": perhaps(names | variables),
    "shuffles": perhaps(amounts),
    "exact": st.booleans(),
    "exchange": perhaps(attributes),
    "sides": st.sampled_from([None, "one-sided", "two-sided"]),
    "seed": perhaps(amounts),
    "level": perhaps(amounts),
    "confidence": perhaps(amounts),
    "adjust": perhaps(names | variables),
    "missing": st.sampled_from([None, "error", "drop", "zero", "bounds"]),
    "runs_apart": st.booleans(),
    "test_sets": perhaps(test_sets),
    **asked,
    **filtered,
}
some_attributes = some(attributes, at_least=0)
scores = st.builds(
    nodes.Score,
    measures,
    test_sets=perhaps(test_sets),
    by=some_attributes,
    order=perhaps(orders),
    limit=perhaps(amounts),
    replicates=perhaps(attributes),
    runs_apart=st.booleans(),
    standardized=st.booleans(),
    interval=st.sampled_from([None, *nodes.INTERVAL_WORDS]),
    exchange=perhaps(attributes),
    seed=perhaps(amounts),
    level=perhaps(amounts),
    corrected=perhaps(names | variables),
    over=overs,
    **asked,
    **filtered,
)
compares = st.builds(
    nodes.Compare,
    measures,
    against=perhaps(names | baselines | variables),
    replicates=perhaps(attributes),
    interval=st.sampled_from([None, *nodes.INTERVAL_WORDS]),
    over=overs,
    **tested,
    margin=perhaps(differences),
    anytime=st.booleans(),
    planned=perhaps(amounts),
    spending=st.sampled_from([None, "obrien", "pocock"]),
    in_order=perhaps(attributes),
)
without_measures = {"systems": systems, "test_sets": perhaps(test_sets), "over": overs, **filtered}
question_kinds = (
    scores,
    compares,
    st.builds(nodes.Score, order=perhaps(orders), limit=perhaps(amounts), **without_measures),
    st.builds(
        nodes.Compare, against=perhaps(names | baselines | variables), margin=perhaps(differences), **without_measures
    ),
    st.builds(
        nodes.Rank, spoken=st.sampled_from([(), ("leaderboard",)]), shuffles=perhaps(amounts), **without_measures
    ),
    st.builds(nodes.Group, measures, over=overs, replicates=perhaps(attributes), **tested),
    st.builds(nodes.Rank, measures, replicates=perhaps(attributes), by_mean_rank=st.booleans(), over=overs, **tested),
    st.builds(
        nodes.Power,
        measures,
        against=perhaps(names | baselines | variables),
        replicates=perhaps(attributes),
        detect=some(differences, at_least=0),
        sizes=some(amounts, at_least=0),
        wanted=perhaps(amounts),
        **tested,
    ),
    st.builds(
        nodes.PaperTable,
        measures,
        over=overs,
        by=some(attributes, at_least=0),
        against=perhaps(names | baselines | variables),
        letters=st.booleans(),
        interval=st.sampled_from([None, *nodes.INTERVAL_WORDS]),
        ranks=st.booleans(),
        order=perhaps(orders),
        as_named=st.booleans(),
        digits=perhaps(amounts),
        columns=some(st.builds(nodes.Renamed, names, texts | variables), at_least=0),
        caption=perhaps(texts | variables),
        label=perhaps(texts | variables),
        replicates=perhaps(attributes),
        **tested,
    ),
    st.builds(nodes.Generality, perhaps(test_sets), some_attributes, perhaps(conditions), **past),
    st.builds(
        nodes.Replicate,
        measures,
        source=names | variables,
        target=names | variables,
        against=perhaps(names | baselines | variables),
        replicates=perhaps(attributes),
        **{key: value for key, value in tested.items() if key != "test_sets"},
    ),
    st.builds(
        nodes.Change,
        measures,
        source=names | variables,
        target=names | variables,
        trim=perhaps(amounts),
        runs_apart=st.booleans(),
        **asked,
        **filtered,
    ),
    st.builds(
        nodes.Project,
        measures,
        source=names | variables,
        generalities=some(amounts),
        exponent=perhaps(amounts),
        runs_apart=st.booleans(),
        **asked,
        **filtered,
    ),
    st.builds(nodes.Project, measures, source=names | variables, stream=names | variables, **asked, **filtered),
    st.builds(nodes.Audit, perhaps(systems), perhaps(test_sets), **past),
    st.builds(
        nodes.Agree,
        perhaps(test_sets),
        some(attributes, at_least=0),
        perhaps(conditions),
        with_key=st.booleans(),
        exchange=perhaps(attributes),
        seed=perhaps(amounts),
        level=perhaps(amounts),
        interval=st.sampled_from([None, *nodes.INTERVAL_WORDS]),
        **past,
    ),
    st.builds(
        nodes.Confusion,
        perhaps(names),
        perhaps(systems),
        perhaps(test_sets),
        perhaps(conditions),
        perhaps(amounts),
        runs_apart=st.booleans(),
        **past,
    ),
    st.builds(nodes.Coverage, perhaps(names), perhaps(systems), perhaps(test_sets), runs_apart=st.booleans(), **past),
    st.builds(
        nodes.Spread,
        measures,
        test_sets=perhaps(test_sets),
        replicates=perhaps(attributes),
        exchange=perhaps(attributes),
        **asked,
        **filtered,
    ),
    st.builds(
        nodes.Documents,
        measures,
        against=perhaps(names | baselines | variables),
        test_sets=perhaps(test_sets),
        replicates=perhaps(attributes),
        runs_apart=st.booleans(),
        only=perhaps(names | variables),
        limit=perhaps(amounts),
        missing=st.sampled_from([None, "error", "drop", "zero", "bounds"]),
        **asked,
        **filtered,
    ),
    st.builds(
        nodes.Differ,
        measures,
        by=some(attributes),
        against=perhaps(names | baselines | variables),
        test_sets=perhaps(test_sets),
        replicates=perhaps(attributes),
        runs_apart=st.booleans(),
        depth=perhaps(amounts),
        limit=perhaps(amounts),
        exchange=perhaps(attributes),
        shuffles=perhaps(amounts),
        seed=perhaps(amounts),
        level=perhaps(amounts),
        missing=st.sampled_from([None, "error", "drop", "zero", "bounds"]),
        **asked,
        **filtered,
    ),
    st.builds(
        nodes.Curve,
        measures,
        test_sets=perhaps(test_sets),
        runs_apart=st.booleans(),
        utility=st.just(()) | some(amounts),
        limit=perhaps(amounts),
        shuffles=perhaps(amounts),
        seed=perhaps(amounts),
        level=perhaps(amounts),
        **asked,
        **filtered,
    ),
)
questions = st.one_of(*question_kinds)
files = texts | variables
lengths = st.sampled_from(["80mm", "3.3in", "8 cm"]).map(nodes.Name)
shown = typing.get_args(typing.get_type_hints(nodes.Show)["what"])
defaults = st.builds(nodes.Default, name_texts, perhaps(numbers))
other_kinds = (
    st.builds(nodes.Expect, compares, st.sampled_from(EXPECTATIONS)),
    st.builds(nodes.Expect, scores, at_least=perhaps(amounts), at_most=perhaps(amounts)),
    st.builds(nodes.Plot, questions, perhaps(files), perhaps(lengths), perhaps(files), perhaps(files)),
    st.builds(nodes.Explain, questions),
    st.builds(nodes.Export, questions, files),
    st.builds(nodes.Let, variables, some(bare_names | patterns | numbers | texts | variables)),
    st.builds(nodes.Define, names, expressions, some(defaults, at_least=0)),
    st.builds(nodes.Show, st.sampled_from(shown), **past),
    st.builds(nodes.Load, files, names),
    st.builds(nodes.Forget, amounts),
    st.builds(nodes.SqlQuery, texts, **past),
)
statements = st.one_of(*question_kinds, *other_kinds)


@pytest.mark.fuzz
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(statements, max_size=3).map(tuple))
def test_printing_and_parsing_gives_the_statements_again(built: tuple[nodes.AnyStatement, ...]) -> None:
    assert parse(to_text(built)) == built


@pytest.mark.long
@settings(max_examples=EXAMPLES // 3, deadline=None)
@given(st.lists(statements, max_size=3).map(tuple))
def test_laying_out_what_was_printed_says_the_same_and_is_settled(built: tuple[nodes.AnyStatement, ...]) -> None:
    laid_out = layout(to_text(built))
    assert parse(laid_out) == built
    assert layout(laid_out) == laid_out


@pytest.mark.long
@settings(max_examples=EXAMPLES, deadline=None)
@given(plain_measures | means)
def test_a_measure_printed_alone_reads_as_in_a_statement(measure: nodes.MeasureCall | nodes.Mean) -> None:
    assert parse(f"score {to_text(measure)}") == (nodes.Score((measure,)),)


@pytest.mark.long
@settings(max_examples=EXAMPLES, deadline=None)
@given(conditions)
def test_a_condition_printed_alone_reads_as_in_a_statement(condition: nodes.Condition) -> None:
    measures = (nodes.MeasureCall("F"),)
    assert parse(f"score F where {to_text(condition)}") == (nodes.Score(measures, where=condition),)


@pytest.mark.long
@settings(max_examples=EXAMPLES, deadline=None)
@given(expressions)
def test_an_expression_printed_within_a_definition_is_read_again(expression: nodes.WrittenExpression) -> None:
    define = nodes.Define(nodes.Name("X"), expression)
    assert parse(to_text(define)) == (define,)


@pytest.mark.long
def test_random_statements_hold_nodes_of_every_class() -> None:
    seen: set[type[nodes.Node]] = set()

    @settings(max_examples=90, derandomize=True, database=None, phases=[Phase.generate], deadline=None)
    @given(st.tuples(*question_kinds, *other_kinds))
    def collect(one_of_each: tuple[nodes.AnyStatement, ...]) -> None:
        seen.update(type(part) for statement in one_of_each for part in parts(statement))

    collect()
    classes = {kind for kind in vars(nodes).values() if isinstance(kind, type) and issubclass(kind, nodes.Node)}
    assert seen == {kind for kind in classes if not kind.__subclasses__()}


def parts(node: nodes.Node) -> Iterator[nodes.Node]:
    """The node and all nodes within it."""
    yield node
    for field in node.__struct_fields__:
        value = getattr(node, field)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, nodes.Node):
                yield from parts(part)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (nodes.Name("GE-CMU"), "GE-CMU"),
        (nodes.Name("test"), "test"),
        (nodes.Name("For"), '"For"'),
        (nodes.Name("José"), '"José"'),
        (nodes.Name('a "b"'), '"a ""b"""'),
        (nodes.Name("9999"), '"9999"'),
        (nodes.Name("7B-chat"), "7B-chat"),
        (nodes.Name("a--b"), '"a--b"'),
        (nodes.Number(Decimal("1E+3")), "1000"),
        (nodes.Number(Decimal("0.10")), "0.10"),
        (nodes.MeasureCall("F", (nodes.Argument("beta", nodes.Number(Decimal(1))),)), "F(beta=1)"),
        (nodes.Mean(nodes.MeasureCall("mean")), 'mean("mean")'),
        (nodes.BaselineCall("random"), "random()"),
        (nodes.Attribute("document", "order"), "document.order"),
        (nodes.Attribute("for", "a b"), '"for"."a b"'),
        (nodes.Negative(nodes.Negative(nodes.MeasureCall("a-b"))), '-(-"a-b")'),
        (nodes.FunctionCall("max", (nodes.MeasureCall("a-b"), nodes.MeasureCall("max"))), 'max("a-b", max)'),
        (nodes.Not(nodes.IsMissing(nodes.Attribute("unit"))), "unit is not missing"),
        (nodes.TestSets((nodes.All(), nodes.Pattern("TST*"))), "all, TST*"),
        (nodes.Order(nodes.MeasureCall("F"), "desc"), "F desc"),
        (nodes.Default("w", nodes.Number(Decimal("0.5"))), "w=0.5"),
    ],
    ids=repr,
)
def test_a_node_has_one_canonical_spelling(node: nodes.Node, text: str) -> None:
    assert to_text(node) == text


def test_clauses_are_printed_in_one_order() -> None:
    (statement,) = parse(
        "compare F exact adjust holm level 5% test t on T one-sided against A for all of x exchange by unit"
    )
    assert (
        to_text(statement)
        == "compare F of x for all against A on T exchange by unit one-sided test t exact level 0.05 adjust holm"
    )


F = nodes.MeasureCall("F")


@pytest.mark.parametrize(
    "node",
    [
        nodes.Score(interval="bca"),
        nodes.Systems(()),
        nodes.And((nodes.IsMissing(nodes.Attribute("unit")),)),
        nodes.In(nodes.Attribute("unit"), ()),
        nodes.Pattern("TST"),
        nodes.Variable("a-b"),
        nodes.Number(Decimal("NaN")),
        nodes.Number(Decimal("1e40")),
        nodes.Relation(nodes.Attribute("unit"), "=", nodes.Name("a-b")),
        nodes.Let(nodes.Variable("x"), (nodes.Name("a b"),)),
        nodes.Define(nodes.Name("X"), nodes.Number(Decimal(-1))),
        nodes.FunctionCall("mean", (F,)),
        nodes.FunctionCall("sqrt", ()),
        nodes.FunctionCall("sqrt", (F, F)),
        nodes.FunctionCall("max", (F,)),
    ],
    ids=repr,
)
def test_what_no_text_can_say_is_a_value_error(node: nodes.Node) -> None:
    with pytest.raises(ValueError, match=r"is not|cannot be written|at least two"):
        to_text(node)
