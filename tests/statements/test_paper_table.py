"""`table`: values, marks and ranks are those of `score`, `compare` and `rank`, and every value that prints as the best
is bold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.render.rectangle import grid_rectangle, rectangles
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import WithValues

Open = Callable[..., Session]

FIVE = "GE, GE-CMU, UMASS, SRI, NYU"


@pytest.fixture(scope="module")
def sample() -> Iterator[Session]:
    with Session.open() as session:
        yield session


@pytest.fixture
def opened(with_values: WithValues) -> Open:
    """A warehouse of values by measure and system; lower is better for latency."""

    def of_measures(measures: dict[str, dict[str, list[float]]], test_set: str = "t") -> Session:
        return with_values(
            (test_set, system, f"d{place:03}", measure, value)
            for measure, systems in measures.items()
            for system, values in systems.items()
            for place, value in enumerate(values)
        )

    return of_measures


def by_key(result: Result) -> dict[tuple[Cell, Cell, Cell], dict[str, Cell]]:
    return {(row["test_set"], row["measure"], row["system"]): row for row in result.rows}


def emphasis(result: Result, style: Style | None = None) -> dict[str, dict[str, str]]:
    """By heading and system: best, second or nothing."""
    rectangle = grid_rectangle(result, style or Style())
    names = [row[rectangle.keys - 1] for row in rectangle.rows]
    found: dict[str, dict[str, str]] = {}
    for (row, place), figure in rectangle.figures.items():
        heading = rectangle.headings[place].rpartition("\n")[2]
        found.setdefault(heading, {})[names[row]] = "best" if figure.best else "second" if figure.second else ""
    return found


# --- what is tested is what compare, score and rank say ---------------------------------------------------------------


def test_values_and_intervals_are_those_of_score(sample: Session) -> None:
    on = f"for {FIVE} on TST3, TST4 interval"
    scored = sample.run(f"score recall, F {on}")
    rows = by_key(sample.run(f"table recall, F {on}"))
    assert len(rows) == 2 * 2 * 5
    for row in scored.rows:
        for label in ("recall", "F(beta=1)"):
            own = rows[row["test_set"], label, row["system"]]
            assert own["value"] == row[label]
            assert (own["ci_low"], own["ci_high"]) == (row[f"ci_low({label})"], row[f"ci_high({label})"])
            assert own["documents"] == row["documents"] == 100


@pytest.mark.long
@pytest.mark.parametrize("asking", ["exact adjust holm", "shuffles 9999", "one-sided", "test bootstrap shuffles 999"])
def test_marks_are_verdicts_of_compare_at_both_levels(sample: Session, asking: str) -> None:
    asked = f"recall, F for {FIVE} against GE on TST3 {asking}"
    rows = by_key(sample.run(f"table {asked}"))
    at = {level: sample.run(f"compare {asked} level {level} confidence 0.995") for level in ("0.05", "0.01")}
    marks = {"significant": "†", "undecided": "?"}
    for first, second in zip(at["0.05"].rows, at["0.01"].rows, strict=True):
        own = rows["TST3", first["measure"], first["system_a"]]
        expected = marks.get(str(first["verdict"]))
        if first["verdict"] == "significant":
            expected = {"significant": "‡", "undecided": "†?"}.get(str(second["verdict"]), expected)
        assert own["mark"] == expected
        assert (own["p"], own["p_adjusted"], own["verdict"]) == (first["p"], first["p_adjusted"], first["verdict"])
        assert own["difference"] == first["difference"]
    assert {row["against"] for row in rows.values() if row["system"] != "GE"} == {"GE"}
    assert rows["TST3", "recall", "GE"]["mark"] is None


def test_shuffles_are_as_sure_of_the_second_level(sample: Session) -> None:
    """With 300 shuffles nothing is surely below 0.01, whatever their p is."""
    rows = sample.run(f"table F for {FIVE}, SYNCH against GE on TST3 shuffles 300").rows
    assert "‡" not in {row["mark"] for row in rows}
    assert min(float(row["p"] or 1) for row in rows) < 0.01
    assert "†?" in {row["mark"] for row in rows}


@pytest.mark.long
def test_letters_are_those_of_the_systems_that_are_beaten(sample: Session) -> None:
    asked = f"F, error for {FIVE} on TST3 exact adjust holm"
    compared, result = sample.run(f"compare {asked}"), sample.run(f"table {asked.replace('exact', 'letters exact')}")
    assert result.grid is not None
    letters = dict(result.grid.letters)
    assert letters == dict(zip(result.grid.systems, "abcde", strict=True))
    beats: dict[tuple[Cell, Cell], set[Cell]] = {}
    for row in compared.rows:
        if row["verdict"] == "significant":
            first = (float(row["difference"] or 0) > 0) != (row["measure"] == "error")
            better, worse = (row["system_a"], row["system_b"]) if first else (row["system_b"], row["system_a"])
            beats.setdefault((row["measure"], better), set()).add(worse)
    for row in result.rows:
        beaten = beats.get((row["measure"], row["system"]), set())
        assert set(str(row["beats"] or "").split(", ")) - {""} == beaten
        assert str(row["mark"] or "") == "".join(sorted(letters[str(name)] for name in beaten))
    assert any(beats.values())


def test_ranks_are_those_of_rank(sample: Session) -> None:
    asked = f"F for {FIVE} on TST3"
    ranked = {row["system"]: row for row in sample.run(f"rank {asked}").rows}
    result = sample.run(f"table {asked} rank")
    for row in result.rows:
        for name in ("rank", "rank_low", "rank_high"):
            assert row[name] == ranked[row["system"]][name]
    low, high = ranked["UMASS"]["rank_low"], ranked["UMASS"]["rank_high"]
    assert f"51.61 ({low}–{high})" in str(render(result, "markdown", Style()))


def test_every_column_is_always_there(sample: Session) -> None:
    plain = sample.run("table F for GE, UMASS on TST3")
    full = sample.run("table F for GE, UMASS on TST3 against GE interval rank")
    assert plain.columns == full.columns
    assert {name for name, cell in plain.rows[0].items() if cell is None} == set(plain.columns) - {
        *("test_set", "task", "measure", "system", "value", "documents", "source")
    }


# --- what is printed --------------------------------------------------------------------------------------------------


def test_all_that_print_as_the_best_are_bold(opened: Open) -> None:
    session = opened({"m": {"A": [0.5004], "B": [0.5001], "C": [0.4996], "D": [0.3], "E": [0.3]}})
    result = session.run("table m for all on t digits 3")
    at_three, at_four = (emphasis(result, Style(digits=digits))["m"] for digits in (3, 4))
    assert at_three == {"A": "best", "B": "best", "C": "best", "D": "second", "E": "second"}
    assert at_four == {"A": "best", "B": "second", "C": "", "D": "", "E": ""}


def test_lower_values_are_the_best_where_they_are_better(opened: Open) -> None:
    session = opened({"latency": {"A": [10.0], "B": [9.0], "C": [100.0]}})
    result = session.run("table latency for all on t")
    assert emphasis(result) == {"latency ↓": {"B": "best", "A": "second", "C": ""}}


def test_one_system_is_not_the_best_and_the_worse_of_two_not_the_second(opened: Open) -> None:
    session = opened({"m": {"A": [3.0], "B": [2.0]}})
    assert emphasis(session.run("table m for A on t")) == {"m": {"A": ""}}
    assert emphasis(session.run("table m for all on t")) == {"m": {"A": "best", "B": ""}}


def test_systems_on_different_documents_have_a_column_that_says_how_many(opened: Open) -> None:
    session = opened({"m": {"A": [3.0, 2.0], "B": [2.0]}})
    rectangle = grid_rectangle(session.run("table m for all on t"), Style())
    assert rectangle.headings == ("system", "t\ndocuments", "t\nm")
    assert [row[1] for row in rectangle.rows] == ["2", "1"]
    together = grid_rectangle(session.run("table m for A on t"), Style())
    assert together.headings == ("system", "t (2 documents)\nm")


def test_names_of_columns_order_and_digits(sample: Session) -> None:
    named = 'columns F as "F₁", TST3 as "Test", system as "Site"'
    result = sample.run(f"table recall, F for UMASS, GE on TST3 order as named digits 1 {named}")
    rectangle = grid_rectangle(result, Style())
    assert rectangle.headings == ("Site", "Test (100 messages)\nrecall", "Test (100 messages)\nF₁")
    assert [row[0] for row in rectangle.rows] == ["UMASS", "GE"]
    assert rectangle.rows[0][1:] == ("46.9", "51.6")
    assert grid_rectangle(result, Style(digits=3)).rows[0][1] == f"{100 * float(result.rows[0]['value'] or 0):.3f}"


def test_a_system_without_a_value_has_a_dash(opened: Open) -> None:
    session = opened({"m": {"A": [3.0], "B": [2.0], "C": [1.0]}, "n": {"A": [1.0], "B": [2.0]}})
    rectangle = grid_rectangle(session.run("table m, n for all on t"), Style())
    assert dict(zip([row[0] for row in rectangle.rows], [row[-1] for row in rectangle.rows], strict=True))["C"] == "–"


@pytest.mark.long
@pytest.mark.parametrize("asked", ["", "against GE", "letters interval", "rank interval against GE"])
def test_no_line_on_screen_is_wider_than_the_screen(sample: Session, asked: str) -> None:
    result = sample.run(f"table recall, precision, F for {FIVE} on TST3, TST4 {asked}")
    for wide in (40, 60, 80, 100):
        panels = rectangles(result, Style(width=wide))
        assert all(panel.width <= wide for panel in panels)
        shown = [heading for panel in panels for heading in panel.headings[panel.keys :]]
        assert shown == list(grid_rectangle(result, Style()).headings[panels[0].keys :])
        drawn = str(render(result, "table", Style(width=wide)))
        assert max(map(len, drawn.splitlines())) <= wide


def test_the_caption_still_says_that_data_are_simulated(sample: Session) -> None:
    result = sample.run('table F for GE, UMASS on TST3 caption "Mine"')
    assert result.caption == "Mine (extraction, simulated data)"


def test_the_signature_names_what_decides_marks_and_ranks(sample: Session) -> None:
    signature = sample.run("table F for GE, UMASS, SRI on TST3 against GE adjust holm rank").signature
    assert "| adjust holm |" in signature
    assert "| exact |" in signature
    assert "| ranks" not in signature.partition("adjust holm")[0]
    assert signature.count("data ") == 1


# --- what cannot be asked ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "place", "message"),
    [
        ("for all except GE on TST3 against GE", "GE", "GE is not among the systems of the table"),
        ("for all on TST3 against UMAS", "UMAS", "unknown system 'UMAS' on TST3"),
        ("for GE on TST3 against GE", "GE", "a comparison needs two systems, but there is only GE on TST3"),
        ("for GE on TST3 letters", "GE", "letters need two systems, but there is only GE on TST3"),
        ("for GE on TST3 rank", "GE", "rank needs two systems, but there is only GE on TST3"),
        ("for all on TST3 against GE letters", "GE", "against marks differences from one system, letters mark which"),
        ('for all on TST3 columns rcall as "R"', "rcall", "the table has no column 'rcall'"),
        ('for all on TST3 columns TST4 as "x"', "TST4", "the table has no column 'TST4'"),
        ('for all on TST3 columns F as "x", "F(beta=1)" as "y"', '"F(beta=1)" as "y"', "F(beta=1) is named twice"),
        ('for all on TST3 label "tab muc{4}"', '"tab muc{4}"', "a label may have letters, digits, : . _ and -"),
        ('for all on TST3 caption " "', '" "', "a caption cannot be empty"),
        ("for all on TST3 digits 1.5", "1.5", "digits must be a whole number from 0 to 12, not 1.5"),
        ("for all on TST3 adjust holm", "holm", "adjust has no effect in a table without tests"),
        ("for all on TST3 level 0.1", "0.1", "level has no effect in a table without tests"),
        ("for all on TST3 order by F order as named", "F", "two clauses order the systems"),
        ("for all on TST3 rank adjust bh", "bh", "adjust bh does not hold for all sets of ranks together"),
        ("of published for all on TST3 against GE", "published", "figures have no documents"),
    ],
)
def test_what_is_wrong_is_shown_at_its_place(sample: Session, asked: str, place: str, message: str) -> None:
    statement = f"table F {asked}"
    with pytest.raises(QueryError) as caught:
        sample.run(statement)
    assert message in caught.value.message
    assert statement[caught.value.span.start : caught.value.span.end] == place


def test_a_label_is_answered_with_one_that_can_be(sample: Session) -> None:
    with pytest.raises(QueryError) as caught:
        sample.run('table F for all on TST3 label "tab muc{4}"')
    assert caught.value.hints == ('write label "tab-muc-4"',)
