"""The page of words that mean something else elsewhere: which names of measures are on it, and that none is nowhere."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from evalhouse.warehouse.measures import MEASURES, Measure

LANGUAGE = Path(__file__).parent.parent / "docs" / "language"

ROWS = {
    (word.casefold(), of): elsewhere
    for words, of, elsewhere in re.findall(
        r"^\| (`[^|]*?) \| ([^|]*?) \| .*? \| (.*) \| .*? \|$", (LANGUAGE / "words.md").read_text(), re.MULTILINE
    )
    for word in re.findall("`([^`]+)`", words)
}
"""What each word means elsewhere, by the word in small letters and what it is of here."""


def measures_by_word() -> dict[str, list[Measure]]:
    named = defaultdict(list)
    for measure in MEASURES:
        for word in dict.fromkeys((measure.name.casefold(), *map(str.casefold, measure.also))):
            named[word].append(measure)
    return named


@pytest.mark.parametrize(("word", "meant"), measures_by_word().items())
def test_a_word_of_several_measures_is_on_the_page_for_each(word: str, meant: list[Measure]) -> None:
    """Whoever comes from the field of one of them knows no other."""
    if len(meant) > 1:
        assert [measure.kind for measure in meant if (word, measure.kind) not in ROWS] == []


@pytest.mark.parametrize("word", measures_by_word())
def test_every_name_and_synonym_of_a_measure_is_explained_on_a_page(word: str) -> None:
    pages = (LANGUAGE / name for name in ("words.md", "measures.md", "rankings.md", "samples.md"))
    named = re.compile(rf"`{re.escape(word)}[`@(]", re.IGNORECASE)
    assert any(named.search(page.read_text()) for page in pages)


@pytest.mark.parametrize("row", ROWS)
def test_what_a_word_means_elsewhere_is_said(row: tuple[str, str]) -> None:
    assert len(ROWS[row].split()) >= 5
