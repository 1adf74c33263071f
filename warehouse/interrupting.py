"""Work that Ctrl-C stops within a tenth of a second, wherever it is: in DuckDB, in numpy, in Python.

DuckDB does not look for signals while a query runs, so the work is done in a thread of its own and the main thread
waits for the key.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

STARTING = threading.Lock()
"""Held while work starts a thread and while it is stopped: until a new thread runs, Python takes it for the one that
started it, so what is to stop the one would end the other, for whose start the one would then wait for ever.
"""

T = TypeVar("T")

PACE = 0.02
"""How often the main thread looks up, in seconds."""


def interruptibly(
    work: Callable[[], T], interrupt: Callable[[], None], waiting: Callable[[float], None] = lambda seconds: None
) -> T:
    """What `work` gives or raises; it runs in another thread, and nothing else runs there.

    On Ctrl-C, a signal that ends the program, or whatever `waiting` raises, `interrupt` is called to stop what runs
    outside Python, and the exception goes on once the work has stopped. `waiting` is told now and then for how many
    seconds the work has been going on.
    """
    task = Interruptible(work)
    began = time.monotonic()
    try:
        task.start()
        while not task.done.wait(PACE):
            waiting(time.monotonic() - began)
    except BaseException:
        stop(task, interrupt)
        raise
    return task.result()


def stop(task: Interruptible[T], interrupt: Callable[[], None]) -> None:
    """Ends work that was started, and comes back when it has ended.

    It asks again and again: a query that had not begun yet could not be interrupted. A second Ctrl-C changes nothing,
    for a thread that is left behind in DuckDB takes the whole program down when it ends.
    """
    while True:
        try:
            task.stop()
            while task.is_alive() and not task.done.wait(PACE):
                interrupt()
            return
        except (KeyboardInterrupt, SystemExit):
            continue


class Interruptible(threading.Thread, Generic[T]):
    """Work in a thread of its own, and what came of it. What is stopped before it begins does not begin any more."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self._work = work
        self._value: list[T] = []
        self._error: BaseException | None = None
        self._finishing = threading.Lock()
        self._unwanted = False

    def run(self) -> None:
        """The work, in the thread."""
        try:
            if self._unwanted:
                return
            try:
                self._value.append(self._work())
            except BaseException as error:
                self._error = error
            with self._finishing:
                self.done.set()
        except KeyboardInterrupt:
            # It came when the work was done already.
            self.done.set()

    def stop(self) -> None:
        """Raises KeyboardInterrupt in the thread, at the next instruction of Python."""
        self._unwanted = True
        with STARTING, self._finishing:
            if not self.done.is_set() and self.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.ident), ctypes.py_object(KeyboardInterrupt)
                )

    def result(self) -> T:
        """What the work gave. Raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._value[0]
