"""Sends a response as long as its reader is connected and receives it. Other modules decide what a response
contains.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PIECE = 65_536
"""The number of bytes that are sent at once."""

SLOWEST = 30.0
"""A reader who needs more than this many seconds for one piece is considered gone."""


class SlowReaderError(Exception):
    """The reader does not receive anything."""


class Attended(Response):
    """A response that `sends` makes and sends. It is stopped if the reader leaves or stops receiving."""

    def __init__(self, sends: Callable[[Send], Awaitable[None]]) -> None:
        super().__init__()
        self._sends = sends

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the response until it is complete or the reader has left."""
        sending = asyncio.ensure_future(self._sends(_in_pieces(send)))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            sending.cancel()
            with suppress(asyncio.CancelledError, SlowReaderError):
                await sending


def _in_pieces(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        body = message.get("body", b"")
        for start in range(0, max(len(body), 1), PIECE):
            piece = dict(message)
            if body:
                piece["body"] = body[start : start + PIECE]
                piece["more_body"] = message.get("more_body", False) or start + PIECE < len(body)
            try:
                await asyncio.wait_for(send(piece), SLOWEST)
            except TimeoutError:
                raise SlowReaderError from None

    return sent


async def _left(receive: Receive) -> None:
    """Returns when the reader has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
