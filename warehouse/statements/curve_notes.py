"""The notes below the curves: what a reader has to know, and the tests between areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

from warehouse.query import plan as p
from warehouse.query.labels import some
from warehouse.statements.curve_plan import MOST_THRESHOLDS, Curved, CurvePlan
from warehouse.tasks.observed import counted, plural

if TYPE_CHECKING:
    from warehouse.query.comparison.curving import AreaTests

FEW = 10
"""A best threshold among this few says nothing about its measure."""

TESTED = 3
"""The areas of so many systems have a note for every pair; more are counted."""


def notes_of(plan: CurvePlan, entry: p.Entry, found: Sequence[Curved]) -> Iterator[str]:
    """What a reader has to know."""
    from warehouse.significance.curves.bands import is_flat
    from warehouse.significance.curves.thresholds import NONRELEVANT, RELEVANT

    test_set, units = entry.test_set.name, plural(entry.units.noun)
    drawn = [one for one in found if one.has_thresholds]
    without = [one for one in found if not one.has_thresholds]
    if silent := [one.system.system.name for one in without if one.system.lacking == len(one.system.document)]:
        have = "has no confidences, so it" if len(silent) == 1 else "have no confidences, so each"
        yield f"{test_set}: {some(silent)} {have} is a single point, with its own interval"
    for one in without:
        if (lacking := one.system.lacking) < len(one.system.document):
            yield (
                f"{test_set}: {one.system.system.name} has no confidence for {lacking:,} of "
                f"{counted(len(one.system.document), entry.units.noun)}, so its decisions are a single point"
            )
    if absent := [s.name for s in entry.stored_systems if s.name not in {one.system.system.name for one in found}]:
        yield f"no decisions of {some(absent)} on {test_set}"
    if len({len(one.system.document) for one in found}) > 1:
        yield f"{test_set}: systems decided on different numbers of {units}; coverage lists them"
    for one in drawn:
        name, thresholds = one.system.system.name, one.system.thresholds
        if thresholds.contradicting:
            do = "does" if thresholds.contradicting == 1 else "do"
            yield (
                f"{test_set}: {counted(thresholds.contradicting, 'decision')} of {name} {do} not fit any threshold: "
                "a 'no' has a confidence at least as high as a 'yes'"
            )
        if thresholds.at.size == 1:
            yield f"{test_set}: {name} has the same confidence for all {units}, so it can only accept all or none"
    for one in found[:1]:
        kinds = one.system.thresholds.of_kinds.sum(axis=1)
        for kind, called in ((RELEVANT, "relevant"), (NONRELEVANT, "nonrelevant")):
            if not kinds[kind]:
                yield (
                    f"{test_set}: no {entry.units.noun} is {called}, so there are no areas, and some measures are "
                    "undefined"
                )
    yield from _without_intervals(plan, test_set, drawn)
    for one in drawn:
        if is_flat(one.curves.bands[plan.chosen].value):
            yield (
                f"{test_set}: {plan.best_for.label} of {one.system.system.name} is the same at every threshold, so "
                "none is best"
            )
    if drawn and all(_at_an_end(one) for one in drawn):
        yield (
            f"{plan.best_for.label} is best where nothing, almost nothing or everything is accepted, so that "
            "threshold says little; name F first, or a utility"
        )
    if plan.limit is None and any(one.system.thresholds.at.size > MOST_THRESHOLDS for one in drawn):
        yield "only some thresholds are shown, evenly spread; limit sets how many"
    if entry.units.shared:
        yield (
            f"{test_set}: {units} of one {entry.units.exchange_noun} are treated as independent here, so bands "
            "may be too narrow"
        )


def _fixed(plan: CurvePlan, one: Curved) -> bool:
    """Whether there are documents enough for an interval of the ROC area, but nothing varies."""
    from warehouse.measures.filtering import sides
    from warehouse.query.comparison.curving import LABELS
    from warehouse.significance.areas import LEAST

    kinds = one.system.thresholds.of_kinds.sum(axis=1)
    enough = all(kinds[side].sum() >= LEAST for side in sides(LABELS, plan.optional))
    return enough and one.roc is not None and isnan(one.roc.low)


def _without_intervals(plan: CurvePlan, test_set: str, drawn: Sequence[Curved]) -> Iterator[str]:
    """Which numbers have no interval since nothing varies, and which measure has no band at the ends."""
    from warehouse.query.comparison.curving import curve_measure
    from warehouse.significance.curves.bands import LEAST

    fixed = [one.system.system.name for one in drawn if _fixed(plan, one)]
    if fixed:
        yield f"{test_set}: the ROC area of {some(fixed)} does not vary between documents, so it has no interval"
    alike = [one.system.system.name for one in drawn if one.curves.best and isnan(one.curves.best.lost.low)]
    if alike:
        are = "equal those" if len(alike) == 1 else "each equal those"
        yield (
            f"{test_set}: the decisions of {some(alike)} {are} at the best threshold here, but perhaps not on "
            "other documents, so lost has no interval"
        )
    of = [statistic.label for statistic in plan.statistics if not curve_measure(statistic).share]
    if drawn and of:
        yield f"{some(of)}: no band where fewer than {LEAST} documents are accepted, or fewer than {LEAST} rejected"


def _at_an_end(one: Curved) -> bool:
    """Whether the best threshold decides none, one of the highest confidence, or all."""
    best, places = one.curves.best, one.system.thresholds.at.size
    return best is not None and (best.place <= 1 or best.place == places) and places > FEW


def said_of_areas(plan: CurvePlan, entry: p.Entry, found: AreaTests) -> Iterator[str]:
    """The tests between areas under ROC curves: each where they are few, else how many differ."""
    from warehouse.charts import p_written

    tests = found.tests
    for first, second, difference in found.untested[:TESTED]:
        yield (
            f"{entry.test_set.name}: ROC area of {first} − {second} {100 * difference:+.2f} is the same on every "
            f"{entry.units.noun}, so DeLong cannot test it, and the adjustment leaves it out"
        )
    if len(found.untested) > TESTED:
        yield (
            f"{entry.test_set.name}: {counted(len(found.untested) - TESTED, 'more difference of ROC areas')} cannot be "
            "tested either"
        )
    adjusted = ", Holm-adjusted" if len(tests) > 1 else ""
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
            f"{plan.level} (DeLong, Holm-adjusted); compare auc names them"
        )
