"""Where questions wait for an answer: a few at a time, each with a session of its own, in a thread that ends when
nobody waits for it any more or when it took too long.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from functools import partial

from grammar.value import value
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


@value
class _End:
    """Nothing comes any more; `error` is what went wrong."""

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
        """How many questions are being answered."""
        return len(self._running)

    async def pieces(self, make: Callable[[Session], Iterator[str]]) -> AsyncGenerator[str | float, None]:
        """The pieces that are made with a session, each as soon as it is there; a number between them says what share
        of a long computation is done. Whoever goes on no further ends the work; who takes the pieces slowly does not
        hold it up, and the next question need not wait for them.

        Raises BusyError, TimeIsUpError, and whatever making them raises.
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
        """Does the work until it is done or its time is up, and lets the next begin."""
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
            # Where the program ends, nobody listens any more.
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
                # The desk was closed meanwhile.
                raise BusyError from None
        finally:
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
