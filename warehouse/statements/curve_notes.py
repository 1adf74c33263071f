"""What is said below the curves: what a reader would be misled without, and the tests between areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from warehouse.query import plan as p
from warehouse.query.labels import some
from warehouse.statements.curve_plan import MOST_THRESHOLDS, Curved, CurvePlan
from warehouse.tasks.observed import counted, plural

if TYPE_CHECKING:
    from warehouse.query.comparison.curving import AreaTest

FEW = 10
"""A best threshold among so few says nothing of its measure."""

TESTED = 3
"""The areas of so many systems have a note for every pair; of more they are counted."""


def notes_of(plan: CurvePlan, entry: p.Entry, found: Sequence[Curved]) -> Iterator[str]:
    """What a reader would be misled without."""
    from warehouse.significance.curves.thresholds import NONRELEVANT, RELEVANT

    test_set, units = entry.test_set.name, plural(entry.noun)
    drawn = [one for one in found if one.has_thresholds]
    without = [one for one in found if not one.has_thresholds]
    if silent := [one.system.system.name for one in without if one.system.lacking == len(one.system.document)]:
        are = "is a point" if len(silent) == 1 else "are points"
        yield f"{test_set}: no confidences of {some(silent)}, which {are} of decisions, with an interval of its own"
    for one in without:
        if (lacking := one.system.lacking) < len(one.system.document):
            yield (
                f"{test_set}: {one.system.system.name} has no confidence for {lacking:,} of "
                f"{counted(len(one.system.document), entry.noun)}, so it is a point of decisions"
            )
    if absent := [s.name for s in entry.stored_systems if s.name not in {one.system.system.name for one in found}]:
        yield f"no decisions of {some(absent)} on {test_set}"
    if len({len(one.system.document) for one in found}) > 1:
        yield f"{test_set}: systems decided on different numbers of {units}; coverage says on which"
    for one in drawn:
        name, thresholds = one.system.system.name, one.system.thresholds
        if thresholds.contradicting:
            yield (
                f"{test_set}: {counted(thresholds.contradicting, 'decision')} of {name} contradict"
                f"{'s' if thresholds.contradicting == 1 else ''} its confidences: a no has as much as a yes, or more"
            )
        if thresholds.at.size == 1:
            yield f"{test_set}: {name} has the same confidence for all {units}, so it can only decide all or none"
    for one in found[:1]:
        kinds = one.system.thresholds.of_kinds.sum(axis=1)
        for kind, called in ((RELEVANT, "relevant"), (NONRELEVANT, "nonrelevant")):
            if not kinds[kind]:
                yield f"{test_set}: no {entry.noun} is {called}, so there are no areas, and some measures are undefined"
    if drawn and all(_at_an_end(one) for one in drawn):
        yield (
            f"{plan.best_for.label} is best where nothing, next to nothing or everything is decided yes, so that "
            "threshold says little; name F first, or a utility"
        )
    if plan.limit is None and any(one.system.thresholds.at.size > MOST_THRESHOLDS for one in drawn):
        yield "of so many thresholds some are given, evenly spread; limit says how many"
    if entry.exchange.attribute:
        yield (
            f"{test_set}: {units} of one {entry.unit_noun} are taken as independent here, so bands may be too narrow"
        )


def _at_an_end(one: Curved) -> bool:
    """Whether the best threshold decides none, one of the highest confidence, or all."""
    best, places = one.curves.best, one.system.thresholds.at.size
    return best is not None and (best.place <= 1 or best.place == places) and places > FEW


def said_of_areas(plan: CurvePlan, entry: p.Entry, tests: Sequence[AreaTest]) -> Iterator[str]:
    """The tests between areas under ROC curves: each where they are few, else how many differ."""
    from warehouse.charts import p_written

    adjusted = ", adjusted by Holm" if len(tests) > 1 else ""
    if len(tests) <= TESTED:
        for test in tests:
            yield (
                f"{entry.test_set.name}: ROC area of {test.first} − {test.second} {100 * test.difference:+.2f}, "
                f"DeLong {p_written(test.adjusted)}{adjusted}"
            )
    elif tests:
        different = sum(test.adjusted <= float(plan.level) for test in tests)
        yield (
            f"{entry.test_set.name}: the ROC areas of {different:,} of {len(tests):,} pairs differ at level "
            f"{plan.level} (DeLong, adjusted by Holm); compare auc names them"
        )
