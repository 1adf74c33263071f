"""`as of`: statements on the past of a warehouse. The past here is a list of warehouses, one after each load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import evalhouse
from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.plans.past import MOST_OPEN, AsOf, NoSuchStateError, requested_state
from evalhouse.warehouse.plans.path import DuckDBEngine, Engine, Workforce
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.verification import claims, verify
from evalhouse.warehouse.statements import statements
from evalhouse.warehouse.statements.questions import OnlyQuestions
from evalhouse.warehouse.store.catalog import store_definition
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.web.inquiry import AnswerCache, Inquiry
from tests.conftest import write_csv
from tests.empty import create

DAYS = [datetime(2026, 11, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
"""When the warehouse was loaded."""


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A warehouse before it was loaded, and after each of three loads."""
    folder = tmp_path_factory.mktemp("states")
    header = "test_set system document measure value"
    files = [
        write_csv(folder / f"{system}.csv", header, [("T", system, f"D{k}", "m", k % among) for k in range(20)])
        for system, among in (("A", 2), ("B", 3), ("C", 4))
    ]
    paths = [folder / f"{loads}.duckdb" for loads in range(len(files) + 1)]
    for loads, path in enumerate(paths):
        with create(path) as database:
            store_definition(database, "twice", "define measure twice = a * 2")
            for file in files[:loads]:
                load(database, file, "values")
    return paths


class Past:
    """The past of a warehouse, and a session on it as it is now. `opened` are the states that were opened."""

    def __init__(self, states: list[Path]) -> None:
        self.loads = len(states) - 1
        self.opened: list[Database] = []
        self._states = states
        self.session = Session(open_database(states[-1]))
        self.session.past = self

    def __call__(self, as_of: AsOf) -> Database:
        if as_of.until is not None:
            until = as_of.until
            loads = sum(day <= until for day in DAYS[: self.loads])
        elif as_of.import_id is not None and as_of.import_id <= self.loads:
            loads = as_of.import_id
        else:
            raise NoSuchStateError(f"there is no import {as_of.import_id}", ("the last one is 3",))
        self.opened.append(open_database(self._states[loads]))
        return self.opened[-1]

    def systems(self, clause: str) -> list[object]:
        """The systems that are scored in the state of a clause."""
        return [row["system"] for row in self.session.run(f"score m for all on T {clause} order by system").rows]


@pytest.fixture
def past(states: list[Path]) -> Iterator[Past]:
    made = Past(states)
    with made.session:
        yield made


def moment(text: str) -> datetime:
    """What `as of "TEXT"` includes at last."""
    until = requested_state(n.Text(text)).until
    assert until is not None
    return until


# --- what is asked for ------------------------------------------------------------------------------------------------

END_OF_SECOND = timedelta(microseconds=999_999)


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("2026-11-01", datetime(2026, 11, 1, 23, 59, 59, 999_999, UTC)),
        ("2026-11-01 14:30", datetime(2026, 11, 1, 14, 30, tzinfo=UTC) + END_OF_SECOND),
        ("2026-11-01T14:30:05Z", datetime(2026, 11, 1, 14, 30, 5, tzinfo=UTC) + END_OF_SECOND),
        ("2026-11-01 14:30:05.25", datetime(2026, 11, 1, 14, 30, 5, 250_000, UTC)),
        ("2026-11-01T14:30+02:00", datetime(2026, 11, 1, 12, 30, tzinfo=UTC) + END_OF_SECOND),
        ("2026-11-01 00:30 -0500", datetime(2026, 11, 1, 5, 30, tzinfo=UTC) + END_OF_SECOND),
        (" 2024-02-29 ", datetime(2024, 2, 29, 23, 59, 59, 999_999, UTC)),
    ],
)
def test_a_date_is_its_whole_day_and_a_time_its_whole_second_in_utc(text: str, until: datetime) -> None:
    assert moment(text) == until
    assert moment(text).tzinfo is UTC


@pytest.mark.parametrize(
    ("written", "message", "hint"),
    [
        ('"yesterday"', '"yesterday" is not a date', 'write as of "2026-11-01"'),
        ('"1.11.2026"', '"1.11.2026" is not a date', 'write as of "2026-11-01"'),
        ('"2026-02-30"', "there is no day or time 2026-02-30", 'write as of "2026-11-01"'),
        ('"2026-11-01 25:00"', "there is no day or time 2026-11-01 25:00", 'write as of "2026-11-01"'),
        ('"0001-01-01 00:00+14:00"', "there is no day or time", 'write as of "2026-11-01"'),
        ('"9999-12-31 23:59:59-01:00"', "there is no day or time", 'write as of "2026-11-01"'),
        ('"2026-11-01 14:30 CET"', "is not a date", "an offset such as +02:00"),
        ('"3"', '"3" is not a date', "an import is written without quotes: as of 3"),
        ('""', '"" is not a date', 'write as of "2026-11-01"'),
        ("-3", "a whole number from 1 to 2,147,483,647, not -3", "show imports lists their numbers"),
        ("0", "a whole number from 1 to 2,147,483,647, not 0", "show imports"),
        ("2.5", "a whole number from 1 to 2,147,483,647, not 2.5", "show imports"),
        ("$name", "as of needs the number of an import, or a date in quotes", 'write as of "2026-11-01"'),
    ],
)
def test_what_is_neither_an_import_nor_a_date_is_refused_at_its_place(
    past: Past, written: str, message: str, hint: str
) -> None:
    statement = f"score m on T as of {written}"
    past.session.set("name", "nightly")
    with pytest.raises(QueryError) as caught:
        past.session.run(statement)
    assert message in caught.value.message
    assert hint in caught.value.hints[0]
    assert statement[caught.value.span.start : caught.value.span.end] == written
    assert past.opened == []


def test_every_statement_with_an_answer_takes_the_clause() -> None:
    taking = {statement.word for statement in statements() if issubclass(statement.node, n.Answerable)}
    around = {statement.word for statement in statements() if issubclass(statement.node, n.AboutQuestion)}
    assert taking | around == {statement.word for statement in statements()}


@pytest.mark.parametrize("statement", ['load "a.csv" as values', "forget import 1", "let $x = 3"])
def test_what_changes_the_warehouse_does_not(statement: str) -> None:
    with pytest.raises(QueryError, match="unexpected 'as'"):
        parse(f"{statement} as of 3")


# --- answers ----------------------------------------------------------------------------------------------------------


def test_a_statement_is_answered_on_the_state_that_it_asks(past: Past) -> None:
    assert past.systems("") == ["A", "B", "C"]
    assert past.systems("as of 1") == ["A"]
    assert past.systems('as of "2026-11-02"') == ["A", "B"]
    assert past.systems('as of "2026-11-02 11:59:59"') == ["A"]
    assert past.systems('as of "2026-11-02 13:59:59+02:00"') == ["A"]
    assert past.systems('as of "2026-11-02 14:00+02:00"') == ["A", "B"]
    assert past.systems("") == ["A", "B", "C"]


def test_names_are_looked_up_in_that_state(past: Past) -> None:
    with pytest.raises(QueryError, match="unknown system 'C'"):
        past.session.run("score m for C on T as of 2")
    assert past.session.run("score m for C on T as of 3").rows != []


def test_the_same_data_give_the_same_numbers_and_the_same_signature_but_for_the_clause(past: Past) -> None:
    now, then = past.session.run("compare m for A, B, C on T"), past.session.run("compare m for A, B, C on T as of 3")
    assert then.table == now.table
    assert then.statement == f"{now.statement} as of 3"
    assert then.signature == now.signature.replace(now.statement, then.statement)
    assert past.session.run("score m on T as of 1").signature != past.session.run("score m on T as of 2").signature


def test_results_say_which_state_they_are_of(past: Past) -> None:
    (note,) = past.session.run("score m on T as of 2").notes
    assert note.startswith("as it was then: the last import is 2, loaded at 20")
    assert note.endswith(" UTC")
    empty = past.session.run('show imports as of "2020-01-01"')
    assert (empty.rows, empty.notes) == ([], ("as it was then: there are no imports",))
    assert past.session.run("score m on T").notes == ()


@pytest.mark.parametrize(
    ("statement", "column", "cells"),
    [
        ("show systems as of 2", "system", ["A", "B"]),
        ('sql "select name from system order by all" as of 2', "name", ["A", "B"]),
        ("coverage as of 2", "system", ["A", "B"]),
        ("expect better compare m for B, A on T as of 2", "system_a", ["B"]),
        ("expect score m for A on T as of 1 at least 0.4", "system", ["A"]),
        ("plot score m on T as of 1", "system", ["A"]),
    ],
)
def test_other_statements_ask_the_past_too(past: Past, statement: str, column: str, cells: list[str]) -> None:
    rows = past.session.run(statement).rows
    assert [row[column] for row in rows] == cells


def test_explain_says_what_would_be_done_in_that_state(past: Past) -> None:
    result = past.session.run("explain score m on T as of 1")
    assert [row["what"] for row in result.rows][:2] == ["score m on T as of 1", "m of values on T for A"]


def test_export_writes_the_rows_of_that_state(past: Past, tmp_path: Path) -> None:
    past.session.folder = tmp_path
    past.session.run('export score m on T as of 1 to "then.json"')
    written = json.loads((tmp_path / "then.json").read_text(encoding="utf-8"))
    assert [row["system"] for row in written["rows"]] == ["A"]
    assert written["statement"] == "score m on T as of 1"
    assert written["notes"][0].startswith("as it was then: the last import is 1")


def test_a_variable_names_the_state(past: Past) -> None:
    past.session.run('let $then = 1; let $day = "2026-11-02"; show systems')
    assert past.systems("as of $then") == ["A"]
    assert past.systems("as of $day") == ["A", "B"]
    assert past.session.run("score m on T as of $then").statement == "score m on T as of 1"


def test_a_measure_that_was_defined_later_can_be_asked_of_the_past_and_earlier_ones_keep_their_meaning(
    past: Past,
) -> None:
    meanings = []
    for definition in (
        "define measure TWICE = b * 2",
        "define measure thrice = b * 3",
        "define measure thrice = c * 3",
    ):
        rows = past.session.run(f"{definition}; show measures as of 1").rows
        meanings.append({row["measure"]: row["meaning"] for row in rows if "ice" in str(row["measure"]).casefold()})
    assert meanings == [
        {"twice": "a * 2"},
        {"twice": "a * 2", "thrice": "b * 3"},
        {"twice": "a * 2", "thrice": "c * 3"},
    ]


def test_a_state_that_never_was_is_an_error_at_the_clause(past: Past) -> None:
    statement = "score m on T as of 9"
    with pytest.raises(QueryError) as caught:
        past.session.run(statement)
    assert (caught.value.message, caught.value.hints) == ("there is no import 9", ("the last one is 3",))
    assert statement[caught.value.span.start : caught.value.span.end] == "9"


def test_a_past_that_cannot_be_opened_is_an_error_of_the_warehouse(past: Past) -> None:
    def gone(as_of: AsOf) -> Database:
        raise WarehouseError("the folder cannot be read")

    past.session.past = gone
    with pytest.raises(WarehouseError, match="the folder cannot be read"):
        past.session.run("score m on T as of 1")


def test_only_a_lake_keeps_its_past() -> None:
    with Session.in_memory() as session, pytest.raises(QueryError) as caught:
        session.run("show systems as of 3")
    assert caught.value.message == "this warehouse does not keep its past"
    assert "evalhouse init FOLDER --lake" in caught.value.hints[0]


# --- states that are kept open ----------------------------------------------------------------------------------------


def is_open(database: Database) -> bool:
    try:
        return database.rows(Sql("select 1")) == [(1,)]
    except WarehouseError:
        return False


def test_a_state_is_opened_once_and_only_a_few_stay_open(past: Past) -> None:
    for _ in range(2):
        past.systems("as of 1")
    assert len(past.opened) == 1
    days = [f'as of "2026-11-{day:02}"' for day in range(1, MOST_OPEN + 2)]
    for day in days:
        past.systems(day)
    assert [is_open(database) for database in past.opened] == [False, False, *[True] * MOST_OPEN]


def test_a_day_that_is_not_over_is_opened_anew(past: Past) -> None:
    today = f'as of "{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"'
    past.loads = 2
    assert past.systems(today) == ["A", "B"]
    past.loads = 3
    assert past.systems(today) == ["A", "B", "C"]
    assert [is_open(database) for database in past.opened] == [False, True]


def test_states_are_closed_with_the_session_and_when_the_warehouse_changes(past: Past) -> None:
    past.systems("as of 1")
    past.session._warehouse.use(past.session.database)
    past.systems("as of 1")
    assert [is_open(database) for database in past.opened] == [False, True]
    past.session.close()
    assert not is_open(past.opened[-1])


class Interrupting:
    """An engine during whose queries somebody interrupts a session."""

    def __init__(self, engine: Engine, session: Session) -> None:
        self._engine, self._session = engine, session
        self.interrupted = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        self._session.interrupt()
        return self._engine.rows(query)

    def interrupt(self) -> None:
        self.interrupted += 1


def test_an_interrupt_reaches_the_state_that_answers(past: Past) -> None:
    engines = []

    def made(database: Database, workforce: Workforce) -> Engine:
        engines.append(Interrupting(DuckDBEngine(database, workforce), past.session))
        return engines[-1]

    past.session._made = made
    past.systems("as of 1")
    (engine,) = engines
    assert engine.interrupted > 0
    known = engine.interrupted
    past.session.interrupt()
    assert engine.interrupted == known


# --- where statements are asked ---------------------------------------------------------------------------------------


def test_methods_take_imports_dates_and_times(past: Past) -> None:
    house = evalhouse.Warehouse(past.session)
    assert [row["system"] for row in house.score("m", on="T", as_of=1).rows] == ["A"]
    assert house.score("m", on="T", as_of="2026-11-01").statement == 'score m on T as of "2026-11-01"'
    assert house.show("systems", as_of=date(2026, 11, 2)).statement == 'show systems as of "2026-11-02"'
    at_noon = datetime(2026, 11, 2, 13, 30, tzinfo=timezone(timedelta(hours=2)))
    assert [row["name"] for row in house.sql("select name from system", as_of=at_noon).rows] == ["A"]
    with pytest.raises(TypeError):
        house.score("m", as_of=True)


def test_pages_answer_them_and_keep_the_answers_of_different_states_apart(past: Past) -> None:
    inquiry = Inquiry(past.session, AnswerCache())
    first, second = (inquiry.one(f"score m on T as of {number}") for number in (1, 2))
    assert [len(result.rows) for result in (first, second)] == [1, 2]
    assert inquiry.one("score m on T as of 1") is first


def test_a_session_that_only_answers_questions_asks_the_past(past: Past) -> None:
    past.session.only = OnlyQuestions()
    assert past.systems("as of 1") == ["A"]


def test_a_result_of_the_past_is_verified_on_the_past(past: Past) -> None:
    claimed = claims(past.session.run("score m on T as of 1").signature, "mail")
    assert [verify(claim, past.session).verdict for claim in claimed] == ["same"]
