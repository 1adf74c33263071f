"""The queue for questions: a few are answered at a time, each with its own session, in a thread that ends when nobody
waits for the answer any more or when it takes too long.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from functools import partial

from msgspec import Struct

from warehouse.interrupting import Interruptible, stop
from warehouse.session import Session

AT_ONCE = 2
"""The number of questions that are answered at the same time."""

MOST_WAITING = 32
"""The number of further questions that may wait."""

PACE = 0.5
"""How often the progress of an answer is reported, in seconds."""


class BusyError(Exception):
    """Too many questions are already waiting."""


class TimeIsUpError(Exception):
    """A question took longer than allowed."""


class _End(Struct, frozen=True):
    """The end of the pieces; `error` is what went wrong, if anything."""

    error: Exception | None


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
        """The number of questions that are being answered."""
        return len(self._running)

    async def pieces(self, make: Callable[[Session], Iterator[str]]) -> AsyncGenerator[str | float, None]:
        """The pieces that are made with a session, each as soon as it is ready. A number between them is the progress
        of a long computation. If the caller stops iterating, the work ends. A caller who takes the pieces slowly
        neither delays the work nor makes the next question wait.

        Raises BusyError, TimeIsUpError, and whatever making the pieces raises.
        """
        if self._waiting >= MOST_WAITING:
            raise BusyError
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        arrived: asyncio.Queue[str | _End] = asyncio.Queue()
        share = [0.0]
        working = asyncio.ensure_future(self._work(make, arrived, share))
        try:
            while True:
                try:
                    piece = await asyncio.wait_for(arrived.get(), PACE)
                except TimeoutError:
                    yield share[0]
                    continue
                if isinstance(piece, str):
                    yield piece
                elif piece.error is None:
                    return
                else:
                    raise piece.error
        finally:
            working.cancel()
            await asyncio.wait({working})

    async def _work(
        self, make: Callable[[Session], Iterator[str]], arrived: asyncio.Queue[str | _End], share: list[float]
    ) -> None:
        """Does the work until it is finished or its time is up, and then lets the next question begin."""
        error: Exception | None = None
        try:
            await self._made(make, arrived, share)
        except Exception as raised:
            error = raised
        finally:
            self._free.release()
            arrived.put_nowait(_End(error))

    async def _made(
        self, make: Callable[[Session], Iterator[str]], arrived: asyncio.Queue[str | _End], share: list[float]
    ) -> None:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def tell(hear: Callable[[], None]) -> None:
            # If the program is ending, nobody is listening any more.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(hear)

        def heard(done: float) -> None:
            share[0] = done

        session = await asyncio.to_thread(self._taken)

        def work() -> None:
            try:
                with session.watched(heard):
                    for piece in make(session):
                        tell(partial(arrived.put_nowait, piece))
            finally:
                tell(ended.set)

        task = Interruptible(work)
        with self._lock:
            if self._closed:
                session.close()
                raise BusyError
            self._running[task] = session
        task.start()
        try:
            try:
                await asyncio.wait_for(ended.wait(), self.timeout)
            except TimeoutError:
                raise TimeIsUpError from None
            while not task.done.is_set():
                await asyncio.sleep(0.001)
            try:
                task.result()
            except KeyboardInterrupt:
                # The desk was closed in the meantime.
                raise BusyError from None
        finally:
            await asyncio.shield(asyncio.to_thread(self._given_back, task, session))

    def _taken(self) -> Session:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _given_back(self, task: Interruptible[None], session: Session) -> None:
        """Ends the work if it is still running. In that case its session may be in the middle of something and is not
        reused.
        """
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
        """Ends all work, and closes all sessions. Any thread may call it."""
        with self._lock:
            self._closed = True
            running, idle = list(self._running.items()), self._idle[:]
            self._idle.clear()
        for task, session in running:
            stop(task, session.interrupt)
        for session in idle:
            session.close()
