"""Runs an AuditPlan: whether the figures printed of each system can come from whole documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from warehouse.filtering.auditing import Figures, audit, audit_f
from warehouse.filtering.generality import KeyCounts
from warehouse.filtering.rounding import Printed
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import on, signature, title
from warehouse.results import Cell, Column, Result, Table
from warehouse.store.catalog import Catalog

CELLS = ("a", "b", "c", "d", "x", "y")
BETAS = {"F(beta=0.5)": Decimal("0.5"), "F(beta=1)": Decimal(1), "F(beta=2)": Decimal(2)}
"""The F that papers print, by the name of the figure."""

Figure = Mapping[str, Printed]


def audited(plan: p.AuditPlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """A row a test set and system with printed recall, precision or fallout of filtering."""
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for entry in plan.entries:
        key = KeyCounts(*(int(count) for count in engine.rows(sql.key_totals(entry.test_set))[0]))
        names = {c.id: c.name for c in entry.contenders if isinstance(c, p.StoredSystem)}
        for number, figures in _printed(entry, engine):
            row = _row(key, figures)
            if row is None:
                notes.append(f"{names[number]} on {entry.test_set.name} has no printed recall, precision or fallout")
            else:
                rows.append((entry.test_set.name, names[number], *row))
    columns = (
        Column("test_set", "name"),
        Column("system", "name"),
        *(Column(name, "proportion") for name in ("recall", "precision", "fallout")),
        *(Column(name, "proportion", on_screen=False) for name in BETAS),
        Column("solutions", "count"),
        Column("verdict", "text"),
        *(
            column
            for cell in CELLS
            for column in (
                Column(f"{cell}_low", "whole", f"{cell} from", on_screen=cell in "abx"),
                Column(f"{cell}_high", "whole", "to", on_screen=cell in "abx"),
            )
        ),
        Column("conventions", "text", on_screen=False),
        Column("f_follows", "text", "F follows"),
    )
    return Result(
        statement=plan.text,
        caption=title(f"whole documents behind the printed figures on {on(plan.entries)}", plan.entries, catalog),
        signature=signature(plan.text, plan.entries, catalog),
        table=Table(columns, tuple(rows)),
        notes=tuple(notes),
    )


def _printed(entry: p.Entry, engine: DuckDBEngine) -> Iterator[tuple[int, Figure]]:
    """The printed figures of filtering of each system, by measure, in order of name."""
    found: dict[int, dict[str, Printed]] = {}
    for number, measure, value, resolution in engine.rows(sql.printed_filtering(entry)):
        found.setdefault(int(number), {})[str(measure)] = Printed(Decimal(value), Decimal(resolution))
    for contender in entry.contenders:
        if isinstance(contender, p.StoredSystem) and contender.id in found:
            yield contender.id, found[contender.id]


def _row(key: KeyCounts, figures: Figure) -> tuple[Cell, ...] | None:
    """The row of one system after its names, None where there is nothing to audit."""
    recall, precision, fallout = (figures.get(name) for name in ("recall", "precision", "fallout"))
    if recall is None and precision is None and fallout is None:
        return None
    found = audit(key, Figures(recall, precision, fallout))
    bounds = [found.cells.get(cell) for cell in CELLS]
    follows: bool | None = None
    if recall is not None and precision is not None:
        checked = [
            audit_f(recall, precision, figures[name], beta).follows for name, beta in BETAS.items() if name in figures
        ]
        follows = all(checked) if checked else None
    return (
        *(None if each is None else float(each.value) for each in (recall, precision, fallout)),
        *(float(figures[name].value) if name in figures else None for name in BETAS),
        found.solutions,
        found.verdict,
        *(limit for each in bounds for limit in ((None, None) if each is None else (each.low, each.high))),
        ", ".join(found.conventions) or None,
        None if follows is None else "yes" if follows else "no",
    )
