"""Where questions wait for an answer: a few at a time, each with a session of its own, in a thread that ends when
nobody waits for it any more or when it took too long.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress

from warehouse.interrupting import Interruptible, stop
from warehouse.session import Session

AT_ONCE = 2
"""So many questions are answered at the same time."""

MOST_WAITING = 32
"""So many more may wait for their turn."""

PACE = 0.5
"""How often one hears how far an answer is, in seconds."""


class BusyError(Exception):
    """Too many questions wait already."""


class TimeIsUpError(Exception):
    """A question took longer than it may."""


class Desk:
    """Sessions on one warehouse, and the questions that they answer."""

    def __init__(self, open: Callable[[], Session], timeout: float, at_once: int = AT_ONCE) -> None:
        self.timeout = timeout
        self._open = open
        self._free = asyncio.Semaphore(at_once)
        self._waiting = 0
        self._idle: list[Session] = []
        self._running: dict[Interruptible[None], Session] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def running(self) -> int:
        """How many questions are being answered."""
        return len(self._running)

    async def pieces(self, make: Callable[[Session], Iterator[str]]) -> AsyncGenerator[str | float, None]:
        """The pieces that are made with a session, each as soon as it is there; a number between them says what share
        of a long computation is done. Whoever goes on no further ends the work.

        Raises BusyError, TimeIsUpError, and whatever making them raises.
        """
        if self._waiting >= MOST_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            async for piece in self._made(make):
                yield piece
        finally:
            self._free.release()

    async def _made(self, make: Callable[[Session], Iterator[str]]) -> AsyncGenerator[str | float, None]:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[str | None] = asyncio.Queue()
        share = [0.0]

        def put(piece: str | None) -> None:
            # Where the program ends, nobody listens any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(arrived.put_nowait, piece)

        def heard(done: float) -> None:
            share[0] = done

        session = await asyncio.to_thread(self._taken)

        def work() -> None:
            try:
                with session.watched(heard):
                    for piece in make(session):
                        put(piece)
            finally:
                put(None)

        task = Interruptible(work)
        with self._lock:
            if self._closed:
                session.close()
                raise BusyError
            self._running[task] = session
        began = time.monotonic()
        task.start()
        coming = asyncio.ensure_future(arrived.get())
        try:
            while True:
                left = self.timeout - (time.monotonic() - began)
                if left <= 0:
                    raise TimeIsUpError
                await asyncio.wait({coming}, timeout=min(PACE, left))
                if not coming.done():
                    yield share[0]
                    continue
                piece = coming.result()
                if piece is None:
                    break
                coming = asyncio.ensure_future(arrived.get())
                yield piece
            while not task.done.is_set():
                await asyncio.sleep(0.001)
            task.result()
        finally:
            coming.cancel()
            await asyncio.shield(asyncio.to_thread(self._given_back, task, session))

    def _taken(self) -> Session:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _given_back(self, task: Interruptible[None], session: Session) -> None:
        """Ends the work if it goes on; its session may then be in the middle of something, and is not used again."""
        finished = task.done.is_set()
        if not finished:
            stop(task, session.interrupt)
        with self._lock:
            self._running.pop(task, None)
            if finished and not self._closed:
                self._idle.append(session)
                return
        session.close()

    def close(self) -> None:
        """Ends all work, and closes all sessions. Called from any thread."""
        with self._lock:
            self._closed = True
            running, idle = list(self._running.items()), self._idle[:]
            self._idle.clear()
        for task, session in running:
            stop(task, session.interrupt)
        for session in idle:
            session.close()
