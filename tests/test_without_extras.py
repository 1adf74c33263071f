"""Commands whose packages are not installed say what to install, and what needs none of them works."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import cli

PACKAGES = ("starlette", "uvicorn")


def _without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """As if packages were not installed, and nothing that needs them was imported yet."""
    for name in [name for name in sys.modules if name.startswith(("evalhouse.warehouse.web", *packages))]:
        monkeypatch.delitem(sys.modules, name)
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("package", PACKAGES)
def test_serve_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _without(monkeypatch, package)
    assert cli.main(["serve", "--sample", "--port", "0"]) != 0
    said = 'error: pages need the packages starlette and uvicorn\n  pip install "evalhouse[web]"\n'
    assert capsys.readouterr().err.endswith(said)


def test_publish_needs_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"{system},q{place},{place % 2}\n" for system in ("wren", "lark") for place in range(4)]
    (tmp_path / "quiz.csv").write_text("model,id,accuracy\n" + "".join(rows))
    database = ["--db", str(tmp_path / "w.duckdb")]
    assert cli.main(["init", str(tmp_path / "w.duckdb")]) == 0
    assert cli.main(["load", str(tmp_path / "quiz.csv"), *database]) == 0
    _without(monkeypatch, *PACKAGES)
    assert cli.main(["publish", str(tmp_path / "site"), *database]) == 0
    assert "wren" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
