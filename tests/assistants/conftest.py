"""Conversations about the sample data, in memory, through the client of the protocol's own SDK."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client
from mcp.types import TextContent

from evalhouse.warehouse.assistants.answers import Answers, CallLimits
from evalhouse.warehouse.assistants.tools import server_of
from evalhouse.warehouse.session.session import Session

T = TypeVar("T")


class Called:
    """What a call gave back: texts, and whether they say what is wrong."""

    def __init__(self, result: Any) -> None:
        self.wrong: bool = result.is_error
        self.texts = [block.text for block in result.content if isinstance(block, TextContent)]

    @property
    def answer(self) -> dict[str, Any]:
        """The only answer, which is JSON."""
        assert not self.wrong, self.texts
        (text,) = self.texts
        parsed: dict[str, Any] = json.loads(text)
        return parsed

    @property
    def error(self) -> str:
        assert self.wrong, self.texts
        return self.texts[-1]


class Assistant:
    """An assistant that calls tools, one conversation from its first call to its last."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.mode = "auto"

    def calls(self, *calls: tuple[str, dict[str, Any]]) -> list[Called]:
        """What calls give back, made one after another over one connection."""

        async def all_of_them(client: Client) -> list[Called]:
            return [Called(await client.call_tool(name, arguments)) for name, arguments in calls]

        return self.converse(all_of_them)

    def asks(self, statement: str) -> Called:
        """What one question gives back."""
        (called,) = self.calls(("query", {"statement": statement}))
        return called

    def converse(self, talk: Callable[[Client], Awaitable[T]]) -> T:
        async def connected() -> T:
            async with Client(server_of(self.answers), mode=self.mode) as client:
                return await talk(client)

        return anyio.run(connected)


@pytest.fixture
def session() -> Iterator[Session]:
    with Session.open() as opened:
        yield opened


@pytest.fixture(params=["auto", "legacy"])
def assistant(request: pytest.FixtureRequest, session: Session) -> Assistant:
    """By the protocol with a handshake, and by the later one without."""
    there = Assistant(Answers(session, CallLimits()))
    there.mode = request.param
    return there
