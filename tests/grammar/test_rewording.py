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
    "is A better than B on t": "compare A vs B on t",
    "which system is best on t": "rank on t",
    "where do A and B differ on t": "documents for A, B on t",
    "examples A vs B on t": "documents for A, B on t",
    "how many questions to detect 2% F for A, B on t": "power F for A, B on t detect 2%",
    "breakdown F for A, B on t by document.topic": "differ F for A, B on t by document.topic",
    "significance groups F on t": "group F on t",
    "threshold curve F for A on t": "curve F for A on t",
    "classification report for A on t": "score precision, recall, F1, support for A on t by unit",
    "per-topic F on t": "score F on t by topic",
    "rank systems by F on t": "rank F on t",
    "list systems": "show systems",
    "show models": "show systems",
    "show datasets": "show test sets",
    "show metrics": "show measures",
    "show loads": "show imports",
    "F of A on t": "score F for A on t",
    "F, P on t": "score F, P on t",
    "score macro F1 on t": "score macro(F1) on t",
    "score cohen's kappa on t": "score kappa on t",
    "compare F between A and B on t": "compare F for A, B on t",
    "compare F A vs B on t": "compare F for A vs B on t",
    "compare A B on t": "compare A, B on t",
    "score F for A B C on t": "score F for A, B, C on t",
    "score F for A on t per unit": "score F for A on t by unit",
    "compare F for A, B on t approximate randomization": "compare F for A, B on t test randomization",
    "compare F for A, B on t with a permutation test": "compare F for A, B on t test permutation",
    "compare F for A, B on t mcnemar": "compare F for A, B on t test mcnemar",
    "table F on t against A with tukey": "table F on t against A test tukey",
    "compare F for all on t holm-bonferroni": "compare F for all on t adjust holm",
    "compare F for all on t benjamini-hochberg": "compare F for all on t adjust bh",
    "compare F for A, B on t alpha = 0.01": "compare F for A, B on t alpha 0.01",
    "compare F for A, B on t 999 shuffles": "compare F for A, B on t shuffles 999",
    "compare F for A, B on t at 99% confidence": "compare F for A, B on t level 0.01",
    "score F on t with 90% ci": "score F on t interval level 0.1",
    "score F on t ±": "score F on t interval",
    "compare F for A, B on t one-tailed": "compare F for A, B on t one-sided",
    "score F on t order by F descending": "score F on t order by F desc",
    "score F on t order by F ascending": "score F on t order by F asc",
    "win rate A vs B on t": "documents for A vs B on t",
    "confusion matrix for A on t": "confusion for A on t",
    "show the confusion matrix for A on t": "confusion for A on t",
    "describe GE": "show systems",
    "show documents": "coverage",
    "show schema": 'sql "select table_name, column_name from information_schema.columns"',
}


@pytest.mark.parametrize("typed", GUESSES)
def test_a_guess_is_answered_with_the_line_to_type(typed: str) -> None:
    with pytest.raises(QueryError) as raised:
        parse(typed)
    assert raised.value.hints[0] == f"write {GUESSES[typed]}"
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
