"""A second run of a model is a replicate: how runs are distinguished, and the names of their systems."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalhouse.warehouse.kinds.records import FAILURES, RUNS, SYSTEMS, VALUES, WHOLE_RUN
from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.loading.readers import Reader
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check


def runs_of_models(staging: Staging) -> tuple[Staged, ...]:
    """Lines of model, test set, id of the run, date, and whether the answer is right."""
    with Sheets(staging, VALUES, FAILURES, RUNS, SYSTEMS) as sheets:
        values = sheets.open(VALUES, "test_set", "system", "document", "measure", "value")
        failures = sheets.open(FAILURES, "test_set", "system", "item", "reason")
        for document in documents(staging):
            for number, line in document.lines():
                said, test_set, run, date, right = line.split(",")
                model = staging.named("system", said, "no model")
                system = staging.replicate(model, test_set, run=run or None, date=date or None)
                if right.isdecimal():
                    values.add(number, test_set, system, "D1", "acc", right)
                else:
                    failures.add(number, test_set, system, WHOLE_RUN, right)
        return sheets.staged()


READER = Reader("model-runs", "runs", (VALUES, FAILURES, RUNS, SYSTEMS), "", runs_of_models)


def stored(database: Database, tmp_path: Path, *lines: str, **fields: str) -> dict[str, object]:
    """What a file of these lines adds, and the systems and runs that are there then."""
    file = tmp_path / "file"
    file.write_text("\n".join(lines))
    new = load(database, file, READER, fields=fields).rows_new
    runs = database.rows(Sql("select test_set, system, coalesce(run, date) from runs order by all"))
    assert check(database) == ()
    return {"new": new, "runs": runs}


@pytest.mark.long
def test_runs_are_told_by_their_ids(database: Database, tmp_path: Path) -> None:
    first = stored(database, tmp_path, "gpt,qa,a1,2026-01-01,1")
    assert first == {"new": 3, "runs": [("qa", "gpt", "a1")]}
    # The same run once more, though in another file, and another one that answers otherwise.
    again = stored(database, tmp_path, "gpt,qa,a1,2026-01-01,1", "gpt,qa,b2,2026-01-08,0")
    assert again == {"new": 3, "runs": [("qa", "gpt", "a1"), ("qa", "gpt#2", "b2")]}
    assert stored(database, tmp_path, "gpt,qa,b2,2026-01-08,0")["new"] == 0
    models = database.rows(Sql("select system, value from system_attributes where attribute = 'model' order by all"))
    assert models == [("gpt", "gpt"), ("gpt#2", "gpt")]
    assert [value for (value,) in database.rows(Sql("select value from document_values order by system"))] == [1, 0]


def test_a_run_on_another_test_set_is_no_replicate(database: Database, tmp_path: Path) -> None:
    lines = ("gpt,qa,a1,,1", "gpt,arc,a2,,1", "gpt,arc,a3,,1", "gpt,qa,a3,,1", "claude,qa,a1,,1")
    assert stored(database, tmp_path, *lines)["runs"] == [
        ("arc", "gpt", "a2"),
        ("arc", "gpt#2", "a3"),
        ("qa", "claude", "a1"),
        ("qa", "gpt", "a1"),
        ("qa", "gpt#2", "a3"),
    ]


def test_dates_tell_runs_without_ids_and_nothing_tells_the_rest(database: Database, tmp_path: Path) -> None:
    lines = ("gpt,qa,,2026-01-01,1", "gpt,qa,,2026-01-08,1", "claude,qa,,,1")
    assert stored(database, tmp_path, *lines)["runs"] == [("qa", "gpt", "2026-01-01"), ("qa", "gpt#2", "2026-01-08")]
    assert database.rows(Sql("select name from system order by 1")) == [("claude",), ("gpt",), ("gpt#2",)]


def test_the_name_that_is_set_is_that_of_the_model(database: Database, tmp_path: Path) -> None:
    runs = stored(database, tmp_path, "gpt,qa,a1,,1", "gpt,qa,a2,,1", system="mine")["runs"]
    assert runs == [("qa", "mine", "a1"), ("qa", "mine#2", "a2")]
    assert database.rows(Sql("select distinct system from document_values order by 1")) == [("mine",), ("mine#2",)]


def test_failures_are_kept_and_undone_with_their_load(database: Database, tmp_path: Path) -> None:
    stored(database, tmp_path, "gpt,qa,a1,,1", "claude,qa,a2,,out of memory")
    failures = database.rows(Sql("select test_set, system, item, reason from failures"))
    assert failures == [("qa", "claude", "*", "out of memory")]
    assert forget(database, 1).rows == 6
    for table in ("run", "failure", "system", "test_set"):
        assert database.rows(Sql(f"select count(*) from {table}")) == [(0,)]


@pytest.mark.parametrize(
    ("line", "fault"), [("gpt\x07,qa,a1,,1", "control character"), ("gpt,,a1,,1", "test_set is empty")]
)
def test_names_of_runs_are_judged_like_any_other(database: Database, tmp_path: Path, line: str, fault: str) -> None:
    from evalhouse.warehouse.faults import DataError

    with pytest.raises(DataError, match=fault):
        stored(database, tmp_path, line)
