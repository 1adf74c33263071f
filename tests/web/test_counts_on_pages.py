"""What pages, reports and the shell say of how many rows there are: always of what can be seen there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import render
from evalhouse.warehouse.render.html import table
from evalhouse.warehouse.render.rectangle import notes_below, unbounded_rectangles
from evalhouse.warehouse.render.report.prose import Report, ReportedStatement, shorten_report
from evalhouse.warehouse.render.shortening import for_page, shorten
from evalhouse.warehouse.render.site.contents import notes
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import Column, Grid, GridMeasure, Result, SideBySide, Table, TableSection
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.web.pages import imports, overview
from evalhouse.warehouse.web.publication import Publication, SiteOptions
from tests.empty import create
from tests.web.conftest import Visit

pytest.importorskip("starlette", reason="pages need the extra web")

COLUMNS = (Column("test_set", "name"), Column("measure", "name"), Column("system", "name"), Column("value", "number"))


def results() -> st.SearchStrategy[Result]:
    """Results of any shape, with up to a dozen lines, and with a summary."""

    @st.composite
    def made(draw: st.DrawFn) -> Result:
        systems = [f"s{n}" for n in range(draw(st.integers(0, 12)))]
        test_sets = [f"T{n}" for n in range(draw(st.integers(1, 3)))]
        rows = tuple((test_set, "F", system, 0.5) for test_set in test_sets for system in systems)
        means = Table((Column("system", "name"), Column("mean", "number")), tuple((s, 0.5) for s in systems))
        result = Result("s", "c", "", Table(COLUMNS, rows), draw(st.sampled_from([Table((), ()), means])))
        lines = tuple((system,) for system in systems)
        names = tuple((name, name) for name in test_sets)
        sections = tuple(
            TableSection(name, tuple(row for row in rows if row[0] == name), draw(st.sampled_from([None, 1, 3])))
            for name in test_sets
        )
        shape = draw(st.sampled_from(["rows", "side by side", "sections", "grid"]))
        if shape == "side by side" and systems:
            across = SideBySide(("system",), lines, "test_set", names, ("value",))
            return Result("s", "c", "", result.table, result.summary_table, side_by_side=across)
        if shape == "sections" and systems:
            return Result("s", "c", "", result.table, result.summary_table, sections=sections)
        if shape == "grid" and systems:
            grid = Grid(tuple(systems), "system", names, (GridMeasure("F", "F", "number", lower_is_better=False),))
            return Result("s", "c", "", result.table, grid=grid)
        return result

    return made()


def drawn(result: Result) -> list[int]:
    """How many lines the tables of a page have, as it is drawn."""
    return [
        table(rectangle, sortable=False).partition("<tbody>")[2].count("<tr")
        for rectangle in unbounded_rectangles(result, Style())
    ]


def told(result: Result) -> list[tuple[int, int]]:
    """The first how many of how many."""
    said = " ".join(notes_below(result)).replace(",", "")
    return [(int(first), int(of)) for first, of in re.findall(r"the first (\d+) of (\d+) rows", said)]


@given(results(), st.integers(1, 14))
def test_a_page_tells_of_how_many_lines_it_shows_how_many(result: Result, most: int) -> None:
    whole, page = for_page(result, 10**9, "all there"), for_page(result, most, "the files have them all")
    tables, shown = drawn(whole), drawn(page)
    assert told(whole) == []
    if result.sections:
        seen = min(most, sum(section.lines for section in whole.sections))
        assert sum(shown[: len(page.sections)]) == seen
        cut = sum(len(section.rows) for section in whole.sections) > most
        assert ((most, sum(len(section.rows) for section in whole.sections)) in told(page)) == cut
        return
    assert shown == [min(most, lines) for lines in tables]
    assert told(page) == [(most, lines) for lines in tables if lines > most]


@given(results(), st.integers(1, 14))
def test_a_section_tells_how_many_of_its_rows_are_seen(result: Result, most: int) -> None:
    page = shorten(result, most, "elsewhere")
    said = [note for note in notes_below(page) if "elsewhere" not in note]
    there = {section.title: len(section.rows) for section in result.sections}
    for section, lines in zip(page.sections, drawn(page), strict=False):
        less = lines < there[section.title]
        assert (f"{section.title}: the first {lines:,} of {there[section.title]:,} rows" in said) == less


@given(results(), st.integers(1, 14))
def test_no_line_is_shown_in_part(result: Result, most: int) -> None:
    """Test sets stand side by side, so a line that is shown has its values on all of them."""
    page = for_page(result, most, "the files have them all")
    if page.side_by_side is not None:
        (first, *_) = unbounded_rectangles(page, Style())
        assert all("–" not in row for row in first.rows)


def test_what_is_drawn_elsewhere_says_nothing_of_rows() -> None:
    rows = tuple(("T", "F", f"s{n}", 0.5) for n in range(100))
    result = Result("s", "c", "", Table(COLUMNS, rows), sections=(TableSection("", rows, 20),), notes=("a note",))
    assert notes(result) == ("the first 20 of 100 rows", "a note")
    assert notes(result, drawn=False) == ("a note",)


def test_a_page_of_documents_counts_those_of_the_page(visit: Visit) -> None:
    for page, said in (("1", "1–25 of 100"), ("4", "76–100 of 100"), ("9", "76–100 of 100")):
        html = visit().get(f"/test-set/TST3/pair/GE/UMASS?of=extraction&page={page}").text
        assert f"<span>{said}</span>" in html
        first, last = map(int, re.findall(r"\d+", said)[:2])
        listed = html.partition('id="documents"')[2]
        assert listed.partition("</table>")[0].count('<th scope="row">') == last - first + 1
        assert "the first 20 of" not in html
        assert "rows" not in re.sub(r"<[^>]+>", " ", listed.partition('<ul class="notes">')[2].partition("</ul>")[0])


def test_the_answer_to_documents_is_whole_on_a_page(visit: Visit) -> None:
    html = visit().get("/", params={"q": "documents F for GE, UMASS on TST3"}).text
    assert re.sub(r'<p class="sentence">.*?</p>', "", html).count(">SIM3-") == 100
    assert "the first" not in html


def test_the_page_of_a_warehouse_counts_every_kind_of_rows(tmp_path: Path) -> None:
    run, judged = tmp_path / "a.run", tmp_path / "q.qrels"
    run.write_text("".join(f"{topic} Q0 d{rank} {rank} {9 - rank} a\n" for topic in (1, 2, 3) for rank in (1, 2)))
    judged.write_text("".join(f"{topic} 0 d1 1\n" for topic in (1, 2, 3)))
    with create(tmp_path / "w.duckdb") as database:
        for file in (judged, run):
            load(database, file, "trec", fields={"test_set": "t"})
    with Session.open(tmp_path / "w.duckdb") as session:
        (row,) = session.run("show systems").rows
        assert row["rankings"] == 3
        kinds = {"extraction": "score_tuples", "filtering": "decisions"}
        assert {kinds.get(kind, kind) for kind in KINDS} == set(row) - {"system", "test_sets"}


@pytest.mark.parametrize("most", [1, 2, 1000])
def test_what_the_page_of_a_warehouse_leaves_out_it_says(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "MOST_LISTED", most)
    monkeypatch.setattr(imports, "MOST_LISTED", most)
    with Session.open() as session:
        many = {what: len(session.run(f"show {what}").rows) for what in ("systems", "imports")}
        made = dict[str, bytes]()
        for name, content in Publication(session, SiteOptions()).files():
            made[name] = content
            if name == "imports.html":
                break
    for what, name in (("systems", "index.html"), ("imports", "imports.html")):
        said = f"The first {most:,} of {many[what]:,} {what}."
        assert (said in made[name].decode()) == (many[what] > most)


def test_publishing_tells_how_many_files_there_are(warehouses: dict[str, Path]) -> None:
    with Session.open(warehouses["worked"]) as session:
        publication = Publication(session, SiteOptions())
        for made, _ in enumerate(publication.files(), 1):
            assert publication.done == made
            assert 0 <= publication.share <= 1


def test_the_caption_of_a_table_of_several_answers_names_all_its_measures(visit: Visit) -> None:
    for path in ("/test-set/TST3?of=extraction", "/test-set/TST3?of=filtering", "/system/GE"):
        html = visit().get(path).text
        for caption, head in re.findall(r"<caption>(.*?)</caption>\s*<thead>(.*?)</thead>", html, re.DOTALL):
            headings = re.findall(r"<button[^>]*>(.*?)</button>", head)
            measures = [name for name in headings if re.search(r"\bF\(beta=|recall|precision|fallout", name)]
            assert measures
            assert caption.startswith(f"{', '.join(measures)} on "), caption


def test_a_caption_of_printed_figures_names_all_that_they_are_of(visit: Visit) -> None:
    html = visit().get("/system/GE").text
    assert "extraction.F(beta=1)" in html
    assert "on TST3: filtering and extraction figures as printed" in html


@pytest.mark.parametrize(
    ("rows", "shown", "said"),
    [
        (500, None, ""),
        (501, None, "the first 500 of 501 rows; --format tsv shows all"),
        (1234, 20, "the first 20 of 1,234 rows; --format tsv shows all"),
        (100, 20, "the first 20 of 100 rows; limit 100 shows all"),
    ],
)
def test_a_terminal_tells_of_how_many_rows_it_shows_the_first(rows: int, shown: int | None, said: str) -> None:
    values = tuple(("T", "F", f"s{n}", 0.5) for n in range(rows))
    sections = () if shown is None else (TableSection("", values, shown),)
    drawn = render(Result("s", "c", "", Table(COLUMNS, values), sections=sections), "table", Style())
    assert [line for line in drawn.splitlines() if "the first" in line] == ([said] if said else [])


def test_a_report_tells_what_copies_have() -> None:
    rows = tuple(("T", "F", f"s{n}", 0.5) for n in range(30))
    result = Result("s", "c", "", Table(COLUMNS, rows), sections=(TableSection("", rows, 5),))
    whole = Report("", "study", "", (), (ReportedStatement((), 1, result),), "warehouse", (), "0", "")
    (statement,) = shorten_report(whole, 7).statements
    assert statement.result is not None
    assert len(statement.result.table.rows) == 7
    assert notes_below(statement.result) == (
        "the first 5 of 30 rows",
        "copies have the first 7 of 30 rows; evalhouse query prints them all",
    )
