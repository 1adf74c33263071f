"""Plan -> Result: which executor runs which plan."""

from __future__ import annotations

from grammar.errors import QueryError
from warehouse.catalog import Catalog
from warehouse.engines.duckdb import DuckDBEngine
from warehouse.query import plan as p
from warehouse.query.agreeing import agree
from warehouse.query.asking import ask
from warehouse.query.auditing import check as audit
from warehouse.query.changing import change
from warehouse.query.comparing import compare
from warehouse.query.counting import generality
from warehouse.query.explaining import explain
from warehouse.query.grouping import group
from warehouse.query.names import Item
from warehouse.query.projecting import project
from warehouse.query.scoring import score
from warehouse.query.showing import show
from warehouse.results import Result


def execute(plan: p.Plan, engine: DuckDBEngine, catalog: Catalog, variables: dict[str, tuple[Item, ...]]) -> Result:
    """Runs a plan on an engine. Raises QueryError for what only the data could show."""
    match plan:
        case p.ScorePlan():
            return score(plan, engine, catalog)
        case p.ComparePlan():
            return compare(plan, engine, catalog)
        case p.GroupPlan():
            return group(plan, engine, catalog)
        case p.GeneralityPlan():
            return generality(plan, engine, catalog)
        case p.ChangePlan():
            return change(plan, engine, catalog)
        case p.ProjectPlan():
            return project(plan, engine, catalog)
        case p.AuditPlan():
            return audit(plan, engine, catalog)
        case p.AgreePlan():
            return agree(plan, engine, catalog)
        case p.ExplainPlan():
            return explain(plan, engine)
        case p.ShowPlan():
            return show(plan, engine, catalog, variables)
        case p.SqlPlan():
            return ask(plan, engine)
    word = type(plan).__name__.removesuffix("Plan").lower()
    raise QueryError(f"{word} is understood, but this version cannot run it yet")
