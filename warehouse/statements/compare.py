"""`compare`: a significance test for each pair of systems, measure and test set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.query import conventions
from warehouse.query import plan as p
from warehouse.query.answering import result_of
from warehouse.query.conventions import is_bounded
from warehouse.query.engine import Workforce
from warehouse.query.labels import on
from warehouse.query.path import Facts, Line, Queries, Statement, Usage
from warehouse.query.resolving.comparing import averaged_entries, comparing
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.systems import baseline, present_on, system_named
from warehouse.query.resolving.testing import check_two, tested_entries
from warehouse.query.table_rows import TableRows
from warehouse.results import Cell, Column, Result, Table, Triangle
from warehouse.statements import compare_against
from warehouse.statements.compare_columns import MARGIN, own_columns

if TYPE_CHECKING:
    from warehouse.query.comparison.margins import Margins


class ComparePlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    against: p.System | None
    how: p.Testing
    over: bool = False
    """Whether it is the average over the test sets that is compared."""
    with_intervals: bool = True
    """Whether each difference has its interval beside it."""

    @property
    def over_labellings(self) -> bool:
        """Whether bounds are asked for over every labelling of the optional documents."""
        return any(is_bounded(statistic) for entry in self.entries for statistic in entry.statistics)

    @property
    def compared_entries(self) -> tuple[p.Entry, ...]:
        """An entry for each comparison of all systems by all measures."""
        return self.entries[:1] if self.over else self.entries

    @property
    def all_pairs(self) -> bool:
        """Whether all pairs of more than two systems are shown as a triangle of p-values."""
        every_one = self.against is None and self.how.sides == "two-sided" and self.how.margin is None
        return every_one and any(len(entry.systems) > 2 for entry in self.entries)


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Compare, scope: Scope) -> ComparePlan:
    entries = tested_entries(statement, statement.test_sets, scope)
    against = None if statement.against is None else _against(statement.against, entries[0], scope)
    if statement.against is not None and isinstance(against, p.Baseline) and against.share != 1:
        raise QueryError(f"{against.name} has only expected values, no decisions to test", statement.against.span)
    for entry in entries:
        added = () if against is None or against in entry.systems else (against,)
        check_two("compare", (*entry.systems, *added), entry, statement)
    if statement.missing == "bounds":
        entries = tuple(replace(entry, also=entry.task.completed_from) for entry in entries)
    if statement.over:
        entries = averaged_entries(statement, entries)
    return ComparePlan(to_text(statement), entries, against, comparing(statement, entries, scope), statement.over)


def _against(node: n.Name | n.BaselineCall | n.Variable, entry: p.Entry, scope: Scope) -> p.System:
    if isinstance(node, n.BaselineCall):
        return baseline(scope, node, entry.task)
    test_set = scope.known(entry.test_set)
    present = present_on(scope, entry.task, test_set, entry.units.made_of, (node,))
    return system_named(scope, node, node, entry.task, test_set, present)


def compile(plan: ComparePlan) -> Queries:
    from warehouse.query.comparison.pairs import comparison_queries

    return tuple(
        query for entry in plan.entries for query in comparison_queries(plan.how, entry, plan.against, plan.over)
    )


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ComparePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair of systems, measure and test set."""
    from warehouse.query.comparison.interval_notes import contradictions
    from warehouse.query.comparison.macro import batches
    from warehouse.query.comparison.margins import FAMILIES, margin_caption
    from warehouse.query.comparison.pairs import count_of_pairs
    from warehouse.query.comparison.tested_pairs import TestedPairs
    from warehouse.statements.compare_batch import batch_of

    with_bounds = plan.how.missing == "bounds" or plan.over_labellings
    all_pairs, entries = plan.all_pairs, plan.compared_entries
    own = own_columns(with_bounds, plan.how.margin is not None)
    rows, tested = TableRows.of(own), TestedPairs.by(plan.how)
    pairs = count_of_pairs(entries, plan.against) * (1 if plan.how.margin is None else FAMILIES)
    margins: Margins = {}
    enough: list[int | None] = []
    resamples = 0
    for comparisons in batches(plan.how, plan.entries, plan.against, facts, plan.over):
        batch = batch_of(comparisons, facts, workforce, pairs, plan.with_intervals)
        batch.add_rows(rows)
        batch.add_notes(tested)
        margins |= batch.margins
        enough += batch.enough
        resamples = max(resamples, batch.resamples)
    in_sections = plan.against is not None and len(set(rows.cells("system_a"))) > 1
    table = rows.table(_columns(plan, own, rows, in_sections))
    margin, level = plan.how.margin, plan.how.level
    how = "" if margin is None else margin_caption(margin, level, plan.entries[0].unit, margins)
    verdicts = partial(conventions.of_pairs, rows)
    measures = ", ".join(dict.fromkeys(str(measure) for measure in table.column("measure")))
    return result_of(
        plan.text,
        plan.entries,
        f"{measures} {'averaged over' if plan.over else 'on'} {on(plan.entries)}",
        table,
        how=how,
        tested=replace(tested, resamples=resamples if plan.with_intervals and not all_pairs else None),
        notes=(
            *conventions.notes(entries, verdicts, "verdict", "verdicts"),
            *tested.notes,
            *(() if with_bounds else _undecided(plan.how, table, enough)),  # bounds decide, not shuffles
            *contradictions(plan.how, table),
        ),
        triangle=triangle_of(plan, table) if all_pairs else None,
        sections=compare_against.sections(table, _lowest_first(plan)) if in_sections else (),
    )


def level_column(how: p.Testing) -> str:
    """The column of the level that decides."""
    return "p_adjusted" if how.adjustment.adjusts else "p"


def triangle_of(plan: ComparePlan, table: Table) -> Triangle:
    """All pairs of more than two systems as a triangle of p-values."""
    how = plan.how
    unsure = ", ? undecided" if "undecided" in table.column("verdict") else ""
    return Triangle(
        within=("test_set", "measure"),
        first="system_a",
        second="system_b",
        first_value="value_a",
        second_value="value_b",
        cell=level_column(how),
        mark="verdict",
        legend=f"p-values; * significant at {str(how.level).removeprefix('0')}{unsure}",
        lowest_first=_lowest_first(plan),
    )


def _lowest_first(plan: ComparePlan) -> frozenset[tuple[Cell, Cell]]:
    """The test sets and measures of which lower values are better."""
    return frozenset(
        (entry.test_set.name, statistic.label)
        for entry in plan.entries
        for statistic in entry.statistics
        if statistic.measure.lower_is_better
    )


# --- what it is called ------------------------------------------------------------------------------------------------


def _columns(plan: ComparePlan, own: Sequence[Column], rows: TableRows, in_sections: bool) -> tuple[Column, ...]:
    """The columns, fitted for the screen: two systems stand in the headings of their values, other columns show what
    varies.
    """
    pair = [set(rows.cells(name)) for name in ("system_a", "system_b")]
    from warehouse.query.comparison.intervals import interval_heading

    headings = {"ci_low": interval_heading(plan.how.level)}
    hidden: set[str] = set()
    spare: dict[str, int] = {}
    if [len(names) for names in pair] == [1, 1]:
        first, second = (names.pop() for names in pair)
        headings |= {"value_a": str(first), "value_b": str(second)}
        hidden = {"system_a", "system_b"}
        spare = dict.fromkeys(("value_a", "value_b"), 0)  # they name the systems
    if in_sections:
        headings, hidden = headings | compare_against.HEADINGS, set(compare_against.IN_TITLES)
    shown = {"test_set"} if len(plan.entries) > 1 and not plan.over else set()
    if any(level is not None for level in rows.cells("p_adjusted")):
        shown.add("p_adjusted")
        spare["p"] = 4  # it is the adjusted one that decides
    if plan.how.confidence_asked or _in_doubt(rows):
        shown.add("confidence")
    if plan.over_labellings and len(set(rows.cells("measure"))) == 1:
        hidden.add("measure")  # it is in the caption, and bounds need the room
    hidden |= {column for column in MARGIN if column in rows.names and set(rows.cells(column)) == {None}}
    values = {"value_a", "value_b", "difference", "difference_low", "difference_high", "ci_low", "ci_high", "margin"}
    numbers = any(entry.unit == "number" for entry in plan.entries)
    return tuple(
        replace(
            column,
            heading=headings.get(column.name, column.heading),
            kind="number" if numbers and column.name in values else column.kind,
            on_screen=(column.on_screen or column.name in shown) and column.name not in hidden,
            spare=spare.get(column.name, column.spare),
        )
        for column in own
    )


def _in_doubt(rows: TableRows) -> bool:
    """Whether shuffles leave a verdict open; an exact p never does."""
    known = zip(rows.cells("verdict"), rows.cells("confidence"), strict=True)
    return any(verdict == "undecided" and isinstance(sure, float) and sure < 1 for verdict, sure in known)


# --- notes ------------------------------------------------------------------------------------------------------------


def _undecided(how: p.Testing, table: Table, enough: Sequence[int | None]) -> Iterator[str]:
    """What would decide the undecided pairs: a few one by one, many as a count."""
    from warehouse.query.comparison.notes import ONE_BY_ONE

    undecided = table.records_where("verdict", lambda verdict: verdict == "undecided")
    unsure = f"at confidence {how.confidence} the exact p could be on either side of {how.level}"
    needed = [more for more, said in zip(enough, table.column("verdict"), strict=True) if said == "undecided"]
    exact = how.test.exact
    if len(undecided) <= ONE_BY_ONE:
        for row, more in zip(undecided, needed, strict=True):
            way = "; exact would decide it" if exact else ""
            if more:
                way = f"; about {more:,} {how.drawn} would decide it{', and so would exact' if exact else ''}"
            yield f"{_who(row)}: undecided, as {unsure}{way}"
    else:
        decidable = [more for more in needed if more]
        ways = [f"{max(decidable):,} {how.drawn} would decide {len(decidable):,} of them"] if decidable else []
        ways += ["exact would decide all"] if exact else []
        yield f"{len(undecided):,} pairs are undecided, as {unsure}{'; ' if ways else ''}{', and '.join(ways)}"


def _who(row: Mapping[str, Cell]) -> str:
    return f"{row['system_a']} and {row['system_b']}, {row['measure']} on {row['test_set']}"


def weigh(plan: ComparePlan, facts: Facts) -> Iterator[Line]:
    from warehouse.query.comparison.macro import batches
    from warehouse.statements.explaining_tests import tested_lines

    return tested_lines(batches(plan.how, plan.entries, plan.against, facts, plan.over), plan.how)


COMPARE = Statement(
    node=n.Compare,
    usage=Usage(
        "compare MEASURE, …",
        "test the difference of two systems, or of every pair of several",
        "compare F(beta=1) for GE, UMASS on TST3 shuffles 9999",
        of_rows="""\
>>> r = eh.compare(rows, "accuracy", "new", "base")
>>> round(r[0]["difference"], 4), round(r[0]["p"], 4), r[0]["verdict"]
(0.0833, 0.4244, 'not significant')
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    weigh=weigh,
)
