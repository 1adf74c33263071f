"""The table of docs/reliability.md is made from what tests count."""

from __future__ import annotations

import re

from tests.counting import BEGIN, END, PAGE, Figures

ROOT = PAGE.parent.parent
ROW = re.compile(r"^\| (.+) \| ([\d,]+) \| ([\d,]+) \| `(.+)` \|$")


def test_figures_are_added_up_by_file_and_drawn_with_what_failed() -> None:
    figures = Figures()
    figures.add("tests/b.py", "kills", 1_000, 0)
    figures.add("tests/a.py", "bits flipped", 2, 1)
    figures.add("tests/b.py", "kills", 500, 2)
    assert figures.table(90).splitlines()[2:] == [
        "| what | how often | failed | where |",
        "|---|---:|---:|---|",
        "| bits flipped | 2 | 1 | `tests/a.py` |",
        "| kills | 1,500 | 2 | `tests/b.py` |",
    ]


def test_every_row_of_the_page_is_of_a_test_that_is_there() -> None:
    page = PAGE.read_text(encoding="utf-8")
    printed = page[page.index(BEGIN) + len(BEGIN) : page.index(END)]
    rows = [match for line in printed.splitlines() if (match := ROW.match(line))]
    assert rows
    for row in rows:
        assert (ROOT / row[4]).is_file(), row[0]
        assert row[3] == "0", row[0]
