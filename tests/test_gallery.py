"""Each picture of the documentation is there for light pages and for dark ones, and each statement that has a picture
shows one on its page.
"""

from __future__ import annotations

import re

import pytest

from docs.drawings import DOCS, PICTURES
from evalhouse.warehouse.statements.pictures import PICTURES as DRAWN

STEMS = [picture.name for picture in PICTURES]


def test_each_picture_has_a_light_file_and_a_dark_one() -> None:
    files = {path.stem for path in (DOCS / "pictures").glob("*.svg")}
    # The picture of the schema has its script, and that of looks, which suits both, its benchmark.
    assert files == {f"{name}{dark}" for name in (*STEMS, "schema") for dark in ("", "-dark")} | {"looks"}


@pytest.mark.parametrize("word", DRAWN)
def test_a_statement_that_has_a_picture_shows_one_on_its_page(word: str) -> None:
    page = (DOCS / "language" / f"{word}.md").read_text(encoding="utf-8")
    statements = {picture.name: picture.statement for picture in PICTURES}
    shown = [statements[name] for name in re.findall(r"\]\(\.\./pictures/(\w+)\.svg\)", page)]
    assert shown
    assert all(statement.startswith(f"plot {word} ") for statement in shown)
