"""The overhead of the language over the SQL that it compiles to: both in one process on one warehouse, in turns.

    python benchmarks/beside_sql.py WAREHOUSE [--runs 15]

prints the processor seconds of both (medians of the runs) and their ratio. `WAREHOUSE` is a file that
`benchmarks/scale.py --folder FOLDER` left as FOLDER/parquet.duckdb.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from evalhouse.warehouse.session.session import Session

SCORES = "select system_id, (2 * sum(correct) + sum(partial)) / (sum(possible) + sum(actual)) from score group by 1"


def seconds(work: Callable[[], object]) -> float:
    """The processor seconds of some work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Prints both medians and the ratio."""
    parser = argparse.ArgumentParser(description="measures what the language adds to SQL")
    parser.add_argument("warehouse", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    by_hand = duckdb.connect()
    by_hand.execute(f"attach '{args.warehouse}' as w (read_only); use w")
    with Session.open(args.warehouse) as session:
        works = (lambda: session.run("score F for all on BIG"), lambda: by_hand.execute(SCORES).fetchall())
        turns = [[seconds(work) for work in works] for _ in range(args.runs)]
    ours, hand = (statistics.median(times) for times in zip(*turns[1:], strict=True))
    print(f"score F for all on BIG: {ours:.3f} s, by hand {hand:.3f} s, ratio {ours / hand:.2f}")


if __name__ == "__main__":
    main()
