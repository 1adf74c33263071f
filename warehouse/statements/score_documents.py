"""Whether `score` puts systems side by side that were scored on different documents, and the notes on that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from warehouse.query import plan as p
from warehouse.query.compile import scores
from warehouse.query.labels import some
from warehouse.query.path import Facts, Queries, Query
from warehouse.query.valuing import Valued, ValueLine
from warehouse.tasks.observed import plural

MOST_ROWS = 10_000_000
"""With more rows than this, systems with equal counts of documents are not checked for the same documents."""

NamedCounts = tuple[tuple[str, int], ...]
"""Systems, and on how many documents each was scored."""


class Unlike(Struct, frozen=True):
    """A statistic whose values rest on different documents; `counts` are empty where rows are split."""

    label: str
    counts: NamedCounts


def documents_query(valued: Valued) -> Queries:
    """What tells whether systems that were scored on as many documents were scored on the same ones."""
    entry = valued.entry
    rows = len(entry.stored_systems) * entry.units.documents
    if valued.by or not entry.task.by_document or len(entry.stored_systems) < 2 or rows > MOST_ROWS:
        return ()

    def needed(facts: Facts) -> bool:
        lines = valued.lines(facts)
        counts = (_counts(entry, lines, place) for place in range(len(entry.statistics)))
        return any(_alike(known) and known[0][1] < entry.units.documents for known in counts if known)

    return (Query(_name(valued), scores.documents_of_any(entry, valued.where), needed=needed),)


def unlike(valued: Valued, lines: Sequence[ValueLine], facts: Facts) -> list[Unlike]:
    """The statistics by which systems were scored on different documents, wherever rows are split."""
    entry = valued.entry
    if not entry.task.by_document:
        return []
    own = [line for line in lines if isinstance(line.system, p.StoredSystem)]
    shared = [place for place, dimension in enumerate(valued.by) if dimension.of != "system"]
    parts: dict[tuple[object, ...], list[ValueLine]] = {}
    for line in own:
        parts.setdefault(tuple(line.by[place] for place in shared), []).append(line)
    of_any: Mapping[str, int] = dict(facts.get(_name(valued), ()))
    found = []
    for place, statistic in enumerate(entry.statistics):
        counts = [_counts(entry, part, place) for part in parts.values()]
        same = all(_alike(of_part) for of_part in counts)
        if same and len(counts) == 1 and counts[0]:
            measure = statistic.measure.name if entry.task.by_measure else ""
            same = of_any.get(measure, counts[0][0][1]) == counts[0][0][1]
        if not same:
            found.append(Unlike(statistic.label, () if valued.by else counts[0]))
    return found


def documents_notes(entry: p.Entry, by: Sequence[p.Dimension], found: Sequence[Unlike]) -> list[str]:
    """A note for the statistics that rest on different documents, each time those with the same counts."""
    labels: dict[NamedCounts, list[str]] = {}
    for statistic in found:
        labels.setdefault(statistic.counts, []).append(statistic.label)
    notes = []
    for counts, of_counts in labels.items():
        where = f" for every {', '.join(dimension.name for dimension in by)}" if by else ""
        listed = f": {some([f'{count:,} for {system}' for system, count in counts])}" if counts else ""
        if counts and _alike(counts):
            listed = f", though on {counts[0][1]:,} each"
        notes.append(
            f"{', '.join(of_counts)} on {entry.test_set.name}: not all systems were scored on the same "
            f"{plural(entry.units.noun)}{where}{listed}; coverage lists the absent ones"
        )
    return notes


def _name(valued: Valued) -> str:
    return valued.name("documents of any system")


def _counts(entry: p.Entry, lines: Sequence[ValueLine], place: int) -> NamedCounts:
    """On how many documents each system was scored; by imported values, on how many by a statistic."""
    return tuple(
        (line.system.name, (line.documents or 0) - (0 if entry.task.is_counted else line.left_out[place]))
        for line in lines
    )


def _alike(counts: NamedCounts) -> bool:
    return len({count for _, count in counts}) < 2
