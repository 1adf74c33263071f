"""On a narrow screen no number is broken and no line goes beyond the edge. Texts are broken at spaces, names are
shortened, columns are left out in a fixed order and listed, and rows that are still too long become records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.render.rectangle import rectangles
from evalhouse.warehouse.render.style import folded, width
from evalhouse.warehouse.results import Column, Result, Table, TableSection
from evalhouse.warehouse.session.session import Session

QUESTIONS = (
    "score F, recall, precision, error for GE, UMASS on TST3, TST4",
    "score F, recall, precision for GE, UMASS on TST3, TST4 interval",
    "compare recall, precision for GE, UMASS on TST3, TST4 shuffles 999",
    "compare F, recall for UMASS, SRI, USC against GE on TST3, TST4 shuffles 999 adjust holm",
    "compare F for GE, UMASS, SRI on TST3, TST4 one-sided shuffles 999",
    "compare F for GE, UMASS on TST3 margin 2%",
    "expect not worse compare F for GE, UMASS on TST3, TST4 margin 2%",
    "rank F for GE, UMASS, SRI on TST3, TST4",
    "group F for all on TST3 shuffles 999",
    "replicate F for GE, UMASS, SRI from TST3 to TST4",
    "audit published for ADS, GE on TST2",
    "coverage for GE, UMASS on TST3, TST4",
    "documents F, recall of extraction for GE, UMASS on TST3, TST4",
    "differ accuracy, fallout for GE, UMASS on TST3 by label shuffles 99",
    "show measures",
    "show imports",
    "show systems",
    "show tests",
)


@pytest.fixture(scope="module")
def sample() -> Iterator[Session]:
    with Session.open() as session:
        yield session


def drawn(result: Result, columns: int) -> str:
    return render(result, "table", Style(width=columns))


def decimals(text: str) -> set[str]:
    """The numbers with a point that stand in a text as words of their own."""
    return {word for word in re.split(r"[\s\[\],;]+", text) if re.fullmatch(r"[-+<]?\d*\.\d+", word)}


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_line_goes_beyond_the_edge_and_no_number_is_broken(sample: Session, question: str) -> None:
    result = sample.run(question)
    numbers = decimals(drawn(result, 1000))
    for columns in (120, 80, 60, 40):
        narrow = drawn(result, columns)
        assert max(map(width, narrow.splitlines())) <= columns
        assert decimals(narrow) <= numbers


DECIDING = {"p", "p_adjusted", "verdict", "met"}
"""Columns that, with the intervals, are the last to be left out."""

WITH_TESTS = [
    "compare recall, precision for GE, UMASS on TST3, TST4 shuffles 999",
    "compare F, recall for UMASS, SRI, USC against GE on TST3, TST4 shuffles 999 adjust holm",
    "compare F for GE, UMASS on TST3 margin 2%",
    "expect not worse compare F for GE, UMASS on TST3, TST4 margin 2%",
    "expect better compare F, recall for GE, UMASS on TST3, TST4 shuffles 999",
    "replicate F for GE, UMASS, SRI from TST3 to TST4",
    "differ accuracy, fallout for GE, UMASS on TST3 by label shuffles 99",
]


class Answers(dict[str, Result]):
    """The answer to each question, too long to be written out where a test fails."""

    __repr__ = object.__repr__


@pytest.fixture(scope="module")
def answers(sample: Session) -> Answers:
    return Answers({question: sample.run(question) for question in dict.fromkeys([*QUESTIONS, *WITH_TESTS])})


def left_out_of(result: Result, columns: int) -> list[list[str]]:
    """The headings of the columns that each table leaves out."""
    return [list(rectangle.left_out) for rectangle in rectangles(result, Style(width=columns))]


@given(data=st.data())
def test_p_verdict_and_interval_are_the_last_columns_to_go(answers: Answers, data: st.DataObject) -> None:
    """One of them is left out only where it would find no room without all others that may be left out. The p that is
    not adjusted is one of these where another is.
    """
    result, columns = answers[data.draw(st.sampled_from(WITH_TESTS))], data.draw(st.integers(30, 160))
    shown = [column for column in result.table.columns if column.on_screen]
    limits = {shown[place - 1].name for place, column in enumerate(shown) if column.upper}
    adjusted = any(column.name == "p_adjusted" for column in shown)
    deciding = {*DECIDING, *limits} - ({"p"} if adjusted else set())
    alone = tuple(
        replace(column, on_screen=False) if column.spare and column.name not in deciding else column
        for column in result.table.columns
    )
    without_others = replace(result, table=replace(result.table, columns=alone))
    last = {column.heading or column.name for column in shown if column.name in deciding}
    for left_out, at_least in zip(left_out_of(result, columns), left_out_of(without_others, columns), strict=True):
        assert last & {*left_out} == last & {*at_least}


WORDS = re.compile(r"[^\s\[\],;|]+")


@given(data=st.data())
def test_nothing_is_broken_inside_a_word_but_names(answers: Answers, data: st.DataObject) -> None:
    """Whatever does not stand so on a wide screen is a name that was shortened, or says what is left out."""
    result, columns = answers[data.draw(st.sampled_from([*answers]))], data.draw(st.integers(40, 160))
    wide, shown = drawn(result, 1000), drawn(result, columns)
    said = " ".join(
        [
            "the screen is too narrow for --format tsv shows every column all first of rows limit blocks pairs",
            *(f"{column.name} {column.heading}" for column in (*result.table.columns, *result.summary_table.columns)),
        ]
    )
    known = {*WORDS.findall(wide), *WORDS.findall(said)}
    names = {
        str(cell)
        for table in (result.table, result.summary_table)
        for place, column in enumerate(table.columns)
        if column.kind == "name"
        for cell in (column.heading, *(row[place] for row in table.rows))
    }
    for word in {*WORDS.findall(shown)} - known:
        if "─" in word or re.fullmatch(r"[\d,]+", word):
            continue
        start, _, end = word.partition("…")
        assert "…" in word, (word, columns)
        assert any(name.startswith(start) and name.endswith(end) for name in names), (word, columns)


COLUMNS = (
    Column("system", "name"),
    Column("value", "proportion"),
    Column("p", "probability", spare=2),
    Column("ci_low", "difference", "95% CI", spare=1),
    Column("ci_high", "difference", "to", upper=True),
    Column("verdict", "text"),
)
ROWS = (
    ("a-system-of-mine", 0.5, 0.0123, -0.12, 0.13, "not significant"),
    ("another-system", 0.25, 0.5, -0.02, 0.03, "significant"),
)
RESULT = Result("compare …", "compared", "", Table(COLUMNS, ROWS))


def test_columns_are_left_out_in_their_order_and_named() -> None:
    assert drawn(RESULT, 80) == (
        "compared\n"
        "system             value        p             95% CI   verdict\n"
        "──────────────────────────────────────────────────────────────────────\n"
        "a-system-of-mine   50.00   0.0123   [-12.00, +13.00]   not significant\n"
        "another-system     25.00   0.5000    [-2.00,  +3.00]   significant\n"
    )
    assert drawn(RESULT, 54) == (
        "compared\n"
        "system          value           95% CI verdict\n"
        "──────────────────────────────────────────────────────\n"
        "a-syste…of-mine 50.00 [-12.00, +13.00] not significant\n"
        "another-system  25.00  [-2.00,  +3.00] significant\n"
        "the screen is too narrow for p; --format tsv shows\n"
        "every column\n"
    )


def test_what_is_too_long_without_them_stands_as_records_with_all_columns() -> None:
    assert drawn(RESULT, 30) == (
        "compared\n"
        "system   a-system-of-mine\n"
        "value    50.00\n"
        "p        0.0123\n"
        "95% CI   [-12.00, +13.00]\n"
        "verdict  not significant\n"
        "\n"
        "system   another-system\n"
        "value    25.00\n"
        "p        0.5000\n"
        "95% CI   [-2.00,  +3.00]\n"
        "verdict  significant\n"
    )


def test_sections_stand_one_below_the_other_in_their_own_order() -> None:
    result = replace(RESULT, sections=(TableSection("first", ROWS[1:]), TableSection("second", ROWS[::-1])))
    names = [line.split()[0] for line in drawn(result, 80).splitlines() if line.startswith("a")]
    assert names == ["another-system", "another-system", "a-system-of-mine"]
    assert [line for line in drawn(result, 80).splitlines() if line in ("first", "second")] == ["first", "second"]


def test_what_is_compared_against_one_system_stands_by_measure_and_best_first(sample: Session) -> None:
    result = sample.run("compare error, recall for GE, UMASS, SRI against NYU on TST3 shuffles 999")
    assert [section.title for section in result.sections] == ["error on TST3", "recall on TST3"]
    values = [[float(str(row[5])) for row in section.rows] for section in result.sections]
    assert values == [sorted(values[0]), sorted(values[1], reverse=True)]
    place = result.columns.index("system_a")
    assert [[row[place] for row in section.rows].index("NYU") for section in result.sections] == [3, 3]
    assert [row["system_a"] for row in result.rows] == ["GE", "UMASS", "SRI"] * 2  # data keep a row a pair


def test_a_system_in_a_heading_is_shortened_and_its_values_stand() -> None:
    long = "meta-llama/Llama-3.1-405B-Instruct-turbo-fp8-2026-03-01-with-cot-and-self-consistency-40"
    columns = (Column("measure", "name"), Column("value_a", "proportion", long), Column("verdict", "text"))
    result = Result("compare …", "compared", "", Table(columns, (("accuracy", 0.5, "not significant"),)))
    assert drawn(result, 40) == (
        "compared\n"
        "measure  meta-ll…ency-40 verdict\n"
        "────────────────────────────────────────\n"
        "accuracy           50.00 not significant\n"
    )
    records = [line.split("  ", 1) for line in drawn(result, 30).splitlines()[1:]]
    assert [(name, cell.strip()) for name, cell in records] == [
        ("measure", "accuracy"),
        ("meta-ll…ency-40", "50.00"),
        ("verdict", "not"),
        ("", "significant"),
    ]


def test_what_says_most_comes_back_first_where_there_is_room() -> None:
    columns = (Column("system", "name"), Column("a", "letters", spare=1), Column("b", "count", spare=2))
    result = Result("…", "", "", Table(columns, (("x", "word" * 10, 7),)))
    assert "too narrow for\na;" in drawn(result, 30)


# === what stands beside a table =======================================================================================


@given(st.lists(st.lists(st.text("abc-", min_size=1, max_size=12), min_size=1), min_size=1), st.integers(20, 100))
def test_messages_end_their_lines_between_words(lines: list[list[str]], columns: int) -> None:
    text = "\n".join(" ".join(words) for words in lines)
    drawn = folded(text, columns)
    assert drawn.split() == text.split()
    assert max(map(len, drawn.split("\n"))) <= columns


@given(st.lists(st.text("ab漢", min_size=1, max_size=9), min_size=1, max_size=40), st.data(), st.integers(30, 100))
def test_what_is_marked_stays_in_sight_above_its_mark(words: list[str], data: st.DataObject, columns: int) -> None:
    """A line that is too long is cut between words, around the word that is marked."""
    place = data.draw(st.integers(0, len(words) - 1))
    before = "".join(f"{word} " for word in words[:place])
    text = f"error: wrong\n  {' '.join(words)}\n{' ' * (2 + width(before))}{'^' * width(words[place])}\n  a hint"
    first, quoted, mark, hint = folded(text, columns).split("\n")
    assert (first, hint) == ("error: wrong", "  a hint")
    assert width(quoted) <= columns
    assert mark.strip() == "^" * width(words[place])
    above = [c for c in quoted for _ in range(width(c))][mark.index("^") : len(mark)]
    assert above == [c for c in words[place] for _ in range(width(c))]
    assert {*quoted.replace("…", " ").split()} <= {*words}


def test_a_marked_line_that_is_short_stays_as_it_is() -> None:
    quoted = "  compare F for A, B on t"
    text = f"error: {'word ' * 30}\n{quoted}\n{' ' * 16}^\n  a hint"
    assert f"{quoted}\n{' ' * 16}^\n  a hint" in folded(text, 80)


@pytest.mark.parametrize("columns", [60, 80])
def test_a_triangle_too_wide_for_the_screen_is_divided_into_blocks(sample: Session, columns: int) -> None:
    result = sample.run("compare F for all on TST3 shuffles 99")
    shown = drawn(result, columns)
    assert all(width(line) <= columns for line in shown.splitlines())
    assert len(re.findall(r"(?<=[ *?])(?:<?\.\d\d|1\.0)(?=[ *?\n])", shown)) == len(result.rows) == 136
    assert shown.startswith("Of 136 comparisons in F1 on TST3,")


def test_measures_that_can_be_asked_for_are_shown_first(sample: Session) -> None:
    having_data = [bool(row["test_sets"]) for row in sample.run("show measures").rows]
    assert having_data == sorted(having_data, reverse=True)
    assert len(set(having_data)) == 2
