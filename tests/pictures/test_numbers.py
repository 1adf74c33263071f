"""The numbers of pictures are those of the rows, in the unit in which the rows are shown: every picture in every output
with its values, its ticks and the titles of its axes. And no legend names what a theme changes.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalhouse.warehouse.charts import Axis, Bars, Bins, Chart, Panel, Points, Rule, Shades, Squares, Unit
from evalhouse.warehouse.charts import Path as Line
from evalhouse.warehouse.charts.axes import limits_of, ticks_of
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import render, vegalite
from evalhouse.warehouse.render.html import fragment
from evalhouse.warehouse.render.marks import in_words
from evalhouse.warehouse.render.report.page import draw
from evalhouse.warehouse.render.report.prose import Report, ReportedStatement
from evalhouse.warehouse.render.report.typeset import draw_markdown
from evalhouse.warehouse.render.screen import picture
from evalhouse.warehouse.render.site.contents import Copies, Link, ShownAnswer, Surroundings
from evalhouse.warehouse.render.site.drawing import Drawing
from evalhouse.warehouse.render.style import Style, cell, clean
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell import pager
from evalhouse.warehouse.statements.pictures import PICTURES
from tests.empty import create

UTILITY = "utility(a=2, b=-1)"

OF_SAMPLE = (
    "score F for GE, UMASS, SRI on TST3",
    "score error for GE, UMASS, SRI on TST3, TST4",
    f"score {UTILITY} of filtering for GE, UMASS, allrel on TST3",
    "score recall, precision for GE, UMASS, SRI on TST3",
    f"score F, {UTILITY} of filtering for GE, UMASS on TST3, TST4",
    f"score F, {UTILITY}, recall of filtering for GE, UMASS on TST3",
    "score F for GE, UMASS on TST2, TST3",
    "score recall, fallout of published for GE, UMASS on TST3",
    "score F standardized for GE, UMASS on TST3",
    "score F for GE, UMASS on TST3 by label",
    "compare F for GE, UMASS on TST3 shuffles 99",
    "compare F for GE, UMASS on TST3 shuffles 99 one-sided",
    f"compare {UTILITY} of filtering for GE, UMASS on TST3 shuffles 99",
    "compare F for GE, UMASS, SRI on TST3 shuffles 99",
    "compare recall, precision for UMASS, SRI vs GE on TST3 shuffles 99",
    f"compare {UTILITY} of filtering for UMASS, SRI vs GE on TST3 shuffles 99",
    "compare F for GE, UMASS on TST3 margin 3%",
    "group F for GE, UMASS, SRI on TST3 shuffles 99",
    f"group {UTILITY}, F of filtering for GE, UMASS, SRI on TST3 shuffles 99",
    "rank F for GE, UMASS, SRI on TST3 shuffles 99",
    "rank F for all on TST3 shuffles 99",
    f"rank {UTILITY} of filtering for GE, UMASS on TST3 shuffles 99",
    "rank F for GE, UMASS, SRI on TST3, TST4 over test sets",
    "power F for GE, UMASS on TST3 detect 5%, 10% documents 50, 200 shuffles 99",
    f"power {UTILITY} of filtering for GE, UMASS on TST3 detect 9 documents 50, 200 shuffles 99",
    "change F for GE, UMASS, SRI from TST3 to TST4",
    f"change {UTILITY} of filtering for GE, UMASS from TST3 to TST4",
    f"change {UTILITY}, F of filtering for GE, UMASS from TST3 to TST4",
    "replicate F for GE, UMASS, SRI from TST3 to TST4 shuffles 99",
    f"replicate {UTILITY}, F of filtering for GE, UMASS from TST3 to TST4 shuffles 99",
    "project F of filtering for GE, UMASS from TST3 to generality 0.1, 0.3",
    f"project {UTILITY}, F of filtering for GE, UMASS from TST3 to generality 0.1, 0.3",
    "documents F for GE, UMASS on TST3 limit 7",
    "documents F for GE, UMASS on TST3",
    f"documents {UTILITY} of filtering for GE, UMASS on TST3 limit 5",
    f"documents {UTILITY} of filtering for GE, UMASS on TST3",
    "differ F for GE, UMASS on TST3 by label shuffles 99",
    f"differ {UTILITY} of filtering for GE, UMASS on TST3 by label shuffles 99",
    "curve precision, recall of filtering for GE, UMASS on TST3 shuffles 99",
    f"curve {UTILITY}, F of filtering for GE, UMASS on TST3 shuffles 99",
    "confusion of filtering for GE, UMASS on TST3, TST4",
)

OF_CONFIDENCES = (
    "curve F for bayes, tree on mail shuffles 20",
    "curve precision, recall for bayes, tree on mail utility 2, -1 shuffles 20",
    f"curve {UTILITY} for bayes, tree on mail shuffles 20",
    f"curve recall, {UTILITY} for bayes, tree on mail shuffles 20",
)

OF_VALUES = tuple(
    f"{asked}"
    for measure in ("cost_usd", "tokens", "accuracy")
    for asked in (
        f"score {measure} for all on qa",
        f"score {measure}, cost_usd for all on qa",
        f"compare {measure} for wren, lark on qa shuffles 99",
        f"compare {measure} for all on qa shuffles 99",
        f"compare {measure} for all vs wren on qa shuffles 99",
        f"group {measure} for all on qa shuffles 99",
        f"rank {measure} for all on qa shuffles 99",
        f"power {measure} for wren, lark on qa detect 0.01 documents 20, 50 shuffles 99",
        f"documents {measure} for wren, lark on qa",
        f"change {measure} for all from qa to more",
        f"replicate {measure} for all from qa to more shuffles 99",
        f"differ {measure} for wren, lark on qa by document.subject shuffles 99",
    )
    if asked != "score cost_usd, cost_usd for all on qa"
)

ASKED = {
    asked: data
    for data, asked_of in (("sample", OF_SAMPLE), ("imported", OF_CONFIDENCES), ("values", OF_VALUES))
    for asked in asked_of
}


@pytest.fixture(scope="module")
def sessions(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    """The sample data, and values in dollars, in tokens and right or wrong on two test sets."""
    folder = tmp_path_factory.mktemp("numbers")
    amounts: dict[str, Callable[[int, int], float]] = {
        "cost_usd": lambda n, step: 0.0031 + 0.0007 * ((n * step) % 5),
        "tokens": lambda n, step: 1_204_000 + 31_000 * ((n + step) % 7),
        "accuracy": lambda n, step: (n * step) % 3 % 2,
    }
    rows = [
        f"{test_set},{system},{test_set}{n},{measure},{amount(n + (test_set == 'more'), step):.6g}"
        for test_set in ("qa", "more")
        for step, system in enumerate(("wren", "lark", "finch"), 1)
        for n in range(16)
        for measure, amount in amounts.items()
    ]
    values = folder / "values.csv"
    values.write_text("\n".join(["test_set,system,document,measure,value", *rows]) + "\n")
    subjects = folder / "documents.csv"
    lines = [
        f"{test_set},{test_set}{n},{'algebra' if n % 2 else 'law'}" for test_set in ("qa", "more") for n in range(16)
    ]
    subjects.write_text("\n".join(["test_set,document,subject", *lines]) + "\n")
    with create(folder / "w.duckdb") as database:
        load(database, values, "values")
        load(database, subjects, "documents")
    files = {"sample": warehouses["sample"], "imported": warehouses["imported"], "values": folder / "w.duckdb"}
    with ExitStack() as opened:
        yield {name: opened.enter_context(Session.open(file)) for name, file in files.items()}


ANSWERED: dict[str, Result] = {}


def answered(sessions: dict[str, Session], asked: str) -> tuple[Result, Chart]:
    """The result with its picture, asked once."""
    if asked not in ANSWERED:
        ANSWERED[asked] = sessions[ASKED[asked]].run(f"plot {asked}")
    result = ANSWERED[asked]
    assert result.chart is not None
    return result, result.chart


def known_numbers(result: Result, unit: Unit, *, on_screen: bool = False) -> list[float]:
    """The numbers that a result has in a unit, or of them those that every table shows."""
    found = []
    for table in (result.table, result.summary_table):
        for column, cells in zip(table.columns, table.cells(), strict=True):
            if column.kind == unit and (column.on_screen or not on_screen):
                found += [float(each) for each in cells if isinstance(each, int | float)]
    return found


def drawn_numbers(panel: Panel) -> Iterator[tuple[Axis, float]]:
    """The numbers that a panel shows of a result, each with its axis."""
    for points in panel.marks_of(Points):
        for point in points.points:
            if not point.name.startswith("s="):  # the line of guessing is not among the rows
                yield from ((axis, at) for axis, at in ((panel.x, point.x), (panel.y, point.y)) if not axis.nominal)
    if panel.x.nominal:
        yield from ((panel.y, y) for line in panel.marks_of(Line) for _, y in line.points)
    yield from ((panel.x, rule.at) for rule in panel.marks_of(Rule) if rule.label)
    yield from ((panel.y, bar.length) for bars in panel.marks_of(Bars) for bar in bars.bars)


def own_decisions(session: Session, asked: str) -> list[Result]:
    """The values of what systems decided themselves, which a picture of curves shows beside them."""
    score, curves = re.subn(r"^curve (.*?)( utility 2, -1)? shuffles .*", r"score \1", asked)
    return [session.run(score)] if curves else []


def test_every_picture_is_tried() -> None:
    assert {asked.split()[0] for asked in ASKED} == {*PICTURES}


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_drawn_is_in_the_rows_in_the_unit_of_its_axis(sessions: dict[str, Session], asked: str) -> None:
    result, chart = answered(sessions, asked)
    others = own_decisions(sessions[ASKED[asked]], asked)
    tried = 0
    for panel in chart.panels:
        for axis, value in drawn_numbers(panel):
            known = [number for one in (result, *others) for number in known_numbers(one, axis.unit)]
            # A pair that changes its sign is turned round, so that it lies on one side.
            ways = (value, -value) if asked.startswith("replicate") else (value,)
            assert any(abs(number - way) <= 1e-9 * max(1, abs(way)) for number in known for way in ways), (
                axis.title, axis.unit, value
            )  # fmt: skip
            tried += 1
        for squares in panel.marks_of(Squares):
            known = known_numbers(result, "probability")
            assert all(square.level in known for square in squares.squares)
            tried += len(squares.squares)
        for shades in panel.marks_of(Shades):
            known = known_numbers(result, "count")
            assert all(shade.count in known for shade in shades.shades)
            assert all(shade.share in known_numbers(result, "proportion") for shade in shades.shades if shade.share)
            tried += len(shades.shades)
        for bins in panel.marks_of(Bins):
            assert panel.y.unit == "count"
            tried += len(bins.bins)
    assert tried


@pytest.mark.parametrize("asked", ASKED)
def test_a_title_says_percent_where_and_only_where_rows_are_in_percent(
    sessions: dict[str, Session], asked: str
) -> None:
    result, chart = answered(sessions, asked)
    shares = [column for column in result.table.columns if column.kind in ("proportion", "difference")]
    for panel in chart.panels:
        for axis in (panel.x, panel.y):
            assert axis.label.endswith(" (%)") == (axis.unit in ("proportion", "difference"))
            if axis.in_percent and axis.title != "power":
                assert shares, axis.title


@pytest.mark.parametrize("asked", ASKED)
def test_a_terminal_shows_the_values_and_ticks_of_the_table(sessions: dict[str, Session], asked: str) -> None:
    _, chart = answered(sessions, asked)
    for wide in (60, 100, 200):
        for panel in chart.panels:
            lines = [line.plain for line in picture(replace(chart, panels=(panel,)), Style(width=wide))]
            if panel.y.nominal and not panel.x.nominal and panel.marks_of(Points):
                values = {point.name: point.x for points in panel.marks_of(Points) for point in points.points}
                shown = [found for line in lines for found in re.findall(r"(?<=\S )\s*([-+]?[\d.,]+) [^\d]*[●○]", line)]
                for name, value in values.items():
                    whole = panel.x.unit == "count"
                    written = cell(panel.x.unit, int(value) if whole else value)
                    assert written in shown, (name, written, shown)
            for axis in (panel.x, panel.y):
                check_ticks(axis, "\n".join(lines), wide)


def check_ticks(axis: Axis, drawn: str, wide: int) -> None:
    """Some ticks of an axis of numbers are drawn, as they are labelled everywhere."""
    if axis.nominal:
        return
    labels = {label for most in range(2, 60) for _, label in ticks_of(axis, most)}
    found = set(re.findall(r"(?<![\w.,-])-?[\d.,]*\d(?![\w])", drawn))
    assert labels & found, (axis.title, wide)


@pytest.mark.long
@pytest.mark.parametrize("asked", ASKED)
def test_files_show_the_same_ticks_titles_and_values(sessions: dict[str, Session], asked: str) -> None:
    _, chart = answered(sessions, asked)
    described = json.loads(vegalite.vega_lite(chart))
    drawn = [
        clean(text).replace("\N{MINUS SIGN}", "-") for text in re.findall(r">([^<>]+)</text>", vegalite.svg(chart))
    ]
    encodings = [part for part in parts_of(described) if "labelExpr" in part]
    for panel in chart.panels:
        for axis in (panel.x, panel.y):
            if axis.nominal:
                continue
            ticks = ticks_of(axis)
            of_axis = [part for part in encodings if part["title"] == axis.label and part["values"] == [*dict(ticks)]]
            assert of_axis, axis.title
            labels = json.loads(str(of_axis[0]["labelExpr"]).partition("[indexof")[0])
            assert [label.replace("\N{MINUS SIGN}", "-") for label in labels] == [label for _, label in ticks]
            if not panel.beneath and axis.label:
                assert axis.label.replace("\N{MINUS SIGN}", "-") in " ".join(drawn)
                assert {label for _, label in ticks} & set(drawn)
    tooltips = [part for part in parts_of(described) if {"name", "across", "up"} <= part.keys()]
    points = [(panel, point) for panel in chart.panels for of in panel.marks_of(Points) for point in of.points]
    assert sorted((tip["name"], tip["across"], tip["up"]) for tip in tooltips) == sorted(
        (clean(point.name), in_words(point.x, panel.x), in_words(point.y, panel.y)) for panel, point in points
    )


def of_svg(drawn: str) -> list[str]:
    """What can be read in a picture."""
    return re.findall(r"<t(?:ext|span)[^<>]*>([^<>]+)<", drawn)


def in_report(draw: Callable[[Report, str, Style], dict[str, bytes]], result: Result) -> str:
    """The files of a report of one statement."""
    report = Report(
        "a.study", "0" * 64, "0" * 64, (), (ReportedStatement((), 1, result),), "w.duckdb", (), "0.1.0", "1992"
    )
    return "".join(file.decode() for file in draw(report, "a", Style()).values())


def in_notebook(result: Result) -> str:
    (drawn,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', fragment(result, Style()))
    return b64decode(drawn).decode()


SURROUNDINGS = Surroundings(Link("w", "/"), "", "", {})
PAGES: dict[str, Callable[[Result], str]] = {
    "a notebook": in_notebook,
    "a report": lambda result: in_report(draw, result),
    "a report in Markdown": lambda result: in_report(draw_markdown, result),
    "a page of the shell": lambda result: pager.page(result, Style(), "w"),
    "a page of a site": lambda result: Drawing(SURROUNDINGS, Style()).block(ShownAnswer("t", result, Copies())),
    "a dark picture": lambda result: vegalite.svg(result.chart, "dark") if result.chart else "",
}
"""What else shows a picture."""


@pytest.mark.long
@pytest.mark.parametrize("shown_in", PAGES)
@pytest.mark.parametrize("asked", ASKED)
def test_a_picture_says_the_same_wherever_it_is_shown(sessions: dict[str, Session], asked: str, shown_in: str) -> None:
    result, chart = answered(sessions, asked)
    read = [unescape(text) for text in of_svg(PAGES[shown_in](result))]
    alone = [unescape(text) for text in of_svg(vegalite.svg(chart))]
    assert alone
    assert any(read[place : place + len(alone)] == alone for place in range(len(read)))


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_spoken_of_a_picture_has_the_unit_and_no_colour(sessions: dict[str, Session], asked: str) -> None:
    _, chart = answered(sessions, asked)
    spoken = [unescape(label) for label in re.findall(r'aria-label="([^"]*)"', vegalite.svg(chart))]
    assert not [label for label in spoken if re.search(r"#[0-9A-F]{6}|\bx2?: |(linear|log) scale", label)]
    for panel in chart.panels:
        for point in (point for points in panel.marks_of(Points) for point in points.points):
            places = ((axis, at) for axis, at in ((panel.x, point.x), (panel.y, point.y)) if not axis.nominal)
            numbers = [f"{axis.label} {in_words(at, axis)}" for axis, at in places]
            assert clean(f"{point.name}: {', '.join(numbers)}") in spoken


def test_documents_that_a_limit_shows_are_not_called_all(session: Session) -> None:
    whole, some = (session.run(f"plot documents F for GE, UMASS on TST3{limit}").chart for limit in ("", " limit 7"))
    assert whole is not None
    assert some is not None
    assert "TST3: 39 messages raise GE above UMASS, 38 UMASS above GE" in whole.alternative
    assert "TST3: of the 7 shown, 7 messages raise GE above UMASS, 0 UMASS above GE" in some.alternative


TABLES = ("table", "markdown", "latex", "typst", "html")


@pytest.mark.parametrize("asked", ASKED)
def test_a_table_shows_the_numbers_of_its_picture(sessions: dict[str, Session], asked: str) -> None:
    result, chart = answered(sessions, asked)
    printed = {format: render(replace(result, chart=None), format, Style(width=400)) for format in TABLES}
    bad = set()
    for panel in chart.panels:
        for axis, value in drawn_numbers(panel):
            if value not in known_numbers(result, axis.unit, on_screen=True):
                continue
            written = cell(axis.unit, int(value) if axis.unit == "count" and value % 1 == 0 else value).lstrip("+-")
            bad |= {(format, axis.title, written) for format, text in printed.items() if written not in text}
    assert not bad


def parts_of(described: object) -> Iterator[dict[str, object]]:
    """All objects within a description."""
    if isinstance(described, dict):
        yield described
        for value in described.values():
            yield from parts_of(value)
    elif isinstance(described, list):
        for value in described:
            yield from parts_of(value)


# === ticks ============================================================================================================

UNITS = st.sampled_from(["proportion", "difference", "number", "probability", "count"])


@given(UNITS, st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5), st.integers(2, 20))
def test_a_label_is_the_number_of_its_tick(unit: Unit, values: list[float], most: int) -> None:
    axis = Axis("x", unit, *limits_of(unit, values))
    for value, label in ticks_of(axis, most):
        assert float(label.replace(",", "")) == pytest.approx(
            (100 if axis.in_percent else 1) * value, rel=1e-6, abs=1e-9
        )
        assert axis.low * (1 - 1e-9) - 1e-12 <= value <= axis.high * (1 + 1e-9) + 1e-12 or axis.low < 0
        assert unit != "count" or "." not in label
        assert "e" not in label or abs(value) < 1e-6 or abs(value) >= 1e12


# === legends ==========================================================================================================

COLOURS = re.compile(
    r"\b(dark|light|white|black|gr[ae]y|blue|red|green|yellow|orange|cyan|vermilion|pink|purple|pale|bright)(er|est)?\b"
)


@pytest.mark.parametrize("asked", ASKED)
def test_no_text_of_a_picture_names_a_colour(sessions: dict[str, Session], asked: str) -> None:
    _, chart = answered(sessions, asked)
    described = [part["text"] for part in parts_of(vegalite.spec(chart)) if "text" in part]
    texts = [*(str(text) for text in described), *chart.legend, *chart.notes, chart.alternative, chart.subtitle]
    texts += [line.plain for line in picture(chart, Style(width=100))]
    assert [text for text in texts if COLOURS.search(text)] == []


def test_bars_that_count_are_told_by_their_place(sessions: dict[str, Session]) -> None:
    for sides, lines in (("", "lines"), (" one-sided", "line")):
        _, chart = answered(sessions, f"compare F for GE, UMASS on TST3 shuffles 99{sides}")
        texts = " ".join(str(part["text"]) for part in parts_of(vegalite.spec(chart)) if "text" in part)
        assert f"bars beyond the {lines}: as extreme as observed, or more" in texts
        (panel,) = chart.panels
        limits = sorted(rule.at for rule in panel.marks_of(Rule))
        for bar in (bar for bins in panel.marks_of(Bins) for bar in bins.bins):
            middle = (bar.low + bar.high) / 2
            assert bar.counted == (middle > limits[-1] or (len(limits) > 1 and middle < limits[0]))
