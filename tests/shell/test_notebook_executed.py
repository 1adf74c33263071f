"""A notebook is executed as Jupyter does it, by a kernel: its cells show tables, pictures and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

CELLS = (
    "%load_ext evalhouse",
    "%%evalhouse\nscore F1 for GE, UMASS on TST3",
    "_.to_pandas()['system'].tolist()",
    "import evalhouse as eh\nw = eh.open()\nr = w.compare('F1', 'GE', 'UMASS', on='TST3', shuffles=99)\nr",
    "r.plot()",
    "w.score('F1', 'UMAS', on='TST3')",
)


def test_a_notebook_is_executed(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = nbclient.NotebookClient(
        notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    shown: list[list[Any]] = [cell.outputs for cell in notebook.cells]
    assert ">UMASS</th>" in shown[1][0].data["text/html"]
    assert "51.61" in shown[1][0].data["text/plain"]
    assert shown[2][0].data["text/plain"] == "['GE', 'UMASS']"
    assert "randomization test" in shown[3][0].data["text/html"]
    assert "<details>" in shown[4][0].data["text/html"]
    assert shown[5][0].output_type == "error"
    assert "did you mean UMASS?" in shown[5][0].evalue
