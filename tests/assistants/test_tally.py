"""The count of tests in a conversation: each p-value counts once, whatever the statement shows of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from evalhouse.warehouse.assistants.answers import Answers, CallLimits, TallyOfTests
from evalhouse.warehouse.results import EMPTY, Result
from evalhouse.warehouse.session.session import Session
from tests.assistants.conftest import Assistant

TESTED = {
    "compare F for GE, UMASS on TST3": 1,
    "compare F, recall for GE, UMASS, SRI on TST3, TST4": 12,
    "compare F for GE, UMASS, SRI on TST3 against GE": 2,
    "compare F for GE, UMASS on TST3, TST4 over test sets": 1,
    "group F for GE, UMASS, SRI on TST3": 3,
    "rank F for GE, UMASS, SRI on TST3": 6,
    "rank F for GE, UMASS, SRI on TST3, TST4 over test sets": 6,
    "rank F for GE, UMASS, SRI on TST3, TST4 over test sets by mean rank": 1,
    "table F for GE, UMASS, SRI on TST3, TST4 over test sets against GE": 6,
    "table F for GE, UMASS, SRI on TST3 against GE": 2,
    "table F for GE, UMASS, SRI on TST3 letters": 3,
    "table F for GE, UMASS, SRI on TST3": 0,
    "replicate F for GE, UMASS, SRI from TST3 to TST4": 6,
    "expect better compare F for GE against UMASS on TST3": 1,
    "expect score F for GE on TST3 at least 10%": 0,
    "plot group F for GE, UMASS, SRI on TST3": 3,
    "change precision of published for all from TST3 to TST4": 2,
    "differ F of filtering for GE, UMASS on TST3 by label": 3,
    "score F for all on TST3 interval": 0,
    "explain compare F for GE, UMASS on TST3": 0,
    "show systems": 0,
}
"""How many p are behind a statement."""

NOT_OF_A_TEST = {"p_low", "p_high", "p_adjusted", "least_p"}


@pytest.mark.long
@pytest.mark.parametrize("statement", TESTED)
def test_each_p_is_counted(session: Session, statement: str) -> None:
    result = session.run(statement)
    assert len(result.p_values) == TESTED[statement]
    shown = [
        column.name
        for table in (result.table, result.summary_table)
        for column in table.columns
        if column.kind == "probability" and column.name not in NOT_OF_A_TEST and any(table.column(column.name))
    ]
    assert not shown or result.p_values


def test_p_values_are_those_that_are_shown(session: Session) -> None:
    compared = session.run("compare F for GE, UMASS, SRI on TST3 adjust holm")
    assert compared.p_values == compared.table.column("p")
    grouped = session.run("group F for GE, UMASS, SRI on TST3 adjust holm")
    assert sorted(grouped.p_values) == pytest.approx(sorted(compared.p_values))


def answered(text: str, *p_values: float) -> Result:
    return Result(text, "", f"{text} | data", EMPTY, p_values=p_values)


def test_the_numbers_are_those_of_bonferroni() -> None:
    tally = TallyOfTests()
    tally.add(answered("one", 0.001, 0.04, 0.2))
    tally.add(answered("two", 0.012, 0.5))
    assert tally.as_dict() == {
        "questions": 2,
        "tested": 2,
        "p_values": 5,
        "level": 0.05,
        "at_most_level": 3,
        "bonferroni": {"level": 0.01, "at_most_level": 1},
    }
    assert tally.sentence() == (
        "so far 2 different questions of this conversation tested something and gave 5 p-values: 3 at most 0.05, of "
        "which about 0.25 would be expected by chance if nothing differed. Bonferroni over all 5 asks for p "
        "of at most 0.01, which 1 is. Report how many were tested, not only the small ones"
    )


def test_the_same_question_again_is_no_further_test() -> None:
    tally = TallyOfTests()
    for _ in range(3):
        tally.add(answered("one", 0.03))
    assert (tally.as_dict()["questions"], tally.as_dict()["p_values"]) == (3, 1)


@pytest.mark.long
def test_an_assistant_that_asks_until_p_is_small_is_told_so(session: Session) -> None:
    """The same two systems with other shuffles each time, until p is small enough."""
    assistant = Assistant(Answers(session, CallLimits()))
    calls = [
        ("query", {"statement": f"compare F for GE, UMASS on TST3 seed {seed} shuffles 99"}) for seed in range(1, 6)
    ]
    *_, last = assistant.calls(*calls, ("show", {}), ("query", {"statement": "compare F for GE, UMASS on TST3"}))
    conversation = last.answer["conversation"]
    assert (conversation["questions"], conversation["tested"], conversation["p_values"]) == (6, 6, 6)
    assert last.answer["notes"][-1].startswith("so far 6 different questions of this conversation tested something")
    scored = assistant.asks("score F for GE on TST3")
    assert "conversation" not in scored.answer


def test_the_page_about_assistants_shows_the_numbers(session: Session) -> None:
    page = (Path(__file__).resolve().parent.parent.parent / "docs" / "assistants.md").read_text(encoding="utf-8")
    shown = re.search(r'^```json\n(\{"questions".*)\n```$', page, re.MULTILINE)
    assert shown
    statements = ("score F for GE on TST3", "compare F for GE, UMASS on TST3 shuffles 99", "group F for all on TST3")
    calls = [("query", {"statement": statement}) for statement in statements]
    *_, last = Assistant(Answers(session, CallLimits())).calls(*calls)
    assert last.answer["conversation"] == json.loads(shown[1])
