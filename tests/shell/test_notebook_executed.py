"""Notebooks executed by a kernel, as in Jupyter: cells show tables, pictures, errors, and progress."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


EAGER = "import evalhouse.warehouse.render.progress as progress\nprogress.PATIENCE = 0.0"
"""A cell after which the line is shown from the beginning, and not after a second."""

LONG = "compare F1, recall, precision for all on TST3 test studentized shuffles 10000000"
"""Would take minutes."""


def executed(folder: Path, *cells: str) -> Any:
    """The outputs of such cells, executed by a kernel of their own."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(
        notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    nbformat.validate(notebook)
    return [cell.outputs for cell in notebook.cells]


def test_a_notebook_is_executed(tmp_path: Path) -> None:
    shown: list[list[Any]] = executed(tmp_path, *CELLS)
    assert ">UMASS</th>" in shown[1][0].data["text/html"]
    assert "51.61" in shown[1][0].data["text/plain"]
    assert shown[2][0].data["text/plain"] == "['GE', 'UMASS']"
    assert "randomization test" in shown[3][0].data["text/html"]
    assert "<details>" in shown[4][0].data["text/html"]
    assert shown[5][0].output_type == "error"
    assert "did you mean UMASS?" in shown[5][0].evalue


def test_of_how_far_a_cell_was_nothing_is_saved(tmp_path: Path) -> None:
    """Neither of a cell of statements nor of one of Python, and what the cell itself prints stays."""
    question = "compare F1 for GE, UMASS on TST3 test studentized shuffles 2000000"
    shown = executed(
        tmp_path,
        "%load_ext evalhouse",
        EAGER,
        f"%%evalhouse\n{question}",
        f"import evalhouse as eh\nw = eh.open()\nprint('before')\nr = w.run('{question}')\nprint(r.rows[0]['verdict'])",
    )
    assert {output.output_type for output in shown[2]} == {"display_data", "execute_result"}
    assert [output.data.keys() for output in shown[2] if output.data] == [{"text/plain", "text/html"}]
    before, *lines, after = shown[3]
    assert (before.text, after.text) == ("before\n", "not significant\n")
    assert lines
    assert all((line.output_type, line.data) == ("display_data", {}) for line in lines)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """A kernel and its client."""
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    manager = pytest.importorskip("jupyter_client", reason="jupyter_client is not installed").KernelManager()
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def told_by(client: Any, wanted: str) -> Iterator[dict[str, Any]]:
    """What the kernel publishes until a cell is done; of the kinds that are `wanted`."""
    while True:
        message = client.get_iopub_msg(timeout=120)
        if message["msg_type"] in wanted.split():
            yield message["content"]
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return


@pytest.mark.parametrize("where", ["the sample data", "a file"])
def test_a_long_cell_says_how_far_it_is_and_can_be_interrupted(
    where: str, kernel: tuple[Any, Any], warehouses: dict[str, Path]
) -> None:
    manager, client = kernel
    opened = "" if where == "the sample data" else repr(str(warehouses["sample"]))
    client.execute_interactive(f"{EAGER}\nimport evalhouse as eh\nw = eh.open({opened})", timeout=120)
    client.execute(f"w.run('{LONG}')")
    drawn: list[str] = []
    errors: list[str] = []
    interrupted = False
    for content in told_by(client, "display_data update_display_data error"):
        if "ename" in content:
            errors.append(content["ename"])
            continue
        drawn.append(content["data"].get("text/plain", ""))
        if "░" in drawn[-1] and not interrupted:
            interrupted = True
            manager.interrupt_kernel()
    assert any(re.fullmatch(r"[█░]{30} +\d+% \d+ s, interrupting the kernel stops it", line) for line in drawn)
    assert drawn[-1] == ""
    assert errors == ["KeyboardInterrupt"]
    client.execute("print(w.score('F1', 'GE', on='TST3').rows[0]['documents'])")
    assert "100\n" in [content["text"] for content in told_by(client, "stream")]
