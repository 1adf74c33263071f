"""`show measures`: the test sets on which each measure can be asked for."""

from __future__ import annotations

from evalhouse.warehouse.session.session import Session


def test_each_measure_says_on_which_test_sets_it_is() -> None:
    statements = "define measure strict = correct / possible; define measure wrong = 1 - fallout; show measures"
    measures = {(row["measure"], row["task"]): row["test_sets"] for row in Session.open().run(statements).rows}
    assert measures["recall", "extraction"] == "TST3, TST4"
    assert measures["recall", "filtering"] == measures["fallout", "published"] == "TST2, TST3, TST4"
    assert measures["strict", None] == "TST3, TST4"
    assert measures["wrong", None] == "TST2, TST3, TST4"
    assert measures["AP", "rankings"] is measures["token-accuracy", "counts"] is None


def test_what_it_lists_can_be_asked_for() -> None:
    """Of a test set with a key and no decisions, for a baseline. The sample data have no confidences."""
    session = Session.open()
    for row in session.run("show measures").rows:
        if row["test_sets"] and row["measure"] != "auc":
            for test_set in str(row["test_sets"]).split(", "):
                systems = "allrel" if row["task"] == "filtering" else "all"
                assert session.run(f'score "{row["measure"]}" of {row["task"]} for {systems} on {test_set}').rows
