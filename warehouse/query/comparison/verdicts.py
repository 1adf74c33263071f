"""Notes about tested results, shared by `compare`, `group` and `replicate`."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log

import numpy as np

from warehouse.query.comparison.deciding import is_faster_exactly
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.comparison.sums import Orders
from warehouse.query.labels import some
from warehouse.significance.areas import LEAST, Ranked
from warehouse.significance.replicates import smallest
from warehouse.significance.shuffles.confidence import confidence
from warehouse.significance.sums import Sums
from warehouse.significance.tests import OF_ORDERS
from warehouse.tasks.observed import counted, plural


def hopeless(comparison: Comparison) -> Iterator[str]:
    """Why no difference could be found, whatever the systems did: the least p that there can be, adjusted as it would
    be for all pairs of the family, is above the level, or not surely below it.
    """
    how = comparison.how
    level, wanted = float(how.level), float(how.confidence)
    leasts, why = _least(comparison)
    if not leasts:
        return
    adjustment, family = how.adjustment, len(comparison.pairs)
    least = min(leasts if adjustment.of_levels is None else adjustment.of_levels(leasts).tolist())
    # The factor by which the adjustment raises p when all p are as small as possible.
    factor = 1.0 if adjustment.of_levels is None else float(min(adjustment.of_levels([1e-12] * family))) * 1e12
    # What is true of all comparisons is said once.
    alike = how.shuffles is not None and factor <= 1.5
    where = "" if alike else f"{comparison.statistic.label} on {comparison.entry.test_set.name}: "
    p, over = "p", ""
    if factor > 1.5:
        p, over = f"{adjustment.adjusted} p", f" over {family} comparisons"
    if least > level:
        needed = f"; it would take {ceil(factor / level) - 1:,} {how.drawn}" if how.shuffles is not None else ""
        said = "1" if least == 1 else f"at least {least:.2g}"
        yield f"{where}with {why}, {p}{over} is {said}, above the level {how.level}{needed}"
    elif how.shuffles is not None and confidence(0, how.shuffles, level / factor) < wanted:
        needed = f"{ceil(log(1 - wanted) / log(1 - level / factor)) - 1:,}"
        yield (
            f"{where}{why} cannot show with confidence {how.confidence} that {p}{over} is at most {how.level}, even if "
            f"none is as extreme as the observed difference; it would take {needed}"
        )


def faster_exactly(comparison: Comparison) -> Iterator[str]:
    """The note that the exact test takes less time than the shuffles that were asked for."""
    how = comparison.how
    if is_faster_exactly(comparison):
        tests = "the exact test" if len(comparison.pairs) == 1 else "exact tests"
        yield (
            f"{comparison.statistic.label} on {comparison.entry.test_set.name}: {tests} would take less than half the "
            f"time of {how.shuffles:,} shuffles; write exact instead of shuffles {how.shuffles}"
        )


def _least(comparison: Comparison) -> tuple[list[float], str]:
    """The least p that each pair could have, and why; nothing where that is not known or of no concern."""
    how, test = comparison.how, comparison.how.test
    if test.draws is not None and how.shuffles is not None:
        return [1 / (how.shuffles + 1)] * len(comparison.pairs), f"{how.shuffles:,} {how.drawn}"
    if comparison.replicates:
        sizes = [tuple(len(comparison.replicates[place]) for place in pair) for pair in comparison.pairs]
        return [smallest(a, b, how.sides) for a, b in sizes], "so few replicates"
    if not test.exchanges:
        return [], ""
    both = 2.0 if how.sides == "two-sided" else 1.0
    differing, called = comparison.differing, plural(comparison.entry.units.exchange_noun)
    why = f"so few differing {called}" if any(differing) else f"no differing {called}"
    return [min(1.0, both * 2.0**-units) for units in differing], why


def comparison_notes(comparison: Comparison) -> Iterator[str]:
    """What the observations of a comparison leave out."""
    entry = comparison.entry
    where, noun = entry.test_set.name, entry.units.noun
    if entry.units.averaged is not None:
        yield f"{where}: each system is the average of its replicates by system.{entry.units.averaged.attribute}"
    if comparison.statistic.averaged and comparison.sums.is_ratio:
        without = _without_value(comparison, comparison.ratios)
        if without:
            has, are = ("has", "is") if without == 1 else ("have", "are")
            yield (
                f"{comparison.statistic.label} on {where}: {counted(without, noun)} {has} no value for some system "
                f"and {are} left out of its mean"
            )
        if without and comparison.how.test.kind == "matched":
            yield (
                f"{comparison.how.test_name} looks only at the {plural(noun)} of {where} for which both systems of a "
                "pair have a value, so what it tests is not quite the difference of the two means"
            )
    if comparison.splits_clusters:
        yield (
            f"{where}: exchange by {entry.units.exchange.name} treats {plural(noun)} of one {entry.units.cluster} as "
            f"independent, which they are not; without it each {entry.units.cluster} is exchanged as a whole"
        )
    if isinstance(comparison.sums, Orders):
        yield from _of_orders(comparison, comparison.sums.ranked)
    yield from missing_notes(comparison)


def missing_notes(comparison: Comparison) -> Iterator[str]:
    """What became of documents that not every system has."""
    entry = comparison.entry
    if comparison.how.missing == "zero":
        yield from _counted_as_nothing(comparison)
    if dropped := comparison.observations.dropped:
        were, has = ("was", "it") if dropped == 1 else ("were", "them")
        what = counted(dropped, entry.units.observed_noun)
        why = f"because not every system has {has}{_bounded(comparison)}"
        yield f"{what} of {entry.test_set.name} {were} left out {why}"


def _counted_as_nothing(comparison: Comparison) -> Iterator[str]:
    """What counts as nothing because a system lacks it."""
    entry, present = comparison.entry, comparison.observations.present
    lacking = int(np.count_nonzero(~present.all(axis=0)))
    if lacking:
        what = counted(lacking, entry.units.observed_noun)
        absent = zip(entry.systems, np.count_nonzero(~present, axis=1).tolist(), strict=True)
        listed = some([f"{count:,} for {system.name}" for system, count in absent if count])
        count_as, lack = ("counts", "lack it") if lacking == 1 else ("count", "lack them")
        yield f"{what} of {entry.test_set.name} {count_as} as nothing for systems that {lack}: {listed}"


def _bounded(comparison: Comparison) -> str:
    """What the bounds of missing documents are of, where they were asked for."""
    if comparison.how.missing != "bounds":
        return ""
    return "; the bounds and the verdict allow for every result that the systems could have had there"


def _without_value(comparison: Comparison, sums: Sums) -> int:
    """On how many documents a mean over documents has no value for some system, at least."""
    if comparison.observations.units < comparison.observations.cluster.size:
        # For a cluster it is only known how many of its documents have a value.
        return int((comparison.observations.documents - sums.denominators.sum(axis=1)).max())
    return int((sums.denominators == 0).any(axis=0).sum())


def _of_orders(comparison: Comparison, ranked: Ranked) -> Iterator[str]:
    """Which systems have confidences that exchanges mix up, and why there are no intervals."""
    where = f"{comparison.statistic.label} on {comparison.entry.test_set.name}"
    if not ranked.one_by_one:
        yield f"{where}: there are no intervals, since they would need independent documents ({OF_ORDERS.source})"
    elif not ranked.of_two(0, 1).enough:
        yield f"{where}: there are no intervals, since they need {LEAST} relevant and {LEAST} nonrelevant documents"
    if not comparison.how.test.exchanges:
        return
    apart = [pair for pair in comparison.pairs if not ranked.alike(*pair)]
    names = [" and ".join(comparison.entry.systems[place].name for place in pair) for pair in apart]
    if names:
        yield (
            f"{where}: the confidences of {some(names)} are on different scales, and exchanges mix them; "
            f"test {OF_ORDERS.name} looks only at the order that each system gives"
        )
