"""Between which limits a difference and its p lie, over every labelling of the optional documents: each is relevant or
nonrelevant, and the same for both systems.

Documents of one exchange unit that both systems decided alike can change their labels with one another, so a labelling
is how many of each such kind are relevant. All labellings are tried, the difference of each computed exactly and its p
taken as the statement asks. Where there are more than MOST, p is taken at GRID counts of each kind, least and most
among them, and at the labellings where the difference is lowest and highest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from grammar.errors import QueryError
from warehouse.measures import Function, Ratio, Statistic, settle
from warehouse.measures.expression import Expression, evaluate, of_ratio
from warehouse.measures.filtering import CONVENTIONS
from warehouse.query.comparison import missing_bounds
from warehouse.query.comparison.deciding import Decisions, decisions
from warehouse.query.comparison.missing_bounds import Bounded, MissingBounds
from warehouse.query.comparison.pairs import Comparison, Pair, only
from warehouse.query.comparison.sums import sums
from warehouse.query.engine import Workforce
from warehouse.query.labels import some
from warehouse.significance.outcome import Outcome
from warehouse.significance.paired import Floats, Integers, Places

MOST = 256
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
        return _combined([np.arange(len(kind) + 1) for kind in self.kinds])

    def grid(self) -> Integers:
        """Some of them, at counts from least to most."""
        return _combined([np.unique(np.linspace(0, len(kind), GRID).round().astype(np.int64)) for kind in self.kinds])

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


def _combined(counts: Sequence[Integers]) -> Integers:
    """Every combination of one number of each, of shape (combinations, numbers)."""
    if not counts:
        return np.zeros((1, 0), dtype=np.int64)
    return np.stack([axis.reshape(-1) for axis in np.meshgrid(*counts, indexing="ij")], axis=1).astype(np.int64)


Partly = dict[str, tuple[int, int]]
"""By the label of a statistic, how many labellings were tested, and of how many."""


def bounded(batch: Sequence[Comparison], workforce: Workforce, pairs: int) -> tuple[Bounded, Partly]:
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
            tested = _tested(labellings)
            if labellings.count > most:
                most, tested_of_most = labellings.count, len(tested)
            by_pair[comparison.statistic.label, pair] = _bounds(labellings, tested, workforce, pairs)
        if tested_of_most < most:
            partly[comparison.statistic.label] = tested_of_most, most
    return by_pair, partly


def _tested(labellings: _Labellings) -> Integers:
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
    if labellings.count <= MOST:
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


def over_all(batch: Sequence[Comparison], decided: Decisions, bounds: Bounded) -> Decisions:
    """The verdicts that hold by every labelling, and for the same system; else undecided."""
    return {
        key: replace(one, verdict="undecided") if _turns(bounds[key]) and one.verdict == "significant" else one
        for key, one in missing_bounds.over_all(batch, decided, bounds).items()
    }


def _turns(bounds: MissingBounds) -> bool:
    """Whether either system is higher by some labelling."""
    return bounds.difference_low < 0 < bounds.difference_high


def notes(comparison: Comparison, decided: Decisions, bounds: Bounded, partly: tuple[int, int] | None) -> Iterator[str]:
    """Whether what was found holds by every labelling of the optional documents, or by those that were tested."""
    label = comparison.statistic.label
    where = f"{label} on {comparison.entry.test_set.name}"
    every = "every labelling of the optional documents"
    if partly is not None:
        every = "every labelling that was tested"
        tested, most = partly
        yield f"{where}: {tested:,} of up to {most:,} labellings tested, those of the extreme differences among them"
    turning = [pair for pair in comparison.pairs if _turns(bounds[label, pair])]
    unsure = [pair for pair in missing_bounds.unsure(comparison, decided, bounds) if pair not in turning]
    yield from missing_bounds.unsure_notes(comparison, decided, unsure)
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
            f"labelled: {_named(comparison, open_)}"
        )
    if turning:
        yield f"{where}: which system is higher depends on the labelling for {_named(comparison, turning)}"


def _named(comparison: Comparison, pairs: Sequence[Pair]) -> str:
    """GE and SRI, GE and BBN, SRI and BBN and 4 more."""
    names = [system.name for system in comparison.entry.systems]
    return some([f"{names[a]} and {names[b]}" for a, b in pairs])
