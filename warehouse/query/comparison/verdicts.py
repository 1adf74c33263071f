"""What tested results are called, and what there is to note of them: shared by `compare`, `group` and `replicate`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log

from warehouse.query import plan as p
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.comparison.sums import RatioSums
from warehouse.query.labels import signature
from warehouse.results import Cell
from warehouse.significance.replicates import smallest
from warehouse.significance.shuffles.confidence import confidence
from warehouse.significance.tests import named_adjustment, named_test
from warehouse.tasks.observed import plural

# --- what tested results are called -----------------------------------------------------------------------------------


def method(methods: Sequence[Cell], shuffles: Sequence[Cell]) -> str:
    """exact; 9,999 shuffles; 10,000 to 40,000 shuffles; or several, where the rows differ."""
    counts = sorted({count for count in shuffles if isinstance(count, int)})
    named = [name for name in ("exact", "analytic") if name in methods]
    if counts:
        named.append(" to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1]))) + " shuffles")
    return " and ".join(named)


def testing_title(how: p.Testing, entries: Sequence[p.Entry], methods: Sequence[Cell], shuffles: Sequence[Cell]) -> str:
    """randomization test, 9,999 shuffles, two-sided, level 0.05."""
    units = exchanged(entries)
    exchange = "" if units == "document" else f", exchanged by {units}"
    return f"{how.test} test, {method(methods, shuffles)}, {how.sides}{exchange}, level {how.level}"


def exchanged(entries: Sequence[p.Entry]) -> str:
    """The exchange unit, document.topic; of each test set where they are not exchanged alike."""
    names = {entry.test_set.name: entry.exchange.name for entry in entries}
    if len(set(names.values())) == 1:
        return entries[0].exchange.name
    return ", ".join(f"{name} on {test_set}" for test_set, name in names.items())


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
        f"shuffles {' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))}" if counts else "exact",
        f"exchange by {exchanged(entries)}",
        f"seed {how.seed}",
        f"adjust {how.adjust}",
        f"missing {how.missing}",
        *(["interval bca"] if how.interval == "bca" else []),
    ]
    return signature(text, entries, *deciding)


def hopeless(comparison: Comparison) -> Iterator[str]:
    """Why no difference could be found, whatever the systems did: the least p that there can be, adjusted as it would
    be for all pairs of the family, is above the level, or not surely below it.
    """
    how = comparison.how
    level, wanted = float(how.level), float(how.confidence)
    leasts, why = _least(comparison)
    if not leasts:
        return
    adjustment, family = named_adjustment(how.adjust), len(comparison.pairs)
    least = min(leasts if adjustment.of_levels is None else adjustment.of_levels(leasts).tolist())
    # By how much the adjustment raises p where all are as small as they can be.
    factor = 1.0 if adjustment.of_levels is None else float(min(adjustment.of_levels([1e-12] * family))) * 1e12
    # What holds of all comparisons alike is said once.
    alike = how.shuffles is not None and factor <= 1.5
    where = "" if alike else f"{comparison.statistic.label} on {comparison.entry.test_set.name}: "
    p, over = "p", ""
    if factor > 1.5:
        p, over = f"{adjustment.name}-adjusted p", f" over {family} comparisons"
    if least > level:
        needed = f"; it takes {ceil(factor / level) - 1:,} shuffles" if how.shuffles is not None else ""
        yield f"{where}{why} give a {p} of at least {least:.2g}{over}, above the level {how.level}{needed}"
    elif how.shuffles is not None and confidence(0, how.shuffles, level / factor) < wanted:
        needed = f"{ceil(log(1 - wanted) / log(1 - level / factor)) - 1:,}"
        yield (
            f"{where}{why} cannot make it {how.confidence} sure that the {p}{over} is at most {how.level}, even if "
            f"none is as extreme as what was observed; it takes {needed}"
        )


def _least(comparison: Comparison) -> tuple[list[float], str]:
    """The least p that each pair could have, and why; nothing where that is not known or of no concern."""
    how, test = comparison.how, named_test(comparison.how.test)
    if test.draws is not None and how.shuffles is not None:
        return [1 / (how.shuffles + 1)] * len(comparison.pairs), f"{how.shuffles:,} shuffles"
    if comparison.replicates:
        sizes = [tuple(len(comparison.replicates[place]) for place in pair) for pair in comparison.pairs]
        return [smallest(a, b, how.sides) for a, b in sizes], "so few replicates"
    if not test.exchanges:
        return [], ""
    both = 2.0 if how.sides == "two-sided" else 1.0
    differing = comparison.sums.differing(comparison.pairs)
    return [min(1.0, both * 2.0**-units) for units in differing], "so few differing units"


def comparison_notes(comparison: Comparison) -> Iterator[str]:
    """What the observations of a comparison leave out."""
    where = comparison.entry.test_set.name
    if comparison.entry.replicates is not None:
        yield f"{where}: each system is the average of its replicates by system.{comparison.entry.replicates.attribute}"
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
    if comparison.splits_clusters:
        entry = comparison.entry
        yield (
            f"{where}: {plural(entry.noun)} of one {entry.cluster} are not independent, and exchange by "
            f"{entry.exchange.name} takes them to be; without it each {entry.cluster} is exchanged as a whole"
        )
    if comparison.observations.dropped:
        dropped = comparison.observations.dropped
        yield f"{dropped} observations of {where} were left out because not every system has them"
