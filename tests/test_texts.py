"""Texts: what is stored beside facts, asked for, and forgotten with its import."""

from __future__ import annotations

import pytest

from warehouse.query.compile.texts import texts
from warehouse.store.database import Database, in_memory
from warehouse.store.sql import Sql


@pytest.fixture
def stored() -> Database:
    """A warehouse of two documents and two systems, with their texts."""
    database = in_memory()
    database.run(
        Sql(
            "insert into test_set values (1, 0, 'qa'); insert into system values (1, 'new'), (2, 'base'); "
            "insert into document values (1, 1, 'D1'), (2, 1, 'D2'); "
            "insert into document_text values "
            "(1, 1, 'reference', 2, 1, 4, 'four', 1), (1, 1, 'reference', 1, 1, 1, '4', 1), "
            "(1, 1, 'input', 1, 1, 6, '2 + 2?', 1), (1, 2, 'input', 1, 1, 0, '', 1); "
            "insert into system_text values "
            "(1, 1, 1, 'output', 1, 1, 8, 'It is 4.', 1), (1, 2, 1, 'output', 1, 1, 1, '5', 1), "
            "(1, 2, 1, 'input', 1, 1, 9, 'Q: 2 + 2?', 1), (1, 1, 2, 'output', 1, 1, 2, 'no', 1)"
        )
    )
    return database


def test_texts_of_named_documents_and_systems(stored: Database) -> None:
    of_both = stored.rows(texts(1, [1, 2], ["D1"]).sql)
    assert of_both == [
        ("D1", None, "input", "2 + 2?", 6),
        ("D1", "base", "input", "Q: 2 + 2?", 9),
        ("D1", None, "reference", "4", 1),
        ("D1", None, "reference", "four", 4),
        ("D1", "base", "output", "5", 1),
        ("D1", "new", "output", "It is 4.", 8),
    ]
    assert stored.rows(texts(1, [2], ["D2", "nowhere"]).sql) == [("D2", None, "input", "", 0)]
    assert stored.rows(texts(1, [], []).sql) == []


def test_texts_of_documents_that_a_query_gives_are_cut_where_they_are_long(stored: Database) -> None:
    query = texts(1, [1], Sql("select id from document where name = ?", ("D1",)), longest=3, called="of D1")
    assert query.name == "of D1"
    assert stored.rows(query.sql)[0] == ("D1", None, "input", "2 +", 6)
    assert stored.rows(query.sql)[-1] == ("D1", "new", "output", "It ", 8)


def test_the_view_has_names(stored: Database) -> None:
    stored.run(Sql("insert into import values (1, 'f', '', 'r', '{}', now(), 7, '', false)"))
    rows = stored.rows(Sql("select test_set, system, document, kind, number, text from texts order by all"))
    assert rows[:2] == [("qa", "base", "D1", "input", 1, "Q: 2 + 2?"), ("qa", "base", "D1", "output", 1, "5")]
    assert rows[-1] == ("qa", None, "D2", "input", 1, "")
