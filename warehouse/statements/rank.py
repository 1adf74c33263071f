"""`rank`: each system's rank with the set of ranks that it may have, simultaneous for all systems, and clusters.

On one test set every pair is tested both ways; over test sets the ranks on each are averaged, as Demšar (2006) does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import as_typed
from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import TestedPairs, result_of
from evalhouse.warehouse.comparing.decisions import Decisions, decisions
from evalhouse.warehouse.comparing.intervals import percent
from evalhouse.warehouse.comparing.lacking import documents_queries, missing_notes, refuse_lacking
from evalhouse.warehouse.comparing.pairs import Comparison, batches, comparison_queries
from evalhouse.warehouse.comparing.some_runs import check_runs, missing_note_of_runs
from evalhouse.warehouse.comparing.values import Valued
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.notes import Note
from evalhouse.warehouse.plans import conventions
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conditions import filter_on
from evalhouse.warehouse.plans.entries import Wanted, check_missing, entries_on
from evalhouse.warehouse.plans.groups import spelled_out
from evalhouse.warehouse.plans.labels import missing_caption, on, some, taken_together_on, unit_of
from evalhouse.warehouse.plans.names import Scope, text_of
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.systems import Several, stands_for_several
from evalhouse.warehouse.plans.testing import (
    averaged_entries,
    check_replicates,
    check_twice,
    check_two,
    on_every_test_set,
    tested_entries,
    testing_of,
)
from evalhouse.warehouse.results import CellKind, Column, Result, TableRows
from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.tests import ADJUSTMENTS, Adjustment, find_adjustment
from evalhouse.warehouse.statements import sentences

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.independent import Friedman


# === on one test set ==================================================================================================

ROWS = ("test_set", "task", "measure", "rank", "system", "value", "rank_low", "rank_high", "cluster", "undecided")


class RankPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    by_mean_rank: Over | None = None
    """How systems are ranked by their mean ranks over test sets, where they are."""
    over: p.OverTestSets | None = None
    """How the test sets are taken together, if they are, where values are ranked."""


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(written: n.Rank, scope: Scope) -> RankPlan:
    statement, over_test_sets = spelled_out(written, scope)
    if statement.sides is not None:
        raise QueryError("rank tests every pair both ways", statement.span, (f"leave out {statement.sides}",))
    if statement.by_mean_rank:
        if statement.over != n.MEAN_OVER:
            raise QueryError("mean ranks are over test sets", statement.span, ("write over test sets by mean rank",))
        over = resolve_over(statement, scope)
        return RankPlan(to_text(written), over.entries, over.how, over)
    entries = tested_entries(statement, statement.test_sets, scope)
    for entry in entries:
        check_two("rank", entry.systems, entry, statement)
    if statement.over:
        entries = averaged_entries(statement, entries)
    how = testing_of(statement, entries, scope)
    if statement.adjust is None:
        how = replace(how, adjustment=_adjustment(how, entries))
    elif not how.adjustment.family_wise:
        said = f"adjust {how.adjustment_name} does not hold for all sets of ranks together"
        others = " or ".join(adjustment.name for adjustment in ADJUSTMENTS if adjustment.family_wise)
        raise QueryError(said, statement.adjust.span, (f"write {others}",))
    return RankPlan(to_text(written), entries, replace(how, sides="one-sided"), over=over_test_sets)


def _adjustment(how: p.Testing, entries: Sequence[p.Entry]) -> Adjustment:
    """max-T where the pairs share shuffles: the level that it leaves to a pair is on average at least that of Holm's
    first step. Else Holm."""
    ordered = any(statistic.ordered for entry in entries for statistic in entry.statistics)
    apart = any(entry.units.exchanges_runs for entry in entries)
    shared = how.test.exchanges and not (how.exact or ordered or apart)
    return find_adjustment("maxt" if shared else "holm")


def compile(plan: RankPlan) -> Queries:
    if plan.by_mean_rank is not None:
        return compile_over(plan.by_mean_rank)
    over = plan.over is not None
    return tuple(query for entry in plan.entries for query in comparison_queries(plan.how, entry, over))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: RankPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per system, the best first."""
    if plan.by_mean_rank is not None:
        return answer_over(plan.text, plan.by_mean_rank, facts)
    rows, tested = TableRows(ROWS), TestedPairs.by(plan.how)
    compared = list(_batches(plan, facts))
    pairs = sum(len(comparison.pairs) for batch in compared for comparison in batch)
    for batch in compared:
        decided = decisions(batch, workforce, pairs)
        for comparison in batch:
            tested.add(comparison, decided)
            tested.noted.extend(_add_ranks(comparison, decided, rows))
    ranks = partial(conventions.of_systems, rows, "rank_low", "rank_high")
    ranked = plan.entries if plan.over is None else plan.entries[:1]
    by_convention = conventions.notes(ranked, ranks, "set of ranks", "sets of ranks")
    labels = list(dict.fromkeys(map(str, rows.cells("measure"))))
    table = rows.table(_columns(plan, rows, labels))
    where = taken_together_on(plan.entries, plan.over)
    taken = where if plan.over is not None else ""
    return result_of(
        plan.text,
        plan.entries,
        f"{', '.join(labels)} {where}",
        table,
        how=f"{percent(plan.how.level)} sets of ranks, for all systems together",
        tested=tested,
        notes=(*(plan.over.notes if plan.over is not None else ()), *by_convention, *tested.notes),
        sentence=sentences.of_ranks(table, taken),
    )


def _batches(plan: RankPlan, facts: Facts) -> Iterator[tuple[Comparison, ...]]:
    """The comparisons of every system with every other, both ways."""
    for batch in batches(plan.how, plan.entries, facts, plan.over):
        yield tuple(
            replace(comparison, pairs=tuple(permutations(range(len(comparison.entry.systems)), 2)))
            for comparison in batch
        )


def _add_ranks(comparison: Comparison, decided: Decisions, rows: TableRows) -> Iterator[str]:
    """Adds the rows of one statistic on one test set, and gives what there is to note."""
    from evalhouse.warehouse.comparing.notes import subject_of, undecided_note
    from evalhouse.warehouse.significance.groups import clusters, places, rank_limits

    entry, label = comparison.entry, comparison.statistic.label
    names = [system.name for system in entry.systems]
    lower = comparison.statistic.measure.lower_is_better
    ranks = places([exact or Fraction(0) for exact in comparison.exact_values], lower)
    order = sorted(range(len(names)), key=lambda place: (ranks[place], names[place]))
    better = _better(comparison, decided)
    low, high = rank_limits(better)
    cluster = dict(zip(order, clusters(better, order), strict=True))
    undecided: dict[int, set[str]] = {}
    for a, b in comparison.pairs:
        if decided[label, (a, b)].verdict == "undecided":
            undecided.setdefault(a, set()).add(names[b])
            undecided.setdefault(b, set()).add(names[a])
    for place in order:
        rows.add(
            test_set=entry.test_set.name,
            task=entry.kind.name,
            measure=label,
            rank=ranks[place],
            system=names[place],
            value=comparison.values[place],
            rank_low=int(low[place]),
            rank_high=int(high[place]),
            cluster=cluster[place],
            undecided=", ".join(sorted(undecided.get(place, ()))) or None,
        )
    for pair in combinations(range(len(names)), 2):
        both = [decided[label, pair], decided[label, pair[::-1]]]
        if any(one.verdict == "undecided" for one in both):
            enough = max((one.enough or 0 for one in both), default=0)
            yield undecided_note(comparison.how, subject_of(comparison, pair), enough or None)
    if undecided:
        yield Note(subject_of(comparison), "undecided pairs count as not different")


def _better(comparison: Comparison, decided: Decisions) -> Booleans:
    """Which system is surely better than which, of shape (systems, systems)."""
    better = np.zeros((len(comparison.entry.systems),) * 2, dtype=np.bool_)
    for a, b in comparison.pairs:
        better[a, b] = decided[comparison.statistic.label, (a, b)].verdict == "significant"
    return better


def _columns(plan: RankPlan, rows: TableRows, labels: Sequence[str]) -> tuple[Column, ...]:
    from evalhouse.warehouse.comparing.notes import are_few

    several = len(set(zip(rows.cells("test_set"), rows.cells("measure"), strict=True))) > 1
    unit: CellKind = unit_of(plan.entries)
    return (
        Column("test_set", "name", on_screen=several),
        Column("task", "text", on_screen=False),
        Column("measure", "name", on_screen=several),
        Column("rank", "count"),
        Column("system", "name"),
        Column("value", unit, "value" if several else labels[0]),
        Column("rank_low", "count", f"{percent(plan.how.level)} ranks"),
        Column("rank_high", "count", "to", upper=True),
        Column("cluster", "count"),
        Column("undecided", "text", on_screen=are_few(rows.cells("undecided"))),
    )


# === mean ranks ===================================================================================================
# Mean ranks over test sets, Friedman's test, and which pairs differ (Demšar 2006). A value on a test set is one
# observation, whatever its size, so nothing is shuffled.

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


def resolve_over(statement: n.Rank, scope: Scope) -> Over:
    for field in UNUSED:
        if getattr(statement, field):
            raise QueryError(f"a mean rank takes one value per test set, so {field} has no effect", statement.span)
    for measure in statement.measures:
        if stands_for_several(measure):
            wrong = f"a mean rank takes one value per test set, and {to_text(measure)} stands for several"
            raise QueryError(wrong, measure.span, ("ask for one of them: optional=excluded",))
    wanted = replace(Wanted.of(statement), tested=False, several=Several(), groups=False)
    entries = entries_on(statement.test_sets, wanted, scope)
    check_missing(statement, entries)
    check_twice(statement.systems)
    place = statement.test_sets.span if statement.test_sets else statement.span
    if len(entries) < 2:
        raise QueryError("a mean rank needs two test sets, but there is only one", place)
    tasks = sorted({entry.kind.name for entry in entries})
    if len(tasks) > 1:
        raise QueryError(f"the test sets are of several kinds: {', '.join(tasks)}", place, ("add of KIND",))
    entries = tuple(_by_name(entry) for entry in on_every_test_set("rank", entries, place))
    post_hoc = POST_HOC[0]
    if statement.adjust is not None:
        post_hoc = text_of(statement.adjust, statement.adjust, "the name of an adjustment").casefold()
        if post_hoc not in POST_HOC:
            wrong = f"by mean rank adjusts by {' or '.join(POST_HOC)}, not by {post_hoc}"
            raise QueryError(wrong, statement.adjust.span, hints(post_hoc, POST_HOC, "adjustments"))
    where = filter_on(scope, statement.where, entries)
    check_replicates(entries, statement.replicates or statement, (), where)
    level = scope.share(statement.level, "level", p.DEFAULT_LEVEL)
    if statement.missing == "drop":
        entries = tuple(entry.of_shared() for entry in entries)
    how = replace(p.Testing.plain(where), level=level, missing=statement.missing or "error")
    return Over(entries, how, post_hoc)


def _by_name(entry: p.Entry) -> p.Entry:
    """The entry with its systems in the order of their names."""
    return replace(entry, systems=tuple(sorted(entry.systems, key=lambda system: system.name)))


def compile_over(over: Over) -> Queries:
    valued = [Valued(entry, where=over.how.where) for entry in over.entries]
    of_documents = (query for one in valued for query in documents_queries(one, over.how.missing))
    return (*(query for one in valued for query in one.queries()), *of_documents)


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
    from evalhouse.warehouse.significance import independent

    statistic = over.entries[0].statistics[place]
    values = np.array([_values(over, entry, entry.statistics[place], facts) for entry in over.entries]).T
    if statistic.measure.lower_is_better:
        values = -values
    mean = independent.ranks(values).mean(axis=1)
    critical = None
    if over.post_hoc == POST_HOC[0]:
        better = independent.wilcoxon_holm(values, float(over.how.level))
    else:
        critical = independent.critical_difference(len(values), len(over.entries), float(over.how.level))
        better = independent.better_by(mean, critical)
    return MeanRanks(mean, better, independent.friedman(values), critical)


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


def answer_over(text: str, over: Over, facts: Facts) -> Result:
    """One row per system and measure, the best mean rank first; the summary has Friedman's test of each measure."""
    from evalhouse.warehouse.significance.groups import clusters, places, rank_limits

    rows, summary = TableRows.of(COLUMNS), TableRows.of(SUMMARY)
    valued = [Valued(entry, where=over.how.where) for entry in over.entries]
    for one in valued:
        check_runs(one.entry, one.in_some_runs(facts), over.how.missing)
        if over.how.missing == "error":
            refuse_lacking(one.entry, facts)
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
                task=over.entries[0].kind.name,
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
    said = "; ".join(filter(None, (how, missing_caption(over.how.missing, over.entries))))
    heading = f"{percent(over.how.level)} ranks"
    columns = [replace(column, heading=heading) if column.name == "rank_low" else column for column in COLUMNS]
    result = result_of(
        text,
        over.entries,
        f"{', '.join(labels)} over {on(over.entries)}",
        rows.table([replace(c, on_screen=len(labels) > 1) if c.name == "measure" else c for c in columns]),
        how=said,
        settings=("mean ranks over test sets", f"adjust {over.post_hoc}"),
        p_values=[p for p in summary.cells("p") if isinstance(p, float)],
        notes=[
            *_hopeless(over, pairs),
            *(note for one in valued for note in _missing_notes(one, over.how.missing, facts)),
        ],
        summary_table=summary.table(SUMMARY),
    )
    return replace(result, how=how)  # what became of missing documents is not in its picture


def _missing_notes(valued: Valued, missing: str, facts: Facts) -> Iterator[str]:
    """What became of documents that systems, or some of their runs, lack."""
    yield from missing_note_of_runs(valued.entry, valued.in_some_runs(facts), missing)
    yield from missing_notes(valued, missing, facts)


def _hopeless(over: Over, pairs: int) -> Iterator[str]:
    """Why no two systems could differ significantly, whatever their values."""
    from evalhouse.warehouse.significance.independent import critical_difference

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


def weigh_over(over: Over) -> Iterator[Line]:
    yield "executor", f"mean ranks over {over.test_sets}, and Friedman's test of them (Demšar 2006)"
    if over.post_hoc == POST_HOC[0]:
        yield "test", "Wilcoxon's signed-rank test of every pair over the test sets, Holm-adjusted (1979)"
    else:
        yield "test", "the critical difference of mean ranks (Nemenyi 1963)"


def systems_told_apart(found: MeanRanks) -> Booleans:
    """Which pairs differ, either way; of shape (systems, systems)."""
    return found.better | found.better.T


# === the statement ====================================================================================================


def weigh(plan: RankPlan, facts: Facts) -> Iterator[Line]:
    from evalhouse.warehouse.comparing.explanation import explain_tests

    if plan.by_mean_rank is not None:
        return weigh_over(plan.by_mean_rank)
    return explain_tests(_batches(plan, facts), plan.how)


RANK = Statement(
    node=n.Rank,
    usage=Usage(
        "rank MEASURE, …",
        "each system's rank, the set of ranks that it may have, and clusters",
        "rank F for all on TST3",
        of_rows="""\
>>> [(row["system"], row["rank_low"], row["rank_high"]) for row in eh.rank(rows, "accuracy", "all")]
[('new', 1, 2), ('base', 1, 2)]
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)
