"""`rank … over test sets`: mean ranks over test sets, Friedman's test, and which pairs differ (Demšar 2006).

A value on a test set is one observation, whatever its size, so nothing is shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.clauses import as_typed
from grammar.editing.hints import hints
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.answering import result_of
from warehouse.query.labels import on, some
from warehouse.query.path import Facts, Line, Queries
from warehouse.query.resolving.conditions import filter_of
from warehouse.query.resolving.entries import Wanted, check_filled, entries_on
from warehouse.query.resolving.names import Scope, text_of
from warehouse.query.resolving.optional_documents import stands_for_several
from warehouse.query.resolving.testing import check_replicates, check_twice
from warehouse.query.table_rows import TableRows
from warehouse.query.valuing import Valued
from warehouse.results import Column, Result

if TYPE_CHECKING:
    from warehouse.significance.analytic.test_sets import Friedman
    from warehouse.significance.paired import Booleans, Floats

COLUMNS = (
    Column("test_set", "name", on_screen=False),
    Column("task", "text", on_screen=False),
    Column("measure", "name"),
    Column("rank", "count"),
    Column("system", "name"),
    Column("mean_rank", "number", "mean rank"),
    Column("rank_low", "count"),
    Column("rank_high", "count", "to", upper=True),
    Column("cluster", "count"),
)

SUMMARY = (
    Column("measure", "name"),
    Column("friedman", "number", "Friedman χ²"),
    Column("df", "count"),
    Column("p", "probability"),
    Column("critical_difference", "number", "critical difference"),
)

POST_HOC = ("holm", "nemenyi")
"""How pairs are compared: by Wilcoxon's test with Holm's adjustment, or by Nemenyi's critical difference."""

UNUSED = ("test", "shuffles", "exact", "exchange", "seed", "confidence")
"""Clauses that have no effect here."""


class Over(Struct, frozen=True):
    """How systems are ranked over test sets: the same systems in the same order on each."""

    entries: tuple[p.Entry, ...]
    how: p.Testing
    post_hoc: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(system.name for system in self.entries[0].systems)

    @property
    def test_sets(self) -> str:
        """The names of the test sets."""
        return ", ".join(entry.test_set.name for entry in self.entries)


def resolve(statement: n.Rank, scope: Scope) -> Over:
    for field in UNUSED:
        if getattr(statement, field):
            raise QueryError(
                f"rank over test sets uses one value per test set, so {field} has no effect", statement.span
            )
    for measure in statement.measures:
        if stands_for_several(measure):
            wrong = f"rank over test sets uses one value per test set, and {to_text(measure)} stands for several"
            raise QueryError(wrong, measure.span, ("ask for one of them: optional=excluded",))
    wanted = Wanted(
        statement.measures, statement.task, statement.systems, statement.span, statement.replicates, statement.missing
    )
    entries = entries_on(statement.test_sets, wanted, scope)
    check_filled(statement, entries, "mean ranks use the documents that a system has")
    check_twice(statement.systems)
    place = statement.test_sets.span if statement.test_sets else statement.span
    if len(entries) < 2:
        raise QueryError("rank over test sets needs two test sets, but there is only one", place)
    tasks = sorted({entry.task.name for entry in entries})
    if len(tasks) > 1:
        raise QueryError(f"the test sets are of several kinds: {', '.join(tasks)}", place, ("add of KIND",))
    everywhere = set.intersection(*({system.name for system in entry.systems} for entry in entries))
    if len(everywhere) < 2:
        have = f"only {next(iter(everywhere))} is" if everywhere else "none of them is"
        raise QueryError(f"rank needs two systems that are on all test sets, but {have}", place)
    post_hoc = POST_HOC[0]
    if statement.adjust is not None:
        post_hoc = text_of(statement.adjust, statement.adjust, "the name of an adjustment").casefold()
        if post_hoc not in POST_HOC:
            wrong = f"rank over test sets adjusts by {' or '.join(POST_HOC)}, not by {post_hoc}"
            raise QueryError(wrong, statement.adjust.span, hints(post_hoc, POST_HOC, "adjustments"))
    where = filter_of(scope, statement.where, entries[0].task)
    check_replicates(entries, statement.replicates or statement, (), where)
    level = scope.share(statement.level, "level", p.DEFAULT_LEVEL)
    return Over(
        tuple(replace(entry, systems=_common(entry, everywhere)) for entry in entries),
        replace(p.Testing.plain(where), level=level),
        post_hoc,
    )


def _common(entry: p.Entry, everywhere: set[str]) -> tuple[p.System, ...]:
    """The systems of an entry that are on every test set, by their names."""
    return tuple(sorted((s for s in entry.systems if s.name in everywhere), key=lambda system: system.name))


def compile(over: Over) -> Queries:
    return tuple(query for entry in over.entries for query in Valued(entry, where=over.how.where).queries())


# --- answering --------------------------------------------------------------------------------------------------------


class MeanRanks(Struct, frozen=True):
    """What one measure says over all test sets: mean ranks of shape (systems,), which system is surely better than
    which, and Friedman's test. `critical_difference` is there where it decides.
    """

    mean: Floats
    better: Booleans
    friedman: Friedman
    critical_difference: float | None


def mean_ranks(over: Over, place: int, facts: Facts) -> MeanRanks:
    """The mean ranks by the measure at a place of the statement. Raises QueryError where a value is undefined."""
    import numpy as np

    from warehouse.significance.analytic import test_sets as tests

    statistic = over.entries[0].statistics[place]
    values = np.array([_values(over, entry, entry.statistics[place], facts) for entry in over.entries]).T
    if statistic.measure.lower_is_better:
        values = -values
    mean = tests.ranks(values).mean(axis=1)
    critical = None
    if over.post_hoc == POST_HOC[0]:
        better = tests.wilcoxon_holm(values, float(over.how.level))
    else:
        critical = tests.critical_difference(len(values), len(over.entries), float(over.how.level))
        better = tests.better_by(mean, critical)
    return MeanRanks(mean, better, tests.friedman(values), critical)


def _values(over: Over, entry: p.Entry, statistic: Statistic, facts: Facts) -> list[float]:
    known = Valued(entry, where=over.how.where).values(facts)
    found = [known.get((name, statistic.label)) for name in over.names]
    without = [name for name, number in zip(over.names, found, strict=True) if number is None]
    if without:
        raise QueryError(
            f"{statistic.label} is undefined on {entry.test_set.name} for {some(without)}",
            hints=(f"leave them out: except {', '.join(without[:3])}",),
        )
    return [number for number in found if number is not None]


def answer(text: str, over: Over, facts: Facts) -> Result:
    """One row per system and measure, the best mean rank first; the summary has Friedman's test of each measure."""
    from warehouse.query.comparison.captions import missing_said
    from warehouse.query.comparison.intervals import percent
    from warehouse.significance.ranks import clusters, places, rank_limits

    rows, summary = TableRows.of(COLUMNS), TableRows.of(SUMMARY)
    labels = [statistic.label for statistic in over.entries[0].statistics]
    for place, label in enumerate(labels):
        found = mean_ranks(over, place, facts)
        mean = found.mean.tolist()
        ranks = places(mean, True)
        order = sorted(range(len(mean)), key=lambda system: (ranks[system], over.names[system]))
        low, high = rank_limits(found.better)
        for system, cluster in zip(order, clusters(found.better, order), strict=True):
            rows.add(
                test_set=over.test_sets,
                task=over.entries[0].task.name,
                measure=label,
                rank=ranks[system],
                system=over.names[system],
                mean_rank=mean[system],
                rank_low=int(low[system]),
                rank_high=int(high[system]),
                cluster=cluster,
            )
        tested = found.friedman
        summary.add(
            measure=label,
            friedman=tested.statistic,
            df=tested.degrees,
            p=tested.p,
            critical_difference=found.critical_difference,
        )
    pairs = len(over.names) * (len(over.names) - 1) // 2
    by = {"holm": f"Wilcoxon's signed-rank test, Holm-adjusted over {pairs:,} pairs", "nemenyi": "Nemenyi's test"}
    level = f"{as_typed('level', over.how.spoken)} {over.how.level}"
    how = f"mean ranks of {len(over.names)} systems; pairs by {by[over.post_hoc]}, {level}"
    said = "; ".join(filter(None, (how, missing_said(over.how, over.entries))))
    heading = f"{percent(over.how.level)} ranks"
    columns = [replace(column, heading=heading) if column.name == "rank_low" else column for column in COLUMNS]
    result = result_of(
        text,
        over.entries,
        f"{', '.join(labels)} over {on(over.entries)}",
        rows.table([replace(c, on_screen=len(labels) > 1) if c.name == "measure" else c for c in columns]),
        how=said,
        deciding=("rank over test sets", f"adjust {over.post_hoc}"),
        p_values=[p for p in summary.cells("p") if isinstance(p, float)],
        notes=_hopeless(over, pairs),
        summary_table=summary.table(SUMMARY),
    )
    return replace(result, how=how)  # what became of missing documents is not in its picture


def _hopeless(over: Over, pairs: int) -> Iterator[str]:
    """Why no two systems could differ significantly, whatever their values."""
    from warehouse.significance.analytic.test_sets import critical_difference

    test_sets, level = len(over.entries), float(over.how.level)
    if over.post_hoc == POST_HOC[0]:
        least = 2.0 ** (1 - test_sets)
        if least * pairs > level:
            needed = ceil(1 + log2(pairs / level))
            yield (
                f"with {test_sets} test sets Wilcoxon's p is at least {least:.2g}, {min(1.0, least * pairs):.2g} after "
                f"adjustment, above the level {over.how.level}: no pair can be significant with fewer than {needed}"
            )
    elif critical_difference(len(over.names), test_sets, level) > len(over.names) - 1:
        yield f"with {test_sets} test sets the critical difference exceeds every possible difference of mean ranks"


def weigh(over: Over) -> Iterator[Line]:
    yield "executor", f"mean ranks over {over.test_sets}, and Friedman's test of them (Demšar 2006)"
    if over.post_hoc == POST_HOC[0]:
        yield "test", "Wilcoxon's signed-rank test of every pair over the test sets, Holm-adjusted (1979)"
    else:
        yield "test", "the critical difference of mean ranks (Nemenyi 1963)"


def systems_told_apart(found: MeanRanks) -> Booleans:
    """Which pairs differ, either way; of shape (systems, systems)."""
    return found.better | found.better.T
