"""Cells of a notebook: results as tables, errors as sentences."""

from __future__ import annotations

import re
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import evalhouse

pytest.importorskip("IPython", reason="IPython is not installed")


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython() or sys.modules["IPython"].get_ipython()
    # Loaded afresh, so that each test has a session of its own.
    shell.run_line_magic("reload_ext", "evalhouse")
    # As in Jupyter; IPython on a terminal shows text alone.
    monkeypatch.setattr(shell.display_formatter.formatters["text/html"], "enabled", True)
    return shell


def html_of(shell: Any, result: Any) -> str:
    """A result as the notebook shows it, where it is the value of a cell."""
    return str(shell.display_formatter.format(result)[0]["text/html"])


def test_a_session_of_a_cell_shows_its_results_without_an_extension(notebook: Any) -> None:
    formatter = notebook.display_formatter.formatters["text/html"]
    formatter.type_printers.clear()
    formatter.deferred_printers.clear()
    done = notebook.run_cell('import evalhouse\nw = evalhouse.open()\nw.run("score F for GE on TST3")')
    assert ">GE</th>" in html_of(notebook, done.result)


def test_the_last_result_is_the_value_of_the_cell(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = notebook.run_cell_magic("evalhouse", "", "score F for GE on TST3;\nlet $x = UMASS; score F for $x on TST3")
    assert result.rows[0]["system"] == "UMASS"
    assert ">UMASS</th>" in html_of(notebook, result)
    assert "GE" in capsys.readouterr().out
    assert notebook.run_line_magic("evalhouse", "score F for $x on TST3").rows[0]["system"] == "UMASS"


def test_a_plot_is_a_picture_with_its_numbers_folded_up(notebook: Any) -> None:
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    shown = html_of(notebook, notebook.run_line_magic("evalhouse", "plot score F for GE, UMASS on TST3"))
    found = re.search(r'<img src="data:image/svg\+xml;base64,([^"]+)" alt="Ranked dots[^"]*" [^>]*>\s*<details>', shown)
    assert found
    drawn = b64decode(found[1]).decode()
    assert "UMASS" in drawn
    assert "prefers-color-scheme: dark" in drawn


def test_a_plot_without_the_extra_says_what_is_missing(notebook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    shown = html_of(notebook, notebook.run_line_magic("evalhouse", "plot score F for GE, UMASS on TST3"))
    assert (
        "<p>writing a picture to a file needs the package vl-convert-python; pip install &quot;evalhouse[plot]&quot;"
        in shown
    )
    assert ">UMASS</th>" in shown


def test_the_value_of_a_cell_is_a_result_as_python_has_it(notebook: Any) -> None:
    result = notebook.run_cell_magic("evalhouse", "", "score F for GE on TST3")
    assert isinstance(result, evalhouse.Result)
    assert result.plot().chart.title == "F(beta=1) on TST3"
    assert "<details>" in html_of(notebook, result.plot())


def completed(shell: Any, text: str) -> list[str]:
    """What Tab offers at the end of a cell, as the cell would then be."""
    from IPython.core.completer import provisionalcompleter

    with provisionalcompleter():
        offers = list(shell.Completer.completions(text, len(text)))
    return [text[: offer.start] + offer.text for offer in offers]


@pytest.mark.long
@pytest.mark.parametrize(
    ("cell", "whole"),
    [
        ("%%evalhouse\nscore F for GE on TS", "%%evalhouse\nscore F for GE on TST3"),
        ("%%evalhouse w.duckdb\nscore F;\ncomp", "%%evalhouse w.duckdb\nscore F;\ncompare"),
        ("%evalhouse score F for UM", "%evalhouse score F for UMASS"),
        ("%%evalhouse\ncompare F for GE, UMASS on TST3 exch", None),
    ],
)
def test_statements_are_completed(cell: str, whole: str | None, notebook: Any) -> None:
    offered = completed(notebook, cell)
    assert (whole or cell + "ange by") in offered
    assert not [offer for offer in completed(notebook, "import os\nos.pa") if "TST3" in offer]


def test_a_cell_names_its_warehouse(notebook: Any, warehouses: dict[str, Path]) -> None:
    result = notebook.run_cell_magic("evalhouse", str(warehouses["worked"]), "score recall for A on abc")
    assert result.rows[0]["test_set"] == "abc"


@pytest.mark.parametrize(
    ("file", "cell", "said"),
    [
        ("", "score F for UMAS on TST3", "did you mean UMASS?"),
        ("absent.duckdb", "show tests", "absent.duckdb"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_no_traceback(
    file: str, cell: str, said: str, notebook: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert notebook.run_cell_magic("evalhouse", file, cell) is None
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told
