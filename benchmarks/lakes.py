"""Measures a lake beside the file that it was made of, in turns: the same questions in an open session and as
processes, the least of several each.

    evalhouse copy big.duckdb big.lake
    python benchmarks/lakes.py big.duckdb big.lake
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from evalhouse.warehouse.session.session import Session

QUESTIONS = ("score F for all", "compare F for S0001, S0002 on BIG", "show systems")


def in_session(session: Session, question: str) -> float:
    """Seconds on the clock."""
    began = time.perf_counter()
    session.run(question)
    return time.perf_counter() - began


def as_process(path: Path, question: str) -> float:
    """Seconds on the clock, with the start of the process."""
    command = [sys.executable, "-m", "evalhouse", "query", question, "--db", str(path), "--format", "csv"]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="measures a lake beside the file that it was made of")
    parser.add_argument("file", type=Path)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--times", type=int, default=5)
    args = parser.parse_args()
    both = (args.file, args.lake)
    sessions = [Session.open(path) for path in both]
    print("| question | file | lake | ratio |\n|---|---|---|---|")
    for question in QUESTIONS:
        least = [
            min(of)
            for of in zip(*([in_session(s, question) for s in sessions] for _ in range(args.times)), strict=True)
        ]
        print(f"| `{question}`, in a session | {least[0]:.3f} s | {least[1]:.3f} s | {least[1] / least[0]:.2f} |")
    for question in QUESTIONS:
        least = [
            min(of) for of in zip(*([as_process(p, question) for p in both] for _ in range(args.times)), strict=True)
        ]
        print(f"| `{question}`, as a process | {least[0]:.3f} s | {least[1]:.3f} s | {least[1] / least[0]:.2f} |")


if __name__ == "__main__":
    main()
