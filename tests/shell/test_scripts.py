"""Completion scripts for the system's shells, and the page with the arguments of the command line."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.commands import table
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.render import FORMATS

SCRIPTS = ("bash", "zsh", "fish")
PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "command-line.md").read_text(encoding="utf-8")


def script(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["completion", name]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_knows_every_command_and_every_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(name, capsys)
    words = [command.name for command in table.COMMANDS]
    dashes = "" if name == "fish" else "--"
    words += [dashes + option for option in ("format", "output", "param", "as", "dry-run", "sample", "check")]
    words += [*READERS, *(each.name for each in FORMATS)]
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_that_its_shell_can_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    file = tmp_path / "completion"
    file.write_text(script(name, capsys), encoding="utf-8")
    assert subprocess.run([name, "-n", str(file)], capture_output=True, text=True).stderr == ""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["evalhouse", "qu"], ["query"]),
        (["evalhouse", "query", "--outp"], ["--output"]),
        (["evalhouse", "query", "--format", "l"], ["latex"]),
        (["evalhouse", "--quiet", "load", "--as", "dec"], ["decisions"]),
        (["evalhouse", "completion", ""], ["bash", "zsh", "fish"]),
        (["evalhouse", "load", "sco"], ["scores.csv"]),
        (["evalhouse", "query", "--db", "sco"], ["scores.csv"]),
        (["evalhouse", "load", "scores.csv", "--as", "con"], ["conll"]),
        (["evalhouse", "export-scores", "--kind", "pub"], ["published"]),
    ],
)
def test_bash_completes(
    line: list[str], offered: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "scores.csv").touch()
    words = " ".join(f"'{word}'" for word in line)
    typed = f"{script('bash', capsys)}\nCOMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _shtab_evalhouse\n"
    done = subprocess.run(
        ["bash", "-c", typed + 'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.split() == offered


def test_the_page_shows_the_help_of_every_command() -> None:
    assert [each.name for each in table.COMMANDS if f"$ evalhouse {each.name} --help" not in PAGE] == []
