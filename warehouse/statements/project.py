"""`project`: precision and F expected at other generalities, if recall and fallout stay as measured."""

from __future__ import annotations

import zlib
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.printer import to_text
from grammar.value import value
from warehouse.measures import PrintedFigure, Statistic, measure_named, settle
from warehouse.measures.values import printed
from warehouse.query import plan as p
from warehouse.query.compile import keys
from warehouse.query.engine import Workforce
from warehouse.query.labels import known_size, signature, some, title
from warehouse.query.path import Facts, Queries, Query, Statement, Usage
from warehouse.query.resolving.conditions import filter_of
from warehouse.query.resolving.entries import Wanted, entry_on
from warehouse.query.resolving.names import Scope
from warehouse.query.table_rows import TableRows
from warehouse.query.valuing import Valued
from warehouse.results import Column, Result
from warehouse.statements.pictures import of_project
from warehouse.statements.projecting import kind_of, measured_generality, projected_value
from warehouse.tasks import FILTERING, TASKS

if TYPE_CHECKING:
    from warehouse.significance.paired import Floats

    ResampledShares = tuple[Floats, ...]
    """Recall and fallout in each resample of the documents; NaN where undefined."""

RESAMPLES = 2000


@value
class ProjectPlan:
    """`recall` and `fallout` are what projections follow from, counted as the measures asked for are."""

    text: str
    entry: p.Entry
    generalities: tuple[Decimal, ...]
    exponent: Decimal
    where: p.Filter | None
    recall: Statistic
    fallout: Statistic

    @property
    def entries(self) -> tuple[p.Entry]:
        return (self.entry,)

    @property
    def valued(self) -> Valued:
        """The values that are measured."""
        statistics = (*self.entry.statistics, self.recall, self.fallout)
        return Valued(replace(self.entry, statistics=statistics), where=self.where)

    @property
    def resampled(self) -> p.Entry | None:
        """The systems with documents of their own, whose recall and fallout are resampled."""
        if not self.entry.task.by_document or not self.entry.stored_systems:
            return None
        return replace(self.entry, statistics=(self.recall, self.fallout), systems=self.entry.stored_systems)


# --- resolving and compiling ------------------------------------------------------------------------------------------


def resolve(statement: n.Project, scope: Scope) -> ProjectPlan:
    wanted = Wanted(statement.measures, statement.task, statement.systems, statement.span)
    entry = entry_on(wanted, scope, scope.test_set(statement.source, statement.source), statement.source)
    for statistic, node in zip(entry.statistics, statement.measures, strict=False):
        of = statistic.computation.task if isinstance(statistic.computation, PrintedFigure) else entry.task.name
        if not TASKS[of].has_key or kind_of(statistic) not in ("precision", "F"):
            raise QueryError(
                f"{statistic.label} of {entry.task.name} cannot be projected",
                node.span,
                ("precision and F of filtering can: they follow from recall, fallout and generality",),
            )
    exponent = scope.number(statement.exponent, Decimal(0))
    wanted_generalities = tuple(scope.share(item, "generality", Decimal(0)) for item in statement.generalities)
    if statement.exponent is not None and not -10 <= exponent <= 10:
        raise QueryError(f"the exponent is a number from -10 to 10, not {exponent}", statement.exponent.span)
    return ProjectPlan(
        text=to_text(statement),
        entry=entry,
        generalities=wanted_generalities,
        exponent=exponent,
        where=filter_of(scope, statement.where, entry.task),
        recall=_needed(entry, "recall"),
        fallout=_needed(entry, "fallout"),
    )


def _needed(entry: p.Entry, name: str) -> Statistic:
    """Recall or fallout, counted as the measures asked for count optional documents."""
    if not entry.task.by_document:
        return settle(printed(name, FILTERING.name, name), {})
    measure = measure_named(name, FILTERING.name)
    if measure is None:
        raise ValueError(f"filtering has no {name}")
    return settle(measure, {"optional": entry.statistics[0].settings.get("optional", "credit")})


def compile(plan: ProjectPlan) -> Queries:
    queries = (*plan.valued.queries(), Query("key", keys.key_totals(plan.entry)))
    if plan.resampled is None:
        return queries
    from warehouse.query.comparison.observations import observation_queries

    return (*queries, *observation_queries(p.Testing.plain(plan.where), plan.resampled))


# --- answering --------------------------------------------------------------------------------------------------------


def answer(plan: ProjectPlan, facts: Facts, workforce: Workforce) -> Result:
    """A row a measure, system and generality. Raises QueryError where the test set has no key or no recall and
    fallout.
    """
    entry = plan.entry
    values, start = plan.valued.values(facts), measured_generality(plan, facts)
    assumption = "constant fallout" if plan.exponent == 0 else f"fallout exponent {plan.exponent}"
    resampled = {} if plan.resampled is None else _resampled(plan, plan.resampled, facts)
    several = len(entry.statistics) > 1
    columns = (
        Column("test_set", "name", on_screen=False),
        Column("measure", "name", on_screen=several),
        Column("system", "name"),
        Column("generality_from", "number", on_screen=False),
        Column("generality_to", "number", "generality", spare=1),
        Column("assumption", "text", on_screen=False),
        Column("value_from", "proportion", "measured"),
        Column("value", "proportion", "projected"),
        Column("ci_low", "proportion", "95% from", on_screen=bool(resampled)),
        Column("ci_high", "proportion", "to", on_screen=bool(resampled)),
    )
    rows = TableRows.of(columns)
    without: set[str] = set()
    for statistic in entry.statistics:
        for system in entry.systems:
            recall, fallout = (values.get((system.name, needed.label)) for needed in (plan.recall, plan.fallout))
            if recall is None or fallout is None:
                without.add(system.name)
            for generality in plan.generalities:
                projected = None
                if recall is not None and fallout is not None:
                    projected = projected_value(
                        statistic, recall, fallout, start, float(generality), float(plan.exponent)
                    )
                limits: tuple[float | None, float | None] = (None, None)
                if projected is not None and system.name in resampled:
                    limits = _interval(statistic, resampled[system.name], start, generality, plan.exponent)
                rows.add(
                    test_set=entry.test_set.name,
                    measure=statistic.label,
                    system=system.name,
                    generality_from=start,
                    generality_to=float(generality),
                    assumption=assumption,
                    value_from=values.get((system.name, statistic.label)),
                    value=projected,
                    ci_low=limits[0],
                    ci_high=limits[1],
                )
    labels = ", ".join(statistic.label for statistic in entry.statistics)
    drawn = f"percentile intervals of {RESAMPLES:,} resamples, seed {p.DEFAULT_SEED}" if resampled else ""
    how = "; ".join(filter(None, (known_size(plan.entries, plan.where), drawn)))
    caption = f"{labels} from {entry.test_set.name}, of generality {start:.4f}, at others under {assumption}"
    return Result(
        statement=plan.text,
        caption=title(caption, [entry], how),
        signature=signature(plan.text, [entry]),
        table=rows.table(columns),
        notes=(f"recall or fallout is not known for {some(sorted(without))}",) if without else (),
        how=how,
    )


def _resampled(plan: ProjectPlan, entry: p.Entry, facts: Facts) -> dict[str, ResampledShares]:
    """Recall and fallout of each system with documents of its own, over the same resamples of them."""
    import numpy as np

    from warehouse.query.comparison.observations import observed
    from warehouse.query.comparison.sums import additive
    from warehouse.significance.bootstrap.resamples import resampled
    from warehouse.significance.draws import Draws

    how = p.Testing.plain(plan.where)
    observations = observed(how, entry, facts)
    both = [additive(observations, statistic) for statistic in entry.statistics]
    stream = zlib.crc32(entry.test_set.own_name.encode())
    drawn: dict[str, list[Floats]] = {}
    for counts in resampled(observations.units, Draws(RESAMPLES, how.seed, stream)):
        for place, system in enumerate(entry.systems):
            drawn.setdefault(system.name, []).append(np.stack([summed.resample(place, counts) for summed in both]))
    return {name: tuple(np.concatenate(parts, axis=1)) for name, parts in drawn.items()}


def _interval(
    statistic: Statistic, draws: ResampledShares, start: float, generality: Decimal, exponent: Decimal
) -> tuple[float | None, float | None]:
    """The 95% percentile interval of a projected value; nothing where no resample has one."""
    import numpy as np

    pairs = [(r, f) for r, f in zip(*(drawn.tolist() for drawn in draws), strict=True) if r == r and f == f]
    projected = [projected_value(statistic, r, f, start, float(generality), float(exponent)) for r, f in pairs]
    known = [value for value in projected if value is not None]
    if not known:
        return None, None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


PROJECT = Statement(
    node=n.Project,
    usage=Usage(
        "project MEASURE, …",
        "precision expected at another generality, if fallout stays as measured",
        "project precision of published for all from TST3 to generality 0.01, 0.05",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
    picture=of_project,
)
