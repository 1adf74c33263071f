"""`score`: the values of measures, one row per test set, system and `by` value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from math import fsum
from typing import Any, Literal

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.editing.hints import listing
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.intervals import OwnIntervals, own_intervals
from evalhouse.warehouse.comparing.lacking import (
    documents_by,
    documents_queries,
    missing_notes,
    refuse_lacking,
    unlike,
    unlike_notes,
    whole_notes,
)
from evalhouse.warehouse.comparing.some_runs import averaged_note, check_runs, missing_note_of_runs
from evalhouse.warehouse.comparing.values import Valued, ValueLine, standardize, with_deviations
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.measures import (
    Function,
    OfNumbers,
    OverUnits,
    PrintedFigure,
    Probabilities,
    Ranking,
    Ratio,
    Statistic,
)
from evalhouse.warehouse.measures.averages import MACRO
from evalhouse.warehouse.measures.forms import has_calls
from evalhouse.warehouse.notes import Names, Note, Subject
from evalhouse.warehouse.plans import conventions
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.averages import over_units
from evalhouse.warehouse.plans.conditions import dimension_of, filter_on, kinds_of
from evalhouse.warehouse.plans.entries import Wanted, call_of, check_groups, check_missing, entries_on, refuse_runs
from evalhouse.warehouse.plans.fact_rows import dimensions
from evalhouse.warehouse.plans.groups import spelled_out
from evalhouse.warehouse.plans.labels import (
    Size,
    as_printed,
    headed,
    lower_measures,
    measure_notes,
    missing_caption,
    noun_of,
    of_one_origin,
    on,
    sizes,
    undefined_units,
)
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.plans.testing import check_replicates, taken_together
from evalhouse.warehouse.results import (
    EMPTY,
    Cell,
    CellKind,
    Column,
    Result,
    SideBySide,
    Table,
    TableRows,
    documents_behind,
)
from evalhouse.warehouse.significance.proportions import CLOPPER_PEARSON, WILSON
from evalhouse.warehouse.statements import sentences
from evalhouse.warehouse.statements.score_corrected import (
    CORRECTED_EXECUTOR,
    CorrectedPlan,
    corrected_answer,
    corrected_plan,
    corrected_queries,
    interval_caption,
    interval_cells,
    interval_columns,
    interval_names,
    interval_queries,
    resampled_entries,
    resampling_of,
    score_interval_notes,
)
from evalhouse.warehouse.statements.score_plan import ScorePlan
from evalhouse.warehouse.statements.score_together import answer_together, check_interval, check_together

# === the statement ====================================================================================================

Key = tuple[Cell, ...]


OF_EACH_CLASS = "recall, which is the share of a class that is right, precision or F1"
"""What is asked of single classes."""


# --- resolving --------------------------------------------------------------------------------------------------------


def resolve(written: n.Score, scope: Scope) -> ScorePlan | CorrectedPlan:
    statement, over = spelled_out(written, scope)
    entries = entries_on(statement.test_sets, Wanted.of(statement), scope)
    check_missing(statement, entries)
    if statement.missing == "drop":
        entries = tuple(entry.of_shared() for entry in entries)
    where = filter_on(scope, statement.where, entries)
    by, *_ = (tuple(dimension_of(scope, attribute, kind) for attribute in statement.by) for kind in kinds_of(entries))
    _check_computed(statement, entries, by, where)
    for entry in entries:
        for dimension, attribute in zip(by, statement.by, strict=False):
            check_groups(entry, dimension, "a score", attribute)
    check_replicates(entries, statement.replicates or statement, by, where)
    if statement.over:
        check_together(statement)
        check_interval(statement, entries)
        entries = taken_together(statement, entries)
    first = entries[0].statistics[0]
    order, descending = first.label, not first.measure.lower_is_better
    if statement.order:
        order, descending = _order(statement.order, entries[0], scope)
    if statement.corrected is not None:
        refuse_runs(entries, "a judge is corrected in one run", statement.span, scope)
        return corrected_plan(statement, scope, resampled_entries(statement, entries, scope), where, order, descending)
    return ScorePlan(
        text=to_text(written),
        entries=resampled_entries(statement, entries, scope),
        by=by,
        how=resampling_of(statement, where, scope),
        order=order,
        descending=descending,
        limit=scope.whole(statement.limit, "limit", 1, 10**9),
        interval=statement.interval is not None,
        missing=statement.missing,
        everyone=tuple(_everyone(entry, scope) for entry in entries) if statement.standardized else (),
        over=over,
        averages=_averages(statement, entries, by, scope),
    )


def _averages(
    statement: n.Score, entries: tuple[p.Entry, ...], by: Sequence[p.Dimension], scope: Scope
) -> tuple[p.Entry, ...]:
    """The entries with the averages over units of their measures, where rows are split by unit and show them below."""
    if statement.standardized or statement.over or not any(dimension.of == "unit" for dimension in by):
        return ()
    return tuple(replace(entry, statistics=tuple(_averages_of(entry, scope))) for entry in entries)


def _averages_of(entry: p.Entry, scope: Scope) -> Iterator[Statistic]:
    """The averages over units of the measures that have one."""
    for statistic in entry.statistics:
        node = n.Mean(n.MeasureCall(statistic.measure.name), MACRO)
        with suppress(QueryError):
            average = over_units(node, statistic, entry.kind, scope.known(entry.test_set), scope.catalog)
            if average is not None:
                yield average


def _check_computed(
    statement: n.Score, entries: tuple[p.Entry, ...], by: tuple[p.Dimension, ...], where: p.Filter | None
) -> None:
    """A measure of an order has no value for a part of the documents, and a baseline no confidences or attributes."""
    for entry in entries:
        for statistic, node in zip(entry.statistics, statement.measures, strict=False):
            if by and statistic.of_confidences:
                raise QueryError(f"{statistic.label} cannot be split by {by[0].name}", node.span)
            of_all_units = statistic.over_units is not None or statistic.measure.of_labels
            if of_all_units and any(dimension.of == "unit" for dimension in by):
                wrong = f"{statistic.label} is computed over all units, so it cannot be split by unit"
                otherwise = OF_EACH_CLASS if statistic.measure.of_labels else to_text(call_of(node))
                raise QueryError(wrong, node.span, (f"write {otherwise}",))
        strange = [
            dimension.name for dimension in (*by, *dimensions(where)) if dimension.of in ("confidence", "system")
        ]
        if entry.baselines and strange:
            place = statement.where.span if statement.where else statement.span
            raise QueryError(f"{entry.baselines[0].name} has no {strange[0]}", place)


def _order(node: n.Order, entry: p.Entry, scope: Scope) -> tuple[str, bool]:
    if isinstance(node.by, n.MeasureCall) and node.by.name.casefold() == "system" and not node.by.parameters:
        return "system", node.direction == "desc"
    labels = [statistic.label for statistic in entry.statistics]
    columns = listing([*labels, "system"], "columns")
    try:
        statistic = scope.statistic(node.by, entry.kind, scope.known(entry.test_set))
    except QueryError as error:
        raise QueryError(error.message, node.by.span, columns) from None
    if statistic.label not in labels:
        raise QueryError(f"{statistic.label} is not among the measures asked for", node.by.span, columns)
    best_first = "asc" if statistic.measure.lower_is_better else "desc"
    return statistic.label, (node.direction or best_first) == "desc"


def _everyone(entry: p.Entry, scope: Scope) -> p.Entry:
    """An entry with all systems that have rows, whichever were asked for."""
    if entry.everyone:
        return entry
    if entry.units.made_of is not None:
        # A single run that was named is no system beside the others.
        systems = entry.units.made_of.systems.items()
        known = {name: number for name, number in systems if number not in scope.catalog.models}
    else:
        there = sorted(scope.catalog.systems_with(entry.kind.name, entry.test_set.id))
        known = {scope.catalog.system_names[number]: number for number in there}
    return replace(entry, systems=tuple(p.StoredSystem(number, name) for name, number in known.items()))


# --- compiling --------------------------------------------------------------------------------------------------------


def compile(plan: ScorePlan | CorrectedPlan) -> Queries:
    if isinstance(plan, CorrectedPlan):
        return corrected_queries(plan)
    of_values = tuple(
        query
        for valued in plan.valued()
        for wanted in (valued, *_of_runs(valued), *_of_everyone(plan, valued.entry))
        for query in wanted.queries()
    )
    of_values += tuple(query for valued in plan.valued() for query in documents_queries(valued, plan.missing))
    of_values += tuple(query for entry in plan.averages for query in plan.averaged(entry).queries())
    return (*of_values, *(interval_queries(plan.how, plan.entries) if plan.interval else ()))


def _has_runs(entry: p.Entry) -> bool:
    """Whether systems are averages of runs that have values of their own."""
    return entry.units.averaged is not None and entry.kind.by_document


def _of_runs(valued: Valued) -> tuple[Valued, ...]:
    return (valued.of_runs(),) if _has_runs(valued.entry) else ()


def _of_everyone(plan: ScorePlan, entry: p.Entry) -> tuple[Valued, ...]:
    """The lines of all systems, where they are needed and are not those that were asked for."""
    if not plan.everyone or entry.everyone:
        return ()
    return (Valued(plan.everyone[plan.entries.index(entry)], plan.by, plan.how.where, of="everyone"),)


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ScorePlan | CorrectedPlan, facts: Facts, workforce: Workforce) -> Result:
    """The values of the measures, one row per test set, system and `by` value."""
    if isinstance(plan, CorrectedPlan):
        return corrected_answer(plan, facts)
    if plan.over is not None:
        of_each = replace(plan, over=None, interval=False, limit=None)
        return answer_together(plan, plan.over, answer(of_each, facts, workforce), facts)
    labels, kinds = plan.column_labels(), _kinds(plan)
    replicated = any(_has_runs(entry) for entry in plan.entries)
    rows = TableRows(_names(plan, replicated))
    across = len(plan.entries) > 1 and not plan.interval
    notes = [*_not_comparable(plan, across), *measure_notes(plan.entries)]
    known: list[tuple[str, Size]] = []
    spreads: list[OwnIntervals] = []
    uneven: list[tuple[str, str]] = []
    for valued in plan.valued():
        entry = valued.entry
        of_runs = valued.in_some_runs(facts) if _has_runs(entry) else []
        if plan.missing == "error":
            check_runs(entry, of_runs, plan.missing)
            refuse_lacking(entry, facts)
        lines = _lines(valued, facts)
        counts = {documents_by(entry, line, place) for line in lines for place in range(len(entry.statistics))}
        known += ((entry.test_set.name, Size.of(entry, count)) for count in counts if count)
        notes += [*_note_undefined(entry, lines, plan.by), *_undefined_units(entry, lines)]
        notes += _left_out(entry, lines) if plan.missing is None else ()
        notes += [*averaged_note(entry, of_runs), *missing_note_of_runs(entry, of_runs, plan.missing)]
        notes += missing_notes(valued, plan.missing, facts)
        notes += whole_notes(valued, lines, facts, plan.missing)
        on_unlike = unlike(valued, lines, facts)
        notes += unlike_notes(entry, on_unlike, plan.by)
        # Runs that lack documents make a mean over other ones, too.
        of_other_runs = bool(of_runs) and plan.missing is None and len({line.system for line in lines}) > 1
        unlike_labels = {one.label for one in on_unlike}
        uneven += (
            (entry.test_set.name, shown_as)
            for statistic, shown_as in zip(entry.statistics, labels, strict=False)
            if of_other_runs or statistic.label in unlike_labels
        )
        if plan.interval:
            of_shares = CLOPPER_PEARSON if plan.decides else WILSON
            spreads.append(own_intervals(plan.how, entry, facts, workforce, of_shares))
            notes += score_interval_notes(entry, spreads[-1])
        if plan.standardized:
            everyone = [line for wanted in _of_everyone(plan, entry) for line in wanted.lines(facts)]
            lines, standards = standardize(lines, everyone or lines, plan.by, entry)
            notes += standards
        for line in _order_lines(lines, plan, entry):
            apart = {name: documents_by(entry, line, place) for place, name in enumerate(_documents_apart(plan))}
            rows.add(**_cells(line, entry, replicated), **apart, **_intervals(line, entry, spreads))
    keys = list(zip(rows.cells("system"), *(rows.cells(name) for name in _split(plan)), strict=True))
    kept = _limit_keys(plan, list(dict.fromkeys(keys)))
    shown = set(kept)
    if not plan.by:
        notes += conventions.of_the_best(plan.entries, rows, {test_set for test_set, _ in uneven})
    names = ("system", *(dimension.name for dimension in plan.by))
    counted = _counted(plan, rows) if uneven else "not"
    columns = _columns(plan, labels, kinds, replicated, counted)
    beside = [(documents_behind(label), label) if counted == "apart" else (label,) for label in labels]
    spread = (*(("documents",) if counted == "together" else ()), *(name for names in beside for name in names))
    test_sets = tuple((entry.test_set.name, headed(entry, plan.entries)) for entry in plan.entries)
    side_by_side = SideBySide(names, tuple(kept), "test_set", test_sets, spread)
    unlimited = Table(columns, tuple(rows.rows))
    lower = lower_measures(plan.entries)
    return result_of(
        plan.text,
        plan.entries,
        f"{', '.join(labels)} on {on(plan.entries)}",
        Table(columns, tuple(row for row, key in zip(rows.rows, keys, strict=True) if key in shown)),
        how=_how(plan, known, spreads),
        notes=notes,
        about_measures=False,  # they stand behind the note on what cannot be compared
        summary_table=_summary(plan, rows, labels, kinds, facts),
        side_by_side=side_by_side if across else None,
        uneven=frozenset(uneven),
        sentence=""
        if plan.by or plan.standardized or not of_one_origin(plan.entries)
        else sentences.of_columns(unlimited, labels, lower, uneven=uneven, shown={key[0] for key in kept}),
    )


Counted = Literal["not", "together", "apart"]
"""Whether a screen shows how many documents there are, and whether for each measure by itself."""


def _counted(plan: ScorePlan, rows: TableRows) -> Counted:
    """How the numbers of documents are shown: apart where the measures of a system rest on different ones."""
    names = _documents_apart(plan)
    return "apart" if any(len({row[name] for name in names}) > 1 for row in rows.records()) else "together"


def _columns(
    plan: ScorePlan, labels: Sequence[str], kinds: Sequence[Any], replicated: bool, counted: Counted
) -> tuple[Column, ...]:
    """The columns; `counted` puts the numbers of documents on screen."""
    alone = len(plan.entries) == 1
    values = list(zip(labels, kinds, strict=True))
    apart, noun = bool(_documents_apart(plan)), plural(noun_of(plan.entries))
    headings = conventions.headings(plan.entries[0].statistics, "\n" if alone else " ")
    return (
        Column("test_set", "name", on_screen=not alone),
        Column("task", "text", on_screen=False),
        Column("system", "name"),
        *(Column(dimension.name, "name", _heading(dimension, plan)) for dimension in plan.by),
        Column("documents", "count", noun, on_screen=counted == "together"),
        *(
            column
            for label, kind in values
            for column in (
                *((Column(documents_behind(label), "count", noun, on_screen=counted == "apart"),) if apart else ()),
                Column(label, kind, headings.get(label, "")),
                *(interval_columns(label, kind, plan.how) if plan.interval else ()),
            )
        ),
        *((_count_of_runs(plan, alone),) if replicated else ()),
        *(Column(f"sd({label})", kind, f"sd {label}", alone, spare=1) for label, kind in values if replicated),
        # Where test sets are below one another, it tells figures as printed from computed values in the same column.
        Column("source", "text", on_screen=plan.interval and not of_one_origin(plan.entries)),
    )


def _count_of_runs(plan: ScorePlan, alone: bool) -> Column:
    """The column of how many runs each system has. Where all have as many, the caption says it."""
    if any(of is not None and not of.of_models for of in (entry.units.averaged for entry in plan.entries)):
        return Column("replicates", "count", on_screen=alone, spare=2)
    numbers = {len(many) for entry in plan.entries for many in _runs_of_systems(entry)}
    return Column("runs", "count", on_screen=alone and len(numbers) > 1, spare=2)


def _runs_of_systems(entry: p.Entry) -> Iterator[tuple[int, ...]]:
    runs = entry.units.runs
    return (runs.get(system.id, ()) for system in entry.stored_systems)


def _heading(dimension: p.Dimension, plan: ScorePlan) -> str:
    """What a column of `by` values is called on screen: documents by their noun."""
    return noun_of(plan.entries) if dimension == p.Dimension("document") else dimension.name


def _split(plan: ScorePlan) -> list[str]:
    """What the cells of the `by` values are called among rows."""
    return [f"by {place}" for place in range(len(plan.by))]


def _values(plan: ScorePlan) -> list[str]:
    """What the cells of the measures are called among rows; a measure may be called like any column."""
    return [f"value {place}" for place in range(len(plan.entries[0].statistics))]


def _documents_apart(plan: ScorePlan) -> list[str]:
    """What the cells are called that say on how many documents each of several measures rests, where these have values
    of their own.
    """
    several = len(_values(plan)) > 1 and any(entry.kind.by_measure for entry in plan.entries)
    return [f"documents of {name}" for name in _values(plan)] if several else []


def _names(plan: ScorePlan, replicated: bool) -> list[str]:
    deviations = ["replicates", *(f"sd of {name}" for name in _values(plan))] if replicated else []
    apart = _documents_apart(plan)
    values = [
        cell
        for place, name in enumerate(_values(plan))
        for cell in (*apart[place : place + 1], name, *(interval_names(place) if plan.interval else ()))
    ]
    return ["test_set", "task", "system", *_split(plan), "documents", *values, *deviations, "source"]


def _cells(line: ValueLine, entry: p.Entry, replicated: bool) -> dict[str, Cell]:
    cells: dict[str, Cell] = {
        "test_set": entry.test_set.name,
        "task": entry.kind.name,
        "system": line.system.name,
        "documents": line.documents,
        "source": line.source,
    }
    cells.update((f"by {place}", cell) for place, cell in enumerate(line.by))
    cells.update((f"value {place}", value) for place, value in enumerate(line.values))
    if replicated:
        cells["replicates"] = line.replicates
        deviations = line.deviations or (None,) * len(line.values)
        cells.update((f"sd of value {place}", deviation) for place, deviation in enumerate(deviations))
    return cells


def _intervals(line: ValueLine, entry: p.Entry, spreads: Sequence[OwnIntervals]) -> dict[str, Cell]:
    """The cells of the intervals of a line, where they are asked for; the last spread is that of the entry."""
    cells: dict[str, Cell] = {}
    for place, statistic in enumerate(entry.statistics if spreads else ()):
        cells |= interval_cells(place, spreads[-1].intervals.get((statistic.label, line.system.name)))
    return cells


def _kinds(plan: ScorePlan) -> list[CellKind]:
    """What the values of each statistic are."""
    of_entries = zip(
        *([plan.standardized or unit == "number" for unit in entry.statistic_units] for entry in plan.entries),
        strict=True,
    )
    return ["number" if any(numbers) else "proportion" for numbers in of_entries]


def _how(plan: ScorePlan, known: Sequence[tuple[str, Size]], spreads: Sequence[OwnIntervals]) -> str:
    """How many documents there are, unless rows are split, and what was made of their values."""
    said = []
    if not any(entry.kind.by_document for entry in plan.entries):
        said.append(as_printed(plan.entries))
    elif not plan.by and {test_set for test_set, _ in known} == {entry.test_set.name for entry in plan.entries}:
        said.append(sizes(known))
    if plan.standardized:
        said.append("standard deviations above or below the mean of all systems")
    said += filter(None, [missing_caption(plan.missing, plan.entries)])
    replicates = [entry.units.averaged for entry in plan.entries if entry.units.averaged is not None]
    said += dict.fromkeys(f"averages of the {of.called}" for of in replicates if not of.of_models)
    return "; ".join([*said, *([interval_caption(plan.how, plan.entries, spreads)] if plan.interval else [])])


def _limit_keys(plan: ScorePlan, keys: list[Key]) -> list[Key]:
    """The systems and `by` values in their order over all test sets, as many as are asked for: that they are limited
    together keeps a dash from meaning left out.
    """
    if plan.order == "system":
        keys.sort(key=_by_name)
        keys.sort(key=lambda key: str(key[0]), reverse=plan.descending)
    return keys[: plan.limit]


def _by_name(key: Key) -> list[tuple[bool, str]]:
    return [(cell is None, str(cell)) for cell in key]


def _lines(valued: Valued, facts: Facts) -> Sequence[ValueLine]:
    lines = valued.lines(facts)
    if valued.entry.units.averaged is not None and _has_runs(valued.entry):
        lines = with_deviations(lines, valued.of_runs().lines(facts), valued.by, valued.entry.units.averaged)
    return [*lines, *valued.expected_lines(facts)]


# --- the summary ------------------------------------------------------------------------------------------------------


def _summary(plan: ScorePlan, rows: TableRows, labels: Sequence[str], kinds: Sequence[Any], facts: Facts) -> Table:
    """The means over the systems that share an attribute, or over units, or of standardized values those over the test
    sets.
    """
    means = [Column(label, kind, f"mean {label}") for label, kind in zip(labels, kinds, strict=True)]
    split = [Column(dimension.name, "name", _heading(dimension, plan)) for dimension in plan.by]
    values = _values(plan)
    if plan.standardized and len(plan.entries) > 1:
        return _over_test_sets(plan, rows, split, means)
    if any(dimension.of == "system" for dimension in plan.by):
        names = ("test_set", *_split(plan))
        summary = TableRows([*names, "systems", *values])
        groups = _group_rows(rows.records(), names)
        for key in sorted(groups, key=_by_name):
            of = len({row["system"] for row in groups[key]})
            summary.add(**dict(zip(names, key, strict=True)), systems=of, **_means(groups[key], values))
        where = Column("test_set", "name", on_screen=len(plan.entries) > 1)
        return summary.table((where, *split, Column("systems", "count"), *means)) if summary.rows else EMPTY
    if any(dimension.of == "unit" for dimension in plan.by):
        return _over_units(plan, rows, split, means, facts)
    return EMPTY


def _over_test_sets(plan: ScorePlan, rows: TableRows, split: Sequence[Column], means: Sequence[Column]) -> Table:
    """The means over test sets, the best first; of several origins a mean each, and a column that tells them apart."""
    values, names = _values(plan), ("system", *_split(plan))
    origin_of = {entry.test_set.name: entry.origin for entry in plan.entries}
    apart = (Column("origin", "text"),) if len(set(origin_of.values())) > 1 else ()
    sign = 1 if plan.entries[0].statistics[0].measure.lower_is_better else -1
    summary = TableRows([*(column.name for column in apart), *names, "test_sets", *values])
    for origin in dict.fromkeys(origin_of.values()):
        of_origin = [row for row in rows.records() if origin_of[str(row["test_set"])] == origin]
        ranked = [
            {
                **{column.name: origin for column in apart},
                **dict(zip(names, key, strict=True)),
                "test_sets": len({row["test_set"] for row in members}),
                **_means(members, values),
            }
            for key, members in _group_rows(of_origin, names).items()
        ]
        ranked.sort(key=lambda row: _best_first(row[values[0]], row["system"], sign))
        for row in ranked[: plan.limit]:
            summary.add(**row)
    columns = (*apart, Column("system", "name"), *split, Column("test_sets", "count"), *means)
    return summary.table(columns) if summary.rows else EMPTY


def _over_units(
    plan: ScorePlan, rows: TableRows, split: Sequence[Column], means: Sequence[Column], facts: Facts
) -> Table:
    """The averages over units as `macro` gives them; of what has none, the means of the rows that have a value."""
    averages: dict[Key, dict[str, Cell]] = {}
    for entry in plan.averages:
        for line in plan.averaged(entry).lines(facts):
            key = (entry.test_set.name, line.system.name, *line.by)
            of_entry = zip(entry.statistics, line.values, strict=True)
            averages[key] = {statistic.label: value for statistic, value in of_entry}
    places = dict(zip(plan.column_labels(), _values(plan), strict=True))
    means = [
        replace(column, heading=f"{MACRO} {column.name}")
        if any(column.name in values for values in averages.values())
        else column
        for column in means
    ]
    others = [
        (name, column)
        for name, column, dimension in zip(_split(plan), split, plan.by, strict=True)
        if dimension.of != "unit"
    ]
    names = ("test_set", "system", *(name for name, _ in others))
    summary = TableRows([*names, "units", *_values(plan)])
    for key, members in _group_rows(rows.records(), names).items():
        units = len({tuple(row[name] for name in _split(plan)) for row in members})
        own = {places[label]: value for label, value in averages.get(key, {}).items()}
        summary.add(**dict(zip(names, key, strict=True)), units=units, **(_means(members, _values(plan)) | own))
    where = Column("test_set", "name", on_screen=len(plan.entries) > 1)
    columns = (where, Column("system", "name"), *(column for _, column in others), Column("units", "count"), *means)
    return summary.table(columns) if summary.rows else EMPTY


def _group_rows(rows: Iterable[dict[str, Cell]], names: Sequence[str]) -> dict[Key, list[dict[str, Cell]]]:
    """The rows by their cells of some names."""
    groups: dict[Key, list[dict[str, Cell]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _means(rows: Sequence[dict[str, Cell]], values: Sequence[str]) -> dict[str, Cell]:
    """The mean of each measure over the rows that have a value."""
    means: dict[str, Cell] = {}
    for name in values:
        known = [cell for row in rows if isinstance(cell := row[name], int | float)]
        means[name] = fsum(known) / len(known) if known else None
    return means


def _best_first(mean: Cell, system: Cell, sign: int) -> tuple[bool, float, str]:
    return (mean is None, sign * float(mean or 0), str(system))


# --- order and notes --------------------------------------------------------------------------------------------------


def _order_lines(lines: Sequence[ValueLine], plan: ScorePlan, entry: p.Entry) -> list[ValueLine]:
    """By the ordering column, undefined values last, equals by name."""
    by_name = sorted(lines, key=lambda line: _by_name((line.system.name, *line.by)))
    if plan.order == "system":
        return sorted(by_name, key=lambda line: line.system.name, reverse=plan.descending)
    labels = [statistic.label for statistic in entry.statistics]
    place = labels.index(plan.order) if plan.order in labels else 0
    sign = -1 if plan.descending else 1

    def rank(line: ValueLine) -> tuple[bool, float]:
        value = line.values[place]
        return (value is None, 0.0 if value is None else sign * value)

    return sorted(by_name, key=rank)


def _note_undefined(entry: p.Entry, lines: Sequence[ValueLine], by: Sequence[p.Dimension]) -> list[str]:
    """A note for each statistic that is undefined somewhere: which systems, and why."""
    notes: list[str] = []
    for place, statistic in enumerate(entry.statistics):
        without = sorted({line.system.name for line in lines if line.values[place] is None})
        if not without:
            continue
        where = f" for some {', '.join(dimension.name for dimension in by)}" if by else ""
        subject = Subject(entry.test_set.name, statistic.label)
        notes.append(Note(subject, "undefined for ", Names(tuple(without)), f"{where} ({_why(statistic)})"))
    there = {line.system.name for line in lines}
    missing = [system.name for system in entry.systems if system.name not in there]
    if missing:
        why = "; they have no list for a judged topic" if entry.kind.of_lists else ""
        labels = [statistic.label for statistic in entry.statistics]
        what = " or ".join(labels) if entry.kind.by_measure and labels else "rows"
        notes.append(Note(Subject(entry.test_set.name), f"no {what} for ", Names(tuple(missing)), why))
    return notes


def _not_comparable(plan: ScorePlan, across: bool) -> list[str]:
    """A note where values of several origins stand in one table, which its order does not mix."""
    if of_one_origin(plan.entries):
        return []
    first = plan.entries[0].test_set.name
    order = f"; side by side, systems are in the order of {first}" if across and plan.order != "system" else ""
    return [f"values of different origin cannot be compared with each other{order}"]


def _left_out(entry: p.Entry, lines: Sequence[ValueLine]) -> list[str]:
    """A note for each mean over documents that leaves some documents out."""
    notes: list[str] = []
    for place, statistic in enumerate(entry.statistics):
        counts: dict[str, int] = {}
        for line in lines:
            if line.left_out and line.left_out[place]:
                counts[line.system.name] = counts.get(line.system.name, 0) + line.left_out[place]
        if counts:
            names = tuple(system.name for system in entry.systems if system.name in counts)
            listed = Names(names, tuple(counts[name] for name in names))
            without = f"{plural(entry.units.noun)} without a value are left out: "
            notes.append(Note(Subject(entry.test_set.name, statistic.label), without, listed))
    return notes


def _undefined_units(entry: p.Entry, lines: Sequence[ValueLine]) -> Iterator[str]:
    """A note for each average over units that counts some as 0."""
    for place, statistic in enumerate(entry.statistics):
        counts: dict[str, int] = {}
        for line in lines:
            if line.undefined:
                counts[line.system.name] = counts.get(line.system.name, 0) + line.undefined[place]
        in_order = {system.name: counts[system.name] for system in entry.systems if system.name in counts}
        yield from undefined_units(statistic, entry.test_set.name, in_order)


def _why(statistic: Statistic) -> str:
    """Why a value is undefined, as far as its measure shows."""
    for parameter in statistic.measure.parameters:
        if parameter.up_to:
            return f"fewer {parameter.up_to} than {parameter.name}"
    match statistic.computation:
        case PrintedFigure():
            return "not printed"
        case OfNumbers():
            return "the numbers do not vary"
        case Probabilities():
            return "a decision has no confidence between 0 and 1"
        case Ranking():
            return "a decision has no confidence, or the documents are all relevant or all nonrelevant"
        case OverUnits():
            return "no unit counts, or a count it needs was not loaded"
        case Function(expression):
            roots = "takes an impossible root or logarithm, " if has_calls(expression) else ""
            defined = f"; {statistic.defined_as} has a value there" if statistic.defined_as else ""
            return f"it divides by 0, {roots}or a count it needs was not loaded{defined}"
        case Ratio(denominator=denominator):
            under = " + ".join(column for column, _ in denominator)
            return f"{under} is 0, or a count it needs was not loaded"


def executor(plan: ScorePlan | CorrectedPlan) -> str:
    """How values are computed, for `explain`."""
    if isinstance(plan, CorrectedPlan):
        return CORRECTED_EXECUTOR
    return "sums in the database, then values from the sums, each rounded once"


SCORE = Statement(
    node=n.Score,
    usage=Usage(
        "score MEASURE, …",
        "values of measures, one row per system",
        "score recall, precision, F for all on TST3",
        of_rows="""\
>>> [(row["system"], row["accuracy"]) for row in eh.score(rows, "accuracy")]  # doctest: +ELLIPSIS
[('new', 0.75), ('base', 0.666...)]
""",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    executor=executor,
)
