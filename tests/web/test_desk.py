"""Questions end when they are finished, when their time is up or when their reader leaves, whatever other
readers do.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="pages need the extra web")

from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.web import guard
from evalhouse.warehouse.web.inquiry import Desk, TimeIsUpError
from evalhouse.warehouse.web.server import Pages, application
from tests.web.test_safety import LONG, scope

Message = MutableMapping[str, Any]


def endless(session: Session) -> Iterator[str]:
    while True:
        time.sleep(0.001)
        yield "more"


def two(session: Session) -> Iterator[str]:
    yield from ("one", "other")


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.001)


def test_who_takes_nothing_holds_up_nobody() -> None:
    async def asked() -> list[list[str]]:
        desk = Desk(Session.open, 60, at_once=1)
        slow = desk.pieces(two)
        taken = [await anext(slow)]
        await until(lambda: desk.running == 0)
        others = [piece async for piece in desk.pieces(two)]
        taken += [piece async for piece in slow]
        desk.close()
        # How far a question is, a number, comes between its pieces where it takes long.
        return [[piece for piece in pieces if isinstance(piece, str)] for pieces in (others, taken)]

    assert asyncio.run(asked()) == [["one", "other"], ["one", "other"]]


def test_the_time_of_a_question_is_up_though_nobody_takes_its_pieces() -> None:
    async def asked() -> None:
        desk = Desk(Session.open, 0.05, at_once=1)
        slow = desk.pieces(endless)
        await anext(slow)
        await until(lambda: desk.running == 0)
        assert [piece async for piece in desk.pieces(two)] == ["one", "other"]
        with pytest.raises(TimeIsUpError):
            async for _ in slow:
                pass
        desk.close()

    asyncio.run(asked())


def visited(pages: Pages, path: str, query: str, send: Callable[[Message], Awaitable[None]], leaves: Any) -> None:
    """A page is asked for; the reader leaves when `leaves` comes back."""
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await leaves()
        return {"type": "http.disconnect"}

    asyncio.run(application(pages, ())(scope(path, query), receive, send))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/answer", "/complete"])
def test_what_is_made_as_a_whole_ends_when_its_reader_leaves(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.shell.offers.candidates", lambda typed, session: list(endless(session)))
    pages = Pages(Session.open, "", 600)
    desk = pages.desk if path == "/answer" else pages.quick
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    visited(pages, path, urlencode({"q": LONG, "text": "compare "}), send, lambda: until(lambda: desk.running == 1))
    assert (desk.running, sent) == (0, [])
    pages.close()


def test_a_reader_who_takes_nothing_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SLOWEST", 0.02)
    monkeypatch.setattr("evalhouse.warehouse.web.server.PATIENCE", 0.0)
    pages = Pages(Session.open, "", 600)

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    visited(pages, "/", urlencode({"q": LONG}), send, asyncio.Event().wait)
    assert pages.desk.running == 0
    pages.close()


def test_a_long_response_is_sent_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PIECE", 1000)
    pages = Pages(Session.open, "", 600)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    visited(pages, "/answer", urlencode({"q": "show systems"}), send, asyncio.Event().wait)
    start, *bodies = sent
    assert dict(start["headers"])[b"content-length"] == str(sum(len(body["body"]) for body in bodies)).encode()
    assert [body["more_body"] for body in bodies] == [*[True] * (len(bodies) - 1), False]
    assert {len(body["body"]) for body in bodies[:-1]} == {1000}
    pages.close()
