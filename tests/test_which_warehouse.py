"""Which warehouse is used: one that is named, one in the folder, or the sample data if a person can see that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_docs import as_installed, on_a_terminal

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parent.parent
QUESTION = ("query", "score F for GE on TST3", "--format", "csv")
SAID = (
    "error: no warehouse is named, and there is no evalhouse.duckdb here\n"
    "  --db FILE names one, and --sample asks for the sample data\n"
)


def run(folder: Path, *words: str, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {name: text for name, text in os.environ.items() if name not in ("EVALHOUSE_SAMPLE", "CI")}
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), *words],
        input=typed,
        capture_output=True,
        text=True,
        cwd=folder,
        env=settings | environment,
    )


@pytest.mark.parametrize(
    "words",
    [
        QUESTION,
        (*QUESTION, "--quiet"),
        (),
        ("run", "-"),
        ("info",),
        ("mcp",),
        ("serve",),
        ("publish", "site"),
        ("export-scores", "scores.csv"),
    ],
    ids=lambda words: words[0] if words else "the shell",
)
def test_a_script_without_a_warehouse_is_an_error(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *words, typed="score F for GE on TST3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "", SAID)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("named", ["--db", "EVALHOUSE_DB"])
def test_a_warehouse_that_is_named_and_not_there_is_an_error(named: str, tmp_path: Path) -> None:
    words, settings = (["--db", "absent.duckdb"], {}) if named == "--db" else ([], {named: "absent.duckdb"})
    done = run(tmp_path, *QUESTION, *words, **settings)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: there is no warehouse absent.duckdb")


@pytest.mark.parametrize("words", [("--sample",), ("--sample", "--quiet")])
def test_who_asks_for_the_sample_data_gets_them(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *QUESTION, *words)
    assert done.returncode == 0
    assert "TST3,extraction,GE,100," in done.stdout
    assert ("sample data" in done.stderr) is ("--quiet" not in words)
    assert run(tmp_path, *QUESTION, EVALHOUSE_SAMPLE="yes").stdout == done.stdout
    assert run(tmp_path, *QUESTION, "--sample", EVALHOUSE_DB="absent.duckdb").stdout == done.stdout


def test_who_asks_for_both_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, *QUESTION, "--sample", "--db", "w.duckdb")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --db names a warehouse, but --sample asks for the sample data\n"
    done = run(tmp_path, "load", "x.csv", "--sample")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: the sample data cannot be changed")


def test_a_warehouse_in_the_folder_is_asked_by_scripts(tmp_path: Path) -> None:
    run(tmp_path, "init", "evalhouse.duckdb")
    done = run(tmp_path, "query", "show test sets", "--format", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


def test_on_a_terminal_the_sample_data_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVALHOUSE_SAMPLE", raising=False)
    monkeypatch.chdir(tmp_path)
    printed = on_a_terminal([*QUESTION], tmp_path, as_installed)
    assert "these are the sample data" in printed
    assert "TST3,extraction,GE,100," in printed


def test_the_demonstration_needs_no_warehouse(tmp_path: Path) -> None:
    done = run(tmp_path, "demo", CI="true")
    assert done.returncode == 0
    assert "F(beta=1)" in done.stdout
