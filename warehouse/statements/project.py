"""Runs a ProjectPlan: precision and F expected at other generalities, if recall and fallout stay as measured."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from grammar.errors import QueryError
from warehouse.filtering.generality import KeyCounts, generalities
from warehouse.filtering.projection import project_f, project_precision
from warehouse.measures import Statistic, measure_named, settle
from warehouse.measures.values import printed
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.comparison.observations import Floats, observe
from warehouse.query.comparison.sums import sums
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import signature, some, title
from warehouse.query.valuing import values_on
from warehouse.results import Cell, Column, Result, Table
from warehouse.significance import bootstrap
from warehouse.significance.draws import Draws
from warehouse.store.catalog import Catalog

RESAMPLES = 2000


def project(plan: p.ProjectPlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a measure, system and generality. Raises QueryError where the test set has no key or no recall and
    fallout.
    """
    entry = plan.entry
    recall, fallout = _needed(entry, "recall"), _needed(entry, "fallout")
    values, start = _measured(plan, recall, fallout, engine)
    assumption = "constant fallout" if plan.exponent == 0 else f"fallout exponent {plan.exponent}"
    resampled = {} if entry.task == "published" else _resampled(plan, recall, fallout, engine)
    rows: list[tuple[Cell, ...]] = []
    without: list[str] = []
    for statistic in entry.statistics:
        for contender in entry.contenders:
            r, f = values.get((contender.name, recall.label)), values.get((contender.name, fallout.label))
            if r is None or f is None:
                without.append(contender.name)
            for generality in plan.generalities:
                value = None
                if r is not None and f is not None:
                    value = _projected(statistic, r, f, start, float(generality), float(plan.exponent))
                limits: tuple[float | None, float | None] = (None, None)
                if value is not None and contender.name in resampled:
                    limits = _interval(statistic, resampled[contender.name], start, generality, plan.exponent)
                measured = values.get((contender.name, statistic.label))
                head = (entry.test_set.name, statistic.label, contender.name, start, float(generality), assumption)
                rows.append((*head, measured, value, *limits))
    notes = [f"recall or fallout is not known for {some(sorted(set(without)))}"] if without else []
    several = len(entry.statistics) > 1
    columns = (
        Column("test_set", "name", on_screen=False),
        Column("measure", "name", on_screen=several),
        Column("system", "name"),
        Column("generality_from", "number", on_screen=False),
        Column("generality_to", "number", "generality"),
        Column("assumption", "text", on_screen=False),
        Column("value_from", "proportion", "measured"),
        Column("value", "proportion", "projected"),
        Column("ci_low", "proportion", "95% from", on_screen=bool(resampled)),
        Column("ci_high", "proportion", "to", on_screen=bool(resampled)),
    )
    labels = ", ".join(statistic.label for statistic in entry.statistics)
    caption = f"{labels} from {entry.test_set.name}, of generality {start:.4f}, at others under {assumption}"
    return Result(
        statement=plan.text,
        caption=title(caption, [entry], catalog),
        signature=signature(plan.text, [entry], catalog),
        table=Table(columns, tuple(rows)),
        notes=tuple(notes),
    )


def curves(plan: p.ProjectPlan, engine: DuckDBEngine, at: Sequence[float]) -> dict[tuple[str, str], list[float | None]]:
    """What each measure of each contender, by label and name, is projected to be at many generalities."""
    recall, fallout = _needed(plan.entry, "recall"), _needed(plan.entry, "fallout")
    values, start = _measured(plan, recall, fallout, engine)
    found: dict[tuple[str, str], list[float | None]] = {}
    for statistic in plan.entry.statistics:
        for contender in plan.entry.contenders:
            r, f = values.get((contender.name, recall.label)), values.get((contender.name, fallout.label))
            if r is not None and f is not None:
                exponent = float(plan.exponent)
                found[statistic.label, contender.name] = [
                    _projected(statistic, r, f, start, generality, exponent) for generality in at
                ]
    return found


def _measured(
    plan: p.ProjectPlan, recall: Statistic, fallout: Statistic, engine: DuckDBEngine
) -> tuple[dict[tuple[str, str], float | None], float]:
    """What was measured, by name and label, and at which generality."""
    entry = plan.entry
    asked = replace(entry, statistics=(*entry.statistics, recall, fallout))
    values = values_on(asked, plan.where, engine)
    counts = engine.rows(sql.key_totals(entry.test_set))[0]
    start = generalities(KeyCounts(*(int(count) for count in counts))).generality
    if not start:
        raise QueryError(f"{entry.test_set.name} has no key labels, so its generality is not known")
    return values, start


Resampled = tuple[Floats, Floats]
"""Recall and fallout in each resample of the documents; NaN where undefined."""


def _resampled(
    plan: p.ProjectPlan, recall: Statistic, fallout: Statistic, engine: DuckDBEngine
) -> dict[str, Resampled]:
    """Recall and fallout of each system with documents of its own, over the same resamples of them."""
    entry = plan.entry
    systems = tuple(contender for contender in entry.contenders if isinstance(contender, p.StoredSystem))
    if not systems:
        return {}
    how = p.Testing.plain(plan.where)
    seen = observe(how, replace(entry, statistics=(recall, fallout), contenders=systems), engine)
    both = [sums(seen, statistic) for statistic in (recall, fallout)]
    stream = zlib.crc32(entry.test_set.own_name.encode())
    drawn: dict[str, list[Floats]] = {}
    for counts in bootstrap.resampled(seen.units, Draws(RESAMPLES, how.seed, stream)):
        for place, system in enumerate(systems):
            values = [each.resample(place, counts) for each in both]
            drawn.setdefault(system.name, []).append(np.stack(values))
    return {name: tuple(np.concatenate(parts, axis=1)) for name, parts in drawn.items()}


def _interval(
    statistic: Statistic, draws: Resampled, start: float, generality: Decimal, exponent: Decimal
) -> tuple[float | None, float | None]:
    """The 95% percentile interval of a projected value; nothing where no resample has one."""
    pairs = [(r, f) for r, f in zip(*(each.tolist() for each in draws), strict=True) if r == r and f == f]
    found = [_projected(statistic, r, f, start, float(generality), float(exponent)) for r, f in pairs]
    known = [value for value in found if value is not None]
    if not known:
        return None, None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def _needed(entry: p.Entry, name: str) -> Statistic:
    """Recall or fallout, counted as the measures asked for count optional documents."""
    if entry.task == "published":
        return settle(printed(name, "filtering", name), {})
    measure = measure_named(name, "filtering")
    if measure is None:
        raise ValueError(f"filtering has no {name}")
    policy = entry.statistics[0].settings.get("optional", "credit")
    return settle(measure, {"optional": policy})


def _projected(
    statistic: Statistic, recall: float, fallout: float, start: float, generality: float, exponent: float
) -> float | None:
    if statistic.measure.name.partition("(")[0] == "precision":
        return project_precision(recall, fallout, start, generality, exponent)
    return project_f(recall, fallout, start, generality, exponent, _beta(statistic))


def _beta(statistic: Statistic) -> float:
    """The β of an F, from its settings or from the name of a printed figure."""
    if "beta" in statistic.settings:
        return float(statistic.settings["beta"])
    written = statistic.label.partition("beta=")[2].rstrip(")")
    return float(written) if written else 1.0
