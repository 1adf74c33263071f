"""Notes without which tested pairs would mislead a reader, shared by `compare` and `group`.

A few pairs get a note each, many are counted. Nothing here decides a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from warehouse.query import plan as p
from warehouse.query.comparison.deciding import Decisions
from warehouse.query.comparison.pairs import Comparison, Pair
from warehouse.query.comparison.procedures import paired_sums
from warehouse.significance.analytic.beta import normal_tail
from warehouse.significance.draws import Draws
from warehouse.significance.standardized import RatioPairs
from warehouse.tasks.observed import counted, plural

FEW = 6
"""With fewer differing units than this a two-sided exact test cannot reach the level 0.05."""

ONE_BY_ONE = 10
"""Notes about more pairs than this are one note about all of them."""

NAMED = 3
"""So many pairs are named where a note is about several."""

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
        if test.shuffles_differences:
            otherwise = list(decided_otherwise(comparison, decisions))
            self._otherwise.extend((who(comparison, pair), level) for pair, level in otherwise)
            if otherwise:
                self._measures[comparison.statistic.label] = None

    def notes(self) -> Iterator[str]:
        if len(self._alike) <= ONE_BY_ONE:
            for pair in self._alike:
                differ = "differs" if pair.differing == 1 else "differ"
                there_are = counted(pair.units, pair.noun)
                yield f"{pair.who}: {pair.differing} of {there_are} {differ}, too few for any test to tell much"
        else:
            called = " or ".join(dict.fromkeys(plural(pair.noun) for pair in self._alike))
            yield f"{len(self._alike):,} pairs differ in fewer than {FEW} {called}, so no test can tell much about them"
        assumed = "assumes that the two systems' answers are independent"
        if len(self._correlated) <= ONE_BY_ONE:
            for correlated in self._correlated:
                yield f"{correlated.who}: {self.how.test_name} {assumed}; {_taken(correlated)} (Yeh 2000, section 2.1)"
        else:
            factors = [pair.factor for pair in self._correlated if pair.factor is not None]
            were = "; if they were, the standard deviation of their difference would be"
            taken = f"{were} up to {max(factors):.2f} times what it is" if factors else ""
            yield f"{self.how.test_name} {assumed}{taken} (Yeh 2000, section 2.1)"
        if self._otherwise:
            yield self._exchangeability()

    def _exchangeability(self) -> str:
        """What randomization tests, and what `test studentized` makes of the pairs on which it decides otherwise."""
        named = "; ".join(f"{pair}, p = {level:#.2g}" for pair, level in self._otherwise[:NAMED])
        asks = (
            f"randomization asks whether systems are exchangeable, not whether {' or '.join(self._measures)} is equal"
        )
        if len(self._otherwise) == 1:
            return f"{asks}; here the denominators differ so much that test studentized decides otherwise: {named}"
        more = " for example " if len(self._otherwise) > NAMED else " "
        return (
            f"{asks}; for {len(self._otherwise):,} pairs the denominators differ so much that test studentized decides "
            f"otherwise:{more}{named}"
        )


def few_units(comparison: Comparison) -> Iterator[str]:
    """A note that a test has few units where it needs many."""
    test, units = comparison.how.test, comparison.observations.units
    if units < test.enough and not comparison.replicates:
        where = comparison.entry.test_set.name
        there_are = counted(units, comparison.entry.units.exchange_noun)
        yield f"test {test.name} has only {there_are} on {where}; below {test.enough} its p may be too small"


def who(comparison: Comparison, pair: Pair) -> str:
    """GE and UMASS, F on TST3."""
    a, b = (comparison.entry.systems[place].name for place in pair)
    return f"{a} and {b}, {comparison.statistic.label} on {comparison.entry.test_set.name}"


def _taken(pair: _Correlated) -> str:
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
    if comparison.replicates or not comparison.sums.is_ratio:
        return
    under = comparison.ratios.denominators.sum(axis=1).tolist()
    unequal = [(a, b) for a, b in comparison.pairs if abs(under[a] - under[b]) > UNEQUAL * (under[a] + under[b])]
    if not unequal:
        return
    label, level = comparison.statistic.label, float(comparison.how.level)
    ratios = RatioPairs.of(comparison.many, [comparison.in_order(pair) for pair in unequal])
    doubtful: dict[Pair, bool] = {}
    for pair, widening, t in zip(unequal, ratios.widening.tolist(), ratios.t.tolist(), strict=True):
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


def _levels(comparison: Comparison, pairs: list[Pair]) -> list[float]:
    """The p of the studentized exchange of some pairs."""
    from warehouse.significance.shuffles.studentized import all_pairs_studentized, studentized_test

    draws, sides = Draws(SHUFFLES, comparison.how.seed, comparison.stream), comparison.how.sides
    if comparison.uneven or len(pairs) <= len(comparison.entry.systems):
        return [studentized_test(paired_sums(comparison, pair), draws, sides).p for pair in pairs]
    turned = [comparison.in_order(pair) for pair in pairs]
    nge = all_pairs_studentized([comparison.many], draws, sides)[0]
    return [(int(nge[pair]) + 1) / (SHUFFLES + 1) for pair in turned]
