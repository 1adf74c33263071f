"""A question need not take every clause that resolving looks at: one that it does not take was not given."""

from __future__ import annotations

from typing import ClassVar

import pytest

from evalhouse.grammar import nodes as n
from evalhouse.grammar.clauses import QUESTIONS
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.plans.entries import Wanted
from evalhouse.warehouse.statements import statement_of


class Tally(n.Measured, frozen=True):
    words: ClassVar[str] = "tally"


def test_a_statement_without_clauses_asks_of_all_that_there_is() -> None:
    measures = (n.MeasureCall("F"),)
    wanted = Wanted.of(Tally(measures))
    assert wanted.measures == measures
    assert (wanted.task, wanted.systems, wanted.replicates, wanted.missing) == (None, None, None, None)


@pytest.mark.parametrize("word", [word for word, node in QUESTIONS.items() if issubclass(node, n.Measured)])
def test_what_a_statement_says_is_what_is_wanted(word: str) -> None:
    (statement,) = parse(statement_of(QUESTIONS[word]).usage.example)
    assert isinstance(statement, n.Measured)
    wanted = Wanted.of(statement)
    for clause in ("measures", "task", "systems", "replicates", "missing"):
        assert getattr(wanted, clause) == getattr(statement, clause, None)
