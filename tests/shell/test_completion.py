"""Completion offers what the grammar expects and what the warehouse contains, each with a line of help."""

from __future__ import annotations

import pytest

from evalhouse.grammar.clauses import CLAUSES, STATEMENTS
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import expect_next, is_complete, parse
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell.offers import candidates, keyword_meaning, statement_usage
from evalhouse.warehouse.shell.prompt import mistake


def offered(text: str, session: Session) -> list[str]:
    return [candidate.text for candidate in candidates(text, session)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", ["agree", "audit published"]),
        ("sc", ["score"]),
        ("score rec", ["recall"]),
        ("score F(", ["beta="]),
        ("score recall(optional=e", ["excluded"]),
        ("score F for GE, UM", ["UMASS", "UMICH"]),
        ("score F of filtering for ", ["allrel", "random(s="]),
        ("score F for all on TST", ["TST2", "TST3", "TST4"]),
        ("score F for all on TST3 o", ["of", "order by"]),
        ("score F of ", list(KINDS)),
        ("compare F for all on TST3 test tu", ["tukey"]),
        ("compare F for all on TST3 adjust ho", ["holm"]),
        ("score F for all on TST3 where label = ", ["relevant", "optional", "nonrelevant"]),
        ("score F for all on TST3 by u", ["unit"]),
        ('load "x.csv" as dec', ["decisions"]),
        ("show t", ["test sets", "tests", "texts"]),
        ("score F for GE on TST3; gro", ["group"]),
    ],
)
def test_what_begins_like_the_last_word_comes_first(text: str, first: list[str], session: Session) -> None:
    assert offered(text, session)[: len(first)] == first


def test_names_that_need_quotes_are_offered_in_quotes(worked: Session) -> None:
    names = offered('score recall for "', worked) or offered("score recall for ", worked)
    assert {'"José"', '"for"', '"[red]plain[/red]"', "7B-chat"} <= set(names)
    assert offered("score recall for Jos", worked) == ['"José"']


def test_attributes_imported_measures_and_variables_are_offered(worked: Session) -> None:
    assert offered("score recall for all on abc by document.so", worked) == ["document.source"]
    assert "BLEU" in offered("score B", worked)
    worked.set("finalists", "A, B")
    try:
        assert offered("score recall for $fi", worked) == ["$finalists"]
        assert [each.meaning for each in candidates("score recall for $", worked)] == ["A, B"]
        assert offered("score $fi", worked) == ["$finalists"]
        assert offered("score recall by $fi", worked) == []
    finally:
        worked.variables.clear()


@pytest.mark.parametrize(
    "text", ["score F for GE -- and", 'score F for "G', "score score score ", "score F for GE GE "]
)
def test_nothing_is_offered_in_comments_texts_and_behind_mistakes(text: str, session: Session) -> None:
    assert offered(text, session) == []


@pytest.mark.parametrize(
    "text",
    ["score ", "score F for ", "compare F for all on ", "compare F for all on TST3 test ", "score F of ", "show "],
)
def test_what_is_offered_makes_the_text_go_on(text: str, session: Session) -> None:
    for candidate in candidates(text, session):
        whole = text[: candidate.start] + candidate.text
        try:
            parse(whole)
        except QueryError:
            assert not is_complete(whole)
            assert expect_next(whole + ("" if whole.endswith("=") else " ")).start >= len(whole)


def test_everything_offered_has_a_line_of_help(session: Session) -> None:
    texts = [
        "",
        "score ",
        "score F(",
        "score F for ",
        "score F for all on TST3 ",
        "compare F for all on TST3 ",
        "show ",
    ]
    texts += [
        "compare F for all on TST3 missing ",
        "score F for all on TST3 order by F ",
        "change F from TST3 to TST4 ",
    ]
    silent = [each.text for text in texts for each in candidates(text, session) if not each.meaning]
    assert silent == []


def test_every_statement_and_clause_of_the_grammar_says_what_it_means() -> None:
    assert [word for word in STATEMENTS if statement_usage(word) is None] == []
    assert [clause.words for clause in CLAUSES if keyword_meaning(clause.words) != clause.meaning] == []
    assert all(task.meaning for task in KINDS.values())
    assert keyword_meaning("define measure") == "define a measure of summed counts and keep it in the warehouse"
    assert keyword_meaning("test sets") == "all test sets with their documents"


@pytest.mark.parametrize("word", STATEMENTS)
def test_the_example_of_a_statement_is_one(word: str) -> None:
    usage = statement_usage(word)
    assert usage is not None
    (statement,) = parse(usage.example)
    assert type(statement) is STATEMENTS[word]


def test_functions_are_offered_in_a_definition(session: Session) -> None:
    assert offered("define measure G = sqr", session) == ["sqrt("]
    assert offered("score sqr", session) == []


def test_a_measure_whose_name_has_a_hyphen_is_offered_in_quotes_where_that_subtracts(session: Session) -> None:
    assert offered("define measure J = bal", session) == ['"balanced-accuracy"']
    assert offered("define measure J = recall; score bal", session) == ["balanced-accuracy"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("score F for GE, UMAS on TST3 ", "UMAS"),
        ("compare F for GE, UMASS on TST3 shufles 99 ", "shufles"),
        ("explain score G for all on TST3 ", "G"),
    ],
)
def test_a_mistake_is_found_where_it_is(text: str, place: str, session: Session) -> None:
    error = mistake(text, session)
    assert error is not None
    assert text[error.span.start : error.span.end] == place


@pytest.mark.parametrize(
    "text", ["", "scor", "score F for GE, UMAS", "score F for GE,", 'sql "select', "score F for GE "]
)
def test_nothing_is_said_of_what_is_still_typed(text: str, session: Session) -> None:
    assert mistake(text, session) is None
