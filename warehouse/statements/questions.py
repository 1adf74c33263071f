"""QUESTIONS: the statements that ask something of the rows, and so can be explained, plotted and exported."""

from __future__ import annotations

from collections.abc import Mapping

from grammar import nodes as n
from warehouse.query.path import Statement
from warehouse.statements.agree import AGREE
from warehouse.statements.audit import AUDIT
from warehouse.statements.change import CHANGE
from warehouse.statements.compare import COMPARE
from warehouse.statements.coverage import COVERAGE
from warehouse.statements.generality import GENERALITY
from warehouse.statements.group import GROUP
from warehouse.statements.project import PROJECT
from warehouse.statements.replicate import REPLICATE
from warehouse.statements.score import SCORE

QUESTIONS: Mapping[type[n.Node], Statement] = {
    statement.node: statement
    for statement in (SCORE, COMPARE, GROUP, GENERALITY, CHANGE, REPLICATE, PROJECT, AUDIT, AGREE, COVERAGE)
}
"""By the class of their node, in display order."""
