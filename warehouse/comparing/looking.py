"""Verdicts of questions that are asked again while documents come: at any time, or by a plan of looks.

A plan that has one look, after all of its documents, is the test of the statement without a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from msgspec.structs import replace

from evalhouse.warehouse.comparing.arrivals import PairCame
from evalhouse.warehouse.comparing.decisions import Decided, Decisions, decisions
from evalhouse.warehouse.comparing.pairs import Comparison, Pair
from evalhouse.warehouse.comparing.procedures import SHUFFLES, adjust_levels, draws_of, paired_sums
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.notes import Note, Subject, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.path import Workforce
from evalhouse.warehouse.significance.draws import Looked, Outcome, in_order
from evalhouse.warehouse.significance.looking import look_by_plan, looks_at_any_time
from evalhouse.warehouse.significance.shuffles.sequential import Verdict
from evalhouse.warehouse.significance.sums import Sums


def decide_looks(batch: Sequence[Comparison], workforce: Workforce, pairs: int) -> Decisions:
    """The verdict on each pair of comparisons of one test set; the statement compares so many `pairs` in all."""
    by_pair: Decisions = {}
    for comparison in batch:
        looks = comparison.how.looks
        assert looks is not None
        if looks.planned is None:
            by_pair |= _at_any_time(comparison, workforce)
        else:
            by_pair |= _by_plan(comparison, looks, looks.planned, workforce, pairs)
    return by_pair


def came_of(comparison: Comparison, pair: Pair) -> PairCame:
    """How the units of a pair came."""
    assert comparison.came is not None
    return comparison.came.of_pair(*pair, comparison.observations)


def _verdict(found: bool) -> Verdict:
    return "significant" if found else "not significant"


def _difference(comparison: Comparison, pair: Pair, some: Sums) -> float:
    """The value of the first system of a pair less that of the second on some units, 0 where one has none."""
    first, second = some.values().tolist()
    turned = comparison.in_order(pair) != pair
    return float((second - first if turned else first - second) * comparison.factor)


# --- at any time ------------------------------------------------------------------------------------------------------


def _at_any_time(comparison: Comparison, workforce: Workforce) -> Decisions:
    label, level = comparison.statistic.label, float(comparison.how.level)
    found = list(in_order(partial(_e_value, comparison), comparison.pairs, workforce.work.threads))
    adjusted = adjust_levels(comparison, np.array([outcome.p for outcome in found])).tolist()
    shown = comparison.how.adjustment.adjusts
    return {
        (label, pair): Decided(
            outcome,
            own if shown else None,
            1.0 if own <= level else 0.0,
            _verdict(own <= level),
        )
        for pair, outcome, own in zip(comparison.pairs, found, adjusted, strict=True)
    }


def _e_value(comparison: Comparison, pair: Pair) -> Outcome:
    comparison.check_single()
    came = came_of(comparison, pair)
    paired = paired_sums(comparison, pair).of_units(came.order)
    found = looks_at_any_time(paired, comparison.how.sides)
    difference = _difference(comparison, pair, paired.first(found.reached)) if found.reached else None
    return Outcome(found.p, "anytime", statistic=difference, looked=Looked(len(came.ends), e_value=found.e_value))


# --- by a plan --------------------------------------------------------------------------------------------------------


def _by_plan(comparison: Comparison, looks: p.Looks, planned: int, workforce: Workforce, pairs: int) -> Decisions:
    comparison.check_single()
    label, how = comparison.statistic.label, comparison.how
    by_pair: Decisions = {}
    for pair in comparison.pairs:
        came = came_of(comparison, pair)
        last = last_look(came, planned)
        if last == 1 and came.documents[0] >= planned:
            by_pair[label, pair] = _at_once(comparison, pair, came, workforce, pairs)
            continue
        paired = paired_sums(comparison, pair).of_units(came.order)
        found = look_by_plan(
            paired,
            came.ends[:last],
            [documents / planned for documents in came.documents[:last]],
            looks.spending,
            float(how.level),
            draws_of(comparison),
            how.sides,
            workforce.work,
        )
        goes_on = not found.crossed and came.documents[last - 1] < planned
        outcome = Outcome(
            found.p,
            "planned",
            found.shuffles,
            found.nge,
            _difference(comparison, pair, paired.first(came.ends[found.look - 1])),
            Looked(found.look, boundary=found.boundary, goes_on=goes_on),
        )
        verdict: Verdict = "undecided" if goes_on else _verdict(found.crossed)
        by_pair[label, pair] = Decided(outcome, None, 1.0 if found.crossed else 0.0, verdict)
    return by_pair


def _at_once(comparison: Comparison, pair: Pair, came: PairCame, workforce: Workforce, pairs: int) -> Decided:
    """The test without a plan, of the units that had come at the only look."""
    how, places = replace(comparison.how, looks=None), np.sort(came.order[: came.ends[0]])
    alone = replace(comparison, how=how, pairs=(pair,), sums=comparison.additive.of_units(places))
    decided = decisions([alone], workforce, pairs)[comparison.statistic.label, pair]
    difference = _difference(comparison, pair, paired_sums(alone, pair))
    looked = Looked(1, boundary=float(how.level))
    return replace(decided, outcome=replace(decided.outcome, statistic=difference, looked=looked))


def last_look(came: PairCame, planned: int) -> int:
    """How many looks there have been: the first at which all planned documents had come is the last."""
    return next((number for number, there in enumerate(came.documents, start=1) if there >= planned), len(came.ends))


# --- what is said of looks --------------------------------------------------------------------------------------------


def looks_line(looks: p.Looks) -> str:
    """How a comparison would be looked at more than once, for `explain`."""
    if looks.planned is None:
        order = f"by {looks.order.name}" if looks.order is not None else "by imports, and by name within one"
        return f"the largest e-value over all numbers of documents, in order {order}"
    return (
        f"{SHUFFLES:,} shuffles, or those asked for, at each import until there are {looks.planned:,} documents; "
        f"spending {looks.spending.name}: {looks.spending.meaning}"
    )


# --- notes ------------------------------------------------------------------------------------------------------------


def look_notes(comparison: Comparison, decided: Decisions) -> Iterator[str]:
    """What the looks at a comparison leave out, and how far a plan is."""
    looks, entry = comparison.how.looks, comparison.entry
    if looks is None:
        return
    of_pairs = [came_of(comparison, pair) for pair in comparison.pairs]
    where, noun = entry.test_set.name, entry.units.exchange_noun
    in_parts = max((came.in_parts for came in of_pairs), default=0)
    if in_parts:
        parts = " came in parts, with several imports; each counts as come with the last of them, and looks that were "
        before = "taken before are not accounted for"
        yield Note(Subject(where), count(in_parts, noun, plural(noun)), parts, before)
    if looks.planned is None:
        return
    label, documents = comparison.statistic.label, plural(entry.units.noun)
    going = [came for pair, came in zip(comparison.pairs, of_pairs, strict=True) if _goes_on(decided[label, pair])]
    if going:
        there = max(came.documents[-1] for came in going)
        yield (
            f"{label} on {where}: {there:,} of {looks.planned:,} planned {documents}, and the boundary is not crossed; "
            "ask again after the next import"
        )
    late = max(came.documents[-1] - came.documents[last_look(came, looks.planned) - 1] for came in of_pairs)
    if late:
        yield f"{where}: the plan ended before the last {quantity(late, entry.units.noun)} came, which decide nothing"


def _goes_on(decided: Decided) -> bool:
    return decided.outcome.looked is not None and decided.outcome.looked.goes_on
