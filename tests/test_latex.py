"""Tables in LaTeX, as pdfLaTeX sets them: none is wider than the text or taller than a page, whatever was asked, in one
column of text or two.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from evalhouse.grammar.errors import EvalhouseError
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.render.latex import latex
from evalhouse.warehouse.render.paper import LINE, on_paper
from evalhouse.warehouse.render.rectangle import unbounded_rectangles
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import WithValues
from tests.typesetting import needs_latex

STATEMENTS = (
    "score recall, precision, F, overgeneration, undergeneration, substitution, error for all on TST3, TST4",
    "score recall, precision, F for all on TST3, TST4 interval",
    "score F for GE, UMASS on TST3 by document",
    "compare F, recall, precision for all against GE on TST3, TST4 adjust holm",
    "compare F for all on TST3 exact",
    "compare recall, precision for GE, UMASS on TST3, TST4 margin 5%",
    "group F for all on TST3",
    "rank F for GE, UMASS, SRI, NYU on TST3",
    "rank F of published for GE, UMASS, SRI, NYU on MUC-3.TST2, MUC-4.TST3, MUC-4.TST4 over test sets by mean rank",
    "table recall, precision, F for all on TST3, TST4 against GE adjust holm interval",
    'table F, error, recall for GE, UMASS, SRI on TST3, TST4 letters interval rank caption "MUC-4" label "tab:muc4"',
    "table F for all on TST3, TST4 letters exact adjust holm",
    "table undergeneration, precision for all on TST3 letters interval rank shuffles 999",
    "generality on TST2, TST3, TST4",
    "change F of published for all from MUC-3.TST2 to MUC-4.TST3",
    "replicate F for all from TST3 to TST4",
    "project precision, F of filtering for GE, UMASS from TST3 to generality 0.01, 0.05, 0.1, 0.2, 0.5",
    "audit published for all on TST3",
    "coverage of extraction for all on TST3, TST4",
    "documents F for GE, UMASS on TST3 limit 100",
    "differ accuracy, fallout of filtering for GE, UMASS on TST3 by label shuffles 99",
    "expect better compare F for GE against MDC on TST3",
    "explain compare F for GE, UMASS on TST3",
    "show systems",
    "show measures",
    "show tests",
    "show imports",
    "show attributes",
    "show texts",
    "show evaluations",
    "show test sets",
    'sql "select * from scores limit 60"',
)


pytestmark = pytest.mark.xdist_group("typeset")  # the answers for all, with those of test_typst.py


@cache
def answers() -> tuple[Result, ...]:
    """The results of the statements, of which some take seconds."""
    with Session.open() as session:
        return tuple(session.run(statement) for statement in STATEMENTS)


@pytest.fixture(scope="module")
def sample() -> Iterator[Session]:
    with Session.open() as session:
        yield session


def compiled(results: Sequence[Result], folder: Path, paper: str = "") -> str:
    """What pdfLaTeX says of a document with these results, twice, so that longtables have their widths."""
    drawn = "\n\\clearpage\n".join(latex(result, Style()) for result in results)
    beyond = sorted({sign for sign in drawn if ord(sign) > 0x17F and sign not in "–—‘’“”…"})
    letters = "".join(rf"\DeclareUnicodeCharacter{{{ord(sign):04X}}}{{?}}" for sign in beyond)
    packages = r"\usepackage{booktabs,array,longtable,adjustbox}"
    document = rf"\documentclass{paper}{{article}}{packages}{letters}\begin{{document}}{drawn}\end{{document}}"
    (folder / "tables.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == 0, done.stdout[-1500:]
    # The log is broken into lines at 79 signs.
    return (folder / "tables.log").read_text(encoding="utf-8", errors="replace")


def too_large(log: str) -> list[str]:
    return re.findall(r"(?m)^(?:Overfull \\[hv]box.*|LaTeX Warning: Float too large.*)", log)


@pytest.mark.long
@needs_latex
@pytest.mark.parametrize("paper", ["", "[a4paper]", "[twocolumn]"])
def test_no_table_is_wider_than_the_text_or_taller_than_a_page(tmp_path: Path, paper: str) -> None:
    assert too_large(compiled(answers(), tmp_path, paper)) == []


PAPER_TABLES = (
    "table F, recall, precision, error, overgeneration, undergeneration for all on TST3 interval",
    "table F, recall, precision for all on TST3, TST4 interval",
    "table F for GE, UMASS, SRI on TST3 against GE exact adjust holm",
)


@needs_latex
@pytest.mark.parametrize("paper", ["", "[twocolumn]"])
def test_seventeen_systems_by_six_measures_with_intervals_are_one_float(
    sample: Session, tmp_path: Path, paper: str
) -> None:
    results = [sample.run(statement) for statement in PAPER_TABLES]
    drawn = [latex(result, Style()) for result in results]
    assert [tex.count(r"\begin{tabular}") for tex in drawn] == [1, 1, 1]
    assert [r"\begin{table*}" in tex for tex in drawn] == [True, True, False]
    assert too_large(compiled(results, tmp_path, paper)) == []


@needs_latex
@pytest.mark.parametrize("paper", ["", "[twocolumn]"])
def test_a_table_taller_than_a_page_continues_with_every_row(sample: Session, tmp_path: Path, paper: str) -> None:
    result = sample.run("score F for GE, UMASS on TST3 by document")
    drawn = latex(result, Style())
    rows = [row for part in re.findall(r"(?s)\\midrule\n(.*?)\\bottomrule", drawn) for row in part.splitlines()]
    assert len(set(rows)) == len(rows) == len(result.rows) == 200
    assert drawn.count("(continued)") == drawn.count(r"\begin{table") - 1 > 1
    assert too_large(compiled([result], tmp_path, paper)) == []


@needs_latex
@pytest.mark.long
def test_very_many_floats_are_printed(sample: Session, tmp_path: Path) -> None:
    result = sample.run('sql "select * from scores limit 1500"')
    assert too_large(compiled([result], tmp_path, "[twocolumn]")) == []


def test_the_width_of_a_table_is_a_column_or_pages(sample: Session) -> None:
    wide = "table F, recall, precision for all on TST3, TST4 interval"
    assert r"\begin{table}" in latex(sample.run(f"{wide} width column"), Style())
    assert r"\begin{longtable}" in latex(sample.run(f"{wide} width page"), Style())
    with pytest.raises(EvalhouseError, match="as wide as a column"):
        sample.run(f"{wide} width 80mm")


@pytest.mark.parametrize("form", ["latex", "typst", "markdown"])
def test_papers_write_an_index_and_how_large_the_test_sets_are(sample: Session, form: str) -> None:
    drawn = str(render(sample.run("table F, recall for GE, UMASS on TST3, TST4"), form, Style()))
    assert ("F$_1$" if form == "latex" else "F₁") in drawn
    assert "F(beta=1)" not in drawn.partition("\n")[2]
    assert "100 messages on each" in drawn or form == "markdown"
    assert drawn.index("Of 2 systems") < drawn.index("recall &" if form == "latex" else "system")


@pytest.mark.long
@needs_latex
def test_nor_is_one_with_the_longest_names_there_can_be(with_values: WithValues, tmp_path: Path) -> None:
    names = ["W" * 200, "m-" * 99, "a b " * 49 + "c", "[x]*{y}$z_%" * 18, "short", "-" * 150]
    test_sets = ["T" * 200, "news test of a year " * 9]
    session = with_values(
        (test_set.strip(), name.strip(), f"d{k}", "measure " * 12 + "M" * 60, place + k)
        for test_set in test_sets
        for place, name in enumerate(names)
        for k in range(8)
    )
    measure = '"' + "measure " * 12 + "M" * 60 + '"'
    asked = f'for all on "{test_sets[0]}", "{test_sets[1].strip()}"'
    statements = (
        f"score {measure} {asked}",
        f"compare {measure} {asked}",
        f"group {measure} {asked}",
        f'compare {measure} for all against short on "{test_sets[0]}"',
        f"table {measure} {asked} against short interval rank",
        f"table {measure} {asked} letters",
        f"score {measure} {asked} by document",
        "show systems",
    )
    results = [session.run(statement) for statement in statements]
    assert too_large(compiled(results, tmp_path)) == []


@pytest.mark.long
def test_panels_have_every_column_and_few_enough_characters() -> None:
    for statement, result in zip(STATEMENTS[:12], answers(), strict=False):
        for rectangle in unbounded_rectangles(result, Style()):
            panels = on_paper(rectangle)
            assert all(panel.width <= LINE for panel in panels), statement
            shown = [heading for panel in panels for heading in panel.headings[rectangle.keys :]]
            assert shown == list(rectangle.headings[rectangle.keys :])


def test_a_float_is_scaled_and_a_longtable_has_smaller_type(sample: Session) -> None:
    begins = {
        "table recall for all on TST3": (r"\begin{adjustbox}{max width=\linewidth}", r"\begin{tabular}{lr}"),
        "table F for all on TST3 width page": ("{", r"\setlength{\LTcapwidth}{\linewidth}"),
        "table recall, precision, F for all on TST3, TST4 width page": (
            r"{\footnotesize\setlength{\tabcolsep}{4pt}",
            r"\setlength{\LTcapwidth}{\linewidth}",
        ),
    }
    for statement, begin in begins.items():
        lines = str(render(sample.run(statement), "latex", Style())).splitlines()
        place = lines.index(begin[0])
        assert lines[place : place + 2] == [*begin]
