"""Tables in Typst, as its compiler sets them: for every statement, none wider than the text, and with names that look
like markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.render.rectangle import unbounded_rectangles
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.session.session import Session
from tests.test_formats import RESULTS
from tests.test_latex import answers

pytestmark = pytest.mark.xdist_group("typeset")  # the answers for all, with those of test_latex.py

TEXT_WIDTH = 453.6
"""Points of a line where nothing is said of the page."""

MEASURING = (
    f"#show table: it => context {{ let size = measure(it, width: {TEXT_WIDTH}pt); "
    "[#metadata(size.width.pt()) <width>]; it }\n"
)
"""Has the compiler note how wide each table is on a line."""


def widths(results: Sequence[Result], folder: Path) -> list[float]:
    """The widths of the tables of some results. Raises an error of the compiler where one is wrong."""
    typst = pytest.importorskip("typst")
    document = folder / "tables.typ"
    drawn = "".join(str(render(result, "typst", Style())) for result in results)
    document.write_text(MEASURING + drawn, encoding="utf-8")
    assert typst.compile(str(document), format="pdf").startswith(b"%PDF")
    found: list[float] = json.loads(typst.query(str(document), "<width>", field="value"))
    return found


@pytest.mark.long
def test_no_table_is_wider_than_the_text(tmp_path: Path) -> None:
    measured = widths(answers(), tmp_path)
    assert len(measured) >= len(answers())
    assert max(measured) <= TEXT_WIDTH


def test_names_that_are_markup_and_long_ones_are_names(tmp_path: Path) -> None:
    assert max(widths([*RESULTS.values()], tmp_path)) <= TEXT_WIDTH


@pytest.mark.parametrize("name", RESULTS)
def test_every_cell_is_a_string(name: str) -> None:
    """What is between the rules of a table are its cells, headings and rows, each a string or around one."""
    drawn = str(render(RESULTS[name], "typst", Style()))
    written = {bytes(part, "utf-8") for part in _strings(drawn)}
    shown = {
        " ".join(text.split())
        for rectangle in unbounded_rectangles(RESULTS[name], Style())
        for row in rectangle.rows
        for text in row
    }
    lacking = [text for text in shown if text.encode() not in written and f"−{text[1:]}".encode() not in written]
    assert lacking == []


def _strings(drawn: str) -> list[str]:
    found = re.findall(r'"((?:[^"\\]|\\(?:["\\]|u\{200b\}))*)"', drawn)
    return [" ".join(re.sub(r"\\([\"\\])", r"\1", text.replace(r"\u{200b}", "")).split()) for text in found]


def test_a_label_is_that_of_the_figure() -> None:
    with Session.open() as session:
        drawn = str(render(session.run('table F for GE, UMASS on TST3 label "tab:muc4"'), "typst", Style()))
    assert "\n) <tab:muc4>\n" in drawn
