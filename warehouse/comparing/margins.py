"""Two one-sided tests against a margin: that one system is not worse by so much than another, and that it is not better
by so much (Schuirmann 1987; Berger and Hsu 1996).

The interval that is shown decides: the one with the level outside on each side has to lie within the margin. Where the
two systems have the same denominators on every unit, one of them is raised by the margin on each, the test of the
statement is made of that, and both have to show it. Where few units differ, neither can: what decides is how large the
difference may be of units of which so few were seen to differ. The two-sided test itself is made elsewhere; here its
verdict is read beside the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.decisions import Decided, Decisions, decisions
from evalhouse.warehouse.comparing.intervals import Interval, Intervals, intervals, percent
from evalhouse.warehouse.comparing.notes import ONE_BY_ONE, hopeless, who
from evalhouse.warehouse.comparing.pairs import Comparison, Pair
from evalhouse.warehouse.comparing.sums import average_of
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures.measure import SHARE
from evalhouse.warehouse.plans.path import ONE_THREAD, Workforce
from evalhouse.warehouse.significance.proportions import CLOPPER_PEARSON

FAMILIES = 3
"""How many verdicts each pair takes: that the systems differ, and the two about the margin."""

ENOUGH = 10
"""With fewer differing units than this among others that tie, such as items right or wrong, tests and resamples would
find systems that differ by the margin within it too often: raised by it, all that tie speak for one of them."""

MarginVerdict = Literal["equivalent", "better", "worse", "not worse", "inconclusive", "undecided"]
"""Of the first system against the second."""

CONCLUSIVE = ("equivalent", "better", "worse", "not worse")
"""The verdicts that decide something."""

INCONCLUSIVE = "inconclusive"
"""The verdict that does not."""

INTERVAL = "interval"
"""The method of a verdict that an interval decided."""


class Margined(Struct, frozen=True):
    """The verdict on a pair against a margin. `not_worse` and `not_better` are the p of the two one-sided tests,
    adjusted where the statement adjusts, None where an interval decided. `enough` is about how many shuffles would
    settle an undecided verdict, None where no number would.
    """

    not_worse: float | None
    not_better: float | None
    verdict: MarginVerdict
    enough: int | None = None
    few: bool = False
    """Whether so few units differ that their bound decided."""

    @property
    def by_interval(self) -> bool:
        """Whether an interval decided."""
        return self.not_worse is None


Margins = dict[tuple[str, Pair], Margined]
"""Keyed by the label of the statistic and the places of the two systems."""


def decide_margins(
    batch: Sequence[Comparison], decided: Decisions, limits: Intervals, workforce: Workforce, pairs: int
) -> Margins:
    """The verdict on each pair of comparisons of one test set, which were `decided` without the margin; `limits` are
    their `margin_intervals`. The statement makes so many verdicts on `pairs` in all.

    Raises QueryError where a test refuses a pair.
    """
    margin = batch[0].how.margin if batch else None
    if margin is None:
        return {}
    few = {(one.statistic.label, pair) for one in batch for pair, _ in few_differing(one)}
    by_tests = [comparison for comparison in batch if can_be_raised(comparison)]
    by_interval = [comparison for comparison in batch if not can_be_raised(comparison)]
    found: Margins = {}
    not_worse, not_better = (
        decisions([against_margin(comparison, worse) for comparison in by_tests], workforce, pairs)
        for worse in (True, False)
    )
    for comparison in by_tests:
        for pair, shown in _shown(comparison, limits):
            label = comparison.statistic.label
            tests = (
                not_worse[label, raise_pair(comparison, pair, True)],
                not_better[label, raise_pair(comparison, pair, False)],
            )
            found[label, pair] = _by_tests(decided[label, pair], tests, shown, first_is_better(comparison, pair))
    for comparison in by_interval:
        for pair, passed in _shown(comparison, limits):
            key = comparison.statistic.label, pair
            possible = {
                _verdict(*passed, differs, first_is_better(comparison, pair)) for differs in _sides(decided[key])
            }
            found[key] = Margined(None, None, _only(possible), decided[key].enough)
    return {key: replace(of_pair, few=key in few) for key, of_pair in found.items()}


# --- by tests ---------------------------------------------------------------------------------------------------------


def can_be_raised(comparison: Comparison) -> bool:
    """Whether tests can decide: the same denominators for all systems on every unit, so that raising one of them by the
    margin moves every difference alike."""
    if not comparison.sums.is_ratio or comparison.replicates:
        return False
    denominators = comparison.ratios.denominators
    return bool((denominators == denominators[0]).all())


def against_margin(comparison: Comparison, worse: bool) -> Comparison:
    """The one-sided question whether the first system of each pair is not worse by the margin, or else not better.

    Each system stands there twice, the second time raised by the margin: an average over test sets is, if its value on
    each of them is. Raises QueryError where the margin has too many digits.
    """
    how, entry = comparison.how, comparison.entry
    assert how.margin is not None
    over = tuple(against_margin(part, worse) for part in comparison.over)
    try:
        sums = average_of([part.sums for part in over]) if over else comparison.ratios.with_raised(Fraction(how.margin))
    except OverflowError:
        raise QueryError(f"the margin {how.margin} has too many digits for {comparison.statistic.label}") from None
    return replace(
        comparison,
        how=replace(how, sides="one-sided"),
        entry=replace(entry, systems=entry.systems * 2),
        sums=sums,
        pairs=tuple(raise_pair(comparison, pair, worse) for pair in comparison.pairs),
        over=over,
        of_uneven=comparison.uneven,
    )


def raise_pair(comparison: Comparison, pair: Pair, worse: bool) -> Pair:
    """The places of the two systems of a pair in the question about a margin: the one that would be worse is raised, or
    where lower is better the other, so that the test asks whether the first is the better."""
    a, b = pair if worse else (pair[1], pair[0])
    systems = len(comparison.entry.systems)
    return (a, b + systems) if comparison.statistic.measure.lower_is_better else (a + systems, b)


def margin_notes(comparison: Comparison, margins: Margins) -> Iterator[str]:
    """Why a margin can never be met here, and where too few units differ to show that one is."""
    if comparison.how.margin is None:
        return
    if can_be_raised(comparison):
        yield from (f"against the margin, {note}" for note in hopeless(against_margin(comparison, True)))
    units, noun = comparison.observations.units, comparison.entry.units.exchange_noun
    few = [
        (pair, differing)
        for pair, differing in few_differing(comparison)
        if margins[comparison.statistic.label, pair].verdict == INCONCLUSIVE
    ]
    if len(few) <= ONE_BY_ONE:
        for pair, differing in few:
            differ = "differs" if differing == 1 else "differ"
            so_many = f"{who(comparison, pair)}: {differing} of {quantity(units, noun)} {differ}"
            bound = bound_of(comparison, differing)
            if bound is None:
                yield f"{so_many}, too few to show that a difference is within the margin"
            else:
                written = format_margin(Decimal(f"{bound:.2g}"), comparison.entry.unit)
                yield f"{so_many}; systems that differ by up to {written} may look so"
    else:
        show = "too few to show that a difference is within the margin"
        yield f"{len(few):,} pairs differ in fewer than {ENOUGH} {plural(noun)}, {show}"


def _by_tests(
    decided: Decided, tests: tuple[Decided, Decided], shown: tuple[bool, bool], first_is_better: bool
) -> Margined:
    possible = {
        _verdict(not_worse and shown[0], not_better and shown[1], differs, first_is_better)
        for not_worse, not_better, differs in product(*map(_sides, (*tests, decided)))
    }
    levels = [test.outcome.p if test.adjusted is None else test.adjusted for test in tests]
    wanting = [test.enough for test in (*tests, decided) if test.enough is not None]
    return Margined(levels[0], levels[1], _only(possible), max(wanting, default=None))


# --- by an interval ---------------------------------------------------------------------------------------------------


def margin_intervals(
    comparisons: Sequence[Comparison], decided: Decisions, workforce: Workforce = ONE_THREAD
) -> Intervals:
    """The intervals that are shown and decide: with the level outside on either side, so with twice that in all. Where
    few units differ it is what differences these are compatible with, if the measure has a range. A pair that differs
    significantly, and more than the margin may be, keeps its own: it says in which direction.
    """
    limits = intervals(comparisons, workforce)
    for comparison in comparisons:
        for pair, differing in few_differing(comparison):
            key, bound = (comparison.statistic.label, pair), bound_of(comparison, differing)
            if _is_below_margin(bound, comparison) or decided[key].verdict != "significant":
                low, high = (None, None) if bound is None else (-bound, bound)
                limits[key] = Interval(low, high, limits[key].error, 0, 0, False, CLOPPER_PEARSON.name)
    return limits


def _shown(comparison: Comparison, limits: Intervals) -> Iterator[tuple[Pair, tuple[bool, bool]]]:
    """The pairs, and whether what is shown of each is not worse by the margin, and not better. Where few units differ,
    only their bound can show it.
    """
    few = dict(few_differing(comparison))
    for pair in comparison.pairs:
        if pair in few:
            close = _is_below_margin(bound_of(comparison, few[pair]), comparison)
            yield pair, (close, close)
        else:
            yield pair, _within(limits[comparison.statistic.label, pair], comparison)


def _is_below_margin(bound: float | None, comparison: Comparison) -> bool:
    return bound is not None and comparison.how.margin is not None and bound < float(comparison.how.margin)


def few_differing(comparison: Comparison) -> Iterator[tuple[Pair, int]]:
    """The pairs that differ in fewer than ENOUGH units and tie in others, and in how many. Runs of a system are not
    exchange units.
    """
    if comparison.how.margin is None or comparison.replicates or comparison.statistic.ordered:
        return
    for pair, differing in zip(comparison.pairs, comparison.differing, strict=True):
        if differing < min(ENOUGH, comparison.observations.units):
            yield pair, differing


def bound_of(comparison: Comparison, differing: int) -> float | None:
    """The largest difference that is compatible with so few differing units: the one-sided limit of Clopper and Pearson
    (1934) of the share that differs, times the range of the measure. With none that differ it is 1 − level^(1/units).
    None for a ratio whose denominators differ, for an average over test sets and where the range is not known.
    """
    measure = comparison.statistic.measure
    if comparison.over or not can_be_raised(comparison):
        return None
    if measure.within is not None:
        lowest, highest = measure.within
    elif measure.named_share and _are_shares(comparison):
        lowest, highest = SHARE
    else:
        return None
    level, units = float(comparison.how.level), comparison.observations.units
    share = CLOPPER_PEARSON.limits(differing, units, 2 * level)[1]
    return share * (highest - lowest)


def _are_shares(comparison: Comparison) -> bool:
    """Whether no observation is below 0 or above 1: values by the name of a share may be percentages."""
    over = comparison.factor * comparison.ratios.numerators
    return bool(((over >= 0) & (over <= comparison.ratios.denominators)).all())


def _within(interval: Interval, comparison: Comparison) -> tuple[bool, bool]:
    """Whether the interval shows that the first system is not worse by the margin, and that it is not better."""
    assert comparison.how.margin is not None
    margin = float(comparison.how.margin)
    above = interval.low is not None and interval.low > -margin
    below = interval.high is not None and interval.high < margin
    return (below, above) if comparison.statistic.measure.lower_is_better else (above, below)


# --- the verdict ------------------------------------------------------------------------------------------------------


def first_is_better(comparison: Comparison, pair: Pair) -> bool:
    """Whether the first system has the better value."""
    difference = comparison.exact_difference(*pair)
    return difference < 0 if comparison.statistic.measure.lower_is_better else difference > 0


def _verdict(not_worse: bool, not_better: bool, differs: bool, first_is_better: bool) -> MarginVerdict:
    if not_worse and not_better:
        return "equivalent"
    if differs:
        return "better" if first_is_better else "worse"
    return "not worse" if not_worse else "inconclusive"


def _sides(decided: Decided) -> tuple[bool, ...]:
    """The sides of the level on which p may lie."""
    return (True, False) if decided.verdict == "undecided" else (decided.verdict == "significant",)


def _only(possible: Iterable[MarginVerdict]) -> MarginVerdict:
    """The verdict if only one is possible, else undecided."""
    first, *others = set(possible)
    return "undecided" if others else first


# --- what it is called ------------------------------------------------------------------------------------------------


def margin_caption(margin: Decimal, level: Decimal, unit: str, margins: Margins) -> str:
    """margin 2%, by 90% intervals. `unit` is that of the measures."""
    by_interval = [of_pair.by_interval for of_pair in margins.values()]
    tests = "" if all(by_interval) else f"{'in part ' if any(by_interval) else ''}by two one-sided tests and "
    few = any(of_pair.few for of_pair in margins.values())
    bound = "; where few units differ, by Clopper and Pearson's bound" if few else ""
    return f"margin {format_margin(margin, unit)}, {tests}by {percent(2 * level)} intervals{bound}"


def margin_line(comparison: Comparison) -> str:
    """How a comparison would be tested against a margin, for `explain`."""
    how, label = comparison.how, comparison.statistic.label
    assert how.margin is not None
    margin = format_margin(how.margin, comparison.entry.unit)
    if can_be_raised(comparison):
        return (
            f"{label}: {margin}, two one-sided tests, with the margin added to one system (Schuirmann 1987), and the "
            f"{percent(how.interval_level)} {how.interval.name} interval"
        )
    why = "the margin cannot be added to replicates" if comparison.replicates else "the systems' denominators differ"
    return f"{label}: {margin}, by the {percent(how.interval_level)} {how.interval.name} interval, since {why}"


def format_margin(margin: Decimal, unit: str) -> str:
    """A margin in the unit of the measures: 2%, 0.5."""
    return f"{(100 * margin).normalize():f}%" if unit == "proportion" else f"{margin.normalize():f}"
