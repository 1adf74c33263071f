"""Documents that some runs of a system have and others lack: which they are, and what is said of them.

What becomes of them in the numbers is decided when names are looked up (`Units.incomplete`), not here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.kinds.kind import plural, quantity
from evalhouse.warehouse.notes import Names, Note, Subject
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.fact_rows import documents_in_some_runs
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.path import Facts, Query


class InSomeRuns(Struct, frozen=True):
    """A system, how many documents some of its runs have and others lack, and the first of them by name."""

    system: str
    documents: int
    names: tuple[str, ...]


def some_runs_query(name: str, entry: p.Entry, where: p.Filter | None) -> Query:
    """What brings the documents that some runs of a system lack; of measures with values of their own the system has
    as many as lack by the measure that lacks most.
    """
    return Query(name, documents_in_some_runs(entry, where))


def in_some_runs(name: str, entry: p.Entry, facts: Facts) -> list[InSomeRuns]:
    """The systems of an entry whose runs do not all have the same documents."""
    if entry.units.runs_of_models is None or not entry.kind.by_document:
        return []
    found: dict[tuple[int, str], list[str]] = {}
    counts: dict[tuple[int, str], int] = {}
    for measure, number, document, documents in facts[name]:
        found.setdefault((number, measure), []).append(document)
        counts[number, measure] = documents
    most: dict[int, tuple[int, str]] = {}
    for number, measure in found:
        if number not in most or counts[number, measure] > counts[most[number]]:
            most[number] = number, measure
    return [
        InSomeRuns(system.name, counts[most[system.id]], tuple(found[most[system.id]]))
        for system in entry.stored_systems
        if system.id in most
    ]


def averaged_note(entry: p.Entry, found: Sequence[InSomeRuns]) -> Iterator[str]:
    """What became of the documents where each is averaged over the runs that have it."""
    if found and entry.units.incomplete == "averaged":
        lacking = f"{plural(entry.units.noun)} that not every run has are averaged over the runs that have them: "
        yield Note(Subject(entry.test_set.name), lacking, _counts(found))


def missing_note_of_runs(entry: p.Entry, found: Sequence[InSomeRuns], missing: str | None) -> Iterator[str]:
    """What became of the documents where they count as missing."""
    if found and missing is not None:
        done = (
            "count as nothing in the runs that lack them" if missing == "zero" else "that some runs lack are left out"
        )
        yield Note(Subject(entry.test_set.name), f"{plural(entry.units.noun)} {done}: ", _counts(found))
        if missing == "zero":
            yield from zero_is_best(entry, [statistic.label for statistic in entry.statistics])


def zero_is_best(entry: p.Entry, labels: Collection[str]) -> Iterator[str]:
    """By which of some statistics it is better to lack a document that counts as nothing than to have it."""
    for statistic in () if entry.kind.is_counted else entry.statistics:
        label = statistic.label
        if statistic.measure.lower_is_better and label in labels:
            yield f"lower {label} is better, so 0 is the best that a system can have where it lacks a document"


def check_runs(entry: p.Entry, found: Sequence[InSomeRuns], missing: str) -> None:
    """Raises QueryError where documents lack in some runs and nothing was said of them."""
    on = entry.test_set.name
    if found and missing == "error":
        first = found[0]
        more = f" and {first.documents - len(first.names):,} more" if first.documents > len(first.names) else ""
        named = f"{', '.join(first.names)}{more}"
        raise QueryError(
            f"some runs lack {plural(entry.units.noun)} of {on}: {_listed(entry, found)} ({named})",
            hints=(
                "missing drop leaves them out, missing zero counts them as nothing in the runs that lack them",
                "replicates averages each over the runs that have it; coverage … runs apart lists those runs",
            ),
        )


def _counts(found: Sequence[InSomeRuns]) -> Names:
    return Names(tuple(of.system for of in found), tuple(of.documents for of in found))


def _listed(entry: p.Entry, found: Sequence[InSomeRuns]) -> str:
    """3 questions of base, 1 question of tuned."""
    return some([f"{quantity(of.documents, entry.units.noun)} of {of.system}" for of in found])
