"""What tests count, and the table of docs/reliability.md that is made from it: what was done, how often, how often it
failed, and the test that does it. It runs nothing; `make soak` does.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Protocol

from msgspec import Struct

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- what `make soak` printed -->\n", "<!-- end -->\n"


class Count(Protocol):
    """Adds to what was done, and to how often of these it failed."""

    def __call__(self, what: str, times: int, failed: int = 0) -> None: ...


class Figure(Struct):
    """How often something was done, and how often that failed."""

    times: int = 0
    failed: int = 0


class Figures:
    """By test file and by what was done there."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str, str], Figure] = {}

    def add(self, file: str, what: str, times: int, failed: int) -> None:
        """Adds to a figure."""
        figure = self._figures.setdefault((file, what), Figure())
        figure.times += times
        figure.failed += failed

    def as_rows(self) -> list[tuple[str, str, int, int]]:
        """What one process tells another, and what is drawn: file, what, times, failed."""
        return [(*key, figure.times, figure.failed) for key, figure in sorted(self._figures.items())]

    def table(self, seconds: float) -> str:
        """The figures as Markdown, below the sentence that says where they were measured and how long it took."""
        import duckdb

        where = (
            f"Measured in {seconds / 60:.0f} minutes on {os.cpu_count()} processors, with Python "
            f"{platform.python_version()} and DuckDB {duckdb.__version__}."
        )
        rows = [f"| {what} | {times:,} | {failed:,} | `{file}` |" for file, what, times, failed in self.as_rows()]
        return "\n".join([where, "", "| what | how often | failed | where |", "|---|---:|---:|---|", *rows, ""])


def put_into_page(table: str) -> None:
    """Replaces the table of the page by what was printed."""
    text = PAGE.read_text(encoding="utf-8")
    marks = re.escape(BEGIN) + ".*" + re.escape(END)
    assert re.search(marks, text, flags=re.DOTALL)
    PAGE.write_text(re.sub(marks, lambda _: BEGIN + table + END, text, flags=re.DOTALL), encoding="utf-8")
