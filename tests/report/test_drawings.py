"""A report says the same as a page, in Markdown and in LaTeX, and nothing in it is interpreted as markup. Goldens are
beside this file; `pytest --accept` rewrites them to the current drawings.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec.structs import replace
from pylatexenc.latex2text import LatexNodes2Text

from evalhouse.warehouse.charts import Axis, Chart, Panel, Point, Points
from evalhouse.warehouse.charts import Path as Line
from evalhouse.warehouse.render import Style
from evalhouse.warehouse.render.report import REPORTS, Passage, Report, ReportedStatement
from evalhouse.warehouse.render.report.page import LARGEST
from evalhouse.warehouse.render.report.prose import LONGEST, MarkdownText, shorten_report
from evalhouse.warehouse.render.style import clean
from evalhouse.warehouse.results import Cell, Column, Result, Table
from tests.report.conftest import HOSTILE

FOLDER = Path(__file__).parent


def drawn(report: Report, suffix: str) -> str:
    files = REPORTS[suffix](report, f"study{suffix}", Style())
    assert list(files) == [f"study{suffix}"]
    return files[f"study{suffix}"].decode()


def outline(report: Report) -> str:
    """A description as a golden shows it: everything but the cells."""
    lines = [f"title: {report.title}", f"study: {report.study} {report.sha256[:12]}", f"given: {report.given}"]
    lines += [f"asked of: {report.warehouse}", f"made: evalhouse {report.version}, {report.made}", ""]
    for section in report.sections:
        if isinstance(section, Passage):
            lines += ["prose", *(f"  {line}".rstrip() for line in section.text.split("\n"))]
            continue
        lines.append(f"statement {section.number or '-'}: {section.title if section.number else 'sets something'}")
        lines.append("  " + " ".join(f"{each.kind}:{each.text}" for each in section.pieces if each.kind != "blank"))
        if section.result is not None:
            table = section.result.table
            lines.append(f"  {len(table.rows)} rows of {', '.join(column.name for column in table.columns)}")
            lines += [f"  note: {note}" for note in section.result.notes]
            lines.append(f"  {section.result.signature}")
        lines += [f"  {line}".rstrip() for line in (section.error or "").split("\n") if section.error]
    lines.append("")
    for each in report.sources:
        lines.append(f"{each.number}: {each.name} {each.reader} {each.rows} simulated={each.simulated}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["study.txt", "study.html", "study.md", "study.tex"])
def test_a_report_is_as_in_its_golden(name: str, study: Report, accept: bool) -> None:
    now = outline(study) if name == "study.txt" else drawn(study, Path(name).suffix)
    golden = FOLDER / name
    if accept:
        golden.write_text(now, encoding="utf-8")
    assert in_twelve_digits(now) == in_twelve_digits(golden.read_text(encoding="utf-8"))


def in_twelve_digits(text: str) -> str:
    """A text whose numbers have no more digits than that: processors whose products of matrices add up in another order
    differ behind them, in a correlation.
    """
    return re.sub(r"\d\.\d{13,}", lambda number: f"{float(number[0]):.12g}", text)


def test_the_date_stands_on_one_line_and_nothing_else_changes(study: Report) -> None:
    for suffix in REPORTS:
        first, second = (drawn(replace(study, made=made), suffix).split("\n") for made in ("2026-01-01", "2026-01-02"))
        assert len(first) == len(second)
        assert [one for one, other in zip(first, second, strict=True) if one != other] != []
        assert sum(one != other for one, other in zip(first, second, strict=True)) == 1


# --- the page ---------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a reader of HTML makes of a page: its tags with attributes, its text, and its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def named(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag in tags]


def test_a_page_needs_nothing_else(study: Report) -> None:
    text = drawn(study, ".html")
    assert not re.search(r"https?://|//[a-z]|url\(|@import|src=|<link|<img|<iframe", text)
    assert "default-src 'none'" in text
    assert len(text.encode()) < LARGEST


def test_a_page_can_be_found_through_by_headings_and_tables_by_captions(study: Report) -> None:
    page = Page(drawn(study, ".html"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(page.named("caption")) == len(page.named("table"))
    assert all(head.get("scope") in ("col", "colgroup", "row") for head in page.named("th"))
    anchors = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(anchors)) == len(anchors)
    links = [str(link["href"]) for link in page.named("a")]
    assert {link.removeprefix("#") for link in links} <= set(anchors)
    labels = {str(attributes["aria-labelledby"]) for _, attributes in page.tags if "aria-labelledby" in attributes}
    assert labels <= set(anchors)
    assert [tag for tag, _ in page.tags if tag in ("header", "nav", "main", "footer")] == [
        "header",
        "nav",
        "main",
        "footer",
    ]


@pytest.mark.long
def test_a_report_of_much_is_shortened_and_says_so(study: Report) -> None:
    columns = (Column("system", "name"), *(Column(f"m{place}", "proportion") for place in range(12)))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"system {place}", *([place / 7919] * 12)) for place in range(LONGEST + 500)
    )
    results = [ReportedStatement((), place, Result("score", "much", "", Table(columns, rows))) for place in range(1, 8)]
    long = replace(study, sections=tuple(results))
    (first, *_) = shorten_report(long).statements
    assert first.result is not None
    assert len(first.result.rows) == LONGEST
    text = drawn(long, ".html")
    assert len(text.encode()) < LARGEST
    shown = re.findall(r"the first (\d+) of 1,500 rows", text)
    assert len(shown) == 2 * 7  # below the table, and in what is copied as LaTeX
    assert 20 < int(shown[0]) < LONGEST


def test_pictures_are_drawn_in_the_page_and_their_names_are_only_names(study: Report) -> None:
    pytest.importorskip("vl_convert", reason="pictures need the extra plot")
    names = (*HOSTILE, 'x url(#c) id="a"', 'x role="b" href="#d"')
    points = Points(tuple(Point(place / 20, place / 20, name) for place, name in enumerate(names)), labelled=True)
    line = Line(((0, 0), (1, 1)), names[0])
    axes = (Axis("x", "proportion"), Axis("y", "proportion"))
    chart = Chart(names[-1], "", (Panel("", *axes, (points, line)),), notes=names[:1], alternative=names[0])
    (statement, *_) = study.statements[1:]
    assert statement.result is not None
    pictured = replace(statement, result=replace(statement.result, chart=chart, notes=names[:2]))
    text = drawn(replace(study, sections=(pictured, replace(pictured, number=2))), ".html")
    page = Page(text)
    svg = {"svg", "g", "path", "text", "tspan", "rect", "line", "defs", "clippath"}
    assert {tag for tag, _ in page.tags} <= set(TAGS.split()) | svg
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    whole = "".join(page.texts)
    assert whole.count(names[-2]) == 2  # a point, in two pictures
    assert whole.count(names[-1]) == 4  # a point and the title
    assert whole.count(names[0]) >= 2  # a note
    assert whole.count(names[1]) == 2  # a note that the picture has not
    anchors = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(set(anchors)) == len(anchors)
    used = set(re.findall(r"url\(#([^)]*)\)", re.sub(">[^<]*<", "><", text)))
    assert used
    assert used <= set(anchors)
    pictures = [each for each in page.named("div") if each.get("class") == "picture"]
    assert [each["role"] for each in pictures] == ["img", "img"]
    assert all(clean(names[0]) in str(each["aria-label"]) for each in pictures)


# --- hostile texts ----------------------------------------------------------------------------------------------------


TAGS = """html head meta title style body a header h1 h2 h3 h4 h5 p nav details summary ol li main div ul blockquote pre
code span section button table caption thead tr th td tbody footer script em strong hr br"""


def test_a_browser_takes_nothing_in_a_report_for_markup(hostile: Report) -> None:
    text = drawn(hostile, ".html")
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= set(TAGS.split())
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"]
    assert len(page.named("script")) == 2
    assert all(str(link["href"]).startswith(("#", "http://evil.example")) for link in page.named("a"))
    whole = "".join(page.texts)
    for name in HOSTILE:
        assert whole.count(clean(name)) >= 10
    assert "\u202e" not in text


def test_a_reader_of_markdown_takes_nothing_in_a_report_for_markup(hostile: Report) -> None:
    hostile = replace(hostile, sections=hostile.statements)
    text = drawn(hostile, ".md")
    found = list(flat(MarkdownIt("commonmark").enable("table").parse(text)))
    kinds = {token.type for token in found}
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "em_open", "strong_open", "hr"}
    cells = [token.content for token in found]
    whole = "\n".join(cells).replace("\\", "")
    for name in HOSTILE:
        assert clean(name).replace("\\", "") in whole
    assert "\u202e" not in text


def flat(tokens: list[Token]) -> list[Token]:
    return [each for token in tokens for each in [token, *flat(token.children or [])]]


def test_a_reader_of_latex_takes_nothing_in_a_report_for_markup(hostile: Report) -> None:
    text = drawn(replace(hostile, sections=hostile.statements), ".tex")
    assert text.count(r"\end{document}") == 1
    assert r"\input" not in text
    body = text.partition(r"\begin{document}")[2]
    for written, meant in (
        (r"\allowbreak{}", ""),
        (r"\char34{}", '"'),
        (r"\textbar{}", "|"),
        (r"\textless{}", "<"),
        (r"\textgreater{}", ">"),
        (r"\textasciigrave{}", "\ufffc"),
    ):
        body = body.replace(written, meant)
    read = LatexNodes2Text().latex_to_text(body)
    squeezed = re.sub(r"\s", "", read).replace("\ufffc", "`").replace("ˆ", "^")
    for name in HOSTILE:
        assert squeezed.count(re.sub(r"\s", "", clean(name))) >= 5, name


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("which", ["study", "hostile"])
def test_latex_sets_a_report_as_it_is(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    report: Report = request.getfixturevalue(which)
    (tmp_path / "study.tex").write_text(drawn(report, ".tex"), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "study.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "study.pdf").stat().st_size > 20_000
    if which == "study":
        assert "Overfull" not in done.stdout


# --- prose ------------------------------------------------------------------------------------------------------------

PROSE = """\
# One
para *em* **strong** `co``de` [link](https://x.example/a_b?c=1&d) <https://x.example> ![pic](http://x.example/p.png)
second line\\
third & 50% of $x$ \\* 1\\. <b>raw</b>

1986\\. A year
- not a list? it is

> quoted
>
> 3. three
>
>        code in a list

```
fenced ``` <b> \\x
```

### Deep

***
"""


def test_prose_keeps_its_meaning_in_markdown() -> None:
    """What is drawn as Markdown is read as the same HTML again."""
    first = MarkdownText(PROSE)
    again = MarkdownText(first.markdown())
    assert again.html() == first.html()
    assert again.headings == first.headings == [(2, "One"), (3, "Deep")]
    assert "&lt;b&gt;raw&lt;/b&gt;" in first.html()
    assert "<img" not in first.html()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_prose_keeps_its_meaning_in_markdown(name: str) -> None:
    text = f"{name}\n\n- {name}\n\n> {name}\n\n{name[::-1]}"
    assert MarkdownText(MarkdownText(text).markdown()).html() == MarkdownText(text).html()
    assert not re.search(r"<(script|img|http)", MarkdownText(text).html())


def test_prose_in_latex() -> None:
    text = MarkdownText(PROSE).latex()
    assert r"\section*{One}" in text
    assert r"\emph{em} \textbf{strong}" in text
    assert r"link\footnote{\texttt{https://x.example/a\_b?c=1\&d}}" in text
    assert r"\$x\$" in text
    assert r"\setcounter{enumi}{2}" in text
    assert r"\textless{}b\textgreater{}raw" in text
