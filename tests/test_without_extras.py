"""Commands whose packages are not installed say what to install, and what needs none of them works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ("starlette", "uvicorn")

WITHOUT = """
import sys
for package in sys.argv.pop(1).split(","):
    sys.modules[package] = None
import cli
sys.exit(cli.main(sys.argv[1:]))
"""
"""The command line in a process in which some packages cannot be imported."""


def without(packages: tuple[str, ...], *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, ",".join(packages), *words],
        capture_output=True, text=True, timeout=120, cwd=ROOT,
    )  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_serve_says_what_to_install(package: str) -> None:
    done = without((package,), "serve", "--sample", "--port", "0")
    assert done.returncode != 0
    assert done.stderr.endswith(
        'error: pages need the packages starlette and uvicorn\n  pip install "evalhouse[web]"\n'
    )


def test_publish_needs_no_server(tmp_path: Path) -> None:
    rows = [f"{system},q{place},{place % 2}\n" for system in ("wren", "lark") for place in range(4)]
    (tmp_path / "quiz.csv").write_text("model,id,accuracy\n" + "".join(rows))
    database = ("--db", str(tmp_path / "w.duckdb"))
    for words in (("init", database[1]), ("load", str(tmp_path / "quiz.csv"), *database)):
        assert without(PACKAGES, *words).returncode == 0
    assert without(PACKAGES, "publish", str(tmp_path / "site"), *database).returncode == 0
    assert "wren" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
