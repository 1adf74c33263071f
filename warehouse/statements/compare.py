"""`compare`: a significance test for each pair of systems, measure and test set."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from math import isfinite

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import TestedPairs, result_of
from evalhouse.warehouse.comparing.arrivals import growth_queries, looks_so_far
from evalhouse.warehouse.comparing.bounds import Bounds, bounds_of
from evalhouse.warehouse.comparing.decisions import decisions
from evalhouse.warehouse.comparing.intervals import Intervals, interval_heading, intervals
from evalhouse.warehouse.comparing.looking import decide_looks, look_notes
from evalhouse.warehouse.comparing.margins import (
    FAMILIES,
    INTERVAL,
    Margined,
    Margins,
    decide_margins,
    margin_caption,
    margin_intervals,
    margin_notes,
    margin_of,
)
from evalhouse.warehouse.comparing.notes import comparison_interval_notes, contradictions, undecided_note
from evalhouse.warehouse.comparing.pairs import (
    Comparison,
    Pair,
    batches,
    comparison_queries,
    count_of_pairs,
    pairs_of_systems,
)
from evalhouse.warehouse.comparing.procedures import statistics
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.notes import Subject
from evalhouse.warehouse.plans import conventions
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.conventions import is_bounded
from evalhouse.warehouse.plans.groups import spelled_out
from evalhouse.warehouse.plans.labels import lower_measures, taken_together_on, unit_of
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import (
    averaged_entries,
    check_two,
    comparing,
    holding_against,
    tested_entries,
)
from evalhouse.warehouse.results import Cell, Column, Result, Table, TableRows, TableSection, Triangle
from evalhouse.warehouse.significance.draws import Looked
from evalhouse.warehouse.statements import sentences

# === the columns ======================================================================================================

COLUMNS = (
    Column("test_set", "name", on_screen=False),
    Column("task", "text", on_screen=False),
    Column("measure", "name"),
    Column("system_a", "name", "A"),
    Column("system_b", "name", "B"),
    Column("value_a", "proportion", "A", spare=2),
    Column("value_b", "proportion", "B", spare=3),
    Column("difference", "difference"),
    Column("difference_low", "difference", "bounds of\ndifference"),
    Column("difference_high", "difference", "to", upper=True),
    Column("test", "text", on_screen=False),
    Column("sides", "text", on_screen=False),
    Column("method", "text", on_screen=False),
    Column("shuffles", "count", on_screen=False),
    Column("nge", "count", on_screen=False),
    Column("p", "probability"),
    Column("p_low", "probability", "bounds\nof p"),
    Column("p_high", "probability", "to", upper=True),
    Column("p_adjusted", "probability", on_screen=False),
    Column("looks", "count"),
    Column("e_value", "number", "e-value"),
    Column("boundary", "probability", "boundary\nof p"),
    Column("confidence", "number", "MC confidence", on_screen=False, spare=6),
    Column("level", "number", on_screen=False),
    Column("margin", "difference", on_screen=False),
    Column("p_not_worse", "probability", "p not worse"),
    Column("p_not_better", "probability", "p not better"),
    Column("verdict", "text"),
    Column("documents", "count", on_screen=False),
    Column("units", "count", on_screen=False),
    Column("differing", "count", on_screen=False),
    Column("correlation", "number", on_screen=False),
    Column("inflation", "number", on_screen=False),
    Column("ci_low", "difference", "CI", spare=1),
    Column("ci_high", "difference", "to", upper=True),
    Column("statistic", "number", on_screen=False),
    Column("seed", "whole", on_screen=False),
)


BOUNDS = ("difference_low", "difference_high", "p_low", "p_high")
"""The columns of `missing bounds` and of `optional=bounds`."""

MARGIN = ("margin", "p_not_worse", "p_not_better")
"""The columns of `margin`."""


LOOKS = ("looks", "e_value", "boundary")
"""The columns of `anytime` and `planned`."""


def own_columns(bounds: bool, how: p.Testing) -> tuple[Column, ...]:
    """The columns; those of bounds, of a margin and of looks are there where they were asked for."""
    unasked = {
        *(() if bounds else BOUNDS),
        *(() if how.margin is not None else MARGIN),
        *(() if how.looks is not None else LOOKS),
    }
    return tuple(column for column in COLUMNS if column.name not in unasked)


# === tables of compare against ========================================================================================
# A table for each measure and test set: the systems in the order of their values, with the system that all are compared
# with at its place among them. Data keep one row per pair.

SAID_OF_IT = "compared against"
"""The verdict on the system itself."""

IN_TITLES = frozenset({"test_set", "measure", "system_b", "value_b"})
"""The columns that say the same in every row of a section."""

HEADINGS = {"system_a": "system", "value_a": "value"}


def sections(table: Table, lowest_first: Collection[tuple[Cell, Cell]]) -> tuple[TableSection, ...]:
    """The rows by measure and test set, best first; where lower values are better of those `lowest_first`."""
    names = [column.name for column in table.columns]
    place = {name: names.index(name) for name in ("test_set", "measure", "system_a", "system_b", "value_a", "value_b")}
    together: dict[tuple[Cell, Cell], list[tuple[Cell, ...]]] = {}
    for row in table.rows:
        together.setdefault((row[place["test_set"]], row[place["measure"]]), []).append(row)

    def order(row: tuple[Cell, ...]) -> tuple[bool, float, str]:
        key, value = (row[place["test_set"]], row[place["measure"]]), row[place["value_a"]]
        sign = 1 if key in lowest_first else -1
        return value is None, sign * float(value or 0), str(row[place["system_a"]])

    found = []
    for (test_set, measure), rows in together.items():
        it = dict.fromkeys(names) | {
            "test_set": test_set,
            "measure": measure,
            "system_a": rows[0][place["system_b"]],
            "value_a": rows[0][place["value_b"]],
            "verdict": SAID_OF_IT,
        }
        ordered = sorted([*rows, tuple(it[name] for name in names)], key=order)
        title = f"{measure} on {test_set}" if len(together) > 1 else ""
        found.append(TableSection(title, tuple(ordered)))
    return tuple(found)


# === comparisons that have the same observations ======================================================================
# Verdicts, bounds, margins and intervals of their pairs, the rows that show them, and the notes on them.


class Batch(Struct, frozen=True, eq=False):
    """Comparisons of one test set and what was found of their pairs. Without margin or intervals there are none."""

    comparisons: Sequence[Comparison]
    bounds: Bounds
    margins: Margins
    limits: Intervals

    @property
    def resamples(self) -> int:
        """The most resamples that an interval took."""
        return max((interval.resamples for interval in self.limits.values()), default=0)

    @property
    def enough(self) -> list[int | None]:
        """About how many shuffles would decide each pair that is undecided."""
        keys = ((one.statistic.label, pair) for one in self.comparisons for pair in one.pairs)
        return [(self.margins[key] if key in self.margins else self.bounds.decided[key]).enough for key in keys]

    def add_notes(self, tested: TestedPairs) -> None:
        """Adds the pairs, and what there is to note of them."""
        tested.noted.extend(self.bounds.notes)
        for comparison in self.comparisons:
            tested.add(comparison, self.bounds.decided, margin_notes(comparison, self.margins))
            tested.look_at_pairs(comparison, self.bounds.decided)
            tested.noted.extend(look_notes(comparison, self.bounds.decided))
            if self.limits:
                tested.noted.extend(comparison_interval_notes(comparison, self.limits))

    def add_rows(self, rows: TableRows) -> None:
        """Adds one row per pair."""
        for comparison in self.comparisons:
            of_all = _of_all(comparison)
            test_statistics = statistics(comparison)
            differing = [None] * len(comparison.pairs) if comparison.replicates else comparison.differing
            beside = zip(_units(comparison), differing, comparison.correlations, comparison.inflations, strict=True)
            for pair, (units, unlike, r, inflated) in zip(comparison.pairs, beside, strict=True):
                rows.add(
                    **of_all,
                    **_of_systems(comparison, pair),
                    **self._of_verdict(comparison, pair, test_statistics.get(pair)),
                    **(self._of_bounds(comparison, pair) if BOUNDS[0] in rows.names else {}),
                    **_of_looks(self.bounds.decided[comparison.statistic.label, pair].outcome.looked),
                    units=units,
                    differing=unlike,
                    correlation=r,
                    inflation=inflated,
                )

    def _of_verdict(self, comparison: Comparison, pair: Pair, statistic: float | None) -> dict[str, Cell]:
        """The cells of the test and of the interval; the statistic is that of the outcome where None is given."""
        key = comparison.statistic.label, pair
        decided, margin, interval = self.bounds.decided[key], self.margins.get(key), self.limits.get(key)
        outcome = decided.outcome
        statistic = outcome.statistic if statistic is None else statistic
        return {
            "method": INTERVAL if margin is not None and margin.by_interval else outcome.method,
            "shuffles": outcome.shuffles,
            "nge": outcome.nge,
            "p": outcome.p,
            "p_adjusted": decided.adjusted,
            "confidence": decided.confidence,
            "verdict": decided.verdict if margin is None else margin.verdict,
            "ci_low": None if interval is None else interval.low,
            "ci_high": None if interval is None else interval.high,
            "statistic": statistic if statistic is None or isfinite(statistic) else None,
            **({} if margin is None else _of_margin(margin_of(comparison, pair), margin)),
        }

    def _of_bounds(self, comparison: Comparison, pair: Pair) -> dict[str, Cell]:
        bounds = self.bounds.of_pairs.get((comparison.statistic.label, pair))
        return {name: None if bounds is None else getattr(bounds, name) for name in BOUNDS}


def batch_of(
    comparisons: Sequence[Comparison], facts: Facts, workforce: Workforce, pairs: int, with_intervals: bool
) -> Batch:
    """What is found of comparisons of one test set. The statement makes verdicts on `pairs` in all.

    Raises QueryError where a test refuses a pair.
    """
    decide = decide_looks if comparisons and comparisons[0].how.looks is not None else decisions
    bounds = bounds_of(comparisons, decide(comparisons, workforce, pairs), facts, workforce, pairs)
    if comparisons and comparisons[0].how.margin is not None:
        limits = margin_intervals(comparisons, bounds.decided, workforce)
        return Batch(comparisons, bounds, decide_margins(comparisons, bounds.decided, limits, workforce, pairs), limits)
    return Batch(comparisons, bounds, {}, intervals(comparisons, workforce) if with_intervals else {})


def _of_looks(looked: Looked | None) -> dict[str, Cell]:
    """The cells of `anytime` and `planned`, none where the question is asked once."""
    return {} if looked is None else {name: getattr(looked, name) for name in LOOKS}


def _of_all(comparison: Comparison) -> dict[str, Cell]:
    """The cells that all pairs of a comparison have alike."""
    how, entry = comparison.how, comparison.entry
    return {
        "test_set": entry.test_set.name,
        "task": entry.kind.name,
        "measure": comparison.statistic.label,
        "test": how.test_name,
        "sides": how.sides,
        "level": float(how.level),
        "documents": comparison.observations.documents,
        "seed": how.seed,
    }


def _of_systems(comparison: Comparison, pair: Pair) -> dict[str, Cell]:
    """The cells of the two systems."""
    (a, b), systems = pair, comparison.entry.systems
    return {
        "system_a": systems[a].name,
        "system_b": systems[b].name,
        "value_a": comparison.values[a],
        "value_b": comparison.values[b],
        "difference": comparison.difference(a, b),
    }


def _units(comparison: Comparison) -> list[int]:
    """How many units each pair has: where whole runs change sides, its runs."""
    if runs := comparison.replicates:
        return [len(runs[a]) + len(runs[b]) for a, b in comparison.pairs]
    return [comparison.observations.units] * len(comparison.pairs)


def _of_margin(wanted: float, margin: Margined) -> dict[str, Cell]:
    return dict(zip(MARGIN, (wanted, margin.not_worse, margin.not_better), strict=True))


# === the statement ====================================================================================================


class ComparePlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]
    how: p.Testing
    over: p.OverTestSets | None = None
    """How the test sets are taken together, if they are."""
    with_intervals: bool = True
    """Whether each difference has its interval beside it."""

    @property
    def against(self) -> p.System | None:
        """The system that all others are compared with; None where every pair is compared."""
        return self.entries[0].against

    @property
    def over_labellings(self) -> bool:
        """Whether bounds are asked for over every labelling of the optional documents."""
        return any(is_bounded(statistic) for entry in self.entries for statistic in entry.statistics)

    @property
    def compared_entries(self) -> tuple[p.Entry, ...]:
        """An entry for each comparison of all systems by all measures."""
        return self.entries[:1] if self.over is not None else self.entries

    @property
    def all_pairs(self) -> bool:
        """Whether all pairs of more than two systems are shown as a triangle of p-values."""
        every_one = self.against is None and self.how.sides == "two-sided" and self.how.margin is None
        return every_one and any(len(entry.systems) > 2 for entry in self.entries)


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(written: n.Compare, scope: Scope) -> ComparePlan:
    statement, over = spelled_out(written, scope)
    entries = holding_against(statement, tested_entries(statement, statement.test_sets, scope), scope)
    for entry in entries:
        check_two("compare", entry.systems, entry, statement)
    if statement.missing == "bounds":
        entries = tuple(replace(entry, also=entry.kind.completed_from) for entry in entries)
    if statement.over:
        entries = averaged_entries(statement, entries)
    how = comparing(statement, entries, scope)
    if how.looks is not None:
        # Documents have an order then, however many there are. Intervals hold for one look.
        entries = tuple(replace(entry, units=replace(entry.units, listed=True)) for entry in entries)
    return ComparePlan(to_text(written), entries, how, over, with_intervals=how.looks is None)


def compile(plan: ComparePlan) -> Queries:
    how = plan.how
    return tuple(
        query
        for entry in plan.entries
        for query in (*comparison_queries(how, entry, plan.over is not None), *growth_queries(how, entry))
    )


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ComparePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per pair of systems, measure and test set."""
    with_bounds = plan.how.missing == "bounds" or plan.over_labellings
    all_pairs, entries = plan.all_pairs, plan.compared_entries
    own = own_columns(with_bounds, plan.how)
    rows, tested = TableRows.of(own), TestedPairs.by(plan.how)
    pairs = count_of_pairs(entries) * (1 if plan.how.margin is None else FAMILIES)
    margins: Margins = {}
    enough: list[int | None] = []
    resamples = 0
    for comparisons in batches(plan.how, plan.entries, facts, plan.over):
        batch = batch_of(comparisons, facts, workforce, pairs, plan.with_intervals)
        batch.add_rows(rows)
        batch.add_notes(tested)
        margins |= batch.margins
        enough += batch.enough
        resamples = max(resamples, batch.resamples)
    in_sections = plan.against is not None and len(set(rows.cells("system_a"))) > 1
    table = rows.table(_columns(plan, own, rows, in_sections))
    margin, level = plan.how.margin, plan.how.level
    how = "" if margin is None else margin_caption(margin, level, plan.entries, margins)
    verdicts = partial(conventions.of_pairs, rows)
    measures = ", ".join(dict.fromkeys(str(measure) for measure in table.column("measure")))
    where = taken_together_on(plan.entries, plan.over)
    taken = where if plan.over is not None else ""
    return result_of(
        plan.text,
        plan.entries,
        f"{measures} {where}",
        table,
        how=how,
        tested=replace(tested, resamples=resamples if plan.with_intervals and not all_pairs else None),
        notes=(
            *(plan.over.notes if plan.over is not None else ()),
            *conventions.notes(entries, verdicts, "verdict", "verdicts"),
            *tested.notes,
            # Bounds decide, or looks, and not shuffles.
            *(() if with_bounds or plan.how.looks else _note_undecided(plan.how, table, enough)),
            *(note for entry in plan.entries for note in _note_looks(plan.how, entry, facts)),
            *contradictions(plan.how, table),
        ),
        triangle=triangle_of(plan, table) if all_pairs else None,
        sections=sections(table, _lowest_first(plan)) if in_sections else (),
        sentence=sentences.of_pairs(table, lower_measures(entries), taken),
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
    headings = {"ci_low": interval_heading(plan.how.interval_level)}
    hidden: set[str] = set()
    spare: dict[str, int] = {}
    if [len(names) for names in pair] == [1, 1]:
        first, second = (names.pop() for names in pair)
        headings |= {"value_a": str(first), "value_b": str(second)}
        hidden = {"system_a", "system_b"}
        spare = dict.fromkeys(("value_a", "value_b"), 0)  # they name the systems
    if in_sections:
        headings, hidden = headings | HEADINGS, set(IN_TITLES)
    shown = {"test_set"} if len(plan.entries) > 1 and plan.over is None else set()
    if any(level is not None for level in rows.cells("p_adjusted")):
        shown.add("p_adjusted")
        spare["p"] = 4  # it is the adjusted one that decides
    if plan.how.confidence_asked or (plan.how.looks is None and _in_doubt(rows)):
        shown.add("confidence")
    if plan.over_labellings and len(set(rows.cells("measure"))) == 1:
        hidden.add("measure")  # it is in the caption, and bounds need the room
    if not plan.with_intervals:
        hidden |= {"ci_low", "ci_high"}
    hidden |= {column for column in (*MARGIN, *LOOKS) if column in rows.names and set(rows.cells(column)) == {None}}
    values = {"value_a", "value_b", "difference", "difference_low", "difference_high", "ci_low", "ci_high", "margin"}
    numbers = unit_of(plan.entries) == "number"
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


def _note_undecided(how: p.Testing, table: Table, enough: Sequence[int | None]) -> Iterator[str]:
    """What would decide the undecided pairs."""
    undecided = table.records_where("verdict", lambda verdict: verdict == "undecided")
    needed = [more for more, said in zip(enough, table.column("verdict"), strict=True) if said == "undecided"]
    for row, more in zip(undecided, needed, strict=True):
        subject = Subject(str(row["test_set"]), str(row["measure"]), f"{row['system_a']} and {row['system_b']}")
        yield undecided_note(how, subject, more)


def _note_looks(how: p.Testing, entry: p.Entry, facts: Facts) -> Iterator[str]:
    """How many looks there may have been at pairs whose documents came with several imports."""
    if how.looks is not None:
        return
    pairs = pairs_of_systems(entry)
    of_parts = [list(looks_so_far(part, pairs, facts)) for part in entry.observed_apart]
    looks = [max(of_pair) for of_pair in zip(*of_parts, strict=True)]
    again = [(number, pair) for number, pair in zip(looks, pairs, strict=True) if number > 1]
    if not again:
        return
    most, (a, b) = max(again)
    names = f"{entry.systems[a].name} and {entry.systems[b].name}" if len(again) == 1 else f"{len(again):,} pairs"
    up_to = "up to " if len({number for number, _ in again}) > 1 else ""
    yield (
        f"{entry.test_set.name}: the {plural(entry.units.noun)} of {names} came with {up_to}{most} imports, so this "
        f"may be look number {most}; who looks after each import finds a difference that is not there more often than "
        f"the level {how.level} says, unless with anytime or planned N"
    )


def weigh(plan: ComparePlan, facts: Facts) -> Iterator[Line]:
    from evalhouse.warehouse.comparing.explanation import explain_tests

    return explain_tests(batches(plan.how, plan.entries, facts, plan.over), plan.how)


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
