"""What the benchmarks share: processes, and what they take. Prints nothing, and knows of no warehouse."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process took: seconds, seconds of all processors, and bytes at most."""

    seconds: float
    processor: float
    memory: int

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s ({self.processor:.2f}), {self.memory / 1e6:,.0f} MB"


def spent(command: list[str], folder: Path) -> Spent:
    """What a process takes that is run in a folder."""
    # Compiled modules are kept between runs, as an installation has them.
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "", "EVALHOUSE_SAMPLE": "yes"}
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=settings)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Spent(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def python(code: str) -> list[str]:
    """A process of a line of Python."""
    return [sys.executable, "-c", code]


def evalhouse(*words: str) -> list[str]:
    """A process of the command, as the installed one runs."""
    return [
        *python("import sys; from warehouse.commands.program import command; sys.exit(command())"),
        *words,
        "--quiet",
    ]


def load(file: Path, db: Path) -> Spent:
    """What it takes to load a file of scores into a new warehouse."""
    db.unlink(missing_ok=True)
    spent(evalhouse("init", str(db)), db.parent)
    return spent(evalhouse("load", str(file), "--as", "scores", "--db", str(db)), db.parent)


def in_folder(parser: argparse.ArgumentParser, measure: Callable[[Path, argparse.Namespace], None]) -> None:
    """Measures in the folder that the arguments name, or in a temporary one."""
    parser.add_argument("--folder", type=Path, help="where files are made and kept; else a temporary folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.folder or Path(temporary)).absolute()
        folder.mkdir(exist_ok=True)
        measure(folder, args)
