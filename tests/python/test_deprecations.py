"""Deprecated names still work, warn once with the replacement, and are listed in docs/python.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import evalhouse
import warehouse

ROOT = Path(__file__).resolve().parent.parent.parent
INSTEAD = "warehouse.open is deprecated since 0.1.0; write evalhouse.open, which has a method for each statement"


def test_the_older_door_says_that_there_is_a_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=f"^{re.escape(INSTEAD)}$") as warnings:
        warehouse.open().close()
    assert [warning.filename for warning in warnings] == [__file__]
    assert callable(evalhouse.open)


@pytest.mark.long
def test_a_place_is_told_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import warehouse\nfor _ in range(3):\n    warehouse.open().close()\nwarehouse.open().close()\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert [line.split(": ", 1) for line in done.stderr.splitlines() if INSTEAD in line] == [
        [f"{script}:{line}", f"DeprecationWarning: {INSTEAD}"] for line in (3, 4)
    ]


@pytest.mark.long
def test_nothing_else_warns(tmp_path: Path) -> None:
    """A program that uses the present names runs with every warning made an error."""
    script = tmp_path / "script.py"
    script.write_text("import evalhouse as eh\nwith eh.open() as w:\n    w.score('F1', 'all', on='TST3')\n")
    done = subprocess.run([sys.executable, "-W", "error", str(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_page_lists_all_that_is_deprecated() -> None:
    sources = [*(ROOT / "warehouse").rglob("*.py"), *(ROOT / "grammar").rglob("*.py"), ROOT / "evalhouse.py"]
    warning = [path for path in sources if "DeprecationWarning" in path.read_text(encoding="utf-8")]
    assert warning == [ROOT / "warehouse" / "__init__.py"]
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    listed = page.split("## What is deprecated", 1)[1].split("\n## ", 1)[0]
    assert re.findall(r"^\| `(.*?)` \| `(.*?)` \| (.*?) \|$", listed, flags=re.MULTILINE) == [
        ("warehouse.open(path)", "evalhouse.open(path)", "0.1.0")
    ]
