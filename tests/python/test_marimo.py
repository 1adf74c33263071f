"""The marimo notebook of the documentation runs, and shows results as tables and pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import json, runpy
from marimo._output.formatting import as_html

outputs, defined = runpy.run_path("docs/examples/marimo_notebook.py", run_name="notebook")["app"].run()
shown = [as_html(output).text for output in outputs if output is not None]
print(json.dumps([defined["answer"].statement, defined["better"], shown]))
"""
"""In a process of its own, for marimo changes how IPython shows things."""


def test_the_notebook_runs_and_shows_tables_and_pictures() -> None:
    pytest.importorskip("marimo", reason="marimo is not installed")
    pytest.importorskip("vl_convert", reason="vl-convert is not installed")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=ROOT)
    statement, better, (choices, table, picture, verdict) = json.loads(done.stdout)
    assert statement == "compare F1 for all against NYU on TST3 adjust holm"
    assert better == ["GE"]
    assert choices.count("<marimo-dropdown") == 3
    assert ">UMASS</th>" in table
    assert "<img" in picture
    assert "Significantly better: GE." in verdict
