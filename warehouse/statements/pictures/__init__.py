"""The pictures of statements: what is drawn of an answer. Each is imported when it is asked for, as what draws needs
numpy; what a panel is made of is the business of warehouse.charts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.query.path import Facts, Picture, Queries

if TYPE_CHECKING:
    from warehouse.query.engine import Workforce
    from warehouse.results import Result
    from warehouse.statements.change import ChangePlan
    from warehouse.statements.compare import ComparePlan
    from warehouse.statements.group import GroupPlan
    from warehouse.statements.pictures.drawn import Drawn
    from warehouse.statements.project import ProjectPlan
    from warehouse.statements.score import ScorePlan


def _nothing_more(plan: object) -> Queries:
    return ()


def _of_score(plan: ScorePlan) -> Queries:
    from warehouse.statements.pictures.scored import queries

    return queries(plan)


def _scored(plan: ScorePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    from warehouse.statements.pictures.scored import scored

    return scored(plan, result, facts)


def _compared(plan: ComparePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    from warehouse.statements.pictures.compared import compared

    return compared(plan, result, facts)


def _of_group(plan: GroupPlan) -> Queries:
    from warehouse.statements.pictures.grouped import queries

    return queries(plan)


def _grouped(plan: GroupPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    from warehouse.statements.pictures.grouped import grouped

    return grouped(plan, result, facts)


def _changed(plan: ChangePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    from warehouse.statements.pictures.changed import changed

    return changed(plan, result)


def _projected(plan: ProjectPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    from warehouse.statements.pictures.projected import projected

    return projected(plan, result, facts)


SCORED = Picture(_of_score, _scored)
COMPARED = Picture(_nothing_more, _compared)
GROUPED = Picture(_of_group, _grouped)
CHANGED = Picture(_nothing_more, _changed)
PROJECTED = Picture(_nothing_more, _projected)
