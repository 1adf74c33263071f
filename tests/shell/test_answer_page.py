"""`.open` without an argument: shows the last result as a page of its own, which is removed when the shell ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from evalhouse.warehouse.render import Style
from evalhouse.warehouse.results import Column, Result, Table
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.shell.pager import MOST_ROWS, page
from evalhouse.warehouse.shell.repl import Shell


@pytest.fixture
def shell(warehouses: dict[str, Path]) -> Iterator[Shell]:
    shell = Shell(Session.open(warehouses["sample"]), format="table", digits=None, colour=False, quiet=False)
    yield shell
    shell.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that the browser was given."""
    files: list[Path] = []

    def browse(url: str) -> bool:
        files.append(Path(unquote(urlsplit(url).path)))
        return True

    monkeypatch.setattr("webbrowser.open", browse)
    return files


def test_the_last_result_is_a_page_until_the_shell_ends(
    shell: Shell, opened: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for line in ("score F for GE on TST3", ".open", "plot group F for GE, UMASS on TST3 exact", ".open"):
        shell.do(line)
    first, second = (file.read_text(encoding="utf-8") for file in opened)
    assert "56.01" in first
    assert "<svg" in second.partition("<main")[2]
    assert str(opened[1]) in capsys.readouterr().err
    assert opened[0].parent.stat().st_mode & 0o077 == 0
    shell.close()
    assert not opened[0].parent.exists()


def test_a_page_needs_nothing_else(shell: Shell, opened: list[Path]) -> None:
    shell.do("compare F for GE, UMASS, SRI on TST3 exact")
    shell.do(".open")
    text = opened[0].read_text(encoding="utf-8")
    hrefs = re.findall(r'(?:href|src)="([^"]*)"', text)
    assert all(href.startswith(("data:", "#")) or href == opened[0].name for href in hrefs)
    assert "<form" not in text


def test_there_is_no_page_before_there_is_a_result(
    shell: Shell, opened: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shell.do(".open")
    assert capsys.readouterr().err.startswith("error: there is no result yet")
    assert opened == []


def test_where_there_is_no_browser_the_file_is_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    shell.do("show tests")
    shell.do(".open")
    assert re.search(r"no browser could be opened; the page is (\S+\.html) until you leave", capsys.readouterr().err)


def test_a_long_table_is_cut_and_says_so() -> None:
    rows = tuple((f"d{k}",) for k in range(MOST_ROWS + 5))
    drawn = page(Result("s", "c", "", Table((Column("document", "name"),), rows)), Style(), "a.html")
    assert f"the first {MOST_ROWS:,} of {MOST_ROWS + 5:,} rows" in drawn
    assert f">d{MOST_ROWS - 1}<" in drawn
    assert f">d{MOST_ROWS}<" not in drawn


def test_names_are_no_markup() -> None:
    table = Table((Column("system", "name"),), (("<script>alert(1)</script>",),))
    drawn = page(Result("</title><img src=x>", "</h2><img src=x>", "", table), Style(), "a.html")
    assert "<script>" not in drawn
    assert "<img" not in drawn
