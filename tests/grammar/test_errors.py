"""The errors of queries that cannot be parsed: the sentence, the underlined text, the hints."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from evalhouse.grammar.clauses import QUESTIONS
from evalhouse.grammar.editing.layout import layout
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import expect_next, is_complete, parse, tokens

ERRORS: list[tuple[str, str, str, tuple[str, ...]]] = [
    # statements
    ("scor recall", "unknown statement 'scor'", "scor", ("did you mean score?",)),
    ("Exprt score F", "unknown statement 'Exprt'", "Exprt", ("did you mean export?",)),
    (
        "select 1",
        "SQL is written in quotes after the word sql",
        "select",
        ('write sql "select 1"',),
    ),
    ("ranking F", "unknown statement 'ranking'", "ranking", ("write rank F",)),
    ("Significanse F", "unknown statement 'Significanse'", "Significanse", ("did you mean compare?",)),
    ('import "a.csv"', "unknown statement 'import'", "import", ("did you mean load?",)),
    ("plot ranking F", "plot takes a question, not 'ranking'", "ranking", ("did you mean rank?",)),
    (
        "plot import F",
        "plot takes a question, not 'import'",
        "import",
        ("questions are " + ", ".join(QUESTIONS),),
    ),
    (
        "compare F permutatoins 9",
        "unknown clause 'permutatoins' in compare",
        "permutatoins",
        ("did you mean permutations?",),
    ),
    ("show systems; scor F", "unknown statement 'scor'", "scor", ("did you mean score?",)),
    ("(score F)", "a statement begins with a word, not '('", "(", ()),
    (
        "plot show systems",
        "plot takes a question, not 'systems'",
        "systems",
        ("questions are " + ", ".join(QUESTIONS),),
    ),
    ("explain scor F", "explain takes a question, not 'scor'", "scor", ("did you mean score?",)),
    (
        "score F for GE compare F",
        "unexpected 'compare' after 'GE'",
        "compare",
        ("statements are separated by ;",),
    ),
    # what power is not of
    (
        "power F for GE, UMASS detect observed",
        "power is not computed for the observed difference: it follows from p and says nothing more",
        "observed",
        ("name a difference that would matter: power F for A, B detect 2%",),
    ),
    (
        "post hoc power F for GE, UMASS",
        "power is not computed for the observed difference: it follows from p and says nothing more",
        "post",
        ("name a difference that would matter: power F for A, B detect 2%",),
    ),
    ("power F detect", "the statement ends where a number is expected", "", ()),
    ("score F detect 1%", "clause 'detect' does not apply to score", "detect", ("it belongs to power",)),
    # clauses
    (
        "compare F for GE, UMASS on TST3 shufles 99",
        "unknown clause 'shufles' in compare",
        "shufles",
        ("did you mean shuffles?",),
    ),
    ("group F fro all", "unknown clause 'fro' in group", "fro", ("did you mean for?",)),
    ("compare F one-sides", "unknown clause 'one-sides' in compare", "one-sides", ("did you mean one-sided?",)),
    ("score F for all trim 1", "clause 'trim' does not apply to score", "trim", ("it belongs to change",)),
    (
        "power F for A, B over test sets pooled on x, y",
        "clause 'over' does not apply to power",
        "over",
        (
            "each test set by itself: power F for A, B on x, y",
            "it belongs to score, compare, group, rank and table",
        ),
    ),
    (
        "differ F for A, B on x, y over test sets by document.z",
        "clause 'over' does not apply to differ",
        "over",
        (
            "each test set by itself: differ F for A, B on x, y by document.z",
            "it belongs to score, compare, group, rank and table",
        ),
    ),
    (
        "compare F by unit",
        "clause 'by' does not apply to compare",
        "by",
        ("write differ F by unit",),
    ),
    (
        "plot agree shuffles 9",
        "clause 'shuffles' does not apply to agree",
        "shuffles",
        ("it belongs to compare, group, rank, table, power, replicate, differ and curve",),
    ),
    ('score F to "x.csv"', "clause 'to' does not apply to score", "to", ("it belongs to plot and export",)),
    ('explain score F to "x"', "clause 'to' does not apply to explain", "to", ("it belongs to plot and export",)),
    ("compare F on  A,\n B for x on C", "clause 'on' is given twice, first as 'on A, B'", "on", ()),
    ("compare F one-sided two-sided", "clause 'two-sided' is given twice, first as 'one-sided'", "two-sided", ()),
    ("agree audit", "unexpected 'audit' after 'agree'", "audit", ("statements are separated by ;",)),
    (
        "agree zzz",
        "unknown clause 'zzz' in agree",
        "zzz",
        ("clauses of agree are on, by, where, with key, exchange by, seed, level, interval and as of",),
    ),
    ("score F as of 2026-11-01", "unexpected '-' after '2026'", "-", ('a date is written in quotes: "2026-11-01"',)),
    ("score F as of 3 as of 4", "clause 'as' is given twice, first as 'as of 3'", "as", ()),
    ("score F as 3", "expected 'of', not '3'", "3", ()),
    (
        "score F as of yesterday",
        "expected a number or a text in quotes, not 'yesterday'",
        "yesterday",
        ('write a text in quotes: "yesterday"',),
    ),
    ("forget import 3 as of 2", "unexpected 'as' after '3'", "as", ()),
    # names and lists
    (
        "score F for GE UMASS",
        "unexpected 'UMASS' after 'GE'",
        "UMASS",
        ("write score F for GE, UMASS", "a list is separated by commas"),
    ),
    (
        "compare F tern-1b vs heron-7b on units",
        "unexpected 'tern-1b' after 'F'",
        "tern-1b",
        ("write compare F for tern-1b vs heron-7b on units",),
    ),
    (
        "score F tern-1b on units",
        "unexpected 'tern-1b' after 'F'",
        "tern-1b",
        ("write score F, tern-1b on units", "measures are separated by commas, and systems come after for"),
    ),
    (
        "score F for on TST3",
        "expected a system, not 'on'",
        "on",
        ('write the name in quotes: "on"',),
    ),
    (
        "score F for GE, exact",
        "expected a system, not 'exact'",
        "exact",
        ('write the name in quotes: "exact"',),
    ),
    ("score F for 9999", "expected a system, not '9999'", "9999", ('write the name in quotes: "9999"',)),
    (
        "score F for R&D",
        "unknown sign '&'",
        "&",
        ('a name with other characters is written in quotes: "R&D"',),
    ),
    (
        "score F for A#",
        "unknown sign '#'",
        "#",
        ('a name with other characters is written in quotes: "A#"',),
    ),
    (
        "score F for GE- on T",
        "unexpected '-' after 'GE'",
        "-",
        ('a name with other characters is written in quotes: "GE-"',),
    ),
    ("change F from TST* to T", "expected one test set, not a pattern", "*", ()),
    ("let x = 3", "expected a variable, not 'x'", "x", ("a variable begins with $: $x",)),
    ("score F for $", "a variable needs a name right after '$'", "$", ()),
    ("define measure for = a", "expected a name, not 'for'", "for", ('write the name in quotes: "for"',)),
    # missing words
    ("compare F exchange unit", "expected 'by', not 'unit'", "unit", ()),
    ("forget 3", "expected 'import', not '3'", "3", ()),
    ('load "a.csv" scores', "expected 'as', not 'scores'", "scores", ()),
    (
        "show sytems",
        "expected a word such as 'attributes', 'confusion' or 'evaluations', not 'sytems'",
        "sytems",
        ("did you mean systems?",),
    ),
    (
        "compare F missing drp",
        "expected 'bounds', 'drop', 'error' or 'zero', not 'drp'",
        "drp",
        ("did you mean drop?",),
    ),
    ("compare F shuffles many", "expected a number, not 'many'", "many", ()),
    (
        "plot score F to x.svg",
        "expected a text in quotes, not 'x.svg'",
        "x.svg",
        ('write a text in quotes: "x.svg"',),
    ),
    ("score F(beta) for all", "expected '=', not ')'", ")", ()),
    ("define measure X = a + * b", "expected a count, a measure or a number, not '*'", "*", ()),
    ("define measure X = mean(a)", "mean(…) cannot stand in a definition", "mean", ()),
    ("define measure X = sqrt(mean(a))", "mean(…) cannot stand in a definition", "mean", ()),
    # functions
    ("define measure X = 1 - sqr(recall)", "unknown function 'sqr'", "sqr", ("did you mean sqrt?",)),
    (
        "define measure X = F(recall)",
        "unknown function 'F'",
        "F",
        (
            "functions: abs, exp, log, max, min, sqrt",
            "a parameter comes after the name of its measure: F(NAME=VALUE)",
        ),
    ),
    (
        "define measure X = 2 * sqrt(a, b)",
        "sqrt takes one argument, not 2",
        "sqrt(a, b)",
        ("write sqrt(X)",),
    ),
    ("define measure X = min(a)", "min takes at least two arguments, not 1", "min(a)", ("write min(X, Y, …)",)),
    ("define measure X = sqrt(-a", "the statement ends where ',', '(' or ')' is expected", "", ()),
    ("define measure X = sqrt(-", "the statement ends where a count, a measure or a number is expected", "", ()),
    ("define measure X = F(", "the statement ends where a parameter or ')' is expected", "", ()),
    ("define measure X = max(a, beta=2)", "expected ',', '(' or ')', not '='", "=", ()),
    # signs and texts
    ("score F where document == 1", "unknown sign '=='", "==", ("did you mean =?",)),
    ("score F where document <> 1", "unknown sign '<>'", "<>", ("did you mean !=?",)),
    (
        "score F where document lik 1",
        "expected a comparison such as '=', 'in', 'is', 'like' or 'not', not 'lik'",
        "lik",
        ("did you mean like?",),
    ),
    (
        "score F for “GE”",
        "unknown sign U+201C (LEFT DOUBLE QUOTATION MARK)",
        "“",
        ('names and texts are quoted with "',),
    ),
    ("score F for 'GE'", "unknown sign '''", "'", ('names and texts are quoted with "',)),
    ("score F for \x07", "unknown sign U+0007", "\x07", ()),
    ('score F for "GE on TST3', "the quote opened here is not closed", '"', ()),
    ("score F limit 1" + "0" * 30, "a number can have at most 28 digits", "1" + "0" * 30, ()),
    ("score F limit 10^30", "a number can have at most 28 digits", "10^30", ()),
    ("score F limit 0.5^2", "only a whole number can be raised to a power", "0.5^2", ()),
    # ends
    ("score F for", "the statement ends where a system is expected", "", ()),
    ("score F for  -- which?", "the statement ends where a system is expected", "", ()),
    ("compare F on ; show tests", "the statement ends where a test set is expected", ";", ()),
    ("compare F test", "the statement ends where a test is expected", "", ()),
    ("score F where (a = 1", "the statement ends where ')', 'and' or 'or' is expected", "", ()),
    ("plot", "the statement ends where a question such as score or compare is expected", "", ()),
    ("export score F", "export needs a file", "", ('to "scores.csv"',)),
    ("change F of x", "change needs two test sets", "", ("from TST3 to TST4",)),
    ("change F from A", "the statement ends where 'to' is expected", "", ()),
    ("project P to generality 0.1", "project needs a test set", "", ("from TST3",)),
    ("project P from T", "project needs a generality or a stream", "", ("to generality 0.01, 0.05", "to stream NEWS")),
]


@pytest.mark.parametrize(("text", "message", "underlined", "hints"), ERRORS, ids=[error[0] for error in ERRORS])
def test_an_error_says_what_is_wrong_and_where(
    text: str, message: str, underlined: str, hints: tuple[str, ...]
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    error = caught.value
    assert (error.message, text[error.span.start : error.span.end], error.hints) == (message, underlined, hints)


def test_an_error_at_the_end_stands_right_behind_the_last_word() -> None:
    for text in ("score F for", "score F for   ", "score F for -- comment\n\n"):
        with pytest.raises(QueryError) as caught:
            parse(text)
        assert (caught.value.span.start, caught.value.span.end) == (11, 11)


def test_an_error_after_other_statements_counts_from_the_start_of_the_text() -> None:
    with pytest.raises(QueryError) as caught:
        parse("show systems;\nshow tests;\nscore F for GE, , UMASS")
    assert caught.value.span.start == 42


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("score F", True),
        ("score F;", True),
        ("score F for", False),
        ("score F for GE,", False),
        ("show systems; score for", False),
        ("score", True),
        ("export score F", False),
        ('sql "select', False),
        ("scor F for", True),
        ("score F for ;", True),
        ("", False),
        ("-- only a comment", False),
    ],
)
def test_a_text_is_complete_unless_more_could_make_it_right(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


# --- mutated queries --------------------------------------------------------------------------------------------------

SOUND = [
    'score recall, mean(F(beta=2)) for all except GE, "a b" on MUC-4.TST3, TST* by document.x, unit limit 5',
    'score F where label in (a, "b") and not unit like "x%" or (a is missing) order by recall desc',
    "compare F for GE, random(s=0.5) against $x on T where system.size > -5 exact two-sided test t",
    "group F for all on T level 0.10 confidence 99% seed 2^20 adjust holm missing drop exchange by document",
    'plot project P of x from T to generality 0.1, 9_999 assuming fallout exponent 0.45 to "f.svg"; show test sets',
    "define measure G(w=0.5) = w*recall + (1-w)/-precision; let $v = GE, 7B-chat, T*; forget import 3 -- done",
    'change F from A to B trim 1; load "a.csv" as scores; sql "select ""x"""; agree on T; audit published for all',
    "define measure H = sqrt(recall * max(precision, F(beta=2), 0.1)) - abs(log(-a)); score H, min for all on T",
]
PIECES = [
    "(",
    ")",
    ",",
    ";",
    '"',
    "--",
    "\n",
    "*",
    "-",
    ".",
    "=",
    "==",
    "%",
    "$",
    "^",
    "not",
    "for",
    "on",
    "to",
    "é",
    "\x00",
    "99",
    "F",
]
FUZZED = 2000


def mutated(dice: random.Random) -> str:
    """A sound query with one to four words or signs dropped, doubled, swapped or replaced."""
    words = re.findall(r"\w+|\s+|.", dice.choice(SOUND), re.DOTALL)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(words))
        match dice.randrange(5):
            case 0:
                del words[at]
            case 1:
                words.insert(at, words[at])
            case 2:
                words.insert(at, dice.choice(PIECES))
            case 3:
                words[at] = words[at][: len(words[at]) // 2]
            case _:
                other = dice.randrange(len(words))
                words[at], words[other] = words[other], words[at]
    return "".join(words)


@pytest.mark.long
def test_a_mutated_query_gives_statements_or_an_error_with_a_place_in_it() -> None:
    dice = random.Random(1992)
    texts = [mutated(dice) for _ in range(FUZZED)]
    errors = [(text, error) for text in texts if (error := error_of(text)) is not None]
    assert 0 < len(errors) < FUZZED
    for text, error in errors:
        assert 0 <= error.span.start <= error.span.end <= len(text), text
        assert error.message.isprintable(), text
        assert not error.message.endswith("."), text
        assert not re.search(r"\b(?:LPAR|RPAR|NAME|WORD|FIELD|SEMICOLON|COMMA|END)\b", error.message), text
        assert len(error.message) < 160, text


def error_of(text: str) -> QueryError | None:
    try:
        parse(text)
    except QueryError as error:
        return error
    return None


@pytest.mark.long
def test_a_mutated_query_can_be_completed_highlighted_and_laid_out() -> None:
    dice = random.Random(1993)
    for _ in range(FUZZED // 10):
        text = mutated(dice)
        expect_next(text)
        marked = tokens(text)
        assert all(one.span.end <= other.span.start for one, other in pairwise(marked)), text
        covered = {at for token in marked for at in range(token.span.start, token.span.end)}
        assert all(text[at].isspace() for at in range(len(text)) if at not in covered), text
        try:
            statements = parse(text)
        except QueryError:
            continue
        assert parse(layout(text)) == statements, text
        assert layout(layout(text)) == layout(text), text
