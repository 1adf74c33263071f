"""The cost of shuffling until every verdict is decided, compared with 100,000 shuffles of the same pairs, and how often
the verdicts then agree with the exact test.

    python benchmarks/deciding.py [--runs 5]

prints processor seconds (medians of alternating runs in one process) and their ratio: 136 pairs of 17 systems on the
sample data, and on generated runs of average precision on 50, 250 and 1,000 topics. Exact tests of the last undecided
pairs are included.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create

SYSTEMS = 17
TOPICS = (50, 250, 1000)


def runs_of_a_track(folder: Path) -> Path:
    """A warehouse with values of average precision: topics of varying difficulty, and systems from 0.13 to 0.44."""
    source, file = np.random.default_rng(2003), folder / "ap.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["test_set", "system", "document", "measure", "value"])
        for topics in TOPICS:
            difficulty = source.normal(0, 1.2, topics)
            for system in range(SYSTEMS):
                own = -0.25 - 1.6 * system / (SYSTEMS - 1)
                values = 1 / (1 + np.exp(-(own + difficulty + source.normal(0, 0.7, topics))))
                for topic, value in enumerate(values):
                    writer.writerow([f"T{topics}", f"run{system:02}", f"{topic:04}", "ap", f"{value:.4f}"])
    path = folder / "track.duckdb"
    with create(path) as database:
        load(database, file, "values")
    return path


def seconds(session: Session, statement: str) -> float:
    """The processor seconds of an answer."""
    began = time.process_time()
    session.run(statement)
    return time.process_time() - began


def compared(session: Session, asked: str, runs: int) -> None:
    """Prints one line: the time until decided, the time of fixed shuffles, the ratio, the most shuffles, and the number
    of pairs whose verdict differs from the exact one.
    """
    times = [[seconds(session, f"{asked}{clauses}") for clauses in ("", " shuffles 100000")] for _ in range(runs)]
    open_, fixed = (statistics.median(column) for column in zip(*times, strict=True))
    rows = session.run(asked).rows
    most = max((int(str(row["shuffles"])) for row in rows if row["shuffles"] is not None), default=0)
    exact = sum(row["method"] == "exact" for row in rows)
    undecided = sum(row["verdict"] == "undecided" for row in rows)
    print(
        f"{asked}: {open_:.2f} s until decided, {fixed:.2f} s for 100,000 shuffles, ratio {open_ / fixed:.2f}; at most "
        f"{most:,} shuffles, {exact} of {len(rows)} pairs counted exactly, {undecided} undecided",
        flush=True,
    )


def main() -> None:
    """Prints a line for each adjustment and test set."""
    parser = argparse.ArgumentParser(description="measures shuffling until every verdict is decided")
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with Session.open() as session:
        for adjustment in ("holm", "bonferroni", "bh", "maxt"):
            compared(session, f"compare F for all on TST3 adjust {adjustment}", runs)
    with tempfile.TemporaryDirectory() as folder, Session.open(runs_of_a_track(Path(folder))) as session:
        for topics in TOPICS:
            compared(session, f"compare ap for all on T{topics} adjust holm", runs)


if __name__ == "__main__":
    main()
