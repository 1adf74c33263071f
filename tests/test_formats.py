"""Every format draws the same results in full, whatever their names and values are. Goldens are in tests/formats, one
per result and format; `pytest --accept` rewrites them to the current output.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path

import openpyxl
import pytest
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text

import cli
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.render import FORMATS, WORKBOOK, Format, Style, files, format_for, render, render_all, style
from evalhouse.warehouse.render.html import fragment
from evalhouse.warehouse.render.paper import with_index
from evalhouse.warehouse.render.rectangle import unbounded_rectangles
from evalhouse.warehouse.results import Column, Result, SideBySide, Table, Triangle
from evalhouse.warehouse.session.session import Session
from tests.typesetting import needs_latex

LEGEND = "p-values; * significant at .05, ? undecided"

FOLDER = Path(__file__).parent / "formats"

NAMES = (
    "GE",
    "a-name-so-long-that-no-table-of-any-use-would-have-room-for-all-of-it",
    "[red]*bold*[/red] <b>&amp;</b>",
    "מערכת",
    r"50% & #1_$x$ ~^\{y}",
    "a|b`c`",
    "=1+1",
    "--",
    'said "so"',
    "日本語",
    "bidi\u202emark",
    "I",
    "II",
    "III",
    "gpt-4.1-mini",
    "NMSU/Brandeis",
    "nothing",
)


def pairs() -> Result:
    """Levels of all pairs of 17 systems with names that need care; one value and one level undefined, one tiny."""
    columns = (
        Column("test_set", "name", on_screen=False),
        Column("measure", "name"),
        Column("system_a", "name"),
        Column("system_b", "name"),
        Column("value_a", "proportion"),
        Column("value_b", "proportion"),
        Column("difference", "difference"),
        Column("p", "probability"),
        Column("verdict", "text"),
        Column("shuffles", "count"),
    )
    values = {name: 0.9 - place / 20 for place, name in enumerate(NAMES)}
    values["nothing"] = None  # type: ignore[assignment]
    rows = []
    for number, (a, b) in enumerate(combinations(NAMES, 2)):
        p = None if "nothing" in (a, b) else 3e-17 if number == 0 else 1.0 if number == 1 else number / 136
        verdict = "not significant" if p is None or p > 0.05 else "undecided" if number % 2 else "significant"
        difference = None if p is None else values[a] - values[b]
        rows.append(("T|1", "F(beta=1)", a, b, values[a], values[b], difference, p, verdict, 9999))
    return Result(
        statement="compare F for all on T",
        caption="F(beta=1) on T|1: randomization test, level 0.05; 136 comparisons, not adjusted",
        signature="compare F for all on T | seed 1992",
        table=Table(columns, tuple(rows)),
        notes=("F(beta=1) of nothing is undefined: its denominator 2·possible & actual is 0", "a_b <note> of *marks*"),
        triangle=Triangle(
            ("measure", "test_set"), "system_a", "system_b", "value_a", "value_b", "p", "verdict", LEGEND
        ),
    )


def letters() -> Result:
    """A ranking with letters, and a summary of its groups."""
    columns = (Column("rank", "whole"), Column("system", "name"), Column("value", "proportion", "F(beta=1)"))
    rows = ((1, "GE", 0.5601, "a"), (2, "מערכת", 0.51, "a b"), (3, "[x]", 0.1, "b c"), (4, "nothing", None, "c"))
    summary = Table(
        (Column("group", "letters"), Column("systems", "text"), Column("spread", "difference")),
        (("a", "GE, מערכת", 0.05), ("b", "מערכת, [x]", -0.41), ("c", "[x], nothing", None)),
    )
    table = Table((*columns, Column("letters", "letters", "groups")), rows)
    return Result("group F for all on T", "F(beta=1) on T: groups", "group F", table, summary)


def side_by_side() -> Result:
    """Two measures on two test sets; a system that is on one of them only."""
    columns = (
        Column("test_set", "name"),
        Column("system", "name"),
        Column("documents", "count", on_screen=False),
        Column("recall", "proportion"),
        Column("m", "number"),
    )
    rows = (
        ("T_1", "GE", 1000, 0.5, -1234.5678),
        ("T_1", "UMASS", 1000, 1e-9, 1e-9),
        ("T_2", "GE", 10, None, 12.0),
    )
    how = SideBySide(("system",), (("GE",), ("UMASS",)), "test_set", (("T_1", "T_1"), ("T_2", "T_2")), ("recall", "m"))
    return Result("score recall, m for all on T_1, T_2", "recall, m", "score", Table(columns, rows), side_by_side=how)


def test_a_format_is_added_by_its_entry_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def captions(result: Result, style: Style) -> str:
        return result.caption + "\n"

    def lines(result: Result, style: Style) -> Iterator[str]:
        return (f"{row[0]}\n" for row in result.table.rows)

    added = (*FORMATS, Format("captions", "the captions", ".cap", captions), Format("lines", "rows", ".lin", lines))
    monkeypatch.setattr("evalhouse.warehouse.render.FORMATS", added)
    result = side_by_side()
    assert render(result, "captions", Style()) == "recall, m\n"
    assert render_all([result, result], "captions", Style()) == "recall, m\n" * 2
    assert render(result, "lines", Style()) == "T_1\nT_1\nT_2\n"
    assert format_for(".cap") == "captions"
    assert cli.main(["query", "score F for GE on TST3", "--sample", "--quiet", "--format", "lines"]) == 0
    assert capsys.readouterr().out == "TST3\n"


RESULTS = {"pairs": pairs(), "letters": letters(), "side-by-side": side_by_side()}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_result_is_drawn_as_in_its_golden(name: str, format: Format, accept: bool) -> None:
    drawn = render(RESULTS[name], format.name, Style(width=100))
    golden = FOLDER / f"{name}{format.suffix}"
    if accept:
        golden.write_text(drawn, encoding="utf-8")
    assert drawn == golden.read_text(encoding="utf-8")


# --- every cell says what it holds ------------------------------------------------------------------------------------


def shown(result: Result) -> list[list[str]]:
    """The texts of all cells, headings on one line, as a reader of any document should see them."""
    lines = []
    for rectangle in unbounded_rectangles(result, Style()):
        lines.append([" ".join(heading.split()) for heading in rectangle.headings])
        lines += [[" ".join(text.split()) for text in row] for row in rectangle.rows]
    return lines


@pytest.mark.parametrize("name", RESULTS)
def test_a_markdown_reader_sees_every_cell_as_it_is(name: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(render(RESULTS[name], "markdown", Style()))
    seen: list[list[str]] = []
    for before, token in pairwise(tokens):
        if token.type == "tr_open":
            seen.append([])
        elif before.type in ("td_open", "th_open"):
            text = "".join(child.content for child in token.children or ())
            assert {child.type for child in token.children or ()} <= {"text", "text_special"}
            seen[-1].append(" ".join(text.split()))
    assert seen == [[with_index(cell) for cell in row] for row in shown(RESULTS[name])]


_TEX = {
    r"\char34{}": "''",
    r"\textbar{}": "|",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\rlap": "",
    r"\texttt": "",
    r"\allowbreak{}": "",
    "-{}-": "-\u200b-",
    r"\&": "\ufffc",
}
"""What the reader of the tests does not know, or would print as the page does."""


@pytest.mark.parametrize("name", RESULTS)
def test_a_latex_reader_sees_every_cell_as_it_is(name: str) -> None:
    seen: list[list[str]] = []
    for rows in _tex_tables(render(RESULTS[name], "latex", Style())):
        # Nothing at the head of a row may be taken for a part of the end of the one before.
        assert not [row for row in rows if row.startswith(("[", "*"))]
        cells = [_tex_cells(row.removesuffix(r"\\")) for row in rows]
        if name == "pairs" and seen:
            # Another panel: what its rows are of stands there, too.
            assert [row[:3] for row in cells] == [row[:3] for row in seen]
            seen = [[*row, *more[3:]] for row, more in zip(seen, cells, strict=True)]
        else:
            seen += cells
    if name == "side-by-side":
        assert seen.pop(0)[1:] == ["T_1", "T_2"]
        assert seen[0] == ["system", "recall", "m", "recall", "m"]
        seen[0] = ["system", "T_1 recall", "T_1 m", "T_2 recall", "T_2 m"]
    # The reader knows no signs below the line.
    assert seen == [[with_index(cell).replace("₁", "_1") for cell in row] for row in shown(RESULTS[name])]


def _tex_tables(drawn: str) -> list[list[str]]:
    """The rows of each table, those of the headings once."""
    bodies = re.findall(r"(?s)\\begin\{(?:longtable|tabular)\}(.*?)\\end\{(?:longtable|tabular)\}", drawn)
    bodies = [body.rpartition(r"\endfirsthead")[2] for body in bodies]
    return [[line.strip() for line in body.split("\n") if line.endswith(r"\\")] for body in bodies]


def _tex_cells(row: str) -> list[str]:
    for written, read in _TEX.items():
        row = row.replace(written, read)
    row = re.sub(r"\\multicolumn\{\d\}\{c\}", "", row)
    cells = (LatexNodes2Text(keep_comments=True).latex_to_text(cell) for cell in row.split("&"))
    as_typed = str.maketrans({"\ufffc": "&", "\u200b": "", "”": '"', "ˆ": "^"})
    return [" ".join(cell.translate(as_typed).split()) for cell in cells]


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.lines.append([])
        elif tag in ("td", "th"):
            self.inside = True
            self.lines[-1].append("")
        else:
            assert tag in {
                *("html", "head", "meta", "title", "style", "body", "figure", "figcaption", "div", "table", "thead"),
                *("tbody", "button", "p", "script"),
            }

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.lines[-1][-1] += data


@pytest.mark.parametrize("name", RESULTS)
def test_a_browser_sees_every_cell_as_it_is_and_no_other_tag(name: str) -> None:
    reader = _Cells()
    reader.feed(render(RESULTS[name], "html", Style()))
    seen = [[" ".join(cell.split()) for cell in line] for line in reader.lines]
    if name == "side-by-side":
        above, below = seen.pop(0), seen[0]
        assert above == ["", "T_1", "T_2"]
        seen[0] = [below[0], "T_1 recall", "T_1 m", "T_2 recall", "T_2 m"]
        assert below == ["system", "recall", "m", "recall", "m"]
    assert seen == shown(RESULTS[name])


def test_a_page_loads_nothing_and_a_fragment_runs_nothing() -> None:
    page = render(pairs(), "html", Style())
    assert "http" not in page
    assert "src=" not in page
    assert "<script" not in fragment(pairs(), Style())
    assert "&lt;b&gt;&amp;amp;&lt;/b&gt;" in fragment(pairs(), Style())


def test_rows_for_programs_hold_every_value_in_full() -> None:
    result = pairs()
    names = [str(row["system_a"]) for row in result.rows]
    assert [json.loads(line) for line in render(result, "ndjson", Style()).splitlines()] == result.rows
    assert json.loads(render(result, "json", Style())) == result.as_dict()
    rows = list(csv.DictReader(io.StringIO(render(result, "csv", Style()))))
    cleaned = [name.replace("\u202e", "\\u202e") for name in names]
    assert [row["system_a"].removeprefix("'") for row in rows] == cleaned
    assert rows[0]["p"] == "3e-17"
    assert rows[15]["p"] == ""


# --- files ------------------------------------------------------------------------------------------------------------


@needs_latex
@pytest.mark.parametrize("name", RESULTS)
def test_latex_compiles(name: str, tmp_path: Path) -> None:
    """By pdfLaTeX, once it is told of the letters that it lacks, as a comment says."""
    drawn = render(RESULTS[name], "latex", Style())
    beyond = sorted({sign for sign in drawn if ord(sign) > 0x17F and sign not in "–—‘’“”…"})
    assert ("% for LuaLaTeX" in drawn) == bool(beyond)
    preamble = "".join(rf"\DeclareUnicodeCharacter{{{ord(sign):04X}}}{{?}}" for sign in beyond)
    (packages,) = re.findall(r"(?m)^% (\\usepackage{.*})$", drawn)
    document = rf"\documentclass{{article}}{packages}{preamble}\begin{{document}}{drawn}\end{{document}}"
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-800:]
    assert (tmp_path / "table.pdf").stat().st_size > 5000


def test_a_workbook_holds_numbers_as_numbers_and_names_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "all.xlsx"
    files.write(list(RESULTS.values()), path, WORKBOOK, Style())
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["1", "1 levels", "2", "3"]
    sheet = book["1"]
    assert sheet["A1"].value == pairs().caption
    heads = [cell.value for cell in sheet[3]]
    assert heads == list(pairs().columns)
    for number, row in enumerate(pairs().rows, 4):
        cells = dict(zip(heads, sheet[number], strict=True))
        assert cells["system_a"].value == str(row["system_a"]).replace("\u202e", "\\u202e")
        assert cells["system_a"].data_type == "s"
        level = cells["p"].value
        assert level is row["p"] is None or level == pytest.approx(row["p"], rel=1e-15, abs=0)
        assert cells["value_a"].number_format == "0.00%"
    levels = [[cell.value for cell in line] for line in book["1 levels"].iter_rows(min_row=4, max_row=21)]
    assert levels[1][1:3] == ["GE", "90.00"]
    assert levels[2][3] == "<.001*"


def test_a_workbook_of_several_measures_and_test_sets_against_a_system_says_whose_each_row_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "against.xlsx"
    with Session.open() as sample:
        result = sample.run("compare recall, F for UMASS, SRI against GE on TST3, TST4 shuffles 99")
    files.write([result], path, WORKBOOK, Style())
    heads, *rows = [[cell.value for cell in line] for line in openpyxl.load_workbook(path)["1"].iter_rows(min_row=3)]
    assert heads == list(result.columns)
    said = [dict(zip(heads, row, strict=True)) for row in rows[: len(result.rows)]]
    assert {(row["test_set"], row["measure"], row["system_a"], row["system_b"]) for row in said} == {
        (test_set, measure, system, "GE")
        for test_set in ("TST3", "TST4")
        for measure in ("recall", "F(beta=1)")
        for system in ("UMASS", "SRI")
    }


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_file_is_written_in_the_format_of_its_ending_and_never_over_another(format: Format, tmp_path: Path) -> None:
    assert format_for(format.suffix.upper()) == format.name
    path = tmp_path / f"results{format.suffix}"
    assert files.check(path, None, force=False) == format.name
    files.write([letters(), side_by_side()], path, format.name, Style())
    assert path.read_text(encoding="utf-8") == render_all([letters(), side_by_side()], format.name, Style())
    with pytest.raises(DataError, match="already exists"):
        files.check(path, None, force=False)
    assert files.check(path, None, force=True) == format.name
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_an_ending_that_says_nothing_needs_a_format(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the endings are \.txt, .*\.xlsx"):
        files.check(tmp_path / "results", None, force=False)
    assert files.check(tmp_path / "results", "csv", force=False) == "csv"
    with pytest.raises(DataError, match="cannot be written: no such file"):
        files.write([letters()], tmp_path / "absent" / "results.csv", "csv", Style())


def test_several_results_are_one_page() -> None:
    page = render_all([letters(), side_by_side()], "html", Style())
    assert isinstance(page, str)
    assert page.count("<!doctype html>") == page.count("<script>") == 1
    assert page.count("<figure") == 2


# --- in Python --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_columns_are_the_same_in_arrow_and_in_pandas(name: str) -> None:
    result = RESULTS[name]
    arrow = pytest.importorskip("pyarrow") and result.to_arrow()
    assert arrow.to_pylist() == result.rows
    frame = pytest.importorskip("pandas") and result.to_pandas()
    assert tuple(frame.columns) == result.columns
    first = result.columns[-1]
    assert [None if value != value else value for value in frame[first]] == list(result.table.column(first))


def test_nothing_is_less_than_zero_by_rounding() -> None:
    assert style.cell("number", -0.00001) == "0.0000"
    assert style.cell("proportion", -0.00001) == "0.00"
    assert style.cell("number", -0.0001) == "-0.0001"
