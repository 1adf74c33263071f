"""The version in the citation file is the current version."""

from __future__ import annotations

from pathlib import Path

from evalhouse.warehouse.version import __version__


def test_the_citation_names_the_version() -> None:
    citation = Path(__file__).resolve().parent.parent / "CITATION.cff"
    assert f"\nversion: {__version__}\n" in citation.read_text(encoding="utf-8")
