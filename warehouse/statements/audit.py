"""`audit`: whether the figures printed of each system can come from whole documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.comparing.answering import result_of
from evalhouse.warehouse.filtering.generality import KeyCounts
from evalhouse.warehouse.kinds import FILTERING, KINDS, PUBLISHED
from evalhouse.warehouse.measures.filtering import COLUMNS as CELLS
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.entries import Wanted, check_named, with_absent
from evalhouse.warehouse.plans.labels import on, with_keys
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.plans.runs import SaidOfRuns
from evalhouse.warehouse.plans.systems import systems_of
from evalhouse.warehouse.results import Cell, Column, Result, TableRows
from evalhouse.warehouse.statements import sentences

if TYPE_CHECKING:
    from evalhouse.warehouse.filtering.contingency import Printed

FIGURES = ("recall", "precision", "fallout")
BETAS = {"F(beta=0.5)": Decimal("0.5"), "F(beta=1)": Decimal(1), "F(beta=2)": Decimal(2)}
"""The F that papers print, by the name of the figure."""


class AuditPlan(Struct, frozen=True):
    text: str
    entries: tuple[p.Entry, ...]


def resolve(statement: n.Audit, scope: Scope) -> AuditPlan:
    entries, task = [], PUBLISHED
    for test_set, place in scope.test_sets(statement.test_sets):
        printed = scope.catalog.measures_of(task.name, test_set.id)
        short = scope.catalog.short_name(test_set)
        if not printed:
            raise QueryError(f"{short} has no published figures", place.span)
        if not scope.catalog.labelled(test_set.id):
            raise QueryError(f"{short} has no key labels, and an audit needs their counts", place.span)
        known = (scope.statistic(n.MeasureCall(name), task, test_set) for name in printed)
        statistics = [statistic for statistic in known if KINDS.get(statistic.printed_of) is FILTERING]
        # The mean of printed figures is no figure that was printed.
        chosen = systems_of(scope, statement.systems, task, test_set, elsewhere=True, said=SaidOfRuns(apart=True))
        entries.append(scope.entry(test_set, task, statistics, chosen.systems))
    wanted = Wanted((), None, statement.systems, statement.span)
    check_named(statement.systems, entries, scope)
    return AuditPlan(to_text(statement), with_absent(tuple(entries), wanted))


def compile(plan: AuditPlan) -> Queries:
    return tuple(
        query
        for entry in plan.entries
        for query in (
            Query(_name("key", entry), scores.key_totals(entry)),
            Query(_name("figures", entry), scores.printed_filtering(entry)),
        )
    )


def _name(what: str, entry: p.Entry) -> str:
    return f"{what} of {entry.test_set.name!r}"


def answer(plan: AuditPlan, facts: Facts, workforce: Workforce) -> Result:
    """One row per test set and system with printed recall, precision or fallout of filtering."""
    columns = (
        Column("test_set", "name"),
        Column("system", "name"),
        *(Column(name, "proportion") for name in FIGURES),
        *(Column(name, "proportion", on_screen=False) for name in BETAS),
        Column("solutions", "count"),
        Column("verdict", "text"),
        *(
            column
            for cell in CELLS
            for column in (
                Column(f"{cell}_low", "whole", f"{cell} from", on_screen=cell in "abx", spare=1),
                Column(f"{cell}_high", "whole", "to", on_screen=cell in "abx", spare=1),
            )
        ),
        Column("conventions", "text", on_screen=False),
        Column("f_follows", "text", "F follows", spare=2),
    )
    rows = TableRows.of(columns)
    notes: list[str] = []
    for entry in plan.entries:
        key = KeyCounts(*(int(count) for count in facts[_name("key", entry)][0]))
        printed = _printed_figures(facts[_name("figures", entry)])
        for system in entry.stored_systems:
            cells = _audit_figures(key, printed.get(system.id, {}))
            if cells is None:
                notes.append(f"{system.name} on {entry.test_set.name} has no printed recall, precision or fallout")
            else:
                rows.add(test_set=entry.test_set.name, system=system.name, **cells)
    what = f"whole numbers of documents that give the printed figures on {on(plan.entries)}"
    table = rows.table(columns)
    return result_of(plan.text, with_keys(plan.entries), what, table, notes=notes, sentence=sentences.of_audit(table))


def _printed_figures(rows: Sequence[tuple[Any, ...]]) -> dict[int, dict[str, Printed]]:
    """The printed figures of filtering of each system, by measure."""
    from evalhouse.warehouse.filtering.contingency import Printed

    figures: dict[int, dict[str, Printed]] = {}
    for number, measure, printed, resolution in rows:
        figures.setdefault(int(number), {})[str(measure)] = Printed(Decimal(printed), Decimal(resolution))
    return figures


def _audit_figures(key: KeyCounts, figures: Mapping[str, Printed]) -> dict[str, Cell] | None:
    """The cells of one system, None where there is nothing to audit."""
    from evalhouse.warehouse.filtering.audit import Figures, audit, audit_f

    recall, precision, fallout = (figures.get(name) for name in FIGURES)
    if recall is None and precision is None and fallout is None:
        return None
    audited = audit(key, Figures(recall, precision, fallout))
    bounds = {cell: audited.cells.get(cell) for cell in CELLS}
    follows: bool | None = None
    if recall is not None and precision is not None:
        checked = [
            audit_f(recall, precision, figures[name], beta).follows for name, beta in BETAS.items() if name in figures
        ]
        follows = all(checked) if checked else None
    cells: dict[str, Cell] = {
        name: float(figures[name].value) if name in figures else None for name in (*FIGURES, *BETAS)
    }
    for cell, limits in bounds.items():
        cells[f"{cell}_low"] = None if limits is None else limits.low
        cells[f"{cell}_high"] = None if limits is None else limits.high
    cells["solutions"] = audited.solutions
    cells["verdict"] = audited.verdict
    cells["conventions"] = ", ".join(audited.conventions) or None
    cells["f_follows"] = None if follows is None else "yes" if follows else "no"
    return cells


AUDIT = Statement(
    node=n.Audit,
    usage=Usage(
        "audit published",
        "check whether printed figures can come from whole numbers of documents",
        "audit published for all on TST3",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
)
