"""Which documents the systems of a question lack: how many each has of all that there are, and what is said of that.

Whether values rest on the same documents, so that they may be compared, is decided here. Nothing here makes a table or
a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.some_runs import zero_is_best
from evalhouse.warehouse.comparing.values import Valued, ValueLine
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN, plural, quantity
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.notes import Names, Note, Part, Subject, count
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import unit_rows
from evalhouse.warehouse.plans.labels import some
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.store.sql import Sql

# === how many documents each system lacks =============================================================================

NamedCounts = tuple[tuple[str, int], ...]
"""Systems, each with a number of documents."""


class Lacking(Struct, frozen=True):
    """How many of the `documents` that there are each system lacks, by a statistic. Systems that lack none are not
    named. There are those of the test set where what is lacked counts as nothing, and else those of any system.
    """

    label: str
    documents: int
    of_systems: NamedCounts


def lacking_queries(entry: p.Entry, where: p.Filter | None) -> Queries:
    """What brings how many documents each system of an entry has, and how many there are."""
    of_systems, all_documents = _names(entry)
    return (
        Query(of_systems, unit_rows.documents_of_each(entry.as_stored(), where)),
        Query(all_documents, unit_rows.documents_of_any(replace(entry, shared_by=None), where)),
    )


def lacking(entry: p.Entry, facts: Facts) -> list[Lacking]:
    """How many documents each system lacks by each statistic; those of one kind have the same documents, so that the
    first says it for all, but for values.
    """
    of_systems, all_documents = _names(entry)
    counts = {(system, measure): count for system, measure, count in facts[of_systems]}
    there = dict(facts[all_documents])
    found = []
    for statistic in entry.statistics if entry.kind.by_measure else entry.statistics[:1]:
        measure = _measure(entry, statistic)
        of = there.get(measure, 0)
        lacked = ((system.name, of - counts.get((system.id, measure), 0)) for system in entry.stored_systems)
        found.append(Lacking(statistic.label, of, tuple((name, count) for name, count in lacked if count)))
    return found


def _names(entry: p.Entry) -> tuple[str, str]:
    of = f" of {', '.join(repr(one.label) for one in entry.statistics)}" if entry.kind.by_measure else ""
    owner = "the test set" if entry.units.filled else "any system"
    where = f"{' of averages' if entry.units.averaged is not None else ''} on {entry.test_set.name!r}"
    return f"documents{of} of each system{where}", f"documents{of} of {owner}{where}"


def _measure(entry: p.Entry, statistic: Statistic) -> str:
    return statistic.measure.name if entry.kind.by_measure else ""


# === documents that not every system may lack =========================================================================

LISTED = 5
"""How many missing documents an error names."""


def refusing_queries(entry: p.Entry, where: p.Filter | None) -> Queries:
    """What brings the names of the documents that not every system has, and who lacks them. Which documents there are,
    the test set says where all of it must be there, and else the systems of the entry.
    """
    if entry.units.complete:
        names = Query(_named(entry), unit_rows.names_of_absent(entry, where))
        return (names, *lacking_queries(entry.as_filled(), where))
    return (Query(_named(entry), unit_rows.names_of_incomplete(entry, where)), *lacking_queries(entry, where))


def refuse_lacking(entry: p.Entry, facts: Facts) -> None:
    """Raises QueryError where not every system of an entry has the same documents by each of its measures. Figures that
    were printed have no documents.
    """
    names = [str(name) for (name,) in facts.get(_named(entry), ())]
    if names:
        lacked: dict[str, int] = {}
        for of_statistic in lacking(entry.as_filled() if entry.units.complete else entry, facts):
            for name, count in of_statistic.of_systems:
                lacked[name] = max(count, lacked.get(name, 0))
        raise absent_documents(entry, names, list(lacked.items()))


def _named(entry: p.Entry) -> str:
    return f"names of the documents that not every system has on {entry.test_set.name!r}"


def absent_documents(entry: p.Entry, names: Sequence[str], lacked: Sequence[tuple[str, int]]) -> QueryError:
    """The error for documents that not every system has: names the first ones, and says how many each system lacks."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    noun, way = entry.units.noun, "missing drop leaves them out, missing zero counts them as nothing"
    if entry.units.groups:
        noun = PLAIN_NOUN
        way = f"a mean over document.{entry.units.groups.attribute} needs the same documents for every system"
    are = f"{quantity(len(names), noun)} of {entry.test_set.name} {'is' if len(names) == 1 else 'are'}"
    whose = " for some systems" if len(entry.systems) > 1 else ""
    return QueryError(
        f"{are} missing{whose}: {', '.join(names[:LISTED])}{more}",
        hints=(f"missing for {_with_counts(tuple(lacked))}", way),
    )


# === values without a test ============================================================================================
# Values of systems that were scored on different documents stand beside each other and are not compared; or a statement
# says what becomes of documents that a system lacks.


class Unlike(Struct, frozen=True):
    """A statistic whose values rest on different documents; `counts` are empty where rows are split."""

    label: str
    counts: NamedCounts


def documents_queries(valued: Valued, missing: str | None) -> Queries:
    """What tells whether systems were scored on the same documents, and what became of those that some lack."""
    entry = valued.entry
    if not entry.kind.by_document or not entry.stored_systems:
        return ()
    if missing == "error":
        return refusing_queries(entry, valued.where)
    counts = lacking_queries(entry, valued.where) if missing or entry.units.groups or _splits_documents(valued) else ()
    if missing == "drop":
        return (*counts, Query(_of_every(valued), unit_rows.documents_of_any(entry, valued.where)), *_whole(valued))
    if counts or p.Dimension("document") in valued.by:
        return counts
    of_any = Query(_of_any(valued), _documents_of_any(valued), needed=lambda facts: _may_differ(valued, facts))
    return (*((of_any,) if len(entry.systems) > 1 else ()), *_whole(valued))


def _whole(valued: Valued) -> Queries:
    """What tells how many documents the test set has, where systems were scored on fewer than are known."""
    entry = valued.entry
    if valued.by or entry.units.groups or (entry.everyone and not entry.kind.of_key):
        return ()
    there = entry.as_filled() if entry.kind.of_key else entry.of_anyone()
    sql = unit_rows.documents_of_any(there, valued.where)
    return (Query(_of_test_set(valued), sql, needed=lambda facts: _may_lack(valued, facts)),)


def _of_test_set(valued: Valued) -> str:
    return valued.name("documents of the test set")


def _may_lack(valued: Valued, facts: Facts) -> bool:
    """Whether there may be documents that none of the systems has."""
    entry, lines = valued.entry, valued.lines(facts)
    places = range(len(entry.statistics))
    most = min((max((count for _, count in _counts(entry, lines, place)), default=0) for place in places), default=0)
    return most < entry.units.documents


def _documents_of_any(valued: Valued) -> Sql:
    by = [dimension for dimension in valued.by if dimension.of != "system"]
    return unit_rows.documents_of_any(valued.entry, valued.where, by)


def _of_any(valued: Valued) -> str:
    return valued.name("documents of any system")


def _of_every(valued: Valued) -> str:
    return valued.name("documents of every system")


def _may_differ(valued: Valued, facts: Facts) -> bool:
    """Whether systems that were scored on as many documents may have been scored on others."""
    entry, lines = valued.entry, valued.lines(facts)
    if len({line.system.name for line in lines}) < 2:
        return False
    if valued.by:
        return True
    counts = [dict(_counts(entry, lines, place)).values() for place in range(len(entry.statistics))]
    return any(len(set(of_statistic)) == 1 and max(of_statistic) < entry.units.documents for of_statistic in counts)


def unlike(valued: Valued, lines: Sequence[ValueLine], facts: Facts) -> list[Unlike]:
    """The statistics by which systems were scored on different documents, wherever rows are split. A system without any
    document by a statistic has no value, and so none that could be compared.
    """
    entry = valued.entry
    if not entry.kind.by_document or entry.units.filled or entry.shared_by is not None:
        return []
    if entry.units.groups or _splits_documents(valued):
        return _unlike_as_a_whole(entry, facts)
    names = list(dict.fromkeys(line.system.name for line in lines))
    of_any = {(tuple(split), measure): count for *split, measure, count in facts.get(_of_any(valued), ())}
    found = []
    for place, statistic in enumerate(entry.statistics):
        same = True
        for split, part in _parts(valued, lines).items():
            counts = dict(_counts(entry, part, place))
            known = [counts.get(name, 0) for name in names] if valued.by else list(filter(None, counts.values()))
            most = of_any.get((split, _measure(entry, statistic)), max(known, default=0))
            same = same and all(count == most for count in known)
        if not same:
            found.append(Unlike(statistic.label, () if valued.by else _counts(entry, lines, place)))
    return found


def _parts(valued: Valued, lines: Sequence[ValueLine]) -> dict[tuple[object, ...], list[ValueLine]]:
    """The lines by what they are split by; attributes of systems part no documents."""
    shared = [place for place, dimension in enumerate(valued.by) if dimension.of != "system"]
    parts: dict[tuple[object, ...], list[ValueLine]] = {}
    for line in lines:
        parts.setdefault(tuple(line.by[place] for place in shared), []).append(line)
    return parts


def _splits_documents(valued: Valued) -> bool:
    """Whether rows are split by units, of which a system need not have the same in every document."""
    return any(dimension.of == "unit" for dimension in valued.by)


def _unlike_as_a_whole(entry: p.Entry, facts: Facts) -> list[Unlike]:
    """The same for means over what documents share, and for units of them: the documents must be the same."""
    (lacked,) = lacking(entry, facts)
    fewer = dict(lacked.of_systems)
    counts = tuple((system.name, lacked.documents - fewer.get(system.name, 0)) for system in entry.stored_systems)
    return [Unlike(statistic.label, counts) for statistic in entry.statistics] if fewer else []


def _counts(entry: p.Entry, lines: Sequence[ValueLine], place: int) -> NamedCounts:
    """On how many documents each system was scored; by imported values, on how many by a statistic."""
    return tuple((line.system.name, documents_by(entry, line, place) or 0) for line in lines)


def documents_by(entry: p.Entry, line: ValueLine, place: int) -> int | None:
    """On how many documents a line was scored by the statistic at a place; None where that is not known."""
    if line.documents is None or entry.kind.is_counted or not line.left_out:
        return line.documents
    return line.documents - line.left_out[place]


# --- notes ------------------------------------------------------------------------------------------------------------


def whole_notes(valued: Valued, lines: Sequence[ValueLine], facts: Facts, missing: str | None) -> Iterator[str]:
    """A note for the statistics of which the test set has documents that none of the systems has: where the systems do
    not differ in what they have, nothing else tells.
    """
    entry, there = valued.entry, dict(facts.get(_of_test_set(valued), ()))
    lines = [line for line in lines if isinstance(line.system, p.StoredSystem)]
    said = {one.label for one in unlike(valued, lines, facts)} if missing is None else set()
    if missing == "drop" and any(one.of_systems for one in lacking(entry, facts)):
        return
    labels: dict[tuple[int, NamedCounts], list[str]] = {}
    for place, statistic in enumerate(entry.statistics if there else ()):
        counts = _counts(entry, lines, place)
        whole = there.get(_measure(entry, statistic), 0)
        if statistic.label not in said and counts and max(count for _, count in counts) < whole:
            labels.setdefault((whole, counts), []).append(statistic.label)
    for (whole, counts), of_counts in labels.items():
        scored = f" {plural(entry.units.noun)} that there are: "
        way = "" if missing or entry.of_confidences else "; missing zero counts them as nothing"
        subject = Subject(entry.test_set.name, ", ".join(of_counts))
        listed = f"; coverage lists the absent ones{way}"
        yield Note(subject, "scored on fewer than the ", count(whole), scored, _fewest_first(counts), listed)


def unlike_notes(
    entry: p.Entry, found: Sequence[Unlike], by: Sequence[p.Dimension] = (), ways: bool = True
) -> list[str]:
    """A note for the statistics that rest on different documents, each time those with the same counts; with `ways` to
    make them comparable.
    """
    noun = PLAIN_NOUN if entry.units.groups else entry.units.noun
    labels: dict[NamedCounts, list[str]] = {}
    for statistic in found:
        labels.setdefault(statistic.counts, []).append(statistic.label)
    notes: list[str] = []
    for counts, of_counts in labels.items():
        parts = [dimension.name for dimension in by if dimension.of != "unit"]
        where = f" for every {', '.join(parts)}" if parts else ""
        # Those that have the fewest are named, however many there are.
        listed: tuple[Part, ...] = (": ", _fewest_first(counts)) if counts else ()
        if counts and len({number for _, number in counts}) == 1:
            listed = (", though on ", count(counts[0][1]), " each")
        way = "; missing drop or missing zero makes them comparable" if ways and not entry.units.groups else ""
        same = f"not all systems were scored on the same {plural(noun)}{where}"
        subject = Subject(entry.test_set.name, ", ".join(of_counts))
        notes.append(Note(subject, same, *listed, f"; coverage lists the absent ones{way}"))
    return notes


def _fewest_first(counts: NamedCounts) -> Names:
    """How many documents each system has; those that have as many stand by their names, in whatever order they come."""
    return _with_names(sorted(counts, key=lambda one: (one[1], one[0])))


def _with_names(counts: Iterable[tuple[str, int]]) -> Names:
    names, numbers = zip(*counts, strict=True)
    return Names(names, numbers)


def missing_notes(valued: Valued, missing: str | None, facts: Facts) -> Iterator[str]:
    """What became of documents that some systems lack, where the statement says it."""
    entry = valued.entry
    if not entry.kind.by_document or not entry.stored_systems:
        return
    if missing == "zero":
        yield from unanswered_notes(entry, lacking(entry, facts))
    if missing == "drop":
        kept = dict(facts[_of_every(valued)])
        for statistic, lacked in zip(entry.statistics, lacking(entry, facts), strict=False):
            dropped = lacked.documents - kept.get(_measure(entry, statistic), 0)
            yield from dropped_notes(entry, dropped, lacked)


def dropped_notes(entry: p.Entry, dropped: int, lacked: Lacking, more: str = "") -> Iterator[str]:
    """How many documents were left out because not every system has them, and who lacks how many."""
    if dropped:
        noun = entry.units.observed_noun
        left_out = count(dropped, noun, plural(noun))
        missing: tuple[Part, ...] = (" (missing: ", _with_names(lacked.of_systems), ")") if lacked.of_systems else ()
        yield Note(_of_which(entry, lacked), "left out ", left_out, " that not every system has", *missing, more)


def _of_which(entry: p.Entry, lacked: Lacking) -> Subject:
    """The test set, and the measure that is meant where each of several has its own documents."""
    measure = lacked.label if len(entry.statistics) > 1 and entry.kind.by_measure else ""
    return Subject(entry.test_set.name, measure)


def _with_counts(of_systems: NamedCounts) -> str:
    return some([f"{name} ({count:,})" for name, count in of_systems])


def unanswered_notes(entry: p.Entry, found: Sequence[Lacking]) -> Iterator[str]:
    """Which systems lack documents that count as nothing, and how many, and where that is better than to have them."""
    for lacked in found:
        if not lacked.of_systems:
            continue
        nothing = f" {plural(entry.units.noun)}, those that a system lacks count as nothing: "
        listed = _with_names(lacked.of_systems)
        yield Note(_of_which(entry, lacked), "of ", count(lacked.documents), nothing, listed)
        yield from zero_is_best(entry, [lacked.label])
