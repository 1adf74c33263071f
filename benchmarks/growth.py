"""How the cost of loading, aggregating and testing grows with systems, documents and shuffles.

    python benchmarks/growth.py [--folder FOLDER]

makes invented evaluations of several sizes, asks each within one session, and prints a markdown table: the seconds of
all processors together, so that others who use the machine count little, at each of three sizes, the least of three
runs, and the exponent e of the power that fits them best, seconds ~ size^e. Loads are processes of their own, from
Parquet, run once; of their seconds those of loading a single row are taken off.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path

# As the command has it; read when numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from generate import write

from warehouse.session import Session

ROOT = Path(__file__).resolve().parents[1]
RUNS = 3


def warehouse(folder: Path, systems: int, documents: int) -> tuple[Path, float]:
    """A warehouse of an invented evaluation and the seconds that it took to load."""
    file, db = folder / f"{systems}x{documents}.parquet", folder / f"{systems}x{documents}.duckdb"
    write(file, systems, documents)
    db.unlink(missing_ok=True)
    processor(["init", str(db)])
    seconds = processor(["load", str(file), "--as", "scores", "--db", str(db)])
    file.unlink()
    return db, seconds


def processor(words: list[str]) -> float:
    """The seconds of all processors that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, str(ROOT / "cli.py"), *words, "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def asked(db: Path, question: str) -> float:
    """The seconds that a question takes in a session that is open."""
    with Session.open(db) as session:
        session.run("show test sets")
        found = []
        for _ in range(RUNS):
            began = time.process_time()
            session.run(question)
            found.append(time.process_time() - began)
    return min(found)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The slope of the straight line that fits the logarithms best."""
    x, y = [log(size) for size in sizes], [log(each) for each in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    over = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return over / sum((a - mean_x) ** 2 for a in x)


def row(work: str, grows: str, sizes: Sequence[int], measure: Callable[[int], float]) -> None:
    """Prints a row of the table."""
    seconds = [measure(size) for size in sizes]
    cells = " | ".join(f"{size:,}: {each:.3g} s" for size, each in zip(sizes, seconds, strict=True))
    print(f"| {work} | {grows} | {cells} | {exponent(sizes, seconds):.2f} |", flush=True)


def measure(folder: Path) -> None:
    """Prints the table."""
    made: dict[tuple[int, int], tuple[Path, float]] = {}

    def of(systems: int, documents: int) -> tuple[Path, float]:
        if (systems, documents) not in made:
            made[systems, documents] = warehouse(folder, systems, documents)
        return made[systems, documents]

    start = of(1, 1)[1]
    print("| work | grows | | | | exponent |\n|---|---|---|---|---|---|")
    many, documents = (30, 100, 300), (3_000, 10_000, 30_000)
    row("load, 10,000 documents", "systems", many, lambda size: of(size, 10_000)[1] - start)
    row("load, 100 systems", "documents", documents, lambda size: of(100, size)[1] - start)
    score, pair = "score F for all on BIG", "compare F for S0001, S0002 on BIG shuffles 9999"
    row(f"`{score}`, 10,000 documents", "systems", many, lambda size: asked(of(size, 10_000)[0], score))
    row(f"`{score}`, 100 systems", "documents", documents, lambda size: asked(of(100, size)[0], score))
    row("a pair, 9,999 shuffles", "documents", (1_000, 3_000, 10_000), lambda size: asked(of(100, size)[0], pair))
    row(
        "a pair, counted alike in the database",
        "documents",
        (30_000, 100_000, 300_000),
        lambda size: asked(of(2, size)[0], pair),
    )
    row(
        "a pair of 1,000 documents",
        "shuffles",
        (10_000, 100_000, 1_000_000),
        lambda size: asked(of(100, 1_000)[0], f"compare F for S0001, S0002 on BIG shuffles {size}"),
    )
    every = "compare F for all on BIG shuffles 9999"
    row("all pairs, 1,000 documents", "systems", (25, 50, 100), lambda size: asked(of(size, 1_000)[0], every))
    row("all pairs of 25 systems", "documents", (1_000, 3_000, 10_000), lambda size: asked(of(25, size)[0], every))
    row(
        "all pairs of 25 systems, 1,000 documents",
        "shuffles",
        (10_000, 30_000, 100_000),
        lambda size: asked(of(25, 1_000)[0], f"compare F for all on BIG shuffles {size}"),
    )
    row(
        "exact F of a pair",
        "documents",
        (250, 500, 1_000),
        lambda size: asked(of(2, size)[0], "compare F for S0001, S0002 on BIG exact"),
    )


def main() -> None:
    """Measures in the folder that is named, or in a temporary one."""
    parser = argparse.ArgumentParser(description="measures how costs grow")
    parser.add_argument("--folder", type=Path, help="where files are made; else a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        measure(folder)


if __name__ == "__main__":
    main()
