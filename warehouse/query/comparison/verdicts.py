"""What the tests of a comparison decide, and how a tested result is called: shared by `compare` and `group`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log

from warehouse.query import plan as p
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.comparison.procedures import Outcomes, Pair, adjusted
from warehouse.query.comparison.sums import RatioSums
from warehouse.query.labels import signature
from warehouse.results import Cell
from warehouse.significance.outcome import Outcome
from warehouse.significance.replicates import smallest
from warehouse.significance.shuffles.confidence import Verdict, confidence, verdict
from warehouse.significance.tests import named_test


@dataclass(frozen=True, slots=True)
class Decided:
    """An outcome and what follows from it. `adjusted` is None where no adjustment was asked for."""

    outcome: Outcome
    adjusted: float | None
    confidence: float
    verdict: Verdict


def decide(comparison: Comparison, outcomes: Outcomes) -> dict[Pair, Decided]:
    """The verdict on each pair of a comparison."""
    levels = adjusted(comparison, outcomes)
    level, wanted = float(comparison.how.level), float(comparison.how.confidence)
    decided = {}
    for pair in comparison.pairs:
        outcome = outcomes[comparison.statistic.label, pair]
        p_adjusted = levels.get(pair)
        p_decisive = outcome.p if p_adjusted is None else p_adjusted
        # The level that the adjustment leaves to this one comparison.
        own_level = level * outcome.p / p_decisive if p_decisive > outcome.p else level
        sure = _confidence(outcome, p_decisive, own_level, level)
        decided[pair] = Decided(outcome, p_adjusted, sure, verdict(p_decisive, sure, level, wanted))
    return decided


def _confidence(outcome: Outcome, p_decisive: float, own_level: float, level: float) -> float:
    """How sure it is that the exact p is at most the level; exact and analytic ones leave no doubt: 1 or 0."""
    if outcome.shuffles is None or outcome.nge is None:
        return 1.0 if p_decisive <= level else 0.0
    return confidence(outcome.nge, outcome.shuffles, own_level)


# --- what tested results are called -----------------------------------------------------------------------------------


def method(methods: Sequence[Cell], shuffles: Sequence[Cell]) -> str:
    """exact; 9,999 shuffles; or both, where the rows differ."""
    counts = sorted({count for count in shuffles if isinstance(count, int)})
    named = [name for name in ("exact", "analytic") if name in methods]
    return " and ".join([*named, *(f"{count:,} shuffles" for count in counts)])


def testing_title(how: p.Testing, methods: Sequence[Cell], shuffles: Sequence[Cell]) -> str:
    """randomization test, 9,999 shuffles, two-sided, level 0.05."""
    exchange = "" if how.exchange.name == "document" else f", exchanged by {how.exchange.name}"
    return f"{how.test} test, {method(methods, shuffles)}, {how.sides}{exchange}, level {how.level}"


def testing_signature(
    text: str,
    how: p.Testing,
    entries: Sequence[p.Entry],
    shuffles: Sequence[Cell],
) -> str:
    """The signature of a tested result."""
    counts = sorted({count for count in shuffles if isinstance(count, int)})
    deciding = [
        f"test {how.test}",
        how.sides,
        " and ".join(f"shuffles {count}" for count in counts) or "exact",
        f"exchange by {how.exchange.name}",
        f"seed {how.seed}",
        f"adjust {how.adjust}",
        f"missing {how.missing}",
        *(["interval bca"] if how.interval == "bca" else []),
    ]
    return signature(text, entries, *deciding)


def hopeless(how: p.Testing) -> Iterator[str]:
    """Why so few shuffles could not find a difference, whatever the data."""
    if how.shuffles is None:
        return
    level, wanted = float(how.level), float(how.confidence)
    needed = ceil(1 / how.level) - 1
    if how.shuffles < needed:
        smallest = f"the smallest p is 1/{how.shuffles + 1:,}"
        yield f"{how.shuffles:,} shuffles can never reach the level {how.level}: {smallest}; it takes {needed:,}"
    elif confidence(0, how.shuffles, level) < wanted:
        needed = ceil(log(1 - wanted) / log(1 - level)) - 1
        yield (
            f"{how.shuffles:,} shuffles can never be {how.confidence} sure of the level {how.level}, "
            f"even if none is as extreme as what was observed; it takes {needed:,}"
        )


def comparison_notes(comparison: Comparison) -> Iterator[str]:
    """What the observations of a comparison leave out."""
    where = comparison.entry.test_set.name
    if comparison.entry.replicates is not None:
        yield f"{where}: each system is the average of its replicates by system.{comparison.entry.replicates.attribute}"
    if comparison.replicates and comparison.how.shuffles is None:
        least = min(
            smallest(len(comparison.replicates[a]), len(comparison.replicates[b]), comparison.how.sides)
            for a, b in comparison.pairs
        )
        if least > float(comparison.how.level):
            level = comparison.how.level
            yield f"{where}: of so few replicates p is {least:.2g} at least, and never reaches the level {level}"
    if comparison.statistic.averaged and isinstance(comparison.sums, RatioSums):
        label = comparison.statistic.label
        without = int((comparison.sums.denominators == 0).any(axis=0).sum())
        if without:
            has, are = ("1 document has", "is") if without == 1 else (f"{without} documents have", "are")
            yield f"{label} on {where}: {has} no value for some system and {are} left out of its mean"
        if without and named_test(comparison.how.test).kind == "matched":
            yield (
                f"{comparison.how.test} looks only at the documents of {where} for which both systems of a pair have a "
                "value, so what it tests is not quite the difference of the two means"
            )
    if comparison.observations.dropped:
        dropped = comparison.observations.dropped
        yield f"{dropped} observations of {where} were left out because not every system has them"
