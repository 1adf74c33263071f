"""What a browser may be led to do with the pages: nothing. Only known hosts are answered, so that no other site can
pose as this one; only GET and HEAD; other sites may lead to pages, and not have anything computed behind a reader's
back; and a page may load and run only what comes from here.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Any

HttpScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[HttpScope, Receive, Send], Awaitable[None]]

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
"""The content security policy: style sheet, script and icon of the site, and nothing from elsewhere or inline."""

HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
"""What every response says."""


FOR_PAGES = ("/answer", "/complete")
"""What only pages of ours ask for, or who types the address."""


class Guard:
    """An application that answers only what it should. `names` are the hosts that it is known by, beside addresses."""

    def __init__(self, app: App, names: Collection[str]) -> None:
        self._app = app
        self._names = {name.casefold().rstrip(".") for name in (*names, "localhost")}

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        """Answers a request, or refuses it."""
        if scope["type"] != "http":
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if not self._knows(headers.get(b"host", b"").decode("latin-1")):
            await _refuse(send, 421, "this host is not known here: use the address that evalhouse serve printed")
        elif scope["method"] not in ("GET", "HEAD"):
            await _refuse(send, 405, "pages can only be read: GET and HEAD", ((b"allow", b"GET, HEAD"),))
        elif _led_by_others(headers) and (not _opened(headers) or scope["path"] in FOR_PAGES):
            await _refuse(send, 403, "other sites may link to these pages, but not load anything from them")
        else:
            await self._app(scope, receive, _with_headers(send))

    def _knows(self, host: str) -> bool:
        """Whether a Host header is one of ours. A number cannot be made to mean another machine; a name can."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return name.casefold().rstrip(".") in self._names
        return True


def _led_by_others(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser says that a page of another site, or of another port of this machine, asks."""
    return headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin")


def _opened(headers: Mapping[bytes, bytes]) -> bool:
    """Whether what is asked for is to be seen as a page of its own: a link that was followed, no picture or frame."""
    return headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        await send(message)

    return sent


async def _refuse(send: Send, status: int, why: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    sent = _with_headers(send)
    kind = (b"content-type", b"text/plain; charset=utf-8")
    await sent({"type": "http.response.start", "status": status, "headers": [kind, *headers]})
    await sent({"type": "http.response.body", "body": f"{why}\n".encode()})
