"""How long measures of rankings take and how much memory they need, compared with ir_measures on the same data in the
same run.

    python benchmarks/rankings.py [--systems 20] [--topics 100] [--items 1000] [--judged 200] [--alone]

prints a Markdown row. One statement asks for ten measures of every system, from an open warehouse on disk. For
comparison, ir_measures evaluates the same runs, which it gets as dictionaries, its fastest input. The values of both
agree to 1e-9. Data are generated with a fixed seed. Times are the least of three runs. `--alone` leaves ir_measures out
and prints the peak memory of the process, which includes generating the data.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import create
from evalhouse.warehouse.store.sql import Sql

MEASURES = ("AP", "nDCG@10", "nDCG", "P@10", "R@100", "RR", "Rprec", "Bpref", "Success@5", "AP@100")
"""The measures of trec_eval, which ir_measures computes in one call."""


def made(path: Path, systems: int, topics: int, items: int, judged: int) -> None:
    """A warehouse of runs and judgments. Each topic has a pool with five times as many items as a run ranks."""
    pool = 5 * items

    def ranges(last: str, many: int) -> str:
        return f"range(1, {topics + 1}) t(topic), range(1, {many + 1}) p({last})"

    # A step without a common divisor with the pool size gives a different item at each position.
    item = f"topic * 1009 % 1000003 * {pool} + (hash(topic, system) % {pool} + place * 7919) % {pool}"
    with create(path) as database:
        for statement in (
            "insert into import values (1, 'made', '', 'trec', '{}', now()::timestamp, 0, '', false)",
            "insert into test_set values (1, 0, 'T')",
            f"insert into system select i, 's' || i from range(1, {systems + 1}) s(i)",
            f"insert into document select i, 1, 't' || i from range(1, {topics + 1}) t(i)",
            f"insert into ranking select 1, system, topic, (({item}) % 2000000000)::integer, place, {items} - place, 1 "
            f"from range(1, {systems + 1}) s(system), {ranges('place', items)} order by all",
            "insert into judgment select 1, topic, "
            f"((topic * 1009 % 1000003 * {pool} + j * 13 % {pool}) % 2000000000)::integer, hash(topic, j) % 4, 1 "
            f"from {ranges('j', judged)}",
        ):
            database.run(Sql(statement))


def as_dictionaries(database: Database) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments by topic, and runs by system and topic, in the form that ir_measures takes."""
    grades: dict[str, dict[str, int]] = {}
    for topic, item, grade in database.rows(Sql("select document_id, item_id, grade from judgment")):
        grades.setdefault(str(topic), {})[str(item)] = grade
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for system, topic, item, score in database.rows(Sql("select system_id, document_id, item_id, score from ranking")):
        runs.setdefault(f"s{system}", {}).setdefault(str(topic), {})[str(item)] = score
    return grades, runs


def by_ir_measures(grades: dict[str, Any], runs: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The means of the measures, by system and measure."""
    import ir_measures

    asked = [ir_measures.parse_measure(measure) for measure in MEASURES]
    evaluator = ir_measures.evaluator(asked, grades)
    return {
        system: {str(measure): value for measure, value in evaluator.calc_aggregate(run).items()}
        for system, run in runs.items()
    }


def seconds(work: Callable[[], object]) -> float:
    """The least wall-clock time of three runs."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    """Prints the row."""
    parser = argparse.ArgumentParser(description="measures of rankings beside ir_measures")
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--judged", type=int, default=200)
    parser.add_argument("--alone", action="store_true")
    args = parser.parse_args()
    statement = f"score {', '.join(MEASURES)} for all on T"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.duckdb"
        made(path, args.systems, args.topics, args.items, args.judged)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        with Session.open(path) as session:
            ours = seconds(lambda: session.run(statement))
            values = {str(row["system"]): row for row in session.run(statement).rows}
        size = f"{args.systems} runs × {args.topics:,} topics × {args.items:,} items"
        if args.alone:
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(f"| {size} | {ours:.2f} s | {most:,} MB, {before:,} MB before it was asked |")
            return
        with open_database(path) as database:
            grades, runs = as_dictionaries(database)
        theirs = seconds(lambda: by_ir_measures(grades, runs))
        for system, wanted in by_ir_measures(grades, runs).items():
            for measure, value in wanted.items():
                assert abs(float(values[system][measure]) - value) < 1e-9, (system, measure)  # type: ignore[arg-type]
        print(f"| {size} | {ours:.2f} s | {theirs:.2f} s, {theirs / ours:.0f} times as long |")


if __name__ == "__main__":
    main()
