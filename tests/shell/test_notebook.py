"""Cells of a notebook: results as tables, mistakes as sentences."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("IPython", reason="IPython is not installed")


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython() or sys.modules["IPython"].get_ipython()
    # Loaded afresh, so that each test has a session of its own.
    shell.run_line_magic("reload_ext", "warehouse.notebook")
    return shell


def test_the_last_result_is_the_value_of_the_cell(notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = notebook.run_cell_magic("evalhouse", "", "score F for GE on TST3;\nlet $x = UMASS; score F for $x on TST3")
    assert result.rows[0]["system"] == "UMASS"
    assert "<td>UMASS</td>" in result._repr_html_()
    assert "GE" in capsys.readouterr().out
    assert notebook.run_line_magic("evalhouse", "score F for $x on TST3").rows[0]["system"] == "UMASS"


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
