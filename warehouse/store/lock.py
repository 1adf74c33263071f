"""One loader at a time: the lock file beside a warehouse, which says who is loading and since when.

The operating system holds the lock and lets go of it when the process ends, however it ends; so a file that a dead
process left is taken over. Nothing here knows what is loaded.
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
except ImportError:  # pragma: no cover - where there is no fcntl, loads into one warehouse are not kept apart
    fcntl = None  # type: ignore[assignment]

WAIT = 10.0
"""How long a load of another process is waited for, in seconds; where several take their turn, for each of them."""

_SOON = 0.5
"""So many seconds nobody need be told of."""

_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)


def nobody(sentence: str) -> None:
    """Does not tell it."""


@contextlib.contextmanager
def loading_lock(path: Path, wait: float = WAIT, tell: Callable[[str], None] = nobody) -> Iterator[None]:
    """Holds the lock file of the warehouse at `path`, which may not be there yet. `tell` hears whom it waits for.

    Raises WarehouseError if another process holds it for longer than `wait`, and at once if no file can be made there.
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
        # A file that stays is taken over: the lock is let go in any case.
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
            # Who has only just taken it has not yet said so.
            elif now > until + (0 if current else _SOON):
                who = holder or "another process"
                hint = "wait until it is done; load --wait SECONDS does"
                raise WarehouseError(f"{path} is being loaded into by {who}", (hint,))
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
    # The loader before may have removed the file between our opening and locking it.
    try:
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except FileNotFoundError:
        return False


def _holder(lock: Path) -> str:
    """Who holds a lock, as far as that is said."""
    try:
        holder = json.loads(lock.read_text(encoding="utf-8"))
        return f"process {int(holder['pid'])} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
