"""The words around tested results: captions, signatures, and notes without which the pairs would mislead.

`compare`, `group` and `replicate` share them. A few pairs get a note each; many pairs are counted. Nothing here may
decide a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, inf, isnan, log

from msgspec import Struct, field

from evalhouse.grammar.clauses import as_typed
from evalhouse.warehouse.comparing.decisions import Decided, Decisions, is_faster_exactly
from evalhouse.warehouse.comparing.intervals import Interval, Intervals, interval_title, plan_of
from evalhouse.warehouse.comparing.lacking import dropped_notes, unanswered_notes
from evalhouse.warehouse.comparing.numbers import on_one_scale
from evalhouse.warehouse.comparing.pairs import Comparison, Pair
from evalhouse.warehouse.comparing.procedures import paired_sums
from evalhouse.warehouse.comparing.some_runs import missing_note_of_runs
from evalhouse.warehouse.comparing.sums import Orders
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.measures import OfNumbers
from evalhouse.warehouse.measures.numbers import PREDICTION, STANDARDIZED
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import Size, missing_caption, noun_of, sizes, some, undefined_units
from evalhouse.warehouse.results import Table
from evalhouse.warehouse.significance.areas import LEAST, Ranked
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS
from evalhouse.warehouse.significance.distributions import normal_tail
from evalhouse.warehouse.significance.draws import Draws, Method
from evalhouse.warehouse.significance.replicates import smallest
from evalhouse.warehouse.significance.shuffles.sequential import confidence
from evalhouse.warehouse.significance.standardized import RatioPairs
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.tests import OF_ORDERS, Adjustment, Test

# === captions and signatures ==========================================================================================
# How many units were exchanged, by which test, adjusted over how many comparisons, and the signature.


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
    exchanged = " exchanged" if how.test.draws not in ("resamples", None) else ""
    level = f"{as_typed('level', how.spoken)} {how.level}"
    test = f"{_test(how, entries, families, exchanged)}, {how.sides}, {level}"
    drawn = [interval_title(how, entries, resamples)] if resamples is not None else []
    if resamples or _shuffles(families):
        drawn.append(f"seed {how.seed}")
    adjusted = _adjustment_note(how.adjustment, how.test, families)
    return "; ".join(filter(None, (test, missing_caption(how.missing, entries), adjusted, ", ".join(drawn))))


def testing_method(how: p.Testing, entries: Sequence[p.Entry], families: Sequence[ComparedPairs]) -> str:
    """randomization test, exact, 100 messages; 3 comparisons, not adjusted. What a statement gets that says nothing of
    sides and level is left out.
    """
    sides = f", {how.sides}" if how.sides != "two-sided" and how.test.draws == "shuffles" else ""
    level = f", {as_typed('level', how.spoken)} {how.level}" if how.level != p.DEFAULT_LEVEL else ""
    adjusted = _adjustment_note(how.adjustment, how.test, families)
    test = f"{_test(how, entries, families, '')}{sides}{level}"
    return "; ".join(filter(None, (test, missing_caption(how.missing, entries), adjusted)))


def _test(how: p.Testing, entries: Sequence[p.Entry], families: Sequence[ComparedPairs], exchanged: str) -> str:
    """randomization test, exact, 100 messages exchanged: the test, how it was done, and on how much."""
    known = [(family.test_set, family.size) for family in families]
    draws = how.test.draws
    if any(entry.units.exchanges_runs for entry in entries):
        of_models = all(entry.units.runs_of_models is not None for entry in entries)
        size = f"whole {'runs' if of_models else 'replicates'} exchanged on {sizes(known)}"
    elif draws == "resamples":
        size = f"of {sizes(known)}"
    else:
        size = sizes(known, exchanged)
    joined = " " if draws == "resamples" else ", "
    method = _method(draws if how.drawn == "shuffles" else how.drawn, families)
    looks = f", {looks_caption(how.looks, entries)}" if how.looks is not None else ""
    return f"{how.test_name} test, {method}{joined}{size}{looks}"


def looks_caption(looks: p.Looks, entries: Sequence[p.Entry]) -> str:
    """in the order of imports; planned for 2,000 documents, spending obrien."""
    if looks.planned is None:
        return f"in the order of {looks.order.name if looks.order is not None else 'imports'}"
    return f"planned for {quantity(looks.planned, noun_of(entries))}, spending {looks.spending.name}"


WITHOUT_SHUFFLES: tuple[Method, ...] = ("exact", "analytic", "anytime")
"""The methods that draw no shuffles."""


def _method(drawn: str | None, families: Sequence[ComparedPairs]) -> str:
    """exact; 9,999 shuffles; 10,000 to 40,000 shuffles; or several, where the rows differ. `drawn` is what shuffles are
    called."""
    methods = frozenset[str]().union(*(family.methods for family in families))
    named: list[str] = [name for name in WITHOUT_SHUFFLES if name in methods]
    if counts := _shuffles(families):
        named.append(f"{' to '.join(f'{count:,}' for count in counts)} {drawn}")
    return " and ".join(named)


def _shuffles(families: Sequence[ComparedPairs]) -> tuple[int, ...]:
    """The fewest and the most shuffles of a pair: none, one number or two."""
    counts = sorted(frozenset[int]().union(*(family.shuffles for family in families)))
    return tuple(dict.fromkeys((counts[0], counts[-1]))) if counts else ()


def _adjustment_note(adjustment: Adjustment, test: Test, families: Sequence[ComparedPairs]) -> str:
    """Holm-adjusted over 66 comparisons; 3 comparisons, not adjusted."""
    numbers = sorted({family.pairs for family in families})
    total = sum(family.pairs for family in families)
    over = f"over {quantity(total, 'comparison')}"
    if len(families) > 1:
        over = f"within families of {' and '.join(map(str, numbers))} comparison{'s' if numbers != [1] else ''}"
    if adjustment.adjusts:
        return f"{adjustment.adjusted} {over}"
    if test.whole_family:
        return f"adjusted by the test itself {over}"
    return f"{total:,} comparisons, not adjusted" if total > 1 else ""


def test_settings(how: p.Testing, entries: Sequence[p.Entry], families: Sequence[ComparedPairs]) -> tuple[str, ...]:
    """The parts of a signature about tests."""
    return (
        f"test {how.test_name}",
        how.sides,
        f"shuffles {' to '.join(map(str, _shuffles(families)))}" if _shuffles(families) else _by_formula(families),
        f"exchange by {_exchange_unit(entries)}",
        f"seed {how.seed}",
        f"adjust {how.adjustment_name}",
        f"missing {how.missing}",
        *([] if how.margin is None else [f"margin {how.margin.written}"]),
        *([f"interval {how.interval.name}"] if how.interval != INTERVALS[0] else []),
    )


def _by_formula(families: Sequence[ComparedPairs]) -> str:
    """exact, analytic, or both, where nothing was shuffled."""
    methods = frozenset[str]().union(*(family.methods for family in families))
    return " and ".join(name for name in WITHOUT_SHUFFLES if name in methods) or "exact"


def _exchange_unit(entries: Sequence[p.Entry]) -> str:
    """The exchange unit, such as document.topic; listed by test set where they differ."""
    names = {entry.test_set.name: entry.units.exchange.name for entry in entries}
    if len(set(names.values())) == 1:
        return entries[0].units.exchange.name
    return ", ".join(f"{name} on {test_set}" for test_set, name in names.items())


# === notes on tested pairs ============================================================================================

FEW = 6
"""With fewer differing units than this a two-sided exact test cannot reach the level 0.05."""

ONE_BY_ONE = 10
"""Notes about more pairs than this are one note about all of them."""

NAMED = 3
"""The number of pairs that are named in a note about several."""

MATTERS = 1.1
"""A standard error so many times the standard deviation in exchanges makes of a level of 0.05 one of 0.075."""

UNEQUAL = 0.05
"""Systems whose denominators differ by less than this share of their sum are skipped: that little cannot matter."""

DOUBT = 5
"""If a formula puts p further than this factor from the level, shuffles put it on the same side."""

SHUFFLES = 1999
"""The number of shuffles behind a p that a note gives with two digits."""


class _Alike(Struct, frozen=True):
    """Two systems that differ in few of the units."""

    who: str
    differing: int
    units: int
    noun: str


class _Correlated(Struct, frozen=True):
    """Two systems that a test takes to be independent, the correlation of their values, and by what factor the standard
    deviation of their difference would be larger if they were.
    """

    who: str
    r: float | None
    factor: float | None


class PairNotes(Struct, frozen=True):
    """The notes on the pairs of a statement, whose comparisons are looked at one after another."""

    how: p.Testing
    _alike: list[_Alike] = field(default_factory=list)
    _correlated: list[_Correlated] = field(default_factory=list)
    _otherwise: list[tuple[str, float]] = field(default_factory=list)
    """Pairs on which `test studentized` would decide otherwise, and its p."""
    _measures: dict[str, None] = field(default_factory=dict)

    def look_at(self, comparison: Comparison, decisions: Decisions) -> None:
        """Looks at the pairs of a comparison that was decided."""
        test = self.how.test
        if not comparison.replicates:
            for pair, units in zip(comparison.pairs, comparison.differing, strict=True):
                if 0 < units < FEW:
                    there_are = comparison.observations.units
                    self._alike.append(
                        _Alike(who(comparison, pair), units, there_are, comparison.entry.units.exchange_noun)
                    )
        if test.kind == "independent":
            self._correlated.extend(
                _Correlated(who(comparison, pair), r, factor)
                for pair, r, factor in zip(
                    comparison.pairs, comparison.correlations, comparison.inflations, strict=True
                )
            )

    def look_for_equality(self, comparison: Comparison, decisions: Decisions) -> None:
        """Looks for pairs whose measures may be equal though the test calls their systems different, or the other way
        round.
        """
        if not self.how.test.of_exchangeability or self.how.looks is not None:
            return
        for pair, level in decided_otherwise(comparison, decisions):
            self._otherwise.append((who(comparison, pair), level))
            self._measures[comparison.statistic.label] = None

    def notes(self) -> Iterator[str]:
        if len(self._alike) <= ONE_BY_ONE:
            for pair in self._alike:
                differ = "differs" if pair.differing == 1 else "differ"
                there_are = quantity(pair.units, pair.noun)
                yield f"{pair.who}: {pair.differing} of {there_are} {differ}, too few for any test to tell much"
        else:
            called = " or ".join(dict.fromkeys(plural(pair.noun) for pair in self._alike))
            yield f"{len(self._alike):,} pairs differ in fewer than {FEW} {called}, so no test can tell much about them"
        assumed = "assumes that the two systems' answers are independent"
        if len(self._correlated) <= ONE_BY_ONE:
            for correlated in self._correlated:
                note = _independence_note(correlated)
                yield f"{correlated.who}: {self.how.test_name} {assumed}; {note} (Yeh 2000, section 2.1)"
        else:
            factors = [pair.factor for pair in self._correlated if pair.factor is not None]
            were = "; if they were, the standard deviation of their difference would be"
            taken = f"{were} up to {max(factors):.2f} times what it is" if factors else ""
            yield f"{self.how.test_name} {assumed}{taken} (Yeh 2000, section 2.1)"
        if self._otherwise:
            yield self._exchangeability()

    def _exchangeability(self) -> str:
        """What the test asks, and what `test studentized` makes of the pairs on which it decides otherwise."""
        named = "; ".join(f"{pair}, p = {level:#.2g}" for pair, level in self._otherwise[:NAMED])
        asks = exchangeability_note(self.how.test, self._measures)
        if len(self._otherwise) == 1:
            return f"{asks}; here the denominators differ so much that test studentized decides otherwise: {named}"
        more = " for example " if len(self._otherwise) > NAMED else " "
        return (
            f"{asks}; for {len(self._otherwise):,} pairs the denominators differ so much that test studentized decides "
            f"otherwise:{more}{named}"
        )


def exchangeability_note(test: Test, measures: Iterable[str]) -> str:
    """What a test asks that exchanges systems."""
    return f"{test.name} asks whether systems are exchangeable, not whether {' or '.join(measures)} is equal"


def few_units(comparison: Comparison) -> Iterator[str]:
    """A note that a test has few units where it needs many."""
    test, units = comparison.how.test, comparison.observations.units
    if units < test.enough and not comparison.replicates:
        where = comparison.entry.test_set.name
        there_are = quantity(units, comparison.entry.units.exchange_noun)
        yield f"test {test.name} has only {there_are} on {where}; below {test.enough} its p may be too small"


def who(comparison: Comparison, pair: Pair) -> str:
    """GE and UMASS, F on TST3."""
    a, b = (comparison.entry.systems[place].name for place in pair)
    return f"{a} and {b}, {comparison.statistic.label} on {comparison.entry.test_set.name}"


def _independence_note(pair: _Correlated) -> str:
    """What a test that assumes independence makes of two systems that are correlated."""
    said = "their correlation is not defined" if pair.r is None else f"their correlation is {pair.r:.3f}"
    if pair.factor is None:
        return said
    were = "if they were independent, the standard deviation of their difference would be"
    return f"{said}; {were} {pair.factor:.2f} times what it is"


# --- where exchangeability and equality part --------------------------------------------------------------------------


def decided_otherwise(comparison: Comparison, decisions: Decisions) -> Iterator[tuple[Pair, float]]:
    """The pairs that the studentized exchange puts on the other side of the level, with its p.

    Only pairs are shuffled whose standard error is so far from the standard deviation in exchanges that it matters, and
    on which the two tests might part. Where p is adjusted only significant pairs are looked at, since a pair's own p
    does not make it significant in its family.
    """
    parts = comparison.over or (comparison,)
    if comparison.replicates or not all(part.sums.is_ratio for part in parts):
        return
    unequal = [pair for pair in comparison.pairs if any(_is_unequal(part, pair) for part in parts)]
    if not unequal:
        return
    label, level = comparison.statistic.label, float(comparison.how.level)
    doubtful: dict[Pair, bool] = {}
    for pair, (widening, t) in zip(unequal, _widened(comparison, unequal), strict=True):
        found = decisions[label, pair]
        significant = (found.outcome.p if found.adjusted is None else found.adjusted) <= level
        rough = normal_tail(t) if comparison.how.sides == "one-sided" else 2 * normal_tail(abs(t))
        if significant and widening > MATTERS and rough * DOUBT > level:
            doubtful[pair] = True
        elif not significant and found.adjusted is None and widening < 1 / MATTERS and rough < level * DOUBT:
            doubtful[pair] = False
    if not doubtful:
        return
    for (pair, significant), p_studentized in zip(doubtful.items(), _levels(comparison, list(doubtful)), strict=True):
        if (p_studentized <= level) != significant:
            yield pair, p_studentized


def _is_unequal(comparison: Comparison, pair: Pair) -> bool:
    """Whether the denominators of two systems differ by enough to matter."""
    a, b = (int(comparison.ratios.denominators[place].sum()) for place in pair)
    return abs(a - b) > UNEQUAL * (a + b)


def _widened(comparison: Comparison, pairs: list[Pair]) -> Iterator[tuple[float, float]]:
    """The standard error of each pair over its standard deviation in exchanges, and t."""
    from evalhouse.warehouse.significance.shuffles.studentized import student

    if not comparison.over:
        ratios = RatioPairs.of(comparison.many, [comparison.in_order(pair) for pair in pairs])
        yield from zip(ratios.widening.tolist(), ratios.t.tolist(), strict=True)
        return
    for pair in pairs:
        # An average over test sets is a function of sums; its spread in exchanges is known to first order.
        paired = paired_sums(comparison, pair)
        t = float(student(paired, [(0, 1)])[0])
        first, second = paired.values()
        error, spread = abs(first - second) / (abs(t) or inf), paired.spread(0, 1)
        yield (error / spread if error and spread else 1.0), t


def _levels(comparison: Comparison, pairs: list[Pair]) -> list[float]:
    """The p of the studentized exchange of some pairs."""
    from evalhouse.warehouse.significance.shuffles.studentized import all_pairs_studentized, studentized_test

    draws, sides = Draws(SHUFFLES, comparison.how.seed, comparison.stream), comparison.how.sides
    if comparison.uneven or len(pairs) <= len(comparison.entry.systems):
        return [studentized_test(paired_sums(comparison, pair), draws, sides).p for pair in pairs]
    turned = [comparison.in_order(pair) for pair in pairs]
    nge = all_pairs_studentized([comparison.many], draws, sides)[0]
    return [(int(nge[pair]) + 1) / (SHUFFLES + 1) for pair in turned]


# === notes on intervals ===============================================================================================
# Resamples that were left out, missing limits, and intervals that contradict the verdict beside them.


def interval_notes(where: str, found: Mapping[str, Interval], why: str = "the units do not vary") -> Iterator[str]:
    """What was left out of the intervals of one statistic on one test set, by the names of what has them; `where` says
    which, and `why` what it means that nothing varies over resamples.
    """
    partial = {name: interval for name, interval in found.items() if interval.undefined and not interval.nothing}
    if partial:
        missing = [f"{interval.undefined:,} for {name}" for name, interval in partial.items()]
        drawn = max(interval.resamples for interval in partial.values())
        yield f"{where}: of {drawn:,} resamples, intervals leave out those without a value: {some(missing)}"
    empty = [
        f"{name} ({interval.undefined:,} of {interval.resamples:,} resamples)"
        for name, interval in found.items()
        if interval.nothing and interval.undefined
    ]
    if empty:
        yield f"{where}: too many resamples have no value, so there is no interval for {some(empty)}"
    alike = [name for name, interval in found.items() if interval.nothing and not interval.undefined]
    if alike:
        yield f"{where}: {why}, so there is no interval for {some(alike)}"
    by_formula = [name for name, interval in found.items() if interval.by_formula]
    if by_formula:
        few = "too few units differ for a bootstrap, so Student's t gives the interval"
        yield f"{where}: {few} for {some(by_formula)}"


def comparison_interval_notes(comparison: Comparison, limits: Intervals) -> Iterator[str]:
    """What was left out of the intervals of a comparison."""
    names, label = [system.name for system in comparison.entry.systems], comparison.statistic.label
    found = {
        f"{names[a]} and {names[b]}": interval
        for a, b in comparison.pairs
        if (interval := limits[label, (a, b)]).undefined or interval.nothing or interval.by_formula
    }
    if comparison.statistic.ordered:
        # Why they cannot have a standard error is noted with the test.
        found = {pair: interval for pair, interval in found.items() if not isnan(interval.error)}
    why = f"the {'replicates' if comparison.replicates else 'unit-by-unit differences'} do not vary"
    alone = [part.entry for part in comparison.over if part.observations.units == 1]
    if alone:
        # On a test set of one unit nothing says how much the difference varies, so nothing does of the average.
        has = "has" if len(alone) == 1 else "have"
        why = f"{some([entry.test_set.name for entry in alone])} {has} a single {alone[0].units.exchange_noun}"
    return interval_notes(f"{label} on {comparison.entry.test_set.name}", found, why)


def contradictions(how: p.Testing, table: Table) -> Iterator[str]:
    """Why an interval excludes 0 beside a difference that is not significant, or holds 0 beside one that is. Where
    bounds of what is missing decide, the interval beside them is not about that.
    """
    if how.missing == "bounds":
        return
    holding: list[int] = []
    excluding: list[int] = []
    cells = zip(*(table.column(name) for name in ("ci_low", "ci_high", "verdict")), strict=True)
    for place, (low, high, verdict) in enumerate(cells):
        outside = (isinstance(low, float) and low > 0) or (isinstance(high, float) and high < 0)
        if verdict == "significant" and not outside and (low is not None or high is not None):
            holding.append(place)
        if verdict == "not significant" and outside:
            excluding.append(place)
    if holding:
        yield _note_rows(table, holding, "significant, though the interval contains 0", _why_holding(how))
    if excluding:
        yield _note_rows(table, excluding, "not significant, though the interval excludes 0", _why_excluding(how))


def _note_rows(table: Table, places: Sequence[int], what: str, why: str) -> str:
    """What is true of the rows at these places, of which there are some."""
    columns = [table.column(name) for name in ("system_a", "system_b", "measure", "test_set")]
    few = [[column[place] for column in columns] for place in places[: NAMED + 1]]
    named = [f"{a} and {b}, {measure} on {test_set}" for a, b, measure, test_set in few]
    if len(named) == 1:
        return f"{named[0]}: {what}; {why}"
    among = " for example" if len(named) > NAMED else ""
    return f"{len(places):,} pairs are {what}; {why}:{among} {'; '.join(named[:NAMED])}"


def _why_holding(how: p.Testing) -> str:
    if plan_of(how).family == "together" and not how.test.whole_family:
        return f"the intervals cover all pairs at once, but adjust {how.adjustment_name} tests them step by step"
    return _why(how)


def _why_excluding(how: p.Testing) -> str:
    if plan_of(how).family == "each" and how.adjustment.adjusts:
        return f"adjust {how.adjustment_name} accounts for all pairs, the interval only for its own"
    return _why(how)


def _why(how: p.Testing) -> str:
    """How the test and the interval differ."""
    if how.test.shuffles_differences:
        return "the test asks whether answers are exchangeable, the interval how much systems differ on other documents"
    return "the test and the interval are different approximations, and this is a borderline case"


# === notes on verdicts ================================================================================================


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
    if (averaged := entry.units.averaged) is not None and not averaged.of_models:
        yield f"{where}: each system is the average of its {averaged.called}"
    if comparison.statistic.averaged and comparison.sums.is_ratio:
        without = _without_value(comparison, comparison.ratios)
        if without:
            has, are = ("has", "is") if without == 1 else ("have", "are")
            yield (
                f"{comparison.statistic.label} on {where}: {quantity(without, noun)} {has} no value for some system "
                f"and {are} left out of its mean"
            )
        if without and comparison.how.test.kind == "matched":
            yield (
                f"{comparison.how.test_name} looks only at the {plural(noun)} of {where} for which both systems of a "
                "pair have a value, so what it tests is not quite the difference of the two means"
            )
    yield from _undefined_units(comparison)
    if comparison.splits_clusters:
        yield (
            f"{where}: exchange by {entry.units.exchange.name} treats {plural(noun)} of one {entry.units.cluster} as "
            f"independent, which they are not; without it each {entry.units.cluster} is exchanged as a whole"
        )
    if isinstance(comparison.sums, Orders):
        yield from _of_orders(comparison, comparison.sums.ranked)
    if comparison.statistic.of_numbers:
        yield from _of_scales(comparison)
        yield from _of_blocks(comparison)
    yield from missing_notes(comparison)


def _undefined_units(comparison: Comparison) -> Iterator[str]:
    """How many units count 0 for each system in an average over units."""
    for part in comparison.over or (comparison,):
        average = part.statistic.over_units
        if average is None:
            continue
        sums = part.additive
        of_systems = (
            (system.name, average.undefined(sums.totals(place))) for place, system in enumerate(part.entry.systems)
        )
        if note := undefined_units(part.statistic, part.entry.test_set.name, dict(of_systems)):
            yield note


def missing_notes(comparison: Comparison) -> Iterator[str]:
    """What became of documents that not every system has."""
    for part in comparison.over or comparison.apart or (comparison,):
        yield from missing_note_of_runs(part.entry, part.observations.in_some_runs, comparison.how.missing)
        lacked = part.observations.lacking
        if lacked is None:
            continue
        if part.how.missing == "zero":
            yield from unanswered_notes(part.entry, [lacked])
        else:
            yield from dropped_notes(part.entry, part.observations.dropped, lacked, _bounds_note(comparison))


def _bounds_note(comparison: Comparison) -> str:
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


def _of_scales(comparison: Comparison) -> Iterator[str]:
    """Which systems predict numbers on different scales, which exchanges mix up."""
    computation = comparison.statistic.computation
    if PREDICTION not in comparison.observations.counts:  # what is compared over test sets has none of its own
        return
    if not isinstance(computation, OfNumbers) or computation.standardized:
        return
    of_runs = comparison.observations.run_by_run(PREDICTION)
    predictions = of_runs.swapaxes(0, 1).reshape(of_runs.shape[1], -1)
    pairs = dict.fromkeys((min(pair), max(pair)) for pair in comparison.pairs)
    apart = [pair for pair in pairs if not on_one_scale(*(predictions[place] for place in pair))]
    if apart and comparison.how.test.exchanges:
        names = [" and ".join(comparison.entry.systems[place].name for place in pair) for pair in apart]
        where = f"{comparison.statistic.label} on {comparison.entry.test_set.name}"
        measure = comparison.statistic.measure
        remedy = f"; {measure.name}({STANDARDIZED.name}=yes) exchanges z-scores"
        more = remedy if STANDARDIZED in measure.parameters else ""
        yield f"{where}: the predictions of {some(names)} are on different scales, and exchanges mix them{more}"


def _of_blocks(comparison: Comparison) -> Iterator[str]:
    """How many exchange units are exchanged together, where they are too many to be exchanged one by one."""
    if comparison.blocks:
        units = quantity(comparison.observations.units, comparison.entry.units.exchange_noun)
        where = f"{comparison.statistic.label} on {comparison.entry.test_set.name}"
        yield f"{where}: {units} are exchanged in {comparison.blocks:,} blocks of neighbouring ones"


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
