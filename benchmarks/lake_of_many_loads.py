"""Measures how long a lake of many small loads takes to open and to ask, before and after `compact`: the least of five,
in a process that has imported everything.

    python benchmarks/lake_of_many_loads.py new.lake --loads 1000

The loads are made in one working copy, so that making them does not take an hour. Each is a change of its own, with its
own files; only the Delta tables for other programs get all of them at once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from evalhouse.warehouse.kinds.records import FACT_TABLES
from evalhouse.warehouse.lake.delta import paths
from evalhouse.warehouse.lake.log import LOAD, add, read_log
from evalhouse.warehouse.lake.maintenance import compact
from evalhouse.warehouse.lake.making import make_lake
from evalhouse.warehouse.lake.place import LakePlace, place_of
from evalhouse.warehouse.lake.states import (
    GROWING,
    NAMES,
    Working,
    before,
    change_of,
    here,
    open_lake,
    settle,
    working_copy,
)
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory

HEADER = "test_set,system,document,possible,actual,correct,partial\n"


def filled(place: LakePlace, loads: int) -> None:
    """Loads files of one system with twenty documents each."""
    with temporary() as scratch:
        files = [scratch / f"{number}.csv" for number in range(loads)]
        log = read_log(place)
        with working_copy(place, log.last, scratch, files) as working:
            for number, file in enumerate(files):
                file.write_text(HEADER + "".join(f"T,S{number},d{k},9,9,{(number + k) % 10},0\n" for k in range(20)))
                load(working.database, file, "scores")
                change = change_of(working, LOAD)
                place.put(working.drafts, paths(change.added))
                log = add(place, log, change)
                log.table.update_incremental()
                working.base = log.last
                goes_on(working)
        settle(place, log)


def goes_on(working: Working) -> None:
    """Makes what the working copy has the base of the next load."""
    for table in NAMES:
        if table in GROWING:
            [(last,)] = working.database.rows("select coalesce(max(id), 0) from " + here(table))
            working.last[table] = int(last)
        else:
            working.database.run("create or replace table " + before(table) + " as from " + here(table))
    for table in FACT_TABLES:
        working.database.run("delete from " + here(table))


def least(work: Callable[[], object]) -> float:
    """The fewest seconds on the clock, of five times."""
    took = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def measured(place: LakePlace, when: str) -> None:
    """Prints a row of the table."""
    files = len(read_log(place).last.files)
    log = least(lambda: read_log(place))
    opened = least(lambda: open_lake(place).close())
    with Session(open_lake(place)) as session:
        asked = least(lambda: session.run("score F for all"))
    print(f"| {when} | {files:,} | {log:.3f} s | {opened:.3f} s | {asked:.3f} s |", flush=True)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="measures a lake of many small loads")
    parser.add_argument("lake", type=Path)
    parser.add_argument("--loads", type=int, default=1000)
    args = parser.parse_args()
    place = place_of(args.lake)
    if not place.is_lake():
        filled(make_lake(args.lake, "init", lambda folder: in_memory()), args.loads)
    print("| lake | files | reading the changes | opening | `score F for all` |\n|---|---:|---:|---:|---:|")
    measured(place, f"{args.loads:,} loads")
    began = time.perf_counter()
    compact(place)
    took = time.perf_counter() - began
    measured(place, f"after `compact`, which took {took:.1f} s")


if __name__ == "__main__":
    main()
