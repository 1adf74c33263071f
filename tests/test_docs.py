"""Transcripts in the documentation are executed: a console block must show what a terminal of 100 columns shows.

`pytest --accept` rewrites the output after each `$` line. A `$ cat FILE` line makes the file that it shows, unless an
earlier command made it. A page that loads a folder of `docs/examples`, such as `results`, finds it there. Pages about
the language find the sample data in `evalhouse.duckdb`, unless they make that file.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from tests.commands import forked_commands

pytestmark = pytest.mark.docs

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIPED = re.compile(r"[^\n]*\r\x1b\[K")
PYTHON = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


Start = Callable[[list[str], Path, dict[str, str], int], Callable[[], object]]
"""Starts evalhouse with words, in a folder, with an environment and both streams; what it returns waits for the end."""


def as_installed(words: list[str], folder: Path, environment: dict[str, str], output: int) -> Callable[[], object]:
    """Starts a process as the installed command does."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), *words],
        stdout=output,
        stderr=output,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=environment,
    ).wait


@pytest.fixture(scope="module")
def forked() -> Iterator[Start]:
    """Starts a process that has imported the program already: there are hundreds of commands."""
    with forked_commands() as commands:

        def start(words: list[str], folder: Path, environment: dict[str, str], output: int) -> Callable[[], object]:
            commands.start(words, folder, environment, output)
            return commands.ended

        yield start


def on_a_terminal(words: list[str], folder: Path, start: Start) -> str:
    """What a command prints, both streams, on a terminal of 100 columns without colour."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    settings = {**os.environ, "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "100"}
    for name in ("EVALHOUSE_DB", "EVALHOUSE_SAMPLE", "CI"):
        settings.pop(name, None)
    wait = start(words, folder, settings, theirs)
    os.close(theirs)
    printed = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        printed += chunk
    os.close(ours)
    wait()
    # What was drawn to pass the time was wiped away again, as a person sees it.
    return WIPED.sub("", printed.decode().replace("\r\n", "\n"))


def replay(block: str, folder: Path, start: Start) -> str:
    """The block with each command's output as it is now."""
    lines = block.split("\n")
    replayed = []
    while lines:
        line = lines.pop(0)
        shown = []
        while lines and not lines[0].startswith("$ "):
            shown.append(lines.pop(0))
        replayed.append(line)
        words = shlex.split(line.removeprefix("$ "))
        if words[:1] == ["cat"]:
            file = folder / words[1]
            if file.exists():
                shown = file.read_text(encoding="utf-8").split("\n")
            else:
                file.parent.mkdir(exist_ok=True)
                file.write_text("\n".join(shown).rstrip("\n") + "\n", encoding="utf-8")
            replayed += [text for text in shown if text]
        elif words[:1] == ["evalhouse"]:
            printed = on_a_terminal(words[1:], folder, start)
            replayed += printed.rstrip("\n").split("\n") if printed.strip() else []
        elif line:
            pytest.fail(f"a transcript may use cat and evalhouse, not: {line}")
    return "\n".join(replayed).rstrip("\n") + "\n"


def copy_examples(text: str, folder: Path) -> None:
    """Puts the folders of `docs/examples` that a page loads where its commands run."""
    for example in (ROOT / "docs" / "examples").iterdir():
        if example.is_dir() and re.search(rf"evalhouse load {example.name}\b", text):
            shutil.copytree(example, folder / example.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_transcripts_are_true(
    page: Path, tmp_path: Path, accept: bool, warehouses: dict[str, Path], forked: Start
) -> None:
    start = as_installed if page.name == "README.md" else forked
    text = page.read_text(encoding="utf-8")
    if page.parent.name == "language" and "evalhouse init evalhouse.duckdb" not in text:
        shutil.copy(warehouses["sample"], tmp_path / "evalhouse.duckdb")
    copy_examples(text, tmp_path)
    replayed = CONSOLE.sub(lambda found: f"```console\n{replay(found[1], tmp_path, start)}```", text)
    if accept:
        page.write_text(replayed, encoding="utf-8")
    else:
        assert replayed == text


def test_the_readme_shows_no_error_and_takes_a_few_minutes_to_read() -> None:
    """A transcript that fails would be true, too."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not re.search(r"^error: ", text, re.MULTILINE)
    assert len(text.split()) <= 900


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_print_what_they_show(page: Path, tmp_path: Path, accept: bool) -> None:
    """Each block is a script of its own; a block of text behind it is what it prints."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(found: re.Match[str]) -> str:
        (tmp_path / "example.py").write_text(found[1], encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "example.py"], capture_output=True, text=True, cwd=tmp_path, env=settings, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
        shown = "" if found[2] is None else f"\n\n```text\n{done.stdout}```"
        return f"```python\n{found[1]}```{shown}"

    text = page.read_text(encoding="utf-8")
    copy_examples(text, tmp_path)
    replayed = PYTHON.sub(run, text)
    if accept:
        page.write_text(replayed, encoding="utf-8")
    else:
        assert replayed == text
