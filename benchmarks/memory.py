"""The memory that statements take.

    python benchmarks/memory.py [--large] [--folder FOLDER]

makes the warehouses it needs in a folder (a temporary one, unless a folder is named, which keeps them) and prints a
Markdown table: the peak of a process that answers the statement with `--format csv`, and the seconds of all
processors. With `--large`, also all pairs of a thousand systems on 10,000 documents, and a million
shuffles of a million documents with a million different values.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from generate import write
from timing import evalhouse, in_folder, load, spent

SIZES = ((2, 1_000), (20, 1_000), (100, 1_000), (300, 3_000), (20, 30_000), (2, 300_000))
STATEMENTS = (
    "compare F for S0001, S0002 on BIG",
    "compare F for all on BIG",
    "compare F for all against S0001 on BIG shuffles 9999",
)
OF_ALL_KINDS = (
    "compare F, precision, recall for all on BIG shuffles 9999",
    "compare F for all on BIG test studentized shuffles 9999",
    "compare F for all on BIG adjust maxt shuffles 9999",
    "compare recall for all on BIG margin 1% shuffles 9999",
    "compare F for all on BIG interval percentile shuffles 9999",
    "group F for all on BIG",
    "rank F for all on BIG shuffles 9999",
)
"""Asked of a hundred systems."""


def values(file: Path, documents: int) -> None:
    """Two systems with a value of their own on each document, no two alike."""
    source = np.random.default_rng(1992)
    ease = source.random(documents)
    names = pa.array([f"D{number:07d}" for number in range(documents)])
    tables = [
        pa.table(
            {
                "test_set": pa.array(["BIG"] * documents),
                "system": pa.array([system] * documents),
                "document": names,
                "measure": pa.array(["quality"] * documents),
                "value": ease + more + source.normal(0.0, 0.1, documents),
            }
        )
        for system, more in (("A", 0.0), ("B", 0.0002))
    ]
    pyarrow.parquet.write_table(pa.concat_tables(tables), file)


def apart(make: Callable[..., None], *given: object) -> None:
    """Makes a file in a process of its own, because a process that is measured begins with the memory of this one."""
    process = multiprocessing.get_context("spawn").Process(target=make, args=given)
    process.start()
    process.join()


def made(folder: Path, systems: int, documents: int) -> Path:
    """A warehouse of so many systems and documents."""
    db = folder / f"{systems}x{documents}.duckdb"
    if not db.exists():
        apart(write, db.with_suffix(".parquet"), systems, documents)
        load(db.with_suffix(".parquet"), db)
    return db


def of_values(folder: Path, documents: int) -> Path:
    """A warehouse of two systems with values."""
    db = folder / f"values-{documents}.duckdb"
    if not db.exists():
        apart(values, db.with_suffix(".parquet"), documents)
        load(db.with_suffix(".parquet"), db, "values")
    return db


def row(statement: str, of: str, db: Path) -> None:
    """Prints a row of the table."""
    one = spent(evalhouse("query", statement, "--db", str(db), "--format", "csv"), db.parent)
    print(f"| `{statement}` | {of} | {one.memory / 1e6:,.0f} MB | {one.processor:,.1f} s |", flush=True)


def measure(folder: Path, args: argparse.Namespace) -> None:
    """Prints the table."""
    print("| statement | of | memory | processors |\n|---|---|---|---|")
    for systems, documents in SIZES:
        db, of = made(folder, systems, documents), f"{systems:,} × {documents:,}"
        for statement in STATEMENTS[: 1 if systems == 2 else 3]:
            row(statement, of, db)
    for statement in OF_ALL_KINDS:
        row(statement, "100 × 1,000", made(folder, 100, 1_000))
    row("compare quality for A, B on BIG shuffles 9999", "2 × 300,000 values", of_values(folder, 300_000))
    if args.large:
        row("compare F for all on BIG", "1,000 × 10,000", made(folder, 1_000, 10_000))
        million = of_values(folder, 1_000_000)
        row("compare quality for A, B on BIG shuffles 1000000", "2 × 1,000,000 values", million)


def main() -> None:
    """Measures in the folder that is named, or in a temporary one."""
    parser = argparse.ArgumentParser(description="measures the memory that statements take")
    parser.add_argument("--large", action="store_true", help="also the two largest cases, which take minutes")
    in_folder(parser, measure)


if __name__ == "__main__":
    main()
