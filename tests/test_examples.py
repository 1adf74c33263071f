"""The logs of the documentation are what the script beside them writes."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"


def test_the_example_logs_are_those_that_the_script_makes() -> None:
    made = dict(runpy.run_path(str(EXAMPLES / "make.py"))["files"]())
    kept = [path for path in (EXAMPLES / "results").rglob("*") if path.is_file()]
    assert made == {str(path.relative_to(EXAMPLES / "results")): path.read_text(encoding="utf-8") for path in kept}
    assert len(made) == 12
