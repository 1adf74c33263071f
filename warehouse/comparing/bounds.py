"""The limits of a difference and its p over everything that is not known: missing documents, optional labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.decisions import Decisions, decisions, of_outcomes
from evalhouse.warehouse.comparing.notes import subject_of, undecided_note
from evalhouse.warehouse.comparing.observations import Observations, observe
from evalhouse.warehouse.comparing.pairs import Comparison, Pair, only
from evalhouse.warehouse.comparing.procedures import adjust_levels
from evalhouse.warehouse.comparing.sums import Orders, sum_clusters, sums
from evalhouse.warehouse.measures import Function, Ratio, Statistic, settle
from evalhouse.warehouse.measures.filtering import CONVENTIONS
from evalhouse.warehouse.measures.forms import Expression, evaluate, of_ratio
from evalhouse.warehouse.plans.conventions import is_bounded
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.path import Facts, Workforce
from evalhouse.warehouse.significance.arrays import Floats, Integers, Places
from evalhouse.warehouse.significance.draws import Outcome
from evalhouse.warehouse.significance.shuffles.sequential import Verdict
from evalhouse.warehouse.significance.sums import Sums

# === missing documents ================================================================================================
# Each document that a system lacks is put at the extremes of what it could have been. The lowest and the highest value
# of each system over these are found exactly, by going on from a ratio to the choices that are best against it
# (Dinkelbach 1967). A difference is lowest if the first system is at its lowest and the second at its highest, and the
# other way round. p is taken at both ends; if the difference could be 0 in between, p could be 1.


class MissingBounds(Struct, frozen=True):
    """The lowest and the highest difference and p of a pair, and the outcomes of which p is the least and the most."""

    difference_low: float
    difference_high: float
    p_low: float
    p_high: float
    outcomes: tuple[Outcome, ...]


Bounded = dict[tuple[str, Pair], MissingBounds]
"""Keyed by the label of the statistic and the places of the two systems."""


def bound_missing(
    batch: Sequence[Comparison], decided: Decisions, facts: Facts, workforce: Workforce, pairs: int
) -> Bounded:
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


def over_all_completions(batch: Sequence[Comparison], decided: Decisions, bounds: Bounded) -> Decisions:
    """The verdicts that are surely the same for everything that missing documents could have been; else undecided, with
    about how many shuffles would decide where only shuffles are lacking.
    """
    by_pair: Decisions = {}
    for comparison in batch:
        label, how = comparison.statistic.label, comparison.how
        for pair, (low, high) in _adjust_bounds(comparison, bounds).items():
            bound = bounds[label, pair]
            said: Verdict = "undecided"
            enough: int | None = None
            if high <= how.level or low > how.level:
                p, shown = (bound.p_high, high) if high <= how.level else (bound.p_low, low)
                own_level = float(how.level) * p / shown if shown > p else float(how.level)
                said, enough = of_outcomes(bound.outcomes, own_level, float(how.confidence))
            by_pair[label, pair] = replace(decided[label, pair], verdict=said, enough=enough)
    return by_pair


def unsure_pairs(comparison: Comparison, decided: Decisions, bounds: Bounded) -> list[Pair]:
    """The pairs that are undecided though every p lies on one side of the level: shuffles would tell, and not what is
    missing."""
    level = comparison.how.level
    return [
        pair
        for pair, (low, high) in _adjust_bounds(comparison, bounds).items()
        if decided[comparison.statistic.label, pair].verdict == "undecided" and not low <= level < high
    ]


def _adjust_bounds(comparison: Comparison, bounds: Bounded) -> dict[Pair, tuple[float, float]]:
    """The least and the largest p of each pair, adjusted."""
    of_pairs = [bounds[comparison.statistic.label, pair] for pair in comparison.pairs]
    lows = adjust_levels(comparison, np.array([bound.p_low for bound in of_pairs]))
    highs = adjust_levels(comparison, np.array([bound.p_high for bound in of_pairs]))
    return dict(zip(comparison.pairs, zip(lows.tolist(), highs.tolist(), strict=True), strict=True))


def notes_on_missing(comparison: Comparison, decided: Decisions, bounds: Bounded) -> Iterator[str]:
    """Notes on how many verdicts depend on the missing documents, and which depend on the shuffles."""
    label = comparison.statistic.label
    where = f"{label} on {comparison.entry.test_set.name}"
    open_ = [pair for pair in comparison.pairs if decided[label, pair].verdict == "undecided"]
    by_shuffles = unsure_pairs(comparison, decided, bounds)
    depending = len(open_) - len(by_shuffles)
    if depending and len(comparison.pairs) == 1:
        yield f"{where}: whether the two differ depends on the missing documents"
    elif depending:
        of = len(comparison.pairs)
        yield f"{where}: for {depending:,} of {of:,} pairs, whether they differ depends on the missing documents"
    yield from unsure_notes(comparison, decided, by_shuffles)


def unsure_notes(comparison: Comparison, decided: Decisions, pairs: Sequence[Pair]) -> Iterator[str]:
    """Notes that these pairs need more shuffles."""
    label = comparison.statistic.label
    for pair in pairs:
        yield undecided_note(comparison.how, subject_of(comparison, pair), decided[label, pair].enough)


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
    observations = observe(replace(how, missing="zero"), part, facts)
    stacked, times = _completions(comparison, observations)
    summed = sums(stacked, statistic)
    if isinstance(summed, Orders) or not summed.is_ratio:
        raise QueryError(
            f"missing bounds needs a ratio of sums, and {statistic.label} is not one",
            hints=("missing drop leaves out the documents",),
        )
    shape = (times, len(observations.systems), summed.numerators.shape[1])
    over, under = summed.numerators.reshape(shape), summed.denominators.reshape(shape)
    lowest, highest = (_choose_completions(over, under, sign) for sign in (-1, 1))
    ends = []
    for choice in (lowest, highest):
        picked = [np.take_along_axis(table, choice[None], axis=0)[0] for table in (over, under)]
        clustered = [sum_clusters(observations, table) for table in picked]
        known = np.ones(len(observations.systems), dtype=np.bool_)
        ends.append(replace(summed, columns=tuple(clustered), known=known))
    return ends[0], ends[1]


def _completions(comparison: Comparison, observations: Observations) -> tuple[Observations, int]:
    """The observations once for each completion, one below the other, each observation a unit; and how often."""
    task = comparison.entry.kind
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


def _choose_completions(over: Integers, under: Integers, sign: int) -> Integers:
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


# === optional documents ===============================================================================================
# Each optional document is relevant or nonrelevant, and the same for both systems. Documents of one exchange unit that
# both systems decided alike can swap their labels, so a labelling is how many of each such kind are relevant. All
# labellings are tried: the difference of each is computed exactly, and its p as the statement asks. If there are more
# than MOST_TESTED, p is taken at GRID counts of each kind, including the least and the most, and at the labellings
# where the difference is lowest and highest.

MOST_TESTED = 256
"""Up to this many labellings of a pair's optional documents, each one is tested."""

GRID = 3
"""With more labellings, p is computed at this many counts of each kind."""

MOST_SEARCHED = 2**22
"""The most labellings that are searched for the lowest and the highest difference."""

_FALLS = {True: {"x": "a", "y": "c"}, False: {"x": "b", "y": "d"}}
"""The cell of an optional document that is labelled relevant, or nonrelevant."""


class _Labellings(Struct, frozen=True):
    """The labellings of the optional documents of a pair, and the documents of each kind."""

    comparison: Comparison
    kinds: tuple[Places, ...]

    @classmethod
    def of(cls, comparison: Comparison, pair: Pair) -> _Labellings:
        """Those of a pair; it is what the comparison consists of."""
        alone = only(comparison, (pair,))[0]
        places = [comparison.entry.systems.index(system) for system in alone.entry.systems]
        observations = comparison.observations
        counts = {cell: grid[places] for cell, grid in observations.counts.items()}
        alone = replace(alone, observations=replace(alone.observations, counts=counts, known={}))
        optional = np.flatnonzero((counts["x"] + counts["y"]).any(axis=0))
        units = observations.cluster[optional] if observations.units < observations.cluster.size else optional * 0
        alike = np.stack((*counts["x"][:, optional], units))
        groups = np.unique(alike, axis=1, return_inverse=True)[1].reshape(-1)
        return cls(alone, tuple(optional[groups == group] for group in range(int(groups.max(initial=-1)) + 1)))

    @property
    def count(self) -> int:
        """How many there are."""
        return prod(len(kind) + 1 for kind in self.kinds)

    def every(self) -> Integers:
        """All of them: how many of each kind are relevant, of shape (labellings, kinds)."""
        return _combinations([np.arange(len(kind) + 1) for kind in self.kinds])

    def grid(self) -> Integers:
        """Some of them, at counts from least to most."""
        return _combinations(
            [np.unique(np.linspace(0, len(kind), GRID).round().astype(np.int64)) for kind in self.kinds]
        )

    def at(self, labelling: Integers) -> Comparison:
        """The comparison by one labelling, which leaves no document optional."""
        counts = {cell: grid.copy() for cell, grid in self.comparison.observations.counts.items()}
        for kind, relevant in zip(self.kinds, labelling.tolist(), strict=True):
            for label, documents in ((True, kind[:relevant]), (False, kind[relevant:])):
                for cell, target in _FALLS[label].items():
                    counts[target][:, documents] += counts[cell][:, documents]
                    counts[cell][:, documents] = 0
        observations = replace(self.comparison.observations, counts=counts)
        observations = replace(observations, known={cell: np.ones(of.shape, np.bool_) for cell, of in counts.items()})
        strict = _strict(self.comparison.statistic)
        return replace(self.comparison, observations=observations, sums=sums(observations, strict))

    def differences(self, labellings: Integers) -> Floats:
        """The difference of the pair by each labelling, in floating point; NaN where a system has no value."""
        first, second = self.comparison.pairs[0]
        values = [self._values(place, labellings) for place in (first, second)]
        return np.asarray(values[0] - values[1], dtype=np.float64)

    def _values(self, system: int, labellings: Integers) -> Floats:
        cells = self.comparison.observations.counts
        own: Mapping[str, Floats] = {
            cell: np.full(len(labellings), float(cells[cell][system].sum())) for cell in ("a", "b", "c", "d")
        }
        for kind, relevant in zip(self.kinds, labellings.T, strict=True):
            for cell in ("x", "y"):
                if cells[cell][system, kind[0]]:
                    own[_FALLS[True][cell]][:] += relevant
                    own[_FALLS[False][cell]][:] += len(kind) - relevant
        nothing = np.zeros(len(labellings))
        return evaluate(_expression(_strict(self.comparison.statistic)), {**own, "x": nothing, "y": nothing})


def _strict(statistic: Statistic) -> Statistic:
    """The statistic where no document is optional."""
    computed = settle(statistic.measure, {**statistic.settings, CONVENTIONS.name: "excluded"})
    return replace(computed, label=statistic.label)


def _expression(statistic: Statistic) -> Expression:
    match statistic.computation:
        case Ratio() as ratio:
            return of_ratio(ratio)
        case Function(expression):
            return expression
    raise ValueError(f"{statistic.label} is not computed from sums")


def _combinations(counts: Sequence[Integers]) -> Integers:
    """Every combination of one number of each, of shape (combinations, numbers)."""
    if not counts:
        return np.zeros((1, 0), dtype=np.int64)
    return np.stack([axis.reshape(-1) for axis in np.meshgrid(*counts, indexing="ij")], axis=1).astype(np.int64)


Partly = dict[str, tuple[int, int]]
"""By the label of a statistic, how many labellings were tested, and of how many."""


def bound_labels(batch: Sequence[Comparison], workforce: Workforce, pairs: int) -> tuple[Bounded, Partly]:
    """The bounds of each pair of the comparisons that ask for them; and by the label of those that were tested by some
    labellings alone, by how many of how many, for the pair that has the most.

    Raises QueryError where a labelling leaves a system without a value, and where there are too many to be searched.
    """
    by_pair: Bounded = {}
    partly: Partly = {}
    for comparison in batch:
        most = tested_of_most = 0
        for pair in comparison.pairs:
            labellings = _Labellings.of(comparison, pair)
            tested = _labellings_to_test(labellings)
            if labellings.count > most:
                most, tested_of_most = labellings.count, len(tested)
            by_pair[comparison.statistic.label, pair] = _bounds(labellings, tested, workforce, pairs)
        if tested_of_most < most:
            partly[comparison.statistic.label] = tested_of_most, most
    return by_pair, partly


def _labellings_to_test(labellings: _Labellings) -> Integers:
    """The labellings at which p is taken."""
    comparison = labellings.comparison
    label = comparison.statistic.label
    where = f"{label} on {comparison.entry.test_set.name}"
    if labellings.count > MOST_SEARCHED:
        raise QueryError(
            f"{where}: at most {MOST_SEARCHED:,} labellings are searched, but the optional documents have "
            f"{labellings.count:,}",
            hints=(f"write {CONVENTIONS.name}=all",),
        )
    every = labellings.every()
    differences = labellings.differences(every)
    if np.isnan(differences).any():
        raise QueryError(
            f"{where} has no value under some labelling of the optional documents, so it has no bounds",
            hints=(f"write {CONVENTIONS.name}=all",),
        )
    if labellings.count <= MOST_TESTED:
        return every
    ends = every[[int(differences.argmin()), int(differences.argmax())]]
    return np.unique(np.concatenate((labellings.grid(), ends)), axis=0)


def _bounds(labellings: _Labellings, tested: Integers, workforce: Workforce, pairs: int) -> MissingBounds:
    """The lowest and the highest difference and p of a pair."""
    (pair,) = labellings.comparison.pairs
    differences, outcomes = list[float](), list[Outcome]()
    for labelling in tested:
        comparison = labellings.at(labelling)
        differences.append(comparison.difference(*pair) or 0.0)
        outcomes += [decision.outcome for decision in decisions([comparison], workforce, len(tested) * pairs).values()]
    levels = [outcome.p for outcome in outcomes]
    return MissingBounds(min(differences), max(differences), min(levels), max(levels), tuple(outcomes))


def over_all_labellings(batch: Sequence[Comparison], decided: Decisions, bounds: Bounded) -> Decisions:
    """The verdicts that hold by every labelling, and for the same system; else undecided."""
    return {
        key: replace(one, verdict="undecided") if _turns(bounds[key]) and one.verdict == "significant" else one
        for key, one in over_all_completions(batch, decided, bounds).items()
    }


def _turns(bounds: MissingBounds) -> bool:
    """Whether either system is higher by some labelling."""
    return bounds.difference_low < 0 < bounds.difference_high


def notes_on_labels(
    comparison: Comparison, decided: Decisions, bounds: Bounded, partly: tuple[int, int] | None
) -> Iterator[str]:
    """Whether what was found holds by every labelling of the optional documents, or by those that were tested."""
    label = comparison.statistic.label
    where = f"{label} on {comparison.entry.test_set.name}"
    every = "every labelling of the optional documents"
    if partly is not None:
        every = "every labelling that was tested"
        tested, most = partly
        yield f"{where}: {tested:,} of up to {most:,} labellings tested, those of the extreme differences among them"
    turning = [pair for pair in comparison.pairs if _turns(bounds[label, pair])]
    unsure = [pair for pair in unsure_pairs(comparison, decided, bounds) if pair not in turning]
    yield from unsure_notes(comparison, decided, unsure)
    open_ = [pair for pair in comparison.pairs if decided[label, pair].verdict == "undecided" and pair not in unsure]
    if not open_:
        what = "the verdict is" if len(comparison.pairs) == 1 else f"all {len(comparison.pairs):,} verdicts are"
        if not unsure:
            yield f"{where}: {what} the same under {every}"
    elif len(comparison.pairs) == 1:
        yield f"{where}: whether the two differ depends on how the optional documents are labelled"
    else:
        depend = "depends" if len(open_) == 1 else "depend"
        yield (
            f"{where}: {len(open_):,} of {len(comparison.pairs):,} verdicts {depend} on how the optional documents are "
            f"labelled: {_pair_names(comparison, open_)}"
        )
    if turning:
        yield f"{where}: which system is higher depends on the labelling for {_pair_names(comparison, turning)}"


def _pair_names(comparison: Comparison, pairs: Sequence[Pair]) -> str:
    """GE and SRI, GE and BBN, SRI and BBN and 4 more."""
    names = [system.name for system in comparison.entry.systems]
    return some([f"{names[a]} and {names[b]}" for a, b in pairs])


# === verdicts that hold for all that could be =========================================================================


class Bounds(Struct, frozen=True):
    """The verdicts on pairs that hold between their bounds, the bounds of those that have some, and notes."""

    decided: Decisions
    of_pairs: Bounded
    notes: tuple[str, ...] = ()


def bounds_of(
    comparisons: Sequence[Comparison], decided: Decisions, facts: Facts, workforce: Workforce, pairs: int
) -> Bounds:
    """The bounds that the statement asks for of comparisons of one test set, which were `decided` without them. It
    compares `pairs` in all."""
    bounds = Bounds(decided, {})
    if comparisons[0].how.missing == "bounds":
        bounds = _over_missing(comparisons, decided, facts, workforce, pairs)
    optional = [comparison for comparison in comparisons if is_bounded(comparison.statistic)]
    return _over_labellings(optional, bounds, workforce, pairs) if optional else bounds


def _over_missing(
    comparisons: Sequence[Comparison], decided: Decisions, facts: Facts, workforce: Workforce, pairs: int
) -> Bounds:
    """The bounds over everything that missing documents could have been."""
    bounded = bound_missing(comparisons, decided, facts, workforce, pairs)
    over_all = over_all_completions(comparisons, decided, bounded)
    notes = (note for one in comparisons for note in notes_on_missing(one, over_all, bounded))
    return Bounds(over_all, bounded, tuple(notes))


def _over_labellings(comparisons: Sequence[Comparison], known: Bounds, workforce: Workforce, pairs: int) -> Bounds:
    """The bounds over every labelling of the optional documents, beside those that are known."""
    bounded, partly = bound_labels(comparisons, workforce, pairs)
    of_pairs = known.of_pairs | bounded
    decided = known.decided | over_all_labellings(comparisons, known.decided, of_pairs)
    notes = (
        note for one in comparisons for note in notes_on_labels(one, decided, of_pairs, partly.get(one.statistic.label))
    )
    return Bounds(decided, of_pairs, (*known.notes, *notes))
