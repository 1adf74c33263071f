"""Protects the pages from other sites and from slow readers. It must not decide what a response contains."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

# === requests from other sites ========================================================================================
# Other sites must not misuse the pages through a browser. Only known hosts are answered, so that another site cannot
# pose as this one. Only GET and HEAD are allowed. Other sites may link to pages, but cannot start a computation without
# the reader's knowledge. A page may load and run only what comes from this server.

HttpScope = MutableMapping[str, Any]
AnyReceive = Callable[[], Awaitable[MutableMapping[str, Any]]]
AnySend = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[HttpScope, AnyReceive, AnySend], Awaitable[None]]

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The content security policy: it allows the site's own style sheet, script and icon, and nothing inline or from
elsewhere.
"""

HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
"""The headers of every response."""


FOR_PAGES = ("/answer", "/complete")
"""Addresses that only our own pages, or someone who types the address, may request."""


class Guard:
    """An application that answers only allowed requests. `names` are the hosts that it is known by, in addition to IP
    addresses.
    """

    def __init__(self, app: App, names: Collection[str]) -> None:
        self._app = app
        self._names = {name.casefold().rstrip(".") for name in (*names, "localhost")}

    async def __call__(self, scope: HttpScope, receive: AnyReceive, send: AnySend) -> None:
        """Answers a request, or refuses it."""
        if scope["type"] != "http":
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if not self._knows(headers.get(b"host", b"").decode("latin-1")):
            await _refuse(send, 421, "this host is not known here: use the address that evalhouse serve printed")
        elif scope["method"] not in ("GET", "HEAD"):
            await _refuse(send, 405, "pages can only be read: GET and HEAD", ((b"allow", b"GET, HEAD"),))
        elif _is_led_by_others(headers) and (not _opens_page(headers) or scope["path"] in FOR_PAGES):
            await _refuse(send, 403, "other sites may link to these pages, but not load anything from them")
        else:
            await self._app(scope, receive, _with_headers(send))

    def _knows(self, host: str) -> bool:
        """Whether a Host header is one of ours. An IP address cannot be made to point to another machine, but a name
        can.
        """
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return name.casefold().rstrip(".") in self._names
        return True


def _is_led_by_others(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the browser reports that the request comes from a page of another site, or of another port of this
    machine.
    """
    return headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin")


def _opens_page(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the request opens a page of its own: a link that was followed, not a picture or a frame."""
    return headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"


def _with_headers(send: AnySend) -> AnySend:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return sent


async def _refuse(send: AnySend, status: int, why: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    sent = _with_headers(send)
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await sent({"type": "http.response.start", "status": status, "headers": [kind, *headers]})
    await sent({"type": "http.response.body", "body": f"{why}\n".encode()})


# === sending a response ===============================================================================================
# As long as its reader is connected and receives it.

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
        leaving = asyncio.ensure_future(_wait_until_left(receive))
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


async def _wait_until_left(receive: Receive) -> None:
    """Returns when the reader has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
