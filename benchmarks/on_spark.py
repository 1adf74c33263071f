"""Measures a lake that Spark answers from beside the file that it was made of, in an open session each: seconds of all
processors, with Java's and those of Spark's workers, and on the clock. Several processes, each with a Spark of its own;
the least of each figure.

    evalhouse copy big.duckdb big.lake
    python benchmarks/on_spark.py big.duckdb big.lake
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from evalhouse.warehouse.session.session import Session

QUESTIONS = ("score F for all on BIG", "compare F for S0001, S0002 on BIG")
AGAIN = 3
"""How often each question is asked; the first and the last time are printed."""


Taken = tuple[float, float]
"""Seconds of all processors, and on the clock."""


def spent_by(process: int) -> float:
    """The seconds of all processors that a process and its children have taken."""
    own = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task").glob("*/children")
    running = [int(child) for of_thread in children for child in of_thread.read_text().split()]
    return sum(map(int, own[11:15])) / os.sysconf("SC_CLK_TCK") + sum(map(spent_by, running))


def taken(work: Callable[[], object]) -> Taken:
    """What some work takes."""
    began, spent = time.perf_counter(), spent_by(os.getpid())
    work()
    return spent_by(os.getpid()) - spent, time.perf_counter() - began


def measured(open_session: Callable[[], Session]) -> list[Taken]:
    """What it takes to open a session, and then to ask each question the first and the last time."""
    sessions: list[Session] = []
    took = [taken(lambda: sessions.append(open_session()))]
    for question in QUESTIONS:
        times = [taken(partial(sessions[0].run, question)) for _ in range(AGAIN)]
        took += [times[0], times[-1]]
    sessions[0].close()
    return took


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="measures Spark beside DuckDB")
    parser.add_argument("file", type=Path)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--one", choices=("duckdb", "spark"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        opening = {"duckdb": lambda: Session.open(args.file), "spark": lambda: Session.on_lake(args.lake, args.master)}
        print(json.dumps(measured(opening[args.one])))
        return
    rows: dict[str, list[list[Taken]]] = {"duckdb": [], "spark": []}
    for _ in range(args.times):
        for engine, of_engine in rows.items():
            command = [sys.executable, __file__, str(args.file), str(args.lake), "--master", args.master]
            of_engine.append(json.loads(subprocess.check_output([*command, "--one", engine])))
    names = ["opening", *(f"`{question}`, {when}" for question in QUESTIONS for when in ("first", "third"))]
    print("| | DuckDB | Spark |\n|---|---|---|")
    for place, name in enumerate(names):
        least = [[min(times) for times in zip(*(one[place] for one in rows[engine]), strict=True)] for engine in rows]
        cells = [f"{processors:.2f} s ({clock:.2f})" for processors, clock in least]
        print(f"| {name} | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    main()
