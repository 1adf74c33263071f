"""The words around tested results: captions, signatures, and notes without which the pairs would mislead.

`compare`, `group` and `replicate` share them. Each pair gets a note of its own; people read those of one kind as one.
Nothing here may decide a verdict.
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
from evalhouse.warehouse.notes import Figure, Names, Note, Part, Subject, count
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

MATTERS = 1.1
"""A standard error so many times the standard deviation in exchanges makes of a level of 0.05 one of 0.075."""

UNEQUAL = 0.05
"""Systems whose denominators differ by less than this share of their sum are skipped: that little cannot matter."""

DOUBT = 5
"""If a formula puts p further than this factor from the level, shuffles put it on the same side."""

SHUFFLES = 1999
"""The number of shuffles behind a p that a note gives with two digits."""


class PairNotes(Struct, frozen=True):
    """The notes on the pairs of a statement, whose comparisons are looked at one after another."""

    how: p.Testing
    _alike: list[Note] = field(default_factory=list)
    _correlated: list[Note] = field(default_factory=list)
    _otherwise: list[tuple[Subject, float]] = field(default_factory=list)
    """Pairs on which `test studentized` would decide otherwise, and its p."""

    def look_at(self, comparison: Comparison, decisions: Decisions) -> None:
        """Looks at the pairs of a comparison that was decided."""
        if not comparison.replicates:
            units, too_few = units_of(comparison), ", too few for any test to tell much"
            self._alike.extend(
                Note(subject_of(comparison, pair), "differ in ", count(differing), " of ", units, too_few)
                for pair, differing in zip(comparison.pairs, comparison.differing, strict=True)
                if 0 < differing < FEW
            )
        if self.how.test.kind == "independent":
            correlated = zip(comparison.pairs, comparison.correlations, comparison.inflations, strict=True)
            self._correlated.extend(
                _independence_note(self.how, subject_of(comparison, pair), r, factor) for pair, r, factor in correlated
            )

    def look_for_equality(self, comparison: Comparison, decisions: Decisions) -> None:
        """Looks for pairs whose measures may be equal though the test calls their systems different, or the other way
        round.
        """
        if not self.how.test.of_exchangeability or self.how.looks is not None:
            return
        for pair, level in decided_otherwise(comparison, decisions):
            self._otherwise.append((subject_of(comparison, pair), level))

    def notes(self) -> Iterator[str]:
        yield from (*self._alike, *self._correlated)
        asks = exchangeability_note(self.how.test, dict.fromkeys(subject.measure for subject, _ in self._otherwise))
        for subject, level in self._otherwise:
            p = Figure(level, f"{level:#.2g}")
            yield Note(
                subject,
                "the denominators differ so much that test studentized decides otherwise, p = ",
                p,
                f"; {asks}",
            )


def subject_of(comparison: Comparison, pair: Pair | None = None) -> Subject:
    """The statistic and the test set of a comparison, and perhaps a pair, as what a note is about."""
    names = [comparison.entry.systems[place].name for place in pair or ()]
    return Subject(comparison.entry.test_set.name, comparison.statistic.label, " and ".join(names))


def units_of(comparison: Comparison) -> Figure:
    """How many exchange units there are: 100 messages."""
    noun = comparison.entry.units.exchange_noun
    return count(comparison.observations.units, noun, plural(noun))


def exchangeability_note(test: Test, measures: Iterable[str]) -> str:
    """What a test asks that exchanges systems."""
    return f"{test.name} asks whether systems are exchangeable, not whether {' or '.join(measures)} is equal"


def few_units(comparison: Comparison) -> Iterator[str]:
    """A note that a test has few units where it needs many."""
    test, units = comparison.how.test, comparison.observations.units
    if units < test.enough and not comparison.replicates:
        few = f"; below {test.enough} its p may be too small"
        yield Note(Subject(comparison.entry.test_set.name), f"test {test.name} has only ", units_of(comparison), few)


def _independence_note(how: p.Testing, subject: Subject, r: float | None, factor: float | None) -> Note:
    """What a test that assumes independence makes of two systems with such a correlation; the standard deviation of
    their difference would be larger by a factor if they were independent.
    """
    assumes = f"{how.test_name} assumes that the two systems' answers are independent; "
    source = " (Yeh 2000, section 2.1)"
    if r is None:
        return Note(subject, f"{assumes}their correlation is not defined{source}")
    said: tuple[Part, ...] = (f"{assumes}their correlation is ", Figure(r, f"{r:.3f}"))
    if factor is not None:
        were = "; if they were independent, the standard deviation of their difference would be "
        said = (*said, were, Figure(factor, f"{factor:.2f}"), " times what it is")
    return Note(subject, *said, source)


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


SHOWN = 60
"""Undecided pairs of a system that take more characters than this are in the data alone; a note counts them."""


def are_few(undecided: Sequence[object]) -> bool:
    """Whether people see which pairs of each system are undecided, in a column: there are some, and not too many."""
    return 0 < max((len(str(names)) for names in undecided if names), default=0) <= SHOWN


def undecided_note(how: p.Testing, subject: Subject, enough: int | None) -> Note:
    """What would decide an undecided pair: `enough` shuffles, or the exact test."""
    unsure = f"undecided, as at confidence {how.confidence} the exact p could be on either side of {how.level}"
    if enough:
        exactly = ", or exact," if how.test.exact else ""
        return Note(subject, f"{unsure}; about ", count(enough), f" {how.drawn}{exactly} would be enough")
    return Note(subject, f"{unsure}{'; exact would be enough' if how.test.exact else ''}")


# === notes on intervals ===============================================================================================
# Resamples that were left out, missing limits, and intervals that contradict the verdict beside them.


def interval_notes(
    subject: Subject, found: Mapping[str, Interval], why: str = "the units do not vary", things: str = "systems"
) -> Iterator[str]:
    """What was left out of the intervals that a note is about, by the names of the `things` that have them. `why` says
    what it means that nothing varies over resamples.
    """
    partial = {name: interval for name, interval in found.items() if interval.undefined and not interval.nothing}
    if partial:
        missing = Names((*partial,), tuple(interval.undefined for interval in partial.values()), things)
        drawn = count(max(interval.resamples for interval in partial.values()))
        yield Note(subject, "of ", drawn, " resamples, intervals leave out those without a value: ", missing)
    empty = {name: interval for name, interval in found.items() if interval.nothing and interval.undefined}
    if empty:
        drawn = count(max(interval.resamples for interval in empty.values()))
        missing = Names((*empty,), tuple(interval.undefined for interval in empty.values()), things)
        too_many = " resamples, too many have no value, so there is no interval: "
        yield Note(subject, "of ", drawn, too_many, missing)
    alike = tuple(name for name, interval in found.items() if interval.nothing and not interval.undefined)
    if alike:
        yield Note(subject, f"{why}, so there is no interval for ", Names(alike, things=things))
    by_formula = tuple(name for name, interval in found.items() if interval.by_formula)
    if by_formula:
        few = "too few units differ for a bootstrap, so Student's t gives the interval for "
        yield Note(subject, few, Names(by_formula, things=things))


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
    return interval_notes(subject_of(comparison), found, why, "pairs")


def contradictions(how: p.Testing, table: Table) -> Iterator[str]:
    """Why an interval excludes 0 beside a difference that is not significant, or holds 0 beside one that is. Where
    bounds of what is missing decide, the interval beside them is not about that.
    """
    if how.missing == "bounds":
        return
    names = ("test_set", "measure", "system_a", "system_b", "ci_low", "ci_high", "verdict")
    for test_set, measure, a, b, low, high, verdict in zip(*(table.column(name) for name in names), strict=True):
        subject = Subject(str(test_set), str(measure), f"{a} and {b}")
        outside = (isinstance(low, float) and low > 0) or (isinstance(high, float) and high < 0)
        if verdict == "significant" and not outside and (low is not None or high is not None):
            yield Note(subject, f"significant, though the interval contains 0; {_why_holding(how)}")
        if verdict == "not significant" and outside:
            yield Note(subject, f"not significant, though the interval excludes 0; {_why_excluding(how)}")


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


def hopeless(comparison: Comparison, against: str = "") -> Iterator[str]:
    """Why no difference could be found, whatever the systems did: the least p that there can be, adjusted as it would
    be for all pairs of the family, is above the level, or not surely below it. `against` says against what, as a
    beginning.
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
    p: tuple[Part, ...] = ("p is ",)
    if factor > 1.5:
        p = (f"{adjustment.adjusted} p over ", count(family), " comparisons is ")
    said: tuple[Part, ...] = ()
    if least > level:
        at_least: tuple[Part, ...] = ("1",) if least == 1 else ("at least ", Figure(least, f"{least:.2g}"))
        said = (f"with {why}, ", *p, *at_least, f", above the level {how.level}")
        if how.shuffles is not None:
            said = (*said, "; it would take ", count(ceil(factor / level) - 1), f" {how.drawn}")
    elif how.shuffles is not None and confidence(0, how.shuffles, level / factor) < wanted:
        needed = count(ceil(log(1 - wanted) / log(1 - level / factor)) - 1)
        none = f"at most {how.level}, even if none is as extreme as the observed difference; it would take "
        said = (f"{why} cannot show with confidence {how.confidence} that ", *p, none, needed)
    if said:
        note = Note(subject_of(comparison), against, *said)
        # What is true of all comparisons is said once.
        yield str(note).removeprefix(f"{note.subject}: ") if alike else note


def faster_exactly(comparison: Comparison) -> Iterator[str]:
    """The note that the exact test takes less time than the shuffles that were asked for."""
    how = comparison.how
    if is_faster_exactly(comparison):
        tests = "the exact test" if len(comparison.pairs) == 1 else "exact tests"
        less = f"{tests} would take less than half the time of {how.shuffles:,} shuffles; "
        yield Note(subject_of(comparison), f"{less}write exact instead of shuffles {how.shuffles}")


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
        yield Note(Subject(where), f"each system is the average of its {averaged.called}")
    if comparison.statistic.averaged and comparison.sums.is_ratio:
        without = _without_value(comparison, comparison.ratios)
        if without:
            left_out = count(without, noun, plural(noun))
            yield Note(subject_of(comparison), "left out ", left_out, " without a value for some system")
        if without and comparison.how.test.kind == "matched":
            looks = f"{comparison.how.test_name} looks only at the {plural(noun)} for which both systems of a pair have"
            otherwise = " a value, so what it tests is not quite the difference of the two means"
            yield Note(Subject(where), looks, otherwise)
    yield from _undefined_units(comparison)
    if comparison.splits_clusters:
        treats = f"exchange by {entry.units.exchange.name} treats {plural(noun)} of one {entry.units.cluster} as "
        whole = f"independent, which they are not; without it each {entry.units.cluster} is exchanged as a whole"
        yield Note(Subject(where), treats, whole)
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
        yield from undefined_units(part.statistic, part.entry.test_set.name, dict(of_systems))


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
        measure = comparison.statistic.measure
        remedy = f"; {measure.name}({STANDARDIZED.name}=yes) exchanges z-scores"
        more = remedy if STANDARDIZED in measure.parameters else ""
        for pair in apart:
            mixed = f"the predictions are on different scales, and exchanges mix them{more}"
            yield Note(subject_of(comparison, pair), mixed)


def _of_blocks(comparison: Comparison) -> Iterator[str]:
    """How many exchange units are exchanged together, where they are too many to be exchanged one by one."""
    if comparison.blocks:
        blocks = count(comparison.blocks)
        in_blocks = " are exchanged in ", blocks, " blocks of neighbouring ones"
        yield Note(subject_of(comparison), units_of(comparison), *in_blocks)


def _of_orders(comparison: Comparison, ranked: Ranked) -> Iterator[str]:
    """Which systems have confidences that exchanges mix up, and why there are no intervals."""
    no_intervals = "there are no intervals, since they"
    if not ranked.one_by_one:
        yield Note(subject_of(comparison), f"{no_intervals} would need independent documents ({OF_ORDERS.source})")
    elif not ranked.of_two(0, 1).enough:
        yield Note(subject_of(comparison), f"{no_intervals} need {LEAST} relevant and {LEAST} nonrelevant documents")
    if not comparison.how.test.exchanges:
        return
    apart = [pair for pair in comparison.pairs if not ranked.alike(*pair)]
    for pair in apart:
        mixed = "the confidences are on different scales, and exchanges mix them; "
        ordered = f"test {OF_ORDERS.name} looks only at the order that each system gives"
        yield Note(subject_of(comparison, pair), mixed, ordered)
