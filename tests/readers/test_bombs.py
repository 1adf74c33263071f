"""Small files that unpack to a hundred megabytes of data that are hard to read: each is refused or stored within the
memory that a command may use, by a process to which the system gives no more.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.staging.zstandard import zstd
from tests.counting import Count
from tests.empty import create

ROOT = Path(__file__).resolve().parents[2]

UNPACKED = 100_000_000
SHORT = {"empty lines": 10_000_000, "short rows": 5_000_000, "lists in a row": 10_000_000, "objects": 5_000_000}
"""How much a file unpacks to: less where it has so many lines or values that they take minutes to read."""

PACKED = 1_000_000

ADDRESSES = 5_000_000_000
"""What `ulimit -v` allows: libraries reserve addresses that they do not use."""

MEASURED = f"""
import pathlib, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, ({ADDRESSES}, {ADDRESSES}))
status = subprocess.run(sys.argv[1:]).returncode
pathlib.Path("held").write_text(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""
"""What starts a command within these addresses and writes down how much memory it took. It is small: to the system, a
process has taken at least as much as the one that started it.
"""

MOST = 2_000_000
"""Kilobytes of memory."""

HEADERS = {"csv": "test_set,system,document,measure,value\n", "jsonl": "", "json": "", "txt": ""}

CONTENTS = {
    "nothing but zeros": "\0",
    "one line": "x",
    "empty lines": "\n",
    "short rows": "T,S,D,m,1\n",
    "columns": "a b c d,",
    "lists in a row": "[],",
    "lists in lists": "[",
    "objects in objects": '{"a":',
    "objects": '{"doc_id":1,"metrics":["m"],"m":1}\n',
    "line ends in quotes": '"\n",',
    "letters beyond ASCII": "é🙂 ",
    "quotes": '"',
}

READERS = (
    "csv values",
    "jsonl values",
    "json values",
    "txt trec",
    "txt conll",
    "jsonl lm-eval",
    "json helm",
    "json inspect",
    "auto",
)

BOMBS = list(itertools.product(CONTENTS, READERS))
FEW = BOMBS[:: len(BOMBS) // 7]
MANY = BOMBS[:: max(1, len(BOMBS) // int(os.environ.get("EVALHOUSE_EXAMPLES", "1000")))]
"""All of them, unless EVALHOUSE_EXAMPLES=20 asks for fewer."""

WHAT = "files of at most 1 MB that unpack to 5 to 100 MB, under ulimit -v, in at most 2 GB"


def bomb(folder: Path, content: str, ending: str) -> Path:
    """A file of so much of a content, behind the header that its kind of table has."""
    file = folder / f"bomb.{ending}.zst"
    piece = (CONTENTS[content] * (1_000_000 // len(CONTENTS[content]))).encode()
    begin = "[" if content.startswith("lists in a row") else ""
    with zstd.open(file, "wb", level=3) as out:
        out.write((HEADERS[ending] + begin).encode())
        for _ in range(SHORT.get(content, UNPACKED) // len(piece)):
            out.write(piece)
    assert file.stat().st_size < PACKED
    return file


def held(folder: Path, content: str, named: str, *, unpacked: str | None) -> int:
    """How much memory a load of such a file takes, in kilobytes; it ends with a sentence."""
    ending, reader = named.split() if " " in named else ("csv", named)
    file = bomb(folder, content, ending)
    words = ["load", file.name, "--as", reader, "--db", "w.duckdb", "--set", "test_set=T", "--set", "system=S"]
    words += ["--max-unpacked", unpacked] if unpacked else []
    with (folder / "said").open("w+b") as said:
        command = [sys.executable, "-c", MEASURED, sys.executable, str(ROOT / "cli.py"), *words]
        process = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False)
        said.seek(0)
        text = said.read(4_000).decode(errors="replace")
    assert process.returncode in (0, 1, 2, 3), (content, named, process.returncode, text)
    assert "EVALHOUSE_TRACEBACK" not in text, (content, named, text)
    assert "Traceback" not in text, (content, named, text)
    return int((folder / "held").read_text())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create(tmp_path / "w.duckdb").close()
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(("content", "named"), FEW)
def test_a_bomb_is_refused_or_stored(content: str, named: str, folder: Path, count: Count) -> None:
    assert held(folder, content, named, unpacked="1GB") < MOST
    count(WHAT, 1)


@pytest.mark.long
@pytest.mark.parametrize(("content", "named"), FEW)
def test_what_is_not_allowed_takes_less(content: str, named: str, folder: Path) -> None:
    assert held(folder, content, named, unpacked=None) < MOST // 2


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_each_bomb_is_refused_or_stored(folder: Path, part: int, count: Count) -> None:
    for content, named in MANY[part::4]:
        assert held(folder, content, named, unpacked="1GB") < MOST, (content, named)
        count(WHAT, 1)
