"""Lets only one process at a time load into a warehouse: the lock file beside the warehouse says who is loading and
since when.

The operating system holds the lock and releases it when the process ends, however it ends. So the next process can take
over the file of a dead one. Nothing here knows what is loaded.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from warehouse import publishing
from warehouse.faults import DiskFullError, WarehouseError

try:
    import fcntl
except ImportError:  # pragma: no cover - without fcntl, two processes can load into one warehouse at once
    fcntl = None  # type: ignore[assignment]

WAIT = 10.0
"""How many seconds to wait for a load in another process; if several processes wait, for each load before their own."""

BEAT = 1.0
"""How often, in seconds, a process that holds a lock with `alive` shows that it is alive."""

HOST = os.uname().nodename if hasattr(os, "uname") else ""

_SOON = 0.5
"""A wait shorter than this, in seconds, is not reported."""

_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)


def nobody(sentence: str) -> None:
    """Reports nothing."""


@contextlib.contextmanager
def loading_lock(
    path: Path, wait: float = WAIT, tell: Callable[[str], None] = nobody, *, called: str = "", alive: bool = False
) -> Iterator[None]:
    """Holds the lock file of the warehouse at `path`, which need not exist yet. `tell` is told which process it waits
    for. With `alive`, others wait as long as this process is alive, however long it takes.

    Raises WarehouseError if another process holds it for longer than `wait`, and at once if the file cannot be created.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = _take(lock, called or str(path), wait, tell)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError from None
        raise WarehouseError(
            f"{called or path} cannot be loaded into: {lock} cannot be made: {error.strerror}"
        ) from None
    try:
        with publishing.provisional([lock]), _beating(lock) if alive else contextlib.nullcontext():
            yield
    finally:
        # If the file stays, the next process takes it over: the lock itself is released in any case.
        with contextlib.suppress(OSError):
            if _is_still_there(descriptor, lock):  # a lake that was overwritten took it along
                lock.unlink()
        os.close(descriptor)


@contextlib.contextmanager
def _beating(lock: Path) -> Iterator[None]:
    """Inside the block, the time of a lock file shows that its holder is alive."""
    import threading

    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT):
            with contextlib.suppress(OSError):
                os.utime(lock, follow_symlinks=False)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def nobody_loads(path: Path) -> Iterator[bool]:
    """Whether no process loads into the warehouse at `path`, and the last that did was on this machine: on some network
    file systems, locks hold on one machine alone. If so, no load begins before the end of the block. This does not
    wait. Raises OSError.
    """
    if fcntl is None:  # pragma: no cover
        yield False
        return
    lock = path.with_name(path.name + ".lock")
    descriptor = os.open(lock, os.O_RDWR | _NOT_THROUGH_LINKS)
    try:
        free = _locked(descriptor) and _is_still_there(descriptor, lock) and _written(lock).get("host") == HOST
        yield free
        if free:
            lock.unlink()
    finally:
        os.close(descriptor)


def _take(lock: Path, called: str, wait: float, tell: Callable[[str], None]) -> int:
    began = time.monotonic()
    until, holder, beat, announced = began + wait, "", 0, False
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NOT_THROUGH_LINKS, 0o644)
        try:
            if _locked(descriptor) and _is_still_there(descriptor, lock):
                from datetime import UTC, datetime

                this = {"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds"), "host": HOST}
                try:
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, json.dumps(this).encode())
                except OSError:
                    lock.unlink(missing_ok=True)
                    raise
                return descriptor
            now, current, sign = time.monotonic(), _holder(lock), os.fstat(descriptor).st_mtime_ns
            if current and (current, sign) != (holder, beat):
                holder, beat, until = current, sign, now + wait
            # The process that has just taken the lock has not yet written its name.
            elif now > until + (0 if current else _SOON):
                who = holder or "another process"
                hint = "wait until it is done; load --wait SECONDS does"
                raise WarehouseError(f"{who} is loading into {called}", (hint,))
            elif current and now > began + _SOON and not announced:
                tell(f"waiting for {holder}, which is loading into {called}")
                announced = True
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        time.sleep(0.05)


def _locked(descriptor: int) -> bool:
    if fcntl is None:  # pragma: no cover
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(descriptor: int, lock: Path) -> bool:
    # The previous loader may have removed the file after we opened it and before we locked it.
    try:
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except FileNotFoundError:
        return False


def _holder(lock: Path) -> str:
    """The process that holds a lock, if the file says so."""
    try:
        holder = _written(lock)
        return f"process {int(holder['pid'])} since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return ""


def _written(lock: Path) -> dict[str, Any]:
    """What the holder of a lock wrote into its file; nothing if it has not yet."""
    try:
        written = json.loads(lock.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return written if isinstance(written, dict) else {}
