"""How long the command takes as a whole process, compared with an empty interpreter and with importing its libraries;
and how long the same questions take in a session that has answered them before.

    python benchmarks/command_line.py

prints two Markdown tables. For whole processes: the median of several runs after one that is not counted, the least
processor time, which is more reliable on a busy machine, and for both the ratio to `python -c pass`. The page of
`serve` is its first, from the start of the process until it is read; its processor time counts until the process ends.
For a session: the least processor time of several runs.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from timing import ROOT, Spent, evalhouse, first_page, python, spent

RUNS = 15
SCORE = "score F for all on TST3"
PAIR = "compare F for GE, UMASS on TST3 shuffles 9999"
RANK = "rank F for all on TST3 shuffles 9999"
ALL_TESTS = "compare recall, precision, F, F(beta=0.5), F(beta=2) for all on TST3 shuffles 9999"
LONG = {ALL_TESTS: "five measures of all 136 pairs, 9,999 shuffles (680 tests, 680 intervals)"}

COMMANDS: dict[str, Callable[[Path], Spent]] = {
    "python -c pass": partial(spent, python("pass")),
    "what it stands on": partial(spent, python("import duckdb, numpy, lark, rich.table; duckdb.connect()")),
    "evalhouse --help": partial(spent, evalhouse("--help")),
    **{LONG.get(text, text): partial(spent, evalhouse("query", text)) for text in (SCORE, PAIR, RANK, ALL_TESTS)},
    "evalhouse serve, its first page": first_page,
}


def main() -> None:
    """Prints the tables, on the sample data, in a folder without a warehouse."""
    print("| whole process | clock, median | ratio | processor, least | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        # In turns, so that other work on the machine affects all of them equally.
        turns = [{name: command(Path(folder)) for name, command in COMMANDS.items()} for _ in range(RUNS + 1)][1:]
    clock = {name: statistics.median(turn[name].seconds for turn in turns) for name in COMMANDS}
    processor = {name: min(turn[name].processor for turn in turns) for name in COMMANDS}
    for name in COMMANDS:
        print(f"| {name} | {_beside_nothing(clock, name)} | {_beside_nothing(processor, name)} |")
    _in_session()


def _beside_nothing(seconds: dict[str, float], name: str) -> str:
    return f"{1000 * seconds[name]:.0f} ms | {seconds[name] / seconds['python -c pass']:.1f}"


def _in_session() -> None:
    sys.path.insert(0, str(ROOT))
    from evalhouse.warehouse.session.session import Session

    print("\n| asked again in a session | processor, least |\n|---|---|")
    with Session.open() as session:
        for text in (SCORE, PAIR, RANK, ALL_TESTS):
            session.run(text)
            taken = []
            for _ in range(RUNS):
                began = time.process_time()
                session.run(text)
                taken.append(time.process_time() - began)
            print(f"| {LONG.get(text, text)} | {1000 * min(taken):.1f} ms |")


if __name__ == "__main__":
    main()
