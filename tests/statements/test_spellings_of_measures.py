"""A measure is found on every test set that has it, whatever its name in the log was; an error lists the test sets that
have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from tests.empty import create

STORED = {
    "gsm8k": ("exact_match,strict-match", "exact_match,flexible-extract"),
    "arc": ("acc,none", "acc_norm,none"),
    "popularity": ("accuracy",),
    "squad": ("mean_acc", "exact_match:strict-match"),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("spellings")
    rows = [f'{on},gpt,D1,"{measure}",1' for on, measures in STORED.items() for measure in measures]
    (folder / "v.csv").write_text("\n".join(["test_set,system,document,measure,value", *rows]))
    with create(folder / "w.duckdb") as database:
        load(database, folder / "v.csv", "values")
    with Session.open(folder / "w.duckdb") as session:
        yield session


@pytest.mark.parametrize(
    ("asked", "on"),
    [
        ("acc", {"arc", "popularity", "squad"}),
        ("accuracy", {"arc", "popularity", "squad"}),
        ("ACC", {"arc", "popularity", "squad"}),
        ("acc_norm", {"arc"}),
        ("acc-norm", {"arc"}),
        # What says whether an answer is right is the accuracy of a test set that has no more than that.
        ("exact_match:strict-match", {"gsm8k", "squad", "popularity"}),
        ("exact_match:flexible-extract", {"gsm8k", "popularity"}),
    ],
)
def test_one_measure_in_several_spellings(session: Session, asked: str, on: set[str]) -> None:
    rows = session.run(f'score "{asked}" for all').rows
    assert {row["test_set"] for row in rows} == on
    assert all(row[asked] == 1 for row in rows)


def test_filters_are_asked_about_where_there_are_several(session: Session) -> None:
    assert session.run("score exact_match for all on squad").rows[0]["exact_match"] == 1
    with pytest.raises(QueryError) as caught:
        session.run("score exact_match for all on gsm8k")
    assert caught.value.message == "gsm8k has several measures called exact_match"
    assert caught.value.hints == ("write exact_match,flexible-extract or exact_match,strict-match",)


def test_a_measure_that_a_test_set_lacks_is_said_to_be_on_others(session: Session) -> None:
    with pytest.raises(QueryError) as caught:
        session.run("score acc_norm for all on arc, squad")
    assert caught.value.message == "squad has no acc_norm; arc has it"
    assert caught.value.hints == ("measures of squad: exact_match:strict-match, mean_acc",)
    with pytest.raises(QueryError, match="unknown measure 'acc_nom'"):
        session.run("score acc_nom for all on arc")


def test_a_filter_that_a_log_has_not_is_an_error_that_names_those_that_it_has(tmp_path: Path) -> None:
    """Also of the metric whose values are stored as the accuracy."""
    log = tmp_path / "samples_gsm8k_2026-01-21T03-44-18.458309.jsonl"
    filters = ("strict-match", "flexible-extract")
    sample = '{{"doc_id": 0, "filter": "{}", "metrics": ["exact_match"], "exact_match": 1.0}}\n'
    log.write_text("".join(map(sample.format, filters)))
    with create(tmp_path / "w.duckdb") as database:
        load(database, log, "lm-eval", fields={"system": "gpt"})
    with Session.open(tmp_path / "w.duckdb") as session:
        for asked in ("exact_match", "accuracy", *(f"exact_match:{each}" for each in filters)):
            assert session.run(f'score "{asked}" for all on gsm8k').rows[0][asked] == 1
        with pytest.raises(QueryError) as caught:
            session.run('score "exact_match:stric" for all on gsm8k')
    assert caught.value.message == "gsm8k has no exact_match:stric"
    assert caught.value.hints == ("write exact_match:strict-match or exact_match:flexible-extract",)
