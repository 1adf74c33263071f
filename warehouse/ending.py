"""How the program ends when a signal tells it to: soon, quietly, with the matching exit status, and with nothing half
done.

Until a command begins there is nothing to clean up, so SIGINT, SIGTERM and SIGHUP end the process at once. While a
command runs, signals become exceptions, so that unfinished work is removed on the way out. If an exception has no
effect (in a call that blocks, or in a library that swallows it), a thread that Python notifies of signals ends the
process after a moment. This module imports little: until it is imported, Python answers a signal with a traceback.
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
from typing import Any, Never

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


def heard() -> bool:
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
    if heard():
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
