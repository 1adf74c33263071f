"""`curve`: measures at every threshold of confidence, bands that hold at all of them, the best threshold, and areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.query import plan as p
from warehouse.query.answering import result_of
from warehouse.query.compile.fact_rows import dimensions
from warehouse.query.engine import Workforce
from warehouse.query.labels import Size, on, sizes, some
from warehouse.query.path import Facts, Line, Queries, Statement, Usage
from warehouse.query.resolving.conditions import filter_of
from warehouse.query.resolving.entries import Wanted, entries_on
from warehouse.query.resolving.names import Scope
from warehouse.query.table_rows import TableRows
from warehouse.results import Result
from warehouse.statements.curve_notes import notes_of, said_of_areas
from warehouse.statements.curve_plan import Curved, CurvePlan
from warehouse.statements.curve_rows import (
    CELLS,
    SUMMARY,
    SystemRows,
    add_guesses,
    add_system,
    data_columns,
    section,
    summarize,
    summary_columns_of,
)
from warehouse.tasks import FILTERING
from warehouse.tasks.observed import plural

if TYPE_CHECKING:
    from warehouse.query.comparison.curving import AreaTests

RESAMPLES = 1000
"""How many resamples are drawn by default."""

MOST_RESAMPLES = 20_000

MOST_ROWS = 1_000_000

# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Curve, scope: Scope) -> CurvePlan:
    if statement.task is not None and scope.task(statement.task) is not FILTERING:
        raise QueryError(
            f"curve needs {FILTERING.name}: {statement.task.text} has no confidences to threshold",
            statement.task.span,
            (f"add of {FILTERING.name}",),
        )
    utility = _utility(statement, scope)
    measures = statement.measures if utility is None else (*statement.measures, utility)
    task = statement.task or n.Name(FILTERING.name, span=statement.span)
    entries = entries_on(statement.test_sets, Wanted(measures, task, statement.systems, statement.span), scope)
    for statistic, node in zip(entries[0].statistics, statement.measures, strict=False):
        if statistic.ordered:
            raise QueryError(
                f"{statistic.label} describes the whole curve and has no value at a threshold",
                node.span,
                ("the summary of every curve shows it",),
            )
        if statistic.averaged:
            said = "is taken document by document, where a threshold says next to nothing"
            raise QueryError(f"{statistic.label} {said}", node.span, (f"write {statistic.measure.name}",))
    where = filter_of(scope, statement.where, entries[0].task)
    if any(dimension.of == "confidence" for dimension in dimensions(where)):
        place = statement.where.span if statement.where else statement.span
        raise QueryError("curve already goes through all thresholds, so confidence cannot be a condition", place)
    resamples = scope.whole(statement.shuffles, "resamples", 20, MOST_RESAMPLES)
    seed = scope.whole(statement.seed, "seed", 0, 2**63 - 1)
    return CurvePlan(
        text=to_text(statement),
        entries=entries,
        where=where,
        chosen=0 if utility is None else len(entries[0].statistics) - 1,
        resamples=resamples or RESAMPLES,
        seed=p.DEFAULT_SEED if seed is None else seed,
        level=scope.share(statement.level, "level", p.DEFAULT_LEVEL),
        limit=scope.whole(statement.limit, "limit", 1, MOST_ROWS),
    )


def _utility(statement: n.Curve, scope: Scope) -> n.MeasureCall | None:
    """The utility that is asked for, as a measure; values that are left out are 0."""
    if not statement.utility:
        return None
    if len(statement.utility) > 4:
        raise QueryError("a utility has at most four values, for a, b, c and d", statement.utility[4].span)
    first = statement.measures[0]
    call = first if isinstance(first, n.MeasureCall) else first.measure
    counted_so = [argument for argument in call.parameters if argument.name.casefold() == "optional"]
    worths = [scope.number(node, Decimal(0)) for node in statement.utility]
    worths += [Decimal(0)] * (4 - len(worths))
    arguments = [
        n.Argument(cell, n.Number(worth, span=statement.utility[min(place, len(statement.utility) - 1)].span))
        for place, (cell, worth) in enumerate(zip(CELLS, worths, strict=False))
    ]
    return n.MeasureCall("utility", (*arguments, *counted_so), span=statement.utility[0].span)


def compile(plan: CurvePlan) -> Queries:
    from warehouse.query.comparison.curving import curve_queries

    return tuple(query for entry in plan.entries for query in curve_queries(entry, plan.where))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: CurvePlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per system and threshold; the summary has one row per system."""
    from warehouse.query.comparison.curving import labelled
    from warehouse.query.comparison.intervals import percent

    columns = data_columns(plan)
    rows, summary = TableRows.of(columns), TableRows(SUMMARY)
    notes, p_values = list[str](), list[float]()
    known: list[tuple[str, Size]] = []
    parts: list[SystemRows] = []
    for place, entry in enumerate(plan.entries):
        found = list(_curved(plan, entry, facts, workforce, place))
        documents = max((len(one.system.document) for one in found), default=0) or labelled(entry, facts)
        known.append((entry.test_set.name, Size.of(entry, documents)))
        for one in found:
            begun = len(rows.rows)
            shown = add_system(plan, one, rows)
            if len(rows.rows) > MOST_ROWS:
                raise QueryError(f"that would be more than {MOST_ROWS:,} rows", hints=("write limit 1000",))
            parts.append(SystemRows(one, begun, shown))
            summarize(plan, one, summary)
        parts += [SystemRows(None, len(rows.rows), None)] if entry.baselines else []
        add_guesses(plan, entry, facts, rows, summary)
        tests = _tests(plan, found, workforce)
        p_values += [test.p for test in tests.tests]
        notes += [*notes_of(plan, entry, found), *said_of_areas(plan, entry, tests)]
    if not rows.rows:
        raise QueryError(_why_empty(plan))
    how = (
        f"{sizes(known)}; {percent(plan.level)} bands over all thresholds, {plan.resamples:,} resamples, "
        f"seed {plan.seed}"
    )
    labels = ", ".join(statistic.label for statistic in plan.statistics)
    table = rows.table(columns)
    return result_of(
        plan.text,
        plan.entries,
        f"{labels} at every threshold on {on(plan.entries)}",
        table,
        how=how,
        deciding=(f"resamples {plan.resamples}", f"seed {plan.seed}", f"level {plan.level}"),
        p_values=p_values,
        notes=notes,
        summary_table=summary.table(summary_columns_of(plan, any(part.has_thresholds for part in parts))),
        sections=section(plan, table, parts),
    )


def _why_empty(plan: CurvePlan) -> str:
    if plan.where is not None:
        return "no decisions meet the condition"
    names = [entry.test_set.name for entry in plan.entries]
    have = "have" if len(names) > 1 else "has"
    return f"{some(names)} {have} no key labels for the decisions of these systems, so they cannot be judged"


def _curved(plan: CurvePlan, entry: p.Entry, facts: Facts, workforce: Workforce, place: int) -> Iterator[Curved]:
    from warehouse.query.comparison.curving import CurveRequest, curve_measure, curves_of, decided
    from warehouse.significance.draws import Draws

    measures = [curve_measure(statistic) for statistic in entry.statistics]
    draws = Draws(plan.resamples, plan.seed, entry.test_set.stream)
    request = CurveRequest(measures, plan.chosen, draws, float(plan.level), plan.optional)
    systems = decided(entry, facts)
    found = workforce.part(place, len(plan.entries)).for_each(partial(curves_of, request), systems)
    for system, (curves, roc) in zip(systems, found, strict=True):
        yield Curved(entry, system, curves, roc)


def _tests(plan: CurvePlan, found: Sequence[Curved], workforce: Workforce) -> AreaTests:
    from warehouse.query.comparison.curving import area_tests

    return area_tests([one.system for one in found], plan.optional, workforce)


def subject(entry: p.Entry) -> str:
    names = ", ".join(system.name for system in entry.systems)
    labels = ", ".join(statistic.label for statistic in entry.statistics)
    return f"{labels} at every threshold of {names} on {entry.test_set.name}"


def weigh(plan: CurvePlan, facts: Facts) -> Iterator[Line]:
    """How bands and areas would be computed."""
    from warehouse.query.comparison.curving import decided
    from warehouse.significance.curves.thresholds import GRID

    for entry in plan.entries:
        for system in decided(entry, facts):
            name = f"{system.system.name} on {entry.test_set.name}"
            if system.lacking:
                yield "thresholds", f"{name}: none, its decisions are a single point"
                continue
            many = system.thresholds.at.size
            at = f", resampled at about {GRID}" if many >= GRID else ""
            yield "thresholds", f"{name}: {many:,}{at}"
    units = plural(plan.entries[0].units.noun)
    yield "bands", f"sup-t over thresholds, {plan.resamples:,} resamples of {units}; of shares Wilson's interval"
    yield "best", f"{plan.best_for.label}; its interval comes from the best thresholds of the resamples"
    yield "areas", "ROC by DeLong, DeLong and Clarke-Pearson 1988; precision and recall by Davis and Goadrich 2006"
    yield "seed", str(plan.seed)


CURVE = Statement(
    node=n.Curve,
    usage=Usage(
        "curve MEASURE, …",
        "measures at every confidence threshold with bands, the best threshold, and areas",
        "curve precision, recall of filtering for GE, UMASS on TST3 utility 2, -1",
    ),
    of_one_table=False,
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
    weigh=weigh,
)
