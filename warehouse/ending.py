"""How the program ends when it is told to: soon, quietly, with the status that says so, and with nothing half done.

Until a command begins there is nothing to put in order, so SIGINT, SIGTERM and SIGHUP end the process at once. While it
runs they become exceptions, so that whatever is unfinished is removed on the way out. What hears no exception (a call
that blocks, a library that swallows it) is ended from outside, after a moment, by a thread that hears of a signal from
Python itself. This module imports nothing that takes time: until it is imported, Python answers with a traceback.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

SIGNALS = tuple(getattr(_signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(_signal, name))

GRACE = 0.5
"""How long a command may take to put things in order, in seconds."""

_MAIN = _thread.get_ident()

_stage = ""
_heard: list[int] = []
_lasting = set(SIGNALS)

UNFINISHED: set[str] = set()
"""Files and folders that are of no use to anyone when the process ends now."""

PATIENCE = _thread.RLock()
"""Nobody ends the process from outside while a thread holds it: what is half written would be of no use to anyone."""


def at_once() -> None:
    """From here on a signal ends the process at once. Only the installed command is told to end by signals."""
    global _stage
    _stage = "at once"
    _listen(_leave)


def in_order() -> None:
    """From here on, since there is something to put in order, a signal is an exception in the main thread, and ends the
    process if that does not.
    """
    global _stage
    if _stage != "at once" or _thread.get_ident() != _MAIN:
        return
    _stage = "in order"
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    _signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    _thread.start_new_thread(_watch, (reading,))
    sys.unraisablehook = _all_but_interruptions(sys.unraisablehook)
    _listen(_raise)


def leave_ctrl_c() -> None:
    """Ctrl-C is an exception from here on and no more: who types wants to go on."""
    _lasting.discard(_signal.SIGINT)


def heard() -> bool:
    """Whether the process has been told to end."""
    return any(number in _lasting for number in _heard)


def status() -> int:
    """The exit status of a command that was stopped."""
    return 128 + (_heard[-1] if _heard else _signal.SIGINT)


def _listen(hear: Callable[[int, FrameType | None], object]) -> None:
    for number in SIGNALS:
        # What ignores a signal, as behind nohup, goes on ignoring it.
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, hear)


def _raise(number: int, frame: FrameType | None) -> None:
    if heard():
        # Whatever puts things in order is not to be stopped.
        return
    _heard.append(number)
    # The shell's prompt takes away what the other thread listens to.
    _thread.start_new_thread(_end, (number,))
    if number == _signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _watch(reading: int) -> None:
    """Hears of each signal when it comes, whatever the main thread does."""
    while True:
        _end(os.read(reading, 1)[0])


def _end(number: int) -> None:
    """Gives the process time to end by itself, and then ends it."""
    import time

    if number not in _lasting:
        return
    time.sleep(GRACE)
    _leave(number)


def _leave(number: int, frame: FrameType | None = None) -> None:
    # It is never let go.
    PATIENCE.acquire()
    for path in tuple(UNFINISHED):
        _remove(path)
    os._exit(128 + number)


def _remove(path: str) -> None:
    """Removes a file or folder, as far as that is possible."""
    import shutil
    from contextlib import suppress

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        os.unlink(path)


def _all_but_interruptions(say: Callable[[Any], object]) -> Callable[[Any], object]:
    """An interruption that comes where nothing can be raised is not worth a traceback: the process ends anyway."""

    def hook(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
            say(unraisable)

    return hook
