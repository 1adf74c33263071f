"""How often the interval of `score … corrected by JUDGE` contains the true value, and how many human labels a judge is
worth.

    python benchmarks/judges.py [--sets 4000] [--beside-ppi-py]

generates documents with fixed seeds, a judge who sees 500 of them, and people who see a random part of them. It prints
Markdown tables: the share of 95% intervals that contain the true value, with the judge and, in brackets, from the
people alone; then the share of sets without an interval, and how many labels the judge is worth. With --beside-ppi-py,
value, λ and interval are compared with those of the package ppi-python, which must be installed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command has it; read when numpy loads

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalhouse.warehouse.significance.prediction_powered import Corrected, correct_mean

DOCUMENTS = 500
LABELLED = (5, 10, 20, 30, 50, 100, 200)
LEVEL = 0.05

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats]


class Design(Struct, frozen=True):
    """The answers of people and judge on some documents, as numerators and denominators; and the true ratio."""

    name: str
    draw: Callable[[np.random.Generator, int], tuple[Sides, Sides]]
    true: float
    together: int = 1
    """The number of documents that are drawn together."""


def right(share: float, judge: float, alike: int = 1) -> Callable[[np.random.Generator, int], tuple[Sides, Sides]]:
    """Answers that are right with the probability `share`, in groups of `alike` documents that are all right or all
    wrong, and a judge who recognizes right and wrong answers with the probability `judge`.
    """

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        people = np.repeat(source.random(documents // alike) < share, alike).astype(float)
        seen = np.where(source.random(documents) < judge, people, 1 - people)
        return (people, np.ones(documents)), (seen, np.ones(documents))

    return draw


def graded(correlation: float, shared: float = 0.0) -> Callable[[np.random.Generator, int], tuple[Sides, Sides]]:
    """Values correlated with the judge's. The documents of a cluster of five share this part of their variance."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        def normal() -> Floats:
            common = np.repeat(source.normal(size=documents // 5 + 1), 5)[:documents]
            return np.asarray(shared**0.5 * common + (1 - shared) ** 0.5 * source.normal(size=documents))

        judge = normal()
        people = correlation * judge + (1 - correlation**2) ** 0.5 * normal()
        return (people, np.ones(documents)), (judge, np.ones(documents))

    return draw


def filtered(generality: float, system: float, judge: float) -> Callable[..., tuple[Sides, Sides]]:
    """F of a system that says yes as often as people do, with a judge who is right as often."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        relevant = source.random(documents) < generality
        decided = np.where(source.random(documents) < system, relevant, ~relevant)
        seen = np.where(source.random(documents) < judge, relevant, ~relevant)
        return _of_f(relevant, decided), _of_f(seen, decided)

    return draw


def _of_f(relevant: NDArray[np.bool_], decided: NDArray[np.bool_]) -> Sides:
    over, under = 2 * (relevant & decided), relevant.astype(int) + decided
    return over.astype(np.float64), under.astype(np.float64)


def f_of(generality: float, system: float) -> float:
    """The true F of such a system."""
    hits = generality * system
    return 2 * hits / (generality + hits + (1 - generality) * (1 - system))


DESIGNS = (
    Design("7 of 10 right, judge 70%", right(0.7, 0.7), 0.7),
    Design("7 of 10 right, judge 90%", right(0.7, 0.9), 0.7),
    Design("9 of 10 right, judge 90%", right(0.9, 0.9), 0.9),
    Design("7 of 10 right, judge 98%", right(0.7, 0.98), 0.7),
    Design("graded, correlation 0.8", graded(0.8), 0.0),
    Design("graded, a judge by chance", graded(0.0), 0.0),
    Design("graded, clusters of 5", graded(0.8, 0.5), 0.0, together=5),
    Design("F, 4 of 10 relevant, judge 90%", filtered(0.4, 0.8, 0.9), f_of(0.4, 0.8)),
    Design("F, 1 of 10 relevant, judge 90%", filtered(0.1, 0.8, 0.9), f_of(0.1, 0.8)),
    Design("95 of 100 right, judge 95%", right(0.95, 0.95), 0.95),
    Design("97 of 100 right, judge 90%", right(0.97, 0.9), 0.97),
    Design("7 of 10 right, 10 together alike, judge 90%", right(0.7, 0.9, alike=10), 0.7, together=10),
)


def drawn(design: Design, labelled: int, sets: int) -> Iterator[Corrected]:
    source = np.random.default_rng([labelled, DESIGNS.index(design)])
    for _ in range(sets):
        people, judge = design.draw(source, DOCUMENTS)
        mask = np.zeros(DOCUMENTS, dtype=np.bool_)
        unit = None
        if design.together > 1:
            unit = np.arange(DOCUMENTS) // design.together
            chosen = source.permutation(DOCUMENTS // design.together)[: max(labelled // design.together, 1)]
            mask[np.isin(unit, chosen)] = True
        else:
            mask[source.permutation(DOCUMENTS)[:labelled]] = True
        yield correct_mean(people, judge, mask, unit)


def cell(design: Design, labelled: int, sets: int) -> tuple[str, str, str]:
    """The share of intervals that contain the true value, the share of sets without one, and the worth of the judge."""
    held = given = alone = by_people = 0
    worth = []
    for of in drawn(design, labelled, sets):
        limits = of.limits(LEVEL)
        if limits is not None:
            given += 1
            held += limits[0] <= design.true <= limits[1]
            worth.append(of.effective or 0.0)
        if of.people is not None and of.people_error:
            classical = Corrected(of.people, 0, of.people_error, of.labelled - 1, 0, 0, None, None, None).limits(LEVEL)
            alone += 1
            by_people += classical is not None and classical[0] <= design.true <= classical[1]
    share = "–" if not given else f"{100 * held / given:.1f}"
    people = "–" if not alone or design.together > 1 else f"{100 * by_people / alone:.1f}"
    without = f"{100 * (sets - given) / sets:.0f}%"
    return f"{share} ({people})", without, f"{np.median(worth):.0f}" if worth else "–"


def beside_ppi_py() -> None:
    """The largest differences from ppi_py: of value and λ, and of its interval from ours computed by its rules."""
    # A benchmark here has the same name as a package that ppi_py imports.
    sys.path.remove(str(Path(__file__).parent))
    from ppi_py import ppi_mean_ci  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from scipy.stats import norm

    worst = [0.0, 0.0]
    for seed in range(200):
        source = np.random.default_rng(seed)
        people, judge = (right(0.7, 0.8) if seed % 2 else graded(0.6))(source, DOCUMENTS)
        mask = np.zeros(DOCUMENTS, dtype=np.bool_)
        n = int(source.integers(5, 200))
        mask[source.permutation(DOCUMENTS)[:n]] = True
        ours = correct_mean(people, judge, mask)
        given = (people[0][mask], judge[0][mask], judge[0][~mask])
        low, high = (float(limit[0]) for limit in ppi_mean_ci(*given, alpha=LEVEL))
        assert ours.value is not None
        assert ours.error is not None
        rest = ours.weight**2 * given[2].var() / len(given[2])
        # We divide the variance of labelled documents by n − 2 degrees of freedom; ppi_py divides by n.
        theirs = np.sqrt((ours.error**2 - rest) * (n - 2) / n + rest)
        half = norm.ppf(1 - LEVEL / 2) * theirs
        worst[0] = max(worst[0], abs(ours.value - (low + high) / 2))
        worst[1] = max(worst[1], abs(ours.value - half - low), abs(ours.value + half - high))
    print(f"200 sets beside ppi_py: values differ by {worst[0]:.1e} at most, limits by its rules by {worst[1]:.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=4000)
    parser.add_argument("--beside-ppi-py", action="store_true")
    arguments = parser.parse_args()
    if arguments.beside_ppi_py:
        beside_ppi_py()
        return
    heads = " | ".join(map(str, LABELLED))
    rows = {design.name: [cell(design, labelled, arguments.sets) for labelled in LABELLED] for design in DESIGNS}
    for place, what in enumerate(("interval holds the value", "sets without an interval", "worth in labels")):
        print(f"\n| {what} | {heads} |\n|---|{'---:|' * len(LABELLED)}")
        for name, cells in rows.items():
            print(f"| {name} | {' | '.join(cell[place] for cell in cells)} |")


if __name__ == "__main__":
    main()
