"""A warehouse that was only loaded into is sound; one that was tampered with is told to be unsound, and where."""

from __future__ import annotations

import pytest

from tests.store.texts import SCORES, THREE, Load
from warehouse.database import Database, unbalanced_imports
from warehouse.readers import READERS
from warehouse.soundness import check
from warehouse.sql import Sql


def test_what_was_loaded_is_sound(database: Database, load_text: Load) -> None:
    for reader in READERS.values():
        if reader.columns:
            load_text(reader.example, reader.name)
    assert check(database) == ()
    assert unbalanced_imports(database) == ()


@pytest.mark.parametrize(
    ("harm", "problems"),
    [
        ("delete from score where document_id = 1", {"import 1 brought 3 rows, and 2 are there"}),
        (
            "insert into score select * from score where document_id = 1",
            {
                "score: keys (test_set_id, system_id, document_id, unit_id) that stand more than once: 1",
                "import 1 brought 3 rows, and 4 are there",
            },
        ),
        (
            "delete from import",
            {
                "score: rows that point to no import: 3",
                "import 1 brought 0 rows, and 3 are there",
            },
        ),
        ("delete from system", {"score: rows that point to no system: 3"}),
        (
            "insert into system values (7, 'GE')",
            {"system: keys (name) that stand more than once: 1"},
        ),
        (
            "insert into test_set values (7, 0, 'U'); update score set test_set_id = 7",
            {"score: rows with a document of another test set: 3"},
        ),
    ],
)
def test_harm_is_found(database: Database, load_text: Load, harm: str, problems: set[str]) -> None:
    load_text(SCORES + THREE)
    database.run(Sql(harm))
    assert set(check(database)) == problems
