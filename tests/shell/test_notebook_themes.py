"""The output in notebooks is readable in each theme, light or dark, trusted or with its styles removed."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import evalhouse as eh
from tests.browsing import MARKS, prefers

TABLE = "table F1, recall for GE, UMASS, SRI against UMASS on TST3, TST4 shuffles 999 interval"

PAGES = {
    '<body data-jp-theme-light="true">': "light",
    '<body data-jp-theme-light="false">': "dark",
    '<body class="vscode-light">': "light",
    '<body class="vscode-dark">': "dark",
    '<body class="vscode-high-contrast">': "dark",
    '<body class="vscode-high-contrast-light vscode-high-contrast">': "light",
    '<body class="dark">': "dark",
    "<body>": "normal",
}
"""How pages of Jupyter, of VS Code and of marimo say which theme they have, and one that says nothing."""


class Texts(HTMLParser):
    """The texts of the cells of a table, as they are read where nothing is styled."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data.strip("\n")


def test_marks_are_said_once_where_styles_are_taken_away() -> None:
    """GitHub does so, and JupyterLab in notebooks that it does not trust."""
    with eh.open() as w:
        shown = w.run(TABLE)._repr_html_()
    texts = Texts()
    texts.feed(re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL).split("</table>")[0])
    assert "57.83‡ ±7.54" in texts.cells
    assert "46.35 ±8.35" in texts.cells


def test_nothing_runs_and_nothing_is_loaded() -> None:
    with eh.open() as w:
        result = w.score("F1", "GE", "UMASS", on="TST3")
        shown = result._repr_html_() + result.plot()._repr_html_()
    assert not re.search(r"<script|<link|<iframe|\son\w+=|https?://|@import|url\(", shown)


class TestBrowser:
    pytestmark = MARKS

    def test_a_picture_is_as_dark_as_its_notebook(self, tmp_path: Path, browser: Any) -> None:
        pytest.importorskip("vl_convert", reason="vl-convert is not installed")
        with eh.open() as w:
            shown = w.score("F1", "GE", "UMASS", on="TST3").plot()._repr_html_()
        schemes = {}
        prefers(browser, prefers_color_scheme="light")
        for body in PAGES:
            page = tmp_path / "page.html"
            page.write_text(f"<!doctype html><meta charset=utf-8>{body}{shown}</body>", encoding="utf-8")
            browser.get(page.as_uri())
            schemes[body] = browser.execute_script("return getComputedStyle(document.querySelector('img')).colorScheme")
        assert schemes == PAGES
