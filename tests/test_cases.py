"""Goldens: each case in tests/cases/*.case is a query and what it prints. `pytest --accept` rewrites them to the
current output.

A case is

    ## what it shows
    data: worked            (the warehouse; the sample data where there is no such line)
    format: table           (the format; table where there is no such line)
    takes: seconds          (it is among the slow tests)
    > the query, on as many lines as it takes
    what is printed on standard output, then after a line of dashes on standard error, then `exit N` unless it is 0
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from msgspec import Struct

import cli

FOLDER = Path(__file__).parent / "cases"


class Case(Struct, frozen=True):
    title: str
    data: str
    format: str
    takes: str
    query: str
    printed: str

    def text(self, printed: str) -> str:
        lines = [f"## {self.title}"]
        lines += [f"data: {self.data}"] if self.data != "sample" else []
        lines += [f"format: {self.format}"] if self.format != "table" else []
        lines += [f"takes: {self.takes}"] if self.takes else []
        lines += [f"> {line}".rstrip() for line in self.query.split("\n")]
        return "\n".join([*lines, printed.rstrip("\n")])


def read(path: Path) -> list[Case]:
    cases = []
    for block in path.read_text(encoding="utf-8").split("\n## ")[0:]:
        lines = block.removeprefix("## ").strip("\n").split("\n")
        title, rest = lines[0], lines[1:]
        settings = {"data": "sample", "format": "table", "takes": ""}
        while rest and rest[0].split(":")[0] in settings:
            key, _, value = rest.pop(0).partition(": ")
            settings[key] = value
        query = []
        while rest and rest[0].startswith(">"):
            query.append(rest.pop(0)[2:])
        cases.append(Case(title, **settings, query="\n".join(query), printed="\n".join(rest) + "\n"))
    return cases


FILES = sorted(FOLDER.glob("*.case"))
CASES = [(path, case) for path in FILES for case in read(path)]


Copies = dict[str, tuple[Path, object]]
"""By data, a copy that cases ask, and what it was like when it was made."""


@pytest.fixture(scope="module")
def copies() -> Copies:
    return {}


def copy(data: str, copies: Copies, warehouses: dict[str, Path], folder: Path) -> Path:
    """A copy of a warehouse as it is in the beginning: another one where the case before changed the last one."""
    path, unchanged = copies.get(data, (folder, None))
    if unchanged is None or state(path) != unchanged:
        path = Path(shutil.copyfile(warehouses[data], folder / f"{data}.duckdb"))
        copies[data] = path, state(path)
    return path


def state(path: Path) -> object:
    """What changes with a file, or with a log beside it."""
    return [(file.name, file.stat().st_ino, file.stat().st_mtime_ns) for file in sorted(path.parent.glob("*.duckdb*"))]


def run(case: Case, mine: Path, capsys: pytest.CaptureFixture[str]) -> str:
    status = cli.main(["query", case.query, "--format", case.format, "--db", str(mine)])
    out, err = capsys.readouterr()
    if case.format == "json" and out:
        # On one line nobody could read what changed.
        out = "".join(json.dumps(json.loads(line), ensure_ascii=False, indent=1) + "\n" for line in out.splitlines())
    return out + (f"----\n{err}" if err else "") + (f"exit {status}\n" if status else "")


@pytest.mark.parametrize(
    ("path", "case"),
    [
        pytest.param(path, case, id=f"{path.stem}: {case.title}", marks=[pytest.mark.long] if case.takes else [])
        for path, case in CASES
    ],
)
def test_case(
    path: Path,
    case: Case,
    warehouses: dict[str, Path],
    copies: Copies,
    accept: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    printed = run(case, copy(case.data, copies, warehouses, tmp_path), capsys)
    if accept:
        text = path.read_text(encoding="utf-8")
        old = case.text(case.printed)
        if old not in text:
            pytest.fail(f"{case.title}: the case is not written in the canonical way")
        path.write_text(text.replace(old, case.text(printed)), encoding="utf-8")
    else:
        assert printed == case.printed


def test_there_are_cases_and_their_titles_are_unique() -> None:
    titles = [(path.stem, case.title) for path, case in CASES]
    assert titles
    assert len(titles) == len(set(titles))
