"""The gallery shows each picture with the statement that draws it."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_each_picture_of_the_gallery_stands_over_the_statement_that_draws_it() -> None:
    studies = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "pictures").glob("*.study"))
    drawn = {name: statement for statement, name in re.findall(r'^(plot .*) to "(\w+\.svg)";$', studies, re.MULTILINE)}
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"\(pictures/(\w+\.svg)\)\n\n```evalhouse\n(.*)\n```", gallery)
    assert dict(shown) == drawn
    assert len(shown) == len(drawn)
    # No statement draws the picture of the schema, and that of looks is drawn by its benchmark.
    assert {path.name for path in (DOCS / "pictures").glob("*.svg")} == {*drawn, "schema.svg", "looks.svg"}
