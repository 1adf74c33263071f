"""How long the significance tests take, compared with scipy.stats.permutation_test, the approximate randomization of
sacreBLEU and a loop over shuffles in plain numpy.

    python benchmarks/significance.py [--quick]

prints a Markdown table. All data are generated here with fixed seeds, in the shapes of real evaluations. If a peer
would take minutes, it does a share of the work, at least ten shuffles, and its time is scaled up; such times are marked
with ~. Times are medians of several runs in this process, in processor seconds. Memory is the peak of what numpy and
Python hold in addition to the data, measured in a separate run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from msgspec import Struct

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command has it; read when numpy loads

import numpy as np
from sacrebleu.significance import Result, _paired_ar_test
from scipy.stats import permutation_test

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.exact import counting
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.shuffles.studentized import all_pairs_studentized
from evalhouse.warehouse.significance.sums import Sums

BETAS = {"recall": (1, 0), "precision": (0, 1), "F": (1, 1), "F(beta=0.5)": (1, 4), "F(beta=2)": (4, 1)}


class Workload(Struct, frozen=True):
    """A piece of work with `shuffles` shuffles in total. The peers get one pair of it, for which they do `sampled`
    shuffles.
    """

    name: str
    run: Callable[[], Any]
    pair: Sums | None = None
    sampled: int = 9999
    shuffles: int = 9999
    repeats: int = 3


def extraction(systems: int, documents: int, seed: int) -> Any:
    """Counts of an extraction evaluation, (systems, documents, 4): possible, actual, correct, partial."""
    source = np.random.default_rng(seed)
    relevant = source.random(documents) > 1 / 3
    possible = np.where(relevant, 1 + source.binomial(39, source.beta(1.5, 3.0, documents)), 0)
    ease = source.normal(0, 0.5, documents)
    skill = np.linspace(-0.5, 0.5, systems) if systems > 2 else np.array([-0.06, 0.06])
    counts = np.zeros((systems, documents, 4), dtype=np.int64)
    for system in range(systems):
        level = skill[system] + ease + source.normal(0, 0.5, documents)
        detected = source.random(documents) < 1 / (1 + np.exp(-1.0 - level))
        filled = source.poisson(np.maximum(0.1, possible * np.exp(source.normal(0, 0.25, documents))))
        spurious = ~relevant & (source.random(documents) < 0.25)
        actual = np.where(relevant & detected, filled, np.where(spurious, source.integers(1, 16, documents), 0))
        correct = source.binomial(np.minimum(possible, actual), np.clip(0.5 + 0.2 * level, 0.02, 0.95))
        partial = source.binomial(np.minimum(possible, actual) - correct, 0.15)
        counts[system] = np.stack((possible, actual, correct, partial), axis=1)
    return counts


def measured(counts: Any, measure: str) -> Sums:
    """Numerators and denominators of a measure."""
    of_possible, of_actual = BETAS[measure]
    return Sums.of_ratios(
        2 * counts[..., 2] + counts[..., 3], of_possible * counts[..., 0] + of_actual * counts[..., 1]
    )


def items(number: int) -> Sums:
    """Items that two systems of similar accuracy get right or wrong, correlated."""
    source = np.random.default_rng(4)
    ease = source.normal(0, 1, number)
    right = ease + source.normal(0, 0.7, (2, number)) < np.array([[0.700], [0.701]])
    ones = np.ones(number, dtype=np.int64)
    return Sums.of_two(right[0], ones, right[1], ones)


def by_scipy(paired: Sums, shuffles: int) -> float:
    """scipy.stats.permutation_test with a vectorized statistic over the positions of the two systems' counts. For equal
    denominators it flips the signs of differences, which is its fastest method.
    """
    tops = np.concatenate((paired.numerators[0], paired.numerators[1])).astype(float)
    bottoms = np.concatenate((paired.denominators[0], paired.denominators[1])).astype(float)
    units = paired.units

    def of_signs(x: Any, axis: int) -> Any:
        return np.abs(x.mean(axis))

    def of_places(x: Any, y: Any, axis: int) -> Any:
        x, y = x.astype(np.intp), y.astype(np.intp)
        return np.abs(tops[x].sum(axis) / bottoms[x].sum(axis) - tops[y].sum(axis) / bottoms[y].sum(axis))

    alike = np.array_equal(paired.denominators[0], paired.denominators[1])
    data = (paired.numerators[0] - paired.numerators[1],) if alike else (np.arange(units), units + np.arange(units))
    return float(
        permutation_test(
            data,
            of_signs if alike else of_places,
            permutation_type="samples",
            vectorized=True,
            n_resamples=shuffles,
            batch=20 if alike else max(64, 50_000 // units),
            alternative="greater",
            rng=np.random.default_rng(0),
        ).pvalue
    )


class Ratio:
    """A metric in the form of sacreBLEU's engine: its sufficient statistics are numerators and denominators."""

    def __init__(self, statistics: Any) -> None:
        self.statistics = statistics

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
        return self.statistics

    def _aggregate_and_compute(self, statistics: Any) -> Any:
        over, under = np.asarray(statistics).sum(axis=0)
        return Result(over / under if under else 0.0)


def by_sacrebleu(paired: Sums, shuffles: int) -> float:
    """The engine of sacreBLEU's paired approximate randomization, on the same counts."""
    first = np.stack((paired.numerators[0], paired.denominators[0]), axis=1)
    second = np.stack((paired.numerators[1], paired.denominators[1]), axis=1)
    baseline = {"ratio": (first, Ratio(first)._aggregate_and_compute(first))}
    metrics: Any = {"ratio": Ratio(second)}
    _, results = _paired_ar_test(baseline, "b", [""] * paired.units, None, metrics, n_samples=shuffles, seed=1)
    return float(results["ratio"].p_value or 0.0)


def by_loop(paired: Sums, shuffles: int) -> float:
    """The loop over shuffles that one would write without a library."""
    source = np.random.default_rng(0)
    a, b = paired.numerators[0], paired.numerators[1]
    c, d = paired.denominators[0], paired.denominators[1]
    observed = abs(a.sum() / c.sum() - b.sum() / d.sum())
    extreme = 0
    for _ in range(shuffles):
        swap = source.random(paired.units) < 0.5
        first = np.where(swap, b, a).sum() / np.where(swap, d, c).sum()
        second = np.where(swap, a, b).sum() / np.where(swap, c, d).sum()
        extreme += abs(first - second) >= observed
    return (extreme + 1) / (shuffles + 1)


PEERS = (by_scipy, by_sacrebleu, by_loop)
"""In the order of the columns of the table."""


def intervals(measures: list[Sums], pairs: list[tuple[int, int]]) -> None:
    """The intervals of all pairs by each measure."""
    bootstrap = Bootstrap()
    for many in measures:
        bootstrap.differences(many, pairs)


def workloads(quick: bool) -> list[Workload]:
    """The work to be timed."""
    one = measured(extraction(2, 100, 1), "F").pair(0, 1)
    counts = extraction(17, 100, 2)
    seventeen = [measured(counts, measure) for measure in BETAS]
    pairs = list(combinations(range(17), 2))
    long = measured(extraction(2, 2000, 3), "F").pair(0, 1)
    right = items(1_000_000)
    hundred = measured(extraction(100, 1000, 6), "F")
    work = [
        Workload(
            "W1: a pair, 100 documents, F, 9,999 shuffles",
            lambda: randomization_test(one, Draws(9999)),
            one,
            repeats=7,
        ),
        Workload(
            "W2: 17 systems (136 pairs), 100 documents, 5 measures, 9,999 shuffles",
            lambda: all_pairs_test(seventeen, Draws(9999)),
            seventeen[2].pair(0, 8),
            shuffles=680 * 9999,
            repeats=7,
        ),
        Workload(
            "W3: a pair, 2,000 documents, F, 2^20 shuffles",
            lambda: randomization_test(long, Draws(2**20)),
            long,
            sampled=2048,
            shuffles=2**20,
        ),
        Workload(
            "W4: a pair, 1,000,000 items of 0 and 1, 9,999 shuffles",
            lambda: randomization_test(right, Draws(9999)),
            right,
            sampled=10,
        ),
        Workload(
            "W6: 100 systems (4,950 pairs), 1,000 documents, F, 9,999 shuffles",
            lambda: all_pairs_test([hundred], Draws(9999)),
            hundred.pair(10, 60),
            sampled=1000,
            shuffles=4950 * 9999,
        ),
        Workload(
            "W2 by test studentized",
            lambda: all_pairs_studentized(seventeen, Draws(9999)),
            repeats=7,
        ),
        Workload(
            "W6 by test studentized",
            lambda: all_pairs_studentized([hundred], Draws(9999)),
        ),
        Workload(
            "17 systems: 680 bootstrap intervals of 2,000 resamples",
            partial(intervals, seventeen, pairs),
        ),
    ]
    for documents in (100, 1000) if quick else (100, 1000, 10_000):
        paired = measured(extraction(2, documents, 3), "F").pair(0, 1)
        name = f"W5: exact F of a pair, {documents:,} documents ({counting.cost(paired).way})"
        repeats = 1 if documents > 1000 else 3
        work.append(Workload(name, partial(counting.exact_test, paired), repeats=repeats))
    return work


def median(run: Callable[[], Any], repeats: int) -> float:
    """The median time of several runs, in processor seconds. A run of more than two seconds is not repeated."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
        if times[-1] > 2:
            break
    return statistics.median(times)


def peak(run: Callable[[], Any]) -> float:
    """The peak memory of a run, in MB."""
    tracemalloc.start()
    run()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def shown(seconds: float) -> str:
    """A time with its unit."""
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{1000 * seconds:,.1f} ms"


def beside(work: Workload, ours: float) -> list[str]:
    """The times of the peers, each with its ratio to ours."""
    pair = work.pair
    if pair is None:
        return ["–"] * len(PEERS)
    share = work.sampled / work.shuffles
    times = [median(partial(peer, pair, work.sampled), 3) / share for peer in PEERS]
    return [f"{'~' if share < 1 else ''}{shown(seconds)} ({seconds / ours:,.0f}×)" for seconds in times]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="times the significance tests beside their peers")
    parser.add_argument("--quick", action="store_true", help="leave out the exact test of 10,000 documents")
    print("| work | evalhouse | memory | scipy | sacreBLEU | numpy loop |\n|---|---|---|---|---|---|")
    for work in workloads(parser.parse_args().quick):
        ours = median(work.run, work.repeats)
        cells = (work.name, shown(ours), f"{peak(work.run):,.1f} MB", *beside(work, ours))
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
