"""What tested results are called: how many units were exchanged, by which test, adjusted over how many comparisons, and
what stands of it in the signature. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from grammar.clauses import as_typed
from warehouse.query import plan as p
from warehouse.query.comparison.deciding import Decided
from warehouse.query.comparison.intervals import interval_title
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.labels import LEFT_OUT_AS_0, Size, noun_of, sizes
from warehouse.significance.bootstrap.interval_kinds import INTERVALS
from warehouse.significance.tests import Adjustment, Test
from warehouse.tasks.observed import counted, plural


class ComparedPairs(Struct, frozen=True):
    """What results say of the pairs of one statistic on one test set: how many there are, how they were tested, and the
    p of each.
    """

    test_set: str
    size: Size
    pairs: int
    methods: frozenset[str]
    shuffles: frozenset[int]
    p_values: tuple[float, ...] = ()

    @classmethod
    def of(cls, comparison: Comparison, decided: Iterable[Decided]) -> ComparedPairs:
        """The family of a comparison, whose pairs were decided so."""
        entry, observations = comparison.entry, comparison.observations
        outcomes = [pair.outcome for pair in decided]
        return cls(
            entry.test_set.name,
            Size.of(entry, observations.documents, None if comparison.replicates else observations.units),
            len(outcomes),
            frozenset(outcome.method for outcome in outcomes),
            frozenset(outcome.shuffles for outcome in outcomes if outcome.shuffles is not None),
            tuple(outcome.p for outcome in outcomes),
        )


def testing_caption(
    how: p.Testing, entries: Sequence[p.Entry], families: Sequence[ComparedPairs], resamples: int | None
) -> str:
    """randomization test, exact, 100 messages exchanged, two-sided, level 0.05; 3 comparisons, not adjusted.

    Intervals beside the pairs took this many `resamples`, perhaps none.
    """
    known = [(family.test_set, family.size) for family in families]
    draws = how.test.draws
    if any(entry.units.exchanges_runs for entry in entries):
        size = f"whole replicates exchanged on {sizes(known)}"
    elif draws == "resamples":
        size = f"of {sizes(known)}"
    else:
        size = sizes(known, " exchanged" if draws is not None else "")
    joined = " " if draws == "resamples" else ", "
    level = f"{as_typed('level', how.spoken)} {how.level}"
    method = _method(draws if how.drawn == "shuffles" else how.drawn, families)
    test = f"{how.test_name} test, {method}{joined}{size}, {how.sides}, {level}"
    drawn = [interval_title(how, entries, resamples)] if resamples is not None else []
    if resamples or _shuffles(families):
        drawn.append(f"seed {how.seed}")
    adjusted = _adjusted(how.adjustment, how.test, families)
    return "; ".join(filter(None, (test, missing_said(how, entries), adjusted, ", ".join(drawn))))


def missing_said(how: p.Testing, entries: Sequence[p.Entry]) -> str:
    """What happened to documents that a system lacks, if the statement said so."""
    if any(entry.units.filled for entry in entries):
        return LEFT_OUT_AS_0.format(topics=plural(noun_of(entries)))
    done = {"drop": "left out", "zero": "count as nothing"}.get(how.missing)
    return "" if done is None else f"missing {plural(noun_of(entries))} {done}"


def _method(drawn: str | None, families: Sequence[ComparedPairs]) -> str:
    """exact; 9,999 shuffles; 10,000 to 40,000 shuffles; or several, where the rows differ. `drawn` is what shuffles are
    called."""
    methods = frozenset[str]().union(*(family.methods for family in families))
    named: list[str] = [name for name in ("exact", "analytic") if name in methods]
    if counts := _shuffles(families):
        named.append(f"{' to '.join(f'{count:,}' for count in counts)} {drawn}")
    return " and ".join(named)


def _shuffles(families: Sequence[ComparedPairs]) -> tuple[int, ...]:
    """The fewest and the most shuffles of a pair: none, one number or two."""
    counts = sorted(frozenset[int]().union(*(family.shuffles for family in families)))
    return tuple(dict.fromkeys((counts[0], counts[-1]))) if counts else ()


def _adjusted(adjustment: Adjustment, test: Test, families: Sequence[ComparedPairs]) -> str:
    """Holm-adjusted over 66 comparisons; 3 comparisons, not adjusted."""
    numbers = sorted({family.pairs for family in families})
    total = sum(family.pairs for family in families)
    over = f"over {counted(total, 'comparison')}"
    if len(families) > 1:
        over = f"within families of {' and '.join(map(str, numbers))} comparison{'s' if numbers != [1] else ''}"
    if adjustment.adjusts:
        return f"{adjustment.adjusted} {over}"
    if test.whole_family:
        return f"adjusted by the test itself {over}"
    return f"{total:,} comparisons, not adjusted" if total > 1 else ""


def deciding(how: p.Testing, entries: Sequence[p.Entry], families: Sequence[ComparedPairs]) -> tuple[str, ...]:
    """The parts of a signature about tests."""
    return (
        f"test {how.test_name}",
        how.sides,
        f"shuffles {' to '.join(map(str, _shuffles(families)))}" if _shuffles(families) else _by_formula(families),
        f"exchange by {_exchanged(entries)}",
        f"seed {how.seed}",
        f"adjust {how.adjustment_name}",
        f"missing {how.missing}",
        *([] if how.margin is None else [f"margin {how.margin.normalize():f}"]),
        *([f"interval {how.interval.name}"] if how.interval != INTERVALS[0] else []),
    )


def _by_formula(families: Sequence[ComparedPairs]) -> str:
    """exact, analytic, or both, where nothing was shuffled."""
    methods = frozenset[str]().union(*(family.methods for family in families))
    return " and ".join(name for name in ("exact", "analytic") if name in methods) or "exact"


def _exchanged(entries: Sequence[p.Entry]) -> str:
    """The exchange unit, such as document.topic; listed by test set where they differ."""
    names = {entry.test_set.name: entry.units.exchange.name for entry in entries}
    if len(set(names.values())) == 1:
        return entries[0].units.exchange.name
    return ", ".join(f"{name} on {test_set}" for test_set, name in names.items())
