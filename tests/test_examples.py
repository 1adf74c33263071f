"""The data of the tutorials are what the script beside them writes."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "docs" / "examples"


def text(path: Path) -> str:
    """What is in a file, which may be compressed."""
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def test_the_data_of_the_tutorials_are_those_that_the_script_makes() -> None:
    made = {
        f"{folder}/{name}": content
        for folder, files in runpy.run_path(str(EXAMPLES / "make.py"))["folders"]()
        for name, content in files
    }
    kept = [path for path in EXAMPLES.glob("*/**/*") if path.is_file() and path.suffix != ".pyc"]
    assert made == {str(path.relative_to(EXAMPLES)): text(path) for path in kept}
    assert sum(name.startswith("results/") for name in made) == 12
