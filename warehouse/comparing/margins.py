"""Two one-sided tests against a margin: that one system is not worse by so much than another, and that it is not better
by so much (Schuirmann 1987; Berger and Hsu 1996).

The interval that is shown decides: the one with the level outside on each side has to lie within the margin. Where the
two systems have the same denominators on every unit, one of them is raised by the margin on each, the test of the
statement is made of that, and both have to show it. Where few units differ, neither can: what decides is how large the
difference may be of units of which so few were seen to differ. The two-sided test itself is made elsewhere; here its
verdict is read beside the two, and counts where the interval excludes 0.

A margin that is a part of the second system's value, 5% of B, is tested as A − 0.95·B and A − 1.05·B: what was said of
raised systems holds of those whose value is multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.decisions import Decided, Decisions, decisions
from evalhouse.warehouse.comparing.intervals import Interval, Intervals, intervals, percent, ratios_in
from evalhouse.warehouse.comparing.notes import hopeless, subject_of, units_of
from evalhouse.warehouse.comparing.pairs import Comparison, Pair
from evalhouse.warehouse.comparing.sums import Orders, average_of
from evalhouse.warehouse.notes import Figure, Note, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import unit_of
from evalhouse.warehouse.plans.path import ONE_THREAD, Workforce
from evalhouse.warehouse.significance.proportions import CLOPPER_PEARSON, Share
from evalhouse.warehouse.significance.standardized import are_apart, constant_units
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import OF_EQUALITY

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
    beyond_interval: bool = False
    """Whether only the test finds a difference: the interval contains 0, so that the verdict is neither better nor
    worse."""

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
    for comparison in batch:
        _check_multiplied(comparison)
    few = {(one.statistic.label, pair) for one in batch for pair, _ in few_differing(one)}
    of_parts = {} if not margin.of_second else _of_parts(batch, workforce)
    by_tests = [comparison for comparison in batch if can_be_raised(comparison)]
    by_interval = [comparison for comparison in batch if not can_be_raised(comparison)]
    found: Margins = {}
    not_worse, not_better = (
        decisions([against_margin(comparison, worse) for comparison in by_tests], workforce, pairs)
        for worse in (True, False)
    )
    for comparison in by_tests:
        for pair, shown in _shown(comparison, limits, of_parts):
            label = comparison.statistic.label
            tests = (
                not_worse[label, moved_pair(comparison, pair, True)],
                not_better[label, moved_pair(comparison, pair, False)],
            )
            found[label, pair] = _by_tests(_Found.of(comparison, pair, decided, limits), tests, shown)
    for comparison in by_interval:
        for pair, passed in _shown(comparison, limits, of_parts):
            difference = _Found.of(comparison, pair, decided, limits)
            possible = {_verdict(*passed, differs, difference.first_is_better) for differs in difference.sides}
            key = comparison.statistic.label, pair
            found[key] = Margined(None, None, _only(possible), decided[key].enough)
    return {
        key: replace(of_pair, few=key in few, beyond_interval=_is_beyond(of_pair, decided[key]))
        for key, of_pair in found.items()
    }


# --- by tests ---------------------------------------------------------------------------------------------------------


def can_be_raised(comparison: Comparison) -> bool:
    """Whether tests can decide: the same denominators for all systems on every unit, so that raising one of them by the
    margin moves every difference alike."""
    if not comparison.sums.is_ratio or comparison.replicates:
        return False
    denominators = comparison.ratios.denominators
    return bool((denominators == denominators[0]).all())


def against_margin(comparison: Comparison, worse: bool) -> Comparison:
    """The one-sided question whether the first system of each pair is not worse by the margin, or else not better."""
    pairs = tuple(moved_pair(comparison, pair, worse) for pair in comparison.pairs)
    moved = _with_moved(comparison)
    return replace(moved, how=replace(moved.how, sides="one-sided"), pairs=pairs)


def _with_moved(comparison: Comparison) -> Comparison:
    """A comparison in which each system stands again, raised by the margin: an average over test sets is, if its value
    on each of them is. For a part of the second system's value it stands there multiplied by what is less than 1, and
    then by what is more. Raises QueryError where the margin has too many digits.
    """
    how, entry = comparison.how, comparison.entry
    assert how.margin is not None
    over = tuple(map(_with_moved, comparison.over))
    amount = Fraction(how.margin.amount)
    factors = [1 - amount, 1 + amount] if how.margin.of_second else []
    try:
        if over:
            sums: Sums | Orders = average_of([part.sums for part in over])
        elif factors:
            sums = comparison.ratios.with_multiplied(factors)
        else:
            sums = comparison.ratios.with_raised(amount)
    except OverflowError:
        wrong = f"the margin {how.margin.amount} has too many digits for {comparison.statistic.label}"
        raise QueryError(wrong) from None
    runs = comparison.replicates
    return replace(
        comparison,
        entry=replace(entry, systems=entry.systems * (1 + len(factors) if factors else 2)),
        sums=sums,
        over=over,
        replicates=runs + tuple(tuple(float(factor) * run for run in of) for factor in factors for of in runs),
        of_uneven=comparison.uneven,
    )


def moved_pair(comparison: Comparison, pair: Pair, worse: bool) -> Pair:
    """The places of the two systems of a pair in the question about a margin, the one first that has to be the better:
    the one that would be worse is raised, or where lower is better the other. Of a part of the second system's value
    that system is multiplied.
    """
    lower, systems = comparison.statistic.measure.lower_is_better, len(comparison.entry.systems)
    assert comparison.how.margin is not None
    if comparison.how.margin.of_second:
        multiplied = pair[1] + systems * (1 if worse != lower else 2)
        return (pair[0], multiplied) if worse else (multiplied, pair[0])
    a, b = pair if worse else (pair[1], pair[0])
    return (a, b + systems) if lower else (a + systems, b)


# --- a part of the second system's value ------------------------------------------------------------------------------


def _check_multiplied(comparison: Comparison) -> None:
    """Raises QueryError where values cannot be multiplied on every unit: of functions of sums, such as MCC."""
    margin = comparison.how.margin
    if margin is None or not margin.of_second:
        return
    for part in comparison.over or (comparison,):
        if not part.sums.is_ratio:
            amount = format_margin(margin, [comparison.entry])
            raise QueryError(
                f"a margin of {amount} needs a ratio of sums, and {comparison.statistic.label} is not one",
                hints=("write a margin in the unit of the measure",),
            )


def _of_parts(batch: Sequence[Comparison], workforce: Workforce) -> dict[tuple[str, Pair], tuple[bool, bool]]:
    """Whether the intervals of A − 0.95·B and A − 1.05·B show that the first system of each pair is not worse by a part
    of the second's value, and that it is not better.
    """
    passed: dict[tuple[str, Pair], list[bool]] = {}
    for worse in (True, False):
        moved = [
            replace(_with_moved(one), pairs=tuple(moved_pair(one, pair, worse) for pair in one.pairs)) for one in batch
        ]
        limits = intervals(moved, workforce)
        for comparison in batch:
            for pair in comparison.pairs:
                key = comparison.statistic.label, moved_pair(comparison, pair, worse)
                low, high = limits[key].low, limits[key].high
                if comparison.statistic.measure.lower_is_better:
                    shows = high is not None and high < 0
                else:
                    shows = low is not None and low > 0
                passed.setdefault((comparison.statistic.label, pair), []).append(shows)
    return {key: (not_worse, not_better) for key, (not_worse, not_better) in passed.items()}


def margin_of(comparison: Comparison, pair: Pair) -> float:
    """The largest difference that still counts as none for a pair, in the unit of the measure; 0 where it is a part of
    a value that there is not, or that is below 0.
    """
    margin = comparison.how.margin
    assert margin is not None
    if not margin.of_second:
        return float(margin.amount)
    return float(margin.amount) * max(comparison.values[pair[1]] or 0.0, 0.0)


def margin_notes(comparison: Comparison, margins: Margins) -> Iterator[str]:
    """Why a margin can never be met here, and where too few units differ to show that one is."""
    if comparison.how.margin is None:
        return
    if can_be_raised(comparison):
        yield from hopeless(against_margin(comparison, True), "against the margin, ")
    yield from _beyond_interval_notes(comparison, margins)
    few = [
        (pair, differing)
        for pair, differing in few_differing(comparison)
        if margins[comparison.statistic.label, pair].verdict == INCONCLUSIVE
    ]
    for pair, differing in few:
        so_many = ("differ in ", count(differing), " of ", units_of(comparison))
        bound = bound_of(comparison, differing)
        if bound is None:
            too_few = ", too few to show that a difference is within the margin"
            yield Note(subject_of(comparison, pair), *so_many, too_few)
        else:
            written = format_amount(Decimal(f"{bound:.2g}"), comparison.entry.unit)
            at_most = ("; systems that differ by up to ", Figure(bound, written), " may look so")
            yield Note(subject_of(comparison, pair), *so_many, *at_most)


def _beyond_interval_notes(comparison: Comparison, margins: Margins) -> Iterator[str]:
    """Of which pairs the test finds a difference that the interval does not, and what may find one as it does."""
    label, how = comparison.statistic.label, comparison.how
    beyond = [pair for pair in comparison.pairs if margins[label, pair].beyond_interval]
    interval = f"the {percent(how.interval_level)} interval beside it"
    says = f"the test finds a difference that {interval} does not, so the verdict is neither better nor worse"
    if how.test.shuffles_differences:
        says += f"; it asks whether answers are exchangeable, and test {OF_EQUALITY.name} whether the values are equal"
    yield from (Note(subject_of(comparison, pair), says) for pair in beyond)


def _by_tests(found: _Found, tests: tuple[Decided, Decided], shown: tuple[bool, bool]) -> Margined:
    possible = {
        _verdict(not_worse and shown[0], not_better and shown[1], differs, found.first_is_better)
        for not_worse, not_better, differs in product(*map(_sides, tests), found.sides)
    }
    levels = [test.outcome.p if test.adjusted is None else test.adjusted for test in tests]
    wanting = [test.enough for test in (*tests, found.decided) if test.enough is not None]
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
            if _is_below_margin(bound, comparison, pair) or decided[key].verdict != "significant":
                low, high = (None, None) if bound is None else (-bound, bound)
                limits[key] = Interval(low, high, limits[key].error, 0, 0, False, CLOPPER_PEARSON.name)
    return limits


def _shown(
    comparison: Comparison, limits: Intervals, of_parts: Mapping[tuple[str, Pair], tuple[bool, bool]]
) -> Iterator[tuple[Pair, tuple[bool, bool]]]:
    """The pairs, and whether what is shown of each is not worse by the margin, and not better. Where few units differ,
    only their bound can show it; where a ratio without a known range is the same on every unit, nothing can. With a
    part of a value as the margin, the intervals `of_parts` have to show it, too.
    """
    few = dict(few_differing(comparison))
    for pair in comparison.pairs:
        if _is_unbounded(comparison, pair):
            yield pair, (False, False)
        elif pair in few:
            close = _is_below_margin(bound_of(comparison, few[pair]), comparison, pair)
            yield pair, (close, close)
        else:
            key = comparison.statistic.label, pair
            not_worse, not_better = of_parts.get(key, (True, True))
            passed = _within(limits[key], comparison, pair)
            yield pair, (passed[0] and not_worse, passed[1] and not_better)


def _is_unbounded(comparison: Comparison, pair: Pair) -> bool:
    """Whether a system has the same value on every unit, of a ratio whose range is not known: nothing says how far
    others may be.
    """
    if comparison.within is not None:
        return False
    return any(constant_units(many)[[*pair]].any() and are_apart(many, pair) for many, _ in ratios_in(comparison))


def _is_below_margin(bound: float | None, comparison: Comparison, pair: Pair) -> bool:
    return bound is not None and bound < margin_of(comparison, pair)


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
    if comparison.within is None or comparison.over or not can_be_raised(comparison):
        return None
    lowest, highest = comparison.within
    level, units = float(comparison.how.level), comparison.observations.units
    share = CLOPPER_PEARSON.limits(Share(differing, units), 2 * level)[1]
    return share * (highest - lowest)


def _within(interval: Interval, comparison: Comparison, pair: Pair) -> tuple[bool, bool]:
    """Whether the interval shows that the first system is not worse by the margin, and that it is not better."""
    margin = margin_of(comparison, pair)
    above = interval.low is not None and interval.low > -margin
    below = interval.high is not None and interval.high < margin
    return (below, above) if comparison.statistic.measure.lower_is_better else (above, below)


# --- the verdict ------------------------------------------------------------------------------------------------------


class _Found(Struct, frozen=True):
    """What the two-sided test found of a pair, and whether the interval that is shown lies on the same side of 0."""

    decided: Decided
    is_apart: bool
    first_is_better: bool

    @classmethod
    def of(cls, comparison: Comparison, pair: Pair, decided: Decisions, limits: Intervals) -> _Found:
        key, difference = (comparison.statistic.label, pair), comparison.exact_difference(*pair)
        lower, interval = comparison.statistic.measure.lower_is_better, limits[key]
        apart = interval.lies_above_0 if difference > 0 else interval.lies_below_0
        # Beside an open p the bound of few units stands in the place of an interval that more shuffles may bring back.
        open_ = decided[key].verdict == "undecided" and interval.kind == CLOPPER_PEARSON.name
        return cls(decided[key], apart or open_, difference < 0 if lower else difference > 0)

    @property
    def sides(self) -> tuple[bool, ...]:
        """Whether the systems differ, by the test and by the interval; both answers where shuffles leave it open."""
        return _sides(self.decided) if self.is_apart else (False,)


def _is_beyond(margined: Margined, decided: Decided) -> bool:
    """Whether a verdict would have been better or worse if the test alone had decided."""
    return decided.verdict == "significant" and margined.verdict in ("not worse", INCONCLUSIVE)


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


def margin_caption(margin: p.Margin, level: Decimal, entries: Sequence[p.Entry], margins: Margins) -> str:
    """margin 2%, by 90% intervals."""
    by_interval = [of_pair.by_interval for of_pair in margins.values()]
    tests = "" if all(by_interval) else f"{'in part ' if any(by_interval) else ''}by two one-sided tests and "
    few = any(of_pair.few for of_pair in margins.values())
    bound = "; where few units differ, by Clopper and Pearson's bound" if few else ""
    return f"margin {format_margin(margin, entries)}, {tests}by {percent(2 * level)} intervals{bound}"


def margin_line(comparison: Comparison) -> str:
    """How a comparison would be tested against a margin, for `explain`."""
    how, label = comparison.how, comparison.statistic.label
    assert how.margin is not None
    margin = format_margin(how.margin, [comparison.entry])
    if can_be_raised(comparison):
        moved = "the margin added to one system"
        if how.margin.of_second:
            moved = f"the second multiplied by {1 - how.margin.amount} and by {1 + how.margin.amount}"
        return (
            f"{label}: {margin}, two one-sided tests, with {moved} (Schuirmann 1987), and the "
            f"{percent(how.interval_level)} {how.interval.name} interval"
        )
    why = "the margin cannot be added to replicates" if comparison.replicates else "the systems' denominators differ"
    return f"{label}: {margin}, by the {percent(how.interval_level)} {how.interval.name} interval, since {why}"


def format_margin(margin: p.Margin, entries: Sequence[p.Entry]) -> str:
    """2%, 0.5 in the unit of the measures, or 5% of UMASS, the second system of each pair."""
    if not margin.of_second:
        return format_amount(margin.amount, unit_of(entries))
    seconds = {
        one.against.name if one.against else one.systems[1].name if len(one.systems) == 2 else "" for one in entries
    }
    second = seconds.pop() if len(seconds) == 1 else ""
    return f"{format_amount(margin.amount, 'proportion')} of {second or p.SECOND}"


def format_amount(amount: Decimal, unit: str) -> str:
    """2%, 0.5."""
    return f"{(100 * amount).normalize():f}%" if unit == "proportion" else f"{amount.normalize():f}"
