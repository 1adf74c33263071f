"""Ctrl-C stops whatever runs, and the session continues."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from functools import partial

import pytest

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.process.stopping import interruptibly
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.significance.draws import in_order
from evalhouse.warehouse.store.sql import Sql

ENDLESS = {
    "a query": 'sql "select count(*) from range(3000000) a, range(1000000) b where (a.range * b.range) % 7 = 3"',
    "shuffles of a pair": "compare F for GE, UMASS on TST3 shuffles 900000000",
    "shuffles of all pairs": "compare F for all on TST3 shuffles 900000000",
    "permuted labels": "compare F for all on TST3 test tukey shuffles 900000000",
}


@pytest.fixture(autouse=True)
def everything_is_imported(session: Session) -> None:
    """A stop in the middle of an import leaves a source file for the garbage collector, which pytest would complain
    of.
    """
    session.run("compare F for GE, UMASS on TST3 shuffles 9; compare F for all on TST3 shuffles 9")
    session.run('compare F for GE, UMASS, SRI on TST3 test tukey shuffles 9; sql "select 1"')


@pytest.mark.long
@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("after", [0.01, 0.5])
def test_what_would_never_end_is_stopped(name: str, after: float, session: Session) -> None:
    key = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    key.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            interruptibly(lambda: session.run(ENDLESS[name]), session.database.interrupt)
    finally:
        key.join()
        with contextlib.suppress(WarehouseError):
            session.database.run(Sql("rollback"))
    assert session.run("score F for GE on TST3").rows[0]["documents"] == 100


def test_what_is_done_comes_back_and_what_goes_wrong_is_raised() -> None:
    assert interruptibly(lambda: 3, lambda: None) == 3
    with pytest.raises(ZeroDivisionError):
        interruptibly(lambda: 1 // 0, lambda: None)


def _endlessly(ended: threading.Event) -> None:
    try:
        while True:
            pass
    finally:
        ended.set()


@pytest.mark.long
def test_a_second_key_does_not_leave_the_work_behind() -> None:
    ended = threading.Event()
    keys: list[None] = []

    def first(seconds: float) -> None:
        raise KeyboardInterrupt

    def second() -> None:
        keys.append(None)
        if len(keys) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interruptibly(partial(_endlessly, ended), second, first)
    assert ended.is_set()


def test_whatever_watching_raises_stops_the_work_first() -> None:
    ended = threading.Event()

    def waiting(seconds: float) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        interruptibly(partial(_endlessly, ended), lambda: None, waiting)
    assert ended.is_set()


@pytest.mark.long
def test_work_is_stopped_while_it_starts_threads() -> None:
    """At any moment of it; a stop that a thread took which was just being started would be waited for without end."""

    def starting() -> None:
        while True:
            list(in_order(abs, range(3), threads=2))

    def stopped(seconds: float) -> None:
        raise KeyboardInterrupt

    for _ in range(200):
        with pytest.raises(KeyboardInterrupt):
            interruptibly(starting, lambda: None, stopped)


def test_work_that_is_stopped_before_it_began_never_does(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        interruptibly(begun.set, lambda: None)
    monkeypatch.setattr(threading.Thread, "start", start)
    assert not begun.is_set()


def test_one_is_told_how_long_it_takes() -> None:
    told: list[float] = []
    gate = threading.Event()

    def waiting(seconds: float) -> None:
        told.append(seconds)
        if len(told) == 3:
            gate.set()

    interruptibly(gate.wait, lambda: None, waiting)
    assert told == sorted(told)
    assert len(told) >= 3
