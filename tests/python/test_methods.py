"""The methods of a warehouse are generated from the tables of statements and clauses, and ask what the
statement asks.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from decimal import Decimal

import pytest

import evalhouse as eh
from evalhouse.grammar.clauses import QUESTIONS, STATEMENTS
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.python import generation
from evalhouse.warehouse.python.text import arguments_of, statement_text
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.statements import statement_of


@pytest.fixture(scope="module")
def w() -> Iterator[eh.Warehouse]:
    with eh.open() as warehouse:
        yield warehouse


def test_every_statement_is_a_method() -> None:
    assert [word for word in STATEMENTS if not callable(getattr(eh.Warehouse, word, None))] == []


@pytest.mark.parametrize("word", QUESTIONS)
def test_every_clause_is_an_argument(word: str) -> None:
    named = set(inspect.signature(getattr(eh.Warehouse, word)).parameters)
    assert {argument.name for argument in arguments_of(word)} <= named
    clauses = {argument.clause.field for argument in arguments_of(word)} | {"systems", "measures", "spoken", "span"}
    seconds = {argument.clause.second_field for argument in arguments_of(word)}
    assert set(QUESTIONS[word].__match_args__) <= clauses | seconds


@pytest.mark.parametrize("word", QUESTIONS)
def test_a_call_is_the_statement_of_the_same_words(word: str) -> None:
    (statement,) = parse(statement_of(QUESTIONS[word]).usage.example)

    class Asked(eh.Warehouse):
        def _ask(self, word: str, given: object) -> str:  # type: ignore[override]
            return statement_text(word, given)  # type: ignore[arg-type]

    made = eval(f"w.{generation.call(statement)}", {"w": object.__new__(Asked)})
    assert parse(made) == (statement,)


@pytest.mark.parametrize(
    ("call", "statement"),
    [
        ("score('F1', on='TST3')", "score F1 on TST3"),
        ("score(['recall', 'mean(F1)'], 'all', except_='GE')", "score recall, mean(F1) for all except GE"),
        ("score('recall, precision', 'GE*')", "score recall, precision for GE*"),
        ("score('exact match', 'my model', on=['a b', 'TST*'])", 'score "exact match" for "my model" on "a b", TST*'),
        ("score('F1', ['GE', 'SRI'], except_=['GE'])", "score F1 for GE, SRI except GE"),
        ("score('F1', except_=['GE'])", "score F1 for all except GE"),
        ("score('F1', interval=True)", "score F1 interval"),
        ("score('F1', interval='bca', level=Decimal('0.10'))", "score F1 level 0.10 interval bca"),
        ("score('F1', replicates_by=True)", "score F1 replicates"),
        ("score('F1', by=['unit', 'document.my part'])", 'score F1 by unit, document."my part"'),
        (
            "score('F1', where='document = \"D 1\"', order_by='F1 desc')",
            'score F1 where document = "D 1" order by F1 desc',
        ),
        ("score('F1', '$finalists', limit='$n')", "score F1 for $finalists limit $n"),
        ("score('F1', 'all \"in\" one')", 'score F1 for "all ""in"" one"'),
        ("score('F of', 'random(s=0.5)', 'allrel')", 'score "F of" for random(s=0.5), allrel'),
        ("compare('F1', 'GE', 'SRI', margin='5% of B')", "compare F1 for GE, SRI margin 5% of B"),
        ("power('F1', 'GE', 'SRI', detect=['5% of SRI', 0.1])", "power F1 for GE, SRI detect 5% of SRI, 0.1"),
        ("compare('F1', 'GE', 'SRI', one_sided=True, margin='1%')", "compare F1 for GE, SRI one-sided margin 1%"),
        ("compare('F1', 'GE', 'SRI', level=1e-05)", "compare F1 for GE, SRI level 0.00001"),
        (
            "power('F1', 'GE', 'SRI', detect=[0.01, '5%'], documents=100)",
            "power F1 for GE, SRI detect 0.01, 5% documents 100",
        ),
        (
            "project('precision', from_='TST3', to_generality=[0.01, 0.05])",
            "project precision from TST3 to generality 0.01, 0.05",
        ),
        ("change('recall', 'all', from_='TST3', to='TST4')", "change recall for all from TST3 to TST4"),
        (
            "table('F1', columns={'F1': 'F₁'}, caption='A \"caption\"')",
            'table F1 columns F1 as "F₁" caption "A ""caption"""',
        ),
        ("audit('all', on='TST3')", "audit published for all on TST3"),
        ("agree(on='TST3', with_key=True)", "agree on TST3 with key"),
    ],
)  # fmt: skip
def test_values_of_python_are_words_of_the_language(call: str, statement: str) -> None:
    class Asked(eh.Warehouse):
        def _ask(self, word: str, given: object) -> str:  # type: ignore[override]
            return statement_text(word, given)  # type: ignore[arg-type]

    made = eval(f"w.{call}", {"w": object.__new__(Asked), "Decimal": Decimal})
    assert made == statement
    assert [to_text(node) for node in parse(made)] == [to_text(node) for node in parse(statement)]


def test_the_numbers_are_those_of_the_statement(w: eh.Warehouse) -> None:
    by_method = w.compare("F1", "GE", "UMASS", "SRI", on="TST3", shuffles=999, adjust="holm")
    with Session.open() as session:
        by_statement = session.run("compare F1 for GE, UMASS, SRI on TST3 shuffles 999 adjust holm")
    assert by_method.signature == by_statement.signature
    assert by_method.table == by_statement.table


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("score('F1', on=3)", "on is 3, and neither a text nor a list of texts"),
        ("score('F1', 3)", "systems: 3 is not a text"),
        ("score('F1', level=True)", "level is True, and not a number"),
        ("score('F1', level=[1])", r"level is \[1\], and not a number"),
        ("table('F1', columns='F1')", "columns is 'F1', and not a mapping of names to texts"),
        ("compare('F1', 'GE', 'SRI', one_sided='yes')", "one_sided is 'yes', and neither True nor False"),
        ("score('F1', nonsense=1)", "unexpected keyword argument 'nonsense'"),
    ],
)
def test_a_value_of_a_wrong_type(call: str, said: str, w: eh.Warehouse) -> None:
    with pytest.raises(TypeError, match=said):
        eval(f"w.{call}")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("score('F1', level='5 seed 3')", "level is '5 seed 3', and not a number"),
        ("score('F1', on=[])", "on is empty"),
        ("score('F1', missing='keep')", "missing is 'keep', and not 'error' or 'drop' or 'zero' or 'bounds'"),
        ("score('F1', where='unit = slot; show tests')", "this is not one statement"),
        ("compare('F1', 'GE', level=float('nan'))", "level is nan, and not a number"),
    ],
)
def test_a_value_that_cannot_be_meant(call: str, said: str, w: eh.Warehouse) -> None:
    with pytest.raises(eh.QueryError) as raised:
        eval(f"w.{call}")
    assert str(raised.value).startswith(said)


def test_an_error_shows_the_statement_and_the_place(w: eh.Warehouse) -> None:
    with pytest.raises(eh.QueryError) as raised:
        w.compare("F1", "GE", "UMAS", on="TST3")
    assert str(raised.value) == (
        "unknown system 'UMAS' on TST3\n"
        "  compare F1 for GE, UMAS on TST3\n"
        "                     ^^^^\n"
        "  did you mean UMASS?"
    )  # fmt: skip
    assert isinstance(raised.value, eh.Error)
    assert raised.value.hints == ("did you mean UMASS?",)
    files = [str(entry.path).rpartition("/")[2] for entry in raised.traceback]
    assert not {"session.py", "path.py", "entries.py", "systems.py"} & set(files)
