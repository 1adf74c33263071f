"""What `eh.compare(a, b)` costs in a loop, beside its significance test alone.

    python benchmarks/arrays.py [--calls 50]

prints a Markdown table. Each row compares two arrays of so many documents this many times, always others, with right
or wrong answers (which are counted exactly) and with numbers between 0 and 1 (which are shuffled until the pair is
decided). The test alone takes the sums that the call took, with as many shuffles; calls and tests alternate, and times
are medians, in milliseconds of the wall clock.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import evalhouse as eh
from benchmarks.tables import heads, row
from evalhouse.warehouse.significance.arrays import Floats, to_fixed_point
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.exact.counting import exact_test
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.sums import Sums

T = TypeVar("T")

SIZES = (200, 1000, 10_000)
KINDS = ("0 or 1", "0 to 1")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=50)
    calls = parser.parse_args().calls
    draw = np.random.default_rng(1992)
    eh.compare([0, 1], [1, 1])  # what a process does once
    heads("values", "documents", "test", "call", "test alone", "ratio")
    for kind in KINDS:
        for size in SIZES:
            whole, alone, tested = [], [], ""
            for _ in range(calls):
                a, b = draw.random((2, size))
                if kind == KINDS[0]:
                    a, b = (a < 0.62).astype(int), (b < 0.6).astype(int)
                compared, seconds = timed(partial(eh.compare, a, b))
                shuffles: Any = compared[0]["shuffles"]
                tested = "exact" if shuffles is None else "shuffles"
                whole.append(seconds)
                alone.append(timed(test_of(a, b, shuffles))[1])
            call, test = median(whole) * 1000, median(alone) * 1000
            row(kind, f"{size:,}", tested, f"{call:.1f} ms", f"{test:.1f} ms", f"{call / test:.1f}")


def test_of(a: Floats, b: Floats, shuffles: int | None) -> Callable[[], object]:
    """The test alone of two arrays, exact without shuffles."""
    whole, _, _ = to_fixed_point(np.stack((a, b)).astype(np.float64))
    documents = np.ones(len(a), dtype=np.int64)
    sums = Sums.of_two(whole[0], documents, whole[1], documents)
    if shuffles is None:
        return lambda: exact_test(sums)
    return lambda: randomization_test(sums, Draws(shuffles=shuffles, seed=1992))


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result of some work, and the seconds that it took."""
    began = time.perf_counter()
    return work(), time.perf_counter() - began


if __name__ == "__main__":
    main()
