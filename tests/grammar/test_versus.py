"""`vs` between systems: `A vs B` is the pair, `A, B vs C` is `A, B against C`, and all else is a mistake that shows the
lines to type.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.grammar import nodes
from evalhouse.grammar.clauses import CLAUSES, QUESTIONS, STATEMENTS
from evalhouse.grammar.editing.completion import expect_completion
from evalhouse.grammar.editing.highlighting import tokens
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text

HOLDING = sorted(next(clause for clause in CLAUSES if clause.words == "against").statements)
"""The statements that hold systems against one."""

LISTING = sorted(
    word for word, kind in QUESTIONS.items() if "systems" in kind.__struct_fields__ and word not in HOLDING
)
"""Those that only list systems."""

NEEDED = {
    "replicate": "from T to U",
    "change": "from T to U",
    "project": "from T to generality 0.1",
    "differ": "by label",
    "audit": "",
}

systems = st.sampled_from(["GE", "GE-CMU", '"for"', '"José"', "vs", "allrel", "random(s=0.7)", "x.y/z", "7B-chat"])
several = st.sampled_from(["all", "GE*", "$them"])
between = st.sampled_from([", ", ",", " and ", " AND\n", "\n,\t"])
versus = st.sampled_from([" vs ", " vs. ", " VS ", "\nVs.\n", " -- a comment\nvs "])


def question(word: str, listed: str) -> str:
    of = " F" if issubclass(QUESTIONS[word], nodes.Measured) else ""
    return f"{QUESTIONS[word].words}{of} for {listed} {NEEDED.get(word, '')}"


def joined(names: list[str], separators: list[str]) -> str:
    return "".join(name + separator for name, separator in zip(names, [*separators, ""], strict=False))


def many(draw: st.DrawFn, least: int) -> str:
    names = draw(st.lists(systems, min_size=least, max_size=5, unique=True))
    return joined(names, draw(st.lists(between, min_size=len(names) - 1, max_size=len(names) - 1)))


@given(st.sampled_from([*HOLDING, *LISTING]), systems, versus, systems)
def test_two_systems_are_the_pair(word: str, first: str, vs: str, second: str) -> None:
    assert parse(question(word, first + vs + second)) == parse(question(word, f"{first}, {second}"))


@given(st.data(), st.sampled_from(HOLDING), versus, systems | st.just("$one"))
def test_several_are_each_held_against_the_one_behind(data: st.DataObject, word: str, vs: str, one: str) -> None:
    before = data.draw(several | st.composite(many)(2))
    excepted = data.draw(st.sampled_from(["", " except SRI", " except SRI, U*"]))
    meant = parse(question(word, f"{before}{excepted} against {one}"))
    assert parse(question(word, before + excepted + vs + one)) == meant
    assert parse(question(word, before + vs + one + excepted)) == meant
    assert parse(to_text(meant)) == meant
    for around in ("plot", "explain"):
        meant_of = parse(f"{around} {question(word, f'{before}{excepted} against {one}')}")
        assert parse(f"{around} {question(word, before + excepted + vs + one)}") == meant_of


@given(st.data(), st.sampled_from(LISTING), versus, systems)
def test_a_statement_that_only_lists_systems_takes_no_more_than_two(
    data: st.DataObject, word: str, vs: str, one: str
) -> None:
    before = data.draw(st.composite(many)(2))
    with pytest.raises(QueryError) as refused:
        parse(question(word, before + vs + one))
    assert QUESTIONS[word].words in refused.value.message
    typed = refused.value.hints[0].removeprefix("write for ")
    assert parse(question(word, typed)) == parse(question(word, f"{before}, {one}"))


@given(st.data(), st.sampled_from(HOLDING), versus, versus)
def test_what_can_be_read_in_two_ways_shows_both(data: st.DataObject, word: str, vs: str, again: str) -> None:
    first, second, third = data.draw(st.lists(systems, min_size=3, max_size=3, unique=True))
    for typed, each, one in (
        (first + vs + second + again + third, f"{first}, {second}", third),
        (f"{first}{vs}{second}, {third}", f"{second}, {third}", first),
    ):
        with pytest.raises(QueryError) as refused:
            parse(question(word, typed))
        place = refused.value.span
        assert question(word, typed)[place.start : place.end] == typed
        of_all, of_one = (hint.partition(": ")[2] for hint in refused.value.hints)
        assert parse(of_all) == parse(question(word, f"{first}, {second}, {third}"))
        assert parse(of_one) == parse(question(word, f"{each} against {one}"))


@pytest.mark.parametrize(
    ("listed", "hints"),
    [
        ("GE vs all", ("each against one: all against GE",)),
        ("GE vs U*", ("all of them: GE, U*", "each against one: U* against GE")),
        ("GE, SRI vs A, B", ("all of them: GE, SRI, A, B",)),
        ("all vs A vs B", ("each against one: all, A against B",)),
    ],
)
@pytest.mark.parametrize("before", ["compare F for ", "compare "])
def test_several_behind_are_a_mistake_and_each_reading_is_a_line_to_type(
    before: str, listed: str, hints: tuple[str, ...]
) -> None:
    with pytest.raises(QueryError) as refused:
        parse(f"{before}{listed} on T")
    assert refused.value.hints == tuple(hint.replace(": ", f": {before}") + " on T" for hint in hints)
    assert all(parse(hint.partition(": ")[2]) for hint in refused.value.hints)


def test_vs_beside_against_is_a_mistake() -> None:
    with pytest.raises(QueryError, match="both hold systems against one"):
        parse("compare F for A vs B against C")


def test_what_is_printed_back_is_canonical() -> None:
    (statement,) = parse("expect better compare F for A, B\nVS. C on T")
    assert to_text(statement) == "expect better compare F for A, B against C on T"


def test_measures_and_test_sets_are_just_listed() -> None:
    assert parse("score P vs R on T vs U") == parse("score P, R on T, U")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("compare F for GE ", True),
        ("plot documents F for GE, SRI ", True),
        ("replicate F for all except GE ", True),
        ("rank F for GE ", False),
        ("compare F ", False),
        ("compare F for GE vs SRI ", False),
        ("compare F against SRI for GE ", False),
    ],
)
def test_vs_is_offered_behind_systems_that_may_be_held_against_one(typed: str, offered: bool) -> None:
    assert ("vs" in expect_completion(typed).keywords) == offered
    if "vs" in typed:
        assert "against" not in expect_completion(typed).keywords


def test_behind_it_systems_are_offered() -> None:
    assert expect_completion("compare F for GE vs ").kinds == ("system", "variable")


def test_it_is_shown_as_a_keyword() -> None:
    assert [token.kind for token in tokens("compare F for vs VS. vs")][-3:] == ["name", "keyword", "name"]


def test_the_two_lists_are_all_statements_with_systems() -> None:
    of_systems = {word for word, kind in STATEMENTS.items() if "systems" in kind.__struct_fields__}
    assert {*HOLDING, *LISTING} == of_systems
