"""How often all rank sets contain their true ranks together, and how long `rank` takes.

    python benchmarks/ranks.py [--sets 400]

prints three Markdown tables. Coverage: answers to n items, right or wrong, from systems that share a part of what makes
an item hard. Their true values are all equal, equal within groups, or all different. A set of systems counts as covered
if no system is called better than one that is truly as good or better, so that every true rank, with ties resolved
either way, is in its set. Coverage where answers are unequal: five systems of the same true value, one of which
answers a share of the documents, at least one, by the default test and by randomization. Seeds are fixed. Time: 100
systems on five test sets of 1,000 documents, in an open session.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from itertools import permutations
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.validity import MATTHEWS, PAIRS_OF_CELLS
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.draws import ALONE, Draws
from evalhouse.warehouse.significance.multiple import count_reached_by_largest, step_down, westfall_young
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import find_test
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


def silent(chance: np.random.Generator, documents: int, share: float) -> NDArray[np.bool_]:
    """The documents that a system does not answer, of shape (documents,); it answers one at least."""
    none = chance.random(documents) >= share
    none[chance.integers(documents)] = False
    return none


def precision(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """Right answers out of answers, of which a document has one to four; documents are easy or hard for all."""
    answered = 1 + chance.integers(0, 4, (5, documents))
    answered[0, silent(chance, documents, share)] = 0
    ease = chance.beta(4, 4, documents)
    return Sums.of_ratios(chance.binomial(answered, ease), answered)


def f(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """2·right out of answers and keys: precision and recall of 90% on the share, and both as F for the others."""
    keys = 1 + chance.poisson(2, documents)
    value = 1.8 * share / (1 + share)
    rights = np.array([[0.9]] + [[value]] * 4)
    right = chance.binomial(keys, np.broadcast_to(rights, (5, documents)))
    answered = right + chance.poisson(keys * (1 - rights))
    none = silent(chance, documents, share)
    right[0, none], answered[0, none] = 0, 0
    return Sums.of_ratios(2 * right, answered + keys)


def mcc(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """Decisions on documents of which half are relevant: right on 95% of the share and "no" elsewhere, or the same MCC
    with as many errors of both kinds.
    """
    hit, false = 0.95 * share, 0.05 * share
    decided = (hit + false) / 2
    value = (hit - false) / 2 / sqrt(decided * (1 - decided))
    chances = np.full((5, 2), ((1 - value) / 2, (1 + value) / 2))
    chances[0] = false, hit
    while True:
        relevant = chance.random(documents) < 0.5
        yes = chance.random((5, documents)) < chances[:, relevant.astype(int)]
        cells = (yes & relevant, yes & ~relevant, ~yes & relevant, ~yes & ~relevant)
        counts = np.stack(cells, axis=1).astype(np.int64)
        if (counts.sum(axis=2) @ PAIRS_OF_CELLS > 0).all():
            return Sums.of_counts(counts, MATTHEWS)


def unequal(sets: int) -> None:
    """Coverage of the sets of five systems of the same value, one of which answers a share of the documents."""
    tests = ("studentized", "randomization")
    print(f"| measure, answered, documents | {' | '.join(tests)} |\n|---|---|---|")
    for kind, sizes in ((precision, (10, 50, 400)), (f, (10, 50, 400)), (mcc, (50, 200))):
        for share in (1.0, 0.3, 0.1):
            for documents in sizes:
                held = [0, 0]
                for place in range(sets):
                    many = kind(np.random.default_rng((7, documents, round(100 * share), place)), documents, share)
                    draws = Draws(SHUFFLES, 1992, place)
                    for column, test in enumerate(tests):
                        held[column] += not (levels(many, test, draws) <= LEVEL).any()
                found = " | ".join(f"{count / sets:.3f}" for count in held)
                print(f"| {kind.__name__}, {100 * share:.0f}%, {documents} | {found} |", flush=True)


def levels(many: Sums, test: str, draws: Draws) -> Floats:
    """The adjusted p of every pair both ways."""
    exchange = find_test(test).exchange
    assert exchange is not None
    family = exchange.family(many, FIVE, "one-sided")
    return step_down(family, (count_reached_by_largest(family, draws, ALONE) + 1.0) / (draws.shuffles + 1))


def coverage(sets: int) -> None:
    error = sqrt(LEVEL * (1 - LEVEL) / sets)
    print(f"| systems, items | {' | '.join(shapes(5))} |\n|---|{'---|' * len(shapes(5))}")
    for systems in (5, 20):
        for items in (50, 200):
            found = [covered(shares, items, sets) for shares in shapes(systems).values()]
            print(f"| {systems}, {items} | {' | '.join(f'{share:.3f}' for share in found)} |", flush=True)
    print(f"\nstandard error {error:.3f} where the coverage is {1 - LEVEL}")


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
        print("\n| 100 systems, 1,000 documents | seconds of processor |\n|---|---|")
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
                print(f"| `{statement}` | {time.process_time() - began:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--unequal", action="store_true", help="only where answers are unequal")
    asked = parser.parse_args()
    if not asked.unequal:
        duration()
        coverage(asked.sets)
        print()
    unequal(asked.sets)


if __name__ == "__main__":
    main()
