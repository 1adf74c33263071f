"""How often all rank sets contain their true ranks together, and how long `rank` takes.

    python benchmarks/ranks.py [--sets 400] [--only time | equal | unequal]

prints three Markdown tables. Seeds are fixed.

- `time`: 100 systems on five test sets of 1,000 documents, in an open session.
- `equal`: how often all rank sets are right, for answers to a number of items, right or wrong, from systems that share
  a part of what makes an item hard. Their true values are all alike, alike within groups, alike but for one, or apart.
  A set of systems counts if no system is called better than one that is truly as good or better, so that every true
  rank, with ties resolved either way, is in its set.
- `unequal`: the same for five systems of the same true value, one of which answers a share of the documents, at least
  one, by the default test and by randomization, the worst row first.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from itertools import permutations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.few_answers import MEASURES
from benchmarks.tables import heads, row
from benchmarks.validity import adjusted
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.multiple import westfall_young
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.store.replacement import create

LEVEL = 0.05
SHUFFLES = 999


def shapes(systems: int) -> dict[str, list[float]]:
    """The true shares of right answers, for each relation between the systems."""
    return {
        "all alike": [0.6] * systems,
        "groups of ties": [0.5 + 0.08 * (place % 3) for place in range(systems)],
        "one better": [0.75] + [0.6] * (systems - 1),
        "apart": [0.4 + 0.4 * place / systems for place in range(systems)],
    }


def covered(shares: list[float], items: int, sets: int) -> float:
    """The share of simulated evaluations in which no system is wrongly called better."""
    truth = np.array(shares)
    pairs = list(permutations(range(len(shares)), 2))
    wrong = np.array([truth[a] <= truth[b] for a, b in pairs])
    source = np.random.default_rng([1992, len(shares), items])
    held = 0
    for place in range(sets):
        hard = source.random(items)
        own = source.random((len(shares), items))
        # Half of the variance of an item is common to all systems, the other half is each system's own.
        mixed = np.where(source.random((len(shares), items)) < 0.5, hard[None, :], own)
        right = (mixed < truth[:, None]).astype(np.int64)
        many = Sums.of_ratios(right, np.ones_like(right))
        levels = westfall_young(many, pairs, Draws(SHUFFLES, 1992, place), "one-sided")
        held += not (wrong & (levels <= LEVEL)).any()
    return held / sets


# --- one system answers few documents ---------------------------------------------------------------------------------

FIVE = tuple(permutations(range(5), 2))


def unequal(sets: int) -> None:
    """Coverage of the sets of five systems of the same value, one of which answers a share of the documents."""
    tests, rows = ("studentized", "randomization"), []
    for measure, (drawn, sizes) in MEASURES.items():
        for share in (1.0, 0.3, 0.1):
            for documents in sizes:
                held = [0, 0]
                for place in range(sets):
                    many = drawn(np.random.default_rng((7, documents, round(100 * share), place)), documents, share)
                    draws = Draws(SHUFFLES, 1992, place)
                    for column, test in enumerate(tests):
                        held[column] += not (adjusted(many, FIVE, test, "one-sided", draws) <= LEVEL).any()
                rows.append((measure, share, documents, [count / sets for count in held]))
    heads("measure", "answered", "documents", "all sets hold", "with `test randomization`")
    for measure, share, documents, found in sorted(rows, key=lambda row: row[3]):
        row(measure, f"{share:.0%}", documents, *(f"{one:.3f}" for one in found))


def equal(sets: int) -> None:
    """Coverage where all systems answer everything."""
    heads("systems", "items", *shapes(5))
    for systems in (5, 20):
        for items in (50, 200):
            found = [covered(shares, items, sets) for shares in shapes(systems).values()]
            row(systems, items, *(f"{share:.3f}" for share in found))


def duration() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "values.csv"
        source = np.random.default_rng(3)
        with table.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("test_set", "system", "document", "measure", "value"))
            for test_set in range(5):
                hard = source.random(1000)
                for system in range(100):
                    right = (0.5 * hard + 0.5 * source.random(1000) < 0.4 + 0.003 * system).astype(int).tolist()
                    rows.writerows(
                        (f"t{test_set}", f"s{system:02}", f"d{place}", "m", v) for place, v in enumerate(right)
                    )
        with create(Path(folder) / "w.duckdb") as database:
            load(database, table, "values")
        heads("100 systems, 1,000 documents", "seconds of processor")
        with Session.open(Path(folder) / "w.duckdb") as session:
            for statement in (
                "rank m for all on all over test sets",
                "rank m for all on all over test sets adjust nemenyi",
                "rank m for all on t0 shuffles 999",
                "rank m for all on all shuffles 999",
            ):
                session.run(statement.replace("999", "99"))
                began = time.process_time()
                session.run(statement)
                row(f"`{statement}`", f"{time.process_time() - began:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--only", choices=("time", "equal", "unequal"), help="one of the tables")
    asked = parser.parse_args()
    if asked.only in (None, "time"):
        duration()
        print()
    if asked.only in (None, "equal"):
        equal(asked.sets)
        print()
    if asked.only in (None, "unequal"):
        unequal(asked.sets)


if __name__ == "__main__":
    main()
