"""The real MUC-4 evaluation, if it is present: its counts and labels agree with the papers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check

MUC = Path(__file__).resolve().parents[3] / "shared" / "data" / "muc4"
FILES = {
    "scores": (MUC / "score_tuples.csv", {"system": "site", "document": "message_id"}),
    "decisions": (MUC / "decisions.csv", {"system": "site", "document": "message_id"}),
    "labels": (MUC / "key_labels.csv", {"document": "message_id"}),
}

pytestmark = pytest.mark.skipif(
    not MUC.is_dir(), reason="the real MUC-4 data are not beside the checkout (../shared/data)"
)


@pytest.fixture(scope="module")
def muc() -> Iterator[Database]:
    with in_memory() as database:
        for reader, (file, columns) in FILES.items():
            load(database, file, reader, columns=columns)
        yield database


def test_all_rows_are_there_and_sound(muc: Database) -> None:
    assert muc.rows(Sql("select reader, rows from import order by id")) == [
        ("scores", 3400),
        ("decisions", 3400),
        ("labels", 400),
    ]
    assert check(muc) == ()


def test_the_f_of_summed_counts_is_the_published_one(muc: Database) -> None:
    found = muc.rows(
        Sql(
            "select system, round(200 * sum(correct + partial / 2) / sum(possible + actual), 2) from scores "
            "where test_set = 'TST3' group by all"
        )
    )
    published = {"GE": 56.01, "GE-CMU": 51.98, "UMASS": 51.61, "SRA": 29.33, "PARAMAX": 29.03, "MDC": 24.33}
    assert {system: f for system, f in found if system in published} == published


def test_the_key_has_the_printed_labels(muc: Database) -> None:
    found = dict(muc.rows(Sql("select label, count(*) from labels where test_set = 'TST3' group by all")))
    assert found == {"relevant": 65, "optional": 4, "nonrelevant": 31}


def test_the_contingency_table_of_ge(muc: Database) -> None:
    """Recall 62/68 and precision 62/71 (Lewis and Tong 1992, table 2: 0.91 and 0.87)."""
    [row] = muc.rows(Sql("select a + x, a + c + x, a + b + x from contingency where test_set='TST3' and system='GE'"))
    assert row[0] / row[1] == pytest.approx(62 / 68)
    assert row[0] / row[2] == pytest.approx(62 / 71)


@pytest.mark.parametrize("reader", FILES)
def test_loading_again_changes_nothing(muc: Database, reader: str) -> None:
    file, columns = FILES[reader]
    assert load(muc, file, reader, columns=columns).rows_new == 0
