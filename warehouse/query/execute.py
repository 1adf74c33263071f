"""Plan -> Result: which executor runs which plan. An executor is imported when its first plan comes, so that a query
loads no more of the program than it needs.
"""

from __future__ import annotations

from warehouse.catalog import Catalog
from warehouse.engines.duckdb import DuckDBEngine
from warehouse.query import plan as p
from warehouse.query.sealing import sealed
from warehouse.query.substitution import Variables
from warehouse.results import Result


def execute(plan: p.Plan, engine: DuckDBEngine, catalog: Catalog, variables: Variables) -> Result:
    """Runs a plan on an engine; the signature of the result ends with a seal of its numbers. Raises QueryError for
    what only the data could show.
    """
    return sealed(_executed(plan, engine, catalog, variables))


def _executed(plan: p.Plan, engine: DuckDBEngine, catalog: Catalog, variables: Variables) -> Result:
    match plan:
        case p.ScorePlan():
            from warehouse.query.scoring import score

            return score(plan, engine, catalog)
        case p.ComparePlan():
            from warehouse.query.comparing import compare

            return compare(plan, engine, catalog)
        case p.GroupPlan():
            from warehouse.query.grouping import group

            return group(plan, engine, catalog)
        case p.GeneralityPlan():
            from warehouse.query.counting import generality

            return generality(plan, engine, catalog)
        case p.ChangePlan():
            from warehouse.query.changing import change

            return change(plan, engine, catalog)
        case p.ReplicatePlan():
            from warehouse.query.replicating import replicate

            return replicate(plan, engine, catalog)
        case p.ProjectPlan():
            from warehouse.query.projecting import project

            return project(plan, engine, catalog)
        case p.AuditPlan():
            from warehouse.query.auditing import audited

            return audited(plan, engine, catalog)
        case p.AgreePlan():
            from warehouse.query.agreeing import agree

            return agree(plan, engine, catalog)
        case p.ExplainPlan():
            from warehouse.query.explaining import explain

            return explain(plan, engine)
        case p.ShowPlan():
            from warehouse.query.showing import show

            return show(plan, engine, catalog, variables)
        case p.SqlPlan():
            from warehouse.query.asking import ask

            return ask(plan, engine)
        case p.PlotPlan():
            from warehouse.query.pictures import picture

            return picture(plan, engine, catalog)
        case p.ExportPlan():
            return _executed(plan.question, engine, catalog, variables)
