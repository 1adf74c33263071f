"""Runs a ChangePlan: each system's value on two test sets, the difference, and a summary of the differences."""

from __future__ import annotations

from decimal import Decimal

from warehouse.filtering.change import change_summary
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import signature, some, title
from warehouse.query.valuing import values_on
from warehouse.results import Cell, Column, Kind, Result, Table
from warehouse.store.catalog import Catalog

Rows = list[tuple[Cell, ...]]


def change(plan: p.ChangePlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a measure and system; the summary has a row a measure. Systems without a value on both are left out of
    it.
    """
    source, target = plan.source, plan.target
    before, after = (values_on(entry, plan.where, engine) for entry in (source, target))
    rows: Rows = []
    summary: Rows = []
    notes: list[str] = []
    for statistic in source.statistics:
        label = statistic.label
        pairs = [(c.name, before.get((c.name, label)), after.get((c.name, label))) for c in source.contenders]
        pairs.sort(key=lambda each: (_difference(*each[1:]) is None, -(_difference(*each[1:]) or 0.0), each[0]))
        for name, first, second in pairs:
            names = (source.test_set.name, target.test_set.name)
            rows.append((source.task, label, name, *names, first, second, _difference(first, second)))
        without = [name for name, first, second in pairs if first is None or second is None]
        if without:
            notes.append(
                f"{label} is undefined on one of the test sets for {some(without)}; the summary leaves them out"
            )
        known = [(first, second) for _, first, second in pairs if first is not None and second is not None]
        found = change_summary([_face(first) for first, _ in known], [_face(second) for _, second in known], plan.trim)
        summary.append(
            (
                label,
                found.systems,
                found.mean,
                found.trimmed_mean if plan.trim else None,
                plan.trim,
                found.rose,
                found.fell,
                found.unchanged,
                found.mean_rise,
                found.mean_fall,
                found.p_sign,
                found.p_randomization,
            )
        )
    labels = ", ".join(statistic.label for statistic in source.statistics)
    entries = (source, target)
    caption = f"change of {labels} from {source.test_set.name} to {target.test_set.name}"
    return Result(
        statement=plan.text,
        caption=title(caption, entries, catalog),
        signature=signature(plan.text, entries, catalog),
        table=Table(_columns(plan), tuple(rows)),
        summary_table=Table(_summary_columns(plan), tuple(summary)),
        notes=tuple(notes),
    )


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else float(_face(second) - _face(first))


def _face(value: float) -> Decimal:
    """A value as it is written, so that 0.87 less 0.81 is 0.06."""
    return Decimal(repr(value))


def _kinds(plan: p.ChangePlan) -> tuple[Kind, Kind]:
    return ("number", "number") if plan.source.task == "values" else ("proportion", "difference")


def _columns(plan: p.ChangePlan) -> tuple[Column, ...]:
    value, difference = _kinds(plan)
    several = len(plan.source.statistics) > 1
    return (
        Column("task", "text", on_screen=False),
        Column("measure", "name", on_screen=several),
        Column("system", "name"),
        Column("from", "name", on_screen=False),
        Column("to", "name", on_screen=False),
        Column("value_from", value, plan.source.test_set.name),
        Column("value_to", value, plan.target.test_set.name),
        Column("change", difference),
    )


def _summary_columns(plan: p.ChangePlan) -> tuple[Column, ...]:
    _, difference = _kinds(plan)
    return (
        Column("measure", "name"),
        Column("systems", "count"),
        Column("mean_change", difference, "mean"),
        Column("trimmed_mean_change", difference, "trimmed", on_screen=plan.trim > 0),
        Column("trim", "count", on_screen=False),
        Column("rose", "count"),
        Column("fell", "count"),
        Column("unchanged", "count", "same"),
        Column("mean_rise", difference, "mean rise"),
        Column("mean_fall", difference, "mean fall"),
        Column("p_sign", "probability", "p sign"),
        Column("p_randomization", "probability", "p rand."),
    )
