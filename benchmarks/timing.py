"""What the benchmarks share: running processes and measuring their cost. It prints nothing, and does not know about
warehouses.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

ROOT = Path(__file__).resolve().parents[1]


class Spent(Struct, frozen=True):
    """The cost of a process: wall-clock seconds, processor seconds, and peak bytes of memory."""

    seconds: float
    processor: float
    memory: int

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s ({self.processor:.2f}), {self.memory / 1e6:,.0f} MB"


def spent(command: list[str], folder: Path) -> Spent:
    """The cost of a process that runs in a folder."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=environment())
    return ended(process, began)


def first_page(folder: Path) -> Spent:
    """The cost of `evalhouse serve`: seconds until its first page is complete, and everything else until it has
    ended.
    """
    began = time.perf_counter()
    command = evalhouse("serve", "--port", "0")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment())
    assert process.stdout is not None
    with urllib.request.urlopen(process.stdout.readline().strip(), timeout=60) as page:
        page.read()
    seconds = time.perf_counter() - began
    process.send_signal(signal.SIGINT)
    return replace(ended(process, began), seconds=seconds)


def environment() -> dict[str, str]:
    """Compiled modules are kept between runs, as in an installation."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", "EVALHOUSE_SAMPLE": "yes"}


def ended(process: subprocess.Popen[Any], began: float) -> Spent:
    """The cost of a process, measured when it ends."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{process.args!r} ended with {process.returncode}")
    return Spent(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def python(code: str) -> list[str]:
    """A process that runs a line of Python."""
    return [sys.executable, "-c", code]


def evalhouse(*words: str) -> list[str]:
    """A process of the command, run as the installed command runs."""
    return [
        *python("import sys; from evalhouse.warehouse.commands.program import command; sys.exit(command())"),
        *words,
        "--quiet",
    ]


def load(file: Path, db: Path, reader: str = "scores") -> Spent:
    """The cost of loading a file of scores, or of another reader, into a new warehouse."""
    db.unlink(missing_ok=True)
    spent(evalhouse("init", str(db)), db.parent)
    return spent(evalhouse("load", str(file), "--as", reader, "--db", str(db)), db.parent)


def in_folder(parser: argparse.ArgumentParser, measure: Callable[[Path, argparse.Namespace], None]) -> None:
    """Measures in the folder given by the arguments, or in a temporary one."""
    parser.add_argument("--folder", type=Path, help="where files are made and kept; else a temporary folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.folder or Path(temporary)).absolute()
        folder.mkdir(exist_ok=True)
        measure(folder, args)
