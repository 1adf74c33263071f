"""What people type in other words is answered with the line to type."""

from __future__ import annotations

import pytest
from msgspec import structs

from evalhouse.grammar.editing.rewording import REWORDINGS, reworded
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.grammar.printer import to_text

GUESSES = {
    "compare F for A, B on t paired bootstrap": "compare F for A, B on t test bootstrap",
    "compare F for A, B on t using a paired bootstrap test": "compare F for A, B on t test bootstrap",
    "compare F for A, B on t using t-test": "compare F for A, B on t test t",
    "compare F for A, B on t paired t": "compare F for A, B on t test t",
    "compare F for A, B on t with wilcoxon": "compare F for A, B on t test wilcoxon",
    "compare F, P for A, B on t bonferroni": "compare F, P for A, B on t adjust bonferroni",
    "compare F, P for A, B on t holm correction": "compare F, P for A, B on t adjust holm",
    "compare F for A, B on t p < .01": "compare F for A, B on t level 0.01",
    "compare F for A versus B on t": "compare F for A vs B on t",
    "compare F for A, B on t noninferiority margin 5%": "compare F for A, B on t margin 5%",
    "compare F for A, B on t by document.topic": "differ F for A, B on t by document.topic",
    "score F for all on t top 5": "score F for all on t limit 5",
    "score F for all on t with 95% CI": "score F for all on t interval",
    "score F for all on t with confidence intervals": "score F for all on t interval",
    "score F, P for all on t sort by P": "score F, P for all on t order by P",
    "plot F for all on t": "plot score F for all on t",
    "ranking F on t": "rank F on t",
    "sample size F for A, B on t detect 2%": "power F for A, B on t detect 2%",
    "win rate A vs B on t": "documents F for A vs B on t",
    "describe GE": "show systems",
    "show documents": "coverage",
    "show schema": 'sql "select table_name, column_name from information_schema.columns"',
}


@pytest.mark.parametrize("typed", GUESSES)
def test_a_guess_is_answered_with_the_line_to_type(typed: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(typed)
    assert raised.value.hints == (f"write {GUESSES[typed]}",)
    assert parse(GUESSES[typed])


SYNONYMS = {
    "leaderboard F on t": "rank F on t",
    "slices F for A, B on t by document.topic": "differ F for A, B on t by document.topic",
    "variance F on t": "spread F on t",
    "prevalence on t": "generality on t",
    "confirm F for A, B from t to u": "replicate F for A, B from t to u",
    "agreement on t": "agree on t",
    "thresholds F for A on t": "curve F for A on t",
}


@pytest.mark.parametrize("typed", SYNONYMS)
def test_a_synonym_of_a_statement_is_taken_and_shown_as_typed(typed: str) -> None:
    (statement,) = parse(typed)
    (meant,) = parse(SYNONYMS[typed])
    assert structs.replace(statement, spoken=()) == meant
    assert to_text(statement) == typed


def test_every_rewording_is_of_use() -> None:
    for rewording in REWORDINGS:
        assert any(rewording.typed.search(typed) for typed in GUESSES), rewording.typed.pattern


@pytest.mark.parametrize("text", ["compare F for A, B", "score F; ranking F on t", "", "frobnicate F", 'show "schema"'])
def test_what_can_be_read_or_means_nothing_is_left_alone(text: str) -> None:
    assert reworded(text) == ""
