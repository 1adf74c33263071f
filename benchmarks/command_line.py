"""How long the command takes as a whole process, beside an interpreter that does nothing and the libraries it needs.

    python benchmarks/command_line.py

prints a markdown table: the median of several runs after one that is not counted, and the ratio to `python -c pass`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 7
EVALHOUSE = [sys.executable, "-c", "import sys, cli; sys.exit(cli.command())"]
"""As the installed command does."""
ALL_TESTS = "compare recall, precision, F, F(beta=0.5), F(beta=2) for all on TST3 shuffles 9999"

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy, duckdb, lark": [sys.executable, "-c", "import numpy, duckdb, lark"],
    "evalhouse --help": [*EVALHOUSE, "--help"],
    "score F for all on TST3": [*EVALHOUSE, "query", "score F for all on TST3", "--quiet"],
    "compare F for GE, UMASS on TST3 shuffles 9999": [
        *EVALHOUSE,
        "query",
        "compare F for GE, UMASS on TST3 shuffles 9999",
        "--quiet",
    ],
    "five measures of all 136 pairs, 9,999 shuffles (680 tests, 680 intervals)": [
        *EVALHOUSE,
        "query",
        ALL_TESTS,
        "--quiet",
    ],
}


def median(command: list[str], folder: Path) -> float:
    """The median time of a command in seconds."""
    # Compiled modules are kept between runs, as an installation has them.
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    times = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder, env=settings)
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def main() -> None:
    """Prints the table, on the sample data, in a folder that holds no warehouse."""
    print("| whole process | median | ratio |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        times = {name: median(command, Path(folder)) for name, command in COMMANDS.items()}
    nothing = times["python -c pass"]
    for name, seconds in times.items():
        print(f"| {name} | {1000 * seconds:.0f} ms | {seconds / nothing:.1f} |")


if __name__ == "__main__":
    main()
