"""The server of pages: turns addresses into pages, and sends each page while it is being made."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import aclosing, suppress
from functools import partial

from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Send

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.process.memory import memory_allowed
from evalhouse.warehouse.render import FORMATS, Style
from evalhouse.warehouse.render.diagnostics import diagnosis
from evalhouse.warehouse.render.site import drawing as assets
from evalhouse.warehouse.render.site.contents import Failure, Link, PageHeading, Paragraphs, Surroundings
from evalhouse.warehouse.render.site.drawing import Drawing
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.version import __version__
from evalhouse.warehouse.web.addresses import (
    ADDRESSES,
    HOME,
    Address,
    Links,
    Served,
    UndecodedError,
    address_of,
    chosen_pair,
)
from evalhouse.warehouse.web.guard import App, Attended, Guard, SlowReaderError
from evalhouse.warehouse.web.inquiry import (
    AnswerCache,
    BusyError,
    Desk,
    Inquiry,
    MissingError,
    TimeIsUpError,
    check_question,
    only_questions,
)
from evalhouse.warehouse.web.pages import page_of

# === the application ==================================================================================================

PATIENCE = 0.4
"""If a page takes longer than this many seconds, the finished part is sent first."""

MOST_BYTES = 32_000_000
"""The size of the cache of drawn pages."""


class Pages:
    """Everything that is served of one warehouse. `database` is the name of its file, empty for the sample data."""

    def __init__(
        self,
        open: Callable[[], Session],
        database: str,
        timeout: float,
        *,
        sql: bool = False,
        digits: int | None = None,
    ) -> None:
        def opened() -> Session:
            session = open()
            # The content of a page must be consistent, so each page checks once whether the warehouse was replaced.
            session.follows = False
            return session

        self.desk = Desk(opened, timeout)
        self.quick = Desk(opened, QUICK, at_once=1)
        self._sql = sql
        self._links: Links = Served(database)
        self._style = Style(digits=digits)
        self._answers = AnswerCache()
        self._drawn = PageCache()
        self._surroundings = Surroundings(
            home=Link("evalhouse", self._links.to(HOME)),
            ask=self._links.to(HOME),
            completes=self._links.completing,
            assets={name: self._links.asset(name) for name in assets.NAMES},
            foot=(database or "the sample data", f"evalhouse {__version__}, which only reads here"),
        )

    def close(self) -> None:
        """Ends all questions."""
        self.desk.close()
        self.quick.close()

    # --- the content of each address ----------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """A page of the warehouse."""
        path = request.scope.get("raw_path", request.url.path.encode())
        try:
            address = address_of(path, request.scope["query_string"])
        except UndecodedError as error:
            return self._wrong(400, f"error: {error}")
        if address is None:
            return self._wrong(404, "error: there is no such page")
        pair = chosen_pair(address)
        if pair is not None:
            return RedirectResponse(self._links.to(pair), 303)
        if request.method == "HEAD":
            return _once(request, partial(self._headers_of_page, address))
        return Streamed(self, address)

    async def _headers_of_page(self, address: Address) -> Response:
        """The headers of a page without making it: whether the things that its address names exist."""

        def make(session: Session) -> Iterator[str]:
            inquiry = Inquiry(session, self._answers, sql=self._sql)
            look_up = {"<test set>": inquiry.test_set, "<system>": inquiry.system}
            for of, name in zip(ADDRESSES[address.kind].named, address.names, strict=True):
                if of in look_up:
                    look_up[of](name)
            yield ""

        try:
            await _whole(self.quick, make)
        except Exception as error:
            return _headers(self._describe_error(error)[0], HTML, FRESH)
        return _headers(200, HTML, FRESH)

    async def answer(self, request: Request) -> Response:
        """The answer to one statement in a format, as a file."""
        statement, name = request.query_params.get("q", ""), request.query_params.get("format", "json")
        format = next((format for format in FORMATS if format.name == name), None)
        if format is None:
            return PlainTextResponse(f"there is no format {name!r}\n", 404)
        kind = format.media_type
        kept = {"content-disposition": f'attachment; filename="answer{format.suffix}"', **FRESH}
        if request.method == "HEAD":
            try:
                await asyncio.to_thread(check_question, statement, only_questions(self._sql))
            except QueryError:
                return _headers(400, "text/plain")
            return _headers(200, kind, kept)

        def make(session: Session) -> Iterator[str]:
            inquiry = Inquiry(session, self._answers, sql=self._sql)
            result = inquiry.one(statement)
            if inquiry.passing:
                result = replace(result, notes=(inquiry.passing, *result.notes))
            yield format.draw(result, self._style)

        async def answered() -> Response:
            try:
                drawn = await _whole(self.desk, make)
            except Exception as error:
                status, said = self._describe_error(error, statement)
                return PlainTextResponse(f"{said}\n", status)
            return Response(drawn, media_type=kind, headers=kept)

        return _once(request, answered)

    async def complete(self, request: Request) -> Response:
        """What may be typed next, and the errors so far."""
        typed = request.query_params.get("text", "")

        def make(session: Session) -> Iterator[str]:
            from evalhouse.warehouse.shell.offers import candidates
            from evalhouse.warehouse.shell.prompt import mistake

            session.follow()
            wrong = mistake(typed, session)
            words = candidates(typed, session)[:MOST_OFFERED]
            yield json.dumps(
                {
                    "start": words[0].start if words else len(typed),
                    "offers": [[candidate.text, candidate.meaning] for candidate in words],
                    "wrong": diagnosis(wrong, typed) if wrong else "",
                }
            )

        async def offered() -> Response:
            try:
                drawn = await _whole(self.quick, make)
            except Exception as error:
                return PlainTextResponse(f"{self._describe_error(error, typed)[1]}\n", 503)
            return Response(drawn, media_type="application/json", headers={"cache-control": "no-store"})

        return _once(request, offered)

    async def asset(self, request: Request) -> Response:
        """The style sheet or the script. A browser may cache it as long as its address is the same."""
        name = request.path_params["name"]
        if name not in assets.NAMES:
            return PlainTextResponse("there is no such file\n", 404)
        kind = assets.MEDIA_TYPES[name[name.rindex(".") :]]
        lasting = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(assets.asset(name), media_type=kind, headers=lasting)

    # --- pages --------------------------------------------------------------------------------------------------------

    def made(self, address: Address, session: Session) -> Iterator[str]:
        """The pieces of a page."""
        inquiry = Inquiry(session, self._answers, sql=self._sql)
        key = (session.version, address.path)
        known = self._drawn.get(key)
        if known is not None and not inquiry.passing:
            yield known
            return
        kind = page_of(address)
        drawing = Drawing(self._surroundings, self._style)
        pieces = []
        blocks = kind.blocks(inquiry, address, self._links)
        first = next(blocks, None)
        pieces.append(drawing.beginning(kind.heading(address, self._links)))
        yield pieces[-1]
        if inquiry.passing:
            yield drawing.block(Paragraphs((inquiry.passing,)))
        while first is not None:
            pieces.append(drawing.block(first))
            yield pieces[-1]
            first = next(blocks, None)
        pieces.append(drawing.end())
        yield pieces[-1]
        # Messages about the current state are not part of the cached page.
        self._drawn.keep(key, "".join(pieces))

    def step(self, share: float) -> str:
        """The progress of a page that is being computed."""
        return Drawing(self._surroundings, self._style).step(share)

    def failed(self, error: Exception, begun: bool) -> tuple[int, str]:
        """The status and the rest of a page after an error."""
        status, said = self._describe_error(error)
        drawing = Drawing(self._surroundings, self._style)
        beginning = "" if begun else drawing.beginning(PageHeading(TITLES.get(status, "Not answered")))
        return status, beginning + drawing.block(Failure(said)) + drawing.end()

    def _wrong(self, status: int, said: str) -> Response:
        drawing = Drawing(self._surroundings, self._style)
        beginning = drawing.beginning(PageHeading(TITLES.get(status, "Not answered")))
        return Response(beginning + drawing.block(Failure(said)) + drawing.end(), status, media_type=HTML)

    def _describe_error(self, error: Exception, statement: str = "") -> tuple[int, str]:
        """The status of an error, and the error in words."""
        match error:
            case MissingError():
                return 404, f"error: {error}"
            case QueryError() | DataError():
                return 400, diagnosis(error, statement)
            case BusyError():
                return 503, "error: too many questions are already waiting\n  try again in a moment"
            case TimeIsUpError():
                longer = "evalhouse serve --timeout SECONDS allows more"
                return 504, f"error: stopped after {self.desk.timeout:g} seconds\n  {longer}"
            case WarehouseError():
                return 503, diagnosis(error)
            case MemoryError():
                return 503, f"error: this needs more than {memory_allowed() / 10**9:g} GB of memory"
        traceback.print_exception(error, file=sys.stderr)
        return 500, diagnosis(error)


HTML = "text/html"

FRESH = {"cache-control": "no-cache"}
"""A browser must ask again before it shows a cached page."""

QUICK = 5.0
"""The time limit for completions, in seconds."""

MOST_OFFERED = 12
"""The number of words that are offered at once."""

TITLES = {404: "Not found", 503: "Not now", 504: "Too long"}


class PageCache:
    """Caches drawn pages by the version of the warehouse and their address. All threads share it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._pages: OrderedDict[tuple[object, str], str] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: tuple[object, str]) -> str | None:
        """A page, if it is cached."""
        return self._pages.get(key)

    def keep(self, key: tuple[object, str], page: str) -> None:
        """Stores a page, and removes the oldest."""
        with self._lock:
            if len(page) > self._most // 8 or key in self._pages:
                return
            self._pages[key] = page
            self._size += len(page)
            while self._size > self._most:
                _, forgotten = self._pages.popitem(last=False)
                self._size -= len(forgotten)


class Streamed(Attended):
    """A page that is sent while it is being made. When its reader leaves, its questions end."""

    def __init__(self, pages: Pages, address: Address) -> None:
        super().__init__(self._send_pieces)
        self._pages = pages
        self._address = address

    async def _send_pieces(self, send: Send) -> None:
        """Waits a moment, so that a page that is ready quickly gets the correct status; then sends what is ready."""
        until = time.monotonic() + PATIENCE
        waiting: list[str] = []
        begun = False
        error: Exception | None = None
        try:
            async with aclosing(self._pages.desk.pieces(partial(self._pages.made, self._address))) as pieces:
                async for piece in pieces:
                    if isinstance(piece, str):
                        waiting.append(piece)
                    if time.monotonic() > until and (begun or waiting):
                        if not begun:
                            await self._start(send, 200)
                            begun = True
                        if isinstance(piece, float):
                            waiting.append(self._pages.step(piece))
                        await _send(send, "".join(waiting), more=True)
                        waiting.clear()
        except SlowReaderError:
            raise
        except Exception as raised:
            error = raised
        status = 200
        if error is not None:
            status, rest = self._pages.failed(error, begun or bool(waiting))
            waiting.append(rest)
        if not begun:
            await self._start(send, status)
        await _send(send, "".join(waiting), more=False)

    async def _start(self, send: Send, status: int) -> None:
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-cache")]
        await send({"type": "http.response.start", "status": status, "headers": headers})


async def _send(send: Send, text: str, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": more})


def _headers(status: int, kind: str, more: Mapping[str, str] | None = None) -> Response:
    """The headers of a response that is not finished, so its length is unknown."""
    response = Response(status_code=status, media_type=kind, headers=more)
    del response.headers["content-length"]
    return response


async def _whole(desk: Desk, make: Callable[[Session], Iterator[str]]) -> str:
    async with aclosing(desk.pieces(make)) as pieces:
        return "".join([piece async for piece in pieces if isinstance(piece, str)])


def _once(request: Request, made: Callable[[], Awaitable[Response]]) -> Response:
    """A response that is sent when it is complete. If its reader leaves earlier, its question ends."""

    async def sent(send: Send) -> None:
        response = await made()
        await response(request.scope, request.receive, send)

    return Attended(sent)


def application(pages: Pages, names: Collection[str]) -> App:
    """The application: pages at their addresses, behind the guard."""
    routes = [
        Route("/answer", pages.answer),
        Route("/complete", pages.complete),
        Route("/assets/{name}", pages.asset),
        Route("/{rest:path}", pages.page),
    ]
    return Guard(Starlette(routes=routes), names)


# === the socket and uvicorn ===========================================================================================
# uvicorn runs in a thread of its own, so that the program that started it can shut it down properly.

DEFAULT_PORT = 8992
LOOPBACK = "127.0.0.1"

LONGEST_REQUEST = 400_000
"""The bytes of a request's head: the longest statement with each letter written as %XX, and twice that for letters of
two bytes.
"""

MOST_CONNECTIONS = 200


class Server:
    """Serves the pages of a warehouse on a socket. `url` is its address; `names` are further host names that
    reach it.
    """

    def __init__(
        self,
        open: Callable[[], Session],
        database: str,
        *,
        host: str = LOOPBACK,
        names: Collection[str] = (),
        port: int = DEFAULT_PORT,
        timeout: float = 60.0,
        sql: bool = False,
        digits: int | None = None,
    ) -> None:
        import uvicorn

        self._socket = _listening(host, port)
        bound = self._socket.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{bound}/"
        self._pages = Pages(open, database, timeout, sql=sql, digits=digits)
        known = {host, *names} | ({socket.gethostname()} if host != LOOPBACK else set())
        config = uvicorn.Config(
            application(self._pages, known),
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            h11_max_incomplete_event_size=LONGEST_REQUEST,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    @property
    def running(self) -> int:
        """The number of questions that are being answered."""
        return self._pages.desk.running

    def start(self) -> None:
        """Begins to answer."""
        self._thread.start()

    def wait(self) -> None:
        """Waits until the server ends, which it does not do by itself."""
        while self._thread.is_alive():
            self._thread.join(0.2)

    def stop(self) -> None:
        """Ends all questions, then the server."""
        self._server.should_exit = True
        self._pages.close()
        self._thread.join(3)
        with suppress(OSError):
            self._socket.close()


def _listening(host: str, port: int) -> socket.socket:
    """A socket on a port, or on any free port if the number is 0. Raises WarehouseError if there is none."""
    shown = f"{host}, port {port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise WarehouseError(f"there is no host {host}: {error}") from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except OSError as error:
        made.close()
        why = (error.strerror or str(error)).casefold()
        raise WarehouseError(f"{shown} cannot be used: {why}", ("--port 0 takes one that is free",)) from None
    return made
