"""How often tests find a difference when there is none: the size of each test at the level 0.05, by simulation.

    python benchmarks/validity.py [--sets 2000] [--only TABLE]

Every simulated evaluation has two or more systems with the same measure in the population, so any difference that a
test finds is an error; or, for margins, a first system that is worse by just the margin, so that it is an error to find
it not worse. Seeds are fixed, and the same arguments print the same tables. With 2,000 sets, a test whose
size is 0.05 is measured between 0.04 and 0.06 nineteen times in twenty.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import getdoc
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.few_answers import MATTHEWS, MEASURES, PAIRS_OF_CELLS
from benchmarks.tables import heads, row
from evalhouse.warehouse.comparing.sums import average_of
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance import independent, matched, multiple
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test
from evalhouse.warehouse.significance.draws import Draws, Outcome, Sides
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import functional_test, randomization_test
from evalhouse.warehouse.significance.shuffles.studentized import (
    all_pairs_studentized,
    studentized_family,
    studentized_test,
)
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import find_test
from evalhouse.warehouse.store.replacement import create

LEVEL = 0.05
SHUFFLES = 499
SHARES = (1.0, 0.3, 0.1, 0.05)
SIZES = (10, 20, 50, 100)

Integers = NDArray[np.int64]
Source = np.random.Generator


# --- evaluations in which nothing differs -----------------------------------------------------------------------------


def answered(source: Source, documents: int, share: float) -> NDArray[np.bool_]:
    """Which documents a system answers. Each has the same probability, and at least one is answered."""
    while True:
        chosen = source.random(documents) < share
        if chosen.any():
            return chosen


def precision(source: Source, documents: int, share: float, systems: int = 2) -> Sums:
    """Precision 0.5: the first system answers a share of the documents, the others answer all. Documents differ in
    difficulty.
    """
    ease = source.beta(2, 2, documents)
    found = 1 + source.poisson(5, (systems, documents))
    found[0] *= answered(source, documents, share)
    return Sums.of_ratios(source.binomial(found, ease), found)


def high_precision(source: Source, documents: int, share: float) -> Sums:
    """The same with precision 0.9 and fewer answers. On most documents everything is right, so values are skewed."""
    ease = source.beta(9, 1, documents)
    found = 1 + source.poisson(2, (2, documents))
    found[0] *= answered(source, documents, share)
    return Sums.of_ratios(source.binomial(found, ease), found)


def f(source: Source, documents: int, share: float) -> Sums:
    """Equal F: the first system answers a share of the documents with precision 0.75 and recall 0.6 there. The other
    answers all documents, and has the same F with lower precision and recall.
    """
    possible, ease = 1 + source.poisson(6, documents), source.uniform(0.5, 1.5, documents)
    chosen = answered(source, documents, share)
    right_a = source.binomial(possible * chosen, 0.6 * ease)
    found_a = right_a + source.poisson(0.2 * possible * chosen)
    both = 2 * 0.6 * share / (1 + 0.8 * share)
    right_b = source.binomial(possible, both * ease)
    found_b = right_b + source.poisson((1 - both) * possible)
    return Sums.of_ratios(2 * np.stack((right_a, right_b)), possible + np.stack((found_a, found_b)))


def recall(source: Source, documents: int, share: float) -> Sums:
    """Equal recall: the first system finds 60% in a share of the documents, the other finds the same amount in all."""
    possible, ease = 1 + source.poisson(6, documents), source.uniform(0.5, 1.5, documents)
    chosen = answered(source, documents, share)
    right = source.binomial(possible, 0.6 * np.stack((chosen * ease, share * ease)))
    return Sums.of_ratios(right, np.stack((possible, possible)))


def items(source: Source, documents: int, share: float) -> Sums:
    """Accuracy 0.7: documents that are right or wrong."""
    ease = source.beta(2.1, 0.9, documents)
    return Sums.of_ratios(source.binomial(1, ease, (2, documents)), np.ones((2, documents), dtype=np.int64))


DESIGNS: Mapping[str, Callable[[Source, int, float], Sums]] = {
    "precision": precision,
    "precision 0.9": high_precision,
    "F": f,
    "recall": recall,
    "right or wrong": items,
}


# --- tests ------------------------------------------------------------------------------------------------------------


def differences(paired: Sums) -> Integers:
    """The differences that matched-pair tests use."""
    return matched.differences(paired)


def proportions(paired: Sums) -> tuple[int, int, int, int]:
    """The right and wrong answers of both systems."""
    (right_a, of_a), (right_b, of_b) = paired.totals(0), paired.totals(1)
    return right_a, of_a - right_a, right_b, of_b - right_b


def _z(paired: Sums) -> Outcome:
    (right_a, of_a), (right_b, of_b) = paired.totals(0), paired.totals(1)
    return independent.z(right_a, of_a, right_b, of_b)


def _two_sample(paired: Sums) -> Outcome:
    a, b = paired.unit_values(0), paired.unit_values(1)
    return independent.two_sample_t(a[~np.isnan(a)], b[~np.isnan(b)])


def _mcnemar(paired: Sums) -> Outcome:
    values = differences(paired)
    return matched.mcnemar(int((values > 0).sum()), int((values < 0).sum()))


DRAWN: Mapping[str, Callable[[Sums, Draws], Outcome]] = {
    "randomization": randomization_test,
    "studentized": studentized_test,
    "bootstrap": bootstrap_test,
}

FORMULAS: Mapping[str, Callable[[Sums], Outcome]] = {
    "sign": lambda paired: matched.sign(differences(paired)),
    "wilcoxon": lambda paired: matched.wilcoxon(differences(paired)),
    "t": lambda paired: matched.t(differences(paired)),
    "mcnemar": _mcnemar,
    "two-sample-t": _two_sample,
    "z": _z,
    "chi-square": lambda paired: independent.chi_square(*proportions(paired)),
}


ALL = (*DRAWN, *FORMULAS)


def finds(name: str, paired: Sums, stream: int) -> bool | None:
    """Whether a test finds a difference; None if it does not apply, or refuses."""
    try:
        if name in DRAWN:
            return DRAWN[name](paired, Draws(SHUFFLES, stream=stream)).p <= LEVEL
        return FORMULAS[name](paired).p <= LEVEL
    except ValueError:
        return None


def sizes(names: tuple[str, ...], design: str, documents: int, share: float, sets: int) -> list[str]:
    """How often each test finds a difference; a dash if it does not apply to most sets."""
    source = np.random.default_rng([documents, round(1000 * share), *design.encode()])
    answers: dict[str, list[bool | None]] = {name: [] for name in names}
    for stream in range(sets):
        paired = DESIGNS[design](source, documents, share).pair(0, 1)
        for name in names:
            answers[name].append(finds(name, paired, stream))
    return [
        "–" if of_test.count(None) > sets / 2 else f"{of_test.count(True) / sets:.3f}" for of_test in answers.values()
    ]


# --- tables -----------------------------------------------------------------------------------------------------------


def unequal(sets: int) -> None:
    """Two systems, the first of which answers a share of the documents."""
    names = ("randomization", "studentized", "bootstrap", "sign", "t")
    heads("measure", "documents", "answered", *names)
    for design in ("precision", "precision 0.9", "F", "recall"):
        for documents in SIZES:
            for share in SHARES:
                if share * documents >= 1:
                    row(design, documents, f"{share:.0%}", *sizes(names, design, documents, share, sets))


def family(sets: int) -> None:
    """Five systems, the first of which answers a tenth of the documents or all: how often any pair differs."""
    ways = ("none", "bh", "holm", "maxt", "tukey", "studentized", "studentized, holm", "studentized, maxt")
    heads("documents", "answered", *ways)
    pairs = list(combinations(range(5), 2))
    for documents in (50, 100):
        for share in (1.0, 0.1):
            source = np.random.default_rng([documents, round(1000 * share), 5])
            wrong = dict.fromkeys(ways, 0)
            for stream in range(sets):
                many, draws = precision(source, documents, share, systems=5), Draws(SHUFFLES, stream=stream)
                for name, levels in of_family(many, pairs, draws):
                    wrong[name] += bool(min(levels) <= LEVEL)
            row(documents, f"{share:.0%}", *(f"{count / sets:.3f}" for count in wrong.values()))


def of_family(many: Sums, pairs: list[tuple[int, int]], draws: Draws) -> Iterator[tuple[str, Any]]:
    """The p-values of all pairs, adjusted in each way."""

    def levels(nge: Integers) -> list[float]:
        return [(int(nge[pair]) + 1) / (draws.shuffles + 1) for pair in pairs]

    plain, studentized = levels(all_pairs_test([many], draws)[0]), levels(all_pairs_studentized([many], draws)[0])
    yield "none", plain
    yield "bh", multiple.benjamini_hochberg(plain)
    yield "holm", multiple.holm(plain)
    yield "maxt", multiple.westfall_young(many, pairs, draws)
    yield "tukey", levels(multiple.tukey(many, draws))
    yield "studentized", studentized
    yield "studentized, holm", multiple.holm(studentized)
    family_here = studentized_family(many, pairs, "two-sided")
    reached = multiple.count_reached_by_largest(family_here, draws)
    yield "studentized, maxt", multiple.step_down(family_here, (reached + 1) / (draws.shuffles + 1))


def over(sets: int) -> None:
    """Five systems that are equally good on each of three test sets, the first of which answers a share of the
    documents: how often any pair differs in the average over the test sets, adjusted by max-T.
    """
    pairs = list(combinations(range(5), 2))
    tests = ("randomization", "studentized")
    heads("measure", "documents", "answered", *tests)
    for measure, (drawn, sizes_of) in MEASURES.items():
        for documents in sizes_of:
            for share in (1.0, 0.3, 0.1):
                source = np.random.default_rng([documents, round(1000 * share), *measure.encode()])
                wrong = dict.fromkeys(tests, 0)
                for stream in range(sets):
                    many = average_of([drawn(source, documents, share) for _ in range(3)])
                    for test in tests:
                        levels = adjusted(many, pairs, test, "two-sided", Draws(SHUFFLES, stream=stream))
                        wrong[test] += bool((levels <= LEVEL).any())
                row(measure, documents, f"{share:.0%}", *(f"{count / sets:.3f}" for count in wrong.values()))


def adjusted(many: Sums, pairs: Sequence[tuple[int, int]], test: str, sides: Sides, draws: Draws) -> Floats:
    """The p-values of pairs, adjusted by step-down max-T."""
    exchange = find_test(test).exchange
    assert exchange is not None
    of_all = exchange.family(many, pairs, sides)
    reached = multiple.count_reached_by_largest(of_all, draws)
    return multiple.step_down(of_all, (reached + 1.0) / (draws.shuffles + 1))


def few(sets: int) -> None:
    """Two systems that answer all of a few documents."""
    heads("measure", "documents", *ALL)
    for design in ("precision", "precision 0.9", "F", "recall", "right or wrong"):
        for documents in (2, 5, 10, 20, 30):
            row(design, documents, *sizes(ALL, design, documents, 1.0, sets))


def mcc(sets: int) -> None:
    """Two systems of equal MCC. The first says yes less often; the other says yes to 40% of the documents."""
    heads("documents", "says yes", "randomization", "studentized")
    for documents in (50, 100, 300):
        for share in (0.4, 0.2, 0.1, 0.05):
            source = np.random.default_rng([documents, round(1000 * share), 4])
            tests: tuple[Callable[[Sums, Draws], Outcome], ...] = (functional_test, studentized_test)
            wrong = [0] * len(tests)
            for stream in range(sets):
                paired = decisions(source, documents, (share, 0.4))
                for place, test in enumerate(tests):
                    wrong[place] += test(paired, Draws(SHUFFLES, stream=stream)).p <= LEVEL
            row(documents, f"{share:.0%}", *(f"{count / sets:.3f}" for count in wrong))


def skew(sets: int) -> None:
    """Two systems of equal mean and equal denominators, the first 0.1 better on nine documents of ten and 0.9 worse on
    the tenth.
    """
    heads("documents", "randomization", "wilcoxon")
    for documents in (10, 20, 50, 100, 400):
        source = np.random.default_rng([documents, 5])
        wrong = [0, 0]
        for stream in range(sets):
            difference = np.where(source.random(documents) < 0.9, 1, -9)
            values = np.stack((10 + difference, np.full(documents, 10)))
            paired = Sums.of_ratios(values, np.full_like(values, 10))
            wrong[0] += randomization_test(paired, Draws(SHUFFLES, stream=stream)).p <= LEVEL
            wrong[1] += matched.wilcoxon(difference.astype(np.float64), "two-sided").p <= LEVEL
        row(documents, *(f"{count / sets:.3f}" for count in wrong))


def clusters(sets: int) -> None:
    """Two systems of equal accuracy on passages of five questions. Who misreads a passage fails all of them."""
    heads("passages", "misread", "questions exchanged", "passages exchanged")
    for passages in (10, 20, 50, 100):
        for share in (0.0, 0.1, 0.3):
            source = np.random.default_rng([passages, round(100 * share), 6])
            wrong = [0, 0]
            for stream in range(sets):
                understood = source.random((2, passages, 1)) >= share
                right = (understood & (source.random((2, passages, 5)) < 0.8)).astype(np.int64)
                for place, (units, size) in enumerate(((right.reshape(2, -1), 1), (right.sum(axis=2), 5))):
                    paired = Sums.of_ratios(units, np.full_like(units, size))
                    wrong[place] += randomization_test(paired, Draws(SHUFFLES, stream=stream)).p <= LEVEL
            row(passages, f"{share:.0%}", *(f"{count / sets:.3f}" for count in wrong))


def margins(sets: int) -> None:
    """The first of two systems is worse by just the margin: how often it is found not worse, the worst row first."""
    rows = []
    for name, (margin, drawn) in AT_THE_MARGIN.items():
        shares = []
        for documents in (5, 10, 20, 50):
            source = np.random.default_rng([documents, *name.encode()])
            verdicts = verdicts_on([drawn(source, documents) for _ in range(sets)], margin)
            shares.append(sum(verdicts.count(wrong) for wrong in ("not worse", "better", "equivalent")) / sets)
        rows.append((name, margin, shares))
    heads("true values", "margin", "5 documents", "10", "20", "50")
    for name, margin, shares in sorted(rows, key=lambda row: -max(row[2])):
        row(name, margin, *(f"{share:.3f}" for share in shares))


def verdicts_on(evaluations: Sequence[Sums], margin: str) -> list[str]:
    """The verdict of `compare … margin` on each evaluation."""
    [rows] = answers_on(evaluations, [f"compare {{measure}} for first, second on all margin {margin}"])
    return [str(row["verdict"]) for row in rows]


def answers_on(evaluations: Sequence[Sums], statements: Sequence[str]) -> list[list[dict[str, Any]]]:
    """The rows of statements about evaluations, which are the test sets of one warehouse. In these, ratios of at most 1
    are precision.
    """
    shares = all((sums.numerators <= sums.denominators).all() for sums in evaluations)
    names, measure = (("correct", "actual"), "precision") if shares else (("over", "under"), "ratio")
    with tempfile.TemporaryDirectory() as folder:
        table, warehouse = Path(folder) / "counts.csv", Path(folder) / "w.duckdb"
        with table.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(("test_set", "system", "document", *names, *(["possible", "partial"] if shares else [])))
            for number, sums in enumerate(evaluations):
                for system, name in enumerate(("first", "second")[: sums.systems]):
                    counts = zip(*(column[system].tolist() for column in sums.columns), strict=True)
                    rows.writerows(
                        (f"t{number:05}", name, f"d{place}", *of, *([of[0], 0] if shares else []))
                        for place, of in enumerate(counts)
                    )
        with create(warehouse) as database:
            load(database, table, "scores" if shares else "counts")
        with Session.open(warehouse) as session:
            if not shares:
                list(session.results("define measure ratio = over / under"))
            return [list(session.run(statement.format(measure=measure)).rows) for statement in statements]


def expectations(sets: int) -> None:
    """What `expect` was told is false, though by as little as can be: how often it is met."""
    found = []
    for design, (expected, drawn) in FALSE.items():
        shares = []
        for documents in (5, 10, 20, 50):
            source = np.random.default_rng([documents, *design.encode(), *expected.encode()])
            [rows] = answers_on([drawn(source, documents) for _ in range(sets)], [f"expect {expected}"])
            shares.append(sum(row["met"] is True for row in rows) / sets)
        found.append((expected.replace("{measure}", "M"), design, shares))
    heads("expected", "true values", "5 documents", "10", "20", "50")
    for expected, design, shares in sorted(found, key=lambda one: -max(one[2])):
        row(f"`{expected}`", design, *(f"{share:.3f}" for share in shares))


def ratios_apart(first: float, second: float, answers: float, share: float = 1.0) -> Callable[[Source, int], Sums]:
    """Two ratios such as precision, of one answer a document and on average so many more; the first system answers a
    share of the documents.
    """

    def drawn(source: Source, documents: int) -> Sums:
        found = 1 + source.poisson(answers, (2, documents))
        found[0] *= answered(source, documents, share)
        ease = np.stack([source.beta(10 * mean, 10 * (1 - mean), documents) for mean in (first, second)])
        return Sums.of_ratios(source.binomial(found, ease), found)

    return drawn


def right_or_wrong(first: float, second: float) -> Callable[[Source, int], Sums]:
    """Items that are right or wrong."""

    def drawn(source: Source, documents: int) -> Sums:
        right = source.random((2, documents)) < np.array([[first], [second]])
        return Sums.of_ratios(right.astype(np.int64), np.ones((2, documents), dtype=np.int64))

    return drawn


def long_tailed(source: Source, documents: int) -> Sums:
    """Amounts with a long tail, those of the first system on average 0.95 of the second's."""
    hard = source.lognormal(8, 0.5, documents)
    amounts = np.stack([mean * hard * source.lognormal(-0.02, 0.2, documents) for mean in (0.95, 1.0)])
    return Sums.of_ratios(np.rint(amounts).astype(np.int64), np.ones((2, documents), dtype=np.int64))


AT_THE_MARGIN: Mapping[str, tuple[str, Callable[[Source, int], Sums]]] = {
    "precision .93 and .97": ("4%", ratios_apart(0.93, 0.97, 4)),
    "precision .93 and .97, few answers": ("4%", ratios_apart(0.93, 0.97, 0.5)),
    "precision .93 and .97, the first answers 30%": ("4%", ratios_apart(0.93, 0.97, 4, 0.3)),
    "precision .65 and .70": ("5%", ratios_apart(0.65, 0.70, 4)),
    "accuracy .90 and .95": ("5%", right_or_wrong(0.90, 0.95)),
    "accuracy .65 and .70": ("5%", right_or_wrong(0.65, 0.70)),
    "amounts with a long tail": ("5% of B", long_tailed),
    "precision .76 and .80": ("5% of B", ratios_apart(0.76, 0.80, 4)),
    "precision .9215 and .97": ("5% of B", ratios_apart(0.9215, 0.97, 4)),
    "precision .76 and .80, the first answers 30%": ("5% of B", ratios_apart(0.76, 0.80, 4, 0.3)),
}
"""Two systems that differ by just a margin."""


def alone(drawn: Callable[[Source, int], Sums]) -> Callable[[Source, int], Sums]:
    """The first of two systems."""

    def first(source: Source, documents: int) -> Sums:
        return drawn(source, documents).only([0])

    return first


_PAIR = "compare {measure} for first, second on all"
_SCORE = "score {measure} for all on all at"

FALSE: Mapping[str, tuple[str, Callable[[Source, int], Sums]]] = {
    "accuracy .80 and .80": (f"different {_PAIR}", right_or_wrong(0.8, 0.8)),
    "accuracy .80 and .80, the first better": (f"better {_PAIR}", right_or_wrong(0.8, 0.8)),
    "precision .80 and .80": (f"better {_PAIR}", ratios_apart(0.8, 0.8, 4)),
    "precision .80 and .80, the first answers 30%": (
        f"better {_PAIR} test studentized",
        ratios_apart(0.8, 0.8, 4, 0.3),
    ),
    "precision .80 and .80, the first answers 30%, by randomization": (
        f"better {_PAIR}",
        ratios_apart(0.8, 0.8, 4, 0.3),
    ),
    "precision .80 and .80, the second better": (f"worse {_PAIR}", ratios_apart(0.8, 0.8, 4)),
    "accuracy .90 and .95": (f"not worse {_PAIR} margin 5%", right_or_wrong(0.90, 0.95)),
    "accuracy .90 and .95, equivalent": (f"equivalent {_PAIR} margin 5%", right_or_wrong(0.90, 0.95)),
    "precision .93 and .97": (f"not worse {_PAIR} margin 4%", ratios_apart(0.93, 0.97, 4)),
    "precision .76 and .80": (f"equivalent {_PAIR} margin 5% of B", ratios_apart(0.76, 0.80, 4)),
    "accuracy .90, above": (f"{_SCORE} least 0.9 interval", alone(right_or_wrong(0.9, 0.9))),
    "accuracy .99, above": (f"{_SCORE} least 0.99 interval", alone(right_or_wrong(0.99, 0.99))),
    "accuracy .50, below": (f"{_SCORE} most 0.5 interval", alone(right_or_wrong(0.5, 0.5))),
    "precision .90, above": (f"{_SCORE} least 0.9 interval", alone(ratios_apart(0.9, 0.9, 4))),
    "precision .90, below": (f"{_SCORE} most 0.9 interval", alone(ratios_apart(0.9, 0.9, 4))),
    "precision .90 of few answers, above": (f"{_SCORE} least 0.9 interval", alone(ratios_apart(0.9, 0.9, 0.5))),
    "precision .50, above": (f"{_SCORE} least 0.5 interval", alone(ratios_apart(0.5, 0.5, 4))),
}
"""By true values, something false to expect of them: what holds is at the edge of it."""


def decisions(source: Source, documents: int, shares: tuple[float, float]) -> Sums:
    """Decisions on documents, 40% of them relevant, by two systems with MCC 0.25 that say yes to these shares
    of them.
    """
    while True:
        relevant, ease = source.random(documents) < RELEVANT, source.normal(0, 0.7, documents)
        cells = []
        for share in shares:
            distance, threshold = detection(share)
            yes = ease + source.normal(0, 0.7, documents) + distance * relevant > threshold
            cells.append(np.stack((relevant & yes, ~relevant & yes, relevant & ~yes, ~relevant & ~yes)))
        counts = np.stack(cells).astype(np.int64)
        if all((counts.sum(axis=2) @ PAIRS_OF_CELLS > 0).all(axis=1)):
            return Sums.of_two_counts(counts[0], counts[1], MATTHEWS)


RELEVANT = 0.4


@cache
def detection(share: float) -> tuple[float, float]:
    """The distance of relevant documents from the others, in a normal distribution with variance 0.98, and the
    threshold at which a system says yes to a given share of all documents and has MCC 0.25.
    """
    normal = NormalDist(0, 0.98**0.5)

    def beyond(distance: float, threshold: float) -> tuple[float, float]:
        return RELEVANT * normal.cdf(distance - threshold), (1 - RELEVANT) * normal.cdf(-threshold)

    def threshold_at(distance: float) -> float:
        return bisected(lambda threshold: share - sum(beyond(distance, threshold)), -9, 9)

    def excess(distance: float) -> float:
        hits, alarms = beyond(distance, threshold_at(distance))
        yes = hits + alarms
        over = hits * (1 - RELEVANT - alarms) - alarms * (RELEVANT - hits)
        return float(over / (yes * (1 - yes) * RELEVANT * (1 - RELEVANT)) ** 0.5 - 0.25)

    distance = bisected(excess, 0, 9)
    return distance, threshold_at(distance)


def bisected(rising: Callable[[float], float], low: float, high: float) -> float:
    """The zero of an increasing function."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > 0 else (middle, high)
    return low


TABLES: Mapping[str, Callable[[int], None]] = {
    "unequal": unequal,
    "family": family,
    "over": over,
    "few": few,
    "mcc": mcc,
    "skew": skew,
    "clusters": clusters,
    "margins": margins,
    "expectations": expectations,
}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="how often tests find a difference where there is none")
    parser.add_argument("--sets", type=int, default=2000, help="simulated evaluations a row")
    parser.add_argument("--only", choices=list(TABLES), help="one of the tables")
    args = parser.parse_args()
    for name, table in TABLES.items():
        if args.only in (None, name):
            print(f"\n{getdoc(table)}\n")
            table(args.sets)


if __name__ == "__main__":
    main()
