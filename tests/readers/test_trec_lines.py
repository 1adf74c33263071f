"""Lines of TREC: files with one blank between their cells, which DuckDB reads as a table, and all others."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import RANKINGS
from evalhouse.warehouse.loading.ingest import forget
from evalhouse.warehouse.loading.readers import trec
from evalhouse.warehouse.loading.staging import lines as surveying
from evalhouse.warehouse.loading.staging.cells import CHECKS
from evalhouse.warehouse.loading.staging.lines import Document
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Load

ON = {"test_set": "T"}
QRELS = "t1 0 d1 1\nt1 0 d2 0\nt2 0 d1 2\n"
RUN = "t1 Q0 d1 1 2.5 base\nt1 Q0 d2 2 1.5 base\nt2 Q0 d3 1 -.5e1 base\n"

SCORES = st.text(alphabet="0123456789+-.eE_xnaif'", min_size=1, max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(SCORES, min_size=1, max_size=200))
def test_what_is_a_number_at_a_glance_is_a_number(database: Database, texts: list[str]) -> None:
    cell = Sql("it")
    glance, pattern = trec.PLAIN_SCORE.replace("CELL", "it"), CHECKS["number"].passed_by(cell).text
    glance += f" and abs(try_cast(it as double)) < {trec.LARGEST}"
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
    read_any = trec._read_any

    def noted(staging: Staging, left_out: tuple[str, ...]) -> tuple[str, ...]:
        careful.append(staging)
        return read_any(staging, left_out)

    monkeypatch.setattr(trec, "_read_any", noted)
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


@given(st.text(alphabet="ab \n\té\r", max_size=12).map(str.encode), st.integers(1, 5))
def test_a_plain_text_is_told_from_others_in_whatever_pieces_it_is_read(text: bytes, few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surveying, "_FEW", few)
        found = surveying.plain_text(Document(Staging(None, Path("run"), RANKINGS, {}, {}), BytesIO(text)))  # type: ignore[arg-type]
    lines = text.removesuffix(b"\n").split(b"\n") if text else []
    cells = [cell for line in lines for cell in line.split(b" ")]
    if all(cells) and not any(white in text for white in (b"\t", b"\r")):
        assert found == surveying.PlainText(len(lines), len(cells), text.isascii())
    else:
        assert found is None


def test_equal_scores_are_ranked_by_name_whatever_was_stored_first(database: Database, load_text: Load) -> None:
    load_text("t1 0 d2 1\n", "trec", "qrels", fields=ON)
    load_text("t1 Q0 d9 1 2 first\nt1 Q0 d5 2 1 first\n", "trec", "first", fields=ON)
    load_text("t1 Q0 d1 1 7 second\nt1 Q0 d5 2 7 second\nt1 Q0 d7 3 7 second\n", "trec", "second", fields=ON)
    ranked = (
        "select i.name from ranking r join item i on i.id = r.item_id join system s on s.id = r.system_id "
        "where s.name = 'second' order by r.rank"
    )
    assert [name for (name,) in database.rows(Sql(ranked))] == ["d7", "d5", "d1"]


@pytest.mark.parametrize("option", [{"depth": "1"}, {"threshold": "2"}])
def test_names_of_documents_that_do_not_count_as_retrieved_are_not_stored(
    database: Database, load_text: Load, option: dict[str, str]
) -> None:
    load_text(QRELS, "trec", "qrels", fields=ON)
    load_text("t1 Q0 d8 1 2.5 base\nt1 Q0 d9 2 1.5 base\nt9 Q0 d7 1 2 base\n", "trec", "run", fields=ON, options=option)
    assert database.rows(Sql("select name from item where id <> 0 order by 1")) == [("d1",), ("d2",), ("d7",), ("d8",)]
    load_text("t8 Q0 d7 1 1 more\nt1 Q0 d7 1 4 more\n", "trec", "more", fields=ON, options={"threshold": "3"})
    assert database.rows(Sql("select name from document where name like 't_' order by 1")) == [
        ("t1",),
        ("t2",),
        ("t9",),
    ]
