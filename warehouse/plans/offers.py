"""What can be asked about a test set: its kinds of rows, and the measures of each, as they are written in a statement.
Nothing is answered here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.lexicon import is_bare_name, quote
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.kinds import KINDS, Kind
from evalhouse.warehouse.measures.measure import Labels
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.store.catalog import Catalog, KnownTestSet

MOST_SHOWN = 4
"""The number of measures that are shown by default."""


class Offer(Struct, frozen=True):
    """A kind of rows on a test set, and its measures as they are written in a statement."""

    kind: Kind
    measures: tuple[str, ...]
    several: bool
    """Whether the test set also has other kinds."""
    wanted: tuple[str, ...] = ()
    """The measures that are shown instead of the default ones, if some were named."""
    labels: Labels = ""
    """What classes documents have, where its rows are of classes."""
    declared: str = ""
    """The main measure that a load declared."""
    right: str = ""
    """What the values that say whether an answer is right are called."""

    @property
    def of(self) -> str:
        """The clause that names the kind, if it is necessary."""
        return f" of {self.kind.name}" if self.several else ""

    @property
    def main(self) -> str:
        """The measure that a question is about where it names none: the declared one, else the one that its field
        quotes, else the only one. Empty if there are several, and none of them is the main one.
        """
        if self.declared:
            return self.declared
        return next(iter(self._quoted), self.measures[0] if len(self.measures) == 1 else "")

    @property
    def first(self) -> tuple[str, ...]:
        """The measures that are shown by default, the main one before others."""
        if self.wanted:
            return self.wanted
        shown = self._quoted if len(self._quoted) > 1 else self.measures[:MOST_SHOWN]
        return tuple(dict.fromkeys((self.main, *shown)))[:MOST_SHOWN] if self.main else tuple(shown)

    @property
    def _quoted(self) -> tuple[str, ...]:
        """The measures that the field of these rows quotes, the main one first; none if it depends on the data."""
        if of_labels := dict(self.kind.shown_of_labels).get(self.labels):
            return of_labels
        shown = map(typed_name, self.kind.shown_first)
        there = tuple(name for name in shown if name.partition("@")[0] in self.measures)
        return there or ((self.right,) if self.right in self.measures else ())

    def measured(self, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """The measures that were chosen, or the default ones."""
        return chosen or self.first


def offers(catalog: Catalog, test_set: KnownTestSet, named: Iterable[str] = ()) -> tuple[Offer, ...]:
    """Everything that can be asked about a test set, the most informative kind first. Of the measures that are `named`,
    those are wanted that a kind has.
    """
    scope = Scope(catalog)
    found = []
    for task in KINDS.values():
        if catalog.has_rows(task.name, test_set.id):
            if task.imported is not None:
                names = list(catalog.measures_of(task.name, test_set.id))
            else:
                names = scope.measures_of(task, test_set)
            if names:
                found.append((task, tuple(dict.fromkeys(map(typed_name, names)))))
    wanted = [(name, measure_of(name)) for name in named]
    return tuple(
        Offer(
            task,
            measures,
            len(found) > 1,
            tuple(name for name, measure in wanted if is_measured(measure, scope, task, test_set)),
            catalog.labels_of(test_set.id) if task.shown_of_labels else "",
            _typed_among(catalog.observed(task.name, test_set.id).main, measures),
            typed_name(scope.right_or_wrong(test_set) or "") if task.by_measure else "",
        )
        for task, measures in found
    )


def _typed_among(declared: str, measures: tuple[str, ...]) -> str:
    """A declared measure as it is typed. What is not among the measures may be one with parameters, as it stands."""
    typed = typed_name(declared)
    return typed if typed in measures else declared


def main_offer(catalog: Catalog, test_set: KnownTestSet, kind: str = "", named: Iterable[str] = ()) -> Offer | None:
    """What is asked first about a test set: ranked lists before the decisions that were made of them, the others as
    pages have them; of one kind, if it is named. None if there is nothing.
    """
    there = [offer for offer in offers(catalog, test_set, named) if kind in ("", offer.kind.name)]
    return min(there, key=lambda offer: not offer.kind.of_lists, default=None)


def measure_of(text: str) -> n.MeasureCall | n.Mean:
    """A measure as it is written in a statement: F1, P@10, macro(F1). Raises QueryError if it is none, or several."""
    match parse(f"score {text} for all"):
        case [n.Score(measures=[measure])]:
            return measure
    raise QueryError(f"{text} is not a measure")


def is_measured(measure: n.MeasureCall | n.Mean, scope: Scope, kind: Kind, test_set: KnownTestSet) -> bool:
    """Whether the rows of a kind on a test set have a measure."""
    try:
        scope.statistic(measure, kind, test_set)
    except QueryError:
        return False
    return True


def best_value(catalog: Catalog, kind: Kind, test_set: KnownTestSet, text: str) -> float:
    """What a right answer counts by a measure if an answer counts 0 or 1: 0 where lower is better."""
    statistic = Scope(catalog).statistic(measure_of(text), kind, test_set)
    return 0.0 if statistic.measure.lower_is_better else 1.0


def has_measure(catalog: Catalog, test_set: KnownTestSet, text: str) -> bool:
    """Whether some rows of a test set have a measure, which is the name of one as it is stored, or as it is typed."""
    scope, there = Scope(catalog), [kind for kind in KINDS.values() if catalog.has_rows(kind.name, test_set.id)]
    if any(text in catalog.measures_of(kind.name, test_set.id) for kind in there if kind.imported is not None):
        return True
    try:
        measure = measure_of(text)
    except QueryError:
        return False
    return any(is_measured(measure, scope, kind, test_set) for kind in there)


def typed_name(name: str) -> str:
    """A name as it is written in a statement."""
    return name if is_bare_name(name) else quote(name)
