"""`project`: measures expected at other generalities, if recall and fallout stay as measured, and where one system
overtakes another.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.comparing.observations import observation_queries
from evalhouse.warehouse.filtering.unlabelled import DRAWS
from evalhouse.warehouse.kinds import FILTERING, KINDS
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.measures import Measure, Statistic, find_measure, settle
from evalhouse.warehouse.measures.filtering import COLUMNS
from evalhouse.warehouse.measures.forms import LinearForm, ratio
from evalhouse.warehouse.measures.measure import SHARE
from evalhouse.warehouse.measures.values import printed_measure
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.conditions import filter_of
from evalhouse.warehouse.plans.entries import Wanted, entry_on, refuse_runs
from evalhouse.warehouse.plans.labels import known_size, some, with_keys
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.results import EMPTY, Column, Result, Table, TableRows
from evalhouse.warehouse.statements.projection import (
    Projection,
    ProjectPlan,
    assumption,
    formula_of,
    is_sum,
    projection,
    stream_of,
    subject,
)

_GENERALITY = Measure(
    "generality",
    FILTERING.name,
    "(a + c + x + y) / n",
    "Lewis and Tong 1992, (4'')",
    lambda: ratio(LinearForm.of("a", "c", "x", "y"), LinearForm.of(*COLUMNS)),
    within=SHARE,
)


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Project, scope: Scope) -> ProjectPlan:
    source = scope.test_set(statement.source, statement.source)
    task = statement.task
    if task is None and scope.catalog.has_rows(FILTERING.name, source.id):
        # Only measures of filtering follow from the generality, and others may have their names.
        task = n.Name(FILTERING.name, span=statement.span)
    wanted = replace(Wanted.of(statement), task=task)
    entry = entry_on(wanted, scope, source, statement.source)
    refuse_runs((entry,), "a projection begins with the decisions of one run", wanted.span, scope)
    for statistic, node in zip(entry.statistics, statement.measures, strict=False):
        _check_projectable(statistic, entry, node)
    exponent = scope.number(statement.exponent, Decimal(0))
    if statement.exponent is not None and not -10 <= exponent <= 10:
        raise QueryError(f"the exponent is a number from -10 to 10, not {exponent}", statement.exponent.span)
    where = filter_of(scope, statement.where, entry.kind)
    stream = stream_of(statement, entry, where, scope)
    if stream is not None:
        entry = replace(entry, systems=stream.source.systems)
    return ProjectPlan(
        text=to_text(statement),
        entry=entry,
        generalities=tuple(_generality(scope, item) for item in statement.generalities),
        exponent=exponent,
        where=where,
        needed=tuple(
            (_needed_statistic(entry, of, "recall"), _needed_statistic(entry, of, "fallout")) for of in entry.statistics
        ),
        generality=settle(_GENERALITY, {}),
        place=statement.source.span,
        stream=stream,
    )


def _check_projectable(statistic: Statistic, entry: p.Entry, node: n.Node) -> None:
    of = statistic.printed_of or entry.kind.name
    if KINDS[of].has_key and formula_of(statistic) is not None:
        return
    hint = (
        "what follows from recall, fallout and generality can, whatever the number of documents is: precision, F, MCC, "
        "accuracy, utility and others of filtering"
    )
    raise QueryError(f"{statistic.label} of {entry.kind.name} cannot be projected", node.span, (hint,))


def _generality(scope: Scope, node: n.Number | n.Variable) -> Decimal:
    """A generality to project to. At 0 and 1 some measures are undefined, but not all."""
    number = scope.number(node, Decimal(0))
    return number if number in (0, 1) else scope.share(node, "generality", Decimal(0))


def _needed_statistic(entry: p.Entry, statistic: Statistic, name: str) -> Statistic:
    """Recall or fallout, counted as a measure counts optional documents."""
    if not entry.kind.by_document:
        return settle(printed_measure(name, FILTERING.name, name), {})
    measure = find_measure(name, FILTERING.name)
    if measure is None:
        raise ValueError(f"filtering has no {name}")
    return settle(measure, {"optional": statistic.settings.get("optional", "credit")})


def compile(plan: ProjectPlan) -> Queries:
    of_stream = () if plan.stream is None else plan.stream.queries
    queries = (*plan.valued.queries(), Query("key", scores.key_totals(plan.entry)), *of_stream)
    if plan.resampled is None:
        return queries
    return (*queries, *observation_queries(p.Testing.plain(plan.where), plan.resampled))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ProjectPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per measure, system and generality; the summary has one row per measure and pair. Raises QueryError where
    the test set has no key or no system has recall and fallout, and for a stream that has a key.
    """
    entry, known = plan.entry, projection(plan, facts)
    labels = ", ".join(statistic.label for statistic in entry.statistics)
    size = known_size(plan.entries, plan.where) if entry.kind.by_document else ""
    how = "; ".join(filter(None, (size, _interval_note(plan))))
    stream = plan.stream
    to = "other generalities" if stream is None else f"the estimated generality of {stream.entry.test_set.name}"
    start = f"{entry.test_set.name} (generality {known.start:.4f})"
    caption = f"{labels} projected from {start} to {to}, assuming {assumption(plan)}"
    table, undefined = _rows(plan, known)
    summary, crossed = _crossings(plan, known) if len(entry.systems) > 1 else (EMPTY, ())
    without = [
        system.name
        for system in entry.systems
        if any(system.name not in shares.measured for shares in known.shares.values())
    ]
    of = entry.units.noun
    off = (
        f"at generality {known.start:.4f} the projections of {some(names)} differ from the measured values, which "
        f"count an optional {of} as each system decided it, but the generality counts every optional {of} as relevant"
        for names in (known.off_their_lines,)
        if names
    )
    notes = [*off, *([f"recall or fallout is unknown for {some(without)}"] if without else []), *undefined, *crossed]
    return result_of(
        plan.text,
        with_keys(plan.entries),
        caption,
        table,
        how=how,
        notes=(*_sums(plan), *known.notes, *notes),
        about_measures=False,
        summary_table=summary,
    )


def _interval_note(plan: ProjectPlan) -> str:
    """How intervals were computed, if there are any."""
    if plan.resampled is None:
        return ""
    over = plural(plan.entry.units.exchange_noun)
    return f"95% CI by the Bayesian bootstrap over {over} with Jeffreys' prior, {DRAWS:,} draws, seed {p.DEFAULT_SEED}"


def _sums(plan: ProjectPlan) -> tuple[str, ...]:
    """How sums over documents are projected."""
    sums = [statistic.label for statistic in plan.entry.statistics if is_sum(statistic)]
    noun = plan.entry.units.noun
    return (f"{some(sums)} is for one {noun}: the sum over {plural(noun)}, divided by their number",) if sums else ()


def _rows(plan: ProjectPlan, known: Projection) -> tuple[Table, tuple[str, ...]]:
    """The rows, and notes on where measures are undefined."""
    kind, drawn, estimated = plan.entry.unit, plan.resampled is not None, plan.stream is not None
    columns = (
        Column("test_set", "name", on_screen=False),
        Column("measure", "name", on_screen=len(plan.entry.statistics) > 1),
        Column("system", "name"),
        Column("generality_from", "number", on_screen=False),
        Column("estimator", "text", on_screen=estimated),
        Column("generality_to", "number", "generality", spare=1),
        Column("generality_low", "number", "95% CI", on_screen=estimated, spare=2),
        Column("generality_high", "number", on_screen=estimated, upper=True),
        Column("assumption", "text", on_screen=False),
        Column("value_from", kind, "measured"),
        Column("value", kind, "projected"),
        Column("ci_low", kind, "95% CI", on_screen=drawn),
        Column("ci_high", kind, on_screen=drawn, upper=True),
    )
    rows = TableRows.of(columns)
    undefined: dict[tuple[str, float], list[str]] = {}
    for statistic in plan.entry.statistics:
        for system in plan.entry.systems:
            for target in known.targets(statistic, system.name):
                if target.undefined and target.generality is not None:
                    undefined.setdefault((statistic.label, target.generality), []).append(system.name)
                rows.add(
                    test_set=plan.entry.test_set.name,
                    measure=statistic.label,
                    system=system.name,
                    generality_from=known.start,
                    estimator=target.estimator,
                    generality_to=target.generality,
                    generality_low=target.generality_limits[0],
                    generality_high=target.generality_limits[1],
                    assumption=assumption(plan),
                    value_from=known.measured.get((system.name, statistic.label)),
                    value=target.value,
                    ci_low=target.limits[0],
                    ci_high=target.limits[1],
                )
    notes = (
        f"{label} is undefined at generality {generality:.4g} for {some(names)}"
        for (label, generality), names in undefined.items()
    )
    return rows.table(columns), tuple(notes)


def _crossings(plan: ProjectPlan, known: Projection) -> tuple[Table, tuple[str, ...]]:
    """At which generality the second system of each pair overtakes the first, or is overtaken; and notes on pairs that
    cross more than once.
    """
    drawn = plan.resampled is not None
    columns = (
        Column("measure", "name", on_screen=len(plan.entry.statistics) > 1),
        Column("system_a", "name", "A"),
        Column("system_b", "name", "B"),
        Column("crossing", "number"),
        Column("crossing_low", "number", "95% CI", on_screen=drawn),
        Column("crossing_high", "number", on_screen=drawn, upper=True),
        Column("below", "name", "better below"),
        Column("above", "name", "better above"),
        Column("crossings", "count", on_screen=False),
    )
    rows = TableRows.of(columns)
    notes: list[str] = []
    for statistic in plan.entry.statistics:
        for first, second, between in known.undecided(statistic):
            found = known.crossings(statistic, first, second)
            best_first = -1 if statistic.measure.lower_is_better else 1
            better = {best_first: first, -best_first: second}
            rows.add(
                measure=statistic.label,
                system_a=first,
                system_b=second,
                crossing=found.at[0] if len(found.at) == 1 else None,
                crossing_low=None if between is None else between.low,
                crossing_high=None if between is None else between.high,
                below=better.get(found.first),
                above=better.get(found.last),
                crossings=len(found.at),
            )
            pair = f"{statistic.label} of {first} and {second}"
            if len(found.at) > 1:
                places = ", ".join(f"{at:.4g}" for at in found.at)
                notes.append(f"{pair} crosses {len(found.at)} times, at generality {places}")
            if between is not None and between.parts > 1:
                notes.append(
                    f"{pair} is undecided in {between.parts} ranges of generality, and its interval covers them all"
                )
    return rows.table(columns), tuple(notes)


PROJECT = Statement(
    node=n.Project,
    usage=Usage(
        "project MEASURE, …",
        "project measures to another generality, assuming that recall and fallout stay as measured",
        "project precision of published for all from TST3 to generality 0.01, 0.05",
    ),
    of_one_table=False,
    resolve=resolve,
    compile=compile,
    answer=answer,
    subject=subject,
)
