"""Runs a PlotPlan: the question is answered as it would be without `plot`, and its answer becomes a chart.

Which picture a question has is decided here, a module a question; what a panel is made of is the business of
warehouse.charts, and what it looks like that of rendering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grammar.errors import QueryError
from warehouse.charts import Chart
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import on, simulated
from warehouse.results import Result
from warehouse.statements.pictures.changed import changed
from warehouse.statements.pictures.compared import compared
from warehouse.statements.pictures.drawn import Drawn, labels
from warehouse.statements.pictures.grouped import grouped
from warehouse.statements.pictures.projected import projected
from warehouse.statements.pictures.scored import scored
from warehouse.store.catalog import Catalog

MOST_PANELS = 24
"""More panels than this are no picture."""


def picture(plan: p.PlotPlan, engine: DuckDBEngine, catalog: Catalog) -> Result:
    """The answer to the question of a plot, with its chart. Raises QueryError for a question that has no picture."""
    question = plan.question
    entries: tuple[p.Entry, ...]
    match question:
        case p.ScorePlan(entries=entries):
            made = scored(question, engine, catalog)
        case p.ComparePlan(entries=entries):
            made = compared(question, engine, catalog)
        case p.GroupPlan(entries=entries):
            made = grouped(question, engine, catalog)
        case p.ChangePlan(source=source, target=target):
            entries = (source, target)
            made = changed(question, engine, catalog)
        case p.ProjectPlan(entry=entry):
            entries = (entry,)
            made = projected(question, engine, catalog)
        case _:
            raise QueryError(
                f"{question.text.split()[0]} has no picture",
                hints=("there are pictures of score, compare, group, change and project",),
            )
    if not made.panels:
        raise QueryError("there is no value to draw", hints=made.result.notes[:1])
    if len(made.panels) > MOST_PANELS:
        raise QueryError(
            f"that would be {len(made.panels)} panels in one picture, and {MOST_PANELS} are the most",
            hints=("ask for fewer measures or test sets",),
        )
    heading = f"{', '.join(labels(entries))} on {on(entries)}"
    chart = Chart(
        title=made.title or heading,
        subtitle=_subtitle(made, entries, heading),
        panels=made.panels,
        legend=made.legend,
        notes=made.notes,
        simulated=simulated(entries, catalog),
        alternative=made.alternative,
    )
    return replace(made.result, statement=plan.text, chart=chart, notes=(*made.result.notes, *made.notes))


def _subtitle(made: Drawn, entries: Sequence[p.Entry], heading: str) -> str:
    """The task, how many documents, and how it was tested: what the caption says behind its heading."""
    sizes = [made.documents.get(entry.test_set.name) for entry in entries]
    known = [f"{size:,}" for size in sizes if size]
    tasks = " and ".join(dict.fromkeys(entry.task for entry in entries))
    counted = f", {' and '.join(dict.fromkeys(known))} documents" if len(known) == len(sizes) else ""
    if tasks == "published":
        counted = f": figures as printed{f', keys of {known[0]} documents' if len(set(known)) == 1 else ''}"
    caption = made.result.caption
    said = caption.removeprefix(heading).rpartition(" (")[0].removeprefix(": ") if caption.startswith(heading) else ""
    return f"{tasks}{counted}{f'; {said}' if said else ''}"
