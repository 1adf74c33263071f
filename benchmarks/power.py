"""How long power takes, compared with the same simulations in SciPy, and how close its results are to the true power.

    python benchmarks/power.py [--only time | found | needed] [--samples 1000] [--pilots 300]

prints three Markdown tables. The first has processor time, in one run: a
statement in an open session that simulates 50 powers of F of two systems and searches for five numbers of documents,
with 2,000 simulations each; and the same number of samples of its 100 documents, each tested with SciPy's permutation
test. Only a few of the latter are run, and their time is multiplied.

In the second, a test set of a few hundred documents is drawn from a known population and predicts the power for other
numbers of documents. Beside it is the share of `--samples` samples of the population in which the exact test does find
that difference. The last rows have 2,000 sentences and one point of BLEU, once with differences and once with n-gram
counts that vary as Card et al. (2020) found.

The third shows how often the interval of `documents_needed` holds the number that the population needs, over
`--pilots` test sets of few documents, the lowest share first.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from math import sqrt
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tables import heads, row
from evalhouse.warehouse.measures import Function, find_measure, settle
from evalhouse.warehouse.results import Cell
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.exact.counting import exact_test
from evalhouse.warehouse.significance.power.pilots import limits_of_variance
from evalhouse.warehouse.significance.power.populations import Oriented, population_of
from evalhouse.warehouse.significance.power.simulation import Criterion, Simulation
from evalhouse.warehouse.significance.sums import Sums, Valuation

STATEMENT = (
    "power F for GE, UMASS on TST3 detect 3%, 5%, 7%, 10%, 15% documents 25, 50, 75, 100, 150, 200, 300, 400, 600, 1000"
)
CELLS, SIMULATIONS, SHUFFLES = 50, 2000, 9999
PILOTS = 20
"""The number of test sets that predict their power."""

Chance = np.random.Generator


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def whole(cell: Cell) -> int:
    return int(cell or 0)


def with_scipy(samples: int) -> float:
    """The time of this many samples of 100 documents, each with a permutation test of F."""
    with Session.open() as session:
        rows = session.run("sql \"from scores where test_set = 'TST3' and system in ('GE', 'UMASS')\"").rows
    by_system = {
        name: np.array(
            [
                (2 * whole(row["correct"]) + whole(row["partial"]), whole(row["possible"]) + whole(row["actual"]))
                for row in sorted(rows, key=lambda row: str(row["document"]))
                if row["system"] == name
            ]
        )
        for name in ("GE", "UMASS")
    }
    a, b = by_system["GE"], by_system["UMASS"]

    def difference(x: NDArray[np.int64], y: NDArray[np.int64], axis: int) -> NDArray[np.float64]:
        """Documents are numbered; those of the first system come before those of the second."""
        both = np.concatenate((a, b))
        first, second = both[x].sum(axis=axis if axis >= 0 else -2), both[y].sum(axis=axis if axis >= 0 else -2)
        return np.asarray(first[..., 0] / first[..., 1] - second[..., 0] / second[..., 1])

    chance = np.random.default_rng(1992)

    def loop() -> None:
        for _ in range(samples):
            drawn = chance.integers(0, len(a), len(a))
            stats.permutation_test(
                (drawn, drawn + len(a)),
                difference,
                permutation_type="samples",
                vectorized=True,
                n_resamples=SHUFFLES,
                batch=1000,
                rng=chance,
            )

    return seconds(loop)


# --- the true power ---------------------------------------------------------------------------------------------------


class Known(Struct, frozen=True):
    """A known population: how documents are drawn from it, as numerators and denominators of two systems with shape (2,
    documents), the value of one unit of the numerator, and the difference between the systems.
    """

    name: str
    draw: Callable[[Chance, int], tuple[NDArray[np.int64], NDArray[np.int64]]]
    factor: float
    shifted: bool


def values(chance: Chance, documents: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Skewed values; those of the first system are higher by 0.1 on average."""
    common = chance.gamma(2, 1, documents)
    both = np.stack((common + chance.gamma(4, 0.25, documents) + 0.1, common + chance.gamma(4, 0.25, documents)))
    return np.rint(1000 * both).astype(np.int64), np.ones_like(both, dtype=np.int64)


def items(chance: Chance, documents: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Right or wrong: only the first system gets 15% right, and only the second gets 9% right."""
    kind = chance.random(documents)
    both = np.stack((kind < 0.15 + 0.5, (kind >= 0.15) & (kind < 0.65 + 0.09)))
    return both.astype(np.int64), np.ones_like(both, dtype=np.int64)


def answers(chance: Chance, documents: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """F of extraction, on documents of different lengths and difficulty. The first system finds more and
    answers more.
    """
    possible, hard = 1 + chance.poisson(8, documents), chance.beta(4, 4, documents)
    right = np.stack([chance.binomial(possible, np.clip(hard + raised, 0, 1)) for raised in (0.04, 0.0)])
    actual = np.stack([one + chance.poisson(rate, documents) for one, rate in zip(right, (3.0, 2.6), strict=True)])
    return 2 * right, possible + actual


KNOWN = (
    Known("values, skewed", values, 1e-3, True),
    Known("right or wrong", items, 1.0, False),
    Known("F", answers, 1.0, False),
)


def difference_of(known: Known, chance: Chance) -> float:
    over, under = (part.sum(axis=1) for part in known.draw(chance, 2_000_000))
    return float(known.factor * (over[0] / under[0] - over[1] / under[1]))


def found(known: Known, documents: int, samples: int, chance: Chance) -> float:
    """How often the exact test finds the difference in samples of the population."""
    times = 0
    for _ in range(samples):
        over, under = known.draw(chance, documents)
        if known.shifted:
            # Rounded to hundredths, so that the exact test is quick.
            over = np.rint(over / 20).astype(np.int64)
        times += int(exact_test(Sums.of_two(over[0], under[0], over[1], under[1])).p <= 0.05)
    return times / samples


def said(known: Known, there: int, documents: int, amount: float, chance: Chance) -> list[float]:
    """The power that test sets with this many documents predict."""
    powers = []
    for pilot in range(PILOTS):
        population = population_of(Sums.of_ratios(*known.draw(chance, there)), known.factor, known.shifted)
        assert population is not None
        simulation = Simulation(population, Criterion(0.05, "two-sided"), Draws(SIMULATIONS, 1992, pilot))
        (simulated,) = simulation.powers(documents, [amount])
        powers.append(0.0 if simulated is None else simulated.power)
    return powers


# --- the number of documents that are needed --------------------------------------------------------------------------

TRUTH = 100_000
"""The number of documents that stands for the population."""


def needed_by(known: Known, there: int, amount: float, chance: Chance, stream: int) -> tuple[float, float, float]:
    """The documents that a pilot says are needed, and the limits; NaN where the systems never differ in it."""
    population = population_of(Sums.of_ratios(*known.draw(chance, there)), known.factor, known.shifted)
    if population is None:
        return np.nan, np.nan, np.nan
    criterion = Criterion(0.05, "two-sided")
    needed = Simulation(population, criterion, Draws(SIMULATIONS, 1992, stream)).needed(amount, 0.8)
    low, high = limits_of_variance(there, population.kurtosis)
    return (np.nan,) * 3 if needed is None else (needed, needed * low, needed * high)


def print_needed(pilots: int) -> None:
    """How often the interval of `documents_needed` holds what the population needs, and how wide it is."""
    chance, rows = np.random.default_rng(1992), []
    for known in KNOWN:
        amount = difference_of(known, chance)
        true, _, _ = needed_by(known, TRUTH, amount, chance, 0)
        for there in (10, 20, 50, 100, 400):
            found = np.array([needed_by(known, there, amount, chance, stream) for stream in range(pilots)])
            told = found[~np.isnan(found[:, 0])]
            held = float(np.mean((told[:, 1] <= true) & (true <= told[:, 2])))
            low, high = np.quantile(told[:, 0], (0.05, 0.95))
            apart = np.median(told[:, 2] / told[:, 1])
            lost = 1 - len(told) / len(found)
            rows.append((known.name, there, true, low, high, held, apart, lost))
    heads("population", "documents there", "needed", "told, from", "to", "held", "limits apart by", "no number")
    for name, there, true, low, high, held, apart, lost in sorted(rows, key=lambda row: row[5]):
        row(name, there, f"{true:.0f}", f"{low:.0f}", f"{high:.0f}", f"{held:.3f}", f"{apart:.1f} ×", f"{lost:.0%}")


# --- BLEU -------------------------------------------------------------------------------------------------------------


def differences_of_sentences(sentences: int = 2000, zero: float = 0.13, scale: float = 25.8) -> Sums:
    """What each sentence contributes to a difference of BLEU, in thousandths of a point: nothing, or half of the change
    when it is exchanged, which is Laplace-distributed (Card et al. 2020).
    """
    changing = round(sentences * (1 - zero))
    changes = stats.laplace.ppf((np.arange(changing) + 0.5) / changing)
    differences = np.rint(1000 * np.append(scale / 2 * changes, np.zeros(sentences - changing))).astype(np.int64)
    return Sums.of_ratios(np.stack((differences, np.zeros_like(differences))), np.ones((2, sentences), dtype=np.int64))


def counts_of_sentences(share: float, chance: Chance, sentences: int = 2000) -> Sums:
    """N-gram counts of two translations. A `share` of a sentence's quality is independent in each translation. In 13%
    of the sentences both translations are equal.
    """
    bleu = settle(find_measure("BLEU", "counts"), {}).computation  # type: ignore[arg-type]
    assert isinstance(bleu, Function)
    length = 5 + chance.poisson(20, sentences)
    common, alike = chance.beta(2, 2, sentences), np.arange(sentences) < 0.13 * sentences
    first = [np.zeros(0, dtype=np.int64)] * 4
    systems = []
    for _ in range(2):
        skill = (1 - share) * common + share * chance.beta(0.7, 0.7, sentences)
        matches = [chance.binomial(length, 0.3 + 0.7 * skill)]
        for n in range(1, 4):
            matches.append(np.minimum(length - n, chance.binomial(matches[-1], 0.2 + 0.8 * skill)))
        matches = [np.where(alike, f, m) for f, m in zip(first, matches, strict=True)] if first[0].size else matches
        first = matches
        by_name = {"sys": length, "ref": length}
        by_name |= {f"correct-{n + 1}": matches[n] for n in range(4)}
        by_name |= {f"total-{n + 1}": length - n for n in range(4)}
        systems.append(np.stack([by_name[column] for column in bleu.columns]))
    columns = bleu.columns

    def values_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return bleu.values(dict(zip(columns, sums, strict=True)))

    return Sums.of_counts(np.stack(systems).astype(np.int64), Valuation(values_of, bleu.exact))


def with_the_variance(wanted: float) -> Sums:
    """Counts whose sentences contribute to BLEU with this standard deviation. The share is found by bisection."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        made = counts_of_sentences(middle, np.random.default_rng(1992))
        deviation = Oriented.of(made, 1.0).spread(0.0).exchanged
        low, high = (middle, high) if deviation < wanted else (low, middle)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("time", "found", "needed"), help="one of the tables")
    parser.add_argument("--samples", type=int, default=1000, help="samples that are tested, for each power")
    parser.add_argument("--pilots", type=int, default=300, help="test sets that say how many documents are needed")
    args = parser.parse_args()
    if args.only in (None, "time"):
        print_time()
        print()
    if args.only in (None, "found"):
        print_found(args.samples)
        print()
    if args.only in (None, "needed"):
        print_needed(args.pilots)


def print_time() -> None:
    """Prints how long powers take."""
    with Session.open() as session:
        session.run("power F for GE, UMASS on TST3 detect 5% documents 50")
        ours = statistics.median(seconds(lambda: session.run(STATEMENT)) for _ in range(5))
    few = 20
    theirs = with_scipy(few) / few * CELLS * SIMULATIONS
    heads("50 powers of F, 2,000 simulations each", "processor seconds")
    row("a statement, with five numbers of documents that are needed", f"{ours:.2f}")
    row(f"SciPy, {few} of 100,000 permutation tests of 9,999 shuffles, multiplied", f"~{theirs:,.0f}")
    row("ratio", f"{theirs / ours:,.0f}")


def print_found(samples: int) -> None:
    """Prints the power that is told, and how often exact tests find the difference."""
    chance = np.random.default_rng(1992)
    heads("population", "difference", "documents there", "asked for", "found", "power told")
    for known in KNOWN:
        amount = difference_of(known, chance)
        for there, documents in ((100, 100), (100, 300), (400, 300)):
            powers, happens = said(known, there, documents, amount, chance), found(known, documents, samples, chance)
            told = f"{statistics.mean(powers):.3f} ± {statistics.stdev(powers):.3f}"
            row(known.name, f"{amount:.3f}", there, documents, f"{happens:.3f}", told)
    criterion, draws = Criterion(0.05, "two-sided"), Draws(10_000, 1992)
    deviation = sqrt(0.87 * 2 * (25.8 / 2) ** 2)
    for name, population, amount in (
        ("BLEU, differences of sentences", population_of(differences_of_sentences(), 1e-3, True), 1.0),
        ("BLEU, counts of n-grams", population_of(with_the_variance(deviation / 100), 1.0, False), 0.01),
    ):
        assert population is not None
        (simulated,) = Simulation(population, criterion, draws).powers(2000, [amount])
        assert simulated is not None
        row(name, "1 point", 2000, 2000, "about .75 (Card et al. 2020)", f"{simulated.power:.3f}")


if __name__ == "__main__":
    main()
