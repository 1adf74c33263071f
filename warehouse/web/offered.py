"""What can be asked about a test set: its kinds of rows, and the measures of each."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from warehouse.query.resolving.names import Scope
from warehouse.store.catalog import KnownTestSet
from warehouse.tasks import TASKS, Task
from warehouse.web.inquiry import Inquiry, typed

MOST_SHOWN = 4
"""The number of measures that are shown by default."""


class Offer(Struct, frozen=True):
    """A kind of rows on a test set, and its measures as they are written in a statement."""

    task: Task
    measures: tuple[str, ...]
    several: bool
    """Whether the test set also has other kinds."""
    wanted: tuple[str, ...] = ()
    """The measures that are shown instead of the default ones, if some were named."""

    @property
    def of(self) -> str:
        """The clause that names the kind, if it is necessary."""
        return f" of {self.task.name}" if self.several else ""

    @property
    def first(self) -> tuple[str, ...]:
        """The measures that are shown by default."""
        if self.wanted:
            return self.wanted
        wanted = [name for name in self.task.shown_first if name.partition("@")[0] in self.measures]
        return tuple(wanted or self.measures[:MOST_SHOWN])

    def measured(self, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """The measures that were chosen, or the default ones."""
        return chosen or self.first


def offers(inquiry: Inquiry, test_set: KnownTestSet) -> tuple[Offer, ...]:
    """Everything that can be asked about a test set, the most informative kind first."""
    scope = Scope(inquiry.catalog)
    found = []
    for task in TASKS.values():
        if inquiry.catalog.has_rows(task.name, test_set.id):
            if task.imported is not None:
                names = list(inquiry.catalog.measures_of(task.name, test_set.id))
            else:
                names = scope.measures_of(task, test_set)
            if names:
                found.append((task, tuple(dict.fromkeys(map(typed, names)))))
    return tuple(
        Offer(task, measures, len(found) > 1, tuple(name for name in inquiry.measures if is_one_of(name, measures)))
        for task, measures in found
    )


def is_one_of(measure: str, measures: Iterable[str]) -> bool:
    """Whether a measure is one of these. It may have parameters, as F(beta=2) and P@10 do."""
    name = measure.partition("(")[0].partition("@")[0]
    return {measure.casefold(), name.strip().casefold()} & {known.casefold() for known in measures} != set()


def offer_of(inquiry: Inquiry, test_set: KnownTestSet, wanted: str) -> Offer | None:
    """The kind of rows with this name, or the first kind; None if nothing can be asked about the test set."""
    there = offers(inquiry, test_set)
    return next((offer for offer in there if offer.task.name == wanted), there[0] if there else None)
