"""When documents with equal counts are grouped in the database, answers and pictures are the same as without
grouping.
"""

from __future__ import annotations

import pytest

from evalhouse.warehouse.comparing import observations
from evalhouse.warehouse.session.session import Session

QUESTIONS = [
    "group F of filtering for GE, UMASS, allrel on TST3 exact",
    "group F of filtering for GE, UMASS on TST3 exact",
    "score F for GE, UMASS on TST3",
    "compare F for GE, UMASS on TST3 exact",
    "compare MCC of filtering for GE, UMASS on TST3 exact",
    "compare recall of filtering for GE, UMASS against allrel on TST3 exact",
]


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
def test_counted_documents_give_the_same_levels(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session.open() as session:
        one_by_one = session.run(f"plot {question}")
        monkeypatch.setattr(observations, "MANY", 1)
        counted = session.run(f"plot {question}")
    levels = ("p", "value_a", "value_b", "value", "letters", "F(beta=1)")
    for before, after in zip(one_by_one.rows, counted.rows, strict=True):
        assert {name: before[name] for name in levels if name in before} == {
            name: after[name] for name in levels if name in after
        }
    assert counted.chart is not None
