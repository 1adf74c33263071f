"""How often the interval of `score … corrected by JUDGE` contains the true value, with and without a note that it may
be too narrow, and how many human labels a judge is worth.

    python benchmarks/judges.py [--sets 4000] [--designs WORD] [--beside-ppi-py]

generates documents with fixed seeds, a judge who sees 500 of them, or 5,000, and people who see a random part. It
prints Markdown tables, the worst row first: the share of 95% intervals that contain the true value, with the 95%
interval of this share; the same of the intervals without such a note, and the share of sets that have these; the
share of sets without an interval; the share of intervals that come from a bootstrap-t; and how many labels the judge
is worth. With --beside-ppi-py, value, λ and standard error are compared with those of the package ppi-python, which
must be installed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command has it; read when numpy loads

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from evalhouse.warehouse.significance.prediction_powered import Corrected, correct_mean
from evalhouse.warehouse.significance.proportions import WILSON, Share

DOCUMENTS = 500
LABELLED = (5, 10, 20, 30, 50, 100, 200)
LEVEL = 0.05

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats]
Draw = Callable[[np.random.Generator, int], tuple[Sides, Sides]]


class Design(Struct, frozen=True):
    """The answers of people and judge on some documents, as numerators and denominators; and the true ratio."""

    name: str
    draw: Draw
    true: float
    together: int = 1
    """The number of documents that are drawn together."""


def means(people: NDArray[Any], judge: NDArray[Any]) -> tuple[Sides, Sides]:
    return (people.astype(np.float64), np.ones(len(people))), (judge.astype(np.float64), np.ones(len(judge)))


def right(share: float, judge: float, lenient: float | None = None, alike: int = 1) -> Draw:
    """Answers that are right with the probability `share`, in groups of `alike` documents that are all right or all
    wrong, and a judge who recognizes right answers with the probability `judge`, and wrong ones as often, or calls them
    right with the probability `lenient`.
    """
    taken = 1 - judge if lenient is None else lenient

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        people = np.repeat(source.random(documents // alike) < share, alike)
        return means(people, source.random(documents) < np.where(people, judge, taken))

    return draw


def long_tailed(
    values: Callable[[np.random.Generator, int], Floats], noise: float, scale: Callable[[Floats], Floats] = np.exp
) -> Draw:
    """Values exp(v), and a judge who sees v with noise of so many standard deviations of v, on a scale of its own."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        logarithms = values(source, documents)
        seen = logarithms + noise * logarithms.std() * source.normal(size=documents)
        return means(np.exp(logarithms), scale(seen))

    return draw


def normal(sigma: float, alike: int = 1) -> Callable[[np.random.Generator, int], Floats]:
    """Normal values; the documents of a group share seven tenths of their variance."""

    def draw(source: np.random.Generator, documents: int) -> Floats:
        if alike == 1:
            return np.asarray(sigma * source.normal(size=documents))
        common = np.repeat(source.normal(size=documents // alike), alike)
        return np.asarray(sigma * (0.7**0.5 * common + 0.3**0.5 * source.normal(size=documents)))

    return draw


def pareto(shape: float) -> Callable[[np.random.Generator, int], Floats]:
    """The logarithm of a Pareto variable, at least 1."""
    return lambda source, documents: source.exponential(1 / shape, documents)


def five_grades(seen: Floats) -> Floats:
    """Grades 1 to 5 of what a judge sees."""
    return np.asarray(np.clip(np.round(3 + seen), 1, 5))


def costs(share: float) -> Draw:
    """Costs of which this share is not 0, and a judge who sees them within 30%."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        people = np.where(source.random(documents) < share, np.exp(source.normal(size=documents)), 0.0)
        return means(people, people * np.exp(0.3 * source.normal(size=documents)))

    return draw


def erring(sigma: float) -> Draw:
    """A normal judge with a lognormal error."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        judge = source.normal(size=documents)
        return means(judge + np.exp(sigma * source.normal(size=documents)) - np.exp(sigma**2 / 2), judge)

    return draw


def failing(share: float) -> Draw:
    """Normal values around 5, and a judge who is near them, but says 0 of this share."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        people = 5 + source.normal(size=documents)
        near = people + 0.3 * source.normal(size=documents)
        return means(people, np.where(source.random(documents) < share, 0.0, near))

    return draw


GRADES = np.array((0.02, 0.02, 0.03, 0.08, 0.85))
"""How often people give the grades 0 to 4."""


def mostly_four(lenient: bool) -> Draw:
    """Grades that are mostly 4, and a judge who is one off in three of ten, or calls half of the others 4."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        people = source.choice(5, documents, p=GRADES)
        if lenient:
            return means(people, np.where(source.random(documents) < 0.5, 4, people))
        return means(people, np.clip(people + source.choice((-1, 0, 1), documents, p=(0.15, 0.7, 0.15)), 0, 4))

    return draw


def graded(correlation: float, shared: float = 0.0) -> Draw:
    """Values correlated with the judge's. The documents of a cluster of five share this part of their variance."""

    def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
        def normal() -> Floats:
            common = np.repeat(source.normal(size=documents // 5 + 1), 5)[:documents]
            return np.asarray(shared**0.5 * common + (1 - shared) ** 0.5 * source.normal(size=documents))

        judge = normal()
        people = correlation * judge + (1 - correlation**2) ** 0.5 * normal()
        return (people, np.ones(documents)), (judge, np.ones(documents))

    return draw


def filtered(
    generality: float, system: float, judge: float, lenient: float | None = None, false: float | None = None
) -> Callable[[Callable[..., Sides]], Draw]:
    """A system that finds relevant documents with the probability `system`, and takes others as often as it misses, or
    with the probability `false`; the judge is like that of `right`. Asked for a measure.
    """
    taken, wrong = 1 - judge if lenient is None else lenient, 1 - system if false is None else false

    def of(measure: Callable[..., Sides]) -> Draw:
        def draw(source: np.random.Generator, documents: int) -> tuple[Sides, Sides]:
            relevant = source.random(documents) < generality
            decided = source.random(documents) < np.where(relevant, system, wrong)
            seen = source.random(documents) < np.where(relevant, judge, taken)
            return measure(relevant, decided), measure(seen, decided)

        return draw

    return of


def f_measure(relevant: NDArray[np.bool_], decided: NDArray[np.bool_]) -> Sides:
    over, under = 2 * (relevant & decided), relevant.astype(int) + decided
    return over.astype(np.float64), under.astype(np.float64)


def precision(relevant: NDArray[np.bool_], decided: NDArray[np.bool_]) -> Sides:
    return (relevant & decided).astype(np.float64), decided.astype(np.float64)


def f_of(generality: float, system: float, false: float | None = None) -> float:
    """The true F of such a system."""
    hits = generality * system
    return 2 * hits / (generality + hits + (1 - generality) * (1 - system if false is None else false))


E, E_9_8 = float(np.exp(0.5)), float(np.exp(1.125))
"""The means of lognormal variables with σ 1 and 1.5."""

DESIGNS = (
    Design("7 of 10 right, judge 70%", right(0.7, 0.7), 0.7),
    Design("7 of 10 right, judge 90%", right(0.7, 0.9), 0.7),
    Design("9 of 10 right, judge 90%", right(0.9, 0.9), 0.9),
    Design("7 of 10 right, judge 98%", right(0.7, 0.98), 0.7),
    Design("graded, correlation 0.8", graded(0.8), 0.0),
    Design("graded, a judge by chance", graded(0.0), 0.0),
    Design("graded, clusters of 5", graded(0.8, 0.5), 0.0, together=5),
    Design("F, 4 of 10 relevant, judge 90%", filtered(0.4, 0.8, 0.9)(f_measure), f_of(0.4, 0.8)),
    Design("F, 1 of 10 relevant, judge 90%", filtered(0.1, 0.8, 0.9)(f_measure), f_of(0.1, 0.8)),
    Design("95 of 100 right, judge 95%", right(0.95, 0.95), 0.95),
    Design("97 of 100 right, judge 90%", right(0.97, 0.9), 0.97),
    Design("7 of 10 right, 10 together alike, judge 90%", right(0.7, 0.9, alike=10), 0.7, together=10),
    Design("95 of 100 right, lenient with half", right(0.95, 0.99, 0.5), 0.95),
    Design("95 of 100 right, lenient with 8 of 10", right(0.95, 0.99, 0.8), 0.95),
    Design("95 of 100 right, lenient with half, else right", right(0.95, 1.0, 0.5), 0.95),
    Design("9 of 10 right, lenient with half", right(0.9, 0.99, 0.5), 0.9),
    Design("8 of 10 right, lenient with 8 of 10", right(0.8, 1.0, 0.8), 0.8),
    Design("95 of 100 right, strict with 2 of 10", right(0.95, 0.8, 0.0), 0.95),
    Design("7 of 10 right, strict with 1 of 10", right(0.7, 0.9, 0.0), 0.7),
    Design("lognormal σ 1, good judge", long_tailed(normal(1.0), 0.3), E),
    Design("lognormal σ 1, bad judge", long_tailed(normal(1.0), 2.0), E),
    Design("lognormal σ 1, judge of logarithms", long_tailed(normal(1.0), 0.3, np.asarray), E),
    Design("lognormal σ 1.5, good judge", long_tailed(normal(1.5), 0.3), E_9_8),
    Design("lognormal σ 1.5, bad judge", long_tailed(normal(1.5), 2.0), E_9_8),
    Design("lognormal σ 1.5, grades 1 to 5", long_tailed(normal(1.5), 0.3, five_grades), E_9_8),
    Design("Pareto 2.5, good judge", long_tailed(pareto(2.5), 0.5), 2.5 / 1.5),
    Design("Pareto 2.5, bad judge", long_tailed(pareto(2.5), 2.5), 2.5 / 1.5),
    Design("costs, 7 of 10 are 0", costs(0.3), 0.3 * E),
    Design("judge with a lognormal error, σ 1", erring(1.0), 0.0),
    Design("judge with a lognormal error, σ 1.5", erring(1.5), 0.0),
    Design("graded, judge fails on 4 of 100", failing(0.04), 5.0),
    Design(
        "F, 1 of 10 relevant, lenient with 3 of 10",
        filtered(0.1, 0.8, 0.98, 0.3, 0.05)(f_measure),
        f_of(0.1, 0.8, 0.05),
    ),
    Design(
        "F, 4 of 100 relevant, lenient with 2 of 10",
        filtered(0.04, 0.8, 0.98, 0.2, 0.05)(f_measure),
        f_of(0.04, 0.8, 0.05),
    ),
    Design(
        "precision, 1 of 9 answered, lenient with half", filtered(0.1, 0.9, 0.95, 0.5, 0.03)(precision), 0.09 / 0.117
    ),
    Design("precision, 1 of 9 answered, judge 90%", filtered(0.1, 0.9, 0.9, None, 0.03)(precision), 0.09 / 0.117),
    Design("grades mostly 4", mostly_four(lenient=False), float(GRADES @ np.arange(5))),
    Design("grades mostly 4, lenient with half", mostly_four(lenient=True), float(GRADES @ np.arange(5))),
    Design("lognormal σ 1, clusters of 5", long_tailed(normal(1.0, 5), 0.4), E, together=5),
    Design("lognormal σ 1.5, clusters of 5", long_tailed(normal(1.5, 5), 0.4), E_9_8, together=5),
)

OF_MANY = (
    "7 of 10 right, judge 90%",
    "95 of 100 right, lenient with half",
    "lognormal σ 1, good judge",
    "lognormal σ 1.5, bad judge",
    "Pareto 2.5, good judge",
    "grades mostly 4",
)
"""The designs of which the judge also sees MANY documents."""

MANY = 5000


def drawn(design: Design, labelled: int, sets: int, documents: int = DOCUMENTS) -> Iterator[Corrected]:
    source = np.random.default_rng([labelled, DESIGNS.index(design), documents])
    for _ in range(sets):
        people, judge = design.draw(source, documents)
        mask = np.zeros(documents, dtype=np.bool_)
        unit = None
        if design.together > 1:
            unit = np.arange(documents) // design.together
            chosen = source.permutation(documents // design.together)[: max(labelled // design.together, 1)]
            mask[np.isin(unit, chosen)] = True
        else:
            mask[source.permutation(documents)[:labelled]] = True
        yield correct_mean(people, judge, mask, unit)


class Found(Struct, frozen=True):
    """How many sets of a cell there were, how many had an interval, how many of these contained the true value; the
    same of intervals without a note; how many came from a bootstrap-t; and how many labels the judge was worth.
    """

    sets: int
    given: int
    held: int
    plain: int
    held_plain: int
    resampled: int
    worth: float | None

    @property
    def worst(self) -> float:
        """The coverage by which rows are sorted: the lower of both, the second where it is of 2% of the sets."""
        shares = [self.held / self.given] if self.given else []
        if self.plain >= 0.02 * self.sets:
            shares.append(self.held_plain / self.plain)
        return min(shares, default=1.0)


def cell(place: int, labelled: int, sets: int, documents: int) -> Found:
    """What is found in one cell of the table, of the design at this place. Functions cannot go to other processes."""
    design = DESIGNS[place]
    given = held = plain = held_plain = resampled = 0
    worth = []
    for of in drawn(design, labelled, sets, documents):
        limits = of.limits(LEVEL)
        if limits is None:
            continue
        holds = limits[0] <= design.true <= limits[1]
        given += 1
        held += holds
        resampled += of.is_resampled(LEVEL)
        worth.append(of.effective or 0.0)
        if of.may_be_narrow:
            continue
        plain += 1
        held_plain += holds
    return Found(sets, given, held, plain, held_plain, resampled, float(np.median(worth)) if worth else None)


def share(held: int, given: int) -> str:
    """A percentage with its Wilson interval."""
    if not given:
        return "–"
    low, high = WILSON.limits(Share(held, given), LEVEL)
    return f"{100 * held / given:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


COLUMNS: dict[str, Callable[[Found], str]] = {
    "interval contains the value": lambda of: share(of.held, of.given),
    "the same without a note (sets without one)": (
        lambda of: f"{share(of.held_plain, of.plain)} ({100 * of.plain / of.sets:.0f}%)"
    ),
    "sets without an interval": lambda of: f"{100 * (of.sets - of.given) / of.sets:.0f}%",
    "intervals by bootstrap-t": lambda of: f"{100 * of.resampled / of.given:.0f}%" if of.given else "–",
    "worth in labels": lambda of: "–" if of.worth is None else f"{of.worth:.0f}",
}


def print_tables(rows: dict[str, list[Found]], labelled: Sequence[int]) -> None:
    worst_first = sorted(rows, key=lambda name: min(found.worst for found in rows[name]))
    for what, text in COLUMNS.items():
        print(f"\n| {what} | {' | '.join(map(str, labelled))} |\n|---|{'---:|' * len(labelled)}")
        for name in worst_first:
            print(f"| {name} | {' | '.join(map(text, rows[name]))} |")


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
    parser.add_argument("--designs", default="", help="only those with this word in their name")
    parser.add_argument("--beside-ppi-py", action="store_true")
    arguments = parser.parse_args()
    if arguments.beside_ppi_py:
        beside_ppi_py()
        return
    chosen = [design for design in DESIGNS if arguments.designs in design.name]
    with ProcessPoolExecutor() as pool:

        def found(designs: Sequence[Design], labelled: Sequence[int], documents: int) -> dict[str, list[Found]]:
            cells = [(DESIGNS.index(of), n, arguments.sets, documents) for of in designs for n in labelled]
            rows = iter(list(pool.map(cell, *zip(*cells, strict=True)))) if cells else iter(())
            return {of.name: list(islice(rows, len(labelled))) for of in designs}

        print(f"{DOCUMENTS} documents, {arguments.sets} sets")
        print_tables(found(chosen, LABELLED, DOCUMENTS), LABELLED)
        many, labelled = [of for of in chosen if of.name in OF_MANY], LABELLED[3:]
        print(f"\n{MANY} documents, {arguments.sets} sets")
        print_tables(found(many, labelled, MANY), labelled)


if __name__ == "__main__":
    main()
