"""Questions on more systems than there are letters: what people read stays a table that they can take in."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.render import Style, render
from evalhouse.warehouse.render.style import width
from evalhouse.warehouse.results import LETTERS, Result
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv
from tests.empty import create

SYSTEMS, DOCUMENTS = 60, 120

LINES = re.compile(r"^ *(\d+) +(model-\d+) +([\d.]+) +([\d, –]+)$", re.M)
"""A system in a table: its rank, name, value and groups."""


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Result]]:
    """Systems each of which is right where the next better one is, but for two documents."""
    folder = tmp_path_factory.mktemp("many")
    rows = [
        ("quiz", f"model-{system:02}", f"q{document:03}", int(document >= 2 * system))
        for system in range(SYSTEMS)
        for document in range(DOCUMENTS)
    ]
    with create(folder / "w.duckdb") as database:
        load(database, write_csv(folder / "v.csv", "test_set system document accuracy", rows), "table")
    with Session.open(folder / "w.duckdb") as session:
        yield session, session.run("group accuracy for all on quiz")


def ranges(text: str) -> set[int]:
    """The numbers of ranges: 3–5, 9."""
    found: set[int] = set()
    for part in text.split(", "):
        first, _, last = part.partition("–")
        found |= {*range(int(first), int(last or first) + 1)}
    return found


@pytest.mark.parametrize("columns", [60, 80, 120, 1000])
def test_groups_are_read_by_number(grouped: tuple[Session, Result], columns: int) -> None:
    """Two systems have a number in common exactly where they have a letter in common."""
    _, result = grouped
    assert len(result.summary) > LETTERS
    drawn = render(result, "table", Style(width=columns))
    assert max(map(width, drawn.splitlines())) <= columns
    numbers = {name: ranges(groups.strip()) for _, name, _, groups in LINES.findall(drawn)}
    letters = {str(row["system"]): {*str(row["letters"]).split()} for row in result.rows}
    assert [*numbers] == [*letters]
    for one in letters:
        for other in letters:
            assert bool(numbers[one] & numbers[other]) == bool(letters[one] & letters[other])
    # A line a system and a line a group, and not each group with all its members.
    assert len(drawn.splitlines()) < SYSTEMS + len(result.summary) + 12


def test_the_whole_table(grouped: tuple[Session, Result]) -> None:
    _, result = grouped
    lines = render(result, "table", Style(width=80)).splitlines()
    assert lines[:6] == [
        "model-00 leads in accuracy on quiz; 2 of 59 others are not significantly behind",
        "it: model-01, model-02.",
        "rank   system     accuracy   groups",
        "───────────────────────────────────",
        "   1   model-00     1.0000   1",
        "   2   model-01     0.9833   1–2",
    ]
    assert lines[SYSTEMS + 5 : SYSTEMS + 9] == [
        "group   systems   from       to           high      low   spread",
        "────────────────────────────────────────────────────────────────",
        "1             3   model-00   model-02   1.0000   0.9667   0.0333",
        "2             3   model-01   model-03   0.9833   0.9500   0.0333",
    ]


@pytest.mark.parametrize("format", ["markdown", "html", "latex", "typst"])
def test_papers_and_pages_have_the_same_numbers(grouped: tuple[Session, Result], format: str) -> None:
    _, result = grouped
    drawn = render(result, format, Style())
    assert "29–31" in drawn
    assert "model-30, model-31" not in drawn
    assert re.search(r"\bae\b", drawn) is None


def test_data_have_letters_and_all_members(grouped: tuple[Session, Result]) -> None:
    _, result = grouped
    for group in result.summary:
        members = str(group["systems"]).split(", ")
        assert (group["size"], group["best"], group["worst"]) == (len(members), members[0], members[-1])
        assert {row["system"] for row in result.rows if group["letter"] in str(row["letters"]).split()} == {*members}


def test_pairs_of_very_many_systems_are_cut_after_a_block(
    grouped: tuple[Session, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalhouse.warehouse.render.console.MOST_ROWS", 100)
    session, _ = grouped
    result = session.run("compare accuracy for all on quiz")
    drawn = render(result, "table", Style(width=80))
    cut = re.search(r"the first 1 of (\d+) blocks of pairs; group and rank sum them up, --format tsv", drawn)
    assert cut is not None
    assert drawn.count("model-59") == 1
    assert "blocks of pairs" not in render(result, "table", Style(width=1000))
