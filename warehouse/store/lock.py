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
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from warehouse.faults import WarehouseError

try:
    import fcntl
except ImportError:  # pragma: no cover - where there is no fcntl, loads into one warehouse are not kept apart
    fcntl = None  # type: ignore[assignment]

PATIENCE = 0.5
"""How long a lock is waited for, in seconds."""

_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)


@contextlib.contextmanager
def loading_lock(path: Path) -> Iterator[None]:
    """Holds the lock file of the warehouse at `path`.

    Raises WarehouseError, after half a second, if another loader holds it, and at once if no file can be made there.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = _take(lock, path)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise WarehouseError(f"the disk is full; {path} is as it was before") from None
        raise WarehouseError(f"{path} cannot be loaded into: {lock} cannot be made: {error.strerror}") from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _take(lock: Path, path: Path) -> int:
    until = time.monotonic() + PATIENCE
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
            if time.monotonic() > until:
                holder = _holder(lock)
                # Who has only just taken it has not yet said so.
                if holder or time.monotonic() > until + PATIENCE:
                    who = holder or "another process"
                    raise WarehouseError(f"{path} is being loaded into by {who}", ("wait until it is done",))
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        time.sleep(0.02)


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


def _holder(lock: Path) -> str | None:
    try:
        holder = json.loads(lock.read_text(encoding="utf-8"))
        return f"process {int(holder['pid'])} since {holder['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return None
