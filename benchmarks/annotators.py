"""How often the intervals of `agree` contain the true kappa, alpha and ceiling of F, over newly generated documents.

    python benchmarks/annotators.py [--sets 1000]

generates annotators with fixed seeds. Each gives the true label of a document with a probability that is the
annotator's skill, and otherwise a random label drawn from the shares of the labels. It prints a Markdown table: the
share of 95% intervals that contain the true value, for each kind and number of documents. If some sets have no
interval, the number of sets with one follows in brackets.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from msgspec import Struct

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command has it; read when numpy loads

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.filtering.agreement import agree, f_of_second
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalPlan
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.statements.agree import AnnotatorPairs, Labels, groups

DOCUMENTS = (10, 20, 50, 100, 200)
TRUTH = 2_000_000
"""The number of documents from which a true value is computed."""


class Design(Struct, frozen=True):
    """How often each of three annotators gives the true label rather than a random one, and how often each label is
    true.
    """

    name: str
    skill: float
    shares: tuple[float, float, float]

    def draw(self, generator: np.random.Generator, documents: int) -> NDArray[np.int64]:
        true = generator.choice(3, size=documents, p=self.shares)
        guess = generator.choice(3, size=(3, documents), p=self.shares)
        return np.where(generator.random((3, documents)) < self.skill, true, guess)


DESIGNS = (
    Design("two, alike often", 0.6, (0.5, 0.0, 0.5)),
    Design("two, alike often", 0.9, (0.5, 0.0, 0.5)),
    Design("two, one relevant in ten", 0.9, (0.9, 0.0, 0.1)),
    Design("three", 0.75, (0.6, 0.1, 0.3)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=1000)
    sets = parser.parse_args().sets
    kinds = [kind.name for kind in INTERVALS]
    of_kinds = (f"{value}, `{kind}`" for value in ("kappa", "alpha") for kind in kinds)
    heads("labels", "true kappa", "documents", *of_kinds, "mean kappa", "ceiling of F")
    for design in DESIGNS:
        true = truths(design)
        for documents in DOCUMENTS:
            row(design.name, f"{true[0]:.2f}", documents, *coverage(design, documents, sets, true))


def truths(design: Design) -> tuple[float, float, float]:
    """The kappa of a pair, the alpha of all, and the mean F of a pair. The interval of the mean kappa should contain
    kappa.
    """
    labels = design.draw(np.random.default_rng(1), TRUTH)
    measured = agree(labels)
    kappas = [pair.kappa or 0.0 for pair in measured.pairs]
    scores = [f_of_second(table) or 0.0 for pair in measured.pairs for table in (pair.confusion, pair.confusion.T)]
    return float(np.mean(kappas)), measured.alpha_nominal or 0.0, float(np.mean(scores))


def labels_of(labels: NDArray[np.int64]) -> Labels:
    return Labels(("a", "b", "c"), ((), (), ()), labels, np.arange(labels.shape[1]))


def coverage(design: Design, documents: int, sets: int, true: tuple[float, float, float]) -> list[str]:
    """The share of intervals that contain the true values, in the order of the headings."""
    generator = np.random.default_rng([documents, int(1000 * design.skill)])
    wanted = [true[0]] * len(INTERVALS) + [true[1]] * len(INTERVALS) + [true[0], true[2]]
    held, given = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.int64)
    for drawn in range(sets):
        labels = labels_of(design.draw(generator, documents))
        found = []
        for kind in INTERVALS:
            [group] = groups(labels, IntervalPlan(kind=kind), Draws(2000, drawn))
            found.append(group)
        for place, limits in enumerate(_limits(found)):
            if limits is not None:
                given[place] += 1
                held[place] += limits[0] <= wanted[place] <= limits[1]
    return [
        "–" if not all_ else f"{100 * hit / all_:.1f}" + (f" ({all_})" if all_ < sets else "")
        for hit, all_ in zip(held.tolist(), given.tolist(), strict=True)
    ]


def _limits(found: list[AnnotatorPairs]) -> list[tuple[float, float] | None]:
    first = found[0]
    wanted = [*(group.intervals[0] for group in found), *(group.alpha for group in found), first.kappa, first.ceiling]
    return [None if of is None or of.low is None or of.high is None else (of.low, of.high) for of in wanted]


if __name__ == "__main__":
    main()
