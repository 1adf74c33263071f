"""Which procedure answers which test: PROCEDURES, a table by the name of the test.

A procedure takes the comparisons of one test set, all with the same pairs, and gives an outcome for each statistic and
pair. It hands numbers to the significance tests and turns what they refuse into errors of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from grammar.errors import QueryError
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.comparison.sums import FunctionSums, RatioSums
from warehouse.query.engine import Told, silent
from warehouse.significance import bootstrap, independent, matched, multiple
from warehouse.significance import replicates as runs
from warehouse.significance.exact import counting as exact
from warehouse.significance.exact.counting import Cost
from warehouse.significance.outcome import Outcome, approximate
from warehouse.significance.parallel import in_order
from warehouse.significance.shuffles import functional as arbitrary
from warehouse.significance.shuffles import randomization
from warehouse.significance.shuffles.randomization import Tick

SHUFFLES = 9999
"""How many shuffles where none were asked for and an exact test is not affordable (Chinchor 1992)."""

Pair = tuple[int, int]
Outcomes = dict[tuple[str, Pair], Outcome]
"""By the label of the statistic and the places of the two systems."""

Procedure = Callable[[Sequence[Comparison], Told, int], Outcomes]
"""From comparisons, who is told, and the number of threads, which changes no outcome."""


def outcomes(comparisons: Sequence[Comparison], told: Told = silent, threads: int = 1) -> Outcomes:
    """The outcome of each statistic and pair of one test set; `told` hears how much of it is done."""
    return PROCEDURES[comparisons[0].how.test](comparisons, told, threads) if comparisons else {}


def _part(told: Told, place: int, parts: int) -> Told:
    """Tells the share of the whole, from that of one of several equal parts."""
    return lambda share: told((place + share) / parts)


def _counted(told: Told, whole: int) -> Tick:
    """Tells the share, from what is done of a whole."""
    return lambda done: told(done / whole)


# --- randomization ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Choice:
    """How the pairs of an comparison are randomized: exact or by shuffles, and why. Costs are of the pairs, in their
    order.
    """

    exactly: bool
    reason: str
    costs: tuple[Cost, ...]


def choose(comparison: Comparison, priced: bool = False) -> Choice:
    """Exact where it is asked for, or where nothing is asked for and all pairs together are affordable; else
    shuffles. The costs of shuffled pairs are left out unless all are to be `priced`.
    """
    how = comparison.how
    if how.shuffles is not None:
        return Choice(False, f"{how.shuffles:,} shuffles were asked for", ())
    if how.adjust == "maxt":
        return Choice(False, "maxt adjusts by shuffles", ())
    costs: list[Cost] = []
    affordable = True
    for pair in comparison.pairs:
        costs.append(exact.cost(comparison.paired(*comparison.asked(pair))))
        affordable = affordable and exact.affordable_together(costs)
        if not (affordable or how.exact or priced):
            costs = []
            break
    if how.exact:
        return Choice(True, "exact was asked for", tuple(costs))
    if affordable:
        return Choice(True, "every exchange can be counted at little cost", tuple(costs))
    return Choice(False, "counting every exchange of all pairs would cost too much unasked", tuple(costs))


def _unaffordable(comparison: Comparison, pair: Pair, cost: Cost) -> QueryError:
    names = " and ".join(comparison.entry.systems[place].name for place in pair)
    return QueryError(
        f"the exact test of {names} would take about {cost.operations:.0e} steps and {cost.bytes / 1e9:.1f} GB",
        hints=(f"say shuffles {SHUFFLES} instead",),
    )


def _randomization(comparisons: Sequence[Comparison], told: Told, threads: int) -> Outcomes:
    """Exact for some statistics, common shuffles for the others."""
    found: Outcomes = {}
    common = []
    for place, comparison in enumerate(comparisons):
        of_comparison = _part(told, place, len(comparisons))
        if comparison.runs:
            found.update(_of_runs(comparison))
        elif isinstance(comparison.sums, FunctionSums):
            found.update(_arbitrary(comparison, comparison.sums, of_comparison, threads))
        elif (choice := choose(comparison)).exactly:
            found.update(_exactly(comparison, choice.costs, of_comparison, threads))
        else:
            common.append(comparison)
    if common:
        found.update(shuffled(common, lambda share: told(1 - (1 - share) * len(common) / len(comparisons)), threads))
    return found


def _of_runs(comparison: Comparison) -> Outcomes:
    """The runs of two systems divided anew: every division where there are not too many, else shuffles."""
    how = comparison.how
    found: Outcomes = {}
    for pair in comparison.pairs:
        a, b = (comparison.runs[place] for place in comparison.asked(pair))
        ways = runs.divisions(len(a), len(b))
        if how.exact and ways > runs.MOST_DIVISIONS:
            raise QueryError(
                f"{len(a)} and {len(b)} replicates can be divided in {ways:.0e} ways, too many to go through",
                hints=(f"say shuffles {SHUFFLES} instead",),
            )
        shuffles = how.shuffles or (SHUFFLES if ways > runs.MOST_DIVISIONS else None)
        found[comparison.statistic.label, pair] = runs.pair(a, b, shuffles, how.seed, comparison.stream, how.sides)
    return found


def _exactly(comparison: Comparison, costs: Sequence[Cost], told: Told, threads: int) -> Outcomes:
    """The exact test of each pair, several at a time as far as memory goes."""
    for pair, cost in zip(comparison.pairs, costs, strict=True):
        if not cost.possible:
            raise _unaffordable(comparison, pair, cost)
    at_once = exact.POSSIBLE_BYTES // max(1, *(cost.bytes for cost in costs))

    def tested(pair: Pair) -> Outcome:
        return exact.pair(comparison.paired(*comparison.asked(pair)), comparison.how.sides)

    found: Outcomes = {}
    for pair, outcome in zip(comparison.pairs, in_order(tested, comparison.pairs, min(threads, at_once)), strict=True):
        found[comparison.statistic.label, pair] = outcome
        told(len(found) / len(comparison.pairs))
    return found


def _arbitrary(comparison: Comparison, sums: FunctionSums, told: Told, threads: int) -> Outcomes:
    """Shuffles of a measure that is no ratio, a pair at a time over the same coins as the others."""
    how = comparison.how
    if how.exact:
        raise QueryError(
            f"{comparison.statistic.label} is no ratio of sums, so its exchanges cannot be counted exactly",
            hints=(f"say shuffles {SHUFFLES} instead",),
        )
    return {
        (comparison.statistic.label, (a, b)): arbitrary.pair(
            sums.counts[a],
            sums.counts[b],
            sums.values,
            sums.exactly,
            how.shuffles or SHUFFLES,
            how.seed,
            comparison.stream,
            how.sides,
            _counted(_part(told, place, len(comparison.pairs)), how.shuffles or SHUFFLES),
            threads,
        )
        for place, (a, b) in enumerate(comparison.pairs)
    }


def together(comparison: Comparison) -> bool:
    """Whether one product over systems serves all pairs better than a pair at a time."""
    return len(comparison.pairs) > len(comparison.entry.systems)


def shuffled(comparisons: Sequence[Comparison], told: Told, threads: int, at_once: bool | None = None) -> Outcomes:
    """Common shuffles of all comparisons; all pairs at once or one after another, whichever is better unless said."""
    how, stream = comparisons[0].how, comparisons[0].stream
    shuffles = how.shuffles or SHUFFLES
    if not (together(comparisons[0]) if at_once is None else at_once):
        asked = [(comparison, pair) for comparison in comparisons for pair in comparison.pairs]
        return {
            (comparison.statistic.label, pair): randomization.pair(
                comparison.paired(*comparison.asked(pair)),
                shuffles,
                how.seed,
                stream,
                how.sides,
                _counted(_part(told, place, len(asked)), shuffles),
                threads,
            )
            for place, (comparison, pair) in enumerate(asked)
        }
    measures = [comparison.many for comparison in comparisons]
    nge = randomization.all_pairs(measures, shuffles, how.seed, stream, how.sides, _counted(told, shuffles), threads)
    found: Outcomes = {}
    for comparison, of_measure in zip(comparisons, nge.tolist(), strict=True):
        for pair in comparison.pairs:
            a, b = comparison.asked(pair)
            found[comparison.statistic.label, pair] = approximate(of_measure[a][b], shuffles)
    return found


def _tukey(comparisons: Sequence[Comparison], told: Told, threads: int) -> Outcomes:
    found: Outcomes = {}
    for place, comparison in enumerate(comparisons):
        how, shuffles = comparison.how, comparison.how.shuffles or SHUFFLES
        tick = _counted(_part(told, place, len(comparisons)), shuffles)
        nge = multiple.tukey(comparison.many, shuffles, how.seed, comparison.stream, how.sides, tick, threads)
        for pair in comparison.pairs:
            found[comparison.statistic.label, pair] = approximate(int(nge[comparison.asked(pair)]), shuffles)
    return found


# --- one pair at a time -----------------------------------------------------------------------------------------------


def _each(test: Callable[[Comparison, Pair], Outcome]) -> Procedure:
    """A procedure that tests one pair after another; what a test refuses is an error of the query."""

    def run(comparisons: Sequence[Comparison], told: Told, threads: int) -> Outcomes:
        found: Outcomes = {}
        for place, comparison in enumerate(comparisons):
            tested = in_order(partial(_fitting, test, comparison), comparison.pairs, threads)
            for done, (pair, outcome) in enumerate(zip(comparison.pairs, tested, strict=True), start=1):
                found[comparison.statistic.label, pair] = outcome
                _part(told, place, len(comparisons))(done / len(comparison.pairs))
        return found

    return run


def _fitting(test: Callable[[Comparison, Pair], Outcome], comparison: Comparison, pair: Pair) -> Outcome:
    try:
        return test(comparison, comparison.asked(pair))
    except ValueError as error:
        names = " and ".join(comparison.entry.systems[place].name for place in pair)
        raise QueryError(
            f"{comparison.how.test} does not fit {comparison.statistic.label} of {names}: {error}",
            hints=("test randomization fits every measure (Yeh 2000, section 3.2)",),
        ) from None


def _bootstrap(comparison: Comparison, pair: Pair) -> Outcome:
    how = comparison.how
    return bootstrap.pair(comparison.paired(*pair), how.shuffles or SHUFFLES, how.seed, comparison.stream, how.sides)


def _differences(comparison: Comparison, pair: Pair) -> NDArray[np.int64]:
    """What a matched-pair test looks at: the difference on each exchange unit.

    For a mean over documents these are the documents on which both systems have a value.
    """
    paired = comparison.paired(*pair)
    if not comparison.statistic.averaged:
        return matched.differences(paired)
    both = (paired.denominator_a == paired.denominator_b) & (paired.denominator_a > 0)
    found: NDArray[np.int64] = (paired.numerator_a - paired.numerator_b)[both]
    return found


def _sign(comparison: Comparison, pair: Pair) -> Outcome:
    return matched.sign(_differences(comparison, pair), comparison.how.sides)


def _wilcoxon(comparison: Comparison, pair: Pair) -> Outcome:
    return matched.wilcoxon(_differences(comparison, pair), comparison.how.sides)


def _t(comparison: Comparison, pair: Pair) -> Outcome:
    return matched.t(_differences(comparison, pair), comparison.how.sides)


def _mcnemar(comparison: Comparison, pair: Pair) -> Outcome:
    paired = comparison.paired(*pair)
    differences = matched.differences(paired)
    largest = max(int(paired.numerator_a.max(initial=0)), int(paired.numerator_b.max(initial=0)))
    for numerator in (paired.numerator_a, paired.numerator_b):
        if not np.isin(numerator, (0, largest)).all():
            raise ValueError(
                "it needs items that are right or wrong, and some are right in part; exchange by unit may help"
            )
    wins, losses = int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))
    return matched.mcnemar(wins, losses, comparison.how.sides)


def _two_sample_t(comparison: Comparison, pair: Pair) -> Outcome:
    a, b = (comparison.unit_values[place] for place in pair)
    return independent.two_sample_t(a[~np.isnan(a)], b[~np.isnan(b)], comparison.how.sides)


def _z(comparison: Comparison, pair: Pair) -> Outcome:
    (hits_a, units_a), (hits_b, units_b) = (_proportion(comparison, place) for place in pair)
    return independent.z(hits_a, units_a, hits_b, units_b, comparison.how.sides)


def _chi_square(comparison: Comparison, pair: Pair) -> Outcome:
    (hits_a, units_a), (hits_b, units_b) = (_proportion(comparison, place) for place in pair)
    return independent.chi_square(hits_a, units_a - hits_a, hits_b, units_b - hits_b, comparison.how.sides)


def _proportion(comparison: Comparison, place: int) -> Pair:
    """How many items a system has right, and of how many; for measures that count items."""
    if not comparison.statistic.measure.proportion or comparison.statistic.averaged:
        raise ValueError("it needs a share of counted items, as recall and precision are")
    hits = comparison.ratios.factor * int(comparison.ratios.numerators[place].sum())
    if hits.denominator != 1:
        raise ValueError(f"it needs whole items, and partial credit makes them {float(hits)}; say partial=0")
    return int(hits), int(comparison.ratios.denominators[place].sum())


PROCEDURES: Mapping[str, Procedure] = {
    "randomization": _randomization,
    "sign": _each(_sign),
    "wilcoxon": _each(_wilcoxon),
    "t": _each(_t),
    "mcnemar": _each(_mcnemar),
    "bootstrap": _each(_bootstrap),
    "tukey": _tukey,
    "two-sample-t": _each(_two_sample_t),
    "z": _each(_z),
    "chi-square": _each(_chi_square),
}


# --- adjustment and intervals -----------------------------------------------------------------------------------------


def adjusted(comparison: Comparison, found: Outcomes) -> dict[Pair, float]:
    """The adjusted level of each pair; the family is all pairs of one statistic on one test set. Empty without
    adjustment.
    """
    how = comparison.how
    if how.adjust == "none":
        return {}
    if how.adjust == "maxt":
        shuffles = how.shuffles or SHUFFLES
        levels = multiple.westfall_young(
            comparison.many,
            [comparison.asked(pair) for pair in comparison.pairs],
            shuffles,
            how.seed,
            comparison.stream,
            how.sides,
        )
    else:
        by_name = {
            "bonferroni": multiple.bonferroni,
            "holm": multiple.holm,
            "bh": multiple.benjamini_hochberg,
        }
        levels = by_name[how.adjust]([found[comparison.statistic.label, pair].p for pair in comparison.pairs])
    return {pair: float(level) for pair, level in zip(comparison.pairs, levels, strict=True)}


RESAMPLES = 2000


def intervals(comparisons: Sequence[Comparison], threads: int = 1) -> dict[tuple[str, Pair], tuple[float, float]]:
    """The 95% bootstrap interval of each difference, all over the same resamples of one test set."""
    found: dict[tuple[str, Pair], tuple[float, float]] = {}
    ratios = [
        comparison for comparison in comparisons if isinstance(comparison.sums, RatioSums) and not comparison.runs
    ]
    for comparison in comparisons:
        how, sums = comparison.how, comparison.sums
        if comparison.runs:
            for a, b in comparison.pairs:
                drawn = runs.interval(comparison.runs[a], comparison.runs[b], RESAMPLES, how.seed, comparison.stream)
                found[comparison.statistic.label, (a, b)] = drawn
        elif isinstance(sums, FunctionSums):
            if how.interval != "percentile":
                raise QueryError(
                    f"{comparison.statistic.label} is no ratio of sums, so it has no {how.interval} interval",
                    hints=("say interval percentile",),
                )
            for a, b in comparison.pairs:
                limits = arbitrary.interval(
                    sums.counts[a], sums.counts[b], sums.values, RESAMPLES, how.seed, comparison.stream
                )
                found[comparison.statistic.label, (a, b)] = limits
    if ratios:
        first = ratios[0]
        limits_of = bootstrap.intervals(
            [comparison.many for comparison in ratios],
            first.pairs,
            [float(comparison.ratios.factor) for comparison in ratios],
            RESAMPLES,
            first.how.seed,
            first.stream,
            kind=first.how.interval,
            threads=threads,
        )
        for place, comparison in enumerate(ratios):
            for pair, (low, high) in zip(comparison.pairs, limits_of[place].tolist(), strict=True):
                found[comparison.statistic.label, pair] = (low, high)
    return found
