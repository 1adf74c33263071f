"""The table of questions: the statements that ask something of the rows, and so can be explained, plotted and exported.

Each is imported when it is asked for, so that a statement loads no more of the program than it needs.
"""

from __future__ import annotations

from typing import get_args

from grammar import nodes as n
from warehouse.query.path import Statement


def question(node: type[n.Node]) -> Statement:
    """The statement of a class of nodes. Raises KeyError for one that is not a question."""
    if node is n.Score:
        from warehouse.statements.score import SCORE

        return SCORE
    if node is n.Compare:
        from warehouse.statements.compare import COMPARE

        return COMPARE
    if node is n.Group:
        from warehouse.statements.group import GROUP

        return GROUP
    if node is n.Rank:
        from warehouse.statements.rank import RANK

        return RANK
    if node is n.PaperTable:
        from warehouse.statements.paper_table import TABLE

        return TABLE
    if node is n.Power:
        from warehouse.statements.power import POWER

        return POWER
    if node is n.Generality:
        from warehouse.statements.generality import GENERALITY

        return GENERALITY
    if node is n.Change:
        from warehouse.statements.change import CHANGE

        return CHANGE
    if node is n.Replicate:
        from warehouse.statements.replicate import REPLICATE

        return REPLICATE
    if node is n.Project:
        from warehouse.statements.project import PROJECT

        return PROJECT
    if node is n.Audit:
        from warehouse.statements.audit import AUDIT

        return AUDIT
    if node is n.Agree:
        from warehouse.statements.agree import AGREE

        return AGREE
    if node is n.Coverage:
        from warehouse.statements.coverage import COVERAGE

        return COVERAGE
    if node is n.Spread:
        from warehouse.statements.spread import SPREAD

        return SPREAD
    if node is n.Documents:
        from warehouse.statements.documents import DOCUMENTS

        return DOCUMENTS
    if node is n.Differ:
        from warehouse.statements.differ import DIFFER

        return DIFFER
    if node is n.Curve:
        from warehouse.statements.curve import CURVE

        return CURVE
    raise KeyError(f"warehouse/statements/questions.py has no entry for {node.__name__}")


def questions() -> tuple[Statement, ...]:
    """All of them, in display order."""
    return tuple(question(node) for node in get_args(n.Question))
