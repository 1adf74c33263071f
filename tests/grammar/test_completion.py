"""What may follow at the end of a text."""

from __future__ import annotations

import pytest

from evalhouse.grammar.clauses import CLAUSES, STATEMENTS
from evalhouse.grammar.parser import expect_next

FOLLOWS: list[tuple[str, str, str]] = [
    ("show ", "attributes, confusion, evaluations, imports, measures, systems, test sets, tests, texts, variables", ""),
    ("score ", "all, by, for, macro, mean, of, on, weighted, where", "measure, variable"),
    ("score F", "all, by, for, macro, mean, of, on, weighted, where", "measure, variable"),
    (
        "score F ",
        "as of, by, corrected by, exchange by, for, interval, level, limit, "
        "missing, of, on, order by, over test sets, "
        "over test sets pooled, replicates by, runs apart, seed, standardized, where",
        "",
    ),
    ("score F for ", "all", "system, variable"),
    ("score F for GE, ", "all", "system, variable"),
    (
        "score F for GE o",
        "as of, by, corrected by, except, exchange by, interval, level, limit, "
        "missing, of, on, order by, over test sets, "
        "over test sets pooled, replicates by, runs apart, seed, standardized, where",
        "",
    ),
    (
        "score F for GE on T ",
        "as of, by, corrected by, exchange by, interval, level, limit, "
        "missing, of, order by, over test sets, "
        "over test sets pooled, replicates by, runs apart, seed, standardized, where",
        "",
    ),
    ("score F order by ", "macro, mean, weighted", "measure"),
    (
        "score F order by F ",
        "as of, asc, by, corrected by, desc, exchange by, for, interval, level, limit, "
        "missing, of, on, over test sets, over test sets pooled, replicates by, runs apart, seed, standardized, where",
        "",
    ),
    ("score F(", "", "parameter"),
    ("score F(beta=", "all, exact", "value, variable, number, text"),
    ("score F where ", "not", "attribute"),
    ("score F where document.", "not", "attribute"),
    ("score F where label ", "in, is, like, not", ""),
    ("score F where label = ", "", "value, variable, number, text"),
    ("score F of ", "", "task"),
    ("compare F on T test ", "", "test, variable"),
    ("compare F adjust ", "", "adjustment, variable"),
    ("compare F missing ", "bounds, drop, error, zero", ""),
    ("compare F exchange ", "by", ""),
    ("compare F shuffles ", "", "variable, number"),
    (
        "plot ",
        "agree, audit published, change, compare, confusion, coverage, curve, differ, documents, generality, group, "
        "power, project, rank, replicate, score, spread, table",
        "",
    ),
    ("plot show ", "confusion", ""),
    ("show confusion ", "as of, for, limit, of, on, runs apart, where", ""),
    ("plot agree ", "as of, by, exchange by, font, interval, level, on, seed, title, to, where, width, with key", ""),
    ("agree ", "as of, by, exchange by, interval, level, on, seed, where, with key", ""),
    ("plot agree to ", "", "variable, text"),
    ("project P from T ", "as of, assuming fallout exponent, for, of, runs apart, to generality, to stream, where", ""),
    ("change F from A ", "to", ""),
    ("change F from A to B ", "as of, for, of, runs apart, trim, where", ""),
    ("plot change F from A to B ", "as of, font, for, of, runs apart, title, to, trim, where, width", ""),
    ("define measure X = ", "", "count, measure, function, variable, number"),
    ("define measure X = sqrt(", "", "count, measure, function, variable, number"),
    ("define measure X = max(a, F(", "", "parameter, variable, number"),
    ("define measure X = max(a, F(beta=2), ", "", "count, measure, function, variable, number"),
    ("define measure sqrt(", "", "parameter"),
    ('plot change F from A to B to "f.svg" ', "as of, font, for, of, runs apart, title, trim, where, width", ""),
    (
        'plot project P from T to "f.svg" ',
        "as of, assuming fallout exponent, font, for, of, runs apart, title, to generality, to stream, where, width",
        "",
    ),
    ('load "a" as ', "", "reader"),
    ("score F as ", "of", ""),
    ("score F as of ", "", "variable, number, text"),
    ("show imports ", "as of", ""),
    ('table F columns F as "x", ', "", "measure"),
    ("forget import 3 ", "", ""),
    ("forget ", "import", ""),
    ("show systems; show tests; agree on ", "all", "test set, variable"),
    ("scor F ", "", ""),
    ("score F -- for ", "", ""),
    ('load "sco', "", ""),
]


@pytest.mark.parametrize(("text", "keywords", "kinds"), FOLLOWS, ids=[text for text, _, _ in FOLLOWS])
def test_what_may_follow(text: str, keywords: str, kinds: str) -> None:
    found = expect_next(text)
    assert (", ".join(found.keywords), ", ".join(found.kinds)) == (keywords, kinds)


def test_at_the_start_of_a_statement_all_statements_may_follow() -> None:
    for text in ("", "sc", "show systems;", "show systems; sc", "-- comment\n"):
        assert {keyword.split()[0] for keyword in expect_next(text).keywords} == set(STATEMENTS)


@pytest.mark.parametrize(
    ("text", "start"), [("score F for GE-C", 12), ("score F for ", 12), ("sc", 0), ("let $f", 4), ("", 0)]
)
def test_completion_begins_where_the_last_word_begins(text: str, start: int) -> None:
    assert expect_next(text).start == start


def test_a_keyword_that_goes_on_with_a_clause_is_offered_also_where_it_begins_none() -> None:
    assert "by" not in expect_next("compare F ").keywords
    assert "by" in expect_next("compare F replicates ").keywords


def test_every_clause_of_a_comparison_is_offered_by_its_words() -> None:
    offered = set(expect_next("compare F ").keywords)
    assert offered == {clause.words for clause in CLAUSES if "compare" in clause.statements}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("compare F perm", "permutations"),
        ("compare F res", "resamples"),
        ("score F al", "alpha"),
        ("score F, mi", "micro"),
    ],
)
def test_a_synonym_is_offered_once_it_is_begun(text: str, word: str) -> None:
    assert word in expect_next(text).keywords
    assert word not in expect_next(text.rpartition(" ")[0] + " ").keywords
