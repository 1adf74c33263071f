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
from datetime import UTC, datetime
from pathlib import Path

from warehouse import publishing
from warehouse.faults import DiskFullError, WarehouseError

try:
    import fcntl
except ImportError:  # pragma: no cover - without fcntl, two processes can load into one warehouse at once
    fcntl = None  # type: ignore[assignment]

WAIT = 10.0
"""How many seconds to wait for a load in another process; if several processes wait, for each load before their own."""

_SOON = 0.5
"""A wait shorter than this, in seconds, is not reported."""

_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)


def nobody(sentence: str) -> None:
    """Reports nothing."""


@contextlib.contextmanager
def loading_lock(path: Path, wait: float = WAIT, tell: Callable[[str], None] = nobody) -> Iterator[None]:
    """Holds the lock file of the warehouse at `path`, which need not exist yet. `tell` is told which process it waits
    for.

    Raises WarehouseError if another process holds it for longer than `wait`, and at once if the file cannot be created.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = _take(lock, path, wait, tell)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError from None
        raise WarehouseError(f"{path} cannot be loaded into: {lock} cannot be made: {error.strerror}") from None
    try:
        with publishing.provisional([lock]):
            yield
    finally:
        # If the file stays, the next process takes it over: the lock itself is released in any case.
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _take(lock: Path, path: Path, wait: float, tell: Callable[[str], None]) -> int:
    began = time.monotonic()
    until, holder, announced = began + wait, "", False
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NOT_THROUGH_LINKS, 0o644)
        try:
            if _locked(descriptor) and _is_still_there(descriptor, lock):
                this = {"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}
                try:
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, json.dumps(this).encode())
                except OSError:
                    lock.unlink(missing_ok=True)
                    raise
                return descriptor
            now, current = time.monotonic(), _holder(lock)
            if current not in ("", holder):
                holder, until = current, now + wait
            # The process that has just taken the lock has not yet written its name.
            elif now > until + (0 if current else _SOON):
                who = holder or "another process"
                hint = "wait until it is done; load --wait SECONDS does"
                raise WarehouseError(f"{who} is loading into {path}", (hint,))
            elif current and now > began + _SOON and not announced:
                tell(f"waiting for {holder}, which is loading into {path}")
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
        holder = json.loads(lock.read_text(encoding="utf-8"))
        return f"process {int(holder['pid'])} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
