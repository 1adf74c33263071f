"""`rank`: each system's rank with the set of ranks that it may have, simultaneous for all systems, and clusters.

On one test set every pair is tested both ways; over test sets the ranks on each are averaged, as Demšar (2006) does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.query import conventions
from warehouse.query import plan as p
from warehouse.query.answering import result_of
from warehouse.query.engine import Workforce
from warehouse.query.labels import on
from warehouse.query.path import Facts, Line, Queries, Statement, Usage
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.testing import check_two, tested_entries, testing_of
from warehouse.query.table_rows import TableRows
from warehouse.results import CellKind, Column, Result
from warehouse.significance.tests import ADJUSTMENTS, Adjustment, named_adjustment
from warehouse.statements import rank_over_test_sets as over_test_sets

if TYPE_CHECKING:
    from warehouse.query.comparison.deciding import Decisions
    from warehouse.query.comparison.pairs import Comparison
    from warehouse.significance.paired import Booleans

ROWS = ("test_set", "task", "measure", "rank", "system", "value", "rank_low", "rank_high", "cluster", "undecided")


class RankPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    over: over_test_sets.Over | None = None
    """How systems are ranked over test sets, where they are."""


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Rank, scope: Scope) -> RankPlan:
    if statement.sides is not None:
        raise QueryError("rank tests every pair both ways", statement.span, (f"leave out {statement.sides}",))
    if statement.over:
        over = over_test_sets.resolve(statement, scope)
        return RankPlan(to_text(statement), over.entries, over.how, over)
    entries = tested_entries(statement, statement.test_sets, scope)
    for entry in entries:
        check_two("rank", entry.systems, entry, statement)
    how = testing_of(statement, entries, scope)
    if statement.adjust is None:
        how = replace(how, adjustment=_adjustment(how, entries))
    elif not how.adjustment.family_wise:
        said = f"adjust {how.adjustment_name} does not hold for all sets of ranks together"
        others = " or ".join(adjustment.name for adjustment in ADJUSTMENTS if adjustment.family_wise)
        raise QueryError(said, statement.adjust.span, (f"write {others}",))
    return RankPlan(to_text(statement), entries, replace(how, sides="one-sided"))


def _adjustment(how: p.Testing, entries: Sequence[p.Entry]) -> Adjustment:
    """max-T where the pairs share shuffles: the level that it leaves to a pair is on average at least that of Holm's
    first step. Else Holm."""
    ordered = any(statistic.ordered for entry in entries for statistic in entry.statistics)
    apart = any(entry.units.exchanges_runs for entry in entries)
    shared = how.test.exchanges and not (how.exact or ordered or apart)
    return named_adjustment("maxt" if shared else "holm")


def compile(plan: RankPlan) -> Queries:
    from warehouse.query.comparison.pairs import comparison_queries

    if plan.over is not None:
        return over_test_sets.compile(plan.over)
    return tuple(query for entry in plan.entries for query in comparison_queries(plan.how, entry, None))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: RankPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per system, the best first."""
    from warehouse.query.comparison.deciding import decisions
    from warehouse.query.comparison.intervals import percent
    from warehouse.query.comparison.tested_pairs import TestedPairs

    if plan.over is not None:
        return over_test_sets.answer(plan.text, plan.over, facts)
    rows, tested = TableRows(ROWS), TestedPairs.by(plan.how)
    batches = list(_batches(plan, facts))
    pairs = sum(len(comparison.pairs) for batch in batches for comparison in batch)
    for batch in batches:
        decided = decisions(batch, workforce, pairs)
        for comparison in batch:
            tested.add(comparison, decided)
            tested.noted.extend(_ranked(comparison, decided, rows))
    ranks = partial(conventions.of_systems, rows, "rank_low", "rank_high")
    by_convention = conventions.notes(plan.entries, ranks, "set of ranks", "sets of ranks")
    labels = list(dict.fromkeys(map(str, rows.cells("measure"))))
    return result_of(
        plan.text,
        plan.entries,
        f"{', '.join(labels)} on {on(plan.entries)}",
        rows.table(_columns(plan, rows, labels)),
        how=f"{percent(plan.how.level)} sets of ranks, for all systems together",
        tested=tested,
        notes=(*by_convention, *tested.notes),
    )


def _batches(plan: RankPlan, facts: Facts) -> Iterator[tuple[Comparison, ...]]:
    """The comparisons of every system with every other, both ways."""
    from warehouse.query.comparison.pairs import comparisons

    for entry in plan.entries:
        for batch in comparisons(plan.how, entry, None, facts):
            yield tuple(
                replace(comparison, pairs=tuple(permutations(range(len(comparison.entry.systems)), 2)))
                for comparison in batch
            )


def _ranked(comparison: Comparison, decided: Decisions, rows: TableRows) -> Iterator[str]:
    """Adds the rows of one statistic on one test set, and gives what there is to note."""
    from warehouse.significance.ranks import clusters, places, rank_limits

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
            task=entry.task.name,
            measure=label,
            rank=ranks[place],
            system=names[place],
            value=comparison.values[place],
            rank_low=int(low[place]),
            rank_high=int(high[place]),
            cluster=cluster[place],
            undecided=", ".join(sorted(undecided.get(place, ()))) or None,
        )
    if undecided:
        enough = [pair.enough for key, pair in decided.items() if key[0] == label and pair.enough]
        way = f"; about {max(enough):,} shuffles would decide them" if enough else ""
        yield f"{label} on {entry.test_set.name}: some pairs are undecided and count as not different{way}"


def _better(comparison: Comparison, decided: Decisions) -> Booleans:
    """Which system is surely better than which, of shape (systems, systems)."""
    import numpy as np

    better = np.zeros((len(comparison.entry.systems),) * 2, dtype=np.bool_)
    for a, b in comparison.pairs:
        better[a, b] = decided[comparison.statistic.label, (a, b)].verdict == "significant"
    return better


def _columns(plan: RankPlan, rows: TableRows, labels: Sequence[str]) -> tuple[Column, ...]:
    from warehouse.query.comparison.intervals import percent

    several = len(set(zip(rows.cells("test_set"), rows.cells("measure"), strict=True))) > 1
    unit: CellKind = "number" if any(entry.unit == "number" for entry in plan.entries) else "proportion"
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
        Column("undecided", "text", on_screen=any(rows.cells("undecided"))),
    )


def weigh(plan: RankPlan, facts: Facts) -> Iterator[Line]:
    from warehouse.statements.explaining_tests import tested_lines

    if plan.over is not None:
        return over_test_sets.weigh(plan.over)
    return tested_lines(_batches(plan, facts), plan.how)


RANK = Statement(
    node=n.Rank,
    usage=Usage(
        "rank MEASURE, …",
        "each system's rank, the set of ranks that it may have, and clusters; over test sets, mean ranks",
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
