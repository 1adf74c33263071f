"""How long a margin takes, compared with the permutation test of evalsig 0.1.2 (10,000 sign flips) on the same items.

    python -m pip install evalsig
    python benchmarks/margins.py

prints a Markdown table. Answers of two systems to 2,000 items are generated here with a fixed seed: right and wrong,
shares, and numbers that have no finite decimal form. The measurement is a statement in an open session, which fetches
the rows, computes three tests and an interval, and writes the result; and one permutation test of evalsig, of which a
gate needs two. Times are medians of seven alternating runs in this process.
"""

from __future__ import annotations

import csv
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalsig.inference.paired import paired_permutation_test

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.replacement import create

ITEMS = 2000


def answers() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The scores of two systems on each item, by kind of score."""
    source = np.random.default_rng(1992)
    right = source.random(ITEMS) < 0.8, source.random(ITEMS) < 0.79
    shares = source.integers(0, 101, ITEMS) / 100
    numbers = source.normal(10, 2, ITEMS)
    return {
        "right or wrong": (right[0].astype(float), right[1].astype(float)),
        "shares in hundredths": (shares, np.clip(np.round(shares + source.normal(0, 0.1, ITEMS), 2), 0, 1)),
        "numbers": (numbers, numbers + source.normal(0.01, 0.5, ITEMS)),
    }


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def main() -> None:
    print("| 2,000 items | evalhouse, a statement | evalsig, one permutation test | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "items.csv"
        with table.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("test_set", "system", "document", "measure", "value"))
            for kind, systems in answers().items():
                for name, values in zip("AB", systems, strict=True):
                    rows.writerows((kind, name, f"i{place}", "m", repr(v)) for place, v in enumerate(values.tolist()))
        with create(Path(folder) / "w.duckdb") as database:
            load(database, table, "values")
        with Session.open(Path(folder) / "w.duckdb") as session:
            for kind, (a, b) in answers().items():
                statement = f'compare m for A, B on "{kind}" margin 3%'
                session.run(statement)
                ours, theirs = [], []
                for _ in range(7):
                    ours.append(milliseconds(partial(session.run, statement)))
                    theirs.append(milliseconds(partial(paired_permutation_test, a, b + 0.03)))
                mine, other = statistics.median(ours), statistics.median(theirs)
                print(f"| {kind} | {mine:.1f} ms | {other:.0f} ms | {other / mine:.0f} × |", flush=True)


if __name__ == "__main__":
    main()
