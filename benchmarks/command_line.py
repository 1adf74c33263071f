"""How long the command takes as a whole process, beside an interpreter that does nothing and the libraries it needs.

    python benchmarks/command_line.py

prints a markdown table: the median of several runs after one that is not counted, its ratio to `python -c pass`, and
the least processor time, which says more on a machine that is busy.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from timing import evalhouse, python, spent

RUNS = 7
PAIR = "compare F for GE, UMASS on TST3 shuffles 9999"
ALL_TESTS = "compare recall, precision, F, F(beta=0.5), F(beta=2) for all on TST3 shuffles 9999"

COMMANDS = {
    "python -c pass": python("pass"),
    "import numpy, duckdb, lark": python("import numpy, duckdb, lark"),
    "evalhouse --help": evalhouse("--help"),
    "score F for all on TST3": evalhouse("query", "score F for all on TST3"),
    PAIR: evalhouse("query", PAIR),
    "five measures of all 136 pairs, 9,999 shuffles (680 tests, 680 intervals)": evalhouse("query", ALL_TESTS),
}


def main() -> None:
    """Prints the table, on the sample data, in a folder that holds no warehouse."""
    print("| whole process | median | ratio | processor, least |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        runs = {name: [spent(command, Path(folder)) for _ in range(RUNS + 1)][1:] for name, command in COMMANDS.items()}
    times = {name: statistics.median(run.seconds for run in several) for name, several in runs.items()}
    for name, several in runs.items():
        seconds, processor = times[name], min(run.processor for run in several)
        ratio = seconds / times["python -c pass"]
        print(f"| {name} | {1000 * seconds:.0f} ms | {ratio:.1f} | {1000 * processor:.0f} ms |")


if __name__ == "__main__":
    main()
