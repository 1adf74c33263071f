"""Runs work that Ctrl-C stops within a tenth of a second, wherever it is: in DuckDB, in numpy, in Python.

DuckDB does not check for signals while a query runs. So the work runs in a thread of its own, and the main thread waits
for the key.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

STARTING = threading.Lock()
"""Held while work starts a thread and while work is stopped. Until a new thread runs, Python identifies it by the
thread that started it. An exception meant for the starting thread would then end the new thread, and the starting
thread would wait for ever for it to start.
"""

T = TypeVar("T")

PACE = 0.02
"""How often the main thread checks, in seconds."""


def interruptibly(
    work: Callable[[], T], interrupt: Callable[[], None], waiting: Callable[[float], None] = lambda seconds: None
) -> T:
    """Runs `work` in another thread and returns its result or raises its error. Nothing else runs in that thread.

    On Ctrl-C, a signal that ends the program, or any exception from `waiting`, `interrupt` is called to stop what runs
    outside Python, and the exception is raised again once the work has stopped. `waiting` is called regularly with the
    number of seconds since the work began.
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
    """Stops work that was started, and returns when it has ended.

    It interrupts repeatedly, because a query that had not begun yet could not be interrupted. A second Ctrl-C changes
    nothing, because a thread left behind in DuckDB would crash the whole program when it ends.
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
    """Work in a thread of its own, and its result. Work that is stopped before it begins does not begin."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self._work = work
        self._value: list[T] = []
        self._error: BaseException | None = None
        self._finishing = threading.Lock()
        self._unwanted = False

    def run(self) -> None:
        """Does the work, in the thread."""
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
            # The exception came after the work was done.
            self.done.set()

    def stop(self) -> None:
        """Raises KeyboardInterrupt in the thread, at the next Python instruction."""
        import ctypes

        self._unwanted = True
        with STARTING, self._finishing:
            if not self.done.is_set() and self.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.ident), ctypes.py_object(KeyboardInterrupt)
                )

    def result(self) -> T:
        """Returns the result of the work, or raises its error."""
        if self._error is not None:
            raise self._error
        return self._value[0]
