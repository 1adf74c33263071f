"""How often DeLong's test finds a difference between two equal areas under the ROC curve at the level 0.05.

    python benchmarks/delong.py [--sets N]

prints a Markdown table. Each row has a number of relevant and of nonrelevant documents, and two systems with equal
areas, whose confidences are normal, correlated or not. It shows the share of N sets (10,000) in which p is at most
0.05. The seed is fixed. `LEAST` in warehouse/significance/areas.py is the smallest number of documents of a kind at
which no share in this table is above 0.07.
"""

from __future__ import annotations

import argparse
import sys
from math import sqrt
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.significance import areas

SIZES = ((5, 20), (7, 30), (10, 200), (12, 300), (15, 15), (15, 300), (20, 400))
AREAS = {0.0: 0.50, 1.0: 0.76}
"""How much higher the confidences of relevant documents are, and the area under the ROC curve that this makes."""

CORRELATIONS = (0.0, 0.7)
LEVEL = 0.05


def share(relevant: int, nonrelevant: int, shift: float, correlation: float, sets: int, seed: int) -> float:
    """The share of sets in which two systems of the same area differ significantly."""
    source = np.random.default_rng(seed)
    labels = np.arange(relevant + nonrelevant) < relevant
    rejected = 0
    for _ in range(sets):
        common = sqrt(correlation) * source.normal(0, 1, labels.size)
        own = sqrt(1 - correlation) * source.normal(0, 1, (2, labels.size))
        ranked = areas.Ranked(common + own + shift * labels, labels, np.arange(labels.size))
        two = ranked.of_two(0, 1)
        rejected += abs(two.difference) >= areas.reach(1 - LEVEL) * sqrt(two.variance)
    return rejected / sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=10_000)
    sets = parser.parse_args().sets
    cases = [(shift, correlation) for shift in AREAS for correlation in CORRELATIONS]
    heads("relevant", "nonrelevant", *(f"areas of {AREAS[shift]:.2f}, r {correlation}" for shift, correlation in cases))
    for seed, (relevant, nonrelevant) in enumerate(SIZES):
        shares = (share(relevant, nonrelevant, *case, sets, seed) for case in cases)
        row(relevant, nonrelevant, *(f"{rejected:.3f}" for rejected in shares))


if __name__ == "__main__":
    main()
