"""What one asks first of data that were just read: the table of systems and test sets, and what leads on from it.

It knows names alone, no values, and answers nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from evalhouse.warehouse.plans.offers import Offer, main_offer, typed_name
from evalhouse.warehouse.store.catalog import Catalog, KnownTestSet

MOST_MARKED = 12
"""The most systems that are marked by letters: with more there are hundreds of pairs."""


class FirstTable(Struct, frozen=True):
    """The systems on test sets that share a kind of rows and its main measures."""

    measures: tuple[str, ...]
    of: str
    test_sets: tuple[str, ...]
    systems: int
    by_document: bool
    attribute: str | None
    every: bool
    """Whether these are all test sets of the warehouse."""
    averaged: bool
    """Whether an average over the test sets has sense."""
    pair: tuple[str, ...] = ()
    """The first two systems of the first test set by their names, or the only one."""

    @property
    def statement(self) -> str:
        """The statement that makes the table: with averages over several test sets where these have sense, with
        intervals where there is a row for each document, and with marks where there are a few systems to compare.
        """
        return self.unmarked + (" letters" if self.by_document and 1 < self.systems <= MOST_MARKED else "")

    @property
    def unmarked(self) -> str:
        """The same without marks, which need the same documents of all systems."""
        return f"{self.plain} interval" if self.by_document else self.plain

    @property
    def plain(self) -> str:
        """The same without intervals."""
        over = " over test sets" if self.averaged else ""
        return f"table {', '.join(self.measures)}{self.of} for all on {self._on}{over}"

    @property
    def together(self) -> str:
        """The statement for what systems have over the test sets, without the values on each."""
        return self.together_by(self.measures[0])

    def together_by(self, measure: str) -> str:
        """The same by another measure."""
        return f"score {measure}{self.of} for all on {self._on} over test sets"

    @property
    def _on(self) -> str:
        return "all" if self.every else ", ".join(map(typed_name, self.test_sets))

    def questions_on(self, leading: Sequence[str]) -> Iterator[str]:
        """What leads on from the table, of which the leading systems are named."""
        measure, test_set = self.measures[0], typed_name(self.test_sets[0])
        pair = f"{measure}{self.of} for {', '.join(map(typed_name, leading[:2]))} on {test_set}"
        if len(leading) < 2:
            if self.attribute is not None and self.by_document:
                yield f"score {pair} by document.{typed_name(self.attribute)}"
            yield "show measures"
            return
        if self.by_document:
            yield f"compare {pair}"
            slices = self.attribute
            yield f"documents {pair}" if slices is None else f"differ {pair} by document.{typed_name(slices)}"
        yield f"score {measure}{self.of} for all on {test_set}"


def first_tables(catalog: Catalog, of: Collection[str] = (), *, named: Iterable[str] = ()) -> tuple[FirstTable, ...]:
    """A table for each group of test sets with the same kind of rows and the same main measures, the most informative
    kind of each test set; of these test sets, or of all. Measures that are `named` take the place of the main ones.
    """
    named = tuple(named)
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[KnownTestSet, Offer]]] = {}
    for test_set in catalog.test_sets:
        if of and not {test_set.name, test_set.full_name} & {*of}:
            continue
        if offer := main_offer(catalog, test_set, named=named):
            groups.setdefault((offer.kind.name, offer.first), []).append((test_set, offer))
    attributes = catalog.attributes["document"]
    return tuple(
        FirstTable(
            measures=measures if len(there) == 1 else measures[:1],
            of=there[0][1].of,
            test_sets=tuple(catalog.short_name(test_set) for test_set, _ in there),
            systems=len(_models(catalog, kind, [test_set.id for test_set, _ in there])),
            by_document=there[0][1].kind.by_document,
            attribute=attributes[0] if attributes and not there[0][1].kind.of_lists else None,
            every=len(there) == len(catalog.test_sets),
            averaged=_can_be_averaged(catalog, kind, [test_set for test_set, _ in there]),
            pair=tuple(sorted(_models(catalog, kind, [there[0][0].id]))[:2]),
        )
        for (kind, measures), there in groups.items()
    )


def _models(catalog: Catalog, kind: str, test_sets: Sequence[int]) -> set[str]:
    """The systems on some test sets, all runs of a model being one."""
    there = {system for test_set in test_sets for system in catalog.systems_with(kind, test_set)}
    return {catalog.models.get(system, catalog.system_names[system]) for system in there}


SPLITS = frozenset({"train", "dev", "development", "valid", "validation", "val", "test", "eval"})
"""What the parts of one collection are called."""


def _can_be_averaged(catalog: Catalog, kind: str, there: Sequence[KnownTestSet]) -> bool:
    """Whether several test sets are different tasks, and not splits or variants of one (mmlu and mmlu:typos), and some
    system is on all of them.
    """
    names = [test_set.name for test_set in there]
    are_variants = any(name.startswith(f"{other}:") for name in names for other in names)
    if len(there) < 2 or are_variants or {name.casefold() for name in names} <= SPLITS:
        return False
    return bool(set.intersection(*(_models(catalog, kind, [test_set.id]) for test_set in there)))
