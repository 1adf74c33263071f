"""Between which limits a difference and its p lie, over everything that missing documents could have been.

Each document that a system lacks is put at the extremes of what it could have been; of these the lowest and the highest
value of each system are found exactly, by going on from a ratio to the choices that are best against it (Dinkelbach
1967). A difference is lowest where the first system is at its lowest and the second at its highest, and the other way
round. p is taken at both ends, and where the difference could be 0 in between it could be 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from grammar.errors import QueryError
from warehouse.query.comparison.deciding import Decisions, decisions, of_outcomes
from warehouse.query.comparison.observations import Observations, observed
from warehouse.query.comparison.pairs import Comparison, Pair, only
from warehouse.query.comparison.procedures import adjusted
from warehouse.query.comparison.sums import Orders, sums
from warehouse.query.engine import Workforce
from warehouse.query.labels import some
from warehouse.query.path import Facts
from warehouse.significance.outcome import Outcome
from warehouse.significance.paired import Floats, Integers
from warehouse.significance.shuffles.confidence import Verdict
from warehouse.significance.sums import Sums


class MissingBounds(Struct, frozen=True):
    """The lowest and the highest difference and p of a pair, and the outcomes of which p is the least and the most."""

    difference_low: float
    difference_high: float
    p_low: float
    p_high: float
    outcomes: tuple[Outcome, ...]


Bounded = dict[tuple[str, Pair], MissingBounds]
"""Keyed by the label of the statistic and the places of the two systems."""


def bounded(batch: Sequence[Comparison], decided: Decisions, facts: Facts, workforce: Workforce, pairs: int) -> Bounded:
    """The bounds of each pair of comparisons that left missing documents out, `decided` being the verdicts on those.

    Raises QueryError for a statistic that is not a ratio of sums.
    """
    by_pair: Bounded = {}
    for comparison in batch:
        lowest, highest = _extremes(comparison, facts)
        for pair in comparison.pairs:
            key = comparison.statistic.label, pair
            ends = [_at(comparison, pair, low, high) for low, high in ((lowest, highest), (highest, lowest))]
            differences = [end.difference(0, 1) for end in ends]
            if None in differences:
                raise QueryError(f"{key[0]} could be undefined for a system, so it has no bounds")
            outcomes = [decided[key].outcome]
            for end in ends:
                outcomes += [decision.outcome for decision in decisions([end], workforce, 2 * pairs).values()]
            low, high = (float(difference or 0.0) for difference in differences)
            if low <= 0 <= high:
                outcomes.append(Outcome(1.0, "exact"))
            levels = [outcome.p for outcome in outcomes]
            by_pair[key] = MissingBounds(low, high, min(levels), max(levels), tuple(outcomes))
    return by_pair


def over_all(batch: Sequence[Comparison], decided: Decisions, bounds: Bounded) -> Decisions:
    """The verdicts that are surely the same for everything that missing documents could have been; else undecided, with
    about how many shuffles would decide where only shuffles are lacking.
    """
    by_pair: Decisions = {}
    for comparison in batch:
        label, how = comparison.statistic.label, comparison.how
        for pair, (low, high) in _adjusted(comparison, bounds).items():
            bound = bounds[label, pair]
            said: Verdict = "undecided"
            enough: int | None = None
            if high <= how.level or low > how.level:
                p, shown = (bound.p_high, high) if high <= how.level else (bound.p_low, low)
                own_level = float(how.level) * p / shown if shown > p else float(how.level)
                said, enough = of_outcomes(bound.outcomes, own_level, float(how.confidence))
            by_pair[label, pair] = replace(decided[label, pair], verdict=said, enough=enough)
    return by_pair


def unsure(comparison: Comparison, decided: Decisions, bounds: Bounded) -> list[Pair]:
    """The pairs that are undecided though every p lies on one side of the level: shuffles would tell, and not what is
    missing."""
    level = comparison.how.level
    return [
        pair
        for pair, (low, high) in _adjusted(comparison, bounds).items()
        if decided[comparison.statistic.label, pair].verdict == "undecided" and not low <= level < high
    ]


def _adjusted(comparison: Comparison, bounds: Bounded) -> dict[Pair, tuple[float, float]]:
    """The least and the largest p of each pair, adjusted."""
    of_pairs = [bounds[comparison.statistic.label, pair] for pair in comparison.pairs]
    lows = adjusted(comparison, np.array([bound.p_low for bound in of_pairs]))
    highs = adjusted(comparison, np.array([bound.p_high for bound in of_pairs]))
    return dict(zip(comparison.pairs, zip(lows.tolist(), highs.tolist(), strict=True), strict=True))


def notes(comparison: Comparison, decided: Decisions, bounds: Bounded) -> Iterator[str]:
    """Notes on how many verdicts depend on the missing documents, and which depend on the shuffles."""
    label = comparison.statistic.label
    where = f"{label} on {comparison.entry.test_set.name}"
    open_ = [pair for pair in comparison.pairs if decided[label, pair].verdict == "undecided"]
    by_shuffles = unsure(comparison, decided, bounds)
    depending = len(open_) - len(by_shuffles)
    if depending and len(comparison.pairs) == 1:
        yield f"{where}: whether the two differ depends on the missing documents"
    elif depending:
        of = len(comparison.pairs)
        yield f"{where}: for {depending:,} of {of:,} pairs, whether they differ depends on the missing documents"
    yield from unsure_notes(comparison, decided, by_shuffles)


def unsure_notes(comparison: Comparison, decided: Decisions, pairs: Sequence[Pair]) -> Iterator[str]:
    """Notes that these pairs need more shuffles."""
    if not pairs:
        return
    how, label, names = comparison.how, comparison.statistic.label, comparison.entry.systems
    who = some([f"{names[a].name} and {names[b].name}" for a, b in pairs])
    needed = max((decided[label, pair].enough or 0 for pair in pairs), default=0)
    exact = how.test.exact
    ways = [f"about {needed:,} {how.drawn}"] if needed else []
    ways += ["exact"] if exact else []
    would = f"; {' or '.join(ways)} would decide it" if ways else ""
    yield (
        f"{who}, {label} on {comparison.entry.test_set.name}: undecided, as at confidence {how.confidence} each p "
        f"could be on either side of {how.level}{would}"
    )


def _at(comparison: Comparison, pair: Pair, of_first: Sums, of_second: Sums) -> Comparison:
    """A pair with the sums of the first system from one completion and those of the second from another."""
    a, b = pair
    alone = only(comparison, (pair,))[0]
    places = [0, 1] if a < b else [1, 0]
    over, under = (np.empty((2, of_first.numerators.shape[1]), dtype=np.int64) for _ in range(2))
    for place, (system, sums_of) in zip(places, ((a, of_first), (b, of_second)), strict=True):
        over[place], under[place] = sums_of.numerators[system], sums_of.denominators[system]
    known = np.ones(2, dtype=np.bool_)
    completed = replace(of_first, columns=(over, under), known=known)
    return replace(alone, sums=completed, pairs=((places[0], places[1]),))


def _extremes(comparison: Comparison, facts: Facts) -> tuple[Sums, Sums]:
    """The sums of each system at its lowest and at its highest value."""
    how, entry, statistic = comparison.how, comparison.entry, comparison.statistic
    part = next(part for part in entry.observed_apart if statistic in part.statistics)
    observations = observed(replace(how, missing="zero"), part, facts)
    stacked, times = _completed(comparison, observations)
    summed = sums(stacked, statistic)
    if isinstance(summed, Orders) or not summed.is_ratio:
        raise QueryError(
            f"missing bounds needs a ratio of sums, and {statistic.label} is not one",
            hints=("missing drop leaves out the documents",),
        )
    shape = (times, len(observations.systems), summed.numerators.shape[1])
    over, under = summed.numerators.reshape(shape), summed.denominators.reshape(shape)
    lowest, highest = (_chosen(over, under, sign) for sign in (-1, 1))
    ends = []
    for choice in (lowest, highest):
        picked = [np.take_along_axis(table, choice[None], axis=0)[0] for table in (over, under)]
        clustered = [_clustered(table, observations.cluster) for table in picked]
        known = np.ones(len(observations.systems), dtype=np.bool_)
        ends.append(replace(summed, columns=tuple(clustered), known=known))
    return ends[0], ends[1]


def _completed(comparison: Comparison, observations: Observations) -> tuple[Observations, int]:
    """The observations once for each completion, one below the other, each observation a unit; and how often."""
    task = comparison.entry.task
    if task.completions is None:
        raise QueryError(f"missing bounds does not work for {task.rows}")
    grids = dict(observations.counts) if observations.values is None else {"value": observations.values}
    completions = task.completions(grids, observations.present, comparison.entry.units.scale)
    stacked = {column: np.concatenate([grid[column] for grid in completions]) for column in grids}
    times = len(completions)
    return (
        replace(
            observations,
            systems=observations.systems * times,
            counts={} if observations.values is not None else stacked,
            known={
                column: np.tile(known | ~observations.present, (times, 1))
                for column, known in observations.known.items()
            },
            values=stacked["value"] if observations.values is not None else None,
            present=np.ones((times * len(observations.systems), observations.present.shape[1]), dtype=np.bool_),
            cluster=np.arange(observations.present.shape[1]),
        ),
        times,
    )


def _chosen(over: Integers, under: Integers, sign: int) -> Integers:
    """Which completion of each observation makes a system's ratio largest, or smallest where `sign` is −1; of shape
    (systems, observations), for numerators and denominators of shape (completions, systems, observations).
    """
    choice = np.zeros(over.shape[1:], dtype=np.int64)
    for _ in range(100):
        ratios = _ratios(over, under, choice)
        better = np.argmax(sign * (over - ratios[:, None] * under), axis=0)
        if (_ratios(over, under, better) * sign <= ratios * sign).all():
            return choice
        choice = better
    return choice


def _ratios(over: Integers, under: Integers, choice: Integers) -> Floats:
    """The ratio of each system, 0 where it has no denominator."""
    top, bottom = (np.take_along_axis(table, choice[None], axis=0)[0].sum(axis=1) for table in (over, under))
    return np.asarray(np.divide(top, bottom, out=np.zeros(len(top)), where=bottom != 0))


def _clustered(table: Integers, cluster: Integers) -> Integers:
    """Counts of shape (systems, observations) summed over the observations of each exchange unit."""
    summed = np.zeros((table.shape[0], int(cluster.max(initial=-1)) + 1), dtype=np.int64)
    np.add.at(summed.T, cluster, table.T)
    return summed
