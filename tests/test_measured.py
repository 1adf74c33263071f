"""What the documentation promises of tests and intervals is what benchmarks measured: its tables are those that
`benchmarks/kept` has, and its figures stand in the tables that they link to.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import coverage, validity

ROOT = Path(__file__).resolve().parent.parent
KEPT = sorted((ROOT / "benchmarks" / "kept").glob("*.txt"))
MEASURED = re.compile(r"<!-- \[\[\[cog cog\.outl\(tables\.measured\(.*?\)\) \]\]\] -->\n(.*?)<!-- \[\[\[end", re.DOTALL)
GENERATED = re.compile(r"^<!-- \[\[\[cog .*?<!-- \[\[\[end\]\]\] -->$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]*)#([^)\s]*)\)")
FIGURE = re.compile(r"(?<![\w.–-])(\d+(?:\.\d+)?%|\d*\.\d+)(?!\w)")

CONVENTIONS = {"5%", "95%", ".05", "0.05"}
"""The levels of tests and intervals, which nobody measures."""

PAGES: Mapping[str, tuple[str, ...]] = {
    "README.md": ("python3 (3.11 or later", "Apache License 2.0."),
    "docs/index.md": (),
    "docs/language/index.md": ("a share of 0.7 of the documents",),
    "docs/choosing.md": ("requested confidence, .99",),
    "docs/language/agree.md": (),
    "docs/language/clusters.md": (),
    "docs/language/compare.md": (
        *("a 90% interval at level", "A − 0.95·B", "A − 1.05·B", "section 2.1"),
        *("is right on 2% of all questions", "In 78% of samples", "18% at 15 documents and 2% at 150"),
    ),
    "docs/language/curve.md": (),
    "docs/language/differ.md": (),
    "docs/language/intervals.md": ("section 2.6", "(39% with the level"),
    "docs/language/looking-more-than-once.md": (
        *("right on 70% of the items", "21% with 39 looks, 14% with 8, 4% with one"),
    ),
    "docs/language/power.md": (
        *("a power is at most 1.1 points", "about 75% power", "with five, 15.4", "the middle 90%"),
        *("error .016", "error .015"),
    ),
    "docs/language/project.md": ("from 0.000001 to 0.999999",),
    "docs/language/rank.md": (),
    "docs/language/tests.md": ("the level 0.015625",),
    "docs/language/what-the-tests-test.md": ("a precision of 0.5", "the other to 40%"),
}
"""The pages that say how often tests and intervals are wrong, or find what is there; and parts of their sentences with
figures of another kind: formulae, sections of papers, what is simulated.
"""


def words_of(kept: Path) -> tuple[ModuleType, list[str]]:
    """The benchmark that a kept output names, and the arguments."""
    first = kept.read_text(encoding="utf-8").partition("\n")[0]
    dollar, python, script, *arguments = shlex.split(first)
    assert (dollar, python) == ("$", "python"), first
    assert (ROOT / script).is_file(), first
    return importlib.import_module(f"benchmarks.{Path(script).stem}"), arguments


class AcceptedError(Exception):
    """A benchmark takes the arguments, and does not start."""


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.stem)
def test_a_kept_output_begins_with_a_command_that_can_be_run(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark, arguments = words_of(kept)
    parse = argparse.ArgumentParser.parse_args

    def only_parse(parser: argparse.ArgumentParser) -> None:
        parse(parser)
        raise AcceptedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    monkeypatch.setattr(sys, "argv", [kept.stem, *arguments])
    with pytest.raises(AcceptedError):
        benchmark.main()


def cells(table: str) -> list[list[str]]:
    """The rows of a Markdown table without its headings."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def kept_row(name: str, *begin: str) -> list[str]:
    """The row of a kept table that begins with these cells."""
    kept = (ROOT / "benchmarks" / "kept" / f"{name}.txt").read_text(encoding="utf-8")
    (found,) = (row for table in TABLE.findall(kept) for row in cells(table) if row[: len(begin)] == list(begin))
    return found


@pytest.mark.long
def test_items_asked_again_and_again_are_those_that_were_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = ROOT / "benchmarks" / "kept" / "asked.txt"
    benchmark, arguments = words_of(kept)
    monkeypatch.setattr(sys, "argv", ["looks.py", *arguments])
    benchmark.main()
    assert capsys.readouterr().out == kept.read_text(encoding="utf-8").partition("\n")[2]


@pytest.mark.long
def test_coverage_of_few_items_is_the_one_that_was_kept() -> None:
    (design,) = (design for design in coverage.DESIGNS if design.name == "items, 95% against 90% right")
    _, arguments = words_of(ROOT / "benchmarks" / "kept" / "differences.txt")
    sets = int(arguments[arguments.index("--sets") + 1])
    assert coverage.coverage(design, 6, sets).cell(0) == kept_row("differences", design.name)[1]


@pytest.mark.long
def test_the_size_of_tests_of_ten_documents_is_the_one_that_was_kept() -> None:
    tests = ("randomization", "studentized", "bootstrap", "sign", "t")
    assert validity.sizes(tests, "recall", 10, 0.1, 2000) == kept_row("unequal", "recall", "10", "10%")[3:]


@pytest.mark.parametrize("page", PAGES)
def test_no_table_of_figures_is_written_by_hand(page: str) -> None:
    written = BLOCK.sub("", GENERATED.sub("", (ROOT / page).read_text(encoding="utf-8")))
    for table in TABLE.findall(written):
        filled = [cell for line in cells(table) for cell in line]
        figures = [cell for cell in filled if FIGURE.match(cell)]
        assert 2 * len(figures) < len(filled), f"{page}: {table.splitlines()[0]}"


def sections(page: Path) -> dict[str, str]:
    """The text under each heading of a page, by its anchor."""
    parts = HEADING.split(page.read_text(encoding="utf-8"))
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-"): text
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def measured_in(page: Path, anchor: str) -> list[float]:
    """The figures of the tables in a section that benchmarks printed, shares as parts of 1."""
    found = FIGURE.findall("\n".join(MEASURED.findall(sections(page).get(anchor, ""))))
    return [float(figure.rstrip("%")) / (100 if "%" in figure else 1) for figure in found]


def is_among(figure: str, measured: list[float]) -> bool:
    """Whether a figure is one of these, as far as its digits go."""
    digits = len(figure.rstrip("%").partition(".")[2])
    factor = 100 if "%" in figure else 1
    return any(abs(factor * each - float(figure.rstrip("%"))) <= 0.5 * 10**-digits + 1e-9 for each in measured)


def running_text(page: Path) -> str:
    """A page without tables, blocks, code and line breaks."""
    written = page.read_text(encoding="utf-8")
    for part in (GENERATED, BLOCK, TABLE, re.compile(r"`[^`\n]*`")):
        written = part.sub("", written)
    return " ".join(written.split())


def test_a_figure_stands_in_the_table_that_it_links_to() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for text, target, anchor in LINK.findall(running_text(page)):
            figures = FIGURE.findall(text)
            if figures:
                measured = measured_in(page.parent / target if target else page, anchor)
                assert all(is_among(figure, measured) for figure in figures), (
                    f"{page.name}: [{text}]({target}#{anchor})"
                )


@pytest.mark.parametrize("page", PAGES)
def test_a_figure_that_is_no_convention_links_to_its_table(page: str) -> None:
    text = running_text(ROOT / page)
    for part in PAGES[page]:
        assert part in text, f"{page} no longer has: {part}"
        text = text.replace(part, "")
    unlinked = [figure for figure in FIGURE.findall(LINK.sub("", text)) if figure not in CONVENTIONS]
    assert not unlinked, f"{page}: {unlinked}"
