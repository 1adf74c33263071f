"""How work is stopped: by Ctrl-C within a tenth of a second, and by signals that end the program.

The program ends soon, quietly, with the matching exit status, and with nothing half done. This module must import
little: until it is imported, Python answers a signal with a traceback.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Generic, Never, TypeVar

# === work that Ctrl-C stops ===========================================================================================
# Ctrl-C must stop work wherever it is: in DuckDB, in numpy, in Python. DuckDB does not check for signals while a query
# runs, so the work runs in a thread of its own, and the main thread waits for the key.

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


# === the end of the program ===========================================================================================
# Until a command begins there is nothing to clean up, so SIGINT, SIGTERM and SIGHUP end the process at once. While a
# command runs, signals become exceptions, so that unfinished work is removed on the way out. If an exception has no
# effect (in a call that blocks, or in a library that swallows it), a thread that Python notifies of signals ends the
# process after a moment.

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

GRACE = 0.5
"""How many seconds a command may take to clean up."""

_MAIN = threading.get_ident()

_stage = ""
_heard: list[int] = []
_lasting = set(SIGNALS)

UNFINISHED: set[str] = set()
"""Files and folders to remove when the process ends now, because nobody else can use them."""

PATIENCE = threading.RLock()
"""While a thread holds this lock, the process is not ended from outside, so that no half-written work is left."""


def at_once() -> None:
    """From now on a signal ends the process at once. Only the installed command ends on signals."""
    global _stage
    _stage = "at once"
    _listen(_leave)


def in_order() -> None:
    """From now on there is something to clean up: a signal raises an exception in the main thread, and ends the process
    if the exception does not.
    """
    global _stage
    if _stage != "at once" or threading.get_ident() != _MAIN:
        return
    _stage = "in order"
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()
    sys.unraisablehook = _all_but_interruptions(sys.unraisablehook)
    _listen(_raise)


def ends_process() -> bool:
    """Whether the process ends with the command. It does not if a Python program calls the command."""
    return bool(_stage) and os.name == "posix"


def leave_ctrl_c() -> None:
    """From now on, Ctrl-C only raises an exception: a person who types wants to go on."""
    _lasting.discard(signal.SIGINT)


def is_told_to_end() -> bool:
    """Whether a signal has told the process to end."""
    return any(number in _lasting for number in _heard)


def status() -> int:
    """The exit status of a command that a signal stopped."""
    return 128 + (_heard[-1] if _heard else signal.SIGINT)


def _listen(hear: Callable[[int, FrameType | None], object]) -> None:
    for number in SIGNALS:
        # A signal that is ignored, as with nohup, stays ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, hear)


def _raise(number: int, frame: FrameType | None) -> None:
    if is_told_to_end():
        # Nothing may stop the clean-up.
        return
    _heard.append(number)
    # The prompt of the shell replaces the file descriptor that the other thread reads, so this thread ends the process.
    # It is started by _thread, because the signal may have come while `threading` holds a lock that starting takes.
    _thread.start_new_thread(_end, (number,))
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _watch(reading: int) -> None:
    """Receives each signal as it comes, whatever the main thread is doing."""
    while True:
        _end(os.read(reading, 1)[0])


def _end(number: int) -> None:
    """Gives the process time to end by itself, and then ends it."""
    if number not in _lasting:
        return
    time.sleep(GRACE)
    _leave(number)


def _leave(number: int, frame: FrameType | None = None) -> Never:
    leave(128 + number)


def leave(status: int) -> Never:
    """Ends the process now, and leaves nothing unfinished: an exception that a signal raised may have come after a
    folder was made, and before anything was there to remove it.
    """
    # This lock is never released.
    PATIENCE.acquire()
    for path in tuple(UNFINISHED):
        _remove(path)
    os._exit(status)


def _remove(path: str) -> None:
    """Removes a file or folder; errors are ignored."""
    # Most processes leave nothing that has to be removed.
    import shutil

    # Another thread may still add files to it.
    for _ in range(3):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.unlink(path)


def _all_but_interruptions(say: Callable[[Any], object]) -> Callable[[Any], object]:
    """Hides the traceback of an interruption that comes where no exception can be raised: the process ends anyway."""

    def hook(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
            say(unraisable)

    return hook
