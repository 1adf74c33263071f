"""Lines of TREC: files with one blank between their cells, which DuckDB reads as a table, and all others."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.texts import Load
from warehouse.faults import DataError
from warehouse.loading.ingest import forget
from warehouse.loading.readers import trec_lines
from warehouse.loading.staging.cells import KINDS
from warehouse.loading.staging.staged import Staging
from warehouse.store.database import Database
from warehouse.store.sql import Sql

ON = {"test_set": "T"}
QRELS = "t1 0 d1 1\nt1 0 d2 0\nt2 0 d1 2\n"
RUN = "t1 Q0 d1 1 2.5 base\nt1 Q0 d2 2 1.5 base\nt2 Q0 d3 1 -.5e1 base\n"

SCORES = st.text(alphabet="0123456789+-.eE_xnaif'", min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(SCORES, min_size=1, max_size=200))
def test_what_is_a_number_at_a_glance_is_a_number(database: Database, texts: list[str]) -> None:
    cell = Sql("it")
    glance, pattern = trec_lines.PLAIN_SCORE.replace("CELL", "it"), KINDS["number"].passed_by(cell).text
    wrong = f"select it from (select unnest(string_split(?, ' ')) as it) where ({glance}) and not ({pattern})"
    assert database.rows(Sql(wrong, (" ".join(texts),))) == []


def stored(database: Database) -> list[object]:
    """What the second import stored."""
    return [
        database.rows(Sql(f"select * exclude (import_id) from {table} where import_id = 2 order by all"))
        for table in ("ranking", "decision", "score")
    ]


@pytest.mark.parametrize(
    ("plain", "text"),
    [
        (True, RUN[:-1]),
        (False, RUN.replace(" ", "\t")),
        (False, RUN.replace(" ", "  ", 1)),
        (False, RUN.replace("\n", " \n")),
        (False, RUN.replace("\n", "\r\n")),
        (False, RUN.replace("\n", "\n\n")),
        (False, "\ufeff" + RUN),
        (False, RUN.replace("2.5", "+2.5")),
    ],
    ids=["no end", "tabs", "two blanks", "blanks at the end", "CRLF", "blank lines", "BOM", "a plus"],
)
def test_white_space_does_not_change_what_is_stored(
    database: Database, load_text: Load, monkeypatch: pytest.MonkeyPatch, plain: bool, text: str
) -> None:
    load_text(QRELS, "trec", "qrels", fields=ON)
    careful: list[Staging] = []
    read_any = trec_lines._read_any

    def noted(staging: Staging, left_out: tuple[str, ...]) -> tuple[str, ...]:
        careful.append(staging)
        return read_any(staging, left_out)

    monkeypatch.setattr(trec_lines, "_read_any", noted)
    load_text(RUN, "trec", "run", fields=ON)
    wanted = stored(database)
    assert not careful
    forget(database, 2)
    load_text(text, "trec", "run", fields=ON)
    assert stored(database) == wanted
    assert bool(careful) is not plain


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("t1 Q0 d9 9 1_0 base", "4: score is '1_0', not a finite number"),
        ("t1 Q0 d9 9 +-1 base", "4: score is '+-1', not a finite number"),
        ("t1 Q0 d9 9 1\v base", "4: score is '1\\x0b', not a finite number"),
        (
            "t1 Q0 d9 9 -1e39 base",
            "4: score is '-1e39'; scores are kept in single precision, as trec_eval does: up to 3.4e38",
        ),
        ("t1 Q0 d9 9 1 base more", "4: 7 columns in this line, and 6 in the first"),
        ("t1 Q0 d9 9 1", "4: 5 columns in this line, and 6 in the first"),
        ("t1  d9 9 1 base", "4: 5 columns in this line, and 6 in the first"),
        ("\nt1 Q0 d1 9 1 base", "5: 'd1' of topic 't1' is already on line 1"),
        (
            f"t1 Q0 {'n' * 201} 9 1 base",
            f"4: item is 201 characters long, and a name has at most 200: '{'n' * 59}…'",
        ),
        ("t1 Q0 a\x01b 9 1 base", "4: item is 'a\\x01b', which has a control character in it"),
    ],
)
def test_a_wrong_line_is_named(load_text: Load, line: str, sentence: str) -> None:
    load_text(QRELS, "trec", "qrels", fields=ON)
    with pytest.raises(DataError) as refused:
        load_text(f"{RUN}{line}\n", "trec", "run", fields=ON)
    assert {f"{fault.line}: {fault.message}" for fault in refused.value.faults} == {sentence}


def test_a_blank_line_counts_where_the_last_line_has_no_end(database: Database, load_text: Load) -> None:
    """DuckDB leaves out the blank line; its byte must not stand for the one that is missing at the end."""
    load_text(QRELS, "trec", "qrels", fields=ON)
    with pytest.raises(DataError, match=r"run:4: 'd1' of topic 't1' is already on line 1"):
        load_text("t1 Q0 d1 1 3.5 base\n\nt1 Q0 d2 2 2.5 base\nt1 Q0 d1 3 1 base", "trec", "run", fields=ON)


@pytest.mark.parametrize("field", ["document", "item", "rank", "score", "confidence"])
def test_what_each_line_of_a_run_says_cannot_be_set(database: Database, load_text: Load, field: str) -> None:
    load_text(QRELS, "trec", "qrels", fields=ON)
    with pytest.raises(DataError, match=f"{field} cannot be set: each line of a run says it"):
        load_text(RUN, "trec", "run", fields={**ON, field: "1"})
    assert stored(database) == [[], [], []]


def test_the_system_of_a_run_can_be_set(database: Database, load_text: Load) -> None:
    load_text(QRELS, "trec", "qrels", fields=ON)
    load_text(RUN, "trec", "run", fields={**ON, "system": "mine"})
    assert database.rows(Sql("select name from system")) == [("mine",)]
