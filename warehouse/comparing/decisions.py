"""From the outcomes of tests to verdicts; where the number of shuffles is open, shuffling until there are verdicts.

With neither `shuffles` nor `exact`, and where counting every exchange of all pairs would cost too much, pairs are
shuffled in growing rounds. After each, limits say where the exact p of every pair lies, and adjusted p, which grow with
them, lie between the adjusted limits. Pairs go on until all verdicts of the statement are settled, or are few enough to
be counted exactly. The chance that any verdict of the statement differs from that of the exact test is at most
1 − confidence: it is shared out evenly among all pairs and looks (Gandy 2009; Gandy and Hahn 2014).

How the shuffles are made is not known here, and nothing is written about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.comparing.pairs import Comparison, Pair, only
from evalhouse.warehouse.comparing.procedures import (
    Outcomes,
    adjust_levels,
    affordable_costs,
    choose,
    cost_exactly,
    count_exactly,
    count_reached_in,
    find_outcomes,
    paired_sums,
)
from evalhouse.warehouse.plans.path import Workforce
from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.draws import Outcome, Work, approximate
from evalhouse.warehouse.significance.shuffles import sequential
from evalhouse.warehouse.significance.shuffles.randomization import few_distinct
from evalhouse.warehouse.significance.shuffles.sequential import Verdict, confidence, shuffles_to_decide, verdict

BUDGET = 1e12
"""How much shuffling one comparison may take, in additions: a few minutes at worst."""

PAIR = 300
"""What one shuffle of one pair costs beside the sums of its systems, in additions."""


COUNTED = 100
"""How many additions a step of an exact test costs at most; usually it costs half as many. The last pairs are counted
once that costs no more than their shuffles have cost so far. So counting never costs much more than shuffling would.
"""

NOTICEABLE = 1e9
"""Shuffling takes more than a moment, about a tenth of a second, if it needs at least this many additions."""

FUNCTION = 10
"""How much more it costs to evaluate a function of sums than a ratio."""


class Decided(Struct, frozen=True):
    """An outcome and what follows from it. `adjusted` is None where no adjustment was asked for.

    `confidence` is that of p, or the adjusted p, being at most the level. `enough` is about how many shuffles would
    settle an undecided verdict, None where no number would.
    """

    outcome: Outcome
    adjusted: float | None
    confidence: float
    verdict: Verdict
    enough: int | None = None


Decisions = dict[tuple[str, Pair], Decided]
"""Keyed by the label of the statistic and the places of the two systems."""


def decisions(batch: Sequence[Comparison], workforce: Workforce, pairs: int) -> Decisions:
    """The verdict on each pair of comparisons of one test set; the statement compares so many `pairs` in all.

    Raises QueryError where a test refuses a pair.
    """
    running = [_Run(comparison, pairs) for comparison in batch if is_open(comparison)]
    shuffled = {id(run.comparison) for run in running}
    ready = [comparison for comparison in batch if id(comparison) not in shuffled]
    by_pair: Decisions = {}
    if ready:
        outcomes = find_outcomes(ready, workforce)
        for comparison in ready:
            by_pair |= _decide_at_once(comparison, outcomes, workforce)
    _shuffle(running, workforce)
    for run in running:
        by_pair |= run.decided()
    return by_pair


def is_open(comparison: Comparison) -> bool:
    """Whether the program decides how many shuffles to make."""
    how, test = comparison.how, comparison.how.test
    if test.draws is None or how.shuffles is not None or how.exact:
        return False
    if comparison.replicates:
        from evalhouse.warehouse.significance.replicates import MOST_DIVISIONS, divisions

        sizes = [tuple(len(comparison.replicates[place]) for place in pair) for pair in comparison.pairs]
        return any(divisions(a, b) > MOST_DIVISIONS for a, b in sizes)
    return not (test.exchanges and choose(comparison).exactly)


def most_shuffles(comparison: Comparison) -> int:
    """How many shuffles an open comparison makes at most."""
    most = min(sequential.MOST_SHUFFLES, int(BUDGET / _cost_of_a_shuffle(comparison)))
    return sequential.looks(_chunk(comparison), most)[-1]


def _cost_of_a_shuffle(comparison: Comparison) -> int:
    """In additions."""
    cost = len(comparison.entry.systems) * comparison.observations.units + PAIR * len(comparison.pairs)
    return cost * FUNCTION if comparison.sums.is_function else cost


def is_faster_exactly(comparison: Comparison) -> bool:
    """Whether so many shuffles were asked for that counting every exchange would take less than half the time. This is
    looked at only where shuffling takes noticeable time, and not where units that differ alike are drawn together.
    """
    how = comparison.how
    if how.shuffles is None or comparison.replicates or how.adjustment.by_shuffles:
        return False
    cost = how.shuffles * _cost_of_a_shuffle(comparison)
    if cost < NOTICEABLE or not how.test.exact:
        return False
    steps = 0.0
    for pair in comparison.pairs:
        paired = paired_sums(comparison, pair)
        if paired.is_ratio and few_distinct(paired) is not None:
            return False
        of_pair = cost_exactly(paired)
        steps += of_pair.operations
        if COUNTED * steps > cost or not of_pair.possible:
            return False
    return True


def _chunk(comparison: Comparison) -> int:
    """The number of shuffles after which a run can continue."""
    return LABELS if comparison.replicates else comparison.how.test.chunk


LABELS = 10_240
"""The same where replicates are divided anew."""


# --- as many shuffles as were asked for, or none ----------------------------------------------------------------------


def _decide_at_once(comparison: Comparison, outcomes: Outcomes, workforce: Workforce) -> Decisions:
    """The verdict on each pair of outcomes that are final."""
    label, how = comparison.statistic.label, comparison.how
    level, wanted = float(how.level), float(how.confidence)
    of_pairs = [outcomes[label, pair] for pair in comparison.pairs]
    counts = count_reached_in(comparison, workforce)
    levels = np.array([outcome.p for outcome in of_pairs])
    if counts is not None:
        levels = (counts + 1.0) / ((how.shuffles or 0) + 1)
    decisive = adjust_levels(comparison, levels)
    by_pair: Decisions = {}
    for place, (pair, outcome) in enumerate(zip(comparison.pairs, of_pairs, strict=True)):
        p = float(decisive[place])
        shown = p if how.adjustment.adjusts else None
        if outcome.shuffles is None or outcome.nge is None:
            sure = 1.0 if p <= level else 0.0
            by_pair[label, pair] = Decided(outcome, shown, sure, verdict(p, sure, level, wanted))
            continue
        nge, own_level = _against(outcome, p, level, counts is not None)
        sure = confidence(nge, outcome.shuffles, own_level)
        said = verdict(p, sure, level, wanted)
        enough = shuffles_to_decide(nge, outcome.shuffles, own_level, wanted) if said == "undecided" else None
        by_pair[label, pair] = Decided(outcome, shown, sure, said, enough)
    return by_pair


def _against(outcome: Outcome, p: float, level: float, by_shuffles: bool) -> tuple[int, float]:
    """nge of a pair and the level that the adjustment leaves to it, given its adjusted p; where the adjustment counts
    shuffles itself, its own count and the level."""
    if outcome.shuffles is None or outcome.nge is None:
        raise ValueError("an exact p has no nge")
    if by_shuffles:
        return min(round(p * (outcome.shuffles + 1)) - 1, outcome.shuffles), level
    return outcome.nge, level * outcome.p / p if p > outcome.p else level


def of_outcomes(outcomes: Sequence[Outcome], level: float, wanted: float) -> tuple[Verdict, int | None]:
    """The verdict that all outcomes surely share, else undecided; and about how many shuffles would decide it where
    they were too few, None where no number is known."""
    said: set[Verdict] = set()
    enough: list[int] = []
    for outcome in outcomes:
        if outcome.shuffles is None or outcome.nge is None:
            said.add("significant" if outcome.p <= level else "not significant")
            continue
        of_outcome = verdict(outcome.p, confidence(outcome.nge, outcome.shuffles, level), level, wanted)
        said.add(of_outcome)
        if of_outcome == "undecided" and (more := shuffles_to_decide(outcome.nge, outcome.shuffles, level, wanted)):
            enough.append(more)
    return (
        (said.pop(), None) if len(said) == 1 and "undecided" not in said else ("undecided", max(enough, default=None))
    )


# --- until every verdict is settled -----------------------------------------------------------------------------------


class _Run:
    """What is known of the pairs of an open comparison. Arrays have the shape (pairs,).

    `nge` and `shuffles` are what was counted; `reached` the same for an adjustment that counts shuffles itself.
    `exact` are the p of pairs that were counted in the end, NaN for the others, `low` and `high` the adjusted limits of
    every p when it was last looked. `wanted` are the pairs that need more.
    `cost` is that of the shuffles so far, in additions.
    """

    def __init__(self, comparison: Comparison, pairs: int) -> None:
        count = len(comparison.pairs)
        self.comparison = comparison
        self.looks = sequential.looks(_chunk(comparison), most_shuffles(comparison))
        self.risk = (1 - float(comparison.how.confidence)) / (max(pairs, count, 1) * len(self.looks))
        self.nge: Integers = np.zeros(count, dtype=np.int64)
        self.shuffles: Integers = np.zeros(count, dtype=np.int64)
        counting = comparison.how.adjustment.by_shuffles
        self.reached: Integers | None = np.zeros(count, dtype=np.int64) if counting else None
        self.exact: Floats = np.full(count, np.nan)
        self.low: Floats = np.zeros(count)
        self.high: Floats = np.ones(count)
        self.wanted: Booleans = np.ones(count, dtype=np.bool_)
        self.cost = 0.0

    def part(self, look: int) -> Comparison:
        """The pairs that need more shuffles, with as many as are still to be made until a look."""
        before = self.looks[look - 1] if look else 0
        how = replace(self.comparison.how, shuffles=self.looks[look] - before)
        going_on = replace(self.comparison, how=how, before=before)
        return going_on if self.wanted.all() else only(going_on, self._pairs_left)[0]

    @property
    def _pairs_left(self) -> tuple[Pair, ...]:
        return tuple(pair for pair, more in zip(self.comparison.pairs, self.wanted, strict=True) if more)

    def add(self, part: Comparison, outcomes: Outcomes, workforce: Workforce) -> None:
        """Adds what the shuffles of a part say, and looks which pairs need more."""
        label = self.comparison.statistic.label
        self.nge[self.wanted] += [outcomes[label, pair].nge or 0 for pair in part.pairs]
        made = part.how.shuffles or 0
        self.shuffles[self.wanted] += made
        self.cost += made * _cost_of_a_shuffle(part)
        if self.reached is not None and (more := count_reached_in(part, workforce)) is not None:
            self.reached += more
        self._look()
        if self.wanted.any() and not self.wanted.all():
            self._count_the_last()

    def _look(self) -> None:
        low, high = self._limits()
        self.low, self.high = adjust_levels(self.comparison, low), adjust_levels(self.comparison, high)
        known = sequential.are_settled(self.low, self.high, float(self.comparison.how.level))
        if self.reached is not None or self.comparison.how.test.whole_family:
            self.wanted[:] = not known.all()
        elif self.comparison.how.adjustment.adjusts:
            self.wanted = sequential.need_shuffles(low, high, known) & np.isnan(self.exact)
        else:
            self.wanted = ~known & np.isnan(self.exact)

    def _limits(self) -> tuple[Floats, Floats]:
        """The limits of each exact p, or of what the adjustment counts."""
        decisive = self.nge if self.reached is None else self.reached
        low, high = sequential.limits(decisive, self.shuffles, self.risk)
        counted = ~np.isnan(self.exact)
        return np.where(counted, self.exact, low), np.where(counted, self.exact, high)

    def _count_the_last(self) -> None:
        """Counts every exchange of the pairs that are left, where that is affordable."""
        if not self.comparison.how.test.exchanges or self.comparison.replicates:
            return
        rest = replace(self.comparison, pairs=self._pairs_left)
        costs = affordable_costs(rest)
        if costs is None or COUNTED * sum(cost.operations for cost in costs) > self.cost:
            return
        outcomes = count_exactly(rest, costs, Work())
        label = self.comparison.statistic.label
        self.exact[self.wanted] = [outcomes[label, pair].p for pair in rest.pairs]
        self._look()

    def decided(self) -> Decisions:
        """The verdict on each pair."""
        how, label = self.comparison.how, self.comparison.statistic.label
        level = float(how.level)
        counted = ~np.isnan(self.exact)
        p = np.where(counted, self.exact, (self.nge + 1.0) / (self.shuffles + 1.0))
        levels = p if self.reached is None else (self.reached + 1.0) / (self.shuffles + 1.0)
        decisive = adjust_levels(self.comparison, levels)
        by_pair: Decisions = {}
        for place, pair in enumerate(self.comparison.pairs):
            own = float(decisive[place])
            shown = own if how.adjustment.adjusts else None
            said: Verdict = "undecided"
            if self.high[place] <= level or self.low[place] > level:
                said = "significant" if own <= level else "not significant"
            if counted[place]:
                outcome = Outcome(float(p[place]), "exact")
                by_pair[label, pair] = Decided(outcome, shown, 1.0 if own <= level else 0.0, said)
                continue
            outcome = approximate(int(self.nge[place]), int(self.shuffles[place]))
            nge, own_level = _against(outcome, own, level, self.reached is not None)
            sure = confidence(nge, int(self.shuffles[place]), own_level)
            enough = None
            if said == "undecided":
                enough = shuffles_to_decide(nge, int(self.shuffles[place]), own_level, 1 - self.risk / 2)
            by_pair[label, pair] = Decided(outcome, shown, sure, said, enough)
        return by_pair


def _shuffle(running: Sequence[_Run], workforce: Workforce) -> None:
    """Shuffles in rounds until every verdict is settled, or the limit is reached."""
    rounds = max((len(run.looks) for run in running), default=0)
    for look in range(rounds):
        going_on = [run for run in running if look < len(run.looks) and run.wanted.any()]
        if not going_on:
            return
        part = workforce.work.part(look, rounds)
        for runs in _sharing(going_on):
            parts = [run.part(look) for run in runs]
            outcomes = find_outcomes(parts, replace(workforce, work=part))
            for run, of_run in zip(runs, parts, strict=True):
                run.add(of_run, outcomes, workforce)


def _sharing(runs: Sequence[_Run]) -> Iterator[list[_Run]]:
    """The runs that can share shuffles: those that go on alike, with the same pairs."""

    def alike(run: _Run) -> tuple[bytes, int]:
        return run.wanted.tobytes(), run.looks[0]

    for _, group in groupby(sorted(runs, key=alike), key=alike):
        yield list(group)
