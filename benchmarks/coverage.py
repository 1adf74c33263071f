"""How often intervals contain the true difference, and how often they contradict the verdict of the randomization test.

    python benchmarks/coverage.py [--only differences | scores | contradictions | shares] [--sets 1000]

prints Markdown tables; seeds are fixed, and the same arguments print the same tables.

- `differences`: evaluations of two systems whose true difference is known, and the share of studentized 95% intervals
  that contain it, by number of documents, the worst row first; then the lowest share of any design for the other kinds
  of interval. A set in which a system has no value is generated again. If there is no interval for some sets, the share
  is that of the intervals that exist, and how many there are follows in brackets. Of some designs there are also
  averages over three test sets, the second and third with two and three times as many documents as the first.
- `scores`: evaluations of one system whose true value is known: how often its interval contains it and, in brackets,
  how often the lower limit is above it, for the intervals of shares and, in the last rows, for what is no share.
- `contradictions`: the systems of whole evaluations, with each pair compared at 100 documents: the share of pairs whose
  interval contradicts the verdict of the randomization test.
- `shares`: the intervals of one system's share of right items, summed over all numbers of right items, not simulated.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations
from math import lgamma
from pathlib import Path
from typing import Any

from msgspec import Struct

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command has it; read when numpy loads

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.few_answers import MATTHEWS, PAIRS_OF_CELLS
from benchmarks.tables import heads, row
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.estimates import OfTestSet
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalPlan
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.proportions import (
    CLOPPER_PEARSON,
    WILSON,
    Share,
    ShareInterval,
    allow_for_constants,
    shares_of,
)
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.sums import Sums

DOCUMENTS = (6, 10, 20, 50, 100)
COMPARED = 100
"""The documents of whole evaluations."""

SYSTEMS, ROUNDS = 12, 40
"""The systems of a whole evaluation, and how many of these are generated."""

LEVEL = 0.05
TRUTH = 2_000_000
"""The number of documents from which a true difference is computed."""

Tuples = tuple[Any, Any]
"""Numerators and denominators of two systems, each of shape (2, documents)."""


class Design(Struct, frozen=True):
    """What two systems do on a given number of documents."""

    name: str
    draw: Callable[[np.random.Generator, int], Tuples]
    within: tuple[float, float] | None = (0.0, 1.0)


# --- designs ----------------------------------------------------------------------------------------------------------


class Extractor(Struct, frozen=True):
    """A system that finds a share of the items and fills a share of its answers correctly, on a share of the
    documents.
    """

    recall: float
    precision: float
    volume: float = 1.0

    def fill(self, source: np.random.Generator, possible: Any, ease: Any) -> tuple[Any, Any]:
        """How many items it fills on each document, and how many of them are correct."""
        logit = np.log(self.recall / (1 - self.recall)) + 0.5 * ease + 0.6 * source.normal(size=ease.shape)
        right = source.binomial(possible, 1 / (1 + np.exp(-logit)))
        noise = np.exp(0.4 * source.normal(size=ease.shape))
        wrong = self.recall * (1 - self.precision) / self.precision * possible * noise
        answered = source.random(ease.shape) < self.volume
        return np.where(answered, right + source.poisson(wrong), 0), np.where(answered, right, 0)


def extraction(first: Extractor, second: Extractor, measure: str, sizes: str = "similar") -> Callable[..., Tuples]:
    """Two systems that extract. Documents have similar sizes, or `skewed` ones from a lognormal distribution with σ =
    1, or those of a `Pareto` distribution with the exponent 1.5, whose variance is infinite.
    """

    def draw(source: np.random.Generator, documents: int) -> Tuples:
        if sizes == "skewed":
            possible = np.ceil(source.lognormal(1.5, 1.0, documents)).astype(np.int64)
        elif sizes == "Pareto":
            possible = np.ceil(3 * (1 + source.pareto(1.5, documents))).clip(max=100_000).astype(np.int64)
        else:
            possible = 1 + source.binomial(20, source.beta(1.5, 3.0, documents))
        ease = source.normal(size=documents)
        found = [system.fill(source, possible, ease) for system in (first, second)]
        filled, right = (np.stack(columns) for columns in zip(*found, strict=True))
        under = {"recall": possible + 0 * filled, "precision": filled, "F": possible + filled}[measure]
        return (2 * right if measure == "F" else right), under

    return draw


def items(first: float, second: float) -> Callable[..., Tuples]:
    """Items that each system gets right or wrong, correlated."""
    from statistics import NormalDist

    bounds = np.array([[NormalDist().inv_cdf(share)] for share in (first, second)])

    def draw(source: np.random.Generator, documents: int) -> Tuples:
        shared, own = source.normal(size=documents), source.normal(size=(2, documents))
        right = (np.sqrt(0.5) * shared + np.sqrt(0.5) * own < bounds).astype(np.int64)
        return right, np.ones_like(right)

    return draw


def rare_gains(source: np.random.Generator, documents: int) -> Tuples:
    """Values of two systems that are nearly the same, but on one document of twenty, where the first gains a half."""
    scores = source.beta(2, 2, documents) / 2
    gains = (source.random(documents) < 0.05) / 2
    fixed = np.rint(1e6 * np.stack((scores + gains, scores + 0.02 * source.normal(size=documents)))).astype(np.int64)
    return fixed, np.ones_like(fixed)


def values(skewed: bool) -> Callable[..., Tuples]:
    """Values of each document, correlated: normal, or from 0 to 1 and mostly small, as average precision is."""

    def draw(source: np.random.Generator, documents: int) -> Tuples:
        scores = 0.9 * source.normal(size=documents) + 0.6 * source.normal(size=(2, documents))
        scores += np.array([[-0.8], [-1.0]])
        if skewed:
            scores = 1 / (1 + np.exp(-1.7 * scores)) ** 2
        fixed = np.rint(1e6 * scores).astype(np.int64)
        return fixed, np.ones_like(fixed)

    return draw


EVEN, PRECISE = Extractor(0.55, 0.55), Extractor(0.6, 0.95)
DESIGNS = (
    Design("equal F", extraction(EVEN, EVEN, "F")),
    Design("unequal F", extraction(Extractor(0.65, 0.60), Extractor(0.50, 0.50), "F")),
    Design("recall traded for precision, F", extraction(Extractor(0.85, 0.42), Extractor(0.42, 0.85), "F")),
    Design("all answered against half, precision", extraction(EVEN, Extractor(0.55, 0.55, 0.5), "precision")),
    Design("all answered against 30%, precision", extraction(EVEN, Extractor(0.55, 0.55, 0.3), "precision")),
    Design("skewed sizes, F", extraction(Extractor(0.60, 0.60), Extractor(0.50, 0.50), "F", "skewed")),
    Design("skewed sizes, recall", extraction(Extractor(0.60, 0.60), Extractor(0.50, 0.50), "recall", "skewed")),
    Design(
        "sizes of a Pareto distribution, F", extraction(Extractor(0.60, 0.60), Extractor(0.50, 0.50), "F", "Pareto")
    ),
    Design("all answered against 20%, precision .95", extraction(PRECISE, Extractor(0.6, 0.95, 0.2), "precision")),
    Design("items, 75% against 60% right", items(0.75, 0.60)),
    Design("items, 95% against 90% right", items(0.95, 0.90)),
    Design("values, normal", values(False), within=None),
    Design("values, mostly small", values(True), within=None),
    Design("values, one document of twenty gains", rare_gains, within=None),
)

AVERAGED = (
    "unequal F",
    "all answered against half, precision",
    "items, 75% against 60% right",
    "values, mostly small",
)
"""The designs of which there are averages over three test sets, too."""


@cache
def truth(design: Design) -> float:
    """The true difference of a design."""
    over, under = design.draw(np.random.default_rng(1), TRUTH)
    first, second = over.sum(axis=1) / under.sum(axis=1)
    return float(first - second)


# --- coverage ---------------------------------------------------------------------------------------------------------


def drawn(design: Design, documents: int, sets: int) -> Iterator[Sums]:
    """This many sets in which both systems have a value."""
    source, made = np.random.default_rng((1992, documents)), 0
    while made < sets:
        over, under = design.draw(source, documents)
        if under.any(axis=1).all():
            yield Sums.of_ratios(over, under)
            made += 1


class Covered(Struct, frozen=True):
    """How often intervals of each kind contained the true difference, and how often there was an interval."""

    held: Floats
    given: Floats
    sets: int

    @property
    def shares(self) -> Floats:
        return np.asarray(self.held / self.given)

    def cell(self, kind: int) -> str:
        """The share of the existing intervals that contain the true difference and, if some do not exist, how many
        do.
        """
        given = f" ({self.given[kind] / self.sets:.0%})" if self.given[kind] < self.sets else ""
        return f"{self.shares[kind]:.3f}{given}"


def coverage(design: Design, documents: int, sets: int) -> Covered:
    """How often intervals contain the true difference."""
    true, bootstrap = truth(design), Bootstrap(Draws(2000))
    held, given = np.zeros(len(INTERVALS)), np.zeros(len(INTERVALS))
    for many in drawn(design, documents, sets):
        for place, kind in enumerate(INTERVALS):
            plan = IntervalPlan(LEVEL, kind)
            limits = bootstrap.differences(many, [(0, 1)], plan)
            if design.within is not None:
                limits = allow_for_constants(limits, [(many, 1.0)], [(0, 1)], plan, design.within)
            given[place] += limits.low[0] == limits.low[0]
            held[place] += limits.low[0] - 1e-9 <= true <= limits.high[0] + 1e-9
    return Covered(held, given, sets)


def coverage_over_test_sets(design: Design, documents: int, sets: int) -> Covered:
    """How often intervals of the average over three test sets contain it, the second and third with two and three
    times as many documents.
    """
    true, bootstrap = truth(design), Bootstrap(Draws(2000))
    held, given = np.zeros(len(INTERVALS)), np.zeros(len(INTERVALS))
    for of_sets in zip(*(drawn(design, size * documents, sets) for size in (1, 2, 3)), strict=True):
        parts = [OfTestSet(many, 1.0, stream) for stream, many in enumerate(of_sets)]
        for place, kind in enumerate(INTERVALS):
            limits = bootstrap.averages(parts, [(0, 1)], IntervalPlan(LEVEL, kind))
            given[place] += limits.low[0] == limits.low[0]
            held[place] += limits.low[0] - 1e-9 <= true <= limits.high[0] + 1e-9
    return Covered(held, given, sets)


def print_differences(sets: int) -> None:
    """Prints how often intervals of differences contain the true one."""
    found: dict[str, list[Covered]] = {}
    for design in DESIGNS:
        found[design.name] = [coverage(design, documents, sets) for documents in DOCUMENTS]
        if design.name in AVERAGED:
            averages = [coverage_over_test_sets(design, documents, sets) for documents in DOCUMENTS]
            found[f"{design.name}, over three test sets"] = averages
    heads("two systems", *DOCUMENTS)
    for name, cells in sorted(found.items(), key=lambda row: min(cell.shares[0] for cell in row[1])):
        row(name, *(cell.cell(0) for cell in cells))
    lowest = np.min([[cell.shares for cell in cells] for cells in found.values()], axis=0)
    for place, kind in enumerate(INTERVALS):
        if place:
            row(f"worst `{kind.name}`", *(f"{share:.3f}" for share in lowest[:, place]))


# --- scores -----------------------------------------------------------------------------------------------------------


class Score(Struct, frozen=True):
    """What one system does on a given number of documents, and its true value."""

    name: str
    draw: Callable[[np.random.Generator, int], Sums]
    true: float


def ratio(mean: float, answers: float, alike: float = 10.0) -> Callable[[np.random.Generator, int], Sums]:
    """Right answers out of one and on average so many more a document, or out of on average so many, if these are fewer
    than one; documents are the more `alike`, the larger the number.
    """

    def draw(source: np.random.Generator, documents: int) -> Sums:
        under = source.poisson(answers, documents) + (answers >= 1)
        under[source.integers(documents)] += not under.any()
        over = source.binomial(under, source.beta(alike * mean, alike * (1 - mean), documents))
        return _alone(over, under)

    return draw


def f_of_answers(source: np.random.Generator, documents: int) -> Sums:
    """F .9: 2·right out of keys and answers."""
    keys = 1 + source.poisson(2, documents)
    right = source.binomial(keys, 0.9)
    return _alone(2 * right, keys + right + source.poisson(0.1 * keys))


def pareto_sizes(source: np.random.Generator, documents: int) -> Sums:
    """Precision .8 of documents with sizes of a Pareto distribution with the exponent 1.5."""
    under = np.ceil(3 * (1 + source.pareto(1.5, documents))).clip(max=100_000).astype(np.int64)
    return _alone(source.binomial(under, source.beta(8, 2, documents)), under)


def in_clusters(source: np.random.Generator, documents: int) -> Sums:
    """Items, 90% right, in clusters of four of which half are all right or all wrong together."""
    together = source.random(documents) < 0.5
    right = np.where(together, 4 * (source.random(documents) < 0.9), source.binomial(4, 0.9, documents))
    return _alone(right, np.full(documents, 4))


def graded_shares(source: np.random.Generator, documents: int) -> Sums:
    """Values from 0 to 1, most of them near 1."""
    return _alone(np.rint(1e6 * source.beta(9, 0.6, documents)).astype(np.int64), np.full(documents, 10**6))


def of_decisions(source: np.random.Generator, documents: int) -> Sums:
    """MCC of decisions with recall .98 and fallout .02, half of the documents relevant."""
    while True:
        relevant = source.random(documents) < 0.5
        yes = source.random(documents) < np.where(relevant, 0.98, 0.02)
        cells = np.stack((yes & relevant, yes & ~relevant, ~yes & relevant, ~yes & ~relevant)).astype(np.int64)
        if (cells.sum(axis=1) @ PAIRS_OF_CELLS > 0).all():
            return Sums.of_two_counts(cells, cells, MATTHEWS)


def long_tailed(source: np.random.Generator, documents: int) -> Sums:
    """Values from a lognormal distribution with σ = 1.2, whose mean is 1."""
    values = source.lognormal(-0.72, 1.2, documents)
    return _alone(np.rint(1e6 * values).astype(np.int64), np.full(documents, 10**6))


def _alone(over: Any, under: Any) -> Sums:
    """One system, twice, since sums are of two at least."""
    return Sums.of_ratios(np.stack((over, over)), np.stack((under, under)))


SHARES_OF_ONE = (
    Score("precision .90", ratio(0.9, 4), 0.9),
    Score("precision .90, half an answer a document", ratio(0.9, 0.5), 0.9),
    Score("precision .97", ratio(0.97, 4), 0.97),
    Score("precision .99, 21 answers a document", ratio(0.99, 20), 0.99),
    Score("precision .70, documents differ much", ratio(0.7, 8, 1.0), 0.7),
    Score("precision .80, sizes of a Pareto distribution", pareto_sizes, 0.8),
    Score("F .90", f_of_answers, 0.9),
    Score("items 90% right, in clusters of four", in_clusters, 0.9),
    Score("values from 0 to 1, mean .94", graded_shares, 0.9375),
)
NO_SHARES = (
    Score("MCC .96", of_decisions, 0.96),
    Score("values with a long tail", long_tailed, 1.0),
)


def print_scores(sets: int) -> None:
    """Prints how often intervals of one system's value contain the true one."""
    heads("one system", "interval", *DOCUMENTS)
    kinds: Mapping[str, Callable[[Sums], tuple[float, float] | None]] = {
        WILSON.name: lambda many: _of_share(WILSON, many),
        CLOPPER_PEARSON.name: lambda many: _of_share(CLOPPER_PEARSON, many),
        "studentized": _studentized,
    }
    rows = []
    for scores, called in ((SHARES_OF_ONE, tuple(kinds)), (NO_SHARES, ("studentized",))):
        for score in scores:
            of_sizes = [_of_score(score, documents, sets, kinds) for documents in DOCUMENTS]
            for kind in called:
                cells = [cell[kind] for cell in of_sizes]
                rows.append(
                    (
                        scores is NO_SHARES,
                        list(kinds).index(kind),
                        min(cell[0] for cell in cells),
                        kind,
                        score.name,
                        cells,
                    )
                )
    for _, _, _, kind, name, cells in sorted(rows):
        row(
            name,
            kind,
            *(f"{held:.3f} ({above:.3f}){f' of {given:.0%}' if given < 1 else ''}" for held, above, given in cells),
        )


def _of_share(kind: ShareInterval, many: Sums) -> tuple[float, float] | None:
    share = shares_of(many, 1.0)[0]
    return None if share is None else kind.limits(share, LEVEL)


def _studentized(many: Sums) -> tuple[float, float] | None:
    limits = Bootstrap(Draws(2000)).values(many, IntervalPlan(LEVEL))
    low, high = float(limits.low[0]), float(limits.high[0])
    return (low, high) if low == low else None


def _of_score(
    score: Score, documents: int, sets: int, kinds: Mapping[str, Callable[[Sums], tuple[float, float] | None]]
) -> dict[str, tuple[float, float, float]]:
    """Of each kind, how many of the intervals that there are contain the true value, of how many the lower limit is
    above it, and how many sets have one.
    """
    source, found = np.random.default_rng([1992, documents, *score.name.encode()]), {kind: [0, 0, 0] for kind in kinds}
    for _ in range(sets):
        many = score.draw(source, documents)
        for kind, interval in kinds.items():
            if limits := interval(many):
                found[kind][0] += limits[0] - 1e-9 <= score.true <= limits[1] + 1e-9
                found[kind][1] += limits[0] > score.true + 1e-9
                found[kind][2] += 1
    return {
        kind: (held / max(given, 1), above / max(given, 1), given / sets)
        for kind, (held, above, given) in found.items()
    }


# --- contradictions ---------------------------------------------------------------------------------------------------


def evaluations() -> Iterator[tuple[str, Callable[[np.random.Generator], Sums]]]:
    """Whole evaluations of systems from bad to good."""
    skills = np.linspace(0.35, 0.65, SYSTEMS)

    def extracted(measure: str) -> Callable[[np.random.Generator], Sums]:
        def draw(source: np.random.Generator) -> Sums:
            possible = 1 + source.binomial(20, source.beta(1.5, 3.0, COMPARED))
            ease = source.normal(size=COMPARED)
            precisions = source.permutation(skills)
            found = [Extractor(r, p).fill(source, possible, ease) for r, p in zip(skills, precisions, strict=True)]
            filled, right = (np.stack(columns) for columns in zip(*found, strict=True))
            under = {"recall": possible + 0 * filled, "precision": filled, "F": possible + filled}[measure]
            return Sums.of_ratios(2 * right if measure == "F" else right, under)

        return draw

    def answered(source: np.random.Generator) -> Sums:
        ease = source.normal(size=COMPARED)
        right = source.random((SYSTEMS, COMPARED)) < 1 / (1 + np.exp(-(1.5 * ease + 8 * (skills[:, None] - 0.5) + 0.5)))
        return Sums.of_ratios(right.astype(np.int64), np.ones((SYSTEMS, COMPARED), dtype=np.int64))

    def valued(source: np.random.Generator) -> Sums:
        scores = source.normal(size=COMPARED) + 0.7 * source.normal(size=(SYSTEMS, COMPARED)) + 3 * skills[:, None]
        return Sums.of_ratios(np.rint(1e6 * scores).astype(np.int64), np.ones((SYSTEMS, COMPARED), dtype=np.int64))

    for measure in ("F", "recall", "precision"):
        yield measure, extracted(measure)
    yield "items right or wrong", answered
    yield "values", valued


def contradictions(draw: Callable[[np.random.Generator], Sums]) -> list[str]:
    """The share of pairs whose interval excludes 0 although p is above the level, or contains it although p is not."""
    source, pairs = np.random.default_rng(1992), list(combinations(range(SYSTEMS), 2))
    bootstrap = Bootstrap(Draws(2000))
    wrong = np.zeros(len(INTERVALS))
    first, second = np.array(pairs).T
    for number in range(ROUNDS):
        many = draw(source)
        p = (all_pairs_test([many], Draws(9999, stream=number))[0][first, second] + 1) / 10_000
        for place, kind in enumerate(INTERVALS):
            limits = bootstrap.differences(many, pairs, IntervalPlan(LEVEL, kind))
            outside = (limits.low > 0) | (limits.high < 0)
            wrong[place] += np.count_nonzero(outside != (p <= LEVEL))
    return [f"{share:.1%}" for share in wrong / (ROUNDS * len(pairs))]


def print_contradictions() -> None:
    """Prints how often intervals contradict verdicts."""
    heads("measure", *(f"`{kind.name}`" for kind in INTERVALS))
    for name, draw in evaluations():
        row(name, *contradictions(draw))


# --- one system's share of right items --------------------------------------------------------------------------------

ITEMS = (6, 10, 20, 50, 100, 1000)
TRUE_SHARES = (0.5, 0.75, 0.9, 0.95, 0.99)
WORST_AMONG = np.arange(1, 1000) / 1000
"""True shares, of which the table gives the worst."""


def print_shares() -> None:
    """Prints how often both kinds of interval contain the true share, and how often their lower limit is above it."""
    heads("true share", "interval", *ITEMS)
    for kind in (WILSON, CLOPPER_PEARSON):
        worst = [_misses(kind, items, WORST_AMONG) for items in ITEMS]
        row("worst", kind.name, *(f"{1 - (above + below).max():.3f}" for above, below in worst))
        row("lower limit above it, worst", kind.name, *(f"{above.max():.3f}" for above, _ in worst))
        for share in TRUE_SHARES:
            of_each = [_misses(kind, items, np.array([share])) for items in ITEMS]
            row(share, kind.name, *(f"{1 - float((above + below)[0]):.3f}" for above, below in of_each))


def _misses(kind: ShareInterval, items: int, true: Floats) -> tuple[Floats, Floats]:
    """How often the interval lies above the true shares, and below them."""
    above, below = np.zeros((2, len(true)))
    logs = np.log(true), np.log1p(-true)
    for right in range(items + 1):
        low, high = kind.limits(Share(right, items), LEVEL)
        ways = lgamma(items + 1) - lgamma(right + 1) - lgamma(items - right + 1)
        chances = np.exp(ways + right * logs[0] + (items - right) * logs[1])
        above += np.where(low > true, chances, 0.0)
        below += np.where(high < true, chances, 0.0)
    return above, below


TABLES: Mapping[str, Callable[[int], None]] = {
    "differences": print_differences,
    "scores": print_scores,
    "contradictions": lambda _: print_contradictions(),
    "shares": lambda _: print_shares(),
}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="measures the coverage of intervals")
    parser.add_argument("--sets", type=int, default=1000, help="evaluations drawn for each design and size")
    parser.add_argument("--only", choices=list(TABLES), help="one of the tables")
    args = parser.parse_args()
    for name, table in TABLES.items():
        if args.only in (None, name):
            table(args.sets)
            print()


if __name__ == "__main__":
    main()
