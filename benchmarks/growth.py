"""How the cost of loading, aggregating and testing grows with systems, documents and shuffles.

    python benchmarks/growth.py [--folder FOLDER]

generates evaluations of several sizes, asks each question within one session, and prints a Markdown table: processor
seconds, so that other users of the machine matter little, at each of three sizes (the least of three runs), and the
exponent e of the best-fitting power law, seconds ~ size^e. Loads from Parquet are separate processes, run once; the
seconds for loading a single row are subtracted.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path

# As the command has it; read when numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from generate import write
from timing import in_folder, load

from evalhouse.warehouse.session.session import Session

RUNS = 3


def warehouse(folder: Path, systems: int, documents: int) -> tuple[Path, float]:
    """A warehouse of a generated evaluation, and the seconds that loading it took."""
    file, db = folder / f"{systems}x{documents}.parquet", folder / f"{systems}x{documents}.duckdb"
    write(file, systems, documents)
    seconds = load(file, db).processor
    file.unlink()
    return db, seconds


def asked(db: Path, question: str) -> float:
    """The seconds that a question takes in an open session."""
    with Session.open(db) as session:
        session.run("show test sets")
        times = []
        for _ in range(RUNS):
            began = time.process_time()
            session.run(question)
            times.append(time.process_time() - began)
    return min(times)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of the straight line that fits the logarithms best."""
    x, y = [log(size) for size in sizes], [log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    over = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return over / sum((a - mean_x) ** 2 for a in x)


def row(work: str, grows: str, sizes: Sequence[int], measure: Callable[[int], float]) -> None:
    """Prints a row of the table."""
    times = [measure(size) for size in sizes]
    cells = " | ".join(f"{size:,}: {seconds:.3g} s" for size, seconds in zip(sizes, times, strict=True))
    print(f"| {work} | {grows} | {cells} | {exponent(sizes, times):.2f} |", flush=True)


def measure(folder: Path, args: argparse.Namespace) -> None:
    """Prints the table."""
    made: dict[tuple[int, int], tuple[Path, float]] = {}

    def of(systems: int, documents: int) -> tuple[Path, float]:
        if (systems, documents) not in made:
            made[systems, documents] = warehouse(folder, systems, documents)
        return made[systems, documents]

    def ask(systems: int, documents: int, question: str) -> float:
        return asked(of(systems, documents)[0], question)

    start = of(1, 1)[1]
    print("| work | grows | | | | exponent |\n|---|---|---|---|---|---|")
    systems, documents, few = (30, 100, 300), (3_000, 10_000, 30_000), (1_000, 3_000, 10_000)
    row("load, 10,000 documents", "systems", systems, lambda size: of(size, 10_000)[1] - start)
    row("load, 100 systems", "documents", documents, lambda size: of(100, size)[1] - start)
    score, pair, every = "score F for all on BIG", "compare F for S0001, S0002 on BIG", "compare F for all on BIG"
    row(f"`{score}`, 10,000 documents", "systems", systems, lambda size: ask(size, 10_000, score))
    row(f"`{score}`, 100 systems", "documents", documents, lambda size: ask(100, size, score))
    drawn = f"{pair} shuffles 9999"
    row("a pair, 9,999 shuffles", "documents", few, lambda size: ask(100, size, drawn))
    many = (30_000, 100_000, 300_000)
    row("a pair, counted alike in the database", "documents", many, lambda size: ask(2, size, drawn))
    shuffles = (10_000, 100_000, 1_000_000)
    row("a pair of 1,000 documents", "shuffles", shuffles, lambda size: ask(100, 1_000, f"{pair} shuffles {size}"))
    drawn_by_all = f"{every} shuffles 9999"
    row("all pairs, 1,000 documents", "systems", (25, 50, 100), lambda size: ask(size, 1_000, drawn_by_all))
    row("all pairs of 25 systems", "documents", few, lambda size: ask(25, size, drawn_by_all))
    of_all, shuffles = "all pairs of 25 systems, 1,000 documents", (10_000, 30_000, 100_000)
    row(of_all, "shuffles", shuffles, lambda size: ask(25, 1_000, f"{every} shuffles {size}"))
    row("exact F of a pair", "documents", (250, 500, 1_000), lambda size: ask(2, size, f"{pair} exact"))


if __name__ == "__main__":
    in_folder(argparse.ArgumentParser(description="measures how costs grow"), measure)
