"""The citation file says what the package says of itself."""

from __future__ import annotations

import tomllib
from pathlib import Path

from evalhouse.warehouse.version import __version__

ROOT = Path(__file__).resolve().parent.parent


def test_the_citation_names_the_version_and_the_address_of_the_package() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    package = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"version: {__version__}" in lines
    assert f"url: {package['urls']['Homepage']}" in lines
    assert f"license: {package['license']}" in lines
