"""The server: a socket, and uvicorn in a thread of its own, so that the program that started it can shut it down
properly.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Collection
from contextlib import suppress

from warehouse.faults import WarehouseError
from warehouse.session import Session

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
        _check_installed()
        import uvicorn

        from warehouse.web.application import Pages, application

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


def _check_installed() -> None:
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError:
        needed = "pages need the packages starlette and uvicorn"
        raise WarehouseError(needed, ('pip install "evalhouse[web]"',)) from None
    del starlette
