"""Plan -> Result: which executor runs which plan. An executor is imported when its first plan comes, so that a query
loads no more of the program than it needs.
"""

from __future__ import annotations

from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.resolving.substitution import Variables
from warehouse.query.sealing import sealed
from warehouse.results import Result
from warehouse.store.catalog import Catalog


def execute(plan: p.Plan, engine: DuckDBEngine, catalog: Catalog, variables: Variables) -> Result:
    """Runs a plan on an engine; the signature of the result ends with a seal of its numbers. Raises QueryError for
    what only the data could show.
    """
    return sealed(_executed(plan, engine, catalog, variables))


def _executed(plan: p.Plan, engine: DuckDBEngine, catalog: Catalog, variables: Variables) -> Result:
    match plan:
        case p.ScorePlan():
            from warehouse.statements.score import score

            return score(plan, engine, catalog)
        case p.ComparePlan():
            from warehouse.statements.compare import compare

            return compare(plan, engine, catalog)
        case p.GroupPlan():
            from warehouse.statements.group import group

            return group(plan, engine, catalog)
        case p.GeneralityPlan():
            from warehouse.statements.generality import generality

            return generality(plan, engine, catalog)
        case p.ChangePlan():
            from warehouse.statements.change import change

            return change(plan, engine, catalog)
        case p.ReplicatePlan():
            from warehouse.statements.replicate import replicate

            return replicate(plan, engine, catalog)
        case p.ProjectPlan():
            from warehouse.statements.project import project

            return project(plan, engine, catalog)
        case p.AuditPlan():
            from warehouse.statements.audit import audited

            return audited(plan, engine, catalog)
        case p.AgreePlan():
            from warehouse.statements.agree import agree

            return agree(plan, engine, catalog)
        case p.ExplainPlan():
            from warehouse.statements.explain import explain

            return explain(plan, engine)
        case p.ShowPlan():
            from warehouse.statements.show import show

            return show(plan, engine, catalog, variables)
        case p.SqlPlan():
            from warehouse.statements.sql_query import ask

            return ask(plan, engine)
        case p.PlotPlan():
            from warehouse.statements.pictures import picture

            return picture(plan, engine, catalog)
        case p.ExportPlan():
            return _executed(plan.question, engine, catalog, variables)
