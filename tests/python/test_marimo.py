"""The marimo notebook of the documentation runs, and shows results as tables and pictures."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import evalhouse as eh

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "examples" / "marimo_notebook.py"


def test_the_notebook_runs_and_shows_tables_and_pictures() -> None:
    pytest.importorskip("marimo", reason="marimo is not installed")
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    from marimo._output.formatting import as_html

    app: Any = runpy.run_path(str(NOTEBOOK), run_name="notebook")["app"]
    outputs, defined = app.run()
    (result,) = [output for output in outputs if isinstance(output, eh.Result)]
    (picture,) = [output for output in outputs if isinstance(output, eh.Picture)]
    assert result.statement == "compare F1 for all against NYU on TST3 adjust holm"
    assert defined["better"] == ["GE"]
    assert ">UMASS</th>" in as_html(result).text
    assert "<img" in as_html(picture).text
    assert "Significantly better: GE." in as_html(outputs[-1]).text
