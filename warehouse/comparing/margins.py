"""Two one-sided tests against a margin: that one system is not worse by so much than another, and that it is not better
by so much (Schuirmann 1987; Berger and Hsu 1996).

Where the two systems have the same denominators on every unit, one of them is raised by the margin on each, and the
test of the statement is made of that. Elsewhere the BCa interval with twice the level outside decides. The two-sided
test itself is made elsewhere; here its verdict is read beside the two.
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
from evalhouse.warehouse.comparing.intervals import Intervals, intervals_by, percent
from evalhouse.warehouse.comparing.notes import ONE_BY_ONE, hopeless, who
from evalhouse.warehouse.comparing.pairs import Comparison, Pair
from evalhouse.warehouse.comparing.sums import average_of
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.plans.path import Workforce
from evalhouse.warehouse.significance.bootstrap.interval_kinds import CORRECTED, INTERVALS, IntervalPlan

FAMILIES = 3
"""How many verdicts each pair takes: that the systems differ, and the two about the margin."""

EASILY = 10
"""With fewer differing units than this among others that tie, such as items right or wrong, systems that differ by the
margin are found within it in more than 7% at the level 0.05: raised by it, all that tie speak for one of them."""

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

    @property
    def by_interval(self) -> bool:
        """Whether an interval decided."""
        return self.not_worse is None


Margins = dict[tuple[str, Pair], Margined]
"""Keyed by the label of the statistic and the places of the two systems."""


def decide_margins(batch: Sequence[Comparison], decided: Decisions, workforce: Workforce, pairs: int) -> Margins:
    """The verdict on each pair of comparisons of one test set, which were `decided` without the margin. The statement
    makes so many verdicts on `pairs` in all.

    Raises QueryError where a test refuses a pair.
    """
    margin = batch[0].how.margin if batch else None
    if margin is None:
        return {}
    by_tests = [comparison for comparison in batch if can_be_raised(comparison)]
    by_interval = [comparison for comparison in batch if not can_be_raised(comparison)]
    found: Margins = {}
    not_worse, not_better = (
        decisions([against_margin(comparison, worse) for comparison in by_tests], workforce, pairs)
        for worse in (True, False)
    )
    for comparison in by_tests:
        for pair in comparison.pairs:
            label = comparison.statistic.label
            tests = (
                not_worse[label, raise_pair(comparison, pair, True)],
                not_better[label, raise_pair(comparison, pair, False)],
            )
            found[label, pair] = _by_tests(decided[label, pair], tests, first_is_better(comparison, pair))
    limits = _limits(by_interval, workforce)
    for comparison in by_interval:
        for pair in comparison.pairs:
            key = comparison.statistic.label, pair
            passed = _within(limits, key, float(margin), comparison.statistic.measure.lower_is_better)
            possible = {
                _verdict(*passed, differs, first_is_better(comparison, pair)) for differs in _sides(decided[key])
            }
            found[key] = Margined(None, None, _only(possible), decided[key].enough)
    return found


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
    """Why a margin can never be met here, and where one is met too easily."""
    if comparison.how.margin is None or not can_be_raised(comparison):
        return
    yield from (f"against the margin, {note}" for note in hopeless(against_margin(comparison, True)))
    units = comparison.observations.units
    easily = [
        (pair, differing)
        for pair, differing in zip(comparison.pairs, comparison.differing, strict=True)
        if differing < min(EASILY, units)
        and margins[comparison.statistic.label, pair].verdict in ("equivalent", "not worse")
    ]
    noun, why = (
        comparison.entry.units.exchange_noun,
        "too few to rely on: systems that differ by the margin would too often seem closer",
    )
    if len(easily) <= ONE_BY_ONE:
        for pair, differing in easily:
            differ = "differs" if differing == 1 else "differ"
            yield f"{who(comparison, pair)}: {differing} of {quantity(units, noun)} {differ}, {why}"
    else:
        yield f"{len(easily):,} pairs within the margin differ in fewer than {EASILY} {plural(noun)}, {why}"


def _by_tests(decided: Decided, tests: tuple[Decided, Decided], first_is_better: bool) -> Margined:
    possible = {
        _verdict(not_worse, not_better, differs, first_is_better)
        for not_worse, not_better, differs in product(*map(_sides, (*tests, decided)))
    }
    levels = [test.outcome.p if test.adjusted is None else test.adjusted for test in tests]
    wanting = [test.enough for test in (*tests, decided) if test.enough is not None]
    return Margined(levels[0], levels[1], _only(possible), max(wanting, default=None))


# --- by an interval ---------------------------------------------------------------------------------------------------


def _limits(comparisons: Sequence[Comparison], workforce: Workforce) -> Intervals:
    """The intervals that decide: with them outside the margin on either side at the level, two-sided at twice that."""
    return intervals_by(comparisons, plan_of_margin, workforce)


def plan_of_margin(comparison: Comparison) -> IntervalPlan:
    """How the interval is made that decides. That of replicates is not resampled, and has no bias to correct."""
    how = comparison.how
    kind = INTERVALS[0] if comparison.replicates else CORRECTED
    return IntervalPlan(2 * float(how.level), kind, family=how.adjustment.intervals)


def _within(limits: Intervals, key: tuple[str, Pair], margin: float, lower_is_better: bool) -> tuple[bool, bool]:
    """Whether the interval shows that the first system is not worse by the margin, and that it is not better."""
    interval = limits[key]
    above = interval.low is not None and interval.low > -margin
    below = interval.high is not None and interval.high < margin
    return (below, above) if lower_is_better else (above, below)


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
    """margin 2%, by 90% bca intervals. `unit` is that of the measures."""
    written = format_margin(margin, unit)
    by_interval = [of_pair.by_interval for of_pair in margins.values()]
    if not any(by_interval):
        return f"margin {written}"
    return f"margin {written}, {'' if all(by_interval) else 'in part '}by {percent(2 * level)} intervals"


def margin_line(comparison: Comparison) -> str:
    """How a comparison would be tested against a margin, for `explain`."""
    how, label = comparison.how, comparison.statistic.label
    assert how.margin is not None
    margin = format_margin(how.margin, comparison.entry.unit)
    if can_be_raised(comparison):
        return f"{label}: {margin}, two one-sided tests, with the margin added to one system (Schuirmann 1987)"
    plan = plan_of_margin(comparison)
    why = "the margin cannot be added to replicates" if comparison.replicates else "the systems' denominators differ"
    return f"{label}: {margin}, by the {percent(2 * how.level)} {plan.kind.name} interval, since {why}"


def format_margin(margin: Decimal, unit: str) -> str:
    """A margin in the unit of the measures: 2%, 0.5."""
    return f"{(100 * margin).normalize():f}%" if unit == "proportion" else f"{margin.normalize():f}"
