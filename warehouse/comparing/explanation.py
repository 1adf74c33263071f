"""How the tests of a question would be made, why, and at what cost. The cost follows from the data, so comparisons are
computed up to their sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evalhouse.warehouse.comparing.decisions import most_shuffles
from evalhouse.warehouse.comparing.intervals import RESAMPLES, percent
from evalhouse.warehouse.comparing.looking import looks_line
from evalhouse.warehouse.comparing.margins import margin_line
from evalhouse.warehouse.comparing.pairs import Comparison
from evalhouse.warehouse.comparing.procedures import choose, paired_sums, together
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.path import Line
from evalhouse.warehouse.significance.shuffles import randomization
from evalhouse.warehouse.significance.tests import OF_ORDERS

PRICED = 10_000
"""For at most this many pairs, `explain` says what an exact test would cost that is not made. That takes a tenth of a
millisecond for each.
"""


def explain_tests(batches: Iterable[Sequence[Comparison]], how: p.Testing) -> Iterator[Line]:
    """How each comparison is tested."""
    entries: dict[str, p.Entry] = {}
    ordered: set[bool] = set()
    for batch in batches:
        for comparison in batch:
            entries[comparison.entry.test_set.name] = comparison.entry
            ordered.add(comparison.statistic.ordered)
            yield from _executor(comparison)
            if how.margin is not None:
                yield "margin", margin_line(comparison)
    yield from (("exchange", f"{name}: by {entry.units.exchange.name}{_why(entry)}") for name, entry in entries.items())
    test = how.test
    yield "test", f"{test.name}: {test.meaning} ({test.source})"
    units = " or ".join(dict.fromkeys(plural(entry.units.exchange_noun) for entry in entries.values()))
    if how.looks is not None:
        yield "seed", str(how.seed)
        return
    if False in ordered:
        most = "at most " if how.interval.studentizes else ""
        resamples = f"{most}{RESAMPLES:,} resamples of {units}"
        yield "interval", f"{percent(how.interval_level)}, {how.interval.name} bootstrap, {resamples}"
    if True in ordered:
        yield "interval", f"{percent(how.interval_level)}, by the standard error of {OF_ORDERS.source}"
    yield "seed", str(how.seed)


def _why(entry: p.Entry) -> str:
    """Why an entry is exchanged as it is, if that was declared when it was loaded."""
    return ", the declared cluster" if entry.units.exchanges_cluster else ""


def _shuffles(comparison: Comparison) -> str:
    """How many shuffles are made, or at most."""
    if comparison.how.shuffles is not None:
        return f"{comparison.how.shuffles:,} shuffles"
    return f"shuffles until every verdict is decided, at most {most_shuffles(comparison):,},"


def _executor(comparison: Comparison) -> Iterator[Line]:
    """How the pairs of one statistic would be tested, why, and at what cost."""
    label, pairs = comparison.statistic.label, len(comparison.pairs)
    head = f"{label}: {pairs:,} pairs" if pairs > 1 else label
    if comparison.how.looks is not None:
        yield "executor", f"{head}, {looks_line(comparison.how.looks)}"
        return
    if not comparison.how.test.exchanges:
        drawn = f", {_shuffles(comparison)}" if comparison.how.test.draws else ""
        yield "executor", f"{head}, the {comparison.how.test_name} test of each{drawn.rstrip(',')}"
        return
    if comparison.replicates:
        counts = " and ".join(str(len(values)) for values in comparison.replicates)
        yield "executor", f"{head}, the replicates ({counts}) divided anew between the systems"
        return
    choice = choose(comparison, priced=pairs <= PRICED)
    shuffles = _shuffles(comparison)
    paired = paired_sums(comparison, comparison.pairs[0])
    if paired.is_function and not choice.exactly:
        yield "executor", f"{head}, {shuffles} evaluated one by one: it is not a ratio of sums"
        return
    if choice.exactly:
        ways = ", ".join(dict.fromkeys(cost.way for cost in choice.costs))
        yield "executor", f"{head}, exact by {ways}: {choice.reason}"
    else:
        if together(comparison):
            way = "all pairs with common coins in one matrix product over systems"
        else:
            chosen = randomization.shuffle_method(paired)
            way = f"{chosen.method}, because {chosen.reason}"
        yield "executor", f"{head}, {shuffles} by {way}: {choice.reason}"
    if choice.costs:
        steps = sum(cost.operations for cost in choice.costs)
        most = max(cost.bytes for cost in choice.costs)
        yield "cost", f"the exact test takes about {steps:.1g} steps and {most / 1e6:.1f} MB"
