# ruff: noqa: E501 - the table of names
"""Names that could be misinterpreted as something else: they are refused when loaded, or every format shows them as the
names they are.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import openpyxl
import pytest

import cli
from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import FORMATS, Format, Style, files, render
from evalhouse.warehouse.render.style import clean
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.conftest import write_csv
from tests.counting import Count
from tests.store.texts import SCORES

REFUSED = {
    "a NUL": "a\0b",
    "a line feed": "a\nb",
    "a carriage return": "a\rb",
    "a tab": "a\tb",
    "a form feed": "a\fb",
    "a bell": "a\x07b",
    "a backspace": "a\bb",
    "a deletion": "a\x7fb",
    "an escape sequence": "\x1b[31mred\x1b[0m",
    "the title of a terminal": "\x1b]0;title\x07",
    "a link of a terminal": "\x1b]8;;http://example.org\x1b\\here",
    "an escape sequence in one character": "\x9b31mred",
    "a next line": "a\x85b",
    "a line separator": "a\u2028b",
    "a paragraph separator": "a\u2029b",
    "201 characters": "x" * 201,
    "a megabyte": "x" * 1_000_000,
}

LOADED = (
    # Markup of the library that draws tables, and its links and emoji.
    "[red]x[/red]", "[/]", "[link=file:///etc/passwd]x[/link]", ":bomb:", "[@click=app.quit]x[/]",
    # HTML and SVG.
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</script><script>alert(1)//", "</svg><script>1</script>",
    "</style><b>", "<!--", "-->", "]]>", "<![CDATA[x", "&lt;b&gt;", "&#x202e;", "' onmouseover='alert(1)", '" autofocus "',
    "javascript:alert(1)", "</title>", "</pre></td></tr></table>",
    # LaTeX.
    r"\input{/etc/passwd}", r"\write18{touch x}", r"\end{document}", "$x^2$", "100%", "a_b", "a&b", "#1", "~^\\{}", "``x''",
    r"\\", "--", "\\^^5c",
    # Markdown.
    "[x](javascript:alert(1))", "![x](http://127.0.0.1/x.png)", "**bold**", "a|b", "`code`", "# x", "- x", "1. x",
    "<http://127.0.0.1>", "http://127.0.0.1/", "\\|", "~~x~~",
    # Formulas of spreadsheets.
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", '=HYPERLINK("http://127.0.0.1";"x")', "=cmd|' /C calc'!A0", '"=1+1"', "'=1+1", "＝1+1",
    "%0A=1+1", ";=1+1", "|=1+1",
    # Pictures: expressions, fields and templates.
    "datum.x", "${datum.x}", "{{x}}", "a.b", "a[0]", "a\\.b", "http://127.0.0.1/x.svg", "data:text/html,x",
    # Shells, SQL, formats of texts.
    "$(touch x)", "`touch x`", "; rm -rf .", "'; drop table score; --", '"; drop table score; --', "%s%n", "{0}", "{x!r}",
    "$HOME", "../../x", "/etc/passwd", "C:\\x", "CON", "~", "-rf", "--db", "NULL", "null", "None", "nan", "true", "0", "1e5",
    # What is not seen, or is seen otherwise.
    "gnp\u202egnp.exe", "a\u2066b\u2069c", "\u200f", "a\u200bb", "a\u200db", "\ufeffx", "a\u00adb", "x\u061c", "\U000e0041\U000e0042",
    "\ue000", "\u0378", "\uffff", "\ufff9x\ufffb", "a" + "\u0301" * 60, "👩\u200d💻", "🇩🇪", "日本語", "ａｂ", "\u3164", "\u115f",
    # What looks like another.
    "GE", "GЕ", "ＧＥ", "G\u0395", "ge", "scope", "ѕсоре", "ﬁ", "fi", "ſ", "s", "K", "K",
)  # fmt: skip

UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.long
@pytest.mark.parametrize("kind", REFUSED)
def test_what_could_steer_a_terminal_is_not_loaded(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "in.csv"
    with in_memory() as database:
        for row in (f'T,"{REFUSED[kind]}",D1', f'T,S,"{REFUSED[kind]}"', f'"{REFUSED[kind]}",S,D1'):
            file.write_bytes(f"{SCORES}{row},4,4,3,0\n".encode())
            with pytest.raises(DataError) as caught:
                load(database, file, "scores")
            said = str(caught.value.faults[0])
            assert said.startswith(f"{file}")
            assert len(said) < 700
            assert not {unicodedata.category(c) for c in clean(said)} & UNSAFE
        assert database.rows(Sql("select count(*) from score")) == [(0,)]


def test_bytes_that_are_no_text_are_not_loaded(tmp_path: Path) -> None:
    with in_memory() as database:
        for wrong in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80"):
            (tmp_path / "in.csv").write_bytes(SCORES.encode() + b"T," + wrong + b",D1,4,4,3,0\n")
            with pytest.raises(DataError):
                load(database, tmp_path / "in.csv", "scores")


def test_two_spellings_of_a_letter_are_one_name_and_letters_that_look_alike_are_two(tmp_path: Path) -> None:
    rows = "".join(f"T,S,{name},4,4,3,0\n" for name in ("Jos\u00e9", "GE", "GЕ", "ＧＥ"))
    (tmp_path / "a.csv").write_text(SCORES + rows)
    (tmp_path / "b.csv").write_text(SCORES + "T,S,Jose\u0301,4,4,3,0\n")
    with in_memory() as database:
        load(database, tmp_path / "a.csv", "scores")
        assert load(database, tmp_path / "b.csv", "scores").rows_new == 0
        assert database.rows(Sql("select count(*) from document")) == [(4,)]


# --- what is drawn ----------------------------------------------------------------------------------------------------

TEST_SET, OTHER, MEASURE = "<i>T|1</i> _$&", "\u202eT2 [b]", "<b>m</b> & 'x' %_"
QUESTIONS = (
    'score F, recall for all on "<i>T|1</i> _$&"',
    'score "<b>m</b> & \'x\' %_" for all on "<i>T|1</i> _$&"',
    'compare F for all against "=1+1" on "<i>T|1</i> _$&" shuffles 9',
    'group recall for all on "<i>T|1</i> _$&" shuffles 9 level 0.2',
    'table F, recall for all on "<i>T|1</i> _$&", "\u202eT2 [b]" against "=1+1" shuffles 9',
    'table "<b>m</b> & \'x\' %_" for all on "<i>T|1</i> _$&"',
    'table F for all except "--" on "<i>T|1</i> _$&" letters shuffles 9 columns F as "\\newline{x} #eval(""1"") <b>" '
    'caption "#{1}\\end{table} \u202e </figcaption>"',
    'change F for all from "<i>T|1</i> _$&" to "\u202eT2 [b]"',
    "power F for all on documents detect 1% documents 9",
    "score F for all on documents by document",
    "documents F for all on documents limit 100",
    "differ F for all on documents by document.kind shuffles 9",
    "show systems",
    "show test sets",
    "show imports",
    'sql "select system, document, test_set from scores order by all"',
    'sql "select system as ""<script>alert(1)</script>"" from scores limit 1"',
)
PICTURES = (
    'plot score F for all on "<i>T|1</i> _$&"',
    'plot score F, recall for all on "<i>T|1</i> _$&"',
    'plot compare F for "=1+1", "<script>alert(1)</script>" on "<i>T|1</i> _$&" shuffles 9',
    'plot group recall for all on "<i>T|1</i> _$&" shuffles 9 level 0.2',
    "plot power F for all on documents detect 1% documents 4, 9",
    'plot documents F for "=1+1", "<script>alert(1)</script>" on "<i>T|1</i> _$&"',
    "plot documents F for all on documents limit 40",
    "plot differ F for all on documents by document.kind shuffles 9",
    'plot change F for all from "<i>T|1</i> _$&" to "\u202eT2 [b]"',
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with in_memory() as database:
        fill_with_hostile_names(database, tmp_path_factory.mktemp("hostile"))
        yield Session(database)


@pytest.fixture(scope="module")
def asked(hostile: Session) -> dict[str, Result]:
    """The results of the questions, which are drawn in every format."""
    return {question: hostile.run(question) for question in QUESTIONS}


def fill_with_hostile_names(database: Database, folder: Path) -> list[str]:
    """Systems, documents and test sets with all those names; gives the names of the systems."""
    names = list(dict.fromkeys(unicodedata.normalize("NFC", name.strip()) for name in LOADED))
    # In a table of text an apostrophe before a formula is no part of the name, so one that is stands there twice.
    written = ["'" + name if re.match("'+[=+@-]", name) else name for name in names]
    rows = [
        (test_set, name, f"d{k}", 9, 9, (place + 3 * k) % 9, 0)
        for place, name in enumerate(written)
        for k in range(2)
        for test_set in (TEST_SET, OTHER)
    ]
    rows += [
        ("documents", system, name, 1, 1, int(place % 2 == number), 0)
        for place, name in enumerate(written)
        for number, system in enumerate(written[:2])
    ]
    values = [(TEST_SET, name, "d0", MEASURE, place) for place, name in enumerate(written)]
    header = "test_set system document possible actual correct partial"
    load(database, write_csv(folder / "<b>=a.csv", header, rows), "scores")
    kinds = [("documents", name, name) for name in written]
    load(database, write_csv(folder / "d.csv", "test_set document kind", kinds), "documents")
    load(database, write_csv(folder / "v.csv", "test_set system document measure value", values), "values")
    stored = {str(name) for (name,) in database.rows(Sql("select name from system"))}
    assert stored == set(names)
    return names


def unsafe(text: str, but: str = "\n") -> set[str]:
    """The characters of a text that could steer something or hide."""
    return {c for c in text if c not in but and unicodedata.category(c) in UNSAFE}


class Tags(HTMLParser):
    """Reads a page as a browser does: what tags there are, and what could run or fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.wrong: list[tuple[str, str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attributes:
            fetches = name in ("src", "srcset", "data", "action") or (
                name in ("href", "xlink:href") and not (value or "").startswith("#")
            )
            if name.startswith("on") or fetches:
                self.wrong.append((tag, name, value))


@pytest.mark.long
@pytest.mark.parametrize(
    ("format", "colour"),
    [*((format, False) for format in FORMATS), (FORMATS[0], True)],
    ids=lambda it: "coloured" if it is True else "plain" if it is False else it.name,
)
def test_in_every_format_names_are_names(asked: dict[str, Result], format: Format, colour: bool, count: Count) -> None:
    for question, result in asked.items():
        drawn = render(result, format.name, Style(width=240, colour=colour))
        assert isinstance(drawn, str)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", drawn) if colour and format.name == "table" else drawn
        assert not unsafe(shown, "\n\t" if format.name == "tsv" else "\n"), question
        match format.name:
            case "json":
                assert json.loads(drawn)["rows"] == result.rows
            case "ndjson":
                assert [json.loads(line) for line in drawn.splitlines()] == result.rows
            case "csv":
                cells = [cell for row in csv.reader(io.StringIO(drawn)) for cell in row]
                wrong = [cell for cell in cells if cell[:1] in "=+-@" and not re.fullmatch(r"-?[0-9.e+-]*", cell)]
                assert wrong == []
            case "tsv":
                assert {line.count("\t") for line in drawn.splitlines()} == {len(result.columns) - 1}
            case "html":
                tags = Tags()
                tags.feed(drawn)
                assert tags.wrong == []
                assert drawn.count("<script") == 1 * ("sort" in drawn and "<script" in drawn)
                assert not tags.tags & {"img", "iframe", "object", "b", "i", "svg"}
            case "typst":
                bare = re.sub(r'"(?:[^"\\]|\\(?:["\\]|u\{200b\}))*"', "", re.sub("(?m)^//.*$", "", drawn))
                assert not re.search(r"""["'\\@*_`$<~/=]|--""", bare), question
            case "latex":
                bare = re.sub(r"\\[%&$#_{}]|\\textbackslash\{\}", "", drawn)
                assert not re.search(r"\\(input|write|end\{document)", bare)
    count("questions drawn with hostile names", len(QUESTIONS))


@pytest.mark.long
def test_a_workbook_has_no_formula(asked: dict[str, Result], tmp_path: Path) -> None:
    results = [*asked.values()]
    to = tmp_path / "all.xlsx"
    files.write(results, to, files.check(to, None, False), Style())
    for sheet in openpyxl.load_workbook(to):
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert cell.hyperlink is None


@pytest.mark.long
@pytest.mark.parametrize("question", PICTURES)
def test_pictures_show_names_as_they_are(hostile: Session, question: str, count: Count) -> None:
    from evalhouse.warehouse.render.vegalite import page, svg

    result = hostile.run(question)
    on_screen = render(result, "table", Style(width=120))
    assert isinstance(on_screen, str)
    assert not unsafe(on_screen)
    assert result.chart is not None
    drawn = svg(result.chart)
    assert not unsafe(drawn)
    for element in ElementTree.fromstring(drawn).iter():
        assert element.tag.rpartition("}")[2] in {
            "svg",
            "g",
            "path",
            "text",
            "rect",
            "line",
            "circle",
            "defs",
            "clipPath",
            "tspan",
            "style",
            "title",
        }
        assert not any(name.startswith("on") or name.endswith("href") for name in element.attrib)
    whole = Tags()
    whole.feed(page(result.chart))
    assert [each for each in whole.wrong if each[0] != "script"] == []
    assert not whole.tags & {"img", "iframe", "b", "i"}
    count("pictures drawn with hostile names", 1)


@pytest.mark.long
@pytest.mark.parametrize("ending", [".html", ".md", ".tex"])
def test_reports_show_names_as_they_are(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], count: Count
) -> None:
    names = [name for name in LOADED if name.strip() == name][:40]
    rows = [("T", name, f"d{k}", 9, 9, (place + k) % 9, 0) for place, name in enumerate(names) for k in range(2)]
    write_csv(tmp_path / "s.csv", "test_set system document possible actual correct partial", rows)
    (tmp_path / "x.study").write_text(
        'load "s.csv" as scores;\n-- # <script>alert(1)</script> \u202e [x](javascript:alert(1)) \\input{x}\n'
        'score F for all on T;\nplot group recall for all on T level 0.2;\nscore F for "<script>alert(1)</script" on T'
    )
    to = tmp_path / f"r{ending}"
    cli.main(["run", str(tmp_path / "x.study"), "--report", str(to), "--keep-going"])
    assert "Traceback" not in capfd.readouterr().err
    drawn = to.read_text()
    assert not unsafe(drawn)
    if ending == ".html":
        tags = Tags()
        tags.feed(drawn)
        assert [each for each in tags.wrong if not (each[2] or "").startswith("data:")] == []
        assert "<script>alert" not in drawn
    elif ending == ".md":
        assert "<script>" not in re.sub(r"(?s)```.*?```|`[^`]*`", "", drawn)
        assert not re.search(r"(?<!\\)\]\(javascript:", re.sub(r"(?s)```.*?```", "", drawn))
    else:
        assert not re.search(r"(?<!\\textbackslash)\\(input\{/|write18)", drawn)
    count("reports drawn with hostile names", 1)
